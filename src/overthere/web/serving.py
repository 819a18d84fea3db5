"""Serves the explainer with uvicorn; requests are not logged."""

from __future__ import annotations

import socket

from overthere.ground.extras import brought_by
from overthere.web.answers import Form, answer
from overthere.web.connection import connection_type
from overthere.web.limits import Limits
from overthere.web.server import application
from overthere.web.workers import Workers

with brought_by("web"):
    import uvicorn

__all__ = ["Server", "serve", "server"]


class Server(uvicorn.Server):
    """A server that ends its worker processes first: it does not wait for their answers."""

    def __init__(self, config: uvicorn.Config, workers: Workers) -> None:
        super().__init__(config)
        self.workers: Workers = workers

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self.workers.close()
        await super().shutdown(sockets)


def server(*, loopback: bool = True, limits: Limits | None = None, work: Form = answer) -> Server:
    """A server that is not running yet.

    work: what a worker process answers with; a function that it can import.
    """
    limits = limits or Limits()
    workers = Workers(limits.view, work)
    config = uvicorn.Config(
        application(loopback=loopback, limits=limits, workers=workers),
        http=connection_type(limits),
        ws="none",
        lifespan="off",
        access_log=False,
        log_level="warning",
        server_header=False,
        timeout_keep_alive=5,
        timeout_graceful_shutdown=5,
        # The longest query that is read (two texts, all escaped), and the rest of a request's head.
        h11_max_incomplete_event_size=1 << 18,
    )
    return Server(config, workers)


def serve(listening: socket.socket, *, loopback: bool = True) -> None:
    """Serve on a socket that listens, until Ctrl-C."""
    running = server(loopback=loopback)
    try:
        running.run(sockets=[listening])
    finally:
        running.workers.close()
