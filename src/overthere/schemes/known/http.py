"""http: a resource of an HTTP origin server (1994 HTTP; RFC 1738 3.3; RFC 9110 4.2.1).

Its facts serve https too, and its locator ws and wss as well, which have the same parts (RFC 9110 4.2.2; RFC 6455 3).
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any, ClassVar, NamedTuple

from overthere.schemes.host_locator import HostLocator, decoded
from overthere.schemes.locator import Given
from overthere.schemes.model import Example, Scheme, default_port, slash_for_empty_path

PORTS = {"http": 80, "https": 443, "ws": 80, "wss": 443}
"""The default ports (RFC 9110 4.2.1 and 4.2.2; RFC 6455 3)."""

_SOURCES = {"url-1994": ("httpaddress", "1994 HTTP"), "rfc1738": ("httpurl", "RFC 1738 3.3")}
_TODAY = {"http": "RFC 9110 4.2.1", "https": "RFC 9110 4.2.2", "ws": "RFC 6455 3", "wss": "RFC 6455 3"}
# Characters that a path or query of RFC 3986 cannot have; escapes are kept.
_UNSENT = re.compile(r"[^A-Za-z0-9\-._~!$&'()*+,;=:@/?%]")
_UPPER = str.maketrans("ABCDEFGHIJKLMNOPQRSTUVWXYZ", "abcdefghijklmnopqrstuvwxyz")


class Origin(NamedTuple):
    """The server responsible for a resource: scheme, host and port (RFC 9110 4.3.1; RFC 6454 4); `str()` as RFC 6454
    6.2 says.

    >>> str(Origin("https", "example.com", 443)), str(Origin("http", "example.com", 8080))
    ('https://example.com', 'http://example.com:8080')
    """

    scheme: str
    host: str
    """In lower case."""
    port: int
    """The default port if the URI has none."""

    def __str__(self) -> str:
        port = "" if self.port == PORTS.get(self.scheme) else f":{self.port}"
        return f"{self.scheme}://{self.host}{port}"


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class HTTPLocator(HostLocator):
    """An HTTP server, and the request to it (RFC 9110 4.2).

    Path and query are kept as they are sent, with their escapes, because the client does not interpret them (1994
    HTTP).  Characters that 1994 and RFC 1738 allow and a request does not (a space) are escaped on reading.  User and
    password have no use in these schemes (RFC 1738 3.3; RFC 9110 4.2.4).

    >>> from overthere import URI
    >>> there = URI("http://Example.com:8080/a%2Fb/c?q=x+y#s").locator
    >>> there
    HTTPLocator(host='Example.com', port=8080, path='/a%2Fb/c', query='q=x+y', fragment='s')
    >>> there.segments, there.target, str(there.origin)
    (('a/b', 'c'), '/a%2Fb/c?q=x+y', 'http://example.com:8080')
    """

    scheme: str = field(default="http", kw_only=True)
    searched: ClassVar[bool] = True
    document: ClassVar[str] = "RFC 9110 4.2"

    @classmethod
    def split(cls, parts: Given) -> HTTPLocator:
        rule, source = _SOURCES.get(parts.edition, (f"{parts.scheme}-uri", _TODAY.get(parts.scheme, cls.document)))
        if parts.host is None or (parts.host == "" and parts.scheme in ("http", "https")):
            raise parts.refuse(parts.path if parts.host is None else None, '"//" and a host', rule, source)
        return cls(
            **parts.login(),
            path="" if parts.path is None else "/" + _sendable(parts, parts.path),
            query=None if parts.query is None else _sendable(parts, parts.query),
            **parts.rest(query=False),
        )

    @property
    def target(self) -> str:
        """The request-target of a GET at the origin: origin-form, an empty path as "/" (RFC 7230 5.3.1).

        For ws and wss the resource-name, which differs only in that an empty query is left out (RFC 6455 3).
        """
        without = self.query is None or (self.query == "" and self.scheme in ("ws", "wss"))
        return (self.path or "/") + ("" if without else f"?{self.query}")

    @property
    def words(self) -> tuple[str, ...]:
        """The search as 1994 has it, words joined with "+", each decoded from UTF-8; () without a query.

        >>> HTTPLocator(host="h", query="fire+%26+water").words
        ('fire', '&', 'water')
        """
        return () if self.query is None else tuple(map(decoded, self.query.split("+")))

    @property
    def origin(self) -> Origin:
        """Scheme, host in lower case, and port, by default that of the scheme (RFC 9110 4.3.1)."""
        port = PORTS.get(self.scheme, 0) if self.port is None else self.port
        return Origin(self.scheme, self.host.translate(_UPPER), port)


def _sendable(parts: Given, raw: str) -> str:
    """1994 HTTP: "Spaces and control characters in URLs must be escaped for transmission in HTTP".

    So is the rest of what a request does not hold.  Beyond ASCII only 1994 has a charset; elsewhere it stays, and
    nothing can be sent.
    """
    if parts.edition == "rfc3986":
        return raw
    last = "\xff" if parts.edition == "url-1994" else "\x7f"
    return _UNSENT.sub(lambda match: f"%{ord(match[0]):02X}" if match[0] <= last else match[0], raw)


def _facts(name: str, **fields: Any) -> Scheme:
    """The scheme of one of the two names."""
    return Scheme(
        name=name,
        locator=HTTPLocator,
        syntax=f"""
{name}-uri  = "{name}:" "//" [ userinfo "@" ] {name}-host [ ":" port ] path-abempty [ "?" query ]
{name}-host = IP-literal / IPv4address / 1*( unreserved / pct-encoded / sub-delims )
""",
        port=PORTS[name],
        redirected_from=("*",),
        needs_host=True,
        no_userinfo="RFC 9110 4.2.4",
        linkable=True,
        hierarchical=True,
        access="http",
        normal=(default_port(PORTS[name], "RFC 9110 4.2.3"), slash_for_empty_path("RFC 9110 4.2.3")),
        **fields,
    )


# RFC 9110 4.2.1, 4.2.2: http-URI = "http" "://" authority path-abempty [ "?" query ], and an empty host is invalid.
SCHEME = _facts(
    "http",
    title="Hypertext Transfer Protocol",
    documents={"url-1994": "HTTP", "rfc1738": "RFC 1738 3.3", "rfc3986": "RFC 9110 4.2.1"},
    rules={"url-1994": ("httpaddress",), "rfc1738": ("httpurl",), "rfc3986": ("http-uri",)},
    by_proxy="absolute",
    examples=(
        Example("http://www.ietf.org/rfc/rfc2396.txt", "RFC 3986 1.1.2"),
        Example("http://www.example.org/pub/WWW/", "RFC 9110 7.2", "GET /pub/WWW/"),
        Example("http://www.example.org/where?q=now", "RFC 7230 5.3.1", "GET /where?q=now"),
        Example("http://example.com:80/~smith/home.html", "RFC 9110 4.2.3"),
        Example("http://EXAMPLE.com/%7Esmith/home.html", "RFC 9110 4.2.3", "the same as the one above"),
    ),
    notes=(
        'A user name before the host does not belong to the server: "user:password" is deprecated, and userinfo in a '
        "URI from elsewhere is to be treated as an error, because it hides the real host (RFC 9110 4.2.4).",
        "The fragment is never sent (RFC 9110 7.1).",
    ),
)

HTTPS = _facts(
    "https",
    title="Hypertext Transfer Protocol Secure",
    documents={"rfc3986": "RFC 9110 4.2.2"},
    rules={"rfc3986": ("https-uri",)},
    tls=True,
    protocol="http",
    by_proxy="tunnel",
    examples=(
        Example("https://Example.Com/happy.js", "RFC 9110 4.3.1", "its origin is https, example.com, 443"),
        Example("https://example.com/foo", "RFC 9110 4.3.3"),
        Example("https://example.com:8000/foo", "RFC 9110 4.3.3", "a different origin from the one above"),
    ),
    notes=(
        "It shares only its form with http: another origin, another namespace (RFC 9110 4.2.2).",
        "Userinfo in a URI from elsewhere is to be treated as an error (RFC 9110 4.2.4).",
    ),
)
"""https: a resource of an HTTP origin server that TLS proves (RFC 9110 4.2.2)."""
