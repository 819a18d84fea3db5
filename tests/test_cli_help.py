"""The help of every verb ends with examples, and each of them runs in a folder that has `examples/`."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from overthere.cli.app import app
from overthere.cli.examples import EXAMPLES, Example
from servers import NET
from support import ROOT
from test_cli import run
from test_cli_newcomer import commands

EVERY = [(path, example) for path, examples in EXAMPLES.items() for example in examples]
RUN = [(path, example) for path, example in EVERY if not example.not_run]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("help")
    shutil.copytree(ROOT / "examples", made / "examples")
    return made


def test_every_verb_has_examples() -> None:
    verbs = {" ".join(path) for path in commands(app)}
    assert verbs <= EXAMPLES.keys()
    assert {path.split()[0] for path in EXAMPLES} == {path.split()[0] for path in verbs}
    for path, examples in EXAMPLES.items():
        assert 2 <= len(examples) <= 4, path
        assert all(f"overthere {path.split()[0]}" in example.line for example in examples)


@pytest.mark.parametrize("path", EXAMPLES)
def test_help_ends_with_them(path: str) -> None:
    told = run(*path.split(), "--help", columns=80).stdout
    assert told.endswith("Examples:\n" + "".join(f"    {example.line}\n" for example in EXAMPLES[path]))
    assert all(len(example.line) <= 90 for example in EXAMPLES[path])


def test_few_are_not_run() -> None:
    """Those of `serve`, which ends with Ctrl-C, and those that need a network."""
    reasons = {(path, example.not_run) for path, example in EVERY if example.not_run}
    assert reasons == {
        ("get", "it needs a network"),
        ("broken", "it needs a network"),
        ("serve", "it ends with Ctrl-C"),
    }


@pytest.mark.parametrize(("path", "example"), RUN, ids=[example.line for _, example in RUN])
def test_an_example_runs(path: str, example: Example, folder: Path) -> None:
    search = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        ["bash", "-c", example.line], cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, text=True,
        timeout=5 * NET, check=False, env={**os.environ, "PATH": search},
    )  # fmt: skip
    assert done.returncode == example.status, done.stdout + done.stderr
    assert "Traceback" not in done.stderr
