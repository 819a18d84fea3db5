"""Cases from elsewhere: the JSON Schema suite, Fielding's tables, printed examples, the WHATWG's URL tests.

They are not part of the project: packages carry them, or ../shared/cases next to it (`suite` in support.py). A row that
RFC 3986 contradicts is in expected_failures.toml with its reason; it must fail, and must exist.
"""

from __future__ import annotations

import tomllib
from typing import Any

import pytest

from overthere import URI, InvalidURI, Rung, URIReference, encode
from overthere.grammar.library import grammar
from overthere.kernel import remove_dot_segments
from support import NO_PACKAGE, NO_SUITE, SHARED, TESTS, outside

Row = dict[str, Any]

FAILURES: dict[str, str] = {
    row["id"]: row["reason"] for row in tomllib.loads((TESTS / "expected_failures.toml").read_text()).get("row", [])
}
# Target of the JSON Schema suite -> the grammar and the rule that its prose names.
FORMATS = {
    "uri": ("rfc3986", "URI"),
    "uri-reference": ("rfc3986", "URI-reference"),
    "iri": ("rfc3987", "IRI"),
    "iri-reference": ("rfc3987", "IRI-reference"),
    "ipv4": ("rfc3986", "IPv4address"),
    "ipv6": ("rfc3986", "IPv6address"),
}


def rows_or_skip(rows: list[Row], reason: str) -> list[Any]:
    """The rows as parameters, strictly marked if they are expected to fail; without rows, a skip with the reason."""
    return [pytest.param({}, marks=pytest.mark.skip(reason))] * (not rows) + [
        pytest.param(
            row,
            id=row["id"],
            marks=[pytest.mark.xfail(strict=True, reason=FAILURES[row["id"]], raises=(AssertionError, InvalidURI))]
            if row["id"] in FAILURES
            else [],
        )
        for row in rows
    ]


def rows(*names: str, **fields: tuple[str, ...]) -> list[Row]:
    return [row for name in names for row in outside(name) if all(row[key] in values for key, values in fields.items())]


SCHEMA = rows("jsonschema_format", target=tuple(FORMATS))
RESOLUTION = rows(
    "resolution_tables", "roy_rel_examples", kind=("resolve",), spec=("rfc3986", "rfc3986-nonstrict"),
)  # fmt: skip
DOTS = rows("resolution_tables", kind=("normalize",), spec=("rfc3986",))
SEEDS = rows("seed_examples", spec=("rfc3986",), kind=("valid", "equal", "parse", "encode"))
WHATWG = rows("wpt_urltestdata")


@pytest.mark.parametrize("row", rows_or_skip(SCHEMA, NO_SUITE))
def test_json_schema_formats(row: Row) -> None:
    edition, rule = FORMATS[row["target"]]
    assert grammar(edition).automaton(rule).accepts(row["input"]) is row["expected"], row["note"]


@pytest.mark.parametrize("row", rows_or_skip(RESOLUTION, NO_PACKAGE))
def test_resolution(row: Row) -> None:
    strict = row["spec"] != "rfc3986-nonstrict"
    assert str(URI(row["base"]).join(row["input"], strict)) == row["expected"], row["note"]


@pytest.mark.parametrize("row", rows_or_skip(DOTS, NO_PACKAGE))
def test_dots(row: Row) -> None:
    assert remove_dot_segments(row["input"]) == row["expected"]


@pytest.mark.parametrize("row", rows_or_skip(SEEDS, NO_PACKAGE))
def test_printed(row: Row) -> None:
    text, expected = row["input"], row["expected"]
    match row["kind"]:
        case "valid":
            assert str(URI(text)) == text
        case "equal":
            rung = {"syntax": Rung.SYNTAX, "scheme": Rung.SCHEME}[row["target"]]
            assert URI(text).equivalent(URI(row["base"]), rung) is expected
        case "parse":
            value = URIReference(text)
            assert {name: getattr(value, name) for name in expected} == expected
        case "encode":
            assert encode(text) in (expected if isinstance(expected, list) else [expected])
        case other:
            pytest.fail(f"a kind of row that is not read: {other}")


@pytest.mark.skipif(not WHATWG, reason=NO_SUITE)
def test_whatwg_texts_are_rejected_or_unchanged() -> None:
    """The tests of another specification serve as texts: InvalidURI, or the unchanged text."""
    count = 0
    for row in WHATWG:
        base: URI | None = None
        if row["base"] is not None:
            try:
                base = URI(row["base"])
            except InvalidURI:
                base = None
        try:
            value = URIReference(row["input"])
        except InvalidURI as error:
            output = f"{error}\n{error!r}\n{error.figure()}"
            assert output, row["id"]
            continue
        assert str(value) == row["input"], row["id"]
        count += 1
        if base is not None:
            assert URI(str(base.join(value))).fragment == value.fragment
    assert count > 100


@pytest.mark.skipif(not SHARED.exists(), reason=NO_PACKAGE)
def test_expected_failures_exist() -> None:
    assert FAILURES.keys() <= {row["id"] for row in [*SCHEMA, *RESOLUTION, *DOTS, *SEEDS]}


@pytest.mark.skipif(not SHARED.exists(), reason=NO_PACKAGE)
@pytest.mark.parametrize(("name", "least"), [("SCHEMA", 150), ("RESOLUTION", 140), ("SEEDS", 20), ("WHATWG", 900)])
def test_the_suites_have_rows(name: str, least: int) -> None:
    assert len(globals()[name]) >= least
