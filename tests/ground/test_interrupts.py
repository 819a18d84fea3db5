"""An interrupt while CPython holds a module lock is delayed: it is not lost, and the lock is released."""

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
"""Like the callback of a module lock, during which a signal arrives."""


@pytest.mark.parametrize("number", SIGNALS)
@pytest.mark.parametrize("file", [LOCKING, weakref.__file__])
def test_an_interrupt_in_the_import_machinery_is_delayed(file: str, number: signal.Signals) -> None:
    names: dict[str, Any] = {"send": signal.raise_signal, "number": number}
    exec(compile(CALLBACK, file, "exec"), names)
    thing: set[str] | None = set()
    reference = weakref.ref(thing, names["callback"])
    before = signal.signal(number, signal.default_int_handler)
    try:
        with interruptible(number):
            thing = None  # Python ignores what a callback raises
            with pytest.raises(KeyboardInterrupt):
                time.sleep(10)
        assert signal.getsignal(number) is signal.default_int_handler
    finally:
        signal.signal(number, before)
    assert reference() is None


WITHOUT_ERRORS = {
    "__set_name__": "Named = type('Named', (), {'value': type('Descriptor', (), {'__set_name__': callback})()})",
    "__del__": "type('Freed', (), {'__del__': callback})()",
    "weakref_cb": "reference = weakref.ref(Value(), callback)",
}
"""Calls in which CPython ignores a KeyboardInterrupt, or raises another error, by the name of the function."""


@pytest.mark.parametrize("number", SIGNALS)
@pytest.mark.parametrize("name", WITHOUT_ERRORS)
def test_an_interrupt_in_a_callback_is_delayed(name: str, number: signal.Signals, capfd: Any) -> None:
    names: dict[str, Any] = {
        "send": signal.raise_signal,
        "number": number,
        "weakref": weakref,
        "Value": set,
        "sleep": time.sleep,
    }
    exec(f"def {name}(*_):\n    send(number)\n    number + 1\ncallback = {name}", names)
    before = signal.signal(number, signal.default_int_handler)
    try:
        with interruptible(number), pytest.raises(KeyboardInterrupt):
            exec(WITHOUT_ERRORS[name] + "; sleep(10)", names)
    finally:
        signal.signal(number, before)
    assert capfd.readouterr().err == ""


def test_an_interrupt_elsewhere_is_immediate() -> None:
    with pytest.raises(KeyboardInterrupt):
        interrupt(signal.SIGINT, None)


def test_a_handler_of_the_application_is_not_replaced() -> None:
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
from overthere.links.job import running
names = dict(send=signal.raise_signal, number=int(sys.argv.pop()))
exec(compile({CALLBACK!r}, {LOCKING!r}, "exec"), names)
run = running.run
def interrupted(*arguments, **named):
    holder = set()
    reference = weakref.ref(holder, names["callback"])
    del holder
    time.sleep(5)
    yield from run(*arguments, **named)
running.run = interrupted
main()
"""


@pytest.mark.parametrize("number", SIGNALS)
def test_an_interrupt_stops_the_command_links(number: signal.Signals, tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text("<a href=b>")
    command = [sys.executable, "-P", "-c", STOPPED, "links", "-o", "a.csv", "a.html", str(int(number))]
    result = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False)
    assert result.returncode == 130, result.stderr
    assert "Exception ignored" not in result.stderr


STOPPED_TWICE = """
import signal
signal.signal(signal.SIGINT, signal.default_int_handler)
from overthere.cli import main
from overthere.files.tables.writer import Writer
from overthere.links.job import extraction
def send(*_):
    signal.raise_signal(signal.SIGINT)
    return 1 + 1
run = extraction.run
def interrupted(*arguments, **named):
    try:
        yield from run(*arguments, **named)
    finally:
        send()
extraction.run, Writer.write = interrupted, send
main()
"""


def test_a_second_interrupt_while_the_readers_stop_leaves_no_traceback(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text("<a href=b>")
    command = [sys.executable, "-P", "-c", STOPPED_TWICE, "links", "-o", "a.csv", "a.html"]
    result = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False)
    assert result.returncode == 130, result.stderr
    assert "Traceback" not in result.stderr


ENDED = """
import signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)
from overthere.cli import command
def send():
    signal.raise_signal(signal.SIGINT)
    return 1 + 1
{where}
command()
"""
PLACES = {
    "before a verb": "from overthere.cli import group; group.Verbs.make_context = lambda *_, **__: send()",
    "in the report of another": "import builtins, overthere.cli.app as verbs\n"
    "verbs.app = builtins.print = lambda *_, **__: send()",
    "at the end": "import atexit; atexit.register(send)",
}


@pytest.mark.parametrize("place", PLACES)
def test_an_interrupt_leaves_no_traceback(place: str) -> None:
    code = ENDED.format(where=PLACES[place])
    result = subprocess.run(
        [sys.executable, "-P", "-c", code, "check", "a:"], capture_output=True, text=True, timeout=60
    )
    assert result.returncode in (130, -signal.SIGINT)
    assert result.stderr in ("Stopped\n", "")
