"""Address lookup by the system's resolver, in threads; only addresses that the policy allows are returned.

The resolver has no timeout, and may never answer.

A thread that hangs does not keep the process alive, and at most `MOST` threads can hang: further questions wait for a
free thread, within the same time limit as for an answer.
"""

from __future__ import annotations

import os
import socket
from collections import deque
from collections.abc import Callable
from errno import EAGAIN
from ipaddress import ip_address
from threading import Lock, Thread
from typing import TYPE_CHECKING, Any

from overthere.access.errors import AccessFailed, AccessRefused

if TYPE_CHECKING:
    from overthere.access.policy import Policy
    from overthere.values.uri import URI

MOST = 32
"""The limit of lookups that run at once."""
DAY = 86_400.0
"""Seconds: the longest wait that every system supports."""


class Question:
    """A running lookup: `ready` is a socket that becomes readable when `answer` can be called; `close` it then.

    ask: a function that may block; `answer` returns its result, or raises its error.
    pool: the threads that call it; by default those of lookups.

    Raises: OSError if no socket or no thread can be created.
    """

    def __init__(self, ask: Callable[[], Any], pool: ThreadPool | None = None) -> None:
        self.ask = ask
        self.ready: socket.socket
        self.ready, self._writer = socket.socketpair()
        self._result: Any = None
        self._error: BaseException | None = None
        self._pool = pool or _pool_of_process
        try:
            self._pool.take(self)
        except OSError:
            self.close()
            raise

    def run(self) -> None:
        """Call `ask`; runs in a thread."""
        try:
            self._result = self.ask()
        except BaseException as error:
            self._error = error
        self._writer.close()

    def answer(self) -> Any:
        """Return the result of `ask`, or raise its error."""
        if self._error is not None:
            raise self._error
        return self._result

    def close(self) -> None:
        """Release the question; if no thread has started it, it is dropped."""
        self.ready.close()
        if self._pool.drop(self):
            self._writer.close()


class ThreadPool:
    """At most `most` threads, which run while there are questions."""

    def __init__(self, most: int = MOST) -> None:
        self.most: int = most
        self.lock: Lock = Lock()
        self.waiting: deque[Question] = deque()
        self.running: int = 0

    def take(self, question: Question) -> None:
        with self.lock:
            self.waiting.append(question)
            if self.running >= self.most:
                return
            self.running += 1
        try:
            Thread(target=self._work, daemon=True, name="overthere resolver").start()
        except RuntimeError as error:
            with self.lock:
                self.running -= 1
                is_alone = self.running == 0
            if is_alone:  # no other thread will run it
                raise OSError(EAGAIN, str(error)) from error

    def drop(self, question: Question) -> bool:
        with self.lock:
            if question in self.waiting:
                self.waiting.remove(question)
                return True
            return False

    def _work(self) -> None:
        while True:
            with self.lock:
                if not self.waiting:
                    self.running -= 1
                    return
                question = self.waiting.popleft()
            question.run()


_pool_of_process = ThreadPool()


def _reset_after_fork() -> None:
    """Start with an empty pool in a forked child, which does not have its parent's threads."""
    global _pool_of_process
    _pool_of_process = ThreadPool()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_reset_after_fork)


def allowed_addresses(answers: list[Any], policy: Policy, uri: URI | None) -> list[tuple[int, Any]]:
    """Return the addresses that the policy allows, in their order; the caller connects to exactly these.

    Raises: AccessRefused if no address is allowed; AccessFailed if there is no address.
    """
    allowed: dict[tuple[int, Any], None] = {}
    refused: AccessRefused | None = None
    for family, _, _, _, address in answers:
        try:
            policy.judge_address(ip_address(address[0]), uri)
        except AccessRefused as error:
            refused = refused or error
            continue
        allowed[family, address] = None
    if not allowed:
        raise refused or AccessFailed("the name has no address", uri=uri, where="the name")
    return list(allowed)
