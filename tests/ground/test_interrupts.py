"""An interrupt while CPython locks a module is neither lost nor leaves the lock: it comes a moment later."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
import weakref
from pathlib import Path
from typing import Any

import pytest

from overthere.ground.interrupts import interrupt, interruptible

SIGNALS = [signal.SIGINT, signal.SIGTERM]
LOCKING = "<frozen importlib._bootstrap>"
CALLBACK = "def callback(reference):\n    send(number)\n    number + 1"
"""As that of a lock of a module, within which a signal comes."""


@pytest.mark.parametrize("number", SIGNALS)
def test_it_comes_a_moment_later(number: signal.Signals) -> None:
    names: dict[str, Any] = {"send": signal.raise_signal, "number": number}
    exec(compile(CALLBACK, LOCKING, "exec"), names)
    thing: set[str] | None = set()
    reference = weakref.ref(thing, names["callback"])
    before = signal.signal(number, signal.default_int_handler)
    try:
        with interruptible(number):
            thing = None  # Python loses what a callback raises
            with pytest.raises(KeyboardInterrupt):
                time.sleep(10)
        assert signal.getsignal(number) is signal.default_int_handler
    finally:
        signal.signal(number, before)
    assert reference() is None


def test_it_comes_at_once_elsewhere() -> None:
    with pytest.raises(KeyboardInterrupt):
        interrupt(signal.SIGINT, None)


def test_a_handler_of_others_stays() -> None:
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with interruptible(signal.SIGINT):
            assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGINT, before)


STOPPED = f"""
import signal, sys, time, weakref
signal.signal(signal.SIGINT, signal.default_int_handler)
from overthere.cli import main
from overthere.links.job import pool
names = dict(send=signal.raise_signal, number=int(sys.argv.pop()))
exec(compile({CALLBACK!r}, {LOCKING!r}, "exec"), names)
run = pool.run
def interrupted(*arguments, **named):
    holder = set()
    reference = weakref.ref(holder, names["callback"])
    del holder
    time.sleep(5)
    yield from run(*arguments, **named)
pool.run = interrupted
main()
"""


@pytest.mark.parametrize("number", SIGNALS)
def test_links_is_stopped(number: signal.Signals, tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text("<a href=b>")
    command = [sys.executable, "-P", "-c", STOPPED, "links", "-o", "a.csv", "a.html", str(int(number))]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 130, done.stderr
    assert "Exception ignored" not in done.stderr
