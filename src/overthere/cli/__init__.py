"""The command line: one file per verb, loaded when it is asked for."""

from __future__ import annotations

import sys
from typing import Any

__all__ = ["main"]


def main() -> None:
    """Run `overthere`; says in one line what to install where click or rich is missing."""
    streams: list[Any] = [sys.stdout, sys.stderr]
    if None in streams:
        raise SystemExit(2)  # closed: there is nobody to tell
    for stream in streams:
        # A character that the terminal's charset lacks is no reason to stop.
        if stream.encoding.lower() not in ("utf-8", "utf8") and hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    try:
        from overthere.cli.app import app

        app(prog_name="overthere")
    except ModuleNotFoundError as error:
        if error.name not in ("click", "rich"):
            raise
        print("overthere: the command line needs click and rich: pip install 'overthere[cli]'", file=sys.stderr)
        raise SystemExit(2) from None
