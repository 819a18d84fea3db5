"""Base URIs: the rows of cases/base.toml, nested layers, and invalid input."""

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
KEYS = {"id", "also", "from", "is", "layer", "said", "passed"}


def arguments(row: dict[str, Any]) -> dict[str, Any]:
    arguments = {name: value for name, value in row.items() if name not in KEYS}
    arguments["headers"] = [tuple(line.split(":", 1)) for line in row.get("headers", [])]
    return arguments


@pytest.mark.parametrize("row", ROWS, ids=[id for id, _ in NAMED])
def test_cases(row: dict[str, Any]) -> None:
    if "is" not in row:
        with pytest.raises(NoBase):
            establish(**arguments(row))
        return
    base = establish(**arguments(row))
    assert (str(base.uri), base.layer, base.by) == (row["is"], row["layer"], row["said"])
    assert [passed.by for passed in base.passed] == row["passed"]
    assert all(passed.reason for passed in base.passed)


@pytest.mark.parametrize(
    "row", [row for row in cases("base") if row.get("edition") == "url-1997"], ids=lambda row: row["id"]
)
def test_the_edition_1997_has_its_own_rule(row: dict[str, Any]) -> None:
    value = arguments(row)
    base = base_url(value.get("content"), value["headers"], value.get("entity"), value.get("retrieval"))
    assert (base.url, base.layer) == (row.get("is", ""), row.get("layer", "default"))


def test_a_hierarchy_of_entities() -> None:
    """5.1.2: a part has the base of its container, through all levels."""
    message = establish(headers={"Content-Location": "http://h/a/"}, retrieval="http://r/m.eml")
    multipart = establish(headers={"Content-Location": "b/"}, entity=message)
    part = establish(entity=multipart)
    assert (str(part.uri), part.layer, part.by) == ("http://h/a/b/", "entity", "Content-Location")
    assert from_content("c", part) == Base(URI("http://h/a/b/c"), "content", "HTML base")


def test_a_default_base_remains_the_default() -> None:
    message = establish(default=THIS_MESSAGE)
    assert establish(entity=message).layer == "default"
    assert enclosed(message) is message
    located = establish(headers={"Content-Location": "a/b.html"}, entity=message)
    assert (str(located.uri), located.layer) == ("thismessage:/a/b.html", "entity")


def test_ignored_sources_have_a_reason() -> None:
    base = establish("data:,x", headers={"Content-Base": "b/"}, retrieval="http://r/")
    assert base.passed == (
        Passed("Content-Base", "b/", "it must be absolute (RFC 2110 4.2)"),
        Passed("HTML base", "data:,x", "an HTML base cannot be a data: or javascript: URI (HTML Standard 4.2.3)"),
    )
    with pytest.raises(NoBase, match="Content-Location 'x': it is relative"):
        establish(headers={"Content-Location": "x"})


def test_invalid_arguments_are_rejected() -> None:
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
def test_untrusted_text_raises_no_error(
    content: list[str], first: str, last: str, history: list[str], entity: str, edition: str, protocol: Any, http: bool
) -> None:
    fields = [("Content-Location", first), ("Content-Base", last)]
    base = establish(
        content, headers=fields, entity=entity, retrieval=history, edition=edition, protocol=protocol,
        content_location=http,
    )  # fmt: skip
    assert base.uri.fragment is None
    assert base.uri == URI(str(base.uri))


def test_a_reference_in_a_document_is_mapped_or_repaired() -> None:
    """An invalid one is mapped or repaired (RFC 3987 3.1), with the reason why it is invalid."""
    assert to_reference("a%20b") == (URIReference("a%20b"), None)
    reference, reason = to_reference("\u00e9")
    assert (reference, type(reason), reason and reason.kind) == (URIReference("%C3%A9"), InvalidURI, "non-ascii")
    for text, mended, kind in (("a b", "a%20b", InvalidURI), ("\u00e9 b", "%C3%A9%20b", InvalidIRI)):
        reference, reason = to_reference(text)
        assert (reference, type(reason), reason and reason.kind) == (URIReference(mended), kind, "space")
    reference, reason = to_reference("a\\b")
    assert (reference, reason and reason.kind) == (None, "path-char")


def test_a_path_of_another_system_is_rejected() -> None:
    with pytest.raises(CodingError, match=r"U\+D800"):
        file_uri("/a/\ud800")
    assert str(file_uri("/a/\udcff")) == "file:///a/%FF" or os.name == "nt"
