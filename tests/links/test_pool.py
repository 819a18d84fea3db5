"""Processes of the main job, and what ends them."""

from __future__ import annotations

import os
import signal

import pytest

from overthere.links.job.pool import _read, _to_buffer, _Worker
from overthere.links.model import Link, Options
from overthere.links.report.table import to_batch


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


def test_a_batch_is_what_was_sent() -> None:
    rest = (None,) * 8
    links = [
        Link(source, base, layer, f"r{number}", "a href", *rest)
        for number, (source, base, layer) in enumerate(
            [("a", "http://a/", "content"), ("a", "http://a/", "content"), ("a", "http://a/", None), ("b", None, None)]
            * 3
        )
    ]
    batch = to_batch(links)
    for part in (batch, batch.slice(1, 6), batch.slice(3, 1), batch.slice(5, 0)):
        found = _read(bytes(_to_buffer(part)))
        assert found == part
        assert found.schema == batch.schema  # type: ignore[union-attr]
