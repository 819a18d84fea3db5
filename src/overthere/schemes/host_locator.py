"""The locator of schemes with the generic syntax and a host, whose path and query have no further structure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from overthere.kernel.percent import percent_decode  # the native one refuses a broken escape, here it stays
from overthere.schemes.locator import Given, Locator, Writer


class HasSegments:
    """The part of locators with a path of segments."""

    __slots__ = ()
    path: str

    @property
    def segments(self) -> tuple[str, ...]:
        """The path cut at its slashes, each piece decoded from UTF-8 (RFC 3986 2.5 and 3.3); () without a path.

        >>> from overthere import URI
        >>> URI("coap://h/a%2Fb/c").locator.segments
        ('a/b', 'c')
        """
        return tuple(map(decoded, self.path.split("/")[1:]))


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class HostLocator(HasSegments, Locator):
    """`//user:password@host:port/path`.  A scheme's own locator names its document and has the name of its scheme.

    >>> from overthere import URI
    >>> URI("rtsp://h:8554/a%20b?c").locator
    RTSPLocator(host='h', port=8554, path='/a%20b', query='c')
    """

    user: str | None = None
    password: str | None = None
    host: str = ""
    port: int | None = None
    path: str = ""
    """As written, with its leading slash; "" without a path."""
    as_written: ClassVar[frozenset[str]] = Locator.as_written | {"path"}
    document: ClassVar[str] = "RFC 3986 3.2"
    """The paragraph that requires "//" and a host."""
    hostless: ClassVar[bool] = False
    """Whether the host may be empty."""

    @classmethod
    def split(cls, parts: Given) -> HostLocator:
        wants_host(parts, cls.document, cls.hostless)
        return cls(**parts.login(), path=path_of(parts), **parts.rest())

    def join(self, to: Writer) -> str:
        return to.authority(self.host, self.port, self.user, self.password) + to.raw(self.path)


def wants_host(parts: Given, document: str, hostless: bool = False) -> None:
    """Raise InvalidURI without "//", or without a host unless `hostless`."""
    if parts.host is None or (parts.host == "" and not hostless):
        expected = '"//"' if hostless else '"//" and a host'
        raise parts.refuse(parts.path if parts.host is None else None, expected, f"{parts.scheme}-uri", document)


def path_of(parts: Given) -> str:
    """Return the path after an authority with its leading slash."""
    return "" if parts.path is None else f"/{parts.path}"


def decoded(text: str) -> str:
    """Return a written part, decoded from UTF-8; invalid octets become lone surrogates."""
    return percent_decode(text.encode("utf-8", "surrogatepass")).decode("utf-8", "surrogateescape")


def host_without_user(parts: Given, expected: str, document: str) -> str:
    """Return the host of a scheme without users.  In 1994 its BNF has "@" in a hostname.

    expected: the part that a text with a user lacks.  Raises: InvalidURI for such a text, and without a host.
    """
    if parts.host is None:
        raise parts.refuse(parts.path, '"//" and a host', f"{parts.scheme}-uri", document)
    if parts.user is None:
        return parts.host
    if parts.edition != "url-1994" or parts.password is not None:
        raise parts.refuse(f"//{parts.user}", expected, f"{parts.scheme}-hostport", document)
    return f"{parts.user}@{parts.host}"
