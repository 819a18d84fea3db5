"""A registry is passed, not looked up: whatever goes by a scheme's facts goes by those of the registry at hand."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from overthere import (
    IRI,
    URI,
    Registry,
    Rung,
    Scheme,
    URIReference,
    audit,
    columns,
    edition,
    explain,
    find,
    links,
    lowest_rung,
    plan,
    typed,
)
from overthere.kernel.reference import Parts
from overthere.schemes.model import default_port
from overthere.values.normalize import changes


def without_query(parts: Parts) -> Parts:
    return parts._replace(query=None)


RAVEN = Scheme(
    name="x-raven",
    title="Letters by raven",
    documents={"rfc3986": "ours"},
    locates_nothing="names only (ours)",
    port=7,
    normal=(default_port(7, "ours"),),
    compared=without_query,
    shape="to@[a-z]",
    lines=True,
)
KNOWN = Registry.default().with_(RAVEN)
LONG, SHORT, ASKED = "x-raven://h.example:7/a", "x-raven://h.example/a", "x-raven://h.example/a?b"


def column(made: Any) -> list[Any]:
    pa = pytest.importorskip("pyarrow")
    return pa.array(made).to_pylist()  # type: ignore[no-any-return]


Asked = Callable[[Registry | None], Any]
BY: dict[str, tuple[Asked, Any, Any]] = {
    "normalize": (lambda r: str(URI(LONG).normalize(Rung.SCHEME, registry=r)), LONG, SHORT),
    "normalize of a reference": (lambda r: str(URIReference(LONG).normalize(Rung.SCHEME, registry=r)), LONG, SHORT),
    "normalize of an IRI": (lambda r: str(IRI(LONG).normalize(Rung.SCHEME, registry=r)), LONG, SHORT),
    "changes": (lambda r: [c.source for c in URI(LONG).changes(Rung.SCHEME, registry=r)], [], ["ours"]),
    "changes of a text": (lambda r: [c.source for c in changes(LONG, Rung.SCHEME, registry=r)], [], ["ours"]),
    "changes of an IRI": (lambda r: [c.component for c in IRI(LONG).changes(Rung.SCHEME, registry=r)], [], ["port"]),
    "equivalent": (lambda r: URI(LONG).equivalent(URI(SHORT), Rung.SCHEME, registry=r), False, True),
    "equivalent IRIs": (lambda r: IRI(LONG).equivalent(IRI(ASKED), Rung.SCHEME, registry=r), False, True),
    "lowest_rung": (lambda r: lowest_rung(LONG, ASKED, registry=r), None, Rung.SCHEME),
    "columns.normalize": (lambda r: column(columns.normalize(texts(LONG), Rung.SCHEME, registry=r)), [LONG], [SHORT]),
    "columns.normalize of IRIs": (
        lambda r: column(columns.normalize(texts(LONG), Rung.SCHEME, iri=True, registry=r)),
        [LONG],
        [SHORT],
    ),
    "columns.equivalent": (
        lambda r: column(columns.equivalent(texts(LONG), texts(ASKED), Rung.SCHEME, registry=r)),
        [False],
        [True],
    ),
    "columns.lowest_rung": (
        lambda r: column(columns.lowest_rung(texts(LONG), texts(ASKED), registry=r)),
        [None],
        [Rung.SCHEME],
    ),
    "explain": (lambda r: explain(LONG, registry=r).forms[-1].text, LONG, SHORT),
    "explain, the locator": (lambda r: explain(LONG, registry=r).locator is None, True, False),
    "audit": (lambda r: [f.kind for f in audit(SHORT + "%0D%0A", registry=r)], ["encoded-line"], ["command-lines"]),
    "audit of a port": (
        lambda r: [f.kind for f in audit("x-raven://h.example:80/", registry=r)],
        [],
        ["port-reserved"],
    ),
    "typed": (
        lambda r: typed("x.raven:80", registry=r and r.with_(replace(RAVEN, name="x.raven"))).kind,
        "abbreviated",
        "URI",
    ),
    "plan": (lambda r: planned(r), "nobody knows", "names only (ours)"),
    "uri-2003": (lambda r: edition("uri-2003").normalize(LONG, Rung.SCHEME, registry=r), LONG, SHORT),
    "url-1997": (lambda r: edition("url-1997").normalize(LONG, Rung.SCHEME, registry=r), LONG, SHORT),
    "rfc3986": (lambda r: edition("rfc3986").normalize(LONG, Rung.SCHEME, registry=r), LONG, SHORT),
    "an edition's equivalent": (
        lambda r: edition("uri-2003").equivalent(LONG, SHORT, Rung.SCHEME, registry=r),
        False,
        True,
    ),
}


def texts(*rows: str) -> Any:
    pa = pytest.importorskip("pyarrow")
    return pa.array(rows)


def planned(registry: Registry | None) -> str:
    from overthere import NotSpecified

    try:
        return plan(SHORT, registry=registry).locates_nothing
    except NotSpecified:
        return "nobody knows"


@pytest.mark.parametrize("name", BY)
def test_by_the_default_and_by_another(name: str) -> None:
    asked, default, other = BY[name]
    assert asked(None) == default
    assert asked(KNOWN) == other
    assert asked(None) == default, "the registry that was passed is not kept"


def test_by_the_shape_of_a_scheme() -> None:
    text = "as x-raven:to@home"
    assert list(find(text)) == []
    assert [one.reference for one in find(text, registry=KNOWN)] == ["x-raven:to@home"]


@pytest.mark.parametrize("workers", [1, 2])
def test_the_table_of_links(workers: int, tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    (tmp_path / "a.html").write_text(f'<a href="{LONG}">a</a><a href="{SHORT}%0D%0A">b</a>')
    asked: dict[str, Any] = {"rung": Rung.SCHEME, "audit": True, "workers": workers}
    one, two = links.extract(tmp_path, **asked)
    assert (one.normal, two.audit) == (LONG, "encoded-line")
    one, two = links.extract(tmp_path, registry=KNOWN, **asked)
    assert (one.normal, two.audit) == (SHORT, "command-lines")


def test_a_registry_with_schemes_goes_to_other_processes() -> None:
    there = pickle.loads(pickle.dumps(KNOWN)).scheme("x-raven")
    assert (there.name, there.port) == ("x-raven", 7)
    assert str(URI(LONG).normalize(Rung.SCHEME, registry=pickle.loads(pickle.dumps(KNOWN)))) == SHORT
    for built_in in Registry.default().schemes():
        assert pickle.loads(pickle.dumps(built_in)).name == built_in.name
