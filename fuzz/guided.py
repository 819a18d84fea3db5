"""The Python targets of `make fuzz`: both kernels and the columns on inputs that the coverage of overthere finds.

    python fuzz/guided.py kernels|columns [options of libFuzzer] [folders]

An input is a base, and texts after it, each on its line.  Needs atheris.
"""

from __future__ import annotations

import shlex
import sys
from importlib import import_module
from typing import Any

TARGETS = ("kernels", "columns")


def main() -> None:
    atheris: Any = import_module("atheris")
    target = sys.argv[1]
    # libFuzzer starts itself again by its first argument, in a shell, when it merges or minimises.
    itself = shlex.join([sys.executable, *sys.argv[:2]])
    with atheris.instrument_imports(include=["overthere"], exclude=["overthere.grammar"]):
        differential: Any = import_module("differential")
    differ = differential.of_kernels if target == "kernels" else differential.of_columns
    # A str may hold what no UTF-8 text holds; a column cannot.
    errors = "surrogateescape" if target == "kernels" else "replace"

    def one_input(data: bytes) -> None:
        lines = data.decode("utf-8", errors).split("\n")[:6]
        found = differ(lines, lines[0])
        if found:
            raise AssertionError("\n  ".join(["no agreement:", *found]))

    atheris.Setup([itself, *sys.argv[2:]], one_input)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
