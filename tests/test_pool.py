"""Processes of the main job, and what ends them."""

from __future__ import annotations

import os
import signal

import pytest

from overthere.links.model import Options
from overthere.links.pool import _Worker


@pytest.mark.skipif(not hasattr(signal, "pthread_sigmask"), reason="signals are blocked on POSIX only")
def test_an_interrupt_ends_no_worker() -> None:
    """Ctrl-C reaches every process of the terminal: one that is only beginning dies of it, with a traceback."""
    workers = [_Worker(Options()) for _ in range(2)]
    try:
        for worker in workers:
            assert worker.process.pid is not None
            os.kill(worker.process.pid, signal.SIGINT)
        for worker in workers:
            worker.pipe.send(None)
            worker.process.join(120)
            assert worker.process.exitcode == 0
    finally:
        for worker in workers:
            worker.end()
    assert signal.SIGINT not in signal.pthread_sigmask(signal.SIG_BLOCK, ())
