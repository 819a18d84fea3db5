"""gopher: Gopher+ strings as values, menus and items, and requests that servers received."""

from __future__ import annotations

import pickle
from dataclasses import replace
from typing import Any

import pytest

from overthere import URI, CodingError, Credentials, InvalidURI, PlanRefused, Unwritable, edition, plan, scheme
from overthere.access import Send
from overthere.protocols.gopher.steps import request, steps
from overthere.schemes.known.gopher import GopherLocator
from overthere.schemes.known.gopher.menu import Menu, MenuItem, read_menu, write_menu
from overthere.schemes.known.gopher.plus import Answers, Attributes, Block, Form, Unknown, View, answers, read

ASK = "+%091%0D%0A+-1%0D%0Aask_item1_value%0D%0Aask_item2_value%0D%0A.%0D%0A"


def locator_of(text: str, by: str = "rfc3986") -> GopherLocator:
    locator = edition(by).locator(text)
    assert isinstance(locator, GopherLocator)
    return locator


def sent(text: str) -> bytes:
    return request(locator_of(text))


# -- rules within a URI

RULES = [
    ("url-1994", "gtype", "%3C", True),
    ("url-1994", "gtype", "00", False),
    ("url-1994", "selector", "0/a_gopher_selector", True),
    ("url-1994", "selector", "a?b", False),
    ("url-1994", "search", "foo+bar", True),
    ("url-1994", "search", "foo/bar", False),
    ("url-1994", "gopherplus-summary", f"+view_name%20language_name{ASK[1:]}", True),
    ("url-1994", "gopherplus-summary", ASK, True),
    ("url-1994", "gopherplus-summary", "%3F", True),
    ("url-1994", "gopherplus-summary", "!+ABSTRACT%20+SMELL", True),
    ("url-1994", "gopherplus-summary", "some_gplus_stuff", False),
    ("rfc1738", "gtype", "?", True),
    ("rfc1738", "gtype", "<", False),
    ("rfc1738", "selector", "0/a?b=c;d:e@f&g%00", True),
    ("rfc1738", "selector", "~a", False),
    ("rfc1738", "gopherplus-string", ASK, True),
    ("rfc1738", "gopherplus-string", "!+A +B", False),
    ("rfc3986", "gopher-path", f"0a%09b%09{ASK}", True),
    ("rfc3986", "gopher-path", "/", True),
    ("rfc3986", "gopher-path", "%09", False),
    ("rfc3986", "gopher-path", "0%09%09%09", True),
    ("rfc3986", "gopher-selector", "%00%08%0B%0c%0e%1A%ff/:@!$&'()*+,;=~", True),
    ("rfc3986", "gopher-selector", "%0a", False),
    ("rfc3986", "gopher-selector", "%0D", False),
    ("rfc3986", "gopher-selector", "a%09b", False),
    ("rfc3986", "gopher-search", "a?b", False),
]


@pytest.mark.parametrize(("by", "rule", "text", "valid"), RULES)
def test_rules_of_gopher_uris(by: str, rule: str, text: str, valid: bool) -> None:
    grammar = scheme("gopher").grammar if by == "rfc3986" else edition(by).grammar
    assert grammar.automaton(rule).accepts(text) == valid


# -- Gopher+ strings

STRINGS = [
    (b"+", View()),
    (b"+application/postscript", View("application/postscript")),
    (b"+application/postscript Es_ES", View("application/postscript", "Es_ES")),
    (b"+\t0", View(flag=True)),
    (b"+text/html\t0", View("text/html", flag=True)),
    (b"+\t1\r\n+-1\r\n.\r\n", View(data=Answers(()))),
    (b"+\t1\r\n+-1\r\n\r\n.\r\n", View(data=Answers((b"",)))),
    (b"+\t1\r\n+-1\r\nNew York\r\nUSA\r\n.\r\n", View(data=Answers((b"New York", b"USA")))),
    (b"+v l\t1\r\n+-1\r\n..\r\n\xff\t\r\n.\r\n", View("v", "l", Answers((b"..", b"\xff\t")))),
    (b"+\t1\r\n+0\r\n", View(data=Block(b""))),
    (b"+\t1\r\n+3\r\n\r\n.", View(data=Block(b"\r\n."))),
    (b"+\t1\r\n+-2\r\n", View(data=Block(b"", counted=False))),
    (b"+\t1\r\n+-2\r\nabc\r\n", View(data=Block(b"abc\r\n", counted=False))),
    (b"!", Attributes()),
    (b"$", Attributes(directory=True)),
    (b"!+ABSTRACT", Attributes(("+ABSTRACT",))),
    (b"!+ABSTRACT +SMELL", Attributes(("+ABSTRACT", "+SMELL"))),
    (b"!attribute_name", Attributes(("attribute_name",))),
    (b"$+VIEWS+ABSTRACT", Attributes(("+VIEWS", "+ABSTRACT"), directory=True, joined=True)),
    (b"?", Form()),
]
ODD = [
    b"",
    b"some_gplus_stuff",
    b"??",
    b"+ ",
    b"+ Es_ES",
    b"+a b c",
    b"+a  b",
    b"+a\t",
    b"+a\t1",
    b"+a\t2",
    b"+a\t00",
    b"+a\t0\r\n",
    b"+\xc3\xbc",
    b"+\0",
    b"+\t1\r\n",
    b"+\t1\r\n+-1\r\n",
    b"+\t1\r\n+-1\r\n.",
    b"+\t1\r\n+-1\r\na\r\n",
    b"+\t1\r\n+-1\r\na\r\n.\r\nb\r\n.\r\n",
    b"+\t1\r\n+-1\r\n.\r\n.\r\n",
    b"+\t1\r\n+-1\r\na\nb\r\n.\r\n",
    b"+\t1\r\n+-1\r\na\rb\r\n.\r\n",
    b"+\t1\r\n+-1\na\n.\n",
    b"+\t1\r\n+03\r\nabc",
    b"+\t1\r\n+2\r\nabc",
    b"+\t1\r\n+4\r\nabc",
    b"+\t1\r\n+-3\r\nabc",
    b"+\t1\r\n--1\r\nabc\r\n.\r\n",
    b"+\t1\r\n+" + b"9" * 5000 + b"\r\n",
    b"! ",
    b"!+",
    b"!+A ",
    b"!+A  +B",
    b"!+A+B +C",
    b"!A+B",
    b"!+A\t",
    b"!+\xe9",
    b"$ +A",
]


@pytest.mark.parametrize(("string", "value"), STRINGS)
def test_strings_are_values(string: bytes, value: View) -> None:
    assert read(string) == value
    assert type(read(string)) is type(value)
    assert value.string == string
    assert pickle.loads(pickle.dumps(value)) == value
    assert bool(value)
    locator = GopherLocator(host="h", type="0", selector=b"s", plus=value)
    for name in ("url-1994", "rfc1738", "url-1997", "uri-2003", "rfc3986"):
        assert locator_of(str(locator.uri(name)), name) == locator


@pytest.mark.parametrize("string", ODD)
def test_other_strings_are_unchanged(string: bytes) -> None:
    assert read(string) == Unknown(string)
    locator = GopherLocator(host="h", type="0", plus=Unknown(string))
    assert locator_of(str(locator.uri())) == locator


def test_every_short_string_is_written_unchanged() -> None:
    alphabet = [b"+", b"!", b"$", b"?", b" ", b"\t", b"1", b"0", b"\r\n", b"\r", b"+-1", b"+-2", b".", b"A", b"\xff"]
    strings = [b""]
    for _ in range(4):
        strings = [string + character for string in strings for character in alphabet]
        assert all(read(string).string == string for string in strings)
    tails = [b"+\t1\r\n+-1\r\n" + string for string in strings]
    assert all(read(tail).string == tail for tail in tails)


def test_different_kinds_are_unequal() -> None:
    values = [value for _, value in STRINGS] + [Unknown(string) for string in ODD]
    assert len(set(values)) == len(values)


def test_builders() -> None:
    """Gopher+ 2.8: one line per answer; AskL with its count; a file is the remainder."""
    assert View("application/postscript", "En_US").string == b"+application/postscript En_US"
    assert answers("Tim", ["one", "two"], b"\xff") == Answers((b"Tim", b"2", b"one", b"two", b"\xff"))
    assert answers() == Answers(())
    assert answers([]) == Answers((b"0",))
    assert answers("Müller", charset="iso-8859-1") == Answers((b"M\xfcller",))
    assert answers("x", file=b"\0\r\n.\r\n").octets == b"+9\r\nx\r\n\0\r\n.\r\n"
    # A period alone would end the block, so its length is given instead.
    assert answers(".", "x") == Block(b".\r\nx\r\n")
    for wrong in ("Müller", "a\nb", "a\r", b"a\r\n.\r\n"):
        with pytest.raises(CodingError):
            answers(wrong)
    form = locator_of("gopher://h/0form%09%09%3F")
    assert request(form) == b"form\t!+ASK\r\n"
    assert request(form.filled("Tim", "blue")) == b"form\t+\t1\r\n+-1\r\nTim\r\nblue\r\n.\r\n"
    view = replace(form, plus=View("Text/plain", "En_US"), written=None).filled("Tim")
    assert str(view.uri()) == "gopher://h/0form%09%09+Text/plain%20En_US%091%0D%0A+-1%0D%0ATim%0D%0A.%0D%0A"


def test_builders_reject_invalid_values() -> None:
    base = GopherLocator(host="h", type="0", selector=b"s")
    wrong: list[tuple[Any, str]] = [
        (View("a b"), "plus"),
        (View(None, "Es_ES"), "plus"),
        (View("ü"), "US-ASCII"),
        (View(data=Answers((b".",))), "plus"),
        (View(data=Answers((b"a\r\nb",))), "plus"),
        (Attributes(("+A B",)), "plus"),
        (Unknown(b"!"), "plus"),
        (("no", "string"), "plus"),
    ]
    for plus, part in wrong:
        with pytest.raises((Unwritable, TypeError), match=part.replace("+", r"\+")):
            replace(base, plus=plus).uri()


def test_ascii_text_is_accepted_as_bytes() -> None:
    locator = GopherLocator(host="h", type="0", selector="a b", search="c", plus="+text/html")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    assert (locator.selector, locator.search, locator.plus) == (b"a b", b"c", View("text/html"))
    with pytest.raises(CodingError, match="octets"):
        GopherLocator(host="h", type="0", selector="ü")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]


def test_a_gopher_plus_string_follows_a_search() -> None:
    """RFC 4266 2.3: the search "must be supplied, although it may be the empty string"."""
    locator = GopherLocator(host="h", type="1", plus=View())
    assert locator.search == b""
    assert str(locator.uri()) == "gopher://h/1%09%09+"


def test_the_type_defaults_to_1() -> None:
    for text in ("gopher://h", "gopher://h/"):
        assert (locator_of(text).type, locator_of(text).gophertype) == (None, "1")
    assert locator_of("gopher://h/1").type == "1"
    with pytest.raises(Unwritable, match="type None would be read as '1'"):
        GopherLocator(host="h", selector=b"s").uri()
    for kind in ("", "ab", "é€", "\t"):
        with pytest.raises((Unwritable, InvalidURI)):
            GopherLocator(host="h", type=kind).uri()


# -- requests, as they were sent to UMN gopherd 2.3.0 and 3.0.5 and to pygopherd 3.0.0

REQUESTS = [
    ("gopher://h/", b"\r\n"),
    ("gopher://h/1%09%09+", b"\t+\r\n"),
    ("gopher://h/1%09%09$", b"\t$\r\n"),
    ("gopher://h/1%09%09$+VIEWS", b"\t$+VIEWS\r\n"),
    ("gopher://h/00/sheep", b"0/sheep\r\n"),
    ("gopher://h/00/sheep%09%09+", b"0/sheep\t+\r\n"),
    ("gopher://h/00/sheep%09%09%2B", b"0/sheep\t+\r\n"),
    ("gopher://h/00/sheep%09%09!", b"0/sheep\t!\r\n"),
    ("gopher://h/00/sheep%09%09!+ABSTRACT", b"0/sheep\t!+ABSTRACT\r\n"),
    ("gopher://h/00/sheep%09%09!+ABSTRACT%20+VIEWS", b"0/sheep\t!+ABSTRACT +VIEWS\r\n"),
    ("gopher://h/00/sheep%09%09+Text/plain%20Es_ES", b"0/sheep\t+Text/plain Es_ES\r\n"),
    ("gopher://h/00/form%09%09%3F", b"0/form\t!+ASK\r\n"),
    (
        "gopher://h/00/form%09%09+%091%0D%0A+-1%0D%0ATim%0D%0Ablue%0D%0A.%0D%0A",
        b"0/form\t+\t1\r\n+-1\r\nTim\r\nblue\r\n.\r\n",
    ),
    (
        "gopher://h/00/form%09%09+Text/plain%20En_US%091%0D%0A+-1%0D%0ATim%0D%0Ablue%0D%0A.%0D%0A",
        b"0/form\t+Text/plain En_US\t1\r\n+-1\r\nTim\r\nblue\r\n.\r\n",
    ),
    ("gopher://h/11/views%09%09+text/html%20En_US", b"1/views\t+text/html En_US\r\n"),
    ("gopher://h/7/s%09foo%20bar", b"/s\tfoo bar\r\n"),
    ("gopher://h/7/s%09foo+bar", b"/s\tfoo+bar\r\n"),
]


@pytest.mark.parametrize(("text", "octets"), REQUESTS)
def test_requests_are_those_of_recorded_clients(text: str, octets: bytes) -> None:
    assert sent(text) == octets
    assert [step.data for step in plan(text) if isinstance(step, Send)] == [octets]


def test_every_byte_in_every_part() -> None:
    for octet in range(256):
        escape = f"%{octet:02X}"
        raw = bytes([octet])
        for text, before, after in [
            (f"gopher://h/0a{escape}b", b"a", b"b"),
            (f"gopher://h/7s%09a{escape}b", b"s\ta", b"b"),
            (f"gopher://h/0s%09%09x{escape}y", b"s\tx", b"y"),
        ]:
            if octet == 9 and "%09a" not in text and "%09%09" not in text:
                assert sent(text) == b"a\tb\r\n"  # the delimiter before the search
            elif octet == 9 and "%09%09" not in text:
                assert sent(text) == b"s\ta\tb\r\n"  # the Gopher+ string
            elif octet in (0, 9, 10, 13):
                with pytest.raises(PlanRefused):
                    sent(text)
            else:
                assert sent(text) == before + raw + after + b"\r\n"
        in_answer = f"gopher://h/0s%09%09+%091%0D%0A+-1%0D%0Aa{escape}b%0D%0A.%0D%0A"
        if octet in (0, 10, 13):
            with pytest.raises(PlanRefused):
                sent(in_answer)
        else:
            assert sent(in_answer) == b"s\t+\t1\r\n+-1\r\na" + raw + b"b\r\n.\r\n"


def test_bytes_are_the_same_in_every_edition() -> None:
    for octet in range(256):
        locator = GopherLocator(host="h", type="0", selector=bytes([octet]) * 2, plus=_answered(octet))
        for name in ("url-1994", "rfc1738", "rfc3986"):
            if octet == 9:
                with pytest.raises(Unwritable):
                    locator.uri(name)
            else:
                assert locator_of(str(locator.uri(name)), name) == locator


def _answered(octet: int) -> View:
    return View(data=Block(bytes([octet])))


def test_replaced_parts_are_validated() -> None:
    """`plan` shows and sends the locator's fields only if a URI can express them."""
    base = locator_of("gopher://h/0s%09%09+")
    wrong: list[Any] = [
        View("a\r\nb"),
        View("a\tb"),
        Attributes(("+A\n",)),
        Unknown(b"+\t1"),
        View(data=Answers((b".",))),
        View(data=Answers((b"a\r\n.\r\nb",))),
        ("a", "b"),
    ]
    for plus in wrong:
        with pytest.raises((PlanRefused, Unwritable, TypeError)):
            plan(replace(base, plus=plus))
        with pytest.raises(PlanRefused):
            list(steps(replace(base, plus=plus), Credentials()))


def test_hostile_sizes_are_linear() -> None:
    million = "a" * 1_000_000
    assert len(sent(f"gopher://h/0{million}")) == 1_000_002
    assert len(sent(f"gopher://h/0s%09%09+{'%20' * 300_000}")) == 300_005
    assert len(sent("gopher://h/0s%09%09!" + "+A%20" * 200_000 + "+B")) == 600_007
    assert len(sent("gopher://h/0s%09%09!" + "+A" * 400_000)) == 800_005
    lines = "gopher://h/0s%09%09+%091%0D%0A+-1%0D%0A" + "%0D%0A" * 200_000 + ".%0D%0A"
    assert len(sent(lines)) == len(b"s\t+\t1\r\n+-1\r\n") + 400_000 + 3
    assert len(read_menu(b"0\t\t\t70\n" * 100_000).items) == 100_000
    assert len(read_menu(b"\t" * 1_000_000).others) == 1


def test_broken_escapes_of_the_older_editions_are_data() -> None:
    for name in ("url-1994", "rfc1738"):
        assert locator_of("gopher://h/0a%zz%", name).selector == b"a%zz%"
        assert locator_of("gopher://h/%", name).type == "%"


# -- menus

CHARSETS = ["iso-2022-jp", "hz", "utf-7", "shift_jis", "big5", "gb18030", "euc_kr", "utf-8", "cp1252", "cp037"]


@pytest.mark.parametrize("charset", CHARSETS)
def test_a_menu_is_read_in_any_charset(charset: str) -> None:
    for octets in (b"\x1b$Z", b"\x81", b"~}", b"+A", b"\xff\x80\x20", bytes({*range(256)} - set(b"\t\n\r"))):
        menu = read_menu(b"0" + octets + b"\ts\th\t70\r\n", charset)
        assert (menu.items[0].selector, menu.others) == (b"s", ())


MENU = b"".join(
    line + b"\r\n"
    for line in [
        b"0About internet Gopher\tStuff:About us\trawBits.micro.umn.edu\t70",
        b"1Around University of Minnesota\tZ,5692,AUM\tunderdog.micro.umn.edu\t70",
        b"1Microcomputer News & Prices\tPrices/\tpserver.bookstore.umn.edu\t70",
        b"1Courses, Schedules, Calendars\t\tevents.ais.umn.edu\t9120",
        b"1Student-Staff Directories\t\tuinfo.ais.umn.edu\t70",
        b"1Departmental Publications\tStuff:DP:\trawBits.micro.umn.edu\t70",
        b".",
    ]
)
URIS = [
    "gopher://rawBits.micro.umn.edu/0Stuff:About%20us",
    "gopher://underdog.micro.umn.edu/1Z,5692,AUM",
    "gopher://pserver.bookstore.umn.edu/1Prices/",
    "gopher://events.ais.umn.edu:9120/1",
    "gopher://uinfo.ais.umn.edu/1",
    "gopher://rawBits.micro.umn.edu/1Stuff:DP:",
]


def test_the_menu_of_rfc_1436() -> None:
    menu = read_menu(MENU)
    assert menu.complete
    assert not menu.others
    assert [str(item.uri()) for item in menu.items] == URIS
    assert write_menu(menu.items) == MENU
    assert read_menu(MENU.replace(b"\r\n", b"\n")) == menu
    assert read_menu(MENU.removesuffix(b".\r\n")) == menu._replace(complete=False)
    assert read_menu(MENU.removesuffix(b"\r\n")) == menu
    assert read_menu(MENU + b"0behind\tthe\tperiod\t70\r\n") == menu


# UMN gopherd 2.3.0's answer to an empty line.
UMN = (
    b"0form\t0/form\tlocalhost\t26216\t?\r\n0sheep\t0/sheep\tlocalhost\t26216\t+\r\n"
    b"1views\t1/views\tlocalhost\t26216\t+\r\n.\r\n"
)
# pygopherd 3.0.0's format: information lines, and no period.
PYGOPHERD = (
    b"0doc\t/doc.txt\tlocalhost\t7074\t+\r\niAn abstract about doc\tfake\t(NULL)\t0\r\n"
    b"9sheep\t/sheep.ps\tlocalhost\t7074\t+\r\n"
)
ERROR = b"3'/nonexist' does not exist (no handler found)\t\terror.host\t1\r\n"


def test_menus_of_real_servers_are_parsed() -> None:
    form, sheep, views = read_menu(UMN).items
    assert (form.tag, sheep.tag, views.tag) == ("?", "+", "+")
    assert str(form.uri()) == "gopher://localhost:26216/00/form%09%09%3F"
    assert request(form.locator()) == b"0/form\t!+ASK\r\n"
    assert request(sheep.locator()) == b"0/sheep\t+\r\n"
    assert write_menu(read_menu(UMN).items) == UMN
    menu = read_menu(PYGOPHERD)
    assert not menu.complete
    assert [item.inert for item in menu.items] == [False, True, False]
    assert menu.items[1] == MenuItem("i", "An abstract about doc", b"fake", "(NULL)", 0)
    assert b"".join(item.line() for item in menu.items) == PYGOPHERD
    (error,) = read_menu(ERROR).items
    assert error.inert
    with pytest.raises(PlanRefused, match="signals an error"):
        plan(error.uri())


ITEMS = [
    *read_menu(MENU).items,
    *read_menu(UMN).items,
    *read_menu(PYGOPHERD).items,
    *read_menu(ERROR).items,
    MenuItem("8", "A session", b"guest", "h", 23),
    MenuItem("T", "Another", b"", "h", 23),
    MenuItem("2", "Phone book", b"", "h", 105),
    MenuItem("+", "A duplicate", b"s", "h2", 70),
    MenuItem("<", "A sound", b"\x01\xff%09", "h"),
    MenuItem("?", "", b"?#/../[]", "h"),
    MenuItem("/", "", b"//", "h"),
    MenuItem("\xe9", "", b"", "h"),
    MenuItem("1", "é", b"", "::1", 7070),
    MenuItem("1", "", b"", "[::1]"),
    MenuItem("1", "", b"", "fe80::1%eth0"),
    MenuItem("1", "", b"", "b\xfccher.example"),
    MenuItem("1", "", b"", "a host, (NULL) / @ 100%"),
    MenuItem("1", "", b"", ""),
    MenuItem.link_to("http://example.com/?a#b", "A link", "h"),
]


@pytest.mark.parametrize("item", ITEMS)
def test_items_uris_and_lines_convert_back(item: MenuItem) -> None:
    assert MenuItem.from_uri(item.uri(), item.display) == item
    assert MenuItem.from_uri(item.locator(), item.display) == item
    assert MenuItem.from_uri(str(item.uri()), item.display).uri() == item.uri()
    assert MenuItem.read(item.line()) == item
    assert MenuItem.read(item.line("utf-8"), "utf-8") == item
    assert pickle.loads(pickle.dumps(item)) == item


def test_hosts_in_items() -> None:
    assert str(MenuItem("1", "", b"", "::1", 7070).uri()) == "gopher://[::1]:7070/1"
    assert str(MenuItem("1", "", b"", "a b").uri()) == "gopher://a%20b/1"
    assert plan(MenuItem("1", "", b"", "::1").uri()).steps[0].line() == "connect ::1 70"


def test_uris_convert_to_items() -> None:
    for text in URIS:
        assert str(MenuItem.from_uri(URI(text)).uri()) == text
    assert MenuItem.from_uri("gopher://h").uri() == URI("gopher://h/1")
    for text, reason in [
        ("gopher://h/7s%09q", "no search"),
        ("gopher://h/7s%09", "no search"),
        ("gopher://h/7s?q", "no search"),
        ("gopher://h/0s%09%09!", "cannot contain"),
        ("gopher://h/0s%09%09+text/html", "cannot contain"),
        ("http://h/", "not 'http'"),
    ]:
        with pytest.raises(Unwritable, match=reason):
            MenuItem.from_uri(text)


def test_items_may_link_outside_gopher() -> None:
    item = MenuItem.read(b"hExample\tURL:http://example.com/\th\t70")
    assert item.link == "http://example.com/"
    assert str(item.uri()) == "gopher://h/hURL:http://example.com/"
    assert MenuItem.link_to(URI("http://example.com/"), "Example", "h") == item
    assert MenuItem("h", "", b"page.html", "h").link is None
    assert MenuItem("0", "", b"URL:x", "h").link is None


@pytest.mark.parametrize(
    "line",
    [b"", b"0", b"iinformation", b"0a\tb\tc", b"\ta\tb\t70", b"0a\tb\tc\t", b"0a\tb\tc\tx", b"0a\tb\tc\t-1", b".."],
)
def test_invalid_lines_are_not_items(line: bytes) -> None:
    with pytest.raises(CodingError, match="RFC 1436"):
        MenuItem.read(line)
    assert read_menu(line + b"\r\n0a\tb\tc\t70\r\n") == Menu((MenuItem("0", "a", b"b", "c"),), False, ((1, line),))


def test_further_fields_are_kept() -> None:
    line = b"0a\tb\tc\t70\t+\tmore\t\xff\r\n"
    item = MenuItem.read(line)
    assert item.extra == ("+", "more", "\udcff")
    assert item.line() == line
    assert MenuItem.read(b"0a\tb\tc\t70\tmore").tag is None


def test_display_strings_have_a_charset() -> None:
    """RFC 1436 Appendix: ISO Latin 1; other servers send UTF-8."""
    line = "0Müller\ts\th\t70\r\n"
    assert MenuItem.read(line.encode("latin-1")).display == "Müller"
    assert MenuItem.read(line.encode(), "utf-8").display == "Müller"
    assert MenuItem.read(line.encode("latin-1"), "utf-8").line("utf-8") == line.encode("latin-1")


@pytest.mark.parametrize(
    "item",
    [
        MenuItem("0", "a\tb", b"", "h"),
        MenuItem("0", "a\nb", b"", "h"),
        MenuItem("0", "a", b"\t", "h"),
        MenuItem("0", "a", b"\r\n", "h"),
        MenuItem("0", "a", b"\0", "h"),
        MenuItem("0", "a", b"", "h\t70"),
        MenuItem("0", "a", b"", "h", -1),
        MenuItem("0", "a", b"", "h", 70, ("+\t",)),
        MenuItem("", "a", b"", "h"),
        MenuItem("00", "a", b"", "h"),
        MenuItem("€", "a", b"", "h"),
        MenuItem("0", "€", b"", "h"),
    ],
)
def test_unwritable_items_are_rejected(item: MenuItem) -> None:
    with pytest.raises(Unwritable):
        write_menu([item])


def test_duplicates_follow_their_primary() -> None:
    """RFC 1436 Appendix: the primary server is the last preceding entity of a type other than "+"."""
    items = [MenuItem(kind, "x", b"", f"h{n}") for n, kind in enumerate("+01++1")]
    assert [tuple(item.host for item in group) for group in Menu(tuple(items), True).servers()] == [
        ("h0",),
        ("h1",),
        ("h2", "h3", "h4"),
        ("h5",),
    ]


@pytest.mark.parametrize("front", ["0", "%30", "0/", "%30/d/", "9d/"])
@pytest.mark.parametrize("behind", ["", "%09", "%09search%2Fa", "%09a/b%09+", "%09%09!"])
def test_the_name_of_a_file_is_behind_the_type_and_before_a_search(front: str, behind: str) -> None:
    assert URI(f"gopher://h/{front}a%20b.txt{behind}").filename == "a b.txt"
    assert URI(f"gopher://h/%31{behind}").filename is None
