"""The modules that a command imports before it answers: they determine its start time."""

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
    "pathlib",
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
    "overthere.files.tables.writer",
)
"""Modules that take milliseconds to import, or do work that a valid URI does not need."""


def loaded(*arguments: str, kernel: str) -> set[str]:
    code = (
        "import sys; from overthere.cli import main\n"
        "try:\n    main()\n"
        "finally:\n    found = sorted(sys.modules); import json; print(json.dumps(found), file=sys.stderr)\n"
    )
    return set(json.loads(_ran(code, *arguments, kernel=kernel)))


def _ran(code: str, *arguments: str, kernel: str) -> str:
    """The last line of standard error."""
    result = subprocess.run(
        [sys.executable, "-c", code, *arguments],
        capture_output=True,
        text=True,
        check=True,
        timeout=5 * NET,
        env={**os.environ, "OVERTHERE_KERNEL": kernel},
    )
    return result.stderr.splitlines()[-1]


@pytest.mark.parametrize("kernel", ["", "reference"])
@pytest.mark.parametrize(
    "text", ["http://example.com/a?b#c", "urn:isbn:0451450523", "mailto:joe@example.com", "no-such-scheme:a"]
)
def test_checking_a_valid_uri_imports_no_modules_for_errors(text: str, kernel: str) -> None:
    modules = loaded("check", text, kernel=kernel)
    assert "overthere.cli.check" in modules
    assert modules.isdisjoint(HEAVY)


@pytest.mark.parametrize("kernel", ["", "reference"])
@pytest.mark.parametrize("verb", [("split", "http://a/b"), ("resolve", "b", "--base", "http://a/")])
def test_commands_without_schemes_import_none(verb: tuple[str, ...], kernel: str) -> None:
    modules = loaded(*verb, kernel=kernel)
    assert f"overthere.cli.{verb[0]}" in modules
    core = {
        "overthere.schemes.registry",
        "overthere.grammar",
        "overthere.values.findings",
        "overthere.editions.resolution",
    }
    assert modules.isdisjoint({*HEAVY, *core, "dataclasses", "json"})


@pytest.mark.parametrize("text", ["http://a/", "https://a/b?c", "urn:isbn:0451450523"])
def test_looking_up_a_rule_does_not_parse_the_grammar(text: str) -> None:
    modules = loaded("explain", text, kernel="")
    assert "overthere.editions.url1994" in modules
    assert modules.isdisjoint({"overthere.grammar.abnf", "overthere.grammar.construct"})


@pytest.mark.parametrize("kernel", ["", "reference"])
def test_a_valid_uri_compiles_no_unused_expressions(kernel: str) -> None:
    """The native kernel parses it; expressions of the reference kernel and for passwords take milliseconds."""
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
def test_the_version_imports_no_command(kernel: str) -> None:
    modules = loaded("--version", kernel=kernel)
    assert "overthere.cli.app" in modules
    verbs = {name for name in modules if name.startswith("overthere.")}
    assert modules.isdisjoint(
        (*HEAVY, "overthere.grammar", "overthere.schemes", "overthere.files.tables", "overthere.values.uri")
    )
    assert not {"overthere.cli.check", "overthere.cli.common"} & verbs


def test_an_error_imports_the_modules_for_errors() -> None:
    """This shows that the list is up to date."""
    assert "overthere.values.derivation" in loaded("check", "http:/a", kernel="")


def test_each_scheme_with_rules_has_a_prebuilt_automaton(monkeypatch: pytest.MonkeyPatch) -> None:
    ruled = [entry for entry in map(scheme, sorted(BUILT_IN)) if "rfc3986" in entry.rules]
    assert len(ruled) > 40

    def built(*_: object) -> None:
        raise AssertionError("an automaton was built")

    monkeypatch.setattr(construct, "build", built)
    for name in ruled:
        assert syntax.whole_automaton(name.name, name.whole_rule).states


@pytest.mark.parametrize("name", ["http", "urn", "tag"])
def test_prebuilt_automata_equal_built_ones(name: str) -> None:
    rule = scheme(name).whole_rule
    assert syntax.whole_automaton(name, rule) == syntax.whole_automaton("of-a-package", rule)


def test_changed_rules_do_not_use_the_prebuilt_automaton() -> None:
    """For a package that replaces a built-in scheme, or a grammar that was not regenerated."""
    first = syntax.whole_automaton("tag", 'tag-uri = "tag:" "mine"\nwhole-uri = tag-uri\n')
    assert first.accepts("tag:mine")
    assert not first.accepts("tag:joe@example.com,2001:a")


def test_packages_are_searched_if_one_has_schemes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
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


def test_unreadable_path_entries_are_searched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    archive = tmp_path / "packages.zip"
    archive.write_bytes(b"")
    monkeypatch.syspath_prepend(str(archive))
    assert entry_points.is_named("no.such.group")


def test_other_package_finders_are_searched(monkeypatch: pytest.MonkeyPatch) -> None:
    class Finder:
        def find_spec(self, *_: object) -> None:
            return None

        def find_distributions(self, *_: object) -> list[object]:
            return []

    monkeypatch.setattr(sys, "meta_path", [*sys.meta_path, Finder()])
    assert entry_points.is_named("no.such.group")


def test_every_built_in_scheme_is_found() -> None:
    assert {name for name in BUILT_IN if not Registry.default().scheme(name).known} == set()
