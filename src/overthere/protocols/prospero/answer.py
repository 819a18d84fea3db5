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

__all__ = ["Attribute", "Link", "Method", "ObjectName", "attribute", "links", "method", "read"]

_MOST = 1000
"""Attributes of one object."""
_LINES = 100_000


class ObjectName(NamedTuple):
    """An object: the host as a server names it ("INTERNET-D", "h.example(1525)"), and its name there."""

    host_type: str
    host: str
    hsoname_type: str
    hsoname: str
    version: str = ""

    def uri(self) -> str | None:
        """The prospero URI; None for a place that is no host of the Internet, and for a name that no URI holds."""
        host, port = _host(self)
        if not host or self.hsoname_type != "ASCII":
            return None
        version = int(self.version) if _DIGITS.fullmatch(self.version) else 0
        return _write_uri(ProsperoLocator(host=host, port=port, hsoname=self.hsoname, version=version or None))


class Attribute(NamedTuple):
    """A value of an attribute; one that has several comes in as many lines."""

    name: str
    values: tuple[str, ...]


class Method(NamedTuple):
    """An access method, what it leaves out filled in from the link (Prospero 5, Attributes)."""

    name: str
    there: ObjectName
    arguments: tuple[str, ...]

    def uri(self) -> str | None:
        """The URI that says the same; None if there is none.

        LOCAL is a path on this machine in the server's words: nothing is opened by it (RFC 3986 7.4).
        """
        host, port = _host(self.there)
        writer = _WRITERS.get(self.name)
        if writer is None or (not host and self.name not in ("AFS", "WAIS")):
            return None
        locator = writer(self, host, port)
        return None if locator is None else _write_uri(locator)


class Link(NamedTuple):
    """A link of a directory, with the attributes that follow it (Prospero 5, Links)."""

    type: str
    target: str
    name: str
    there: ObjectName
    attributes: tuple[Attribute, ...]

    def methods(self) -> tuple[Method, ...]:
        """How the object is accessed, as far as its attributes say it."""
        read = (method(one, self.there) for one in self.attributes)
        return tuple(one for one in read if one is not None)

    def entry(self) -> Entry:
        """ "External Prospero links are represented as URLs of the underlying access method" (RFC 4157 2)."""
        methods = self.methods()
        uris = tuple(dict.fromkeys(uri for one in methods if (uri := one.uri())))
        details: dict[str, Any] = {"hsoname": self.there.hsoname, "host": self.there.host}
        if methods:
            details["methods"] = tuple(one.name for one in methods)
            details["locations"] = uris
        if self.type == "U":
            details["union"] = True
        for one in self.attributes:
            if one.name == "SIZE" and one.values and (size := _SIZE.fullmatch(one.values[0])):
                details["size"] = int(size[1])
            elif one.name != "ACCESS-METHOD":
                details.setdefault(one.name.lower(), one.values if len(one.values) != 1 else one.values[0])
        uri = (uris[0] if uris else None) if self.target == "EXTERNAL" else self.there.uri()
        return Entry(self.name, uri, self.target.lower(), details)


_DIGITS = re.compile("[0-9]{1,18}")
_SIZE = re.compile("([0-9]{1,18})(?: bytes)?")
# "A port number may be included as part of the hostname": MERMAID.MICRO.UMN.EDU(150).
_HOST = re.compile(r"([A-Za-z0-9](?:[A-Za-z0-9.-]{0,252}))(?:\(([0-9]{1,5})\))?|(\[[0-9A-Fa-f:.]+\])")
_APPLIES = frozenset(("LINK", "OBJECT", "CACHED", "REPLACEMENT", "ADDITIONAL"))
_SPACES = frozenset(("FIELD", "INTRINSIC", "APPLICATION"))
_KINDS = frozenset(("SEQUENCE", "LINK", "FILTER"))


def _host(there: ObjectName) -> tuple[str, int | None]:
    """Host and port; "" for what is no host of the Internet."""
    match = _HOST.fullmatch(there.host) if there.host_type.startswith("INTERNET") else None
    if match is None:
        return "", None
    port = int(match[2]) if match[2] else None
    return (match[1] or match[3], port) if port is None or port < 65536 else ("", None)


def _write_uri(locator: Locator) -> str | None:
    try:
        return str(locator.uri())
    except OverthereError:
        return None


def _ftp(how: Method, host: str, port: int | None) -> Locator | None:
    """AFTP: below the root of the anonymous area, where a login leads; FTP: "full local hostname paths"."""
    path = how.there.hsoname
    whole = how.name == "FTP" and path.startswith("/")
    *directories, name = path.removeprefix("/").split("/")
    if whole and directories:
        directories[0] = "/" + directories[0]
    elif whole:
        name = "/" + name
    kind = {"BINARY": "i", "TEXT": "a", "DIRECTORY": "d"}.get("".join(how.arguments[:1]))
    return FTPLocator(host=host, port=port, directories=tuple(directories), name=name, type=kind)


def _gopher(how: Method, host: str, port: int | None) -> Locator | None:
    """The type is the sixth element, else the first character of the selector."""
    kind = how.arguments[0] if how.arguments else how.there.hsoname[:1]
    kind = {"BINARY": "9", "TEXT": "0"}.get(kind, kind)
    if len(kind) != 1:
        return None
    return GopherLocator(host=host, port=port, type=kind, selector=how.there.hsoname.encode("utf-8", "surrogateescape"))


# As the gateway to WAIS in the server dirsrv names a document; the id is escaped.
_WAIS = re.compile(r"WAIS-GW/([A-Za-z0-9.-]+)(?:\(([0-9]{1,5})\))?/([^/]+)/([^/]+)/(.+)", re.DOTALL)


def _wais(how: Method, host: str, port: int | None) -> Locator | None:
    match = _WAIS.fullmatch(how.there.hsoname)
    if match is None or int(match[2] or PORT) > 65535:
        return None
    docid = percent_decode(match[5].encode("utf-8", "surrogateescape"))
    own = int(match[2]) if match[2] and int(match[2]) != PORT else None
    if match[3] == "QUERY":
        return WAISLocator(host=match[1], port=own, database=match[4], search=docid.decode("utf-8", "surrogateescape"))
    return WAISLocator(host=match[1], port=own, database=match[4], wtype=match[3], wpath=docid)


def _afs(how: Method, host: str, port: int | None) -> Locator | None:
    """ "The same irrespective of what host one is using them from": a cell, and a path in it."""
    cell, *segments = how.there.hsoname.removeprefix("/afs/").removeprefix("/").split("/")
    return AFSLocator(cellname=cell, segments=tuple(segments)) if cell else None


_WRITERS = {"AFTP": _ftp, "FTP": _ftp, "GOPHER": _gopher, "WAIS": _wais, "AFS": _afs}


def read(octets: bytes, where: str) -> Iterator[tuple[str, ...]]:
    """The tokens of each line as text.  Raises: ProtocolError, LimitExceeded."""
    try:
        for number, line in enumerate(read_lines(octets)):
            if number == _LINES:
                raise LimitExceeded(f"more than {_LINES:,} lines", where=where)
            yield tuple(token.decode("utf-8", "surrogateescape") for token in line)
    except NotProspero as error:
        raise ProtocolError(f"the answer is not Prospero: {error}", "Prospero 5", where=where) from None


def attribute(line: tuple[str, ...]) -> Attribute | None:
    """What an ATTRIBUTE line says; None for another line, and for attributes of attributes ("ATTRIBUTE>").

    What it applies to and the type of the value may be left out, as servers before Alpha 5.1 did.

    >>> attribute(("ATTRIBUTE", "OBJECT", "INTRINSIC", "SIZE", "SEQUENCE", "20 bytes"))
    Attribute(name='SIZE', values=('20 bytes',))
    """
    if line[0] != "ATTRIBUTE":
        return None
    rest = line[1:]
    rest = rest[1:] if rest and rest[0] in _APPLIES else rest
    if len(rest) < 2 or rest[0] not in _SPACES:
        return None
    values = rest[2:]
    return Attribute(rest[1], values[1:] if values and values[0] in _KINDS else values)


def method(attribute: Attribute | None, link: ObjectName) -> Method | None:
    """The access method that an attribute names; None if it is another, or has less than its five elements."""
    if attribute is None or attribute.name != "ACCESS-METHOD" or len(attribute.values) < 5:
        return None
    name, host_type, host, hsoname_type, hsoname, *arguments = attribute.values
    if not host:
        # The port of a link is that of Prospero.
        host_type, host = link.host_type, link.host.partition("(")[0]
    if not hsoname:
        hsoname_type, hsoname = link.hsoname_type, link.hsoname
    return Method(name, ObjectName(host_type, host, hsoname_type, hsoname), tuple(arguments))


def links(lines: Iterator[tuple[str, ...]], where: str) -> Iterator[Link]:
    """The links of a directory.  Raises: ProtocolError, LimitExceeded."""
    held: tuple[str, ...] = ()
    attributes: list[Attribute] = []
    for line in lines:
        if line[0] == "LINK":
            if held:
                yield _link(held, attributes)
            if len(line) < 9:
                raise ProtocolError(f"a link of {len(line)} tokens", "Prospero 5, Links", where=where)
            held, attributes = line, []
        elif held and (one := attribute(line)) is not None:
            attributes.append(one)
            if len(attributes) > _MOST:
                raise LimitExceeded(f"a link of more than {_MOST:,} attributes", where=where)
    if held:
        yield _link(held, attributes)


def _link(line: tuple[str, ...], attributes: list[Attribute]) -> Link:
    _, kind, target, name, *there = line
    return Link(kind, target, name, ObjectName(*there[:5]), tuple(attributes))
