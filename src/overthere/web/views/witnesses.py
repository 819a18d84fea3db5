"""Differences between two documents: shortest strings that only one accepts, references resolved differently."""

from __future__ import annotations

from overthere.editions import NAMES, edition
from overthere.editions.compare import Difference, diff
from overthere.ground.caches import bounded_cache
from overthere.ground.errors import GrammarError
from overthere.web.model import BadInput, Example, Input, View

EDITIONS = [(name, f"{edition(name).document} ({edition(name).date})") for name in NAMES]


@bounded_cache(64)
def _difference(a: str, b: str) -> Difference:
    """Return the full comparison of two documents: there are 25, and each takes a second or two."""
    return diff(a, b)


def witnesses(a: str, b: str, rule: str) -> Difference:
    """Return the value of the view.  Raises: BadInput if the documents have no such rule in common."""
    try:
        return diff(a, b, rule) if rule else _difference(a, b)
    except GrammarError as error:
        raise BadInput(str(error)) from None


VIEW = View(
    "witnesses",
    "Differences",
    "Two documents compared by their grammars and algorithms: the shortest strings that only one accepts, and the "
    "simplest references that they resolve differently.",
    (
        Input("a", "One document", default="rfc1738", kind="choice", choices=EDITIONS),
        Input("b", "Another", default="rfc3986", kind="choice", choices=EDITIONS),
        Input("rule", "Rule", "All common rules unless one is named.", default="", limit=100),
    ),
    witnesses,
    python="from overthere.editions.compare import diff\nprint(diff({a}, {b}[, {rule}]))",
    command="overthere editions diff[ --rule {rule}] {a} {b}",
    examples=(
        Example("1997 and RFC 3986", {"a": "url-1997", "b": "rfc3986"}),
        Example("2003 and RFC 3986", {"a": "uri-2003", "b": "rfc3986"}),
        Example("Paths in 1738 and today", {"a": "rfc1738", "b": "rfc3986", "rule": "path"}),
    ),
    masked=False,
)
