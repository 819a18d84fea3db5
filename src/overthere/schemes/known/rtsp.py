"""rtsp: a stream or a presentation by the Real-Time Streaming Protocol (RFC 7826 4.2; RFC 2326 3.2 before it).

Its locator, rules and facts serve rtsps and rtspu too.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

from overthere.schemes.host_locator import HostLocator
from overthere.schemes.model import Example, Scheme, default_port

PORTS = {"rtsp": 554, "rtsps": 322, "rtspu": 554}
"""The default ports (RFC 7826 4.2; RFC 2326 3.2)."""


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class RTSPLocator(HostLocator):
    """The host and the path of a stream or a presentation.

    >>> from overthere import URI
    >>> URI("rtsp://media.example.com:554/twister/audiotrack").locator
    RTSPLocator(host='media.example.com', port=554, path='/twister/audiotrack')
    """

    scheme: str = field(default="rtsp", kw_only=True)
    document: ClassVar[str] = "RFC 7826 4.2"


def _facts(name: str, source: str, **fields: Any) -> Scheme:
    """Return the scheme of one of the three names, by the paragraph that defines it; a host is required."""
    return Scheme(
        name=name,
        documents={"rfc3986": source},
        locator=RTSPLocator,
        syntax=f"""
{name}-uri  = "{name}:" "//" [ userinfo "@" ] rtsp-host [ ":" port ] path-abempty [ "?" query ]
rtsp-host = IP-literal / IPv4address / 1*( unreserved / pct-encoded / sub-delims )
""",
        rules={"rfc3986": (f"{name}-uri",)},
        port=PORTS[name],
        protocol="" if name == "rtsp" else "rtsp",
        needs_host=True,
        lines=True,
        linkable=True,
        hierarchical=True,
        unspoken="a stream takes the Real-Time Streaming Protocol (RFC 7826), which overthere does not speak",
        normal=(default_port(PORTS[name], source),),
        **fields,
    )


SCHEME = _facts(
    "rtsp",
    "RFC 7826 4.2",
    title="Real-Time Streaming Protocol",
    examples=(
        Example("rtsp://media.example.com:554/twister/audiotrack", "RFC 2326 3.2", "one stream of a presentation"),
        Example("rtsp://media.example.com:554/twister", "RFC 2326 3.2", "the presentation"),
    ),
    notes=("The hierarchy of a path is the server's own, and need not be that of a file system (RFC 2326 3.2).",),
)

RTSPS = _facts(
    "rtsps",
    "RFC 7826 4.2",
    title="Real-Time Streaming Protocol over TLS",
    tls=True,
    examples=(Example("rtsps://media.example.com/twister/audiotrack", "RFC 7826 4.2, of our own"),),
    notes=("RTSP 2.0 says that TLS secures the connection (RFC 7826 4.2, 19).",),
)
"""rtsps: the Real-Time Streaming Protocol over TLS (RFC 7826 4.2)."""

RTSPU = _facts(
    "rtspu",
    "RFC 2326 3.2",
    title="Real-Time Streaming Protocol over datagrams",
    examples=(Example("rtspu://media.example.com/twister/audiotrack", "RFC 2326 3.2, of our own"),),
    notes=("RTSP 2.0 has no transport by datagrams, and leaves the name unused (RFC 7826 4.2).",),
)
"""rtspu: the Real-Time Streaming Protocol over unreliable datagrams (RFC 2326 3.2)."""
