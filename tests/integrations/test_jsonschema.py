"""The format checker, with jsonschema and JSON Schema's own test suite."""

from __future__ import annotations

import jsonschema
import pytest

from overthere import InvalidURI
from overthere.integrations.jsonschema import checker
from support import NO_SUITE, outside

FORMATS = ("uri", "uri-reference", "iri", "iri-reference", "uri-template")
ROWS = [row for row in outside("jsonschema_format") if row["target"] in FORMATS]


@pytest.mark.skipif(not ROWS, reason=NO_SUITE)
def test_the_suite_of_json_schema_passes() -> None:
    results = {row["id"]: checker().conforms(row["input"], row["target"]) for row in ROWS}
    assert len(results) == len(ROWS) > 40
    assert results == {row["id"]: row["expected"] for row in ROWS}


def test_the_reason_is_the_cause() -> None:
    with pytest.raises(jsonschema.ValidationError) as caught:
        jsonschema.validate("http://h/a b", {"type": "string", "format": "uri"}, format_checker=checker())
    assert isinstance(caught.value.cause, InvalidURI)
    assert caught.value.cause.start == 10
    secret = {"format": "uri"}
    with pytest.raises(jsonschema.ValidationError) as caught:
        jsonschema.validate("http://joe:secret@h/ ", secret, format_checker=checker())
    assert "secret" not in str(caught.value.cause)


@pytest.mark.parametrize("value", [None, 1, 1.5, [], {}, True])
def test_other_types_are_valid(value: object) -> None:
    assert all(checker().conforms(value, name) for name in FORMATS)


@pytest.mark.parametrize("text", ["", "\x00", "\ud800", "http://" + "a" * 100_000, "%", "http://h/" + "{" * 1000])
def test_hostile_texts_are_checked(text: str) -> None:
    for name in FORMATS:
        assert checker().conforms(text, name) in (True, False)


def test_other_formats_are_unchanged() -> None:
    formats = jsonschema.FormatChecker(())
    formats.checks("even")(lambda value: value % 2 == 0)
    judge = checker(formats)
    assert sorted(judge.checkers) == sorted([*FORMATS, "even"])
    assert sorted(formats.checkers) == ["even"]
    assert not judge.conforms(1, "even")
    assert not checker().conforms("x", "ipv4")
    assert "uri" in checker().checkers
    assert jsonschema.FormatChecker.checkers.keys() >= {"ipv4"}
