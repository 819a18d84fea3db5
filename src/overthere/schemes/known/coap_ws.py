"""coap+ws: the Constrained Application Protocol over WebSockets (RFC 8323 8.3)."""

from __future__ import annotations

from overthere.schemes.known.coap import facts
from overthere.schemes.model import Example

__all__ = ["SCHEME"]

SCHEME = facts(
    "coap+ws",
    title="Constrained Application Protocol over WebSockets",
    examples=(Example("coap+ws://example.com/~sensors/temp.xml", "RFC 8323 8.3, of our own"),),
    notes=("The WebSocket is that of ws://HOST:PORT/.well-known/coap (RFC 8323 8.3).",),
)
