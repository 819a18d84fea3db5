"""tools/install.py shows the progress of a build, and pip's output if it fails."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

import install


@pytest.fixture
def pip(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A replacement for pip, which a test writes."""
    program = tmp_path / "python"
    program.write_text("")
    program.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(program))
    monkeypatch.setattr(install, "count_crates", lambda: 12)
    return program


def test_crates_are_counted(pip: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pip.write_text('#!/bin/sh\nfor n in $(seq 12); do echo "     Compiling crate-$n v1.0"; done\necho "$@"\n')
    assert install.install(["--editable", "."]) == 0
    *lines, last = capsys.readouterr().out.splitlines()
    assert lines == ["Building the Rust kernel, once", "  crate 10 of 12: crate-10", "  crate 12 of 12: crate-12"]
    assert last.startswith("Built and installed in ")


def test_no_build_is_reported_where_nothing_is_built(pip: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pip.write_text("#!/bin/sh\necho Successfully installed\n")
    assert install.install(["."]) == 0
    assert capsys.readouterr().out.startswith("Installed in ")


def test_the_output_of_a_failure_is_shown(pip: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pip.write_text("#!/bin/sh\necho no such package\nexit 3\n")
    assert install.install(["no-such"]) == 3
    assert capsys.readouterr().err.strip() == "no such package"


def test_a_missing_kernel_is_reported(pip: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pip.write_text("#!/bin/sh\necho '  Compiling a v1'\necho 'error: could not compile `a` (lib)'\n")
    assert install.install(["."]) == 0
    assert "without it" in capsys.readouterr().err
