"""coap+tcp: the Constrained Application Protocol over TCP (RFC 8323 8.1)."""

from __future__ import annotations

from overthere.schemes.known.coap import facts
from overthere.schemes.model import Example

__all__ = ["SCHEME"]

SCHEME = facts(
    "coap+tcp",
    title="Constrained Application Protocol over TCP",
    examples=(Example("coap+tcp://example.com/~sensors/temp.xml", "RFC 8323 8.1, of our own"),),
    notes=("It is another scheme than coap, whose resources are not the same (RFC 8323 8.1).",),
)
