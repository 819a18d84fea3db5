"""Run the tests on the installed kernel, then those that show a kernel's answers on the reference kernel; time both.

python tools/run_tests.py MARKS [ROOM] [-- PYTEST-ARGUMENT...]

MARKS is the half of the tests (tests/marks.toml): "exhaustive" or "not exhaustive".
"""

from __future__ import annotations

import os
import subprocess
import sys
import time

NO_TESTS = 5
"""pytest's exit status; a room may have no test of a half."""


def run(marks: str, room: str, arguments: list[str], **environment: str) -> tuple[int, float]:
    """Run pytest.  Returns: its exit status, the seconds that it took."""
    start = time.monotonic()
    command = [sys.executable, "-P", "-m", "pytest", *arguments, "-m", marks, *[f"tests/{room}"] * bool(room)]
    status = subprocess.run(command, env=os.environ | environment, check=False).returncode
    return 0 if room and status == NO_TESTS else status, time.monotonic() - start


def is_native() -> bool:
    """Whether the installed package has the native kernel."""
    code = "import overthere; raise SystemExit(overthere.kernel.name != 'native')"
    return subprocess.run([sys.executable, "-P", "-c", code], check=False).returncode == 0


def more_workers(options: list[str]) -> list[str]:
    """Replace `-n auto` by a worker more than there are processors: the tests of `make test` wait for servers.

    >>> more_workers(["-n", "auto", "-x"])[2:], more_workers(["-n", "0"])
    (['-x'], ['-n', '0'])
    """
    return [str((os.cpu_count() or 1) + 1) if option == "auto" else option for option in options]


def main(arguments: list[str]) -> int:
    """Run both parts; the second only if the first passes and has run natively.  Returns: the exit status."""
    at = arguments.index("--") if "--" in arguments else len(arguments)
    marks, room, options = arguments[0], "".join(arguments[1:at]), arguments[at + 1 :]
    native = is_native()
    status, seconds = run(marks, room, more_workers(options) if marks == "not exhaustive" else options)
    parts = [f"{'native' if native else 'reference'} kernel {seconds:.0f} s"]
    if native and not status:
        print("\nThe tests of a kernel's answers, on the reference kernel:", flush=True)
        status, seconds = run(f"kernel and {marks}", room, options, OVERTHERE_KERNEL="reference")
        parts.append(f"reference kernel {seconds:.0f} s")
    print(f"\nTime of the tests: {', '.join(parts)}", flush=True)
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
