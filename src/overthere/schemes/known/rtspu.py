"""rtspu: the Real-Time Streaming Protocol over unreliable datagrams (RFC 2326 3.2)."""

from __future__ import annotations

from overthere.schemes.known.rtsp import PORTS, UNSPOKEN, RTSPLocator, syntax
from overthere.schemes.model import Example, Scheme, default_port

__all__ = ["SCHEME"]

SCHEME = Scheme(
    name="rtspu",
    title="Real-Time Streaming Protocol over datagrams",
    documents={"rfc3986": "RFC 2326 3.2"},
    locator=RTSPLocator,
    syntax=syntax("rtspu"),
    rules={"rfc3986": ("rtspu-uri",)},
    port=PORTS["rtspu"],
    protocol="rtsp",
    needs_host=True,
    lines=True,
    linkable=True,
    hierarchical=True,
    unspoken=UNSPOKEN,
    normal=(default_port(PORTS["rtspu"], "RFC 2326 3.2"),),
    examples=(Example("rtspu://media.example.com/twister/audiotrack", "RFC 2326 3.2, of our own"),),
    notes=("RTSP 2.0 has no transport by datagrams, and leaves the name unused (RFC 7826 4.2).",),
)
