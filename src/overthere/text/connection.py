"""Connection strings with one or more hosts (postgresql, mongodb, kafka), and a URI for each host.

text = scheme "://" [ userinfo "@" ] host-port *( "," host-port ) path-abempty [ "?" query ] [ "#" fragment ]

This is the form of PostgreSQL (libpq, "Connection URIs") and MongoDB ("Connection Strings").
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple, TypeVar

from overthere.ground.errors import Finding, InvalidURI
from overthere.ground.exact import exact
from overthere.ground.redact import mask
from overthere.kernel.reference import split
from overthere.values.uri import URI, URIReference

T = TypeVar("T", bound=URIReference)


class HostPort(NamedTuple):
    """A host of a connection string, as it is written."""

    host: str
    port: int | None


@dataclass(frozen=True, slots=True, repr=False)
class ConnectionString:
    """A connection string of one or more hosts, read from its text; equal and hashed by it.

    Each host makes a URI (`uris`), and each of these is valid.  The whole mostly is not a URI: a port cannot hold a
    comma (RFC 3986 3.2.3).  Without ports before the last host it is a URI whose single host has commas in its name
    (`mongodb://h1,h2/`); see `uri` and `problem`.

    Raises: InvalidURI, with the place in this text, and also for a text without "//"; TypeError if it is not text.

    >>> string = ConnectionString("postgresql://joe:secret@h1:5433,h2,[::1]/db?target_session_attrs=any")
    >>> string.hosts
    (HostPort(host='h1', port=5433), HostPort(host='h2', port=None), HostPort(host='[::1]', port=None))
    >>> string.uri is None, string.problem.message
    (True, 'a port cannot contain ",h"')
    >>> next(string.uris)
    URI('postgresql://joe:***@h1:5433/db?target_session_attrs=any')
    """

    text: str
    hosts: tuple[HostPort, ...] = field(init=False, compare=False)
    first: URI = field(init=False, compare=False)
    """The URI with the first host: scheme, user, password, path and query are those of all."""

    def __post_init__(self) -> None:
        text = exact(self.text, "ConnectionString()")
        parts = split(text)
        if parts.scheme is None or parts.authority is None:
            URI(text)  # its error names what is missing
            at = 0 if parts.scheme is None else len(parts.scheme) + 1
            message = 'a connection string has "//" before its hosts'
            raise InvalidURI(
                text, Finding("host-missing", at, at, "host", "authority", '"//"', "RFC 3986 3.2", message)
            )
        end = len(parts.scheme) + 3 + len(parts.authority)
        host_list = parts.authority.rpartition("@")[2]
        start = end - len(host_list)
        host_texts = host_list.split(",")
        offset = len(host_list) - len(host_texts[0])
        first = self._read(URI, text[:start] + host_texts[0] + text[end:], 0, start + len(host_texts[0]), offset)
        hosts = [HostPort(first.host or "", first.port)]
        for host_text in host_texts[1:]:
            start += len(host_texts[len(hosts) - 1]) + 1
            value = self._read(URIReference, f"//{host_text}", start - 2)
            hosts.append(HostPort(value.host or "", value.port))
        object.__setattr__(self, "text", text)
        object.__setattr__(self, "hosts", tuple(hosts))
        object.__setattr__(self, "first", first)

    def _read(self, kind: type[T], text: str, shift: int, border: int = 0, shift_after_border: int = 0) -> T:
        """Parse a part of the text; an error has its place in the whole text."""
        try:
            return kind(text)
        except InvalidURI as error:
            shift += shift_after_border if border and error.start >= border else 0
            finding = error.finding._replace(start=error.start + shift, end=error.end + shift)
            raise InvalidURI(self.text, finding) from None

    @property
    def uris(self) -> Iterator[URI]:
        """Yield a URI for each host in their order; one at a time, since each repeats the rest of the text."""
        before, at, host_list = (split(self.text).authority or "").rpartition("@")
        for host_text in host_list.split(","):  # as written, also a port of too many digits for `hosts`
            yield self.first.replace(authority=f"{before}{at}{host_text}")

    @property
    def uri(self) -> URI | None:
        """The whole text as a URI; None if it is not valid."""
        return None if self.problem else URI(self.text)

    @property
    def problem(self) -> Finding | None:
        """Why the whole text is not a URI; None if it is valid."""
        try:
            URI(self.text)
        except InvalidURI as error:
            return error.finding
        return None

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return f"ConnectionString({mask(self.text)!r})"
