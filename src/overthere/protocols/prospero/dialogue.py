"""The Prospero client: sends requests until one returns the object (Prospero 5; RFC 4157 2)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from itertools import chain
from typing import NamedTuple

from overthere.access.errors import LimitExceeded, ProtocolError, ResourceMissing
from overthere.access.planning import Plan
from overthere.access.policy import Policy
from overthere.access.steps import Connect, Receive, Role, Send
from overthere.access.wire import Data, Dial, Dialogue, Effect, Entry, Hangup, Head, Item
from overthere.protocols.prospero.answer import Method, ObjectName, attribute, links, method, read
from overthere.protocols.prospero.ardp import Redirection, connections, exchange
from overthere.protocols.prospero.steps import ProsperoRole
from overthere.schemes.known.prospero import ProsperoLocator

__all__ = ["dialogue"]


def dialogue(plan: Plan, policy: Policy) -> Dialogue:
    """Request by request until one is answered with what the object is, by the conditions of the plan.

    One access method that can be a URI is where the object is; several are a listing of alternatives.
    """
    locator = plan.locator
    assert isinstance(locator, ProsperoLocator)
    own = ObjectName("INTERNET-D", locator.host, "ASCII", locator.native(locator.hsoname or ""))
    request, told, ids = b"", _StandardResponses(), connections()
    for step in plan.steps:
        where = step.line()
        match step:
            case Connect(host=host, port=port, transport=transport):
                yield Dial(host, port, transport=transport)
            case Send(data=data, after=after):
                if after and told.status not in after:
                    break
                request = data
            case Receive(what=what, role=role):
                octets = yield from exchange(request, next(ids), policy.read_timeout, what)
                if isinstance(octets, Redirection):
                    # The whole request goes to the other server: the policy judges it like any redirect.
                    yield Hangup()
                    yield Head(location=str(replace(locator, host=octets.host, port=octets.port, written=None).uri()))
                    return
                told, ends = _read(octets, role, own, what)
                if ends is not None:
                    yield Hangup()
                    yield from ends
                    return
            case _:
                raise ProtocolError(f"nothing can carry out {where!r}", step.source, plan.uri)
    raise ResourceMissing(told.words, told.status.removeprefix("FAILURE "), "Prospero 5, FAILURE", plan.uri)


def _read(
    octets: bytes, role: Role | None, own: ObjectName, what: str
) -> tuple[_StandardResponses, Iterable[Effect] | None]:
    """What an answer says; and what is given of it at the end, or None where another request follows."""
    told = _read_responses(octets, what)
    if told.forwarded is not None:
        uri = told.forwarded.uri()
        if uri is None:
            raise ResourceMissing("the object has moved to a place without a URI", "FORWARDED", where=what)
        return told, (Head(location=uri, details=told.details()),)
    if role is ProsperoRole.LINKS and told.status in ("", "NONE-FOUND"):
        entries = (Item(link.entry()) for link in links(read(octets, what), what))
        return told, chain([Head(listing=True, details=told.details())], entries)
    if told.status:
        return told, None
    if role is ProsperoRole.CONTENTS:
        contents = _contents(octets, what)
        if contents is None:
            return told._replace(status="NONE-FOUND"), None
        return told, (Head(length=len(contents), details=told.details()), Data(contents))
    methods = _methods(octets, own, what)
    uris = tuple(dict.fromkeys(uri for one in methods if (uri := one.uri())))
    if not methods:
        return told._replace(status="NONE-FOUND"), None
    if not uris and any(one.name == "PROSPERO-CONTENTS" for one in methods):
        return told._replace(status="PROSPERO-CONTENTS"), None
    if len(uris) == 1:
        return told, (Head(location=uris[0], details=told.details()),)
    return told, (Head(listing=True, details=told.details()), *(Item(_alternative(one)) for one in methods))


class _StandardResponses(NamedTuple):
    """What an answer says beside what was asked for (Prospero 5, Standard Responses)."""

    status: str = ""
    """"NONE-FOUND", "FAILURE" with what it identifies, "ERROR"; "" if nothing has failed."""
    words: str = ""
    forwarded: ObjectName | None = None
    warnings: tuple[str, ...] = ()

    def details(self) -> dict[str, object]:
        return {"warnings": self.warnings} if self.warnings else {}


def _read_responses(octets: bytes, where: str) -> _StandardResponses:
    told = _StandardResponses(status="NONE-FOUND", words="the server sent nothing about the object")
    known = not octets.strip()
    for line in read(octets, where):
        first = line[0]
        known = known or first.rstrip(">") in _RESPONSES
        if first in ("FAILURE", "ERROR"):
            status = " ".join(line[:2]) if first == "FAILURE" else first
            return told._replace(status=status, words=_words(line))
        if first == "FORWARDED" and len(line) >= 5:
            return told._replace(forwarded=ObjectName(*line[1:6]))
        if first == "WARNING" and len(told.warnings) < 100:
            told = told._replace(warnings=(*told.warnings, _words(line[1:])))
        elif first in ("ATTRIBUTE", "LINK", "SUCCESS") and told.status:
            told = told._replace(status="", words="")
    if not known:
        raise ProtocolError("the answer is not a Prospero answer", "Prospero 5, Standard Responses", where=where)
    return told


_RESPONSES = frozenset(
    "LINK ATTRIBUTE FILTER ID UNRESOLVED NONE-FOUND SUCCESS FORWARDED ERROR FAILURE WARNING".split()  # noqa: SIM905
)


def _words(line: tuple[str, ...]) -> str:
    """As the server says it, for people."""
    return " ".join(line)


def _methods(octets: bytes, own: ObjectName, where: str) -> list[Method]:
    methods: list[Method] = []
    for line in read(octets, where):
        one = method(attribute(line), own)
        if one is not None:
            methods.append(one)
        if len(methods) > 1000:
            raise LimitExceeded("more than 1,000 access methods", where=where)
    return methods


def _contents(octets: bytes, where: str) -> bytes | None:
    """The values one behind the other: DATA, or TAGGED, which names them (as the program vget writes them)."""
    pieces: list[bytes] = []
    for line in read(octets, where):
        contents = attribute(line)
        if contents is None or contents.name != "CONTENTS":
            continue
        kind, *values = contents.values or ("",)
        if kind == "TAGGED" and len(values) >= 2:
            text = f"{values[0]}: {values[1]}" + ("" if values[1].endswith("\n") else "\n")
        elif kind == "DATA" and values:
            text = values[0]
        else:
            raise ProtocolError(f"contents in an unknown form, {kind!r}", "Prospero 5, Link Attributes", where=where)
        pieces.append(text.encode("utf-8", "surrogateescape"))
    return b"".join(pieces) if pieces else None


def _alternative(one: Method) -> Entry:
    there = one.there
    name = f"{one.name} {there.host} {there.hsoname}".strip()
    return Entry(name, one.uri(), one.name, {"host": there.host, "hsoname": there.hsoname, "arguments": one.arguments})
