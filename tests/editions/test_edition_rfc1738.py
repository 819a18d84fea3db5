"""RFC 1738 as an edition: the rows of cases/rfc1738.toml, and its sections."""

from __future__ import annotations

import re
from functools import cache
from typing import Any

import pytest

from overthere import URI, CodingError, InvalidURI, NotSpecified, Rung
from overthere.editions.rfc1738 import EDITION, PORTS, WrappedURL, extract, unwrap
from overthere.grammar import Grammar
from overthere.grammar.library import grammar
from overthere.ground.errors import GrammarError
from support import SHARED, cases, ids, outside

Row = dict[str, Any]
ROWS = cases("rfc1738")
PRINT = SHARED.parent / "rfc" / "rfc1738.txt"


def rows(key: str) -> pytest.MarkDecorator:
    chosen = [row for row in ROWS if row["what"] == key]
    return pytest.mark.parametrize("row", chosen, ids=ids(chosen))


def defined(parts: dict[str, str | None]) -> dict[str, str]:
    return {name: text for name, text in parts.items() if text is not None}


@rows("valid")
def test_valid(row: Row) -> None:
    rule = row.get("rule")
    assert EDITION.is_valid(row["text"], rule) == row["is"]
    assert (EDITION.check(row["text"], rule) == []) == row["is"]


@rows("locator")
def test_locator(row: Row) -> None:
    parts = EDITION.parts(row["text"])
    assert list(defined(parts).items()) == list(row["is"].items())
    assert EDITION.host_of(row["text"]) == row.get("host")
    assert EDITION.is_valid(unwrap(row["text"]).partition("#")[0]) == row["valid"]


@rows("split")
def test_split(row: Row) -> None:
    assert defined(EDITION.split(row["text"])._asdict()) == row["is"]


@rows("normal")
def test_normal_form(row: Row) -> None:
    for rung, form in row["is"].items():
        assert EDITION.normalize(row["text"], Rung[rung]) == form
        assert EDITION.normalize(form, Rung[rung]) == form


@rows("code")
def test_encoding_and_decoding(row: Row) -> None:
    assert EDITION.encode(row["data"], row["component"]) == row["is"]
    assert EDITION.decode(row["is"]) == row["data"]


# -- 5: the grammar compared with the printed one


@cache
def printed() -> dict[str, str]:
    """The printed rules of section 5: name -> text without comments."""
    if not PRINT.exists():
        return {}
    text = PRINT.read_text().split("; The generic form of a URL is:")[1].split("6. Security Considerations")[0]
    # Footers and headers of pages.
    text = re.sub(r"\n*Berners-Lee, .*\[Page \d+\]\n\f\nRFC 1738 .*1994\n", "\n", text)
    lines = [re.sub(r"(^|\s);.*", "", line) for line in text.splitlines()]
    rules = re.findall(r"(?ms)^([a-zA-Z0-9+_-]+)\s+=(.*?)(?=^\S|\Z)", "\n".join(lines))
    return {name: " ".join(body.split()) for name, body in rules}


ABNF_NAMES = {"gopher+_string": "gopherplus-string"}
ADDED = {"any-scheme", "new-scheme", "sc", "scmark"}


def transcribed() -> str:
    """The printed rules in ABNF, by rule: `|` is `/`, `*[x]` is `*(x)` (1738-2), misprints and letters by name."""
    rules: list[str] = []
    for name, body in printed().items():
        if name in ("lowalpha", "hialpha"):
            letters = re.findall('"(.)"', body)
            assert len(letters) == 26
            rules.append(f"{name} = %x{ord(letters[0]):x}-{ord(letters[-1]):x}")
            continue
        text = body.replace("[ / [", '[ "/" [').replace('<">', "DQUOTE").replace("gopher+_string", "gopherplus-string")
        text = re.sub(r"(\d*\*)\[([^]]*)\]", r"\1(\2)", text)
        text = "/".join(re.split(r'\|(?!")', text))
        rules.append(f"{ABNF_NAMES.get(name, name)} = {text}")
    return "\n".join(rules)


@pytest.mark.skipif(not PRINT.exists(), reason="../shared/rfc is absent")
def test_rule_names_agree_with_the_print() -> None:
    """Names and order are those of the print; added rules have a decision."""
    ours = [rule.name for rule in grammar("rfc1738").rules.values()]
    names = [name for name in ours if name not in ADDED and not name.startswith("but-")]
    assert names == [ABNF_NAMES.get(name, name) for name in printed()]
    assert len(names) == 67
    assert set(ours) - set(names) == ADDED | {name for name in ours if name.startswith("but-")}


@pytest.mark.skipif(not PRINT.exists(), reason="../shared/rfc is absent")
def test_rules_derive_what_the_printed_rules_derive() -> None:
    """Every rule except three that name a scheme of any kind (1738-1), by its automaton."""
    print_ = Grammar(transcribed())
    ours = grammar("rfc1738")
    different = [name for name in print_.rules if print_.automaton(name) != ours.automaton(name)]
    assert different == ["genericurl", "url", "otherurl"]
    for name in different:
        # Only the letter case of schemes is added, only predefined schemes are removed.
        added = ours.automaton(name).difference(print_.automaton(name))
        assert all(text != text.lower() and print_.automaton(name).accepts(text.lower()) for text in added.sample(200))
    assert print_.automaton("genericurl").difference(ours.automaton("genericurl")).empty
    difference = print_.automaton("url").difference(ours.automaton("url"))
    assert {text.partition(":")[0] for text in difference.sample(200)} <= set(SCHEMES)


SCHEMES = ("ftp", "http", "gopher", "mailto", "news", "nntp", "telnet", "wais", "file", "prospero")


def test_new_schemes() -> None:
    """1738-1: `new-scheme` is `any-scheme` without exactly the ten names, in any case."""
    ten = Grammar("ten = " + " / ".join(f'"{name}"' for name in SCHEMES)).automaton("ten")
    ours = grammar("rfc1738")
    assert ours.automaton("any-scheme").difference(ten) == ours.automaton("new-scheme")
    for name in SCHEMES:
        assert f"{name}url" in ours.rules


def test_character_classes() -> None:
    """2.2 and 5: every US-ASCII character is in the class that the document gives."""
    classes = {name: "".join(sorted(characters)) for name, characters in EDITION.classes.items()}
    assert classes["safe"] == "$+-._"
    assert classes["extra"] == "!'()*,"
    assert classes["national"] == "[\\]^`{|}~"
    assert classes["punctuation"] == '"#%<>'
    assert classes["reserved"] == "&/:;=?@"
    marks = "".join(sorted(classes["safe"] + classes["extra"]))
    assert "".join(c for c in classes["unreserved"] if not c.isalnum()) == marks
    assert sum(c.isalnum() for c in classes["unreserved"]) == 62
    assert classes["uchar"] == classes["unreserved"]
    assert set(classes["xchar"]) == set(classes["unreserved"]) | set(classes["reserved"])
    disjoint = ("safe", "extra", "national", "punctuation", "reserved")
    characters = sorted("".join(classes[name] for name in disjoint))
    assert characters == [c for c in map(chr, range(0x21, 0x7F)) if not c.isalnum()]


# -- 3: schemes


def test_default_ports() -> None:
    """3.2 to 3.11: the port if ":<port>" is omitted."""
    stated = {"ftp": 21, "http": 80, "gopher": 70, "nntp": 119, "telnet": 23, "wais": 210, "prospero": 1525}
    assert stated == EDITION.ports == PORTS
    for scheme, port in stated.items():
        path = "" if scheme == "telnet" else "g"
        assert EDITION.normalize(f"{scheme}://h:{port}/{path}", Rung.SCHEME) == f"{scheme}://h/{path}"
    if PRINT.exists():
        ports = re.findall(r"the\s+port\s+defaults\s+to\s+(\d+)", PRINT.read_text())
        assert set(map(int, ports)) == set(stated.values())


@pytest.mark.parametrize(
    ("path", "commands"),
    [
        ("%2Fetc/motd", ["CWD /etc", "RETR motd"]),
        ("etc/motd", ["CWD etc", "RETR motd"]),
        ("/etc/motd", ["CWD ", "CWD etc", "RETR motd"]),
    ],
)
def test_ftp_commands(path: str, commands: list[str]) -> None:
    """3.2.2: components are split at "/" first, then decoded."""
    fpath = EDITION.parts(f"ftp://myname@host.dom/{path}")["fpath"]
    assert fpath is not None
    *directories, name = map(EDITION.decode, fpath.split("/"))
    assert [*(f"CWD {d}" for d in directories), f"RETR {name}"] == commands


def test_gopher_plus_form() -> None:
    """3.4.9: the client sends the decoded Gopher+ string after the selector."""
    parts = EDITION.parts("gopher://h/0sel%09%09+%091%0D%0A+-1%0D%0Aone%0D%0Atwo%0D%0A.%0D%0A")
    assert EDITION.decode(parts["gopher+_string"] or "") == "+\t1\r\n+-1\r\none\r\ntwo\r\n.\r\n"


@pytest.mark.parametrize("text", ["", "g", "/p", "//h/p", "?q", "#a:b", ":b", "x_y:z", "URL:", "<URL:g>", "URL:g#f"])
def test_a_url_needs_a_scheme(text: str) -> None:
    """2.1: a URL contains the name of the scheme."""
    with pytest.raises(InvalidURI) as caught:
        EDITION.parts(text)
    assert caught.value.source == "RFC 1738 5"
    assert EDITION.host_of(text) is None
    assert EDITION.split(text).scheme is None


def test_undefined_parts() -> None:
    """Parts missing in the text are None; parts that the scheme does not have are not listed."""
    assert EDITION.parts("ftp://h") == {
        "scheme": "ftp", "user": None, "password": None, "host": "h", "port": None, "fpath": None, "ftptype": None
    }  # fmt: skip
    assert EDITION.parts("http://h/") == {"scheme": "http", "host": "h", "port": None, "hpath": "", "search": None}
    assert list(EDITION.parts("file://u@h:1/p")) == ["scheme", "user", "password", "host", "port", "fpath"]
    assert EDITION.parts("telnet://h/x")["urlpath"] == "x"
    assert EDITION.parts("nntp://h")["group"] is None
    assert EDITION.parts("wais://h/d/t") == {
        "scheme": "wais", "host": "h", "port": None, "database": "d", "search": None, "wtype": "t", "wpath": None
    }  # fmt: skip


def test_findings_have_offset_and_rule() -> None:
    """Passwords are not shown."""
    (finding,) = EDITION.check("http://h/~u")
    assert (finding.kind, finding.start, finding.end, finding.rule) == ("not-derivable", 9, 10, "url")
    assert finding.source == "RFC 1738 5"
    (finding,) = EDITION.check("ftp://h/a;type=x")
    assert (finding.start, finding.expected) == (15, '"A", "D", "I", "a", "d" or "i"')
    with pytest.raises(InvalidURI) as caught:
        EDITION.normalize("ftp://u:secret@h/~")
    assert "secret" not in caught.value.figure() + repr(caught.value)
    with pytest.raises(GrammarError):
        EDITION.is_valid("a", "no-rule")


# -- Appendix


APPENDIX = """\
      Yes, Jim, I found it under <URL:ftp://info.cern.ch/pub/www/doc;
      type=d> but you can probably pick it up from <URL:ftp://ds.in
      ternic.net/rfc>.  Note the warning in <URL:http://ds.internic.
      net/instructions/overview.html#WARNING>.
"""


def test_urls_in_text() -> None:
    """Decision 1738-16: the extractor gives the URL and the fragment."""
    assert extract(APPENDIX) == [
        WrappedURL("ftp://info.cern.ch/pub/www/doc;type=d", None, None),
        WrappedURL("ftp://ds.internic.net/rfc", None, None),
        WrappedURL("http://ds.internic.net/instructions/overview.html", "WARNING", None),
    ]


def test_a_hyphen_at_a_line_break_has_two_readings() -> None:
    """Appendix: it "may or may not actually be part of the URL"."""
    (url,) = extract("<URL:http://h/a-\n   b-c#d-\n e>")
    assert url == WrappedURL("http://h/a-b-c", "d-e", "http://h/ab-c")
    assert unwrap("<URL:http://h/a- \r\n\t b>") == "http://h/a-b"


def test_wrappers_are_removed() -> None:
    """The wrapper "does not form part of the URL": parsing removes it, the grammar does not derive it."""
    for text in ("<URL:http://h/p>", "\n<url:http:\n//h/\tp> ", "URL:http://h/p", "http://h/p"):
        assert EDITION.split(text) == EDITION.split("http://h/p")
        assert EDITION.normalize(text) == "http://h/p"
    assert not EDITION.is_valid("<URL:http://h/p>")
    assert extract("<http://h/p> <URL:a:b") == []
    assert unwrap("<http://h/p>") == "<http://h/p>"


@pytest.mark.skipif(not PRINT.exists(), reason="../shared/rfc is absent")
def test_every_printed_example_has_a_row() -> None:
    """Texts that the document itself wraps are in the rows, and the grammar derives them."""
    urls = extract(PRINT.read_text())
    have = {unwrap(row["text"]).partition("#")[0] for row in ROWS if row["what"] == "locator"}
    assert len(urls) == 30
    for url in urls:
        assert url.url in have
        assert EDITION.is_valid(url.url)


def test_collected_rows() -> None:
    """Rows collected for this document, next to the project."""
    for row in outside("seed_examples"):
        if row["spec"] != "rfc1738":
            continue
        expected = row["expected"]
        if row["kind"] == "extract":
            urls = [u.url + ("" if u.fragment is None else "#" + u.fragment) for u in extract(row["input"])]
            assert urls == expected
        elif row["kind"] in ("parse", "scheme"):
            parts = EDITION.parts(row["input"])
            assert {k: parts[k] for k in expected if k in parts} == {k: v for k, v in expected.items() if k in parts}


# -- 2: characters, and what the document leaves open


def test_bytes_above_7f_are_not_characters() -> None:
    """Decision 1738-15: and text beyond US-ASCII has no bytes."""
    assert EDITION.charset == "octets"
    assert EDITION.encode(b"\xe9\x00") == "%E9%00"
    assert EDITION.decode("%7E%41%00") == "~A\0"
    for text in ("%E9", "a%80"):
        with pytest.raises(CodingError, match="names no charset"):
            EDITION.decode(text)
    for call in (EDITION.encode, EDITION.decode):
        with pytest.raises(CodingError, match="US-ASCII"):
            call("caf\u00e9")
    with pytest.raises(CodingError, match="hexadecimal"):
        EDITION.decode("%4")
    with pytest.raises(CodingError, match="nothing that holds data"):
        EDITION.encode("a", "query")


@pytest.mark.parametrize("data", ["", "9lives", "a b", "a@b", "caf%E9", "*", "a\n"])
def test_a_group_has_no_escapes(data: str) -> None:
    with pytest.raises(CodingError, match=r"is not a valid group.*RFC 1738 5"):
        EDITION.encode(data, "group")


@pytest.mark.parametrize("data", ["a", "@h.example", "a@", "a@h_i.example", "a@h.example:80", b"a@\xe9"])
def test_an_nntp_article_needs_a_host(data: str | bytes) -> None:
    with pytest.raises(CodingError, match=r"is not a valid article.*RFC 1738 5"):
        EDITION.encode(data, "article")


def test_relative_links_are_rejected() -> None:
    """2.3: "Relative links are not described in this document"."""
    with pytest.raises(NotSpecified, match="RFC 1808"):
        EDITION.resolve("http://h/", "g")
    assert EDITION.empty_reference == "not specified"


@pytest.mark.parametrize("text", ["http://h?q", "http://h/~", "g", "", "file:/x", "http://h/%4"])
def test_texts_without_a_normal_form(text: str) -> None:
    with pytest.raises(InvalidURI):
        EDITION.normalize(text)


def test_normal_forms_are_valid() -> None:
    """They are URLs at every rung, idempotent, and have the same host."""
    for text in grammar("rfc1738").automaton("url").sample(400, seed=1738):
        if text[:4].lower() == "url:":
            continue
        for rung in Rung:
            form = EDITION.normalize(text, rung)
            assert EDITION.is_valid(form)
            assert EDITION.normalize(form, rung) == form
        kind = text.partition(":")[0].lower()
        assert kind == "file" or EDITION.host_of(form) == EDITION.host_of(text)


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("ftp://h", "ftp://h/"),
        ("ftp://h/a;type=I", "ftp://h/a;type=i"),
        ("ftp://h:021/a", "ftp://h/a"),
        ("http://h", "http://h:80/"),
        ("gopher://h", "gopher://h/1"),
        ("telnet://h", "telnet://h/"),
        ("file://localhost/a", "file:///a"),
    ],
)
def test_the_scheme_rung_agrees_with_rfc3986(a: str, b: str) -> None:
    """Both cite 3.2.2, 3.3, 3.4.1, 3.8, 3.10 and 5."""
    assert EDITION.equivalent(a, b, Rung.SCHEME)
    assert URI(a).equivalent(URI(b), Rung.SCHEME)
