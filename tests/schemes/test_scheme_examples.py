"""The URLs printed in the five documents: each is parsed by its document's edition, written, and planned."""

from __future__ import annotations

import tomllib
from collections import Counter
from typing import Any

import pytest

from overthere import URI, NotSpecified, Plan, PlanRefused, edition, plan
from support import NO_PACKAGE, SHARED, TESTS, cases, ids, outside

ROWS = cases("scheme_examples")
SKIPPED: list[dict[str, str]] = tomllib.loads((TESTS / "cases" / "scheme_examples.toml").read_text())["skip"]
KEYS = {"id", "from", "edition", "text"}


@pytest.mark.parametrize("row", ROWS, ids=ids(ROWS))
def test_examples_are_parsed_and_written_unchanged(row: dict[str, Any]) -> None:
    assert KEYS <= set(row) <= {*KEYS, "plan", "note"}
    name, text = row["edition"], row["text"]
    locator = edition(name).locator(text)
    assert str(locator.uri(name)) == text
    assert locator.scheme == text.partition(":")[0].lower()


@pytest.mark.parametrize("row", [row for row in ROWS if "plan" in row], ids=lambda row: row["id"])
def test_examples_have_a_plan(row: dict[str, Any]) -> None:
    uri = URI(row["text"])
    if row["plan"] == "refused":
        with pytest.raises(PlanRefused):
            plan(uri)
    elif row["plan"] == "unknown":
        with pytest.raises(NotSpecified):
            plan(uri)
    else:
        result: Plan = plan(uri)
        assert (result.uri, result.scheme) == (row["text"], uri.scheme.lower())
        assert (bool(result.steps), bool(result.locates_nothing)) == {"steps": (True, False), "nothing": (False, True)}[
            row["plan"]
        ]
        assert result == plan(uri.locator)


@pytest.mark.parametrize("row", [row for row in ROWS if "plan" not in row], ids=lambda row: row["id"])
def test_examples_without_a_plan_are_invalid_today(row: dict[str, Any]) -> None:
    assert row["note"]
    assert not edition("rfc3986").is_valid(row["text"])


def test_omitted_texts_are_invalid_in_all_editions() -> None:
    for row in SKIPPED:
        assert row["from"]
        assert row["why"]
        assert not edition("rfc3986").is_valid(row["text"]), row
        assert not edition("url-1994").is_valid(row["text"], "url"), row
        assert not edition("rfc1738").is_valid(row["text"]), row


def test_the_number_of_examples() -> None:
    """A lost row is noticed."""
    assert Counter(row["edition"] for row in ROWS) == {
        "url-1994": 20,
        "rfc1738": 37,
        "url-1997": 20,
        "uri-2003": 21,
        "rfc3986": 32,
    }
    assert len(SKIPPED) == 22


@pytest.mark.skipif(not SHARED.exists(), reason=NO_PACKAGE)
def test_every_collected_example_is_tested() -> None:
    """The collection has other names for the drafts; "equal" rows have a second text."""
    names = {"draft-1994": "url-1994", "draft-1997": "url-1997", "draft-2003": "uri-2003"}
    have = {(row["edition"], row["text"]) for row in ROWS}
    left_out = {row["text"] for row in SKIPPED}
    for row in outside("seed_examples"):
        texts = row["expected"] if row["kind"] == "extract" else [row["input"]]
        texts += [row["base"]] if row["kind"] == "equal" else []
        for text in texts:
            assert (names.get(row["spec"], row["spec"]), text) in have or text in left_out, row["id"]
