"""tn3270: an interactive session with a 3270 terminal (1994 TELNET, RLOGIN, TN3270; RFC 6270; RFC 1041, RFC 2355).

RFC 1738 4 reserves the name and gives it no syntax, so it has no reading there.
"""

from __future__ import annotations

from overthere.schemes.known.telnet import PORTS, TelnetLocator
from overthere.schemes.model import Example, Scheme, default_port, slash_for_empty_path

__all__ = ["SCHEME"]

# 1994: one heading and one production for telnet, rlogin and tn3270.
RULES = {"url-1994": ("telnetaddress-prose",), "rfc3986": ("tn3270-uri",)}
SYNTAX = """
tn3270-uri  = "tn3270:" "//" [ userinfo "@" ] tn3270-host [ ":" port ] [ "/" ]
tn3270-host = IP-literal / IPv4address / 1*( unreserved / pct-encoded / sub-delims )
"""

EXAMPLES = (Example("tn3270://host.dom/", "RFC 6270 2", "of our own"),)

SCHEME = Scheme(
    name="tn3270",
    title="Interactive 3270 emulation session",
    documents={"url-1994": "TELNET, RLOGIN, TN3270", "rfc3986": "RFC 6270"},
    locator=TelnetLocator,
    syntax=SYNTAX,
    rules=RULES,
    port=PORTS["tn3270"],
    lines=True,
    linkable=True,
    interactive=True,
    access="session",
    normal=(default_port(PORTS["tn3270"], "RFC 6270 2"), slash_for_empty_path("RFC 3986 6.2.3")),
    examples=EXAMPLES,
    notes=(
        "The session is Telnet, in which 3270 is negotiated: by RFC 2355 (TN3270E), else as in RFC 1041 or RFC 1576.",
    ),
)
