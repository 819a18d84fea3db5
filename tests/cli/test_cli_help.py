"""The help of every command ends with examples, which run in a folder with `examples/`."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

import console
import generate_cli
from overthere.cli.app import VERBS, app
from overthere.cli.examples import EXAMPLES, Example
from servers import NET
from support import ROOT
from test_cli import run
from test_cli_newcomer import commands

EVERY = [(path, example) for path, examples in EXAMPLES.items() for example in examples]
RUN = [(path, example) for path, example in EVERY if not example.not_run]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("help")
    shutil.copytree(ROOT / "examples", root / "examples")
    return root


def test_every_command_has_examples() -> None:
    verbs = {" ".join(path) for path in commands(app)}
    assert verbs <= EXAMPLES.keys()
    assert {path.split()[0] for path in EXAMPLES} == {path.split()[0] for path in verbs}
    for path, examples in EXAMPLES.items():
        assert 2 <= len(examples) <= 4, path
        assert all(f"overthere {path.split()[0]}" in example.line for example in examples)


@pytest.mark.parametrize("path", EXAMPLES)
def test_help_ends_with_the_examples(path: str) -> None:
    text = run(*path.split(), "--help", columns=80).stdout
    assert text.endswith("Examples:\n" + "".join(f"    {example.line}\n" for example in EXAMPLES[path]))
    assert all(len(example.line) <= 90 for example in EXAMPLES[path])


def test_few_examples_are_not_run() -> None:
    """Those of `serve`, which runs until Ctrl-C, and those that need a network."""
    reasons = {(path, example.not_run) for path, example in EVERY if example.not_run}
    assert reasons == {
        ("get", "it needs a network"),
        ("broken", "it needs a network"),
        ("serve", "it ends with Ctrl-C"),
    }


@pytest.mark.parametrize(("path", "example"), RUN, ids=[example.line for _, example in RUN])
def test_an_example_runs(path: str, example: Example, folder: Path) -> None:
    result = console.run(example.line, folder)
    assert result.status == example.status, result.stdout + result.stderr
    assert "Traceback" not in result.stderr


@pytest.mark.parametrize("width", [60, 80, 120])
@pytest.mark.parametrize("verb", VERBS)
def test_help_fits_the_terminal(verb: str, width: int) -> None:
    """Except the examples, which are shell lines."""
    output = CliRunner().invoke(app, [verb, "--help"], terminal_width=width).stdout
    text = output[: output.index("Examples:")]
    assert [line for line in text.splitlines() if len(line) > width] == []


def test_every_command_has_its_pages() -> None:
    """tools/generate.py --check and tests/cli/test_console.py check their contents."""
    assert {page.stem for page in (ROOT / "docs" / "cli").glob("*.md")} == {*VERBS, "index"}


MANUALS = ROOT / "share" / "man" / "man1"


def test_every_command_has_its_manual() -> None:
    assert {page.name for page in MANUALS.iterdir()} == {"overthere.1", *(f"overthere-{verb}.1" for verb in VERBS)}


@pytest.mark.skipif(shutil.which("mandoc") is None, reason="mandoc is not installed")
@pytest.mark.parametrize("page", sorted(MANUALS.iterdir()), ids=lambda page: page.name)
def test_a_man_page_is_well_formed(page: Path) -> None:
    """Generated pages have no date; any other warning of mandoc is a fault."""
    lint = subprocess.run(
        ["mandoc", "-Tlint", "-Wwarning", str(page)], capture_output=True, text=True, timeout=5 * NET, check=False
    )
    assert [line for line in lint.stdout.splitlines() if "missing date" not in line] == []
    page_text = subprocess.run(
        ["mandoc", "-Tutf8", "-Owidth=80", str(page)], capture_output=True, text=True, timeout=5 * NET, check=True
    ).stdout
    text = re.sub(".\b", "", page_text)
    assert [line for line in text.splitlines() if len(line) > 80] == []
    continued = re.sub(r" \\\n +", " ", text)
    for example in EXAMPLES.get(page.stem.removeprefix("overthere-"), ()):
        assert example.line in continued


@pytest.mark.skipif(shutil.which("groff") is None, reason="groff is not installed")
def test_groff_reads_the_man_pages() -> None:
    for page in sorted(MANUALS.iterdir()):
        command = ["groff", "-ww", "-man", "-Tutf8", "-rLL=80n", str(page)]
        result = subprocess.run(command, capture_output=True, text=True, timeout=5 * NET, check=True)
        assert result.stderr == "", page.name


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_installed_completion_is_the_printed_one(shell: str) -> None:
    result = CliRunner().invoke(app, ["completion", shell])
    assert (ROOT / generate_cli.COMPLETIONS[shell]).read_text().strip() == result.stdout.strip()


def completed(folder: Path, words: str) -> list[str]:
    """The completions that bash offers for the last word, with the printed script."""
    script = folder / "complete.bash"
    script.write_text(
        'eval "$(overthere completion bash)"\n'
        "complete -p overthere >/dev/null || exit 3\n"
        f"COMP_WORDS=({words})\nCOMP_CWORD=$(({len(words.split())} - 1))\n"
        "_overthere_completion overthere\n"
        'printf "%s\\n" "${COMPREPLY[@]}"\n'
    )
    return shell(["bash", "--norc", str(script)]).splitlines()


def shell(command: list[str]) -> str:
    search = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    return subprocess.run(
        command, env={**os.environ, "PATH": search}, stdin=subprocess.DEVNULL, capture_output=True, text=True,
        timeout=5 * NET, check=True,
    ).stdout  # fmt: skip


def test_bash_completes(tmp_path: Path) -> None:
    assert completed(tmp_path, "overthere norm") == ["normalize"]
    assert completed(tmp_path, "overthere normalize --on") == ["--on-error"]
    assert completed(tmp_path, "overthere normalize --on-error s") == ["skip", "stop"]


@pytest.mark.skipif(shutil.which("fish") is None, reason="fish is not installed")
def test_fish_completes(tmp_path: Path) -> None:
    (tmp_path / "overthere.fish").write_text(shell([sys.executable, "-m", "overthere", "completion", "fish"]))
    script = f"source {tmp_path / 'overthere.fish'}; complete -C'overthere norm'"
    assert shell(["fish", "--no-config", "-c", script]).split()[0] == "normalize"


@pytest.mark.skipif(shutil.which("zsh") is None, reason="zsh is not installed")
def test_zsh_completes(tmp_path: Path) -> None:
    """zsh completes at a prompt only: its function gets the same input here."""
    (tmp_path / "overthere.zsh").write_text(shell([sys.executable, "-m", "overthere", "completion", "zsh"]))
    script = (
        "compdef() { :; }; compadd() { :; }; _describe() { print -l -- ${(P)3}; }; "
        f"source {tmp_path / 'overthere.zsh'}; words=(overthere norm); CURRENT=2; _overthere_completion"
    )
    assert "normalize:Write the normal form" in shell(["zsh", "-f", "-c", script])
