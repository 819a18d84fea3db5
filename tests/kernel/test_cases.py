"""The rows of tests/cases/*.toml, printed or stated in the documents, compared with the values and the kernel."""

from __future__ import annotations

from typing import Any

import pytest

from overthere import IRI, URI, InvalidURI, IRIReference, Rung, URIReference, check, lowest_rung
from overthere.kernel import remove_dot_segments
from support import cases, ids

COMPONENTS = ("scheme", "authority", "userinfo", "host", "port_text", "path", "query", "fragment")

PARSE, INVALID, RESOLVE, DOTS = cases("parse"), cases("invalid"), cases("resolve"), cases("dots")
NORMALIZE, COMPARE, IRIS = cases("normalize"), cases("compare"), cases("iri")

Row = dict[str, Any]


@pytest.mark.parametrize("row", PARSE, ids=ids(PARSE))
def test_parse(row: Row) -> None:
    reference = URIReference(row["text"])
    expected = dict(row["is"])
    assert reference.form == expected.pop("form")
    assert reference.host_kind == expected.pop("host_kind", None)
    assert {c: v for c in COMPONENTS if (v := getattr(reference, c)) is not None} == expected
    assert str(reference) == row["text"]
    assert check(row["text"], rule="URI-reference") == []


@pytest.mark.parametrize("row", INVALID, ids=ids(INVALID))
def test_invalid_texts(row: Row) -> None:
    kind = URI if row["rule"] == "URI" else URIReference
    with pytest.raises(InvalidURI) as caught:
        kind(row["text"])
    error = caught.value
    assert (error.kind, error.component, error.start) == (row["kind"], row["component"], row["start"])
    assert error.expected == row.get("expected", error.expected)
    assert check(row["text"], rule=row["rule"])[0] == error.finding


@pytest.mark.parametrize("row", RESOLVE, ids=ids(RESOLVE))
def test_resolve(row: Row) -> None:
    base, expected = URI(row["base"]), row["is"]
    assert str(base.join(row["reference"])) == expected["rfc3986"]
    loose = expected.get("nonstrict", expected["rfc3986"])
    assert str(URIReference(row["reference"]).resolve(base, strict=False)) == loose


@pytest.mark.parametrize("row", DOTS, ids=ids(DOTS))
def test_remove_dot_segments(row: Row) -> None:
    assert remove_dot_segments(row["path"]) == row["is"]


@pytest.mark.parametrize("row", NORMALIZE, ids=ids(NORMALIZE))
def test_normalize(row: Row) -> None:
    reference = URIReference(row["text"])
    forms = {rung: str(reference.normalize(Rung[rung])) for rung in row["is"]}
    assert forms == row["is"]


@pytest.mark.parametrize("row", COMPARE, ids=ids(COMPARE))
def test_compare(row: Row) -> None:
    rung = lowest_rung(URIReference(row["a"]), URIReference(row["b"]))
    assert (rung.name if rung is not None else "none") == row["lowest"].replace("SYNTAX", "PATH")


@pytest.mark.parametrize("row", IRIS, ids=ids(IRIS))
def test_iri(row: Row) -> None:
    iri = IRIReference(row["iri"])
    uri = iri.to_uri()
    assert str(uri) == row["uri"]
    assert str(uri.to_iri()) == row.get("back", row["iri"])
    assert isinstance(uri, URI) == (iri.scheme is not None)
    if iri.scheme is not None:
        assert IRI(row["iri"]).to_uri() == uri
