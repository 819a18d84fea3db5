"""Ctrl-C and SIGTERM while modules are imported."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import FrameType

_LOSING_FILES = ("<frozen importlib._bootstrap>", "weakref.py", "_weakrefset.py")
_CALLBACKS = {"__del__", "__set_name__", "weakref_cb"}
"""Files and functions whose exceptions CPython ignores or replaces: locks of modules, and callbacks."""


def interrupt(number: int, frame: FrameType | None) -> None:
    """Raise KeyboardInterrupt, as the handler of a signal; a moment later where CPython would lose it.

    While CPython locks a module to import it, the lock would stay: other threads would wait for it without end.
    In a callback, CPython prints the exception and ignores it, or raises RuntimeError.
    """
    if frame is not None and (frame.f_code.co_filename.endswith(_LOSING_FILES) or _is_in_callback(frame)):
        with suppress(RuntimeError):  # no thread is available
            threading.Timer(0.01, _send_to_main_thread, (number,)).start()
            return
    raise KeyboardInterrupt


def _is_in_callback(frame: FrameType | None) -> bool:
    while frame is not None and frame.f_code.co_name not in _CALLBACKS:
        frame = frame.f_back
    return frame is not None


def _send_to_main_thread(number: int) -> None:
    if hasattr(signal, "pthread_kill"):
        signal.pthread_kill(threading.main_thread().ident or 0, number)  # also ends its wait for a lock
    else:
        signal.raise_signal(number)


@contextmanager
def interruptible(number: int) -> Iterator[None]:
    """Handle a signal by `interrupt` where it is Python's own or the system's; only in the main thread."""
    before = signal.getsignal(number)
    is_main = threading.current_thread() is threading.main_thread()  # only this thread receives signals
    if not is_main or before not in (signal.SIG_DFL, signal.default_int_handler):
        yield
        return
    signal.signal(number, interrupt)
    try:
        yield
    finally:
        signal.signal(number, before)
