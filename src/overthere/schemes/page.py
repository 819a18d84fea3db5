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

_NAME = re.compile(r'"[^"]*"|%[bdxis][^ )\]]*|([A-Za-z][A-Za-z0-9-]*)')


def page(scheme: Scheme) -> dict[str, Any]:
    """Return the known facts of a scheme as text, numbers, lists and mappings, without empty ones.

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
            "parts": [part.name for part in fields(scheme.locator) if not part.kw_only],
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
    """Return the scheme's rules in an edition, without rules that other schemes use too; for RFC 3986, its syntax."""
    if name == "rfc3986":
        return [line.rstrip() for line in scheme.syntax.strip("\n").split("\n")]
    grammar = edition(name).grammar
    own_rules = _referenced_rules(grammar, scheme.rules[name])
    other_rules: set[str] = set()
    for tops in _top_rules(name):
        if tops != scheme.rules[name]:
            other_rules.update(_referenced_rules(grammar, tops))
    listed_rules = [rule for rule in own_rules if rule not in other_rules or rule in scheme.rules[name]]
    lines: list[str] = []
    for rule in listed_rules:
        body = " ".join(grammar.rule(rule).text.split())
        lines.append(f"{grammar.rule(rule).name} = {body}")
    return lines


@cache
def _top_rules(name: str) -> frozenset[tuple[str, ...]]:
    """Return the top rules of the built-in schemes in an edition."""
    registry = Registry.default()
    return frozenset(tops for name_of_scheme in BUILT_IN if (tops := registry.scheme(name_of_scheme).rules.get(name)))


def _referenced_rules(grammar: Grammar, tops: tuple[str, ...]) -> list[str]:
    """Return the rules that these refer to, themselves first."""
    reached = list(dict.fromkeys(top.lower() for top in tops))
    for rule in reached:
        for match in _NAME.finditer(grammar.rule(rule).text):
            if match[1] and match[1].lower() in grammar.rules and match[1].lower() not in reached:
                reached.append(match[1].lower())
    return reached
