"""Inputs of `make fuzz`: every dialogue has a conversation, every law holds for its seeds; findings are reported."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from overthere.schemes.registry import Registry
from support import ROOT

FUZZ = ROOT / "fuzz"
sys.path.append(str(FUZZ))

from conversations import WITHOUT_SERVER, conversations  # noqa: E402
from laws import NAMES  # noqa: E402


def test_every_dialogue_has_a_conversation() -> None:
    registry = Registry.default()
    spoken = {name for name in registry if registry.scheme(name).access is not None}
    schemes = {conversation.uri.partition(":")[0] for conversation in conversations()}
    assert schemes | WITHOUT_SERVER.keys() >= spoken
    assert not schemes & WITHOUT_SERVER.keys()
    assert len(conversations()) <= 256  # a byte selects one


def run(program: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(FUZZ / program), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT, timeout=600)


# The seeds of the others are thousands of rows that other tests use.
@pytest.mark.parametrize(
    "law",
    [
        "dialogues",
        "mail",
        "warc",
        "archives",
        "terminal",
        "integrations",
        "letter",
        "shortest",
        "older",
        "names",
        "keys",
        "dropin",
    ],
)
def test_a_law_holds_for_its_seeds(law: str) -> None:
    assert law in NAMES
    result = run("mutation.py", law, "--inputs", "0")
    assert result.returncode == 0, result.stdout
    assert int(result.stdout.split()[0]) >= 8


PLANTED = """
WORDS, LONGEST, AFTER = (), 16, "a test"

def check(data: bytes) -> None:
    assert data != {wrong!r}, "planted"

def seeds():
    yield from (b"a", b"b")
"""


@pytest.mark.parametrize(("wrong", "status"), [(b"b", 1), (b"what no seed says", 0)])
def test_a_finding_is_reported_and_the_status_is_1(wrong: bytes, status: int, tmp_path: Path) -> None:
    """The runner with a broken law: message, log and exit status."""
    for name in ("runner", "mutation", "guided", "seeds"):
        (tmp_path / "fuzz").mkdir(exist_ok=True)
        (tmp_path / "fuzz" / f"{name}.py").write_text((FUZZ / f"{name}.py").read_text())
    (tmp_path / "fuzz" / "laws").mkdir()
    (tmp_path / "fuzz" / "laws" / "__init__.py").write_text((FUZZ / "laws" / "__init__.py").read_text())
    (tmp_path / "fuzz" / "laws" / "text.py").write_text(PLANTED.format(wrong=wrong))
    (tmp_path / "tests").symlink_to(ROOT / "tests", target_is_directory=True)
    command = [sys.executable, str(tmp_path / "fuzz" / "runner.py"), "--seconds", "2", "text"]
    result = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path, timeout=600)
    assert result.returncode == status, result.stdout + result.stderr
    entry = json.loads((tmp_path / "fuzz" / "log.jsonl").read_text())
    assert (entry["target"], entry["findings"], entry["executions"] > 0) == ("text", status, True)
    assert ("A finding of text, b'b', in fuzz" + os.sep in result.stdout) == bool(status)
    assert ("planted" in result.stdout) == bool(status)
