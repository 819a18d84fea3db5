"""Differences between two documents: shortest strings that only one derives, references resolved differently."""

from __future__ import annotations

from dataclasses import dataclass

from overthere.editions import NAMES, edition
from overthere.editions.compare import Difference, diff
from overthere.ground.caches import bounded_cache
from overthere.ground.display import printable
from overthere.ground.errors import GrammarError
from overthere.web.model import BadInput, Example, Input, View

__all__ = ["VIEW", "Witnesses"]

EDITIONS = [(name, f"{edition(name).document} ({edition(name).date})") for name in NAMES]


@dataclass(frozen=True)
class Rule:
    """A rule that both have, and strings that only one takes."""

    a: str
    b: str
    only_a: list[str]
    only_b: list[str]


@dataclass(frozen=True)
class ClassChange:
    """Characters that are in another class."""

    characters: str
    a: str | None
    b: str | None


@dataclass(frozen=True)
class ResolutionDifference:
    """A kind of difference in resolution, with the plainest base and reference that show it."""

    base: str
    reference: str
    a: str
    b: str
    kind: str
    pairs: int
    """How many pairs of the universe differ in this way."""


@dataclass(frozen=True)
class Witnesses:
    """Everything in which two documents differ, as far as it can be computed."""

    a: str
    b: str
    rule: str
    rules: list[Rule]
    same: list[str]
    """Rules that derive the same strings."""
    characters: list[ClassChange]
    resolution: list[ResolutionDifference]
    notes: list[str]


@bounded_cache(64)
def _difference(a: str, b: str) -> Difference:
    """The whole comparison of two documents: there are 25, and it takes a second or two."""
    return diff(a, b)


def witnesses(a: str, b: str, rule: str) -> Witnesses:
    """The data of the view.  Raises: BadInput if the two have no such rule in common."""
    try:
        found = diff(a, b, rule) if rule else _difference(a, b)
    except GrammarError as error:
        raise BadInput(printable(str(error))) from None
    return Witnesses(
        a, b, rule,
        [Rule(one.a, one.b, _strings(one.only_a), _strings(one.only_b)) for one in found.rules],
        list(found.same),
        [ClassChange(*one) for one in found.characters],
        [ResolutionDifference(*one) for one in found.resolution],
        list(found.not_specified),
    )  # fmt: skip


def _strings(texts: tuple[str, ...]) -> list[str]:
    return [printable(text) for text in texts]


VIEW = View(
    "witnesses",
    "Differences",
    "Two documents compared, computed from their grammars and algorithms: the shortest strings that only one of them "
    "takes, and the plainest references that they resolve apart.",
    (
        Input("a", "One document", default="rfc1738", kind="choice", choices=EDITIONS),
        Input("b", "Another", default="rfc3986", kind="choice", choices=EDITIONS),
        Input("rule", "Rule", "All that both have, unless one is named.", default="", limit=100),
    ),
    witnesses,
    (
        Example("1997 and RFC 3986", {"a": "url-1997", "b": "rfc3986"}),
        Example("2003 and RFC 3986", {"a": "uri-2003", "b": "rfc3986"}),
        Example("Paths in 1738 and today", {"a": "rfc1738", "b": "rfc3986", "rule": "path"}),
    ),
)
