"""rtsps: the Real-Time Streaming Protocol over TLS (RFC 7826 4.2)."""

from __future__ import annotations

from overthere.schemes.known.rtsp import facts
from overthere.schemes.model import Example

__all__ = ["SCHEME"]

SCHEME = facts(
    "rtsps",
    "RFC 7826 4.2",
    title="Real-Time Streaming Protocol over TLS",
    tls=True,
    examples=(Example("rtsps://media.example.com/twister/audiotrack", "RFC 7826 4.2, of our own"),),
    notes=("RTSP 2.0 says that TLS secures the connection (RFC 7826 4.2, 19).",),
)
