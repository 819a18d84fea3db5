"""telnet: an interactive session (1994 TELNET, RLOGIN, TN3270; RFC 1738 3.8; RFC 4248; RFC 854).

The locator serves rlogin and tn3270 too, which 1994 describes under the same heading.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

from overthere.schemes.locator import Given, Locator, Writer
from overthere.schemes.model import Example, Scheme, default_port, slash_for_empty_path

__all__ = ["PORTS", "SCHEME", "TelnetLocator"]

PORTS = {"telnet": 23, "rlogin": 513, "tn3270": 23}
"""The default ports (RFC 4248 2; RFC 1282; RFC 6270 2)."""

RULES = {"url-1994": ("telnetaddress", "telnetaddress-prose"), "rfc1738": ("telneturl",), "rfc3986": ("telnet-uri",)}
# RFC 4248 2: telnet://<user>:<password>@<host>:<port>/, where the "/", the port, and the password or both may be
# left out.  The host may not.
SYNTAX = """
telnet-uri  = "telnet:" "//" [ userinfo "@" ] telnet-host [ ":" port ] [ "/" ]
telnet-host = IP-literal / IPv4address / 1*( unreserved / pct-encoded / sub-delims )
"""

_SOURCES = {"url-1994": "1994 TELNET, RLOGIN, TN3270", "rfc1738": "RFC 1738 3.8"}
_TODAY = {"telnet": "RFC 4248 2", "rlogin": "1994 TELNET, RLOGIN, TN3270", "tn3270": "RFC 6270 2"}


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class TelnetLocator(Locator):
    """Where a session would go, and the name and password that are suggested to the person (RFC 4248 2).

    >>> from overthere import URI
    >>> URI("telnet://guest@melvyl.ucop.edu/").locator
    TelnetLocator(user='guest', host='melvyl.ucop.edu', path='')
    """

    user: str | None = None
    password: str | None = None
    host: str = ""
    port: int | None = None
    path: str | None = None
    """As written, for nothing is defined to follow the final "/"; None without it, and in RFC 1738 with it too."""
    scheme: str = field(default="telnet", kw_only=True)
    as_written: ClassVar[frozenset[str]] = Locator.as_written | {"path"}

    @classmethod
    def split(cls, given: Given) -> TelnetLocator:
        source = _SOURCES.get(given.edition) or _TODAY.get(given.scheme, "RFC 4248 2")
        if given.host is None:
            raise given.refuse(given.path, '"//" and a host', f"{given.scheme}-uri", source)
        return cls(**given.login(), path=given.path, **given.rest())

    def _compared_parts(self) -> tuple[Any, ...]:
        """The final "/" may be omitted (RFC 1738 3.8, RFC 4248 2)."""
        return replace(self, path=None)._compared_parts() if self.path == "" else Locator._compared_parts(self)

    def join(self, to: Writer) -> str:
        path = "" if self.path is None else f"/{self.path}"
        return to.authority(self.host, self.port, self.user, self.password) + path


EXAMPLES = (Example("telnet://192.0.2.16:80/", "RFC 3986 1.1.2"), Example("telnet://melvyl.ucop.edu/", "RFC 2396 1.3"))

SCHEME = Scheme(
    name="telnet",
    title="Telnet session",
    documents={"url-1994": "TELNET, RLOGIN, TN3270", "rfc1738": "RFC 1738 3.8", "rfc3986": "RFC 4248"},
    locator=TelnetLocator,
    syntax=SYNTAX,
    rules=RULES,
    port=PORTS["telnet"],
    lines=True,
    linkable=True,
    interactive=True,
    access="session",
    normal=(default_port(PORTS["telnet"], "RFC 4248 2"), slash_for_empty_path("RFC 4248 2")),
    examples=EXAMPLES,
    notes=(
        "It names a service for a person, not a data object; user and password are advisory (RFC 4248 2).",
        "Everything, the password too, goes over the net in the clear (RFC 4248 3).",
    ),
)
