"""Lines of a console: `overthere` with plain arguments in this process, all else as bash runs it."""

from __future__ import annotations

import contextlib
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

from click.testing import CliRunner

from overthere.cli.app import app
from servers import NET

_PLAIN = re.compile(r"overthere(?: +(?:[\w./:@%=,#+-]+|'[^'\n]*'))+")
"""Words in which bash sees nothing but themselves."""


class Done(NamedTuple):
    """The result of a line."""

    status: int
    stdout: str
    stderr: str


def run(line: str, folder: Path, columns: int = 100) -> Done:
    """A line in a folder, with nothing to read and no terminal."""
    if _PLAIN.fullmatch(line):
        runner = CliRunner(env={"COLUMNS": str(columns)}, catch_exceptions=False)
        with contextlib.chdir(folder):
            result = runner.invoke(app, shlex.split(line)[1:], prog_name="overthere")
        return Done(result.exit_code, result.stdout, result.stderr)
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    process = subprocess.run(
        ["bash", "-c", line], cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=5 * NET,
        check=False, env={**os.environ, "PATH": path, "COLUMNS": str(columns)},
    )  # fmt: skip
    return Done(process.returncode, process.stdout, process.stderr)
