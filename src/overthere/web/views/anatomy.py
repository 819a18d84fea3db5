"""The anatomy of a text: the figure of RFC 3986 3, the rule of each component, findings at their places."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from overthere.anatomy import Explanation, explain
from overthere.editions import edition
from overthere.ground.display import printable
from overthere.ground.errors import CodingError, Finding, InvalidURI
from overthere.ground.redact import mask, secret_spans
from overthere.kernel.reference import Parts, host_kind, split, split_authority
from overthere.repairs import repair
from overthere.values.encoding import decode
from overthere.values.known_secrets import Secrets
from overthere.web.model import Example, Input, View
from overthere.web.runs import Place, Run, runs

__all__ = [
    "TEXT",
    "VIEW",
    "Anatomy",
    "Change",
    "Component",
    "RepairChange",
    "Row",
    "findings_of",
    "places_of",
    "shown_change",
]

_WIDTH = 72
"""Columns of the figure."""

PARAGRAPHS = {
    "scheme": "3.1",
    "authority": "3.2",
    "userinfo": "3.2.1",
    "host": "3.2.2",
    "port": "3.2.3",
    "path": "3.3",
    "query": "3.4",
    "fragment": "3.5",
}


@dataclass(frozen=True)
class Component:
    """A component at its place."""

    component: str
    start: int
    end: int
    text: str
    rule: str
    """The rule of the grammar by which it is read."""
    production: str
    """That rule as the document has it."""
    paragraph: str
    decoded: str | None
    """Its data (RFC 3986 2.1); None where nothing is escaped."""
    note: str


@dataclass(frozen=True)
class Row:
    """A finding at its place."""

    number: int
    kind: str
    start: int
    end: int
    component: str
    rule: str
    expected: str
    """What could stand there."""
    message: str
    source: str


@dataclass(frozen=True)
class Change:
    """What a rung of the ladder changes."""

    component: str
    before: str | None
    after: str | None
    source: str


@dataclass(frozen=True)
class Form:
    """The normal form at a rung."""

    rung: str
    text: str
    changes: list[Change]


@dataclass(frozen=True)
class RepairChange:
    """A change of the repair, with what allows it."""

    start: int
    end: int
    before: str
    after: str
    what: str
    source: str


@dataclass(frozen=True)
class Piece:
    """A piece of the figure."""

    component: str | None
    text: str
    column: int
    columns: int


@dataclass(frozen=True)
class Label:
    """The name of a component in the figure."""

    component: str
    row: int
    start: int
    centre: int


@dataclass(frozen=True)
class Figure:
    """The figure of RFC 3986 3 for the text: as text, and where everything stands in it."""

    text: str
    pieces: list[Piece]
    labels: list[Label]


@dataclass(frozen=True)
class Anatomy:
    """One text taken apart; passwords are masked."""

    text: str
    kind: str
    """ "URI", "relative reference" or "neither"."""
    runs: list[Run]
    figure: Figure
    components: list[Component]
    findings: list[Row]
    repaired: str | None
    """The URI that the text can only mean, where it is none."""
    mends: list[RepairChange]
    more_mends: int
    """Changes of the repair that are not listed."""
    refused: str | None
    """Why it is not repaired."""
    forms: list[Form]
    scheme: str | None
    terms: dict[str, Any] | None
    """What the URI says in its scheme's terms."""
    unread: str | None
    """Why it says nothing in them."""


def anatomy(text: str) -> Anatomy:
    """The data of the view."""
    found = explain(text)
    secrets = Secrets.from_texts(text)
    repaired, mends, more, refused = _repair(text, secrets) if found.findings else (None, [], 0, None)
    terms, unread = _terms(found, secrets)
    return Anatomy(
        text=printable(mask(text)),
        kind=found.kind,
        runs=runs(text, places_of(found), [(one.start, one.end) for one in found.findings]),
        figure=_figure(found),
        components=[_component(found, row.component, row.start, row.end, row.note, secrets) for row in found.rows],
        findings=findings_of(found.findings),
        repaired=repaired,
        mends=mends,
        more_mends=more,
        refused=refused,
        forms=[
            Form(
                "SYNTAX" if form.rung.name == "PATH" else form.rung.name,
                printable(secrets.mask(mask(form.text))),
                [shown_change(change, secrets, form.text) for change in form.changes],
            )
            for form in found.forms
        ],
        scheme=split(text).scheme,
        terms=terms,
        unread=unread,
    )


def places_of(found: Explanation) -> list[Place]:
    """Where the components are; the authority of a text that is no URI is cut into its parts too."""
    places = [Place(row.component, row.start, row.end) for row in found.rows]
    names = {place.name for place in places}
    authority = next((place for place in places if place.name == "authority"), None)
    if authority is not None and "host" not in names:
        userinfo, host, port = split_authority(found.text[authority.start : authority.end])
        at = authority.start
        if userinfo is not None:
            places.append(Place("userinfo", at, at + len(userinfo)))
            at += len(userinfo) + 1
        places.append(Place("host", at, at + len(host)))
        if port is not None:
            places.append(Place("port", authority.end - len(port), authority.end))
    return places


def findings_of(findings: list[Finding]) -> list[Row]:
    """Findings with their numbers."""
    return [
        Row(number, f.kind, f.start, f.end, f.component, f.rule, printable(f.expected), printable(f.message), f.source)
        for number, f in enumerate(findings, 1)
    ]


def shown_change(change: Any, secrets: Secrets, text: str) -> Change:
    """A change without a password."""
    if change.component == "userinfo" and secret_spans(text):
        return Change("userinfo", "***", "***", change.source)
    before, after = (one if one is None else printable(secrets.mask(one)) for one in (change.before, change.after))
    return Change(change.component, before, after, change.source)


def _figure(found: Explanation) -> Figure:
    laid = found.layout(_WIDTH)
    return Figure(
        found.figure(_WIDTH) if found.text else "",
        [Piece(*piece) for piece in laid.pieces],
        [Label(one.name, one.row, one.start, one.centre) for one in laid.labels],
    )


def _component(found: Explanation, name: str, start: int, end: int, note: str, secrets: Secrets) -> Component:
    raw = found.text[start:end]
    rule = _rule(name, raw, split(found.text), valid=found.kind != "neither")
    decoded: str | None = None
    if "%" in raw and name not in ("scheme", "authority", "port"):
        try:
            decoded = printable(secrets.mask(decode(raw)))
        except CodingError as error:
            note = printable(secrets.mask(str(error)))
    return Component(
        name, start, end, _mask_span(found.text, start, end), rule,
        edition().grammar.rule(rule).text, f"RFC 3986 {PARAGRAPHS[name]}", decoded,
        "" if note.startswith("decoded: ") else note,
    )  # fmt: skip


def _mask_span(text: str, start: int, end: int) -> str:
    clipped = ((max(low, start), min(high, end)) for low, high in secret_spans(text))
    return printable(mask(text[start:end], [(low - start, high - start) for low, high in clipped if low < high]))


def _rule(name: str, raw: str, parts: Parts, *, valid: bool) -> str:
    """The rule that the component has to follow where it stands."""
    if name == "host":
        return host_kind(raw) if valid and raw else "host"
    if name != "path":
        return name
    if parts.authority is not None:
        return "path-abempty"
    if raw == "":
        return "path-empty"
    if raw.startswith("/"):
        return "path-absolute"
    return "path-noscheme" if parts.scheme is None else "path-rootless"


def _repair(text: str, secrets: Secrets) -> tuple[str | None, list[RepairChange], int, str | None]:
    try:
        done = repair(text, relative=True, limit=50)
    except InvalidURI as error:
        return None, [], 0, printable(secrets.mask(str(error)))
    mends = [
        RepairChange(
            one.start,
            one.end,
            printable(secrets.mask(one.before)),
            printable(secrets.mask(one.after)),
            one.what,
            one.source,
        )
        for one in done.changes
    ]
    return printable(secrets.mask(mask(str(done)))), mends, done.total - len(mends), None


def _terms(found: Explanation, secrets: Secrets) -> tuple[dict[str, Any] | None, str | None]:
    locator = found.locator
    if locator is None:
        return None, None
    if isinstance(locator, str):
        return None, printable(secrets.mask(locator))
    return {name: _make_visible(secrets.mask_in(value)) for name, value in locator.to_dict().items()}, None


def _make_visible(value: Any) -> Any:
    """Text made visible, within lists and dicts too."""
    if isinstance(value, str):
        return printable(value)
    if isinstance(value, list | tuple):
        return [_make_visible(item) for item in value]
    if isinstance(value, dict):
        return {printable(str(key)): _make_visible(item) for key, item in value.items()}
    return value


TEXT = Input("text", "A URI or a reference", "It is read as it stands; nothing is fetched.")

VIEW = View(
    "anatomy",
    "Anatomy",
    "The figure of RFC 3986 for the text at hand: each component with its rule, its place and its data, and every "
    "finding where it stands.",
    (TEXT,),
    anatomy,
    (
        Example("The RFC's own", {"text": "foo://example.com:8042/over/there?name=ferret#nose"}),
        Example("Escapes and a port", {"text": "HTTP://joe@Example.com:80/%7Ejoe/a%20b/../c?q=caf%C3%A9"}),
        Example("Three faults", {"text": "http://h:8o/a b%zz"}),
        Example("FTP with a type", {"text": "ftp://ftp.example/%2Fetc/motd;type=a"}),
    ),
)
