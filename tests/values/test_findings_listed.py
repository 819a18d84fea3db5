"""The number of findings of a text is limited; the rest is counted."""

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
def test_further_findings_are_counted(text: str, rule: str, zone: bool, limit: int) -> None:
    every = check_uri(text, rule, zone)
    limited = check_uri(text, rule, zone, limit)
    assert limited[:limit] == every[:limit]
    if len(every) <= limit:
        assert len(limited) == len(every)
    else:
        assert [finding.kind for finding in limited[limit:]] == ["more"]
        assert limited[-1].message.startswith(f"{len(every) - limit} ")


@pytest.mark.parametrize("edition", NAMES)
def test_check_shows_the_first_findings_and_a_count(edition: str) -> None:
    text = "http://h/" + "%|" * 50
    command = ["check", "--edition", edition, text]
    result = CliRunner().invoke(main, command)
    assert result.exit_code == 1
    assert f"(the first {LISTED} findings)" in result.output
    assert "further findings are not listed" in result.output
    listed = json.loads(CliRunner().invoke(main, [*command, "--format", "jsonl"]).output)["findings"]
    assert [line["kind"] for line in listed[LISTED:]] == ["more"]
    every = json.loads(CliRunner().invoke(main, [*command, "--format", "jsonl", "--all"]).output)["findings"]
    assert [line["start"] for line in every[:LISTED]] == [line["start"] for line in listed[:LISTED]]
    assert len(every) == len(check(text, edition, limit=None)) > LISTED
    assert listed[-1]["message"].startswith(f"{len(every) - LISTED} ")


def test_explain_shows_the_first_findings_and_a_count() -> None:
    text = "http://h/" + "|a" * 50
    assert len(explain(text).findings) == LISTED + 1
    assert len(explain(text, limit=None).findings) == 50
    short, every = (CliRunner().invoke(main, ["explain", text, *options]).output for options in ((), ("--all",)))
    assert (short.count("(at "), every.count("(at ")) == (LISTED + 1, 50)
    assert "30 further findings are not listed" in short


@pytest.mark.parametrize("unit", ["%", "|a", "a?password=|", "@"])
def test_check_is_linear(unit: str) -> None:
    def use(size: int) -> None:
        result = CliRunner().invoke(main, ["check"], input=f"http://{unit * (size // len(unit))}/%\n")
        assert result.exit_code == 1

    linear(use, 200_000)


@pytest.mark.parametrize("limit", [-1, 1.5, float("nan"), -(2**63)])
def test_an_invalid_limit_is_rejected(limit: Any) -> None:
    for call in (check, audit, explain):
        with pytest.raises(ValueError, match="limit must be None or an int"):
            call("http://a b@h/", limit=limit)


def test_a_huge_limit_is_accepted() -> None:
    for limit in (2**63, 10**5000):
        assert check("a b c", limit=limit) == check("a b c")
        assert audit("http://a@h/", limit=limit) == audit("http://a@h/")
        assert explain("a b c", limit=limit).findings == explain("a b c").findings
