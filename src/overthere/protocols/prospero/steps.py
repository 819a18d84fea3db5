"""Prospero: asking a directory server how an object is accessed (RFC 4157 2; The Prospero Protocol, version 5)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from overthere.access.errors import LimitExceeded, ProtocolError, ResourceMissing
from overthere.access.steps import Connect, Credentials, Receive, Send, Step, connect, guarded
from overthere.access.wire import Data, Dial, Dialogue, Entry, Hangup, Head, Item
from overthere.errors import PlanRefused
from overthere.protocols.prospero.answer import Method, Named, attribute, links, method, read
from overthere.protocols.prospero.ardp import Moved, connections, exchange
from overthere.protocols.prospero.message import command, token
from overthere.schemes.known.prospero import PORT, ProsperoLocator

if TYPE_CHECKING:
    from overthere.access.planning import Plan
    from overthere.access.policy import Policy

__all__ = ["dialogue", "steps"]

_TOKENS = "Prospero 5, Spaces, quoting, and line-feeds"
_LONGEST = 65_507 - 9
"""Octets in a datagram of UDP over IPv4, without the header of ARDP."""


def steps(locator: ProsperoLocator, credentials: Credentials) -> Iterator[Step]:
    """One request after the other, each until it is answered: access methods, contents, the links of a directory.

    Nothing in the name tells a file from a directory: its slashes mean nothing to a client (RFC 4157 2).
    """
    hsoname = token(_name(locator))
    version = b"" if locator.version is None else b"%d" % locator.version
    host = connect(locator.host, PORT if locator.port is None else locator.port, "RFC 4157 2")
    yield replace(host, transport="udp")
    # Version 0 is the current one.
    request = _object_info(b"ACCESS-METHOD", hsoname, version)
    yield _send(credentials, request, "Prospero 5, GET-OBJECT-INFO", note=_PACKET)
    note = "each access method may be a URI of its own: AFTP is ftp, as an anonymous user (RFC 4157 2)"
    yield Receive(source="Prospero 5, Attributes", what="the access methods of the object", until="reply", note=note)
    missing = ("FAILURE NOT-FOUND", "NONE-FOUND")
    request = _object_info(b"CONTENTS", hsoname, version)
    # The server's own method, where no other can be a URI.
    yield _send(credentials, request, "Prospero 5, GET-OBJECT-INFO", (*missing, "PROSPERO-CONTENTS"))
    note = "CONTENTS is an attribute of the server dirsrv, which the protocol's document does not list"
    yield Receive(source="Prospero 5, Link Attributes", what="the contents of the object", until="reply", note=note)
    request = command(b"DIRECTORY", b"ASCII", hsoname, *([version] if version else []))
    request += command(b"LIST", b"'ATTRIBUTES(ACCESS-METHOD)'", b"COMPONENTS")
    yield _send(credentials, request, "Prospero 5, DIRECTORY and LIST", missing)
    yield Receive(source="Prospero 5, LIST", what="the links in the directory", until="reply")


def _name(locator: ProsperoLocator) -> bytes:
    """The octets of the hsoname, if that is all that identifies the object beside its version."""
    if locator.query is not None:
        raise PlanRefused('a prospero URI has no query: "?" in a name is written "%3F" (RFC 4157 2, RFC 3986 3.3)')
    if locator.hsoname is None:
        raise PlanRefused("there is no hsoname: a slash and the name of an object follow the host (RFC 4157 2)")
    if locator.attributes is not None:
        raise PlanRefused("nothing says what attributes after a version are (1994 PROSPERO)")
    if locator.fields:
        name = locator.fields[0].name
        raise PlanRefused(f"fields identify the object, but nothing says how {name!r} is sent (RFC 4157 2)")
    return guarded(locator.hsoname, "hsoname", _TOKENS, charset=locator.charset)


def _object_info(attribute: bytes, hsoname: bytes, version: bytes) -> bytes:
    return command(b"GET-OBJECT-INFO", b"'%s'" % attribute, b"ASCII", hsoname, version or b"0")


_PACKET = "each request is sent in a packet of ARDP, with a connection id that is chosen at random when it is sent"


def _send(credentials: Credentials, request: bytes, source: str, after: tuple[str, ...] = (), note: str = "") -> Send:
    """A request, which goes in one packet, on a connection of its own; who asks is a name without proof."""
    user = guarded(credentials.user or "anonymous", "user", _TOKENS)
    head = command(b"VERSION", b"5") + command(b"AUTHENTICATE", b"''", b"UNAUTHENTICATED", token(user))
    data = head + request
    if len(data) > _LONGEST:
        raise PlanRefused(f"a request of {len(data):,} octets does not fit into a datagram (Prospero 5, ARDP)")
    # A line for each message, as data can end none.
    return Send(source=source, data=data, after=after, note=note, lines=2 + request.count(b"\n"))


# -- carrying it out


def dialogue(plan: Plan, policy: Policy) -> Dialogue:
    """Request by request until one is answered with what the object is, by the conditions of the plan.

    One access method that can be a URI is where the object is; several are a listing of alternatives.
    """
    locator = plan.locator
    assert isinstance(locator, ProsperoLocator)
    own = Named("INTERNET-D", locator.host, "ASCII", locator.native(locator.hsoname or ""))
    request, told, ids = b"", _Told(), connections()
    for step in plan.steps:
        where = step.line()
        match step:
            case Connect(host=host, port=port, transport=transport):
                yield Dial(host, port, transport=transport)
            case Send(data=data, after=after):
                if after and told.status not in after:
                    break
                request = data
            case Receive(what=what):
                octets = yield from exchange(request, next(ids), policy.read_timeout, what)
                if isinstance(octets, Moved):
                    # The whole is asked for there: the policy judges it as it judges any redirect.
                    yield Hangup()
                    yield Head(location=str(replace(locator, host=octets.host, port=octets.port, written=None).uri()))
                    return
                told = _told(octets, what)
                if told.forwarded is not None:
                    uri = told.forwarded.uri()
                    if uri is None:
                        raise ResourceMissing("the object has moved to where no URI leads", "FORWARDED", where=what)
                    yield Hangup()
                    yield Head(location=uri, details=told.details())
                    return
                if what.startswith("the links") and told.status in ("", "NONE-FOUND"):
                    yield Hangup()
                    yield Head(listing=True, details=told.details())
                    for link in links(read(octets, what), what):
                        yield Item(link.entry())
                    return
                if told.status:
                    continue
                if what.startswith("the contents"):
                    contents = _contents(octets, what)
                    if contents is not None:
                        yield Hangup()
                        yield Head(length=len(contents), details=told.details())
                        yield Data(contents)
                        return
                    told = told._replace(status="NONE-FOUND")
                    continue
                methods = _methods(octets, own, what)
                uris = tuple(dict.fromkeys(uri for one in methods if (uri := one.uri())))
                if not methods:
                    told = told._replace(status="NONE-FOUND")
                elif not uris and any(one.name == "PROSPERO-CONTENTS" for one in methods):
                    told = told._replace(status="PROSPERO-CONTENTS")
                else:
                    yield Hangup()
                    if len(uris) == 1:
                        yield Head(location=uris[0], details=told.details())
                        return
                    yield Head(listing=True, details=told.details())
                    for one in methods:
                        yield Item(_alternative(one))
                    return
            case _:
                raise ProtocolError(f"nothing carries out {where!r}", step.source, plan.uri)
    raise ResourceMissing(told.words, told.status.removeprefix("FAILURE "), "Prospero 5, FAILURE", plan.uri)


class _Told(NamedTuple):
    """What an answer says beside what was asked for (Prospero 5, Standard Responses)."""

    status: str = ""
    """"NONE-FOUND", "FAILURE" with what it identifies, "ERROR"; "" if nothing has failed."""
    words: str = ""
    forwarded: Named | None = None
    warnings: tuple[str, ...] = ()

    def details(self) -> dict[str, object]:
        return {"warnings": self.warnings} if self.warnings else {}


def _told(octets: bytes, where: str) -> _Told:
    told = _Told(status="NONE-FOUND", words="the server says nothing of the object")
    known = not octets.strip()
    for line in read(octets, where):
        first = line[0]
        known = known or first.rstrip(">") in _RESPONSES
        if first in ("FAILURE", "ERROR"):
            status = " ".join(line[:2]) if first == "FAILURE" else first
            return told._replace(status=status, words=_words(line))
        if first == "FORWARDED" and len(line) >= 5:
            return told._replace(forwarded=Named(*line[1:6]))
        if first == "WARNING" and len(told.warnings) < 100:
            told = told._replace(warnings=(*told.warnings, _words(line[1:])))
        elif first in ("ATTRIBUTE", "LINK", "SUCCESS") and told.status:
            told = told._replace(status="", words="")
    if not known:
        raise ProtocolError("the answer is none of Prospero's", "Prospero 5, Standard Responses", where=where)
    return told


_RESPONSES = frozenset(
    "LINK ATTRIBUTE FILTER ID UNRESOLVED NONE-FOUND SUCCESS FORWARDED ERROR FAILURE WARNING".split()  # noqa: SIM905
)


def _words(line: tuple[str, ...]) -> str:
    """As the server says it, for people."""
    return " ".join(line)


def _methods(octets: bytes, own: Named, where: str) -> list[Method]:
    found: list[Method] = []
    for line in read(octets, where):
        one = method(attribute(line), own)
        if one is not None:
            found.append(one)
        if len(found) > 1000:
            raise LimitExceeded("more than 1,000 access methods", where=where)
    return found


def _contents(octets: bytes, where: str) -> bytes | None:
    """The values one behind the other: DATA, or TAGGED, which names them (as the program vget writes them)."""
    pieces: list[bytes] = []
    for line in read(octets, where):
        found = attribute(line)
        if found is None or found.name != "CONTENTS":
            continue
        kind, *values = found.values or ("",)
        if kind == "TAGGED" and len(values) >= 2:
            text = f"{values[0]}: {values[1]}" + ("" if values[1].endswith("\n") else "\n")
        elif kind == "DATA" and values:
            text = values[0]
        else:
            raise ProtocolError(f"contents as {kind!r}, which is not known", "Prospero 5, Link Attributes", where=where)
        pieces.append(text.encode("utf-8", "surrogateescape"))
    return b"".join(pieces) if pieces else None


def _alternative(one: Method) -> Entry:
    there = one.there
    name = f"{one.name} {there.host} {there.hsoname}".strip()
    return Entry(name, one.uri(), one.name, {"host": there.host, "hsoname": there.hsoname, "arguments": one.arguments})
