"""telnet: an interactive session (1994 TELNET, RLOGIN, TN3270; RFC 1738 3.8; RFC 4248; RFC 854).

Its locator and facts serve rlogin and tn3270 too, which 1994 describes under the same heading.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

from overthere.schemes.locator import Given, Locator, Writer
from overthere.schemes.model import Example, Scheme, default_port, slash_for_empty_path

PORTS = {"telnet": 23, "rlogin": 513, "tn3270": 23}
"""The default ports (RFC 4248 2; RFC 1282; RFC 6270 2)."""

_SOURCES = {"url-1994": "1994 TELNET, RLOGIN, TN3270", "rfc1738": "RFC 1738 3.8"}
_TODAY = {"telnet": "RFC 4248 2", "rlogin": "1994 TELNET, RLOGIN, TN3270", "tn3270": "RFC 6270 2"}


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class TelnetLocator(Locator):
    """The host of a session, and the name and password that are suggested to the person (RFC 4248 2).

    >>> from overthere import URI
    >>> URI("telnet://guest@melvyl.ucop.edu/").locator
    TelnetLocator(user='guest', host='melvyl.ucop.edu', path='')
    """

    user: str | None = None
    password: str | None = None
    host: str = ""
    port: int | None = None
    path: str | None = None
    """As written, because nothing is defined after the final "/"; None without that, and in RFC 1738 even with it."""
    scheme: str = field(default="telnet", kw_only=True)
    as_written: ClassVar[frozenset[str]] = Locator.as_written | {"path"}

    @classmethod
    def split(cls, parts: Given) -> TelnetLocator:
        source = _SOURCES.get(parts.edition) or _TODAY.get(parts.scheme, "RFC 4248 2")
        if parts.host is None:
            raise parts.refuse(parts.path, '"//" and a host', f"{parts.scheme}-uri", source)
        return cls(**parts.login(), path=parts.path, **parts.rest())

    def _compared_parts(self) -> tuple[Any, ...]:
        """The final "/" may be omitted (RFC 1738 3.8, RFC 4248 2)."""
        return replace(self, path=None)._compared_parts() if self.path == "" else Locator._compared_parts(self)

    def join(self, to: Writer) -> str:
        path = "" if self.path is None else f"/{self.path}"
        return to.authority(self.host, self.port, self.user, self.password) + path


def _facts(name: str, end: str = "", **fields: Any) -> Scheme:
    """The scheme of one of the three names; end: what may follow the login, which has a host."""
    return Scheme(
        name=name,
        locator=TelnetLocator,
        syntax=f"""
{name}-uri  = "{name}:" "//" [ userinfo "@" ] {name}-host [ ":" port ]{end}
{name}-host = IP-literal / IPv4address / 1*( unreserved / pct-encoded / sub-delims )
""",
        port=PORTS[name],
        lines=True,
        interactive=True,
        access="session",
        **fields,
    )


# RFC 4248 2: telnet://<user>:<password>@<host>:<port>/, where the "/", the port, and the password or both may be
# left out.  The host may not.
SCHEME = _facts(
    "telnet",
    end=' [ "/" ]',
    title="Telnet session",
    documents={"url-1994": "TELNET, RLOGIN, TN3270", "rfc1738": "RFC 1738 3.8", "rfc3986": "RFC 4248"},
    rules={"url-1994": ("telnetaddress", "telnetaddress-prose"), "rfc1738": ("telneturl",), "rfc3986": ("telnet-uri",)},
    linkable=True,
    normal=(default_port(PORTS["telnet"], "RFC 4248 2"), slash_for_empty_path("RFC 4248 2")),
    examples=(
        Example("telnet://192.0.2.16:80/", "RFC 3986 1.1.2"),
        Example("telnet://melvyl.ucop.edu/", "RFC 2396 1.3"),
    ),
    notes=(
        "It names a service for a person, not a data object; user and password are advisory (RFC 4248 2).",
        "Everything, even the password, is sent in clear text (RFC 4248 3).",
    ),
)

# 1994: one heading and one production for the three names, and nothing after the login.
RLOGIN = _facts(
    "rlogin",
    title="BSD rlogin session",
    documents={"url-1994": "TELNET, RLOGIN, TN3270", "rfc3986": "1994 TELNET, RLOGIN, TN3270 (no later document)"},
    rules={"url-1994": ("telnetaddress-prose",), "rfc3986": ("rlogin-uri",)},
    normal=(default_port(PORTS["rlogin"], "1994 Internet protocol parts; RFC 1282; RFC 3986 6.2.3"),),
    examples=(
        Example("rlogin://kbostic@host.dom", "1994 TELNET, RLOGIN, TN3270", "of our own; the draft prints none"),
    ),
    notes=(
        "The user is the server-user-name of RFC 1282; the protocol sends no password by itself.",
        "It trusts hosts by names that others can take (RFC 1282, A Cautionary Tale).",
    ),
)
"""rlogin: an interactive session (1994 TELNET, RLOGIN, TN3270; the protocol is RFC 1282).

Only the draft of 1994 has it: RFC 1738 left it out, IANA never registered it, and no later document took it up.  So
the draft is read today as well, over the characters of RFC 3986.
"""

TN3270 = _facts(
    "tn3270",
    end=' [ "/" ]',
    title="Interactive 3270 emulation session",
    documents={"url-1994": "TELNET, RLOGIN, TN3270", "rfc3986": "RFC 6270"},
    rules={"url-1994": ("telnetaddress-prose",), "rfc3986": ("tn3270-uri",)},
    linkable=True,
    normal=(default_port(PORTS["tn3270"], "RFC 6270 2"), slash_for_empty_path("RFC 3986 6.2.3")),
    examples=(Example("tn3270://host.dom/", "RFC 6270 2", "of our own"),),
    notes=(
        "The session is Telnet, in which 3270 is negotiated: by RFC 2355 (TN3270E), otherwise by RFC 1041 or RFC 1576.",
    ),
)
"""tn3270: an interactive session with a 3270 terminal (1994 TELNET, RLOGIN, TN3270; RFC 6270; RFC 1041, RFC 2355).

RFC 1738 4 reserves the name and gives it no syntax, so it has no reading there.
"""
