"""The command line: one file per verb, loaded when it is asked for."""

from __future__ import annotations

import sys

__all__ = ["main"]


def main() -> None:
    """Run `overthere`; says in one line what to install where click or rich is missing."""
    try:
        from overthere.cli.app import app
    except ModuleNotFoundError as error:
        if error.name not in ("click", "rich"):
            raise
        print("overthere: the command line needs click and rich: pip install 'overthere[cli]'", file=sys.stderr)
        raise SystemExit(2) from None
    app(prog_name="overthere")
