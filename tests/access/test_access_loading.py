"""The package that opens a scheme: it is named by `access`, and its modules are imported on demand."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

import overthere
from overthere import Policy, Registry, RegistryError, plan
from overthere.access.planning import plan_under
from overthere.schemes import Access, Scheme
from support import ROOT

PROTOCOLS = ROOT / "src/overthere/protocols"
STEPS = """
from dataclasses import replace
from overthere.access import Content
def steps(locator, credentials):
    yield Content(source="x", media_type="text/plain", data=locator.path.encode())
def configured(locator, policy):
    return replace(locator, path="/configured", written=None) if locator.path == "/" else locator
"""
DIALOGUE = """
from overthere.access.wire import Data, Head
def dialogue(plan, policy):
    yield Head("text/x-own")
    yield Data(plan.steps[0].data.upper())
"""


def test_each_scheme_names_a_folder_of_a_protocol_and_each_folder_is_named() -> None:
    registry = Registry.default()
    named = {str(access) for name in registry if (access := registry.scheme(name).access) is not None}
    assert named == {file.parent.name for file in PROTOCOLS.glob("*/steps.py")}
    assert named == {folder.name for folder in PROTOCOLS.iterdir() if folder.is_dir() and folder.name != "__pycache__"}


def opening(access: str | Access, name: str = "x-own") -> Registry:
    return Registry.default().with_(Scheme(name=name, title="x", documents={"rfc3986": "x"}, access=access))


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A foreign package, `own_scheme.protocol`."""
    folder = tmp_path / "own_scheme" / "protocol"
    folder.mkdir(parents=True)
    (folder.parent / "__init__.py").touch()
    (folder / "__init__.py").touch()
    (folder / "steps.py").write_text(STEPS)
    monkeypatch.syspath_prepend(tmp_path)
    for name in ("own_scheme", "own_scheme.protocol", "own_scheme.protocol.steps", "own_scheme.protocol.dialogue"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    return folder


def test_a_package_without_a_dialogue_sends_its_plan(folder: Path) -> None:
    registry = opening("own_scheme.protocol")
    with overthere.open("x-own:/a", Policy.local(), registry=registry) as resource:
        assert (resource.media_type, resource.read()) == ("text/plain", b"/a")


def test_a_dialogue_is_loaded_when_it_is_opened(folder: Path) -> None:
    (folder / "dialogue.py").write_text(DIALOGUE)
    registry = opening("own_scheme.protocol")
    assert len(plan("x-own:/a", registry=registry).steps) == 1
    assert "own_scheme.protocol.dialogue" not in sys.modules
    with overthere.open("x-own:/a", Policy.local(), registry=registry) as resource:
        assert (resource.media_type, resource.read()) == ("text/x-own", b"/A")


def test_the_package_may_replace_the_locator(folder: Path) -> None:
    registry = opening("own_scheme.protocol")
    assert plan("x-own:/", registry=registry).uri == "x-own:/"
    assert plan_under(Policy(), "x-own:/", registry=registry).uri == "x-own:/configured"
    with overthere.open("x-own:/", Policy.local(), registry=registry) as resource:
        assert (str(resource.uri), resource.read()) == ("x-own:/configured", b"/configured")


@pytest.mark.parametrize(
    ("access", "reason"),
    [
        ("no_such.package", "access of 'x-own', no_such.package.steps: No module named 'no_such'"),
        ("nosuchprotocol", "overthere.protocols.nosuchprotocol.steps: No module named"),
        ("own_scheme.empty", "has no module of steps: 'own_scheme.empty'"),
        ("own_scheme.wrong", "own_scheme.wrong.steps, has no function 'steps'"),
    ],
)
def test_a_missing_package_is_reported(access: str, reason: str, folder: Path) -> None:
    for name in ("empty", "wrong"):
        (folder.parent / name).mkdir()
        (folder.parent / name / "__init__.py").touch()
    (folder.parent / "wrong/steps.py").touch()
    with pytest.raises(RegistryError, match=reason):
        plan("x-own:/a", registry=opening(access))


@pytest.mark.parametrize("access", ["", "a:b", "a..b", ".a", "a/b", "1a"])
def test_an_invalid_package_name_is_rejected(access: str) -> None:
    with pytest.raises(RegistryError, match="is not a package"):
        opening(access)


@pytest.mark.parametrize(
    ("text", "reason"), [("import no_such_library\n", "no_such_library"), ("", "has no function 'dialogue'")]
)
def test_a_dialogue_that_cannot_be_imported(text: str, reason: str, folder: Path) -> None:
    (folder / "dialogue.py").write_text(text)
    with pytest.raises(RegistryError, match=reason):
        overthere.open("x-own:/a", Policy.local(), registry=opening("own_scheme.protocol"))
