"""The command line: one file per verb, loaded when it is asked for."""

from __future__ import annotations

import os
import sys
from typing import Any

__all__ = ["main"]


def main() -> None:
    """Run `overthere`.  In one line, with exit 2: what to install where click or rich is missing, and why standard
    output cannot be written.
    """
    streams: list[Any] = [sys.stdout, sys.stderr]
    if None in streams:
        raise SystemExit(2)  # closed: there is nobody to tell
    for stream in streams:
        # A character that the terminal's charset lacks is no reason to stop.
        if stream.encoding.lower() not in ("utf-8", "utf8") and hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    try:
        from overthere.cli.app import app

        code = _run(app)
    except ModuleNotFoundError as error:
        if error.name not in ("click", "rich"):
            raise
        print("overthere: the command line needs click and rich: pip install 'overthere[cli]'", file=sys.stderr)
        raise SystemExit(2) from None
    raise SystemExit(code)


def _run(app: Any) -> Any:
    """The exit code of the verb; what it has written is out then, or it is said that it is not."""
    code: Any = None
    try:
        app(prog_name="overthere")
    except SystemExit as end:
        code = end.code
    except OSError as error:  # of standard output: what becomes of other files is said by the verb
        code = _unwritten(error)
    try:
        sys.stdout.flush()
    except OSError as error:
        code = code if code == 2 else _unwritten(error)
        # Python would try it once more, and tell it with a traceback.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return code


def _unwritten(error: OSError) -> int:
    print(f"Error: standard output: {error.strerror or error}", file=sys.stderr)
    return 2
