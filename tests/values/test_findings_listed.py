"""How many findings on a text are told: the first ones and a count of the others, whatever the text."""

from __future__ import annotations

import json
from typing import Any

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from overthere import audit, explain
from overthere.cli.app import app as main
from overthere.cli.common import LISTED
from overthere.editions import NAMES, check
from overthere.values.findings import check_uri
from support import linear

RULES = ["URI", "URI-reference", "IRI", "IRI-reference"]


@given(st.text("a1%:/?#[]@ |é\x00\ue000", max_size=30), st.sampled_from(RULES), st.booleans(), st.integers(0, 4))
def test_those_that_are_not_listed_are_counted(text: str, rule: str, zone: bool, limit: int) -> None:
    every = check_uri(text, rule, zone)
    some = check_uri(text, rule, zone, limit)
    assert some[:limit] == every[:limit]
    if len(every) <= limit:
        assert len(some) == len(every)
    else:
        assert [one.kind for one in some[limit:]] == ["more"]
        assert some[-1].message.startswith(f"{len(every) - limit} ")


@pytest.mark.parametrize("edition", NAMES)
def test_check_tells_the_first_and_a_count(edition: str) -> None:
    text = "http://h/" + "%|" * 50
    asked = ["check", "--edition", edition, text]
    found = CliRunner().invoke(main, asked)
    assert found.exit_code == 1
    assert f"(the first {LISTED} findings)" in found.output
    assert "further findings are not listed" in found.output
    listed = json.loads(CliRunner().invoke(main, [*asked, "--format", "jsonl"]).output)["findings"]
    assert [one["kind"] for one in listed[LISTED:]] == ["more"]
    every = json.loads(CliRunner().invoke(main, [*asked, "--format", "jsonl", "--all"]).output)["findings"]
    assert [one["start"] for one in every[:LISTED]] == [one["start"] for one in listed[:LISTED]]
    assert len(every) == len(check(text, edition, limit=None)) > LISTED
    assert listed[-1]["message"].startswith(f"{len(every) - LISTED} ")


def test_explain_tells_the_first_and_a_count() -> None:
    text = "http://h/" + "|a" * 50
    assert len(explain(text).findings) == LISTED + 1
    assert len(explain(text, limit=None).findings) == 50
    some, every = (CliRunner().invoke(main, ["explain", text, *how]).output for how in ((), ("--all",)))
    assert (some.count("(at "), every.count("(at ")) == (LISTED + 1, 50)
    assert "30 further findings are not listed" in some


@pytest.mark.parametrize("unit", ["%", "|a", "a?password=|", "@"])
def test_the_time_of_check_grows_with_the_text(unit: str) -> None:
    def use(size: int) -> None:
        found = CliRunner().invoke(main, ["check"], input=f"http://{unit * (size // len(unit))}/%\n")
        assert found.exit_code == 1

    linear(use, 200_000)


@pytest.mark.parametrize("limit", [-1, 1.5, float("nan"), -(2**63)])
def test_a_limit_that_counts_nothing(limit: Any) -> None:
    for call in (check, audit, explain):
        with pytest.raises(ValueError, match="limit must be None or an int"):
            call("http://a b@h/", limit=limit)


def test_a_limit_beyond_what_python_counts() -> None:
    for limit in (2**63, 10**5000):
        assert check("a b c", limit=limit) == check("a b c")
        assert audit("http://a@h/", limit=limit) == audit("http://a@h/")
        assert explain("a b c", limit=limit).findings == explain("a b c").findings
