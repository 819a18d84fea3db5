"""rtsps: the Real-Time Streaming Protocol over TLS (RFC 7826 4.2)."""

from __future__ import annotations

from overthere.schemes.known.rtsp import PORTS, UNSPOKEN, RTSPLocator, syntax
from overthere.schemes.model import Example, Scheme, default_port

__all__ = ["SCHEME"]

SCHEME = Scheme(
    name="rtsps",
    title="Real-Time Streaming Protocol over TLS",
    documents={"rfc3986": "RFC 7826 4.2"},
    locator=RTSPLocator,
    syntax=syntax("rtsps"),
    rules={"rfc3986": ("rtsps-uri",)},
    port=PORTS["rtsps"],
    tls=True,
    protocol="rtsp",
    needs_host=True,
    lines=True,
    linkable=True,
    hierarchical=True,
    unspoken=UNSPOKEN,
    normal=(default_port(PORTS["rtsps"], "RFC 7826 4.2"),),
    examples=(Example("rtsps://media.example.com/twister/audiotrack", "RFC 7826 4.2, of our own"),),
    notes=("RTSP 2.0 says that TLS secures the connection (RFC 7826 4.2, 19).",),
)
