"""A registry passed as an argument is used instead of the default one, by everything that depends on schemes."""

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
REGISTRY = Registry.default().with_(RAVEN)
LONG, SHORT, ASKED = "x-raven://h.example:7/a", "x-raven://h.example/a", "x-raven://h.example/a?b"


def column(array: Any) -> list[Any]:
    pa = pytest.importorskip("pyarrow")
    return pa.array(array).to_pylist()  # type: ignore[no-any-return]


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
def test_a_passed_registry_changes_the_result(name: str) -> None:
    action, default, other = BY[name]
    assert action(None) == default
    assert action(REGISTRY) == other
    assert action(None) == default, "the registry that was passed is not kept"


def test_a_passed_registry_finds_its_schemes_in_text() -> None:
    text = "as x-raven:to@home"
    assert list(find(text)) == []
    assert [match.reference for match in find(text, registry=REGISTRY)] == ["x-raven:to@home"]


@pytest.mark.parametrize("workers", [1, 2])
def test_links_use_a_passed_registry(workers: int, tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    (tmp_path / "a.html").write_text(f'<a href="{LONG}">a</a><a href="{SHORT}%0D%0A">b</a>')
    options: dict[str, Any] = {"rung": Rung.SCHEME, "audit": True, "workers": workers}
    first, two = links.extract(tmp_path, **options)
    assert (first.normal, two.audit) == (LONG, "encoded-line")
    first, two = links.extract(tmp_path, registry=REGISTRY, **options)
    assert (first.normal, two.audit) == (SHORT, "command-lines")


def test_a_registry_can_be_pickled() -> None:
    raven = pickle.loads(pickle.dumps(REGISTRY)).scheme("x-raven")
    assert (raven.name, raven.port) == ("x-raven", 7)
    assert str(URI(LONG).normalize(Rung.SCHEME, registry=pickle.loads(pickle.dumps(REGISTRY)))) == SHORT
    for built_in in Registry.default().schemes():
        assert pickle.loads(pickle.dumps(built_in)).name == built_in.name
