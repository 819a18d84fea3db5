"""Limits of the explainer: seconds, connections, worker processes."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Limits"]


@dataclass(frozen=True)
class Limits:
    """The limits of a server; all times in seconds."""

    reading: float = 10
    """From the beginning of a connection, or the end of the answer before, until a whole request is read."""
    answering: float = 120
    """From there until its answer is written; a client that does not read is closed."""
    connections: int = 64
    """At once; when there are more, the oldest of them that has not sent a whole request is closed."""
    view: float = 20
    """For the answer of a view; also how long a request waits for a free worker."""
    workers: int = 4
    """Views that are worked out at once."""
