"""rtsp: a stream or a presentation by the Real-Time Streaming Protocol (RFC 7826 4.2; RFC 2326 3.2 before it).

Its locator, rules and facts serve rtsps and rtspu too.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

from overthere.schemes.hosted import HostLocator
from overthere.schemes.model import Example, Scheme, default_port

__all__ = ["PORTS", "SCHEME", "UNSPOKEN", "RTSPLocator", "syntax"]

PORTS = {"rtsp": 554, "rtsps": 322, "rtspu": 554}
"""The default ports (RFC 7826 4.2; RFC 2326 3.2)."""
RULES = {"rfc3986": ("rtsp-uri",)}


def syntax(name: str) -> str:
    """The rule of one of the three; a host there must be."""
    return f"""
{name}-uri  = "{name}:" "//" [ userinfo "@" ] rtsp-host [ ":" port ] path-abempty [ "?" query ]
rtsp-host = IP-literal / IPv4address / 1*( unreserved / pct-encoded / sub-delims )
"""


UNSPOKEN = "a stream takes the Real-Time Streaming Protocol (RFC 7826), which is not spoken here"


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class RTSPLocator(HostLocator):
    """Where a stream or a presentation is.

    >>> from overthere import URI
    >>> URI("rtsp://media.example.com:554/twister/audiotrack").locator
    RTSPLocator(host='media.example.com', port=554, path='/twister/audiotrack')
    """

    scheme: str = field(default="rtsp", kw_only=True)
    document: ClassVar[str] = "RFC 7826 4.2"


EXAMPLES = (
    Example("rtsp://media.example.com:554/twister/audiotrack", "RFC 2326 3.2", "one stream of a presentation"),
    Example("rtsp://media.example.com:554/twister", "RFC 2326 3.2", "the presentation"),
)

SCHEME = Scheme(
    name="rtsp",
    title="Real-Time Streaming Protocol",
    documents={"rfc3986": "RFC 7826 4.2"},
    locator=RTSPLocator,
    syntax=syntax("rtsp"),
    rules=RULES,
    port=PORTS["rtsp"],
    needs_host=True,
    lines=True,
    linkable=True,
    hierarchical=True,
    unspoken=UNSPOKEN,
    normal=(default_port(PORTS["rtsp"], "RFC 7826 4.2"),),
    examples=EXAMPLES,
    notes=("The hierarchy of a path is the server's own, and need not be that of a file system (RFC 2326 3.2).",),
)
