"""Every command with unwritable standard output: one line that names it, and no blamed file."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from overthere.cli.app import VERBS
from servers import NET
from support import ROOT

COMMANDS = {
    "explain": "explain http://h/",
    "check": "check http://h/",
    "split": "split http://h/",
    "resolve": "resolve --base http://h/ x",
    "repair": "repair http://h/a",
    "template": "template expand http://h/{x} x=1",
    "relate": "relate --base http://h/ http://h/x",
    "normalize": "normalize http://h/",
    "canonical": "canonical --form surt http://h/",
    "compare": "compare http://h/ http://H/",
    "encode": "encode a",
    "decode": "decode a",
    "parameters": "parameters http://h/?a=1",
    "build": "build --scheme http --host h --path /",
    "schemes": "schemes",
    "plan": "plan http://h/",
    "get": "get data:,hello",
    "editions": "editions",
    "find": "find README.md",
    "links": "links examples/site",
    "broken": "broken examples/site",
    "audit": "audit README.md",
    "serve": "serve --port 0",
    "completion": "completion bash",
}
OPTIONS = {
    "find html": "find README.md --format html",
    "get two": "get data:,hello data:,hello",
    "get a listing": "get file:///",
    "links as CSV": "links examples/site --format csv",
    "links as JSON lines": "links examples/site --format jsonl",
    "normalize as JSON lines": "normalize http://h/ --format jsonl",
    "links to -": "links examples/site -o -",
    "the graph": "links examples/site --distinct",
}
EVERY = {**COMMANDS, **OPTIONS}


def run(name: str, shell: str, unbuffered: str = "") -> tuple[int, str]:
    result = subprocess.run(
        ["bash", "-c", shell, "-", sys.executable, "-m", "overthere", *EVERY[name].split()],
        cwd=ROOT, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
        timeout=5 * NET, check=False, env={**os.environ, "PYTHONUNBUFFERED": unbuffered},
    )  # fmt: skip
    return result.returncode, result.stderr


def test_every_command_is_tested() -> None:
    assert COMMANDS.keys() == VERBS.keys()
    assert all(command.split()[0] == name for name, command in COMMANDS.items())


FULL = pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full")


@FULL
@pytest.mark.parametrize("unbuffered", ["", "1"])
@pytest.mark.parametrize("name", EVERY)
def test_a_full_device(name: str, unbuffered: str) -> None:
    expected = (2, "Error: standard output: No space left on device\n")
    assert run(name, '"$@" > /dev/full', unbuffered) == expected


@pytest.mark.parametrize("name", COMMANDS)
def test_a_closed_pipe_is_no_error(name: str) -> None:
    assert run(name, 'exec 3> >(exec true); wait $!; "$@" >&3') == (1, "")


@pytest.mark.parametrize("name", ["find", "explain"])
def test_closed_standard_output(name: str) -> None:
    assert run(name, '"$@" >&-') == (2, "Error: standard output: it is closed\n")


@FULL
@pytest.mark.parametrize("unbuffered", ["", "1"])
@pytest.mark.parametrize("target", ["/dev/full", ">(exec true)"])
@pytest.mark.parametrize(
    "arguments",
    ["normalize ://[ http://h/", "find README.md", "links --format csv examples/site", "broken examples/site"],
)
def test_lost_messages_change_no_answer(arguments: str, target: str, unbuffered: str) -> None:
    def answer(standard_error: str) -> tuple[int, bytes]:
        shell = f'exec 3> {standard_error}; sleep 0.1; "$@" 2>&3'
        result = subprocess.run(
            ["bash", "-c", shell, "-", sys.executable, "-m", "overthere", *arguments.split()],
            cwd=ROOT, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, timeout=5 * NET, check=False,
            env={**os.environ, "PYTHONUNBUFFERED": unbuffered},
        )  # fmt: skip
        return result.returncode, result.stdout

    assert answer(target) == answer("/dev/null")
