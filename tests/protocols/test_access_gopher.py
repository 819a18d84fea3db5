"""gopher and Gopher+ with gophernicus and pygopherd, recorded answers of the Minnesota servers, and raw bytes."""

from __future__ import annotations

import json
import socket
import tracemalloc
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import anyio
import pytest

import overthere
from overthere import (
    URI,
    AccessError,
    AccessRefused,
    CodingError,
    Credentials,
    Entry,
    PlanRefused,
    Policy,
    Unwritable,
    plan,
)
from overthere.access.errors import (
    AccessFailed,
    AccessTimeout,
    LimitExceeded,
    ProtocolError,
    ResourceMissing,
    ResourceUnavailable,
)
from overthere.access.steps import Send
from overthere.access.wire import Data, Head, Item, Read, Write
from overthere.editions import edition
from overthere.protocols.gopher.dialogue import dialogue
from overthere.protocols.gopher.entries import AskForm, Question
from overthere.schemes.known.gopher import GopherLocator
from overthere.schemes.known.gopher.menu import MenuItem
from servers.gopherd import FILES, UMN, Gopherd, gophernicus, pygopherd, recorded_answers, replayed
from servers.replay import Served, serve

LOCAL = Policy.local().with_(read_timeout=60)


# These servers open files as nobody: not below pytest's own folder, which another pytest run of the same user closes
# to everybody else when it starts.


@pytest.fixture(scope="module")
def nicus() -> Iterator[Gopherd]:
    with TemporaryDirectory() as folder, gophernicus(Path(folder) / "nicus") as gopher:
        yield gopher


@pytest.fixture(scope="module")
def pyg() -> Iterator[Gopherd]:
    with TemporaryDirectory() as folder, pygopherd(Path(folder) / "pyg") as gopher:
        yield gopher


@pytest.fixture(params=["nicus", "pyg"])
def server(request: pytest.FixtureRequest) -> Gopherd:
    gopher: Gopherd = request.getfixturevalue(request.param)
    return gopher


def entries(uri: str | GopherLocator, policy: Policy = LOCAL) -> list[Entry]:
    with overthere.open(uri, policy) as resource:
        assert resource.is_listing
        return list(resource.entries())


def read(uri: str | GopherLocator, policy: Policy = LOCAL) -> tuple[bytes, Head]:
    with overthere.open(uri, policy) as resource:
        return resource.read(), resource.head


def aread(uri: str) -> tuple[bytes, Head]:
    async def main() -> tuple[bytes, Head]:
        async with await overthere.aopen(uri, LOCAL) as resource:
            return await resource.read(), resource.head

    return anyio.run(main)


def aentries(uri: str) -> list[Entry]:
    async def main() -> list[Entry]:
        async with await overthere.aopen(uri, LOCAL) as resource:
            return [entry async for entry in resource.entries()]

    return anyio.run(main)


def driven(uri: str, *pieces: bytes, stays: bool = False, policy: Policy = LOCAL) -> tuple[Head, bytes, list[Entry]]:
    """A dialogue with the pieces of an answer, followed by the end or by silence."""
    head, data, items, buffer = None, bytearray(), list[Entry](), b""
    coming = iter(pieces)
    result: Any = None
    running = dialogue(plan(uri), policy)
    with suppress(StopIteration):
        while True:
            effect = running.send(result)
            result = None
            match effect:
                case Read(size, patience=patience):
                    buffer = buffer or next(coming, b"")
                    result, buffer = buffer[:size], buffer[size:]
                    if stays and not result:
                        if patience is None:
                            raise AccessTimeout("nothing came")
                        result = None
                case Head():
                    assert head is None
                    head = effect
                case Data(octets):
                    assert head is not None
                    assert octets
                    data += octets
                case Item(item):
                    assert head is not None
                    items.append(item)
                case _:
                    pass
    assert head is not None
    return head, bytes(data), items


# -- real servers


def test_texts_are_read(server: Gopherd) -> None:
    """A period at the start of a line is kept, one that ends the text is removed: no server doubles periods."""
    for name in ("doc.txt", "troff.txt", "up.txt", "open.txt"):
        octets, head = read(server.uri(f"0/{name}"))
        assert octets.replace(b"\r\n", b"\n").removesuffix(b"\n") == FILES[name].removesuffix(b"\n"), name
        assert (head.media_type, head.how, head.details) == (
            "text/plain",
            "scheme",
            {"type": "0", "source": "RFC 1436 3.8"},
        )
        assert aread(server.uri(f"0/{name}")) == (octets, head)
    assert read(server.uri("0/ended.txt"))[0].strip() == b"x"


def test_binary_files_are_complete(server: Gopherd) -> None:
    for kind, name, expected in (
        ("9", "x.bin", "application/octet-stream"),
        ("g", "p.gif", "image/gif"),
        ("h", "h.html", "text/html"),
        ("I", "p.gif", "image/gif"),
    ):
        octets, head = read(server.uri(f"{kind}/{name}"))
        assert (octets, head.media_type) == (FILES[name], expected)
        assert aread(server.uri(f"{kind}/{name}")) == (octets, head)


def test_a_menu_and_its_items_can_be_opened(server: Gopherd) -> None:
    items = entries(server.uri("1/"))
    assert aentries(server.uri("1/")) == items
    opened, menu = 0, list[Entry]()
    for entry in items:
        if entry.uri is None:
            assert entry.kind == "info"
            continue
        locator = URI(entry.uri).locator
        assert isinstance(locator, GopherLocator)
        name = locator.selector.decode().strip("/")
        if name in FILES and name not in ("ended.txt",):
            octets, _ = read(entry.uri)
            assert octets.replace(b"\r\n", b"\n").strip() == FILES[name].replace(b"\r\n", b"\n").strip()
            opened += 1
        elif name == "menu":
            assert entry.kind == "directory"
            menu = entries(entry.uri)
    assert opened >= 8
    by_name = {entry.name: entry for entry in menu}
    assert by_name["Welcome \u00e9"] == Entry("Welcome \u00e9", None, "info", {"type": "i"})
    assert by_name["Link"].uri == "http://h.example/"
    assert (by_name["Else"].kind, by_name["Else"].uri) == ("directory", "gopher://else.example:7071/1/x")
    session = by_name["Log in"]
    assert session.kind == "telnet session"
    with overthere.open(session.uri or "", LOCAL) as resource:
        log = resource.details["session"]
        assert (log["program"], log["host"], log["port"]) == ("telnet", "localhost", 2323)
        assert log["user"].endswith("guest")
        assert resource.read() == b""


def test_gopher_plus_items_carry_their_tag(pyg: Gopherd) -> None:
    entry = next(item for item in entries(pyg.uri("1/")) if item.name == "doc")
    assert (entry.uri, entry.details) == (pyg.uri("0/doc.txt%09%09+"), {"type": "0", "gopherplus": "+"})
    octets, head = read(entry.uri or "")
    assert (octets, head.length) == (b"a doc\n", 6)
    assert head.details["gopherplus"] is True


def test_a_search(nicus: Gopherd) -> None:
    assert [entry.name for entry in entries(nicus.uri("7/cgi-bin/search.cgi%09foo%20bar"))] == ["query=[foo bar]"]
    log = nicus.log.read_text()
    assert "/cgi-bin/search.cgi\\tfoo bar\\r" in log or "/cgi-bin/search.cgi\tfoo bar\\r" in log


def test_missing_items(pyg: Gopherd, nicus: Gopherd) -> None:
    for path, code, source in (
        ("0/no", "3", "RFC 1436 3.8"),
        ("1/no", "3", "RFC 1436 3.8"),
        ("9/no", "3", "RFC 1436 3.8"),
        ("0/no%09%09+", "1", "Gopher+ 2.3"),
        ("1/no%09%09$", "1", "Gopher+ 2.3"),
    ):
        with pytest.raises(ResourceMissing, match="does not exist") as caught:
            overthere.open(pyg.uri(path), LOCAL)
        assert (caught.value.code, caught.value.source) == (code, source)
    # gophernicus reports it in a text, which is sometimes lost when it exits with an error.
    assert read(nicus.uri("0/no"))[0][:7] in (b"Error: ", b"")
    assert entries(pyg.uri("1/empty")) == []


def test_attributes_of_an_item(pyg: Gopherd) -> None:
    (entry,) = entries(pyg.uri("0/doc.txt%09%09!"))
    assert aentries(pyg.uri("0/doc.txt%09%09!")) == [entry]
    assert (entry.name, entry.kind, entry.uri) == ("doc.txt", "file", pyg.uri("0/doc.txt%09%09+"))
    assert entry.details["views"] == [
        {"view": "text/plain", "size": "0k", "octets": 0, "uri": pyg.uri("0/doc.txt%09%09+text/plain")}
    ]
    assert entry.details["abstract"] == "An abstract about doc"
    admin = dict(entry.details["admin"])
    assert admin["Admin"].endswith("<pygopherd@nowhere.nowhere>")
    assert set(admin) == {"Admin", "Mod-Date"}
    form = AskForm.from_entry(Entry(**vars_of(entry)))
    assert [question.kind for question in form.questions] == ["Note", "Ask", "Choose"]
    assert read(entry.details["views"][0]["uri"])[0] == b"a doc\n"


def vars_of(entry: Entry) -> dict[str, Any]:
    """The fields of an entry, as in JSON."""
    fields: dict[str, Any] = json.loads(
        json.dumps({"name": entry.name, "uri": entry.uri, "kind": entry.kind, "details": entry.details})
    )
    return fields


def test_attributes_of_a_directory(server: Gopherd) -> None:
    items = entries(server.uri("1%09%09$"))
    assert all("attributes" in entry.details for entry in items)
    if server.name == "pygopherd":
        assert {"doc", "x", "menu"} <= {entry.name for entry in items}
        assert next(entry for entry in items if entry.name == "doc").details["abstract"] == "An abstract about doc"
        assert next(entry for entry in items if entry.kind == "info").uri is None
    # gophernicus has attributes for its main menu only; for others it sends the menu.
    assert {"Else", "A doc"} <= {entry.name for entry in entries(server.uri("1/menu/%09%09$"))}


def test_a_server_without_attributes(nicus: Gopherd, pyg: Gopherd) -> None:
    for uri in (nicus.uri("0/doc.txt%09%09!"), nicus.uri("0/doc.txt%09%09%3F"), pyg.uri("0/doc.txt%09%09!+ABSTRACT")):
        with pytest.raises(ProtocolError, match="but the item itself"):
            overthere.open(uri, LOCAL)
    octets, head = read(nicus.uri("0/doc.txt%09%09+"))
    assert (octets.strip(), head.details["gopherplus"]) == (b"a doc", False)


# -- requests


@pytest.mark.parametrize(
    "rest_of_uri",
    [
        "",
        "0/a_selector",
        "7/s%09a%20b",
        "0s%09%09+",
        "0s%09%09+Text/plain%20Es_ES",
        "0s%09%09!+ABSTRACT%20+VIEWS",
        "1%09%09$",
        "0s%09%09%3F",
        "0s%09%09+%091%0D%0A+-1%0D%0ATim%0D%0Ablue%0D%0A.%0D%0A",
        "9%FF%01",
    ],
)
def test_the_sent_request_is_that_of_the_plan(rest_of_uri: str) -> None:
    def handler(client: socket.socket, served: Served) -> None:
        got = b""
        while len(got) < len(sent) and (data := client.recv(1 << 16)):
            got += data
        client.sendall(b"+-2\r\n" if b"+" in got or b"!" in got or b"$" in got else b".\r\n")
        client.shutdown(socket.SHUT_WR)
        while data := client.recv(1 << 16):  # further data, until the end of the connection
            got += data
        served.requests.append(got)

    with serve(handler) as served:
        uri = f"gopher://127.0.0.1:{served.port}/{rest_of_uri}"
        sent = b"".join(step.data for step in plan(uri) if isinstance(step, Send))
        overthere.open(uri, LOCAL).close()
        aentries(uri)
    assert served.requests == [sent, sent]


@pytest.mark.parametrize("octet", ["%0D", "%0A", "%0D%0A", "%00"])
@pytest.mark.parametrize("suffix", ["0a{}b", "7a%09b{}c", "0a%09%09+text{}", "0a%09%09!{}", "8a{}b", "0a%09%09$+A{}+B"])
def test_no_delimiter_is_ever_sent(octet: str, suffix: str) -> None:
    with serve(lambda client, served: served.requests.append(client.recv(99))) as served:
        with pytest.raises(PlanRefused):
            overthere.open(f"gopher://127.0.0.1:{served.port}/{suffix.format(octet)}", LOCAL)
        with pytest.raises((PlanRefused, Unwritable)):
            overthere.open(GopherLocator("127.0.0.1", served.port, "0", b"a\tb"), LOCAL)
    assert served.connections == 0


@pytest.mark.parametrize("edition_name", ["url-1994", "rfc1738", "rfc3986"])
def test_nul_in_a_selector_is_rejected_by_the_editions_that_forbid_it(edition_name: str) -> None:
    with pytest.raises(PlanRefused, match=r"^selector holds NUL, .*\(RFC 1436 Appendix; RFC 3986 7\.2\)$"):
        plan(edition(edition_name).locator("gopher://h/0a%00b"))


def test_a_menu_cannot_add_delimiters_to_requests() -> None:
    lines = (
        b"0a\ts\rx\th.example\t70\r\n0b\ts\0\th.example\t70\r\n0c\ts\th.example /x\t70\r\n1d\ts\th.example\t99999\r\n"
    )
    _, _, items = driven("gopher://h/", lines + b"0e\ts\t\t70\r\n.\r\n")
    assert [entry.uri for entry in items] == [None] * 5
    assert all(entry.details["problem"].startswith("it has no URI") for entry in items)


def test_the_policy_is_applied() -> None:
    with pytest.raises(AccessRefused):
        overthere.open("gopher://127.0.0.1:7070/")
    with pytest.raises(AccessRefused):
        overthere.open("gopher://gopher.example:25/0x")


# -- recorded answers


@pytest.mark.parametrize("name", UMN)
def test_texts_of_minnesota(name: str) -> None:
    """They end with a period, and periods are not doubled."""
    answers = recorded_answers(name)
    with replayed(answers) as served:
        text = f"gopher://127.0.0.1:{served.port}/0"
        plain, _ = read(f"{text}0/sheep")
        assert plain == answers[b"0/sheep\r\n"].removesuffix(b".\r\n")
        octets, head = read(f"{text}0/sheep%09%09+")
        assert octets.split() == b"English sheep. .leading dot end".split()
        assert head.length == (32 if name == "umn-3.0.5" else None)
        octets, head = read(f"{text}0/sheep%09%09+Text/plain%20Es_ES")
        assert (head.media_type, head.details["language"]) == ("text/plain", "Es_ES")
        octets, head = read(f"{text}0/sheep%09%09+application/postscript%20En_US")
        assert head.media_type == "application/postscript"
        if name == "umn-2.3.0":
            assert octets == b"%!PS sheep\r\n"
        assert aread(f"{text}0/sheep%09%09+")[0].endswith(b"end" + (b"\r\n" if name == "umn-2.3.0" else b"\n"))
    assert served.requests[2:4] == [b"0/sheep\t+Text/plain Es_ES\r\n", b"0/sheep\t+application/postscript En_US\r\n"]


@pytest.mark.parametrize("name", UMN)
def test_a_form_of_minnesota(name: str) -> None:
    with replayed(recorded_answers(name)) as served:
        (entry,) = entries(f"gopher://127.0.0.1:{served.port}/00/form%09%09%3F")
        assert entry.details["gopherplus"] == "?"
        form = AskForm.from_entry(entry)
        assert form.questions == (
            Question("Note", "Please fill in"),
            Question("Ask", "Your name", "Anon"),
            Question("Ask", "Your colour"),
        )
        # The items have the recorded host names.
        form = form._replace(locator=replace(form.locator, host="127.0.0.1", port=served.port, written=None))
        for filled in (form.fill({"Your name": "Tim", "Your colour": "blue"}), form.fill(["Tim", "blue"])):
            octets, head = read(filled)
            assert octets.split() == b"form answers: [Tim] [blue]".split()
            assert head.media_type == "text/plain"
    assert served.requests == [b"0/form\t!+ASK\r\n", *[b"0/form\t+\t1\r\n+-1\r\nTim\r\nblue\r\n.\r\n"] * 2]


@pytest.mark.parametrize("name", UMN)
def test_a_view_of_a_menu(name: str) -> None:
    """The server announces a final period, and sends none."""
    with replayed(recorded_answers(name)) as served:
        octets, head = read(f"gopher://127.0.0.1:{served.port}/11/views%09%09+text/html%20En_US")
    assert octets.startswith(b"<HTML>\r\n")
    assert octets.endswith(b"</HTML>\r\n")
    assert (head.media_type, head.listing) == ("text/html", False)


@pytest.mark.parametrize("name", UMN)
def test_attributes_of_minnesota(name: str) -> None:
    with replayed(recorded_answers(name)) as served:
        text = f"gopher://127.0.0.1:{served.port}/"
        items = entries(f"{text}1%09%09$")
        named = [entry for entry in items if entry.name == "sheep"]
        views = [view for entry in named for view in entry.details["views"]]
        assert [(view["view"], view["language"]) for view in views] == [
            ("application/postscript", "En_US"),
            ("Text/plain", "En_US"),
            ("Text/plain", "Es_ES"),
        ]
        assert views[0]["octets"] == 0
        assert views[-1]["uri"].endswith("%09%09+Text/plain%20Es_ES")
        assert [one.details["abstract"] for one in named if "abstract" in one.details] == ["An abstract about sheep"]
        (entry,) = entries(f"{text}00/sheep%09%09!+ABSTRACT%20+VIEWS")
        assert entry.details["abstract"] == "An abstract about sheep"
        assert [item.name for item in entries(f"{text}1%09%09+")] == [item.name for item in entries(text)]
        for entry in entries(f"{text}1%09%09$+VIEWS"):
            assert set(entry.details["attributes"]) == {"+VIEWS"}
        assert {item.details["gopherplus"] for item in entries(text)} == {"+", "?"}


@pytest.mark.parametrize("name", UMN)
def test_errors_of_minnesota(name: str) -> None:
    answers = recorded_answers(name)
    with replayed(answers) as served:
        with pytest.raises(ResourceMissing, match="does not exist!!") as caught:
            overthere.open(f"gopher://127.0.0.1:{served.port}/00/nonexist%09%09+", LOCAL)
        assert (caught.value.code, caught.value.source) == ("1", "Gopher+ 2.3")
        assert "<gopher@localhost>" in str(caught.value)
        for path in ("00/nonexist", "10/nonexist", "90/nonexist"):
            with pytest.raises(ResourceMissing, match="does not exist!!") as caught:
                overthere.open(f"gopher://127.0.0.1:{served.port}/{path}", LOCAL)
            assert caught.value.code == "3"
    # An answer to a search before the Gopher+ string, which is missing.
    answer = answers[b"0/sheep\t\t!\r\n"]
    for uri in ("gopher://h/00/sheep%09%09!", "gopher://h/00/sheep%09%09+"):
        with pytest.raises(ResourceMissing, match="Malformed command"):
            driven(uri, answer)


def recorded_uri(request: bytes) -> str:
    """The URI of a recorded request."""
    selector, tab, plus = request.removesuffix(b"\r\n").decode("latin-1").partition("\t")
    block = plus.partition("\r\n")
    if block[1]:
        plus = plus + "\r\n"
    kind = selector[:1] if selector[:1].isdigit() else "1" if selector in ("", "/views") else "0"
    escaped = {"\t": "%09", "\r": "%0D", "\n": "%0A", " ": "%20", "?": "%3F"}
    text = "".join(escaped.get(c, c) for c in f"{kind}{selector}" + ("\t\t" + plus if tab else ""))
    return f"gopher://h/{text}"


@pytest.mark.parametrize("name", [*UMN, "pygopherd-3.0.0"])
def test_an_end_at_every_offset(name: str) -> None:
    """An error, or a prefix if nothing marks the end; in two pieces, the complete answer."""
    refused = complete = 0
    for request, answer in recorded_answers(name).items():
        if request.count(b"\t") > 1 and b"\n" not in request[:-2]:
            continue  # forms of a request that are not sent
        uri = recorded_uri(request)
        assert b"".join(step.data for step in plan(uri) if isinstance(step, Send)) == request
        message = ""
        try:
            expected = driven(uri, answer)
        except AccessError as error:
            expected = None
            message = str(error)
        for offset in range(len(answer)):
            try:
                _, octets, items = driven(uri, *filter(None, [answer[:offset]]))
            except AccessError:
                refused += 1
            else:
                if expected is None:
                    assert not octets.endswith(b"1\r\n"), "an error is none of the content"
                    continue
                assert expected[1].startswith(octets), offset
                ours, theirs = [vars_of(entry) for entry in items], [vars_of(entry) for entry in expected[2]]
                assert ours[:-1] == theirs[: max(len(ours) - 1, 0)]
                complete += 1
            if offset % 5:
                continue
            try:
                assert driven(uri, *filter(None, [answer[:offset], answer[offset:]])) == expected
            except AccessError as error:
                repeated = str(error)
                assert (expected, repeated) == (None, message)
    assert refused > 1000
    assert complete > 50


@pytest.mark.parametrize(
    ("uri", "answer"),
    [
        ("gopher://h/1%09%09$", recorded_answers("umn-3.0.5")[b"\t$\r\n"]),
        ("gopher://h/1%09%09+", recorded_answers("umn-3.0.5")[b"\t+\r\n"]),
        ("gopher://h/00/form%09%09%3F", recorded_answers("umn-2.3.0")[b"0/form\t!+ASK\r\n"]),
        ("gopher://h/00/nonexist%09%09+", recorded_answers("umn-2.3.0")[b"0/nonexist\t+\r\n"]),
        ("gopher://h/00/sheep%09%09+", recorded_answers("umn-3.0.5")[b"0/sheep\t+\r\n"].removesuffix(b".\r\n")),
    ],
)
def test_with_a_known_end_an_earlier_one_is_an_error(uri: str, answer: bytes) -> None:
    for offset in range(len(answer) - (3 if answer.endswith(b"\n.\r\n") else 0)):
        with pytest.raises(AccessError):
            driven(uri, *filter(None, [answer[:offset]]))


@pytest.mark.parametrize("is_silent", [False, True])
@pytest.mark.parametrize("head", [b"+-2\r\n", b"+%d\r\n"])
@pytest.mark.parametrize("tail", [b"", b".\r\n"])
def test_a_period_alone_is_no_end_before_the_stated_one(head: bytes, tail: bytes, is_silent: bool) -> None:
    """Gopher+ 2.3: only "+-1" announces a period; some servers add one to a menu all the same."""
    menu = b"0a\ta\th\t70\r\n.\r\n0b\tb\th\t70\r\n"
    head = head.replace(b"%d", b"%d" % len(menu + tail))
    if not is_silent or tail or b"-" not in head:
        _, _, items = driven("gopher://h/1%09%09+", head, menu, tail, stays=is_silent)
        assert [(item.name, item.kind) for item in items] == [("a", "file"), (".", "malformed"), ("b", "file")]
    attributes = b"+INFO: 0a\ta\th\t70\t+\r\n+ABSTRACT:\r\n one\r\n.\r\n two\r\n"
    _, _, (item,) = driven("gopher://h/0a%09%09!", b"+%d\r\n" % len(attributes), attributes)
    assert item.details["abstract"] == "one\n.\ntwo"


# -- octets


@pytest.mark.parametrize(
    ("answer", "text"),
    [
        (b"", b""),
        (b".\r\n", b""),
        (b".", b""),
        (b"a\r\n.\r\n", b"a\r\n"),
        (b"a\n.\n", b"a\n"),
        (b"a\n.", b"a\n"),
        (b"a\n.\r", b"a\n"),
        (b"a", b"a"),
        (b"a.\r\n", b"a.\r\n"),
        (b"a\n.\nb\n", b"a\n.\nb\n"),  # a final period without a line end
        (b"a\r\n..b\r\n.\r\n", b"a\r\n.b\r\n"),  # doubled, according to RFC 1436
        (b"..\r\n..\r\n.\r\n", b".\r\n.\r\n"),
        (b"a\n../b\n", b"a\n../b\n"),  # without an end nothing was doubled
        (b"a\n.b\n..c\n.\r\n", b"a\n.b\n..c\n"),  # a single period shows that none is doubled
        (b"a\n..c\n.b\n.\r\n", b"a\n..c\n.b\n"),
        (b"3 is\ta\tnumber\t1\n and more\n", b"3 is\ta\tnumber\t1\n and more\n"),
        (b"x" * 300_000 + b"\n.y", b"x" * 300_000 + b"\n.y"),
    ],
)
def test_doubled_periods_in_texts(answer: bytes, text: bytes) -> None:
    assert driven("gopher://h/0x", *filter(None, [answer]))[1] == text
    if len(answer) < 100:
        for split in range(1, len(answer)):
            assert driven("gopher://h/0x", answer[:split], answer[split:])[1] == text
        assert driven("gopher://h/0x", *(bytes([octet]) for octet in answer))[1] == text
    assert driven("gopher://h/9x", *filter(None, [answer]))[1] == answer


def test_a_text_of_periods_is_linear_in_limited_memory() -> None:
    for line, text, count in (
        (b"..\n", b"..\n", 100_000),
        (b"..\n", b".\n", 400_000),  # by RFC 1436, since a mebibyte shows nothing else
        (b".x\n", b".x\n", 100_000),
        (b".\n", b".\n", 100_000),
    ):
        head, octets, _ = driven("gopher://h/0x", b"a\n", *[line * 20_000] * (count // 20_000))
        assert head.media_type == "text/plain"
        # The final period is removed.
        assert octets == b"a\n" + text * (count - (line == b".\n"))


def test_a_server_that_does_not_close() -> None:
    """A period, or the count, is the end; otherwise the timeout."""
    for uri, answer, expected in (
        ("gopher://h/0x", b"a\r\n.\r\n", b"a\r\n"),
        ("gopher://h/0x%09%09+", b"+3\r\nabcdef", b"abc"),
        ("gopher://h/0x%09%09+", b"+0\r\n", b""),
        ("gopher://h/0x%09%09+", b"+-1\r\na\r\n.\r\n", b"a\r\n"),
    ):
        assert driven(uri, answer, stays=True)[1] == expected
    assert driven("gopher://h/", b".\r\n", stays=True)[2] == []
    for uri, answer in (("gopher://h/9x", b"a"), ("gopher://h/0x", b"a\n"), ("gopher://h/", b"1a\tb\th\t70\r\n")):
        with pytest.raises(AccessTimeout):
            driven(uri, answer, stays=True)
    policy = LOCAL.with_(read_timeout=0.4)
    with replayed({b"x\r\n": b"a\r\n.\r\n", b"y\r\n": b"a\r\n"}, stays_open=True) as served:
        assert read(f"gopher://127.0.0.1:{served.port}/0x")[0] == b"a\r\n"
        assert aread(f"gopher://127.0.0.1:{served.port}/0x")[0] == b"a\r\n"
        with pytest.raises(AccessTimeout):
            read(f"gopher://127.0.0.1:{served.port}/0y", policy)


@pytest.mark.parametrize(
    ("uri", "answer", "error"),
    [
        ("gopher://h/0x%09%09+", b"", AccessFailed),
        ("gopher://h/0x%09%09+", b"+", AccessFailed),
        ("gopher://h/0x%09%09+", b"+5340\r\nab", AccessFailed),
        ("gopher://h/1%09%09+", b"+5340\r\n1a\tb\th\t70\r\n", AccessFailed),
        ("gopher://h/1%09%09+", b"+999999999999999999\r\n", AccessFailed),
        ("gopher://h/0x%09%09+", b"+-1\r\nab", AccessFailed),
        ("gopher://h/1%09%09+", b"+-1\r\n1a\tb\th\t70\r\n", AccessFailed),
        ("gopher://h/0x%09%09!", b"+9999999999999999999\r\n", ProtocolError),
        ("gopher://h/0x%09%09!", b"+-3\r\n", ProtocolError),
        ("gopher://h/0x%09%09!", b"\x00\xff" * 5000, ProtocolError),
        ("gopher://h/", b"1" * 70_000, LimitExceeded),
        ("gopher://h/1%09%09$", b"+-2\r\n+INFO: " + b"1" * 70_000, LimitExceeded),
        ("gopher://h/1%09%09$", b"+-2\r\n+INFO: 1a\tb\th\t70\r\n" + b" x\r\n" * 40_000, LimitExceeded),
        ("gopher://h/1%09%09+", b"+100000\r\n" + b"1" * 100_000, LimitExceeded),
        ("gopher://h/1", b"1a\tb\th\t7", AccessFailed),
        ("gopher://h/0x%09%09+", b"--2\r\n", ResourceMissing),
        ("gopher://h/0x%09%09+", b"-0\r\n", ResourceMissing),
        ("gopher://h/0x%09%09+", b"-11\r\n2 Try later", ResourceUnavailable),
        ("gopher://h/0x%09%09+", b"--1\r\n\xff\x1b[31mno\r\n.\r\n", ResourceMissing),
        ("gopher://h/0x%09%09+", b"--1\r\n" + b"x\r\n" * 100_000, ResourceMissing),
        ("gopher://h/1x", b"iSorry\t\tnull.host\t1\r\n3No such thing\t\terror.host\t1\r\n.\r\n", ResourceMissing),
        ("gopher://h/gx", b"3No such thing\t\terror.host\t1\r\n.\r\n", ResourceMissing),
    ],
)
def test_hostile_answers(uri: str, answer: bytes, error: type[AccessError]) -> None:
    with pytest.raises(error) as caught:
        driven(uri, *filter(None, [answer]))
    assert str(caught.value).isprintable()
    assert caught.value.where
    with pytest.raises(AccessError):
        driven(uri, *(answer[at : at + 7] for at in range(0, min(len(answer), 70_000), 7)))


def test_error_codes() -> None:
    with pytest.raises(ResourceMissing, match=r"^no such thing; the administrator is <a@b>") as caught:
        driven("gopher://h/0x%09%09+", b"--1\r\n17 Me <a@b>\r\nno such thing\r\n.\r\n")
    assert caught.value.code == "17"
    with pytest.raises(ResourceUnavailable, match="try again later") as later:
        driven("gopher://h/0x%09%09+", b"--1\r\n2\r\n.\r\n")
    assert later.value.code == "2"


def test_the_policy_applies_to_a_moved_item() -> None:
    answers = {b"old\t+\r\n": b"", b"new\t+\r\n": b"+2\r\nhi", b"loop\t+\r\n": b""}
    filled = b"old\t+\t1\r\n+-1\r\nTim\r\n.\r\n"
    with replayed(answers) as served:
        place = b"127.0.0.1\t%d\t+" % served.port
        answers[b"old\t+\r\n"] = b"--1\r\n3 0New\tnew\t" + place + b"\r\n.\r\n"
        answers[filled] = answers[b"old\t+\r\n"]
        answers[b"loop\t+\r\n"] = b"--1\r\n3 Me <a@b>\r\n0New\tloop\t" + place + b"\r\n.\r\n"
        start = f"gopher://127.0.0.1:{served.port}/0"
        with overthere.open(f"{start}old%09%09+", LOCAL) as resource:
            assert resource.read() == b"hi"
            assert str(resource.uri) == f"{start}new%09%09+"
            assert [str(uri) for uri in resource.history] == [f"{start}old%09%09+"]
        with pytest.raises(AccessRefused, match="cycle"):
            overthere.open(f"{start}loop%09%09+", LOCAL)
        # The contents of a filled form are not sent to another server.
        with pytest.raises(ResourceMissing) as caught:
            overthere.open(GopherLocator("127.0.0.1", served.port, "0", b"old").filled("Tim"), LOCAL)
        assert caught.value.code == "3"
    head, _, _ = driven("gopher://h/0x%09%09+", b"--2\r\n3 0New\tnew\t10.0.0.1\t25\r\n")
    assert head.location == "gopher://10.0.0.1:25/0new"
    with pytest.raises(AccessRefused):
        overthere.open(head.location or "")


def test_menu_lines_of_every_kind() -> None:
    answer = (
        b"1Dir\t/d\th.example\t70\r\n"
        b"+Dir again\t/d\tother.example\t7070\r\n"
        b"no item\r\n"
        b"\r\n"
        b"\xe9t\xe9 \xff\t/x\th\t70\r\n"
        b"0\xe9t\xe9\t/x\xff\th.example\t70\textra\xff\tmore\r\n"
        b"3Broken\t\terror.host\t1\r\n"
        b"hBad link\tURL:no link\th.example\t70\r\n"
        b"0IPv6\ta\t2001:db8::1\t70\n"
        b"0Form\tf\th.example\t70\t?\r\n"
        b"zOdd\to\th.example\t70\r\n"
        b".\r\nafter the end"
    )
    head, octets, items = driven("gopher://h/", answer)
    assert (head.media_type, head.how, head.listing, octets) == ("application/gopher-menu", "scheme", True, b"")
    assert [(entry.name, entry.kind, entry.uri) for entry in items] == [
        ("Dir", "directory", "gopher://h.example/1/d"),
        ("Dir again", "redundant server", "gopher://other.example:7070/1/d"),
        ("no item", "malformed", None),
        ("", "malformed", None),
        ("t\u00e9 \u00ff", "unknown", "gopher://h/%E9/x"),
        ("\u00e9t\u00e9", "file", "gopher://h.example/0/x%FF"),
        ("Broken", "error", None),
        ("Bad link", "HTML", "gopher://h.example/hURL:no%20link"),
        ("IPv6", "file", "gopher://[2001:db8::1]/0a"),
        ("Form", "file", "gopher://h.example/0f%09%09%3F"),
        ("Odd", "unknown", "gopher://h.example/zo"),
    ]
    assert items[2].details["problem"]
    assert items[5].details["extra"] == ["extra\ufffd", "more"]
    assert items[9].details["gopherplus"] == "?"
    for entry in items:
        json.dumps(vars_of(entry))
        if entry.uri is not None:
            plan(entry.uri)


def test_a_long_menu_is_streamed() -> None:
    def lines() -> Iterator[bytes]:
        for block in range(600):
            text = b"".join(b"iline %d of it\tfake\t(NULL)\t0\r\n" % (block * 100 + at) for at in range(97))
            yield text + b"".join(b"0item %d\t/x/%d\th.example\t70\r\n" % (at, at) for at in range(3))
        yield b".\r\n"

    def handler(client: socket.socket, served: Served) -> None:
        client.recv(99)
        for piece in lines():
            client.sendall(piece)

    with serve(handler) as served, overthere.open(f"gopher://127.0.0.1:{served.port}/", LOCAL) as resource:
        tracemalloc.start()
        count = sum(1 for _ in resource.entries())
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
    assert count == 60_000
    # CPython keeps up to 2,000 freed tuples of each length, which do not count as memory of the menu.
    assert peak < 800_000 < sum(map(len, lines())) / 2


def test_attributes_of_every_kind() -> None:
    answer = (
        b"+-2\r\n"
        b"before\r\n"
        b"+INFO: 0One\tone\th.example\t70\t+\r\n"
        b"+ADMIN\r\n Admin: Me <me@h.example>\r\n Mod-Date: x <19930728170201>\r\n"
        b"+VIEWS:\r\n Text/plain: <10k>\r\n application/postscript De_DE: <1.5M>\r\n image/gif\r\n : odd\r\n"
        b" a b c d\r\n"
        b"+ABSTRACT: 0long abstract\tabs\th2.example\t71\t+\r\nforgotten space\r\n and more\r\n"
        b"+3D-ICON: not an item\r\n \xe9\r\n"
        b"+ABSTRACT:\r\n again\r\n"
        b"+INFO: nothing\r\n"
        b"+INFO: iOnly shown\tfake\t(NULL)\t0\r\n"
    )
    head, _, items = driven("gopher://h/1%09%09$", answer)
    assert head.listing
    assert [(entry.name, entry.kind) for entry in items] == [
        ("before", "malformed"),
        ("One", "file"),
        ("nothing", "malformed"),
        ("Only shown", "info"),
    ]
    details = items[1].details
    assert details["admin"] == [("Admin", "Me <me@h.example>"), ("Mod-Date", "x <19930728170201>")]
    start = "gopher://h.example/0one%09%09+"
    assert details["views"] == [
        {"view": "Text/plain", "size": "10k", "octets": 10240, "uri": f"{start}Text/plain"},
        {
            "view": "application/postscript",
            "language": "De_DE",
            "size": "1.5M",
            "octets": 1_572_864,
            "uri": f"{start}application/postscript%20De_DE",
        },
        {"view": "image/gif", "uri": f"{start}image/gif"},
        {"view": ": odd", "problem": "it is not a content type with a language and a size (Gopher+ A3.0)"},
        {"view": "a", "language": "b", "uri": f"{start}a%20b"},
    ]
    assert details["references"] == {"+ABSTRACT": "gopher://h2.example:71/0abs%09%09+"}
    assert details["abstract"] == "forgotten space\nand more\nagain"
    assert details["attributes"]["+3D-ICON"] == ["not an item", "\u00e9"]
    # Without "+INFO" the attributes belong to the requested item.
    _, _, (entry,) = driven("gopher://h/0x%09%09!+ABSTRACT", b"+-1\r\n+ABSTRACT:\r\n x\r\n.\r\n")
    assert (entry.uri, entry.details["abstract"]) == ("gopher://h/0x%09%09+", "x")


# -- forms

FORM = AskForm(
    GopherLocator("h.example", None, "0", b"f"),
    tuple(
        map(
            Question.read,
            [
                "Note: All of them",
                "Ask: Name\tAnon",
                "AskP: Password",
                "AskL: Letter",
                "AskF: Save as\tout.txt",
                "Select: With pictures:1",
                "Choose: Colour\tred\tblue",
                "Wonder: Unheard of",
                "no question",
            ],
        )
    ),
)


def block(locator: GopherLocator) -> list[bytes]:
    (sent,) = (step.data for step in plan(locator) if isinstance(step, Send))
    request, _, data = sent.partition(b"\r\n")
    assert request == b"f\t+\t1"
    return data.split(b"\r\n")


def test_a_form_is_filled_out() -> None:
    filled = FORM.fill(
        {
            "Name": "Tim",
            1: "secret",
            "Letter": "Dear all\nbye",
            "With pictures": False,
            "Colour": "blue",
            "Unheard of": b"\xe9",
        }
    )
    expected = [b"+-1", b"Tim", b"secret", b"2", b"Dear all", b"bye", b"out.txt", b"0", b"blue", b"\xe9", b".", b""]
    assert block(filled) == expected
    assert block(FORM.fill()) == [b"+-1", b"Anon", b"", b"0", b"out.txt", b"1", b"red", b"", b".", b""]
    assert [question.asks for question in FORM.questions].count(False) == 2
    # The URI of the filled form can be opened, and parsed back to it.
    assert URI(str(filled.uri())).locator == filled
    # A line with a single period makes the block give its length.
    assert block(FORM.fill({"Letter": ["."]}))[0] == b"+%d" % len(b"Anon\r\n\r\n1\r\n.\r\nout.txt\r\n1\r\nred\r\n\r\n")
    assert block(FORM.fill({"Name": "\u00e9"}, charset="utf-8"))[1] == b"\xc3\xa9"
    # Text and bytes have the same lines.
    for letter in ("", "a", "a\n", "a\r\rb\r\n\nc", "a\x0cb\x0bc\x1cd", "a\u2028b\x85c"):
        with_bytes = FORM.fill({"Letter": letter.encode()})
        assert block(FORM.fill({"Letter": letter}, charset="utf-8")) == block(with_bytes)


@pytest.mark.parametrize(
    "values",
    [
        {"Nobody asks": "x"},
        {99: "x"},
        {"Name": "two\r\nlines"},
        {"Name": ["x"]},
        {"Name": True},
        {"Name": "\u00e9"},
        {"Letter": 3},
        {"Letter": ["a\nb"]},
        {"With pictures": "perhaps"},
        {"Colour": "green"},
        ["x"] * 9,
    ],
)
def test_invalid_answers_of_a_form(values: Any) -> None:
    with pytest.raises(CodingError):
        FORM.fill(values)


def test_a_form_that_sends_a_file() -> None:
    form = AskForm(FORM.locator, (Question.read("ChooseF: Which file"), Question.read("Ask: Why")))
    filled = form.fill(["notes.txt", "so"], file=b"a\n.\r\n")
    assert block(filled) == [b"+20", b"notes.txt", b"so", b"a\n.", b""]
    with pytest.raises(CodingError, match="asks for a file"):
        form.fill(["notes.txt", "so"])
    with pytest.raises(CodingError, match="takes no file"):
        FORM.fill(file=b"")
    twice = AskForm(FORM.locator, (Question.read("Ask: Same"), Question.read("Ask: Same")))
    with pytest.raises(CodingError, match="2 questions"):
        twice.fill({"Same": "x"})
    with pytest.raises(CodingError, match="no form"):
        AskForm.from_entry(Entry("x", "gopher://h/0x"))


# -- sessions


def test_sessions_do_not_connect() -> None:
    with serve(lambda client, served: None) as served:
        for kind, program in (("8", "telnet"), ("T", "tn3270"), ("2", "cso")):
            uri = f"gopher://127.0.0.1:{served.port}/{kind}guest"
            with overthere.open(uri, LOCAL, credentials=Credentials(password="hidden")) as resource:
                session = resource.details["session"]
                assert (session["program"], session["host"], session["port"]) == (program, "127.0.0.1", served.port)
                assert resource.session is not None
                assert (resource.session.program, resource.session.port) == (program, served.port)
                assert resource.read() == b""
                assert "hidden" not in json.dumps(session)
    assert served.connections == 0
    with pytest.raises(AccessRefused):
        overthere.open("gopher://127.0.0.1:23/8guest")
    with pytest.raises(AccessRefused):
        overthere.open("gopher://h.example:25/8guest")


def test_items_and_entries_agree() -> None:
    for first, two in pairwise("0145679gIh"):
        item = MenuItem(first, "x", b"s", "h.example")
        _, _, (entry,) = driven("gopher://h/", item.line())
        assert entry.uri == str(item.uri())
        assert entry.kind != driven("gopher://h/", item._replace(type=two).line())[2][0].kind or {first, two} == {
            "I",
            "g",
        }


def test_a_dialogue_uses_no_sockets() -> None:
    running = dialogue(plan("gopher://h/0x"), LOCAL)
    next(running)
    assert isinstance(running.send(None), Write)
    running.close()
