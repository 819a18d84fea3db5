"""coaps: the Constrained Application Protocol over DTLS (RFC 7252 6.2)."""

from __future__ import annotations

from overthere.schemes.known.coap import facts
from overthere.schemes.model import Example

__all__ = ["SCHEME"]

SCHEME = facts(
    "coaps",
    title="Constrained Application Protocol over DTLS",
    examples=(Example("coaps://example.com/~sensors/temp.xml", "RFC 7252 6.2, of our own"),),
    notes=("DTLS secures the datagrams (RFC 7252 9.1).",),
)
