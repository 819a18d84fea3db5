"""The explainer on a socket, by uvicorn; the requests are logged nowhere."""

from __future__ import annotations

import socket

from overthere.extras import brought_by
from overthere.web.server import application

with brought_by("web"):
    import uvicorn

__all__ = ["serve", "server"]


def server(*, loopback: bool = True) -> uvicorn.Server:
    """A server that is not running yet."""
    config = uvicorn.Config(
        application(loopback=loopback),
        http="h11",
        ws="none",
        lifespan="off",
        access_log=False,
        log_level="warning",
        server_header=False,
        limit_concurrency=64,
        timeout_keep_alive=5,
        # The longest query that is read (two texts, all escaped), and the rest of a request's head.
        h11_max_incomplete_event_size=1 << 18,
    )
    return uvicorn.Server(config)


def serve(listening: socket.socket, *, loopback: bool = True) -> None:
    """Serve on a socket that listens, until Ctrl-C."""
    server(loopback=loopback).run(sockets=[listening])
