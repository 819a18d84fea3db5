"""coaps+tcp: the Constrained Application Protocol over TLS (RFC 8323 8.2)."""

from __future__ import annotations

from overthere.schemes.known.coap import facts
from overthere.schemes.model import Example

__all__ = ["SCHEME"]

SCHEME = facts(
    "coaps+tcp",
    title="Constrained Application Protocol over TLS",
    examples=(Example("coaps+tcp://example.com/~sensors/temp.xml", "RFC 8323 8.2, of our own"),),
    notes=("It is another scheme than coaps, whose resources are not the same (RFC 8323 8.2).",),
)
