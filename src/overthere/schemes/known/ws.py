"""ws: a WebSocket connection (RFC 6455 3)."""

from __future__ import annotations

from overthere.schemes.known.http import PORTS, HTTPLocator
from overthere.schemes.model import Example, Scheme, default_port, slash_for_empty_path

__all__ = ["SCHEME", "WSS"]


def syntax(name: str) -> str:
    """The rule of ws or wss: no userinfo, and no word against an empty host (RFC 6455 3)."""
    return f"""
{name}-uri = "{name}:" "//" host [ ":" port ] path-abempty [ "?" query ]
"""


NOTES = ("A fragment means nothing here and must not be used (RFC 6455 3).", "There is no userinfo (RFC 6455 3).")

SCHEME = Scheme(
    name="ws",
    title="WebSocket connection",
    documents={"rfc3986": "RFC 6455 3"},
    locator=HTTPLocator,
    syntax=syntax("ws"),
    rules={"rfc3986": ("ws-uri",)},
    port=PORTS["ws"],
    by_proxy="tunnel",
    needs_host=True,
    no_userinfo="RFC 6455 3",
    hierarchical=True,
    access="websocket",
    normal=(default_port(PORTS["ws"], "RFC 6455 3"), slash_for_empty_path("RFC 6455 3")),
    no_fragment="RFC 6455 3",
    examples=(
        Example("ws://example.com/chat", "RFC 6455 4.1", "GET /chat"),
        Example("ws://server.example.com/chat?room=1", "RFC 6455 3, of our own", "the query is sent"),
    ),
    notes=NOTES,
)

WSS = Scheme(
    name="wss",
    title="WebSocket connection through TLS",
    documents={"rfc3986": "RFC 6455 3"},
    locator=HTTPLocator,
    syntax=syntax("wss"),
    rules={"rfc3986": ("wss-uri",)},
    port=PORTS["wss"],
    tls=True,
    protocol="ws",
    by_proxy="tunnel",
    needs_host=True,
    no_userinfo="RFC 6455 3",
    hierarchical=True,
    access="websocket",
    normal=(default_port(PORTS["wss"], "RFC 6455 3"), slash_for_empty_path("RFC 6455 3")),
    no_fragment="RFC 6455 3",
    examples=(Example("wss://example.com/chat", "RFC 6455 4.1, with the secure flag", "GET /chat, after TLS"),),
    notes=NOTES,
)
"""wss: a WebSocket connection through TLS (RFC 6455 3)."""
