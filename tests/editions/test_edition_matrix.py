"""EDITIONS 1.14: the texts that each edition derives literally, and how it reads them."""

from __future__ import annotations

from typing import Any

import pytest

from overthere import explain
from overthere.editions import NAMES, edition
from overthere.editions.readings import MARKS, disagreements, letter, matrix, notes, read
from support import cases, ids

ROWS = cases("matrix")


@pytest.mark.parametrize("row", ROWS, ids=ids(ROWS))
def test_each_edition_derives_the_texts_of_the_table(row: dict[str, Any]) -> None:
    """Each cell, by the paragraph that the row names."""
    assert {name: MARKS[letter(edition(name), row["text"])] for name in NAMES} == row["is"]


def test_the_table_has_rows() -> None:
    assert len(ROWS) == 69
    assert all(list(row["is"]) == list(NAMES) for row in ROWS)


def test_the_matrix_of_editions() -> None:
    texts = [row["text"] for row in ROWS]
    readings = dict(matrix(texts))
    assert list(readings) == texts
    for row in ROWS:
        assert {r.edition: MARKS[r.valid] for r in readings[row["text"]]} == row["is"]


# EDITIONS part 4: text, part, what -> the editions that name it so.
TRAPS: list[tuple[str, str, dict[str | None, list[str]]]] = [
    # 1738-7: a user of RFC 1738 3.1 may contain "?"; every later authority ends before it.
    ("ftp://u?x@h/", "host", {"u": ["url-1994", "url-1997", "uri-2003", "rfc3986"], "h": ["rfc1738"]}),
    # 97 5.2 and 03 5.2 return a reference with a scheme unchanged; RFC 3986 5.2.2 removes its dot-segments.
    (
        "http://h/x/../y",
        "target",
        {"http://h/x/../y": ["url-1997", "uri-2003"], "http://h/y": ["rfc3986"]},
    ),
    # 03-4: an authority that is not a server is one reg-name, which names no host.
    ("http://a_b/", "host", {"a_b": ["url-1994", "rfc1738", "url-1997", "rfc3986"], None: ["uri-2003"]}),
]


@pytest.mark.parametrize(("text", "part", "groups"), TRAPS, ids=[t[0] for t in TRAPS])
def test_editions_disagree_as_documented(text: str, part: str, groups: dict[str | None, list[str]]) -> None:
    assert disagreements(read(text))[part] == groups


@pytest.mark.parametrize("text", ["http://h/p", "ftp://joe@h/a/b", "http://h/p#f", "mailto:a@b.c", "news:a.b"])
def test_a_leading_slash_is_no_disagreement(text: str) -> None:
    """The "/" before a path is a delimiter in the older documents (RFC 1738 3.1)."""
    assert disagreements(read(text)) == {}
    assert notes(read(text)) == []


def test_targets_against_a_base() -> None:
    readings = {r.edition: r for r in read("?y", "http://a/b/c/d;p?q")}
    assert readings["url-1997"].target == "http://a/b/c/?y"
    assert readings["uri-2003"].target == readings["rfc3986"].target == "http://a/b/c/d;p?y"
    assert readings["rfc1738"].path is readings["rfc1738"].target is None
    assert "RFC 1808" in (readings["rfc1738"].note or "")
    assert {r.edition: r.target for r in read("#s", "http://a/b")}["url-1997"] == "(current document)#s"
    assert [r.target for r in read("?y")] == [None] * len(NAMES)


ANY = ["", ":", "//", "a b", "\ud800", "\x00", "URL:", "<URL:>", "http://[::1", "x" * 5000, "%" * 99]


@pytest.mark.parametrize("text", ANY)
def test_any_text_is_read_by_every_edition(text: str) -> None:
    for base in (None, "http://a/b", "no base", text):
        readings = read(text, base)
        assert [r.edition for r in readings] == list(NAMES)
        assert isinstance(notes(readings), list)


@pytest.mark.parametrize(
    ("text", "note"),
    [
        ("ftp://h/a!I", 'says: name "a", type "I" (url-1994); name "a!I" (the others)'),
        ("prospero://h/x%002", 'says: hsoname "x", version 2 (url-1994); hsoname "x\\u00002" (the others)'),
        ("wais://h/d?a+b", 'says: database "d", search "a+b" (rfc1738); database "d", search "a b" (the others)'),
        ("ftp://h/caf%E9", None),  # the same bytes
    ],
)
def test_schemes_differ_by_edition(text: str, note: str | None) -> None:
    """94-4 and BNF ftpaddress; 1994 PROSPERO and RFC 1738 3.11; 1994 BNF search and RFC 1738 2.2."""
    assert notes(read(text)) == ([] if note is None else [note])
    assert note is None or note in " ".join(str(explain(text)).split()) or "says" in str(explain(text))
