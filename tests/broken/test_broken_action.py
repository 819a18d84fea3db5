"""The GitHub Action and the hook of pre-commit: their own commands, run on a site that is whole and on a broken one."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from support import ROOT

yaml: Any = import_module("yaml")


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """An `overthere` on the path that is the one under test."""
    command = tmp_path / "bin" / "overthere"
    command.parent.mkdir()
    command.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m overthere "$@"\n')
    command.chmod(0o755)
    (tmp_path / "a b").mkdir()
    (tmp_path / "a b" / "whole.html").write_text("<a href=/docs/whole.html>")
    (tmp_path / "whole.html").write_text("<a href=/docs/whole.html><a href=#top>")
    (tmp_path / "broken.html").write_text("<a href=nope.html>")
    return {**os.environ, "PATH": f"{command.parent}{os.pathsep}{os.environ['PATH']}"}


def _check(environment: dict[str, str], folder: Path, **inputs: str) -> subprocess.CompletedProcess[str]:
    """The step "Check", with inputs as GitHub puts them into the environment."""
    action = yaml.safe_load((ROOT / "action.yml").read_text("utf-8"))
    values = {name: one["default"] for name, one in action["inputs"].items()} | inputs
    (step,) = (one for one in action["runs"]["steps"] if one["name"] == "Check")
    named = {name: values[text[3:-2].strip().removeprefix("inputs.")] for name, text in step["env"].items()}
    # GitHub runs bash so: docs.github.com, "shell: bash".
    command = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]]
    return subprocess.run(
        command, cwd=folder, env={**environment, **named}, capture_output=True, text=True, check=False, timeout=60
    )


@pytest.mark.parametrize(
    ("inputs", "code", "told"),
    [
        ({"sources": "whole.html", "base": "https://h/docs/"}, 0, "no broken links"),
        ({"sources": "whole.html broken.html"}, 1, "1 no-document"),
        ({"sources": "broken.html", "arguments": "--only no-fragment"}, 0, "1 error"),
        ({"sources": "absent.html"}, 2, "no such file"),
        ({"sources": "$(touch made) `touch made`"}, 2, "no such file"),
        ({"sources": "--fix"}, 2, "no such file"),
    ],
)
def test_the_step_of_the_action(
    environment: dict[str, str], tmp_path: Path, inputs: dict[str, str], code: int, told: str
) -> None:
    done = _check(environment, tmp_path, **inputs)
    assert done.returncode == code, done.stderr
    assert told in done.stderr
    assert not (tmp_path / "made").exists()


def test_the_action_writes_for_code_scanning(environment: dict[str, str], tmp_path: Path) -> None:
    done = _check(environment, tmp_path, sources="broken.html", sarif="found.sarif")
    assert (done.returncode, done.stdout) == (1, "")
    (result,) = json.loads((tmp_path / "found.sarif").read_text("utf-8"))["runs"][0]["results"]
    assert result["ruleId"] == "no-document"


def test_the_command_of_the_hook(environment: dict[str, str], tmp_path: Path) -> None:
    """Its entry with names of files behind it, as pre-commit calls it."""
    (hook,) = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text("utf-8"))
    for files, code in ((["whole.html", "a b/whole.html"], 0), (["whole.html", "broken.html"], 1)):
        command = [*shlex.split(hook["entry"]), *files]
        done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, check=False, timeout=60)
        assert done.returncode == code, done.stderr
