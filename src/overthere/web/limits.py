"""Limits of the explainer: seconds, connections, worker processes."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Limits:
    """The limits of a server; all times in seconds."""

    reading: float = 10
    """From the beginning of a connection, or the end of the previous answer, until a request is read completely."""
    answering: float = 120
    """From then until its answer is written; a connection whose client does not read is then closed."""
    connections: int = 64
    """Connections at the same time; beyond that, the oldest without a complete request is closed."""
    view: float = 20
    """Until a view has answered; also the time that a request waits for a free worker."""
    workers: int = 4
    """Views that are computed at the same time."""
