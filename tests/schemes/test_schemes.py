"""Every scheme: the laws of `SchemeSuite`, and the case rows of tests/cases/schemes.

A row: `text` read by `edition` (rfc3986 unless named), and by those in `also`, gives a locator with the fields `is`
(those not named have their default values); `rule`/`valid` what the scheme's rules (in that edition) say of it;
`written` how the locator is written anew; `by` how other editions write it, or a part of the error after "!"; `plan`
the lines of the plan, `sends` the octets that it sends, `refused` a part of why there is no plan; `normal` the form at
the scheme rung; `invalid` a part of why the text cannot be read.
"""

from __future__ import annotations

import ast
from dataclasses import replace
from typing import Any

import pytest

from overthere import URI, Credentials, InvalidURI, Locator, PlanRefused, Rung, Unwritable, plan, scheme
from overthere.access import Send
from overthere.editions import edition
from overthere.schemes import Registry, locators
from overthere.schemes.registry import BUILT_IN
from overthere.testing import SchemeSuite
from support import ROOT, TESTS, cases, in_editions

ROWS = [
    pytest.param(file.stem, row, id=id)
    for file in sorted((TESTS / "cases" / "schemes").glob("*.toml"))
    for id, row in in_editions(cases(f"schemes/{file.stem}"), f"{file.stem}-")
]
KEYS = frozenset(
    [
        "id",
        "from",
        "note",
        "text",
        "edition",
        "also",
        "rule",
        "valid",
        "is",
        "written",
        "by",
        "plan",
        "sends",
        "refused",
        "normal",
        "invalid",
        "credentials",
        "same",
        "differ",
    ]
)


def changed_fields(locator: Locator) -> dict[str, Any]:
    """The fields that differ from their defaults, with an unmasked password."""
    fields = locator.to_dict()
    return {**fields, "password": getattr(locator, "password", None)} if "password" in fields else fields


@pytest.mark.parametrize(("file", "row"), ROWS)
def test_row(file: str, row: dict[str, Any]) -> None:
    assert set(row) <= KEYS, set(row) - KEYS
    text, name, kind = row["text"], row.get("edition", "rfc3986"), scheme(file)
    if "rule" in row:
        grammar = kind.grammar if name == "rfc3986" else edition(name).grammar
        assert grammar.automaton(row["rule"]).accepts(text) == row["valid"]
        return
    if "valid" in row:
        assert kind.is_valid(text, name) == row["valid"]
        assert (kind.check(text, name) == []) == row["valid"]
    if "invalid" in row:
        with pytest.raises(InvalidURI) as caught:
            edition(name).locator(text)
        assert row["invalid"] in caught.value.figure()
        return
    locator = edition(name).locator(text)
    if name == "rfc3986":
        assert URI(text).locator == locator
    if "is" in row:
        assert changed_fields(locator) == row["is"]
    assert str(locator.uri(name)) == text
    fresh = replace(locator, written=None)
    if "written" in row:
        assert str(fresh.uri(name)) == row.get("by", {}).get(name, row["written"])
    for other, expected in row.get("by", {}).items():
        if expected.startswith("!"):
            with pytest.raises(Unwritable) as refused:
                fresh.uri(other)
            assert expected[1:] in str(refused.value)
        else:
            assert str(fresh.uri(other)) == expected
    credentials = Credentials(**row.get("credentials", {}))
    if "refused" in row:
        with pytest.raises(PlanRefused) as no_plan:
            plan(locator, credentials)
        assert row["refused"] in str(no_plan.value)
    if "plan" in row:
        assert [step.line() for step in plan(locator, credentials)] == row["plan"]
    if "sends" in row:
        sent = [s.data.decode("latin-1") for s in plan(locator, credentials) if isinstance(s, Send)]
        assert sent == row["sends"]
    if "normal" in row:
        assert str(URI(text).normalize(Rung.SCHEME)) == row["normal"]
    for same in row.get("same", ()):
        assert URI(text).equivalent(URI(same), Rung.SCHEME), same
    for other in row.get("differ", ()):
        assert not URI(text).equivalent(URI(other), Rung.SCHEME), other


def suites() -> dict[str, type[SchemeSuite]]:
    """A test class for each built-in scheme."""
    classes = {}
    for name in BUILT_IN:
        title = "Test" + "".join(part.title() for part in name.split("."))
        # The document-id of WAIS is octets of a counted length (RFC 4156 2).
        counted = frozenset({"wpath"}) if name == "wais" else frozenset()
        # 1994 sends ISO Latin 1 (RFC 977 2.3); today invalid UTF-8 is rejected (RFC 3977 3.1, 12.5).
        narrower = frozenset({"RFC 3977 9.8"}) if name in ("news", "nntp") else frozenset()
        facts = {"scheme": scheme(name), "counted": counted, "narrower": narrower}
        classes[title] = type(title, (SchemeSuite,), facts)
    return classes


globals().update(suites())


def test_every_built_in_scheme_has_rows() -> None:
    """Each scheme has case rows, and each kind of parsing at least one."""
    for name in BUILT_IN:
        rows = cases(f"schemes/{name}")
        readings = {row.get("edition", "rfc3986") for row in rows if "rule" not in row}
        assert set(Registry.default().scheme(name).documents) <= readings, name


def test_every_locator_is_in_one_module() -> None:
    """`overthere.schemes.locators` has the class of each scheme, and nothing else."""
    classes = {scheme.locator for scheme in Registry.default().schemes()}
    assert classes <= {getattr(locators, name) for name in locators.__all__}
    for name in locators.__all__:
        assert issubclass(getattr(locators, name), locators.Locator), name
        assert getattr(locators, name).__name__ == name
    names = [
        node.name
        for file in (ROOT / "src/overthere/schemes").rglob("*.py")
        for node in ast.parse(file.read_text()).body
        if isinstance(node, ast.ClassDef) and node.name.endswith("Locator")
    ]
    assert sorted(names) == sorted(locators.__all__)


def test_a_locator_of_a_kind() -> None:
    assert URI("ftp://h/a").locator_as(locators.FTPLocator).name == "a"
    with pytest.raises(InvalidURI, match="'http' has a HTTPLocator, and no FTPLocator"):
        URI("http://h/a").locator_as(locators.FTPLocator)
    with pytest.raises(AttributeError):
        getattr(locators, "NoLocator")  # noqa: B009
