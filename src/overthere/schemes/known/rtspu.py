"""rtspu: the Real-Time Streaming Protocol over unreliable datagrams (RFC 2326 3.2)."""

from __future__ import annotations

from overthere.schemes.known.rtsp import facts
from overthere.schemes.model import Example

__all__ = ["SCHEME"]

SCHEME = facts(
    "rtspu",
    "RFC 2326 3.2",
    title="Real-Time Streaming Protocol over datagrams",
    examples=(Example("rtspu://media.example.com/twister/audiotrack", "RFC 2326 3.2, of our own"),),
    notes=("RTSP 2.0 has no transport by datagrams, and leaves the name unused (RFC 7826 4.2).",),
)
