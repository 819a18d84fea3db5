"""coap: a resource by the Constrained Application Protocol (RFC 7252 6; RFC 8323 8).

The five related schemes of RFC 7252 and RFC 8323 share its locator, rules and facts.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

from overthere.schemes.host_locator import HostLocator, decoded
from overthere.schemes.model import Example, Scheme, default_port, slash_for_empty_path

PORTS = {"coap": 5683, "coaps": 5684, "coap+tcp": 5683, "coaps+tcp": 5684, "coap+ws": 80, "coaps+ws": 443}
"""The default ports (RFC 7252 6.1, 6.2; RFC 8323 8.1 to 8.4)."""
SOURCES = {
    "coap": "RFC 7252 6.1",
    "coaps": "RFC 7252 6.2",
    "coap+tcp": "RFC 8323 8.1",
    "coaps+tcp": "RFC 8323 8.2",
    "coap+ws": "RFC 8323 8.3",
    "coaps+ws": "RFC 8323 8.4",
}


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class CoAPLocator(HostLocator):
    """The host, the path and the query of a resource.

    >>> from overthere import URI
    >>> there = URI("coap://h/~sensors/temp.xml?a&b=%26").locator
    >>> there.uri_path, there.uri_query
    (('~sensors', 'temp.xml'), ('a', 'b=&'))
    """

    scheme: str = field(default="coap", kw_only=True)
    document: ClassVar[str] = "RFC 7252 6.1, RFC 8323 8"

    @property
    def uri_path(self) -> tuple[str, ...]:
        """The values of the Uri-Path options: none for "" and for "/" (RFC 7252 6.4, step 8)."""
        return () if self.path in ("", "/") else self.segments

    @property
    def uri_query(self) -> tuple[str, ...]:
        """The values of the Uri-Query options: the arguments between "&" (RFC 7252 6.4, step 9)."""
        arguments = [] if self.query is None else self.query.split("&")
        return tuple(map(decoded, arguments))


def _facts(name: str, **fields: Any) -> Scheme:
    """The scheme of one of the six names."""
    source = SOURCES[name]
    rule = name.replace("+", "-") + "-uri"
    syntax = f"""
{rule}  = "{name}:" "//" coap-host [ ":" port ] path-abempty [ "?" query ]
coap-host = IP-literal / IPv4address / 1*( unreserved / pct-encoded / sub-delims )
"""
    return Scheme(
        name=name,
        documents={"rfc3986": source},
        locator=CoAPLocator,
        plus=False,
        syntax=syntax,
        rules={"rfc3986": (rule,)},
        port=PORTS[name],
        tls=name in ("coaps+tcp", "coaps+ws"),
        protocol="" if name == "coap" else "coap",
        needs_host=True,
        no_userinfo=source,
        linkable=True,
        hierarchical=True,
        unspoken="a request takes the Constrained Application Protocol (RFC 7252), which overthere does not speak",
        normal=(default_port(PORTS[name], f"RFC 7252 6.3, {source}"), slash_for_empty_path("RFC 7252 6.3")),
        no_fragment="RFC 7252 6.4",
        **fields,
    )


SCHEME = _facts(
    "coap",
    title="Constrained Application Protocol",
    examples=(
        Example(
            "coap://example.com:5683/~sensors/temp.xml", "RFC 7252 6.3", "as coap://EXAMPLE.com/%7Esensors/temp.xml"
        ),
        Example("coap://[2001:db8::2:1]/", "RFC 7252 Appendix B"),
    ),
    notes=(
        "coap and coaps are separate namespaces, even with the same host (RFC 7252 6.2).",
        "A gateway between HTTP and CoAP is a part of its design (RFC 7252 10).",
    ),
)

COAPS = _facts(
    "coaps",
    title="Constrained Application Protocol over DTLS",
    examples=(Example("coaps://example.com/~sensors/temp.xml", "RFC 7252 6.2, of our own"),),
    notes=("DTLS secures the datagrams (RFC 7252 9.1).",),
)
"""coaps: the Constrained Application Protocol over DTLS (RFC 7252 6.2)."""

COAP_TCP = _facts(
    "coap+tcp",
    title="Constrained Application Protocol over TCP",
    examples=(Example("coap+tcp://example.com/~sensors/temp.xml", "RFC 8323 8.1, of our own"),),
    notes=("It is another scheme than coap, with other resources (RFC 8323 8.1).",),
)
"""coap+tcp: the Constrained Application Protocol over TCP (RFC 8323 8.1)."""

COAPS_TCP = _facts(
    "coaps+tcp",
    title="Constrained Application Protocol over TLS",
    examples=(Example("coaps+tcp://example.com/~sensors/temp.xml", "RFC 8323 8.2, of our own"),),
    notes=("It is another scheme than coaps, with other resources (RFC 8323 8.2).",),
)
"""coaps+tcp: the Constrained Application Protocol over TLS (RFC 8323 8.2)."""

COAP_WS = _facts(
    "coap+ws",
    title="Constrained Application Protocol over WebSockets",
    examples=(Example("coap+ws://example.com/~sensors/temp.xml", "RFC 8323 8.3, of our own"),),
    notes=("The WebSocket is that of ws://HOST:PORT/.well-known/coap (RFC 8323 8.3).",),
)
"""coap+ws: the Constrained Application Protocol over WebSockets (RFC 8323 8.3)."""

COAPS_WS = _facts(
    "coaps+ws",
    title="Constrained Application Protocol over secured WebSockets",
    examples=(Example("coaps+ws://example.com/~sensors/temp.xml", "RFC 8323 8.4, of our own"),),
    notes=("The WebSocket is that of wss://HOST:PORT/.well-known/coap (RFC 8323 8.4).",),
)
"""coaps+ws: the Constrained Application Protocol over secured WebSockets (RFC 8323 8.4)."""
