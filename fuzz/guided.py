"""A Python target of `make fuzz`, on inputs that the coverage of overthere finds.

    python fuzz/guided.py TARGET [options of libFuzzer] [folders or files]

Needs atheris.
"""

from __future__ import annotations

import contextlib
import shlex
import sys
from importlib import import_module
from typing import Any


def main() -> None:
    atheris: Any = import_module("atheris")
    target = sys.argv[1]
    # libFuzzer starts itself again by its first argument, in a shell, when it merges or minimises.
    itself = shlex.join([sys.executable, *sys.argv[:2]])
    with atheris.instrument_imports(include=["overthere"], exclude=["overthere.grammar"]):
        law = import_module(f"laws.{target}")
        # Many modules are imported when first used: later imports would have no coverage.
        seeds = list(law.seeds())
        for data in seeds[:: len(seeds) // 200 + 1]:
            with contextlib.suppress(Exception):
                law.check(data)
    atheris.Setup([itself, *sys.argv[2:]], law.check)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
