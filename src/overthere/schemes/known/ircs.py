"""ircs: Internet Relay Chat over TLS (draft-butcher-irc-url-04; RFC 7194)."""

from __future__ import annotations

from overthere.schemes.known.irc import facts
from overthere.schemes.model import Example

__all__ = ["SCHEME"]

SCHEME = facts(
    "ircs",
    title="Internet Relay Chat over TLS",
    tls=True,
    protocol="irc",
    examples=(Example("ircs://irc.example.com:6697/%23help", "of our own", "a channel"),),
)
