"""wss: a WebSocket connection through TLS (RFC 6455 3)."""

from __future__ import annotations

from overthere.schemes.known.http import PORTS, HTTPLocator
from overthere.schemes.known.ws import NOTES, syntax
from overthere.schemes.model import Example, Scheme, default_port, slash_for_empty_path

__all__ = ["SCHEME"]

RULES = {"rfc3986": ("wss-uri",)}

EXAMPLES = (Example("wss://example.com/chat", "RFC 6455 4.1, with the secure flag", "GET /chat, after TLS"),)

SCHEME = Scheme(
    name="wss",
    title="WebSocket connection through TLS",
    documents={"rfc3986": "RFC 6455 3"},
    locator=HTTPLocator,
    syntax=syntax("wss"),
    rules=RULES,
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
    examples=EXAMPLES,
    notes=NOTES,
)
