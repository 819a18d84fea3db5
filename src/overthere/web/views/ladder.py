"""The ladder (RFC 3986 6.2): two URIs, their forms and changes at each rung, and the lowest common rung."""

from __future__ import annotations

from dataclasses import dataclass

from overthere.anatomy import Explanation, explain
from overthere.ground.display import printable
from overthere.ground.redact import mask
from overthere.values.iri_ladder import IRI_PARAGRAPHS
from overthere.values.known_secrets import Secrets
from overthere.values.normalize import PARAGRAPHS, Rung, lowest_rung
from overthere.web.model import Example, Input, View
from overthere.web.views.anatomy import Change, Row, findings_of, shown_change

__all__ = ["VIEW", "Ladder"]


@dataclass(frozen=True)
class Side:
    """One of the two at a rung."""

    text: str
    changes: list[Change]


@dataclass(frozen=True)
class Step:
    """A rung."""

    rung: str
    source: str
    a: Side
    b: Side
    equal: bool
    meet: bool
    """Whether this is the lowest rung at which they are equal."""


@dataclass(frozen=True)
class Ladder:
    """Two URIs compared; passwords are masked."""

    a: str
    b: str
    rung: str | None
    """Where they meet; None: at none, or one of them is not valid."""
    source: str | None
    steps: list[Step]
    findings_a: list[Row]
    findings_b: list[Row]


def ladder(a: str, b: str) -> Ladder:
    """The data of the view."""
    iri = not (a.isascii() and b.isascii())
    one, two = explain(a, iri=iri), explain(b, iri=iri)
    secrets = Secrets.from_texts(a, b)
    shown = [printable(mask(text)) for text in (a, b)]
    wrong = [findings_of(found.findings) for found in (one, two)]
    if wrong[0] or wrong[1]:
        return Ladder(shown[0], shown[1], None, None, [], *wrong)
    paragraphs = IRI_PARAGRAPHS if iri else PARAGRAPHS
    meeting = lowest_rung(a, b)
    steps = []
    for here, there in zip(one.forms, two.forms, strict=True):
        rung = here.rung
        steps.append(
            Step(
                _name(rung), paragraphs[rung], _side(one, rung, secrets), _side(two, rung, secrets),
                here.text == there.text or (meeting is not None and meeting <= rung), meeting == rung,
            )
        )  # fmt: skip
    source = None if meeting is None else paragraphs[meeting]
    return Ladder(shown[0], shown[1], None if meeting is None else _name(meeting), source, steps, *wrong)


def _name(rung: Rung) -> str:
    return "SYNTAX" if rung is Rung.SYNTAX else rung.name


def _side(found: Explanation, rung: Rung, secrets: Secrets) -> Side:
    form = next(form for form in found.forms if form.rung == rung)
    return Side(
        printable(secrets.mask(mask(form.text))), [shown_change(change, secrets, form.text) for change in form.changes]
    )


VIEW = View(
    "ladder",
    "Ladder",
    "Two URIs, rung by rung: what each normalization changes in them, and the lowest rung at which they are the same.",
    (Input("a", "One URI"), Input("b", "Another")),
    ladder,
    (
        Example("The RFC's own", {"a": "example://a/b/c/%7Bfoo%7D", "b": "eXAMPLE://a/./b/../b/%63/%7bfoo%7d"}),
        Example("A default port", {"a": "http://example.com", "b": "http://EXAMPLE.com:80/"}),
        Example("They never meet", {"a": "http://example.com/a", "b": "http://example.com/a/"}),
        Example("Beyond US-ASCII", {"a": "http://h/ros\u00e9", "b": "http://h/ros%C3%A9"}),
    ),
)
