"""The documents' own lists of changes (tests/changes.toml): each item names a computed difference, or a reason."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from functools import cache
from typing import Any

import pytest

import statements
from overthere.editions import edition
from overthere.editions.compare import Difference, diff, pairs
from overthere.editions.compare_resolution import ResolutionDifference, resolutions
from overthere.editions.readings import compare_key
from support import TESTS

CHANGES: list[dict[str, Any]] = tomllib.loads((TESTS / "changes.toml").read_text())["change"]
LISTS = {"url1997": "F", "uri2003": "G", "rfc3986": "D"}


def items() -> Iterator[str]:
    """The rows of the ledger in the paragraphs that list changes."""
    for folder, appendix in LISTS.items():
        for row in statements.document(statements.LEDGER / folder).statements:
            if row.paragraph == appendix or row.paragraph.startswith(f"{appendix}."):
                yield row.id


@cache
def computed(a: str, b: str) -> Difference:
    return diff(a, b)


@cache
def resolved(a: str, b: str) -> list[ResolutionDifference]:
    return resolutions(a, b)


def test_every_item_has_a_row() -> None:
    assert [row["id"] for row in CHANGES] == list(items())
    for row in CHANGES:
        assert bool(row.get("shows")) is not bool(row.get("reason")), row["id"]


@pytest.mark.parametrize("change", [c for c in CHANGES if "shows" in c], ids=lambda change: change["id"])
def test_an_item_is_computed(change: dict[str, Any]) -> None:
    for row in change["shows"]:
        assert is_computed(**row), row


def is_computed(between: list[str], **value: Any) -> bool:
    a, b = between
    match value:
        case {"base": base, "reference": reference, **rest} if not rest:
            return (base, reference) in {(row.base, row.reference) for row in resolved(a, b)}
        case {"characters": characters, "a": left, "b": right, **rest} if not rest:
            moved = computed(a, b).characters
            return any(set(characters) <= set(row.characters) and (row.a, row.b) == (left, right) for row in moved)
        case {"paired": [left, right], **rest} if not rest:
            return (compare_key(left), compare_key(right)) in {
                (compare_key(x), compare_key(y)) for x, y in pairs(edition(a), edition(b))
            }
        case {"rule": rule, "only_a": text, **rest} if not rest:
            return any(
                text in row.only_a
                for row in computed(a, b).rules
                if compare_key(rule) in map(compare_key, (row.a, row.b))
            )
        case {"rule": rule, "only_b": text, **rest} if not rest:
            return any(
                text in row.only_b
                for row in computed(a, b).rules
                if compare_key(rule) in map(compare_key, (row.a, row.b))
            )
        case {"alone_a": rule, **rest} if not rest:
            return rule in computed(a, b).only_a
        case {"alone_b": rule, **rest} if not rest:
            return rule in computed(a, b).only_b
        case _:
            raise AssertionError(f"no such way to show a change: {value}")


def test_an_item_that_is_not_computed_is_reported() -> None:
    assert not is_computed(["rfc1738", "url-1997"], rule="user", only_b="?")
    assert not is_computed(["uri-2003", "rfc3986"], base="x:", reference="g:h")
    assert not is_computed(["uri-2003", "rfc3986"], alone_a="scheme")
    with pytest.raises(AssertionError, match="no such way"):
        is_computed(["uri-2003", "rfc3986"], rule="scheme")
