"""The locator of schemes with the generic syntax and a host, whose path and query have no further structure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from overthere.kernel import percent_decode
from overthere.schemes.locator import Given, Locator, Writer

__all__ = ["HostLocator", "decoded_segments"]


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class HostLocator(Locator):
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
    def split(cls, given: Given) -> HostLocator:
        wants_host(given, cls.document, cls.hostless)
        return cls(**given.login(), path=path_of(given), **given.rest())

    def join(self, to: Writer) -> str:
        return to.authority(self.host, self.port, self.user, self.password) + to.raw(self.path)

    @property
    def segments(self) -> tuple[str, ...]:
        """The path split at its slashes, each piece decoded from UTF-8 (RFC 3986 2.5 and 3.3); () without a path.

        >>> from overthere import URI
        >>> URI("coap://h/a%2Fb/c").locator.segments
        ('a/b', 'c')
        """
        return decoded_segments(self.path)


def wants_host(parts: Given, document: str, hostless: bool = False) -> None:
    """Raise InvalidURI without "//", or without a host unless `hostless`."""
    if parts.host is None or (parts.host == "" and not hostless):
        expected = '"//"' if hostless else '"//" and a host'
        raise parts.refuse(parts.path if parts.host is None else None, expected, f"{parts.scheme}-uri", document)


def path_of(parts: Given) -> str:
    """Return the path after an authority with its leading slash."""
    return "" if parts.path is None else f"/{parts.path}"


def decoded_segments(path: str) -> tuple[str, ...]:
    """Return the segments of a path that begins with "/", decoded from UTF-8; invalid octets become lone surrogates."""
    return tuple(
        percent_decode(piece.encode("utf-8", "surrogatepass")).decode("utf-8", "surrogateescape")
        for piece in path.split("/")[1:]
    )
