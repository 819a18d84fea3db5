"""Install the project with pip; show the progress of the Rust build (`crate 12 of 42`) and the time of both.

python tools/install.py PIP-ARGUMENT...
"""

from __future__ import annotations

import re
import subprocess
import sys
import time
from collections import deque
from pathlib import Path

RUST = Path(__file__).resolve().parent.parent / "rust"
_COMPILING = re.compile(r"\s*Compiling (\S+) v")
_LAST = 40
"""Lines of pip's that are shown where it fails."""


def count_crates() -> int:
    """The crates that a build compiles; 0 where that cannot be known."""
    command = ["cargo", "tree", "--package", "overthere-python", "--edges", "normal,build", "--prefix", "none"]
    try:
        result = subprocess.run(command, cwd=RUST, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return 0
    return len({line.partition(" (")[0] for line in result.stdout.splitlines() if line.strip()})


def install(arguments: list[str]) -> int:
    """Run pip.  Returns: its exit status."""
    start = time.monotonic()
    crates = seen = 0
    failed = False
    lines: deque[str] = deque(maxlen=_LAST)
    command = [sys.executable, "-P", "-m", "pip", "install", "--verbose", "--progress-bar", "off", *arguments]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace"
    ) as pip:
        for line in pip.stdout or ():
            lines.append(line)
            failed = failed or "error: could not compile" in line
            if (crate := _COMPILING.match(line)) is None:
                continue
            if not seen:
                print("Building the Rust kernel, once", flush=True)
                crates = count_crates()
            seen += 1
            of = f" of {max(crates, seen)}" if crates else ""
            show(f"  crate {seen}{of}: {crate[1]}", is_last=seen >= crates > 0)
    if pip.returncode:
        print("".join(lines), file=sys.stderr)
    elif failed:
        print("The Rust kernel could not be built: the package is installed without it", file=sys.stderr)
    else:
        print(f"{'Built and installed' if seen else 'Installed'} in {time.monotonic() - start:.0f} s")
    return pip.returncode


def show(text: str, *, is_last: bool) -> None:
    """In a terminal each line takes the place of the one before; elsewhere every tenth is a line of its own."""
    if sys.stdout.isatty():
        print(f"\r\033[K{text}", end="\n" if is_last else "", flush=True)
    elif is_last or int(text.split()[1]) % 10 == 0:
        print(text, flush=True)


if __name__ == "__main__":
    sys.exit(install(sys.argv[1:]))
