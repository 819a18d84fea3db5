"""The plan view: exactly what opening a URI would send; nothing is opened."""

from __future__ import annotations

from dataclasses import dataclass

from overthere.access.planning import Plan, plan
from overthere.access.steps import Step as PlanStep
from overthere.ground.display import printable
from overthere.ground.errors import OverthereError
from overthere.ground.redact import mask
from overthere.values.known_secrets import Secrets
from overthere.values.uri import URI
from overthere.web.model import Example, View
from overthere.web.views.anatomy import TEXT

__all__ = ["VIEW", "Dialogue"]

_ROW = 16
"""Octets of a line."""
_ROWS = 64


@dataclass(frozen=True)
class Octets:
    """A line of octets that are sent."""

    offset: int
    hex: str
    text: str
    """As US-ASCII, with a dot for what has no mark there."""


@dataclass(frozen=True)
class Step:
    """One step of the dialogue."""

    number: int
    kind: str
    line: str
    source: str
    after: list[str]
    """The answers to the step before under which it is taken."""
    note: str
    octets: list[Octets]
    left_out: int
    """Octets that are not listed."""


@dataclass(frozen=True)
class Dialogue:
    """What opening the URI would do; passwords are masked."""

    text: str
    scheme: str | None
    through: str | None
    """The gateway's URI, where one stands in."""
    steps: list[Step]
    notes: list[str]
    refused: str | None
    """Why there is no plan."""


def dialogue(text: str) -> Dialogue:
    """The data of the view."""
    shown, secrets = printable(mask(text)), Secrets.from_texts(text)
    try:
        found = plan(URI(text, zone=True))
    except OverthereError as error:
        return Dialogue(shown, None, None, [], [], printable(secrets.mask(str(error))))
    done = found.done
    notes = [f"nothing to retrieve: {found.locates_nothing}"] if found.locates_nothing else []
    notes += [f"the safe policy refuses it: {why}" for why in done.cautions]
    return Dialogue(
        shown,
        found.scheme,
        None if found.through is None else printable(secrets.mask(mask(done.uri))),
        [_step(number, step, secrets) for number, step in enumerate(_steps(found), 1)],
        [printable(secrets.mask(note)) for note in notes],
        None,
    )


def _steps(found: Plan) -> list[PlanStep]:
    return list(found.done.steps)


def _step(number: int, step: PlanStep, secrets: Secrets) -> Step:
    data = secrets.mask_in(step.to_dict()).get("data", "")
    octets = data.encode("latin-1", "replace") if isinstance(data, str) and step.kind == "send" else b""
    kept = octets[: _ROW * _ROWS]
    return Step(
        number, step.kind, printable(secrets.mask(step.line())), step.source, list(step.after),
        printable(secrets.mask(step.note)),
        [_octets(at, kept[at : at + _ROW]) for at in range(0, len(kept), _ROW)], len(octets) - len(kept),
    )  # fmt: skip


def _octets(at: int, row: bytes) -> Octets:
    return Octets(at, row.hex(" "), "".join(chr(o) if 0x20 <= o < 0x7F else "." for o in row))


VIEW = View(
    "plan",
    "Plan",
    "The exact dialogue that opening the URI would be: each step with its paragraph, and the octets. Nothing is "
    "opened.",
    (TEXT,),
    dialogue,
    (
        Example("HTTP", {"text": "http://example.com:8042/over/there?name=ferret#nose"}),
        Example("FTP", {"text": "ftp://joe:secret@ftp.example/pub/file;type=a"}),
        Example("Gopher", {"text": "gopher://gopher.example/7/search%09museum"}),
        Example("LDAP", {"text": "ldap://ldap.example/o=Museum?cn?sub?(cn=Babs*)"}),
        Example("A newline smuggled in", {"text": "gopher://h/0a%0D%0AQUIT"}),
    ),
)
