"""What a verb loads before it answers: its start is the sum of what it imports, so that is held, not a time."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from overthere import scheme
from overthere.grammar import construct
from overthere.schemes import Registry, entry_points, syntax
from overthere.schemes.registry import BUILT_IN
from servers import NET

HEAVY = (
    "rich",
    "pyarrow",
    "base64",
    "difflib",
    "importlib.metadata",
    "email",
    "pkgutil",
    "random",
    "secrets",
    "shutil",
    "overthere.cli.tables",
    "overthere.columns",
    "overthere.values.derivation",
    "overthere.values.known_secrets",
    "overthere.editions.model",
    "overthere.grammar.abnf",
    "overthere.grammar.construct",
    "overthere.iri",
    "overthere.values.normalize",
    "overthere.repairs",
    "overthere.tables.writer",
)
"""What takes milliseconds to load, or is loaded to do work that a good URI does not need."""


def loaded(*arguments: str, kernel: str) -> set[str]:
    code = (
        "import sys; from overthere.cli import main\n"
        "try:\n    main()\n"
        "finally:\n    found = sorted(sys.modules); import json; print(json.dumps(found), file=sys.stderr)\n"
    )
    return set(json.loads(_ran(code, *arguments, kernel=kernel)))


def _ran(code: str, *arguments: str, kernel: str) -> str:
    """The last line of standard error."""
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments],
        capture_output=True,
        text=True,
        check=True,
        timeout=5 * NET,
        env={**os.environ, "OVERTHERE_KERNEL": kernel},
    )
    return done.stderr.splitlines()[-1]


@pytest.mark.parametrize("kernel", ["", "reference"])
@pytest.mark.parametrize(
    "text", ["http://example.com/a?b#c", "urn:isbn:0451450523", "mailto:joe@example.com", "no-such-scheme:a"]
)
def test_a_good_uri_is_checked_without_what_tells_of_faults(text: str, kernel: str) -> None:
    found = loaded("check", text, kernel=kernel)
    assert "overthere.cli.check" in found
    assert found.isdisjoint(HEAVY)


@pytest.mark.parametrize("kernel", ["", "reference"])
@pytest.mark.parametrize("verb", [("split", "http://a/b"), ("resolve", "b", "--base", "http://a/")])
def test_what_needs_no_scheme_loads_none(verb: tuple[str, ...], kernel: str) -> None:
    found = loaded(*verb, kernel=kernel)
    assert f"overthere.cli.{verb[0]}" in found
    own = {
        "overthere.schemes.registry",
        "overthere.grammar",
        "overthere.values.findings",
        "overthere.editions.resolution",
    }
    assert found.isdisjoint({*HEAVY, *own, "dataclasses", "json"})


@pytest.mark.parametrize("text", ["http://a/", "https://a/b?c", "urn:isbn:0451450523"])
def test_an_edition_is_asked_for_a_rule_without_its_grammar_being_read(text: str) -> None:
    found = loaded("explain", text, kernel="")
    assert "overthere.editions.url1994" in found
    assert found.isdisjoint({"overthere.grammar.abnf", "overthere.grammar.construct"})


@pytest.mark.parametrize("kernel", ["", "reference"])
def test_what_is_loaded_for_a_good_uri_makes_no_expression_that_reads_none(kernel: str) -> None:
    """The native kernel reads it; the expressions of the other, and what looks for passwords, take milliseconds."""
    code = (
        "import sys; from overthere.cli import main\n"
        "try:\n    main()\n"
        "finally:\n"
        "    from overthere.ground import redact; from overthere.kernel import reference\n"
        "    made = redact._authority_start.cache_info().currsize, reference.expression.cache_info().currsize\n"
        "    print(*made, file=sys.stderr)\n"
    )
    is_native = not kernel and find_spec("overthere._native") is not None
    assert _ran(code, "check", "http://a/b", kernel=kernel).split() == ["0", "0" if is_native else "1"]


@pytest.mark.parametrize("kernel", ["", "reference"])
def test_the_version_loads_no_verb(kernel: str) -> None:
    found = loaded("--version", kernel=kernel)
    assert "overthere.cli.app" in found
    verbs = {name for name in found if name.startswith("overthere.")}
    assert found.isdisjoint(
        (*HEAVY, "overthere.grammar", "overthere.schemes", "overthere.tables", "overthere.values.uri")
    )
    assert not {"overthere.cli.check", "overthere.cli.common"} & verbs


def test_a_fault_is_told_by_what_was_not_loaded() -> None:
    """The list is of modules that are there: a fault loads the one that tells it."""
    assert "overthere.values.derivation" in loaded("check", "http:/a", kernel="")


def test_each_scheme_with_rules_has_its_automaton_ready(monkeypatch: pytest.MonkeyPatch) -> None:
    ruled = [one for one in map(scheme, sorted(BUILT_IN)) if "rfc3986" in one.rules]
    assert len(ruled) > 40

    def built(*_: object) -> None:
        raise AssertionError("an automaton was built")

    monkeypatch.setattr(construct, "build", built)
    for one in ruled:
        assert syntax.whole_automaton(one.name, one.whole_rule).states


@pytest.mark.parametrize("name", ["http", "urn", "tag"])
def test_an_automaton_that_is_ready_is_the_one_that_is_built(name: str) -> None:
    rule = scheme(name).whole_rule
    assert syntax.whole_automaton(name, rule) == syntax.whole_automaton("of-a-package", rule)


def test_other_rules_of_the_same_name_are_not_answered_by_the_ready_automaton() -> None:
    """As of a package that claims a built-in scheme, or of a grammar that was changed and not generated anew."""
    mine = syntax.whole_automaton("tag", 'tag-uri = "tag:" "mine"\nwhole-uri = tag-uri\n')
    assert mine.accepts("tag:mine")
    assert not mine.accepts("tag:joe@example.com,2001:a")


def test_packages_are_asked_where_one_names_schemes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(tmp_path))
    group = "overthere.schemes.of_this_test"
    assert not entry_points.is_named(group)
    about = tmp_path / "one-1.0.dist-info"
    about.mkdir()
    assert not entry_points.is_named(group)
    (about / "entry_points.txt").write_text("[console_scripts]\na = b:c\n")
    assert not entry_points.is_named(group)
    (about / "entry_points.txt").write_text(f"[{group}]\na = b:c\n")
    assert entry_points.is_named(group)


def test_what_cannot_be_looked_at_is_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    archive = tmp_path / "packages.zip"
    archive.write_bytes(b"")
    monkeypatch.syspath_prepend(str(archive))
    assert entry_points.is_named("no.such.group")


def test_other_finders_of_packages_are_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    class Finder:
        def find_spec(self, *_: object) -> None:
            return None

        def find_distributions(self, *_: object) -> list[object]:
            return []

    monkeypatch.setattr(sys, "meta_path", [*sys.meta_path, Finder()])
    assert entry_points.is_named("no.such.group")


def test_every_built_in_scheme_is_found() -> None:
    assert {one for one in BUILT_IN if not Registry.default().scheme(one).known} == set()
