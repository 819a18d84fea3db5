"""A pool of worker processes with a time limit: a view that takes too long ends with its process."""

from __future__ import annotations

import json
import signal
import threading
from collections.abc import Mapping
from contextlib import suppress
from multiprocessing.connection import Connection

from overthere.ground.processes import Child
from overthere.web.answers import Answer, Fault, Form, answer, decode_answer, encode_answer

__all__ = ["PoolClosed", "TooSlow", "Workers"]

_START = 60
"""Seconds for a process to begin, which are not the view's."""
_READY = b"ready"


class TooSlow(Exception):
    """The answer took too long; its process was ended."""


class PoolClosed(Exception):
    """The pool is closed."""


class Workers:
    """A pool of processes, started on demand; `close` ends them.

    seconds: for one answer; work: what answers, a function that a process can import.
    """

    def __init__(self, seconds: float, work: Form = answer) -> None:
        self.seconds = seconds
        self.work = work
        self._lock = threading.Lock()
        self._idle: list[_Worker] = []
        self._all: set[_Worker] = set()
        self._closed = False

    def answer(self, form: str, name: str, given: Mapping[str, str]) -> Answer:
        """The answer of an idle process, or of a new one; called from a thread, which waits for it.

        Raises: TooSlow; Closed; Fault for a fault of ours, or if the process died.
        """
        worker = self._take()
        try:
            reply = worker.ask(json.dumps([form, name, given]).encode(), self.seconds)
        except BaseException as error:
            self._drop(worker)
            if self._closed:
                raise PoolClosed from None
            if isinstance(error, EOFError | OSError):
                raise Fault("a worker process ended") from None
            raise
        with self._lock:
            self._idle.append(worker)
        return decode_answer(reply)

    def close(self) -> None:
        """End all processes, busy ones too."""
        with self._lock:
            self._closed = True
            workers = list(self._all)
        for worker in workers:
            self._drop(worker)

    def processes(self) -> list[int]:
        """The ids of the processes."""
        with self._lock:
            return [worker.process.pid for worker in self._all]

    def _take(self) -> _Worker:
        with self._lock:
            if self._closed:
                raise PoolClosed
            while self._idle:
                worker = self._idle.pop()
                if not worker.has_ended():
                    return worker
                self._all.discard(worker)
                worker.end()
            worker = _Worker(self.work)
            self._all.add(worker)
            return worker

    def _drop(self, worker: _Worker) -> None:
        with self._lock:
            self._all.discard(worker)
            with suppress(ValueError):
                self._idle.remove(worker)
        worker.end()


class _Worker:
    def __init__(self, work: Form) -> None:
        self.process = Child(_work, work)
        self.pipe = self.process.pipe
        self.begun = False

    def ask(self, request: bytes, seconds: float) -> bytes:
        if not self.begun:
            if not self.pipe.poll(_START):
                raise TooSlow
            self.pipe.recv_bytes()
            self.begun = True
        self.pipe.send_bytes(request)
        if not self.pipe.poll(seconds):
            raise TooSlow
        return self.pipe.recv_bytes()

    def has_ended(self) -> bool:
        """Whether its pipe has an end: between two answers nothing else comes of it."""
        return self.pipe.poll()

    def end(self) -> None:
        self.process.kill()
        self.process.join()
        # Its thread sees the end of the pipe; to close it here would take it from under that thread.


def _work(pipe: Connection, work: Form) -> None:
    # Ctrl-C is for the server: it ends its workers.  Without a server the pipe ends.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with suppress(EOFError, OSError):
        pipe.send_bytes(_READY)
        while True:
            pipe.send_bytes(encode_answer(work, pipe.recv_bytes()))
