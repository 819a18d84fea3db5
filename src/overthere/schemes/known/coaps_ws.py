"""coaps+ws: the Constrained Application Protocol over secured WebSockets (RFC 8323 8.4)."""

from __future__ import annotations

from overthere.schemes.known.coap import facts
from overthere.schemes.model import Example

__all__ = ["SCHEME"]

SCHEME = facts(
    "coaps+ws",
    title="Constrained Application Protocol over secured WebSockets",
    examples=(Example("coaps+ws://example.com/~sensors/temp.xml", "RFC 8323 8.4, of our own"),),
    notes=("The WebSocket is that of wss://HOST:PORT/.well-known/coap (RFC 8323 8.4).",),
)
