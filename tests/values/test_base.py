"""Base URIs: the rows of cases/base.toml, layers within layers, and what no text may do."""

from __future__ import annotations

import os
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from overthere import URI, InvalidIRI, URIReference
from overthere.base import THIS_MESSAGE, Base, Passed, enclosed, establish, file_uri, from_content, to_reference
from overthere.editions.context1997 import base_url
from overthere.ground.errors import CodingError, InvalidURI, NoBase, NotSpecified
from support import cases, in_editions

NAMED = in_editions(cases("base"))
ROWS = [row for _, row in NAMED]
OWN = {"id", "also", "from", "is", "layer", "said", "passed"}


def arguments(row: dict[str, Any]) -> dict[str, Any]:
    given = {name: value for name, value in row.items() if name not in OWN}
    given["headers"] = [tuple(line.split(":", 1)) for line in row.get("headers", [])]
    return given


@pytest.mark.parametrize("row", ROWS, ids=[id for id, _ in NAMED])
def test_rows(row: dict[str, Any]) -> None:
    if "is" not in row:
        with pytest.raises(NoBase):
            establish(**arguments(row))
        return
    base = establish(**arguments(row))
    assert (str(base.uri), base.layer, base.by) == (row["is"], row["layer"], row["said"])
    assert [one.by for one in base.passed] == row["passed"]
    assert all(one.reason for one in base.passed)


@pytest.mark.parametrize(
    "row", [row for row in cases("base") if row.get("edition") == "url-1997"], ids=lambda row: row["id"]
)
def test_1997_is_the_edition_s_own_rule(row: dict[str, Any]) -> None:
    given = arguments(row)
    found = base_url(given.get("content"), given["headers"], given.get("entity"), given.get("retrieval"))
    assert (found.url, found.layer) == (row.get("is", ""), row.get("layer", "default"))


def test_a_hierarchy_of_entities() -> None:
    """5.1.2: the base of a part is that of what it is in, through every level."""
    message = establish(headers={"Content-Location": "http://h/a/"}, retrieval="http://r/m.eml")
    multipart = establish(headers={"Content-Location": "b/"}, entity=message)
    part = establish(entity=multipart)
    assert (str(part.uri), part.layer, part.by) == ("http://h/a/b/", "entity", "Content-Location")
    assert from_content("c", part) == Base(URI("http://h/a/b/c"), "content", "HTML base")


def test_a_default_stays_a_default() -> None:
    message = establish(default=THIS_MESSAGE)
    assert establish(entity=message).layer == "default"
    assert enclosed(message) is message
    located = establish(headers={"Content-Location": "a/b.html"}, entity=message)
    assert (str(located.uri), located.layer) == ("thismessage:/a/b.html", "entity")


def test_why_something_was_passed_over() -> None:
    base = establish("data:,x", headers={"Content-Base": "b/"}, retrieval="http://r/")
    assert base.passed == (
        Passed("Content-Base", "b/", "it must be absolute (RFC 2110 4.2)"),
        Passed("HTML base", "data:,x", "an HTML base cannot be a data: or javascript: URI (HTML Standard 4.2.3)"),
    )
    with pytest.raises(NoBase, match="Content-Location 'x': it is relative"):
        establish(headers={"Content-Location": "x"})


def test_what_the_program_gives_is_refused() -> None:
    with pytest.raises(InvalidURI):
        establish(default="x/y")
    with pytest.raises(InvalidURI):
        establish(entity="http://[/")
    with pytest.raises(NotSpecified, match="RFC 1808"):
        establish(retrieval="http://h/", edition="rfc1738")


PIECES = st.lists(
    st.sampled_from(["http:", "//", "h", "/", "..", "?q", "#f", "a:b", "é", " ", "[", "%zz", "\ud800", "cid:"])
)
TEXT = PIECES.map("".join)


@given(
    st.lists(TEXT, max_size=2), TEXT, TEXT, st.lists(TEXT, max_size=3),
    st.sampled_from(["http://h/a?q", "mailto:x", "urn:a:b", "a:", "file:///x/y"]),
    st.sampled_from(["rfc3986", "uri-2003", "url-1997"]), st.sampled_from(["mime", "http"]), st.booleans(),
)  # fmt: skip
def test_no_text_of_others_raises(
    content: list[str], one: str, two: str, history: list[str], entity: str, edition: str, protocol: Any, http: bool
) -> None:
    fields = [("Content-Location", one), ("Content-Base", two)]
    base = establish(
        content, headers=fields, entity=entity, retrieval=history, edition=edition, protocol=protocol,
        content_location=http,
    )  # fmt: skip
    assert base.uri.fragment is None
    assert base.uri == URI(str(base.uri))


def test_a_reference_out_of_a_document() -> None:
    """What is no URI-reference is mapped or repaired (RFC 3987 3.1), and why it is none is told."""
    assert to_reference("a%20b") == (URIReference("a%20b"), None)
    found, why = to_reference("\u00e9")
    assert (found, type(why), why and why.kind) == (URIReference("%C3%A9"), InvalidURI, "non-ascii")
    for text, mended, kind in (("a b", "a%20b", InvalidURI), ("\u00e9 b", "%C3%A9%20b", InvalidIRI)):
        found, why = to_reference(text)
        assert (found, type(why), why and why.kind) == (URIReference(mended), kind, "space")
    found, why = to_reference("a\\b")
    assert (found, why and why.kind) == (None, "path-char")


def test_a_path_that_no_machine_has() -> None:
    with pytest.raises(CodingError, match=r"U\+D800"):
        file_uri("/a/\ud800")
    assert str(file_uri("/a/\udcff")) == "file:///a/%FF" or os.name == "nt"
