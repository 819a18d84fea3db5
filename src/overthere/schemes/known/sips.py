"""sips: a resource of the Session Initiation Protocol, by TLS all the way (RFC 3261 19.1, 26.2.2)."""

from __future__ import annotations

from overthere.schemes.known.sip import NORMAL, NOTES, PORTS, UNSPOKEN, SIPLocator, syntax
from overthere.schemes.known.sip import SCHEME as SIP
from overthere.schemes.model import Example, Scheme

__all__ = ["SCHEME"]

RULES = {"rfc3986": ("sips-uri",)}

EXAMPLES = (
    Example("sips:1212@gateway.com", "RFC 3261 19.1.3"),
    Example("sips:alice@atlanta.com?subject=project%20x&priority=urgent", "RFC 3261 19.1.3", "with header fields"),
)

SCHEME = Scheme(
    name="sips",
    title="Session Initiation Protocol, secured",
    documents={"rfc3986": "RFC 3261 19.1"},
    locator=SIPLocator,
    syntax=syntax("sips"),
    rules=RULES,
    port=PORTS["sips"],
    tls=True,
    protocol="sip",
    lines=True,
    text_parameters=("body",),
    shape=SIP.shape,
    linkable=True,
    unspoken=UNSPOKEN,
    normal=NORMAL,
    examples=EXAMPLES,
    notes=("sip and sips are never the same (RFC 3261 19.1.4).", *NOTES),
)
