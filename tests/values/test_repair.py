"""repair: texts with one possible meaning, change by change; ambiguous ones are rejected."""

from __future__ import annotations

import json
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from overthere import URI, CodingError, InvalidURI, URIReference, columns, explain, repair
from overthere.base import to_reference
from overthere.text import typed
from support import linear, processor

MENDED = [
    ("http://h/a", "http://h/a"),
    (" \t\n http://h/a\r\n ", "http://h/a"),
    ("http://h/a\nb\tc", "http://h/abc"),
    ("http://h/my file.html", "http://h/my%20file.html"),
    ('http://h/<a>"{b}|^`', "http://h/%3Ca%3E%22%7Bb%7D%7C%5E%60"),
    ("http://h/%zz%4%", "http://h/%25zz%254%25"),
    ("http://h/%41%zz", "http://h/%41%25zz"),
    ("http://h/?a[]=1|2", "http://h/?a%5B%5D=1%7C2"),
    ("http://h/#a#b", "http://h/#a%23b"),
    ("x://\u00e9/\u00fc?\ue000#\u65e5", "x://%C3%A9/%C3%BC?%EE%80%80#%E6%97%A5"),
    ("http://\u00e9/\u00fc?\ue000#\u65e5", "http://xn--9ca/%C3%BC?%EE%80%80#%E6%97%A5"),
    ("http://u:a b@h/", "http://u:a%20b@h/"),
    ("http://h/?a\\b", "http://h/?a%5Cb"),
    ("http://h/#a\\b", "http://h/#a%5Cb"),
    ("x:a\\b", "x:a%5Cb"),
    ("http://[::1]/[a]", "http://[::1]/%5Ba%5D"),
    ("mailto:a b@h", "mailto:a%20b@h"),
    ("\fhttp://h/\f", "http://h/"),
    ("file:///C|/m", "file:///C:/m"),
    ("FILE:c|", "FILE:c:"),
    ("file://h/C|/m|n", "file://h/C:/m%7Cn"),
    ("file:///C|x", "file:///C%7Cx"),
    ("http://h/C|/m", "http://h/C%7C/m"),
]
REFUSED = [
    "http://h/a\\b",
    "http://h\\@evil.example/",
    "a\\b",
    "http://a@b@c/",
    "http://exa mple/",
    "http://h%zz/",
    "http://h<b/",
    "http://h:8o/",
    "http://h/a \n b",
    "http://h/a\n b",
    "http://h/\x00",
    "http://h/a\fb",
    "http://h\fx/",
    "file:///C\f|/",
    "http://h/\x7f",
    "http://h/\u202ex",
    "http://h/\ue000",
    "http://h/\ud800",
    "a b:c",
    "1a:b c",
    "<http://h/>",
    "http://[::1",
    "http://[::zz]/ ",
    "//h h/",
]


@pytest.mark.parametrize(("text", "expected"), MENDED)
def test_repairs(text: str, expected: str) -> None:
    repaired = repair(text)
    assert str(repaired) == expected
    assert type(repaired.uri) is URI
    applied = text
    for change in sorted(repaired.changes, reverse=True):
        assert text[change.start : change.end] == change.before
        applied = applied[: change.start] + change.after + applied[change.end :]
    assert applied == expected
    assert repair(expected).changes == ()
    assert (repaired.changes == ()) == (text == expected)


@pytest.mark.parametrize("text", REFUSED)
def test_ambiguous_texts_are_rejected(text: str) -> None:
    with pytest.raises(InvalidURI) as caught:
        repair(text, relative=True)
    assert caught.value.text == text
    assert caught.value.figure()


def test_relative_references_are_repaired() -> None:
    assert type(repair("my file", relative=True).uri) is URIReference
    assert str(repair(" ", relative=True)) == "%20" or str(repair(" ", relative=True)) == ""
    with pytest.raises(InvalidURI):
        repair("my file")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("www.w3.org/Addressing/", "https://www.w3.org/Addressing/"),
        ("//h.example/a b", "https://h.example/a%20b"),
        (" example.com ", "https://example.com"),
        ("http://h/", "http://h/"),
        ("\u00e9.example/a b", "https://xn--9ca.example/a%20b"),
        ("192.0.2.16:8000/x", "https://192.0.2.16:8000/x"),
        ("[2001:db8::1]/", "https://[2001:db8::1]/"),
        ("B\u00fccher.ch:8080", "https://xn--bcher-kva.ch:8080"),
        ("www.example.com:80", "https://www.example.com:80"),
        ("localhost:8080/a b", "https://localhost:8080/a%20b"),
        ("example.com/100%", "https://example.com/100%25"),
        ("//h/a b", "https://h/a%20b"),
        ("//u@h:8", "https://u@h:8"),
        ("tel:110", "tel:110"),
        ("foo:80", "foo:80"),
        ("mailto:a b@h", "mailto:a%20b@h"),
    ],
)
def test_a_guessed_scheme(text: str, expected: str) -> None:
    assert str(repair(text, scheme="https")) == expected


@pytest.mark.parametrize("text", ["a b", "/a", "", "joe@example.com", "a/b.c", "///a", "//", "\u201cexample.com\u201d"])
def test_text_without_a_likely_scheme_is_rejected(text: str) -> None:
    with pytest.raises(InvalidURI):
        repair(text, scheme="https")


@given(st.text(st.sampled_from("ab.:/8[]@1%é "), max_size=10))
def test_repair_and_typed_guess_alike(text: str) -> None:
    """Both accept the same hosts without a scheme, in texts without white space to remove."""
    text = text.replace(" ", "")
    try:
        guessed = str(repair(text, scheme="http", idna=False))
    except InvalidURI:
        guessed = None
    try:
        guess = typed(text)
    except InvalidURI:
        guess = None
    if guess is None or guess.kind == "mail":
        assert guessed is None or not URIReference.can_parse(text) or URI.can_parse(text)
        return
    # `repair` rejects some valid URIs; an abbreviated FTP host has another scheme.
    assert guessed == guess.uri or (guess.kind == "URI" and guessed is None) or guess.uri.startswith("ftp:")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("http://B\u00fccher.ch/\u00fc", "http://xn--bcher-kva.ch/%C3%BC"),
        ("http://b%C3%BCcher.ch:80/", "http://xn--bcher-kva.ch:80/"),
        ("http://u:\u00fc@b\u00fc\ncher.ch/", "http://u:%C3%BC@xn--bcher-kva.ch/"),
        ("//b\u00fccher.ch", "//xn--bcher-kva.ch"),
        ("http://XN--bcher-kva.ch/", "http://XN--bcher-kva.ch/"),
        ("http://[::1]/a b", "http://[::1]/a%20b"),
        ("http://a%2Db/", "http://a%2Db/"),
        ("mailto:\u00fc", "mailto:%C3%BC"),
    ],
)
def test_a_host_name_as_a_labels(text: str, expected: str) -> None:
    repaired = repair(text, idna=True, relative=True)
    assert str(repaired) == expected
    for change in repaired.changes:
        assert text[change.start : change.end] == change.before


@pytest.mark.parametrize(
    ("text", "expected", "escaped"),
    [
        ("https://www.ex\u00e4mple.co.uk/", "https://www.xn--exmple-cua.co.uk/", "https://www.ex%C3%A4mple.co.uk/"),
        ("FTP://u@\u00e9:21/a b", "FTP://u@xn--9ca:21/a%20b", "FTP://u@%C3%A9:21/a%20b"),
        ("ws://\u00e9%C3%A9.h/", "ws://xn--9caa.h/", "ws://%C3%A9%C3%A9.h/"),
        ("http://%C3%A9/a b", "http://%C3%A9/a%20b", None),
        ("http://h/\u00e9", "http://h/%C3%A9", None),
        ("//\u00e9/", "//%C3%A9/", None),
        ("file://\u00e9/", "file://%C3%A9/", None),
        ("unknown://\u00e9/", "unknown://%C3%A9/", None),
        ("http://a\u0378/", "http://a%CD%B8/", None),
        ("http://\u00e9..a/", "http://%C3%A9..a/", None),
    ],
)
def test_first_reading_of_a_dns_host_has_a_labels(text: str, expected: str, escaped: str | None) -> None:
    repaired = repair(text, relative=True)
    assert (str(repaired), None if repaired.escaped is None else str(repaired.escaped)) == (expected, escaped)
    assert repaired.to_dict()["escaped"] == escaped
    assert str(repair(text, relative=True, idna=False)) == (escaped or expected)
    assert explain(text).to_dict()["repair"] in (repaired.to_dict(), None)


@pytest.mark.parametrize("text", ["http://%FF/", "http://a\u0378/", "http://\u00fc" + "a" * 1000, "http://\u00fc..a/"])
def test_an_invalid_idn_is_rejected(text: str) -> None:
    with pytest.raises(CodingError, match="RFC 5891 4"):
        repair(text, idna=True)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("http://h\\a|b", "http://h/a%7Cb"),
        ("http:\\\\h\\[a]", "http://h/%5Ba%5D"),
        ("http://h\\%?%|#a|b#c", "http://h/%25?%25%7C#a%7Cb%23c"),
        ("file:\\C|\\m", "file:///C:/m"),
    ],
)
def test_characters_that_browsers_keep_are_escaped(text: str, expected: str) -> None:
    pytest.importorskip("ada_url")
    with pytest.raises(InvalidURI):
        repair(text)
    assert str(repair(text, browsers=True)) == expected


def test_repairing_as_browsers_read() -> None:
    pytest.importorskip("ada_url")
    repaired = repair("http://h\\a", browsers=True)
    assert (str(repaired), [item.what for item in repaired.changes]) == ("http://h/a", ["the text as browsers read it"])
    assert str(repair("http://h/a b", browsers=True)) == "http://h/a%20b"
    with pytest.raises(InvalidURI):
        repair("http://h h/", browsers=True)


@given(st.text(st.sampled_from("ab:/?#[]@\\%<> {}\n\té\u202e."), max_size=12))
def test_laws_of_repair(text: str) -> None:
    try:
        repaired = repair(text, relative=True)
    except InvalidURI:
        return
    assert repair(str(repaired), relative=True).changes == ()
    # The meaning is unchanged: delimiters stay delimiters, and no others are added.
    stripped = text.strip(" \t\n\r\f") if text.strip(" \t\n\r\f") else text
    cleaned = "".join(c for c in stripped if c not in "\t\n\r") if repaired.changes else text
    path, _, _ = cleaned.partition("#")
    assert ("#" in cleaned) == (repaired.uri.fragment is not None)
    assert ("?" in path) == (repaired.uri.query is not None)


def test_repairing_a_long_text_is_linear() -> None:
    with processor(5):
        assert len(repair("http://h/" + "a b" * 100_000, limit=None).changes) == 100_000
        assert len(repair("http://h/" + "a\n" * 100_000, limit=None).changes) == 100_000
        with pytest.raises(InvalidURI):
            repair("http://h/" + " " * 100_000 + "\\")


@pytest.mark.parametrize("limit", [0, 1000, None])
def test_runs_of_two_reasons_are_linear(limit: int | None) -> None:
    linear(lambda length: repair("http://h/" + ">\u00e9" * (length // 2), limit=limit), 200_000)


def test_the_limit_applies_within_a_run() -> None:
    for limit in (0, 3, 8, None):
        repaired = repair("http://h/" + ">\u00e9" * 4, limit=limit)
        assert (len(repaired.changes), repaired.total) == (8 if limit is None else limit, 8)


@pytest.mark.parametrize(
    "text",
    ["http://joe:\u043f\u0430\u0440\nol@h/", "http://h/?token=\u043f\u0430\u0440&a=\u00e9", "http://h/#sig=\u043f|"],
)
def test_a_change_within_a_secret_is_not_shown(text: str) -> None:
    from click.testing import CliRunner

    from overthere.cli.app import app

    repaired = repair(text)
    output = repr(repaired) + CliRunner().invoke(app, ["repair", text]).stderr
    assert "***" in output
    assert "\u043f" not in output
    assert "%D0%BF" not in output
    assert ("\u00e9" in text) == ("\u00e9" in output)
    assert any("\u043f" in change.before for change in repaired.changes)


def test_the_number_of_changes_is_limited() -> None:
    """Hostile texts need one at every second character; a run with one reason is one change."""
    repaired = repair("x:" + "a%" * 5000)
    assert (len(repaired.changes), repaired.total, len(str(repaired))) == (1000, 5000, 2 + 4 * 5000)
    assert (repair("x:a b", limit=0).changes, repair("x:a b", limit=0).total) == ((), 1)
    assert [(change.start, change.end, change.before) for change in repair("x:%%%[]  ").changes] == [
        (2, 5, "%%%"), (5, 7, "[]"), (7, 9, "  "),
    ]  # fmt: skip
    # A removed part splits a run in two.
    assert [change.before for change in repair("x:\u00e9\n\u00e9").changes] == ["\u00e9", "\n", "\u00e9"]


TEXTS = [text for text, _ in MENDED] + [text for text in REFUSED if text.isprintable()] + [None]


@pytest.mark.parametrize(
    "kind", [pa.string(), pa.large_string(), pa.string_view(), pa.dictionary(pa.int32(), pa.string())]
)
def test_columns_repair_like_values(kind: Any) -> None:
    def expected(text: str | None) -> str | None:
        try:
            return None if text is None else str(repair(text))
        except InvalidURI:
            return None

    column = pa.array(TEXTS).cast(kind) if not pa.types.is_dictionary(kind) else pa.array(TEXTS).dictionary_encode()
    assert pa.array(columns.repair(column)).cast(pa.string()).to_pylist() == [expected(text) for text in TEXTS]
    chunked = pa.chunked_array([column, column])
    assert len(columns.repair(chunked)) == 2 * len(TEXTS)


def test_columns_can_repair_before_an_operation() -> None:
    texts = pa.array(["HTTP://h/a b", "http://h\\a", "c d"])
    assert pa.array(columns.normalize(texts, errors="repair")).to_pylist() == ["http://h/a%20b", None, "c%20d"]
    resolved = columns.resolve(texts, "http://g/", errors="repair")
    assert pa.array(resolved).to_pylist() == ["HTTP://h/a%20b", None, "http://g/c%20d"]
    with pytest.raises(ValueError, match="repair"):
        columns.to_uri(texts, errors="repair")
    rows = pa.array(columns.repair(texts, errors="detail")).to_pylist()
    assert [row["error"] for row in rows] == [None, "path-char", "scheme-missing"]


def test_references_of_documents_are_repaired() -> None:
    """They get a target, and keep their error."""
    reference, problem = to_reference("my file.html")
    assert str(reference) == "my%20file.html"
    assert problem is not None
    assert problem.kind == "space"
    reference, problem = to_reference("a\\b")
    assert reference is None
    assert problem is not None


def test_the_command() -> None:
    from click.testing import CliRunner

    from overthere.cli.app import app

    result = CliRunner().invoke(app, ["repair", " http://h/a b"])
    assert (result.exit_code, result.stdout) == (0, "http://h/a%20b\n")
    assert 'at 11: a character that URIs cannot contain: " " to "%20" (RFC 3987 3.1)' in result.stderr
    result = CliRunner().invoke(app, ["repair", "--format", "jsonl", "http://h/%"])
    assert json.loads(result.stdout)["changes"][0]["source"] == "RFC 3986 2.4"
    result = CliRunner().invoke(app, ["repair", "http://h\\a"])
    assert (result.exit_code, result.stdout) == (1, "\n")
    assert "it is unclear which is meant" in result.stderr
    result = CliRunner().invoke(app, ["repair", "--scheme", "https", "example.com"])
    assert result.stdout == "https://example.com\n"


@pytest.mark.parametrize(
    ("text", "first", "second", "at"),
    [
        ("http://a.example/\nhttp://b.example/", "http://a.example/", "http://b.example/", 17),
        (" http://a.example/ http://b.example/ ", "http://a.example/", "http://b.example/", 18),
        ("http://a.example/?u=\r\n\thttps://b.example/ x", "http://a.example/?u=", "https://b.example/", 20),
        ("a.html mailto:a@b", "a.html", "mailto:a@b", 6),
        ("http://u:secret@h/ x://y", "http://u:***@h/", "x://y", 18),
    ],
)
def test_two_uris_are_not_joined(text: str, first: str, second: str, at: int) -> None:
    """White space separates URIs (RFC 3986 Appendix C): both are named, and neither is chosen."""
    for function in (lambda text: repair(text, relative=True), typed):
        with pytest.raises(InvalidURI) as caught:
            function(text)
        assert repr(first) in str(caught.value)
        assert repr(second) in str(caught.value)
        assert caught.value.start == at


@pytest.mark.parametrize("text", ["http://h/a\nb:c", "http://h/?q=a b", "http://h/a\n/b"])
def test_white_space_within_a_uri_is_repaired(text: str) -> None:
    assert str(repair(text)).startswith("http://h/")


def test_join_repairs_a_reference() -> None:
    base = URI("http://h/a/b")
    assert str(base.join(" c d[1] ", errors="repair")) == "http://h/a/c%20d%5B1%5D"
    assert str(URIReference("a/b").join("../100%", errors="repair")) == "100%25"
    for good in ("../g", URIReference("../g")):
        assert base.join(good, errors="repair") == base.join(good)
    for wrong in ("\\g", "http://a@b@c/"):  # with two readings
        with pytest.raises(InvalidURI):
            base.join(wrong, errors="repair")
    with pytest.raises(InvalidURI):
        base.join("c d")
    with pytest.raises(ValueError, match="errors"):
        base.join("g", errors="ignore")  # type: ignore[arg-type]


@pytest.mark.parametrize("behind", ["", " c", " mailto:d", "\thttp://d/#e"])
@pytest.mark.parametrize("second", ["https://b/c", "mailto:b@c", "HTTP://b?x#y"])
def test_a_reference_of_a_document_is_one_although_its_query_has_another_uri(second: str, behind: str) -> None:
    """The document delimits it; typed by a person, and before the query, they may be two."""
    for front in ("https://a/b?c", "?c", "a#", "//h/?a#b"):
        reference, problem = to_reference(f"{front} {second}{behind}".replace("\t", " "))
        assert (str(reference)[: len(front) + 3], problem is None) == (f"{front}%20", False)
    for front in ("https://a/b", "/c", "a"):
        assert to_reference(f"{front} {second}{behind}")[0] is None
    with pytest.raises(InvalidURI, match="two URIs"):
        repair(f"https://a/b?c {second}")
