"""The edition of 1994 (draft-ietf-uri-url-03): its grammar, how its prose reads texts, and every example."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from overthere import Rung
from overthere.editions import NAMES, edition
from overthere.editions.context1994 import extract, safer, unwrap
from overthere.editions.url1994 import EDITION, wpath_fields
from overthere.ground.errors import CodingError, InvalidURI, NotSpecified
from support import ROOT, cases, ids

ROWS = cases("url1994")
PRINT = ROOT.parent / "shared" / "seeds" / "000_30f9c5e1318d7a21.txt"


def words(text: str) -> list[str]:
    """A list of URLs without spaces, written as a text."""
    return text.split()


def located(text: str) -> dict[str, str]:
    """The defined parts."""
    return {name: part for name, part in EDITION.parts(text).items() if part is not None}


@pytest.mark.parametrize("row", ROWS, ids=ids(ROWS))
def test_printed_examples(row: dict[str, Any]) -> None:
    text, rule = row["text"], row.get("rule", "url")
    assert EDITION.is_valid(text, rule) == row["valid"]
    assert (EDITION.check(text, rule) == []) == row["valid"]
    assert row["valid"] or row["why"]
    if "sent" in row:
        assert EDITION.decode(text) == row["sent"]
        parts = EDITION.parts(f"gopher://host/0a_gopher_selector%09%09{text}")
        assert parts["gopher+_string"] == text
        assert EDITION.is_valid(f"gopher://host/0a_gopher_selector%09%09{text}", "gopheraddress-prose")
    else:
        assert located(text) == row["locator"]
        assert EDITION.parts("URL:" + text) == EDITION.parts(text)
        assert EDITION.host_of(text) == row["locator"]["host"]
        # PrePrefix: the grammar requires the prefix; texts without it are read too.
        assert EDITION.is_valid("URL:" + text) == row["valid"]
        assert not EDITION.is_valid(text)


# EDITIONS 1.14, the column of 1994: texts that the BNF derives, without the prefix.
DERIVED = words(
    """
    http://h/p http://h http://h?q http://h:80/ http://a_b/ http://a-.com/ http://example.com./ http://256.1.1.1/
    http://h/a$b,c http://h/a"b mailto:a@b.c mailto:a%25b@c.d news:* news:a.b nntp:a.b/1 telnet://h ftp://h/a!I
    gopher://h/7s%09q gopher://h/7s?q prospero://h/o%001 wais://h/d/t/1=a;2=b; mid:a@b.c cid:a@b.c
    """
)
NOT_DERIVED = words(
    """
    http://h/?q/r?s http://h/p?a/b http://h:/ http://u:p@h/ ftp://u?x@h/ ftp://@h/ http:///p file:///p
    http://3com.com/ http://1.2.3/ http://%41.com/ http://[::1]/ http://[::1%25en0]/ http://[v1.a]/ 1a:b x_y:z
    x+y-z.1:b HTTP://h/ http://h/~u http://h/a!b*c http://h/a|b http://h/[x] http://h/p#f http://h/p?[x]
    http://h/p#a#b x:[a] x:a//b x: about: nntp://h/a.b/1 telnet://h/ ftp://h ftp://h/a;type=i gopher://h/0s%09%09!
    prospero://h/o;V=1 wais://h/d/t/x ?q #f a:b ./a:b //h //h?q ///p a//b
    """
)


@pytest.mark.parametrize("text", [*DERIVED, "http://h/a b"])
def test_texts_that_the_grammar_derives(text: str) -> None:
    assert EDITION.is_valid(text, "url")
    assert EDITION.is_valid("URL:" + text)


@pytest.mark.parametrize("text", [*NOT_DERIVED, ""])
def test_texts_that_the_grammar_does_not_derive(text: str) -> None:
    assert not EDITION.is_valid(text, "url")
    finding, *_ = EDITION.check("URL:" + text)
    assert (finding.kind, finding.source) == ("not-derivable", "draft-ietf-uri-url-03, BNF")


# BNF: character classes, EDITIONS 1.1.
CLASSES = {
    "safe": "$-_@.&+",
    "extra": "\"'(), ",
    "reserved": "=;/#?:",
    "national": "{}|[]\\^~",
    "punctuation": "<>",
    "digit": "0123456789",
    "hex": "0123456789abcdefABCDEF",
}


@pytest.mark.parametrize("name", CLASSES)
def test_character_classes(name: str) -> None:
    assert EDITION.classes[name] == frozenset(CLASSES[name])


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("text", ["http://h/ a b {}", "1a b", "URL:a b", ""])
def test_at_most_as_many_findings_as_the_limit(name: str, text: str) -> None:
    """The last one counts the others."""
    full = edition(name).check(text, limit=None)
    for limit in range(len(full) + 2):
        findings = edition(name).check(text, limit=limit)
        assert findings[:limit] == full[:limit]
        assert [finding.kind for finding in findings[limit:]] == ["more"] * (len(full) > limit)
    invalid_limits: list[Any] = [-1, 1.5]
    for invalid in invalid_limits:
        with pytest.raises(ValueError, match="limit must be None or an int of 0 or more"):
            edition(name).check(text, limit=invalid)


def test_no_production_holds_national_or_punctuation() -> None:
    characters = EDITION.classes["xpalpha"]
    assert not characters & (EDITION.classes["national"] | EDITION.classes["punctuation"])
    assert characters == EDITION.classes["xalpha"]  # 94-17: "+" is in safe
    assert not characters & frozenset("!*`%")


# By the prose: (place, text, the defined parts).
READ: list[tuple[str, str, dict[str, str]]] = [
    # EDITIONS 1.13
    ("1.13 http", "http://h?q", {"scheme": "http", "host": "h", "search": "q"}),
    ("1.13 http", "http://h/a/?x+y", {"scheme": "http", "host": "h", "path": "a/", "search": "x+y"}),
    ("1.13 ftp", "ftp://h/a!I", {"scheme": "ftp", "host": "h", "path": "a", "ftptype": "I"}),
    ("1.13 gopher", "gopher://h/7s?q", {"scheme": "gopher", "host": "h", "gtype": "7", "selector": "s", "search": "q"}),
    ("1.13 mailto", "mailto:a%25b@c.d", {"scheme": "mailto", "addr-spec": "a%25b@c.d"}),
    ("1.13 news", "news:*", {"scheme": "news", "groupart": "*"}),
    ("1.13 news", "news:a.b", {"scheme": "news", "groupart": "a.b", "group": "a.b"}),
    ("1.13 news", "news:x@h", {"scheme": "news", "groupart": "x@h", "article": "x@h"}),
    ("1.13 nntp", "nntp:a.b/1", {"scheme": "nntp", "group": "a.b", "digits": "1"}),
    ("1.13 telnet", "telnet://u@h:23", {"scheme": "telnet", "user": "u", "host": "h", "port": "23"}),
    (
        "1.13 wais",
        "wais://h/d/t/1=a;2=b/c;",
        {"scheme": "wais", "host": "h", "database": "d", "wtype": "t", "wpath": "1=a;2=b/c;"},
    ),
    (
        "1.13 prospero",
        "prospero://h/o%001",
        {"scheme": "prospero", "host": "h", "hsoname": "o", "version": "1"},
    ),
    ("1.13 mid", "mid:a@b.c", {"scheme": "mid", "addr-spec": "a@b.c"}),
    ("1.13 cid", "cid:a@b.c", {"scheme": "cid", "content-identifier": "a@b.c"}),
    ("BNF afsaddress", "afs://cell.org/p/q", {"scheme": "afs", "cellname": "cell.org", "path": "p/q"}),
    ("94-2", "ftp://a@b:p@h/", {"scheme": "ftp", "user": "a@b", "password": "p", "host": "h", "path": ""}),
    ("94-2", "http://u@h/", {"scheme": "http", "user": "u", "host": "h", "path": ""}),
    ("94-3", "mailto::a@b", {"scheme": "mailto", "addr-spec": ":a@b"}),
    ("94-4", "ftp://h/a!I;type=d", {"scheme": "ftp", "host": "h", "path": "a!I", "ftptype": "d"}),
    ("94-4", "ftp://h/a!i", {"scheme": "ftp", "host": "h", "path": "a!i"}),
    ("94-5", "ftp://h/a;type=D", {"scheme": "ftp", "host": "h", "path": "a", "ftptype": "D"}),
    ("94-6", "ftp://h", {"scheme": "ftp", "host": "h"}),
    ("94-6", "ftp://h;type=d", {"scheme": "ftp", "host": "h", "ftptype": "d"}),
    ("94-7", "http://3com.com/", {"scheme": "http", "host": "3com.com", "path": ""}),
    ("94-9", "nntp://h/a.b/1", {"scheme": "nntp", "host": "h", "group": "a.b", "digits": "1"}),
    (
        "94-10",
        "gopher://h/7s%09a?b",
        {"scheme": "gopher", "host": "h", "gtype": "7", "selector": "s", "search": "a?b"},
    ),
    (
        "94-11",
        "gopher://h/0s%09+",
        {"scheme": "gopher", "host": "h", "gtype": "0", "selector": "s", "search": "+"},
    ),
    ("94-13", "url:http://h", {"scheme": "http", "host": "h"}),
    ("94-15", "rlogin://u:p@h", {"scheme": "rlogin", "user": "u", "password": "p", "host": "h"}),
    ("94-15", "tn3270://h", {"scheme": "tn3270", "host": "h"}),
    (
        "94-18",
        "prospero://h/o%0012abc3",
        {"scheme": "prospero", "host": "h", "hsoname": "o", "version": "12", "attributes": "abc3"},
    ),
    ("94-20", "http://h/p#f?g", {"scheme": "http", "host": "h", "path": "p", "fragmentid": "f?g"}),
    ("94-20", "news:a.b#f", {"scheme": "news", "groupart": "a.b", "group": "a.b", "fragmentid": "f"}),
    ("94-21", "x-y:z", {"scheme": "x-y", "path": "z"}),
    ("94-22", "HTTP://h?q", {"scheme": "HTTP", "host": "h", "search": "q"}),
    ("94-26", "http://h?a@b/c", {"scheme": "http", "host": "h", "search": "a@b/c"}),
    ("94-26", "ftp://u?x@h/", {"scheme": "ftp", "host": "u", "path": "?x@h/"}),
    ("94-27", "ftp://h/a//b", {"scheme": "ftp", "host": "h", "path": "a//b"}),
    ("Gopher, part 2", "gopher://h/00a", {"scheme": "gopher", "host": "h", "gtype": "0", "selector": "0a"}),
    ("Gopher, part 2", "gopher://h/1", {"scheme": "gopher", "host": "h", "gtype": "1", "selector": ""}),
    ("Gopher", "gopher://h", {"scheme": "gopher", "host": "h"}),
    ("Gopher", "gopher://h/%30s", {"scheme": "gopher", "host": "h", "gtype": "%30", "selector": "s"}),
]


@pytest.mark.parametrize(("place", "text", "parts"), READ, ids=[f"{row[0]} {row[1]}" for row in READ])
def test_texts_are_read_by_the_prose(place: str, text: str, parts: dict[str, str]) -> None:
    assert located(text) == parts, place
    assert EDITION.host_of(text) == parts.get("host")


def test_undefined_and_empty_parts_differ() -> None:
    assert EDITION.parts("http://h")["path"] is None
    assert EDITION.parts("http://h/")["path"] == ""
    assert EDITION.parts("ftp://@h/")["user"] == ""
    assert EDITION.parts("http://h")["fragmentid"] is None
    assert list(EDITION.parts("ftp://h")) == [
        *("scheme", "user", "password", "host", "port", "path", "ftptype", "fragmentid")
    ]


def test_wpath_fields() -> None:
    """WAIS: number before the equals sign, contents after it, terminated by ";" (94-19)."""
    assert wpath_fields("1=h%3A210;9=a/b=c;") == [("1", "h%3A210"), ("9", "a/b=c")]
    assert wpath_fields("1=;") == [("1", "")]
    assert wpath_fields("") == []


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("URL:http://u@h:8/p?q#f", ("http", "u@h:8", "/p", "q", "f")),
        ("gopher://h/0s%09%09?", ("gopher", "h", "/0s%09%09?", None, None)),
        ("mailto:a?b", ("mailto", None, "a?b", None, None)),
        ("//h/p", (None, "h", "/p", None, None)),
        ("1a:b", (None, None, "1a:b", None, None)),
        ("", (None, None, "", None, None)),
    ],
)
def test_split(text: str, parts: tuple[str | None, ...]) -> None:
    """URL SYNTAX; only http, gopher and wais have a search part."""
    assert EDITION.split(text) == parts


@pytest.mark.parametrize("text", ["", "a/b", "//h/p", "URL:", "URL:a/b", ":a", "1a:b"])
def test_text_without_a_scheme_is_rejected(text: str) -> None:
    with pytest.raises(InvalidURI, match="there is no scheme") as caught:
        EDITION.parts(text)
    assert caught.value.source == "draft-ietf-uri-url-03, Scheme"
    assert EDITION.host_of(text) is None
    assert EDITION.check(text)


# Rules with a misprint or from the prose derive these texts, and no other rule refers to them.
MARKED = [
    ("94-1", "extra-prose", ["!", "*", "'"], [" ", '"', "~"]),
    ("94-3", "mailtoaddress-printed", ["mailto::a@b"], ["mailto:a@b"]),
    ("94-4", "ftpaddress-prose", ["ftp://h/a;type=d", "ftp://h/a;type=A", "ftp://h/a//b"], ["ftp://h/a|b"]),
    ("94-6", "ftpaddress-prose", ["ftp://h", "ftp://u:p@h"], ["ftp:h"]),
    ("94-7", "host-prose", ["3com.com", "128.141.1.1", "info.cern.ch."], ["a_b", "a-.com", "a..b", ""]),
    ("94-9", "nntpaddress-prose", ["nntp://h/a.b/1"], ["nntp:a.b/1", "nntp://h/a.b"]),
    ("94-11", "gopheraddress-prose", ["gopher://h/0s%09%09!", "gopher://h/1"], ["gopher://h/0s%09!%09", "gopher://h"]),
    ("94-15", "telnetaddress-prose", ["telnet://h", "rlogin://u@h", "tn3270://h:23"], ["telnet:h"]),
    ("94-16", "addr-spec", ["a@b.c"], ["a", "@b"]),
    ("94-28", "xpalphas-printed", ["a", "a+"], ["abc", ""]),
    (
        "Gopher, Summary",
        "gopherplus-summary",
        ["!%20b", "+%091%0D%0A+-1%0D%0A%0D%0A.%0D%0A"],
        ["", "%0D%0A", "+a%20b%20c"],
    ),
]


@pytest.mark.parametrize(("place", "rule", "texts", "refused"), MARKED, ids=[f"{m[0]} {m[1]}" for m in MARKED])
def test_marked_rules(place: str, rule: str, texts: list[str], refused: list[str]) -> None:
    assert [text for text in texts if not EDITION.is_valid(text, rule)] == [], place
    assert [text for text in refused if EDITION.is_valid(text, rule)] == [], place


# Texts that the grammar derives or not, by decision.
LETTER = [
    ("94-1", "extra", [" ", '"'], ["!", "*"]),
    ("94-2", "login", ["a@b@h", "a:b@h:21"], ["@h", "h:"]),
    ("94-3", "mailtoaddress", ["mailto:a@b"], ["mailto::a@b"]),
    ("94-4", "ftpaddress", ["ftp://h/a!A", "ftp://h/!D"], ["ftp://h/a!X", "ftp://h/a;type=A"]),
    ("94-5", "ftptype", ["A", "I", "D"], ["a", "i", "d"]),
    ("94-6", "ftpaddress", ["ftp://h/"], ["ftp://h"]),
    ("94-7", "hostname", ["a_b", "a%20b", "a@b", "a.b."], ["3com.com", "", ".a"]),
    ("94-7", "hostnumber", ["999.1.1.1"], ["1.2.3"]),
    ("94-9", "nntpaddress", ["nntp:a.b/1"], ["nntp://h/a.b/1"]),
    ("94-10", "gopheraddress", ["gopher://h?q", "gopher://h/7s%09q?r"], ["gopher://h/", "gopher://h/0?q?r"]),
    ("94-13", "prefixedurl", ["URL:http://h", "url:http://h"], ["http://h", "URL: http://h"]),
    ("94-15", "url", ["telnet://h"], ["rlogin://h", "tn3270://h"]),
    ("94-17", "search", ["a+b", "a", "a++b"], [""]),
    ("94-18", "prosperolink", ["prospero://h/o%0012abc"], ["prospero://h/o%0012;a=b"]),
    ("94-19", "wpath", ["1=a;2=b/c;", "1=;"], ["1=a", "a=1;", ""]),
    ("94-20", "url", ["http://h/p"], ["http://h/p#f"]),
    ("94-21", "scheme", ["x-", "a$b", "a b"], ["1a", ""]),
    ("94-22", "url", ["http://h"], ["Http://h"]),
    ("94-23", "escape", ["%4a", "%4A"], ["%4g", "%4"]),
    ("94-26", "httpaddress", ["http://h?q"], ["http://h?q?r"]),
    ("94-27", "path", ["", "a", "a/", "a/b"], ["/", "a//b", "/a"]),
    ("94-28", "segment", ["abc"], [""]),
    ("BNF", "afsaddress", ["afs://c/p"], ["afs:/c/p"]),
]


@pytest.mark.parametrize(("place", "rule", "texts", "refused"), LETTER, ids=[f"{m[0]} {m[1]}" for m in LETTER])
def test_the_grammar_follows_the_decisions(place: str, rule: str, texts: list[str], refused: list[str]) -> None:
    assert [text for text in texts if not EDITION.is_valid(text, rule)] == [], place
    assert [text for text in refused if EDITION.is_valid(text, rule)] == [], place


def test_afs_is_not_a_url() -> None:
    """BNF preamble: "left in as historical note, but is not a url production"."""
    assert not EDITION.is_valid("afs://c/p", "url")


def test_no_rule_refers_to_marked_rules() -> None:
    rules = EDITION.grammar.rules
    marked = {name for name in rules if name.endswith("-printed")}
    assert marked == {"mailtoaddress-printed", "xpalphas-printed"}
    for name, rule in rules.items():
        if not name.endswith("-prose"):
            words = set(re.findall("[a-z0-9-]+", rule.text.lower()))
            assert not marked & words, name
    printed = list(rules)[: list(rules).index("void") + 1]
    assert not [name for name in printed if "-prose" in rules[name].text]


@pytest.mark.skipif(not PRINT.exists(), reason="../shared/rfc is absent")
def test_rules_agree_with_the_print() -> None:
    """Every name left of the BNF's text, in order."""
    text = PRINT.read_text(encoding="utf-8", errors="replace")
    text = text[text.index("  prefixedurl ") : text.index("(end of URL BNF)")]
    names = [m[1] for m in re.finditer(r"^  (ur l|[a-z]+)(?:  +\S| *$)", text, re.MULTILINE) if m[1] != "url"]
    ours = [rule.name for rule in EDITION.grammar.rules.values()]
    ours = [name for name in ours[: ours.index("void") + 1] if not name.endswith("-printed")]
    assert [name.replace("ur l", "url") for name in names] == ours


# ENCODING PROHIBITED CHARACTERS


def test_escapes_are_latin_1() -> None:
    assert EDITION.charset == "iso-8859-1"
    assert EDITION.decode("r%E9sum%e9") == "résumé"
    assert EDITION.decode("%C3%A9") == "Ã©"  # 94-24: not UTF-8
    assert EDITION.encode("résumé ü") == "r%E9sum%E9%20%FC"
    assert EDITION.encode(bytes([0, 233])) == "%00%E9"


@pytest.mark.parametrize("data", ["€", "łódź", "a\ud800", "漢"])
def test_characters_outside_latin_1_are_rejected(data: str) -> None:
    with pytest.raises(CodingError, match="is not in ISO Latin 1"):
        EDITION.encode(data)
    with pytest.raises(CodingError, match="is not in ISO Latin 1"):
        EDITION.decode(data)


@pytest.mark.parametrize("text", ["%", "%4", "%zz", "a%4g"])
def test_invalid_escapes(text: str) -> None:
    with pytest.raises(CodingError, match="two hexadecimal digits"):
        EDITION.decode(text)
    with pytest.raises(InvalidURI, match="two hexadecimal digits"):
        EDITION.normalize(f"http://h/{text}")


@pytest.mark.parametrize(
    ("data", "component", "text"),
    [
        ("a/b", "segment", "a%2Fb"),
        ("/x", "selector", "%2Fx"),
        ("a//b/", "path", "a/%2Fb/"),
        ("a/b", "path", "a/b"),
        ('a "b"', "segment", "a%20%22b%22"),
        ("!*~", "segment", "%21%2A%7E"),
        ("x+y z", "search", "x%2By%20z"),
        ("u@h:p", "user", "u%40h%3Ap"),
        ("100%", "xalphas", "100%25"),
        ("!+ABSTRACT +SMELL", "gopher+_string", "!+ABSTRACT%20+SMELL"),
        ("+application/postscript Es_ES", "gopher+_string", "+application/postscript%20Es_ES"),
    ],
)
def test_encode(data: str, component: str, text: str) -> None:
    assert EDITION.encode(data, component) == text
    assert EDITION.decode(text) == data


def test_the_grammar_derives_encoded_data() -> None:
    every = "".join(map(chr, range(256)))
    for rule in (
        "xalphas",
        "segment",
        "path",
        "selector",
        "hsoname",
        "database",
        "wtype",
        "search",
        "user",
        "password",
    ):
        text = EDITION.encode(every.replace("/", ""), rule)
        assert EDITION.is_valid(text, rule), rule
        assert EDITION.decode(text) == every.replace("/", "")


@pytest.mark.parametrize("rule", ["path", "selector", "hsoname"])
@given(data=st.text("/a%é", max_size=8))
def test_the_grammar_derives_paths_with_slashes_anywhere(rule: str, data: str) -> None:
    text = EDITION.encode(data, rule)
    assert EDITION.is_valid(text, rule), text
    assert EDITION.decode(text) == data


def test_encode_rejects_other_components() -> None:
    with pytest.raises(CodingError, match="cannot hold data"):
        EDITION.encode("a", "query")
    with pytest.raises(TypeError, match="text or bytes"):
        EDITION.encode(1)  # type: ignore[arg-type]


# Normal form: EDITIONS 1.9 (the document defines none), 1.1 ("selectively and reversibly expanded").


@pytest.mark.parametrize(
    ("text", "rung", "form"),
    [
        ("url:HTTP://H/%7e%41", Rung.STRING, "url:HTTP://H/%7e%41"),
        ("url:HTTP://H/%7e%41", Rung.CASE, "URL:http://H/%7E%41"),
        ("url:HTTP://H/%7e%41", Rung.PERCENT, "URL:http://H/%7EA"),
        ("http://H:80/a/../b/./", Rung.PROTOCOL, "http://H:80/a/../b/./"),
        ("http://h", Rung.PROTOCOL, "http://h"),
        (
            "http://h/%2F%3F%23%3A%3B%3D%25%20%22%21%2A%40%2B",
            Rung.SYNTAX,
            "http://h/%2F%3F%23%3A%3B%3D%25%20%22%21%2A%40%2B",
        ),
        ("http://h/%24%2D%5F%2E%26%27%28%29%2C", Rung.SYNTAX, "http://h/$-_.&'(),"),
        ("http://h/%2541", Rung.SYNTAX, "http://h/%2541"),
        ("http://h/r%e9sum%e9", Rung.SYNTAX, "http://h/r%E9sum%E9"),
        ("ftp://h/a!%49", Rung.SYNTAX, "ftp://h/a!%49"),
        ("prospero://h/o%001%32", Rung.SYNTAX, "prospero://h/o%001%32"),
        ("gopher://h/%30s%09%61", Rung.SYNTAX, "gopher://h/0s%09a"),
    ],
)
def test_normalize(text: str, rung: Rung, form: str) -> None:
    assert EDITION.normalize(text, rung) == form
    assert EDITION.normalize(form, rung) == form


def test_normalization_preserves_validity_and_meaning() -> None:
    for text in EDITION.grammar.automaton("prefixedurl").sample(300, seed=94):
        form = EDITION.normalize(text)
        assert EDITION.is_valid(form), text
        assert EDITION.normalize(form) == form
        before, after = EDITION.parts(text), EDITION.parts(form)
        assert {n: p and EDITION.decode(p) for n, p in before.items() if n != "scheme"} == {
            n: p and EDITION.decode(p) for n, p in after.items() if n != "scheme"
        }


def test_partial_forms_and_ports_are_undefined() -> None:
    """94-25: partial forms are promised but missing; no default port is named."""
    with pytest.raises(NotSpecified, match=r"RFC 1630 \(partial forms\)"):
        EDITION.resolve("http://h/a", "b")
    assert EDITION.ports == {}
    assert EDITION.empty_reference == "not specified"
    assert (EDITION.date, EDITION.document) == ("March 1994", "draft-ietf-uri-url-03")


def test_wrapped_urls_are_found() -> None:
    """In plain text: the document's example, and its references with spaces and broken lines."""
    text = """Yes, Jim, I found it under <ftp://info.cern.ch/pub/www/doc> but
        you can probably pick it up from <ftp://ds.internic.net/rfc>."""
    assert [match.url for match in extract(text)] == ["ftp://info.cern.ch/pub/www/doc", "ftp://ds.internic.net/rfc"]
    reference = "<gopher://gopher.micro.umn.edu/00/Information\n          About Gopher/About Gopher>"
    (match,) = extract(reference)
    assert match.url == "gopher://gopher.micro.umn.edu/00/InformationAbout Gopher/About Gopher"
    assert match.with_spaces == "gopher://gopher.micro.umn.edu/00/Information About Gopher/About Gopher"
    assert extract("<ftp://info.cern.ch/pub/www/doc/http-spec.txt\n   >")[0].with_spaces is None
    assert extract("a <p> and <b>, 1 < 2 > 3, <URL:http://h/#f>") == [("http://h/", "f", None)]
    assert unwrap(" <URL:http://h/a b> ") == unwrap("url:http://h/a b") == "http://h/a b"


def test_prohibited_characters_are_encoded() -> None:
    """Encoded ones are unchanged, and the meaning is the same."""
    for text in ["URL:http://h/a b%20c?d e", 'ftp://h/"x"~[1]', "gopher://h/0caf\xe9%E9", "mailto:a b@c", "news:a{b}"]:
        result = safer(text)
        assert safer(result) == result
        assert result.isascii()
        if text[:4] != "URL:":
            assert EDITION.locator(result) == EDITION.locator(text)
    assert safer("http://h/%zz%", "%") == "http://h/%zz%"
    for text, unsafe in [("http://h/a", "/"), ("ftp://u@h/a", "@"), ("http://h/\u65e5", " "), ("http://h/\xe9", " ")]:
        with pytest.raises(CodingError):
            safer(text, unsafe)
    with pytest.raises(InvalidURI):
        safer("no scheme")
