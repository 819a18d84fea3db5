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


class Server(uvicorn.Server):
    """A server that first ends its worker processes, without waiting for their answers."""

    def __init__(self, config: uvicorn.Config, workers: Workers) -> None:
        super().__init__(config)
        self.workers: Workers = workers

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self.workers.close()
        await super().shutdown(sockets)


def server(*, loopback: bool = True, limits: Limits | None = None, work: Form = answer) -> Server:
    """Return a server that is not running yet.

    work: an importable function with which a worker process answers.
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
        # Enough for the longest query (two texts, all escaped) and the rest of a request's head.
        h11_max_incomplete_event_size=1 << 18,
    )
    return Server(config, workers)


def serve(listening: socket.socket, *, loopback: bool = True) -> None:
    """Serve on a listening socket until Ctrl-C."""
    web_server = server(loopback=loopback)
    try:
        web_server.run(sockets=[listening])
    finally:
        web_server.workers.close()
