"""Address lookup by the system's resolver, in own threads; only addresses that the policy allows are returned.

It knows no time-out, and may never answer.

A thread that hangs keeps no process alive; and no more than `MOST` can: a further question waits for its turn, and no
longer than for an answer.
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

__all__ = ["MOST", "Question", "allowed_addresses"]

MOST = 32
"""How many look-ups are under way at once."""


class Question:
    """A look-up under way: `ready` is a socket that becomes readable when `answer` can be taken; `close` it then.

    ask: what is asked, a function that may block; what it gives is the answer, what it raises is raised by `answer`.

    Raises: OSError where there is no socket or no thread for it.
    """

    def __init__(self, ask: Callable[[], Any]) -> None:
        self.ask = ask
        self.ready: socket.socket
        self.ready, self._there = socket.socketpair()
        self._given: Any = None
        self._error: BaseException | None = None
        self._asked = _threads
        try:
            self._asked.take(self)
        except OSError:
            self.close()
            raise

    def run(self) -> None:
        """Ask; called in a thread."""
        try:
            self._given = self.ask()
        except BaseException as error:
            self._error = error
        self._there.close()

    def answer(self) -> Any:
        """What was answered.  Raises: what the asking has raised."""
        if self._error is not None:
            raise self._error
        return self._given

    def close(self) -> None:
        """Nothing waits any more: questions not yet begun are dropped."""
        self.ready.close()
        if self._asked.drop(self):
            self._there.close()


class _Threads:
    """Threads that live as long as there is something to ask."""

    def __init__(self) -> None:
        self.lock = Lock()
        self.waiting: deque[Question] = deque()
        self.running = 0

    def take(self, question: Question) -> None:
        with self.lock:
            self.waiting.append(question)
            if self.running >= MOST:
                return
            self.running += 1
        try:
            Thread(target=self._work, daemon=True, name="overthere resolver").start()
        except RuntimeError as error:
            with self.lock:
                self.running -= 1
                is_alone = self.running == 0
            if is_alone:  # no other thread will take it
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


_threads = _Threads()


def _reset_after_fork() -> None:
    """A forked child has none of its parent's threads."""
    global _threads
    _threads = _Threads()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_reset_after_fork)


def allowed_addresses(answers: list[Any], policy: Policy, uri: URI | None) -> list[tuple[int, Any]]:
    """The addresses that the policy lets be connected, in their order: what was judged is what is connected.

    Raises: AccessRefused if there is none.
    """
    kept: list[tuple[int, Any]] = []
    refused: AccessRefused | None = None
    for family, _, _, _, address in answers:
        try:
            policy.judge_address(ip_address(address[0]), uri)
        except AccessRefused as error:
            refused = refused or error
            continue
        if (family, address) not in kept:
            kept.append((family, address))
    if not kept:
        raise refused or AccessFailed("the name has no address", uri=uri, where="the name")
    return kept
