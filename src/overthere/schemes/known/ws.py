"""ws: a WebSocket connection (RFC 6455 3).

Its facts serve wss too.
"""

from __future__ import annotations

from typing import Any

from overthere.schemes.known.http import PORTS, HTTPLocator
from overthere.schemes.model import Example, Scheme, default_port, slash_for_empty_path


def _facts(name: str, **fields: Any) -> Scheme:
    """Return the scheme of one of the two names: no userinfo, and an empty host is not excluded (RFC 6455 3)."""
    return Scheme(
        name=name,
        documents={"rfc3986": "RFC 6455 3"},
        locator=HTTPLocator,
        syntax=f"""
{name}-uri = "{name}:" "//" host [ ":" port ] path-abempty [ "?" query ]
""",
        rules={"rfc3986": (f"{name}-uri",)},
        port=PORTS[name],
        by_proxy="tunnel",
        needs_host=True,
        no_userinfo="RFC 6455 3",
        hierarchical=True,
        access="websocket",
        normal=(default_port(PORTS[name], "RFC 6455 3"), slash_for_empty_path("RFC 6455 3")),
        no_fragment="RFC 6455 3",
        notes=("A fragment has no meaning and must not be used (RFC 6455 3).", "There is no userinfo (RFC 6455 3)."),
        **fields,
    )


SCHEME = _facts(
    "ws",
    title="WebSocket connection",
    examples=(
        Example("ws://example.com/chat", "RFC 6455 4.1", "GET /chat"),
        Example("ws://server.example.com/chat?room=1", "RFC 6455 3, of our own", "the query is sent"),
    ),
)

WSS = _facts(
    "wss",
    title="WebSocket connection through TLS",
    tls=True,
    protocol="ws",
    examples=(Example("wss://example.com/chat", "RFC 6455 4.1, with the secure flag", "GET /chat, after TLS"),),
)
"""wss: a WebSocket connection through TLS (RFC 6455 3)."""
