"""Parses the answers of a Prospero server: attributes, access methods as URIs, links (Prospero 5)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from overthere.access.errors import LimitExceeded, ProtocolError
from overthere.access.wire import Entry
from overthere.ground.errors import OverthereError
from overthere.kernel.percent import percent_decode
from overthere.protocols.prospero.message import NotProspero, read_lines
from overthere.schemes.known.afs import AFSLocator
from overthere.schemes.known.ftp import FTPLocator
from overthere.schemes.known.gopher import GopherLocator
from overthere.schemes.known.prospero import ProsperoLocator
from overthere.schemes.known.wais import PORT, WAISLocator
from overthere.schemes.locator import Locator

_MAX_ATTRIBUTES = 1000
"""The limit of attributes of one object."""
_MAX_LINES = 100_000


class ObjectName(NamedTuple):
    """An object: the host in a server's form ("INTERNET-D", "h.example(1525)"), and its name there."""

    host_type: str
    host: str
    hsoname_type: str
    hsoname: str
    version: str = ""

    def uri(self) -> str | None:
        """Return the prospero URI; None if the host is not on the Internet, or a URI cannot contain the name."""
        host, port = _host(self)
        if not host or self.hsoname_type != "ASCII":
            return None
        version = int(self.version) if _DIGITS.fullmatch(self.version) else 0
        return _write_uri(ProsperoLocator(host=host, port=port, hsoname=self.hsoname, version=version or None))


class Attribute(NamedTuple):
    """A value of an attribute; an attribute with several values has several lines."""

    name: str
    values: tuple[str, ...]


class Method(NamedTuple):
    """An access method; missing parts are completed from the link (Prospero 5, Attributes)."""

    name: str
    there: ObjectName
    arguments: tuple[str, ...]

    def uri(self) -> str | None:
        """Return the URI with the same meaning, or None.

        LOCAL, a path that the server claims to be on this machine, has none: it must not be opened (RFC 3986 7.4).
        """
        host, port = _host(self.there)
        writer = _WRITERS.get(self.name)
        if writer is None or (not host and self.name not in ("AFS", "WAIS")):
            return None
        locator = writer(self, host, port)
        return None if locator is None else _write_uri(locator)


class Link(NamedTuple):
    """A link in a directory, with the attributes that follow it (Prospero 5, Links)."""

    type: str
    target: str
    name: str
    there: ObjectName
    attributes: tuple[Attribute, ...]

    def methods(self) -> tuple[Method, ...]:
        """Return the access methods in the object's attributes."""
        parsed = (method(attribute, self.there) for attribute in self.attributes)
        return tuple(item for item in parsed if item is not None)

    def entry(self) -> Entry:
        """Return the entry: external links "are represented as URLs of the underlying access method" (RFC 4157 2)."""
        methods = self.methods()
        uris = tuple(dict.fromkeys(uri for item in methods if (uri := item.uri())))
        details: dict[str, Any] = {"hsoname": self.there.hsoname, "host": self.there.host}
        if methods:
            details["methods"] = tuple(item.name for item in methods)
            details["locations"] = uris
        if self.type == "U":
            details["union"] = True
        attributes: dict[str, list[str | tuple[str, ...]]] = {}
        for item in self.attributes:
            if item.name == "SIZE" and item.values and (size := _SIZE.fullmatch(item.values[0])):
                details["size"] = int(size[1])
            elif item.name != "ACCESS-METHOD":
                value = item.values if len(item.values) != 1 else item.values[0]
                attributes.setdefault(item.name.lower(), []).append(value)
        details = {
            name: values[0] if len(values) == 1 else tuple(values) for name, values in attributes.items()
        } | details
        uri = (uris[0] if uris else None) if self.target == "EXTERNAL" else self.there.uri()
        return Entry(self.name, uri, self.target.lower(), details)


_DIGITS = re.compile("[0-9]{1,18}")
_SIZE = re.compile("([0-9]{1,18})(?: bytes)?")
# "A port number may be included as part of the hostname": MERMAID.MICRO.UMN.EDU(150).
_HOST = re.compile(r"([A-Za-z0-9](?:[A-Za-z0-9.-]{0,252}))(?:\(([0-9]{1,5})\))?|(\[[0-9A-Fa-f:.]+\])")
_TARGETS = frozenset(("LINK", "OBJECT", "CACHED", "REPLACEMENT", "ADDITIONAL"))
_SPACES = frozenset(("FIELD", "INTRINSIC", "APPLICATION"))
_KINDS = frozenset(("SEQUENCE", "LINK", "FILTER"))


def _host(place: ObjectName) -> tuple[str, int | None]:
    """Return host and port; the host is "" if it is not on the Internet."""
    match = _HOST.fullmatch(place.host) if place.host_type.startswith("INTERNET") else None
    if match is None:
        return "", None
    port = int(match[2]) if match[2] else None
    return (match[1] or match[3], port) if port is None or port < 65536 else ("", None)


def _write_uri(locator: Locator) -> str | None:
    try:
        return str(locator.uri())
    except OverthereError:
        return None


def _ftp(via: Method, host: str, port: int | None) -> Locator | None:
    """Return the FTP locator: AFTP paths begin at the anonymous root, FTP paths are "full local hostname paths"."""
    path = via.there.hsoname
    is_absolute = via.name == "FTP" and path.startswith("/")
    *directories, name = path.removeprefix("/").split("/")
    if is_absolute and directories:
        directories[0] = "/" + directories[0]
    elif is_absolute:
        name = "/" + name
    kind = {"BINARY": "i", "TEXT": "a", "DIRECTORY": "d"}.get("".join(via.arguments[:1]))
    return FTPLocator(host=host, port=port, directories=tuple(directories), name=name, type=kind)


def _gopher(via: Method, host: str, port: int | None) -> Locator | None:
    """Return the Gopher locator: its type is the sixth element, otherwise the first character of the selector."""
    kind = via.arguments[0] if via.arguments else via.there.hsoname[:1]
    kind = {"BINARY": "9", "TEXT": "0"}.get(kind, kind)
    if len(kind) != 1:
        return None
    return GopherLocator(host=host, port=port, type=kind, selector=via.there.hsoname.encode("utf-8", "surrogateescape"))


# The name of a document in the WAIS gateway of the server dirsrv; the id is escaped.
_WAIS = re.compile(r"WAIS-GW/([A-Za-z0-9.-]+)(?:\(([0-9]{1,5})\))?/([^/]+)/([^/]+)/(.+)", re.DOTALL)


def _wais(via: Method, host: str, port: int | None) -> Locator | None:
    match = _WAIS.fullmatch(via.there.hsoname)
    if match is None or int(match[2] or PORT) > 65535:
        return None
    docid = percent_decode(match[5].encode("utf-8", "surrogateescape"))
    num = int(match[2]) if match[2] and int(match[2]) != PORT else None
    if match[3] == "QUERY":
        return WAISLocator(host=match[1], port=num, database=match[4], search=docid.decode("utf-8", "surrogateescape"))
    return WAISLocator(host=match[1], port=num, database=match[4], wtype=match[3], wpath=docid)


def _afs(via: Method, host: str, port: int | None) -> Locator | None:
    """Return the AFS locator: cell and path are "the same irrespective of what host one is using them from"."""
    cell, *segments = via.there.hsoname.removeprefix("/afs/").removeprefix("/").split("/")
    return AFSLocator(cellname=cell, segments=tuple(segments)) if cell else None


_WRITERS = {"AFTP": _ftp, "FTP": _ftp, "GOPHER": _gopher, "WAIS": _wais, "AFS": _afs}


def read(octets: bytes, where: str) -> Iterator[tuple[str, ...]]:
    """Yield the tokens of each line as text.  Raises: ProtocolError, LimitExceeded."""
    try:
        for number, line in enumerate(read_lines(octets)):
            if number == _MAX_LINES:
                raise LimitExceeded(f"more than {_MAX_LINES:,} lines", where=where)
            yield tuple(token.decode("utf-8", "surrogateescape") for token in line)
    except NotProspero as error:
        raise ProtocolError(f"the answer is not Prospero: {error}", "Prospero 5", where=where) from None


def attribute(line: tuple[str, ...]) -> Attribute | None:
    """Parse an ATTRIBUTE line; return None for another line, and for attributes of attributes ("ATTRIBUTE>").

    Its target and the type of the value are optional: servers before Alpha 5.1 omitted them.

    >>> attribute(("ATTRIBUTE", "OBJECT", "INTRINSIC", "SIZE", "SEQUENCE", "20 bytes"))
    Attribute(name='SIZE', values=('20 bytes',))
    """
    if line[0] != "ATTRIBUTE":
        return None
    tokens = line[1:]
    tokens = tokens[1:] if tokens and tokens[0] in _TARGETS else tokens
    if len(tokens) < 2 or tokens[0] not in _SPACES:
        return None
    values = tokens[2:]
    return Attribute(tokens[1], values[1:] if values and values[0] in _KINDS else values)


def method(attribute: Attribute | None, link: ObjectName) -> Method | None:
    """Return the access method of an attribute; None for another attribute, or one with fewer than five elements."""
    if attribute is None or attribute.name != "ACCESS-METHOD" or len(attribute.values) < 5:
        return None
    name, host_type, host, hsoname_type, hsoname, *arguments = attribute.values
    if not host:
        # The port of a link is Prospero's, so it is dropped.
        host_type, host = link.host_type, link.host.partition("(")[0]
    if not hsoname:
        hsoname_type, hsoname = link.hsoname_type, link.hsoname
    return Method(name, ObjectName(host_type, host, hsoname_type, hsoname), tuple(arguments))


def links(lines: Iterator[tuple[str, ...]], where: str) -> Iterator[Link]:
    """Yield the links of a directory.  Raises: ProtocolError, LimitExceeded."""
    link_line: tuple[str, ...] = ()
    attributes: list[Attribute] = []
    for line in lines:
        if line[0] == "LINK":
            if link_line:
                yield _link(link_line, attributes)
            if len(line) < 9:
                raise ProtocolError(f"a link of {len(line)} tokens", "Prospero 5, Links", where=where)
            link_line, attributes = line, []
        elif link_line and (parsed := attribute(line)) is not None:
            attributes.append(parsed)
            if len(attributes) > _MAX_ATTRIBUTES:
                raise LimitExceeded(f"a link of more than {_MAX_ATTRIBUTES:,} attributes", where=where)
    if link_line:
        yield _link(link_line, attributes)


def _link(line: tuple[str, ...], attributes: list[Attribute]) -> Link:
    _, kind, target, name, *place = line
    return Link(kind, target, name, ObjectName(*place[:5]), tuple(attributes))
