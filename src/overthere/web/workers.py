"""A pool of worker processes with a time limit: a process whose view takes too long is killed."""

from __future__ import annotations

import json
import signal
import threading
from collections.abc import Mapping
from contextlib import suppress
from multiprocessing.connection import Connection

from overthere.ground.processes import Child
from overthere.web.answers import Answer, Fault, Form, answer, decode_answer, encode_answer

_START_TIMEOUT = 60
"""Seconds for the start of a process, which do not count for the view."""
_READY = b"ready"


class TooSlow(Exception):
    """The answer, or the start of its process, took too long; the process was killed."""


class PoolClosed(Exception):
    """The pool is closed."""


class Workers:
    """A pool of processes, started on demand; `close` ends them.

    seconds: limit for one answer; work: the function that answers, which a process must be able to import.
    """

    def __init__(self, seconds: float, work: Form = answer) -> None:
        self.seconds = seconds
        self.work = work
        self._lock = threading.Lock()
        self._idle_workers: list[_Worker] = []
        self._workers: set[_Worker] = set()
        self._closed = False

    def answer(self, form: str, name: str, inputs: Mapping[str, str]) -> Answer:
        """Return the answer of an idle process, or of a new one; called from a thread, which waits for it.

        Raises: TooSlow; PoolClosed; Fault for a bug of this library, or if the process died.
        """
        worker = self._get_worker()
        try:
            reply = worker.ask(json.dumps([form, name, inputs]).encode(), self.seconds)
        except BaseException as error:
            self._drop(worker)
            worker.pipe.close()  # the traceback, which may be in a cycle, refers to it
            if self._closed:
                raise PoolClosed from None
            if isinstance(error, EOFError | OSError):
                raise Fault("a worker process ended") from None
            raise
        with self._lock:
            self._idle_workers.append(worker)
        return decode_answer(reply)

    def close(self) -> None:
        """End all processes, including busy ones."""
        with self._lock:
            self._closed = True
            workers = list(self._workers)
        for worker in workers:
            self._drop(worker)

    def processes(self) -> list[int]:
        """Return the ids of the processes."""
        with self._lock:
            return [worker.process.pid for worker in self._workers]

    def _get_worker(self) -> _Worker:
        with self._lock:
            if self._closed:
                raise PoolClosed
            while self._idle_workers:
                worker = self._idle_workers.pop()
                if not worker.has_ended():
                    return worker
                self._workers.discard(worker)
                worker.end()
            worker = _Worker(self.work)
            self._workers.add(worker)
            return worker

    def _drop(self, worker: _Worker) -> None:
        with self._lock:
            self._workers.discard(worker)
            with suppress(ValueError):
                self._idle_workers.remove(worker)
        worker.end()


class _Worker:
    def __init__(self, work: Form) -> None:
        self.process = Child(_serve_answers, work)
        self.pipe = self.process.pipe
        self.is_ready = False

    def ask(self, request: bytes, seconds: float) -> bytes:
        if not self.is_ready:
            if not self.pipe.poll(_START_TIMEOUT):
                raise TooSlow
            self.pipe.recv_bytes()
            self.is_ready = True
        self.pipe.send_bytes(request)
        if not self.pipe.poll(seconds):
            raise TooSlow
        return self.pipe.recv_bytes()

    def has_ended(self) -> bool:
        """Whether the process has ended: between answers only the end of the pipe makes it readable."""
        return self.pipe.poll()

    def end(self) -> None:
        self.process.kill()
        self.process.join()
        # The thread of an answer sees the end of the pipe; closing the pipe here would break that thread.


def _serve_answers(pipe: Connection, work: Form) -> None:
    # The server handles Ctrl-C and ends its workers.  Without a server the pipe ends.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with suppress(EOFError, OSError):
        pipe.send_bytes(_READY)
        while True:
            pipe.send_bytes(encode_answer(work, pipe.recv_bytes()))
