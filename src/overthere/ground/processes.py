"""Worker processes that ignore Ctrl-C: their parent ends them."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["without_interrupts"]


@contextmanager
def without_interrupts() -> Iterator[None]:
    """A process that is started in here has SIGINT blocked from its first step on; here it comes a moment later."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    from multiprocessing import resource_tracker

    # The thread that starts the first process starts the tracker too, which unblocks the signal again.
    resource_tracker.ensure_running()
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
