"""The ladder (RFC 3986 6.2): two URIs, their forms and changes at each rung, and the lowest common rung."""

from __future__ import annotations

from typing import NamedTuple

from overthere.anatomy import Form, explain
from overthere.ground.errors import Finding
from overthere.values.iri_ladder import IRI_PARAGRAPHS
from overthere.values.normalize import PARAGRAPHS, Rung, lowest_rung
from overthere.web.model import Example, Input, View


class Step(NamedTuple):
    """Both texts at a rung."""

    rung: Rung
    source: str
    a: Form
    b: Form
    equal: bool


class Ladder(NamedTuple):
    """Two URIs compared."""

    a: str
    b: str
    rung: Rung | None
    """The lowest rung at which they are equal; None if they differ at all rungs, or one is not valid."""
    source: str | None
    steps: list[Step]
    findings_a: list[Finding]
    findings_b: list[Finding]


def ladder(a: str, b: str) -> Ladder:
    """Return the value of the view."""
    iri = not (a.isascii() and b.isascii())
    left, right = explain(a, iri=iri), explain(b, iri=iri)
    if left.findings or right.findings:
        return Ladder(a, b, None, None, [], left.findings, right.findings)
    paragraphs = IRI_PARAGRAPHS if iri else PARAGRAPHS
    rung = lowest_rung(a, b)
    steps = [
        Step(x.rung, paragraphs[x.rung], x, y, x.text == y.text or (rung is not None and rung <= x.rung))
        for x, y in zip(left.forms, right.forms, strict=True)
    ]
    return Ladder(a, b, rung, None if rung is None else paragraphs[rung], steps, [], [])


VIEW = View(
    "ladder",
    "Ladder",
    "Two URIs, rung by rung: the changes of each normalization, and the lowest rung at which they are equal.",
    (Input("a", "One URI"), Input("b", "Another")),
    ladder,
    python="from overthere import lowest_rung\nprint(lowest_rung({a}, {b}))",
    command="overthere compare -- {a} {b}",
    examples=(
        Example("The RFC's own", {"a": "example://a/b/c/%7Bfoo%7D", "b": "eXAMPLE://a/./b/../b/%63/%7bfoo%7d"}),
        Example("A default port", {"a": "http://example.com", "b": "http://EXAMPLE.com:80/"}),
        Example("Never equal", {"a": "http://example.com/a", "b": "http://example.com/a/"}),
        Example("Beyond US-ASCII", {"a": "http://h/ros\u00e9", "b": "http://h/ros%C3%A9"}),
    ),
)
