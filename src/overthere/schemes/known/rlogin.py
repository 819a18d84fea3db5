"""rlogin: an interactive session (1994 TELNET, RLOGIN, TN3270; the protocol is RFC 1282).

Only the draft of 1994 has it: RFC 1738 left it out, IANA never registered it, and no later document took it up.  So
the draft is read today as well, over the characters of RFC 3986.
"""

from __future__ import annotations

from overthere.schemes.known.telnet import PORTS, TelnetLocator
from overthere.schemes.model import Example, Scheme, default_port

__all__ = ["SCHEME"]

# 1994: one heading and one production for the three names, and nothing after the login.
RULES = {"url-1994": ("telnetaddress-prose",), "rfc3986": ("rlogin-uri",)}
SYNTAX = """
rlogin-uri  = "rlogin:" "//" [ userinfo "@" ] rlogin-host [ ":" port ]
rlogin-host = IP-literal / IPv4address / 1*( unreserved / pct-encoded / sub-delims )
"""

EXAMPLES = (Example("rlogin://kbostic@host.dom", "1994 TELNET, RLOGIN, TN3270", "of our own; the draft prints none"),)

SCHEME = Scheme(
    name="rlogin",
    title="BSD rlogin session",
    documents={"url-1994": "TELNET, RLOGIN, TN3270", "rfc3986": "1994 TELNET, RLOGIN, TN3270 (no later document)"},
    locator=TelnetLocator,
    syntax=SYNTAX,
    rules=RULES,
    port=PORTS["rlogin"],
    lines=True,
    interactive=True,
    access="session",
    normal=(default_port(PORTS["rlogin"], "1994 Internet protocol parts; RFC 1282; RFC 3986 6.2.3"),),
    examples=EXAMPLES,
    notes=(
        "The user is the server-user-name of RFC 1282; the protocol sends no password by itself.",
        "It trusts hosts by their names, which others can take (RFC 1282, A Cautionary Tale).",
    ),
)
