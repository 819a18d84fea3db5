"""Everything about a scheme in one mapping, as `overthere schemes NAME` and the documentation print it."""

from __future__ import annotations

import re
from dataclasses import fields
from functools import cache
from typing import TYPE_CHECKING, Any

from overthere.editions import edition
from overthere.schemes.registry import BUILT_IN, Registry

if TYPE_CHECKING:
    from overthere.grammar import Grammar
    from overthere.schemes.model import Scheme

__all__ = ["page", "rules_of"]

_NAME = re.compile(r'"[^"]*"|%[bdxis][^ )\]]*|([A-Za-z][A-Za-z0-9-]*)')


def page(scheme: Scheme) -> dict[str, Any]:
    """What is known of a scheme, as text, numbers, lists and mappings; only what there is.

    >>> from overthere import scheme
    >>> found = page(scheme("ftp"))
    >>> found["port"], found["locator"]["parts"][:3], found["status"]
    (21, ['user', 'password', 'host'], 'Permanent')
    """
    registered = scheme.registration
    facts: dict[str, Any] = {
        "scheme": scheme.name,
        "title": scheme.title,
        "status": scheme.status,
        "reference": registered.reference if registered else "",
        "documents": dict(scheme.documents),
        "port": scheme.port,
        "hierarchical": scheme.hierarchical,
        "interactive": scheme.interactive,
        "rules": {name: rules_of(scheme, name) for name in scheme.rules},
        "locator": {
            "type": scheme.locator.__name__,
            "parts": [one.name for one in fields(scheme.locator) if not one.kw_only],
        },
        "normal_form": [{"what": rule.what, "source": rule.source} for rule in scheme.normal],
        "locates_nothing": scheme.locates_nothing,
        "unspoken": scheme.unspoken,
        "examples": [
            {
                "uri": example.text,
                "source": example.source,
                "note": example.note,
                "locator": repr(Registry.default().locator(example.text)),
            }
            for example in scheme.examples
        ],
        "notes": list(scheme.notes),
        "known": scheme.known,
    }
    return {name: value for name, value in facts.items() if value not in ("", None, [], {})}


def rules_of(scheme: Scheme, name: str) -> list[str]:
    """The scheme's rules in an edition, and those that no other scheme there refers to; for today's, its syntax."""
    if name == "rfc3986":
        return [line.rstrip() for line in scheme.syntax.strip("\n").split("\n")]
    grammar = edition(name).grammar
    mine = _referenced_rules(grammar, scheme.rules[name])
    others: set[str] = set()
    for tops in _top_rules(name):
        if tops != scheme.rules[name]:
            others.update(_referenced_rules(grammar, tops))
    kept = [rule for rule in mine if rule not in others or rule in scheme.rules[name]]
    lines: list[str] = []
    for rule in kept:
        body = " ".join(grammar.rule(rule).text.split())
        lines.append(f"{grammar.rule(rule).name} = {body}")
    return lines


@cache
def _top_rules(name: str) -> frozenset[tuple[str, ...]]:
    """What the built-in schemes call their rules in an edition."""
    registry = Registry.default()
    return frozenset(tops for known in BUILT_IN if (tops := registry.scheme(known).rules.get(name)))


def _referenced_rules(grammar: Grammar, tops: tuple[str, ...]) -> list[str]:
    """The rules that these refer to, themselves first."""
    reached = list(dict.fromkeys(top.lower() for top in tops))
    for rule in reached:
        for match in _NAME.finditer(grammar.rule(rule).text):
            if match[1] and match[1].lower() in grammar.rules and match[1].lower() not in reached:
                reached.append(match[1].lower())
    return reached
