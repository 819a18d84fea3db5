"""Prospero: asks a directory server how to access an object (RFC 4157 2; The Prospero Protocol, version 5)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from overthere.access.steps import Credentials, Receive, Role, Send, Step, connect, guarded
from overthere.ground.errors import Cited, PlanRefused
from overthere.protocols.prospero.message import command, token
from overthere.schemes.known.prospero import PORT, ProsperoLocator

_TOKENS = "Prospero 5, Spaces, quoting, and line-feeds"
_MAX_REQUEST = 65_507 - 9
"""The bytes in a datagram of UDP over IPv4, without the header of ARDP."""


class ProsperoRole(Role):
    """The answers that the dialogue distinguishes."""

    ACCESS_METHODS = "access methods"
    CONTENTS = "contents"
    LINKS = "links"


def steps(locator: ProsperoLocator, credentials: Credentials) -> Iterator[Step]:
    """Return the requests, sent in order until one succeeds: access methods, contents, the links of a directory.

    The name does not show whether it is a file or a directory: its slashes have no meaning for clients (RFC 4157 2).
    """
    hsoname = token(_name(locator))
    version = b"" if locator.version is None else b"%d" % locator.version
    host = connect(locator.host, PORT if locator.port is None else locator.port, "RFC 4157 2")
    yield replace(host, transport="udp")
    # Version 0 is the current one.
    request = _object_info(b"ACCESS-METHOD", hsoname, version)
    yield _send(credentials, request, "Prospero 5, GET-OBJECT-INFO", note=_PACKET)
    note = Cited("each access method may be a URI of its own: AFTP is ftp, as an anonymous user", "RFC 4157 2")
    description, role = "the access methods of the object", ProsperoRole.ACCESS_METHODS
    yield Receive(source="Prospero 5, Attributes", what=description, until="reply", note=note, role=role)
    missing = ("FAILURE NOT-FOUND", "NONE-FOUND")
    request = _object_info(b"CONTENTS", hsoname, version)
    # The server's own method, if no other method has a URI.
    yield _send(credentials, request, "Prospero 5, GET-OBJECT-INFO", (*missing, "PROSPERO-CONTENTS"))
    unlisted = "CONTENTS is an attribute of the server dirsrv, which the protocol's document does not list"
    description, role = "the contents of the object", ProsperoRole.CONTENTS
    yield Receive(source="Prospero 5, Link Attributes", what=description, until="reply", note=unlisted, role=role)
    request = command(b"DIRECTORY", b"ASCII", hsoname, *([version] if version else []))
    request += command(b"LIST", b"'ATTRIBUTES(ACCESS-METHOD)'", b"COMPONENTS")
    yield _send(credentials, request, "Prospero 5, DIRECTORY and LIST", missing)
    yield Receive(source="Prospero 5, LIST", what="the links in the directory", until="reply", role=ProsperoRole.LINKS)


def _name(locator: ProsperoLocator) -> bytes:
    """Encode the hsoname; raise if anything else than its version also identifies the object."""
    if locator.query is not None:
        raise PlanRefused(
            'a prospero URI cannot have a query: write "?" in a name as "%3F"', "RFC 4157 2, RFC 3986 3.3"
        )
    if locator.hsoname is None:
        raise PlanRefused(
            "the hsoname is missing: a slash and the name of an object must follow the host", "RFC 4157 2"
        )
    if locator.attributes is not None:
        raise PlanRefused("the meaning of attributes after a version is undefined", "1994 PROSPERO")
    if locator.fields:
        name = locator.fields[0].name
        raise PlanRefused(f"fields identify the object, but it is undefined how {name!r} is sent", "RFC 4157 2")
    return guarded(locator.hsoname, "hsoname", _TOKENS, charset=locator.charset)


def _object_info(attribute: bytes, hsoname: bytes, version: bytes) -> bytes:
    return command(b"GET-OBJECT-INFO", b"'%s'" % attribute, b"ASCII", hsoname, version or b"0")


_PACKET = "each request is sent in a packet of ARDP, with a connection id that is chosen at random when it is sent"


def _send(credentials: Credentials, request: bytes, source: str, after: tuple[str, ...] = (), note: str = "") -> Send:
    """Return the step of a request, which is one packet on a new connection; the user is named without proof."""
    user = guarded(credentials.user or "anonymous", "user", _TOKENS)
    head = command(b"VERSION", b"5") + command(b"AUTHENTICATE", b"''", b"UNAUTHENTICATED", token(user))
    data = head + request
    if len(data) > _MAX_REQUEST:
        raise PlanRefused(f"a request of {len(data):,} octets does not fit into a datagram", "Prospero 5, ARDP")
    # A line for each message: data cannot end a line.
    return Send(source=source, data=data, after=after, note=note, lines=2 + request.count(b"\n"))
