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


def dialogue(plan: Plan, policy: Policy) -> Dialogue:
    """Send requests, by the conditions of the plan, until one is answered with the object.

    A single access method with a URI is a redirect to the object; several are a listing of alternatives.
    """
    locator = plan.locator
    assert isinstance(locator, ProsperoLocator)
    object_name = ObjectName("INTERNET-D", locator.host, "ASCII", locator.native(locator.hsoname or ""))
    request, responses, ids = b"", _StandardResponses(), connections()
    for step in plan.steps:
        where = step.line()
        match step:
            case Connect(host=host, port=port, transport=transport):
                yield Dial(host, port, transport=transport)
            case Send(data=data, after=after):
                if after and responses.status not in after:
                    break
                request = data
            case Receive(what=context, role=role):
                octets = yield from exchange(request, next(ids), policy.read_timeout, context)
                if isinstance(octets, Redirection):
                    # The whole request goes to the other server: the policy judges it like any redirect.
                    yield Hangup()
                    yield Head(location=str(replace(locator, host=octets.host, port=octets.port, written=None).uri()))
                    return
                responses, final_effects = _read(octets, role, object_name, context)
                if final_effects is not None:
                    yield Hangup()
                    yield from final_effects
                    return
            case _:
                raise ProtocolError(f"nothing can carry out {where!r}", step.source, plan.uri)
    raise ResourceMissing(responses.words, responses.status.removeprefix("FAILURE "), "Prospero 5, FAILURE", plan.uri)


def _read(
    octets: bytes, role: Role | None, object_name: ObjectName, context: str
) -> tuple[_StandardResponses, Iterable[Effect] | None]:
    """Parse an answer; also return the final effects, or None if another request must follow."""
    responses = _read_responses(octets, context)
    if responses.forwarded is not None:
        uri = responses.forwarded.uri()
        if uri is None:
            raise ResourceMissing("the object has moved to a place without a URI", "FORWARDED", where=context)
        return responses, (Head(location=uri, details=responses.details()),)
    if role is ProsperoRole.LINKS and responses.status in ("", "NONE-FOUND"):
        entries = (Item(link.entry()) for link in links(read(octets, context), context))
        return responses, chain([Head(listing=True, details=responses.details())], entries)
    if responses.status:
        return responses, None
    if role is ProsperoRole.CONTENTS:
        contents = _contents(octets, context)
        if contents is None:
            return responses._replace(status="NONE-FOUND"), None
        return responses, (Head(length=len(contents), details=responses.details()), Data(contents))
    methods = _methods(octets, object_name, context)
    uris = tuple(dict.fromkeys(uri for item in methods if (uri := item.uri())))
    if not methods:
        return responses._replace(status="NONE-FOUND"), None
    if not uris and any(item.name == "PROSPERO-CONTENTS" for item in methods):
        return responses._replace(status="PROSPERO-CONTENTS"), None
    if len(uris) == 1:
        return responses, (Head(location=uris[0], details=responses.details()),)
    return responses, (Head(listing=True, details=responses.details()), *(Item(_alternative(item)) for item in methods))


class _StandardResponses(NamedTuple):
    """The standard responses in an answer, besides the requested data (Prospero 5, Standard Responses)."""

    status: str = ""
    """"NONE-FOUND", "FAILURE" with its identifier, "ERROR"; "" without a failure."""
    words: str = ""
    forwarded: ObjectName | None = None
    warnings: tuple[str, ...] = ()

    def details(self) -> dict[str, object]:
        return {"warnings": self.warnings} if self.warnings else {}


def _read_responses(octets: bytes, where: str) -> _StandardResponses:
    responses = _StandardResponses(status="NONE-FOUND", words="the server sent nothing about the object")
    is_known = not octets.strip()
    for line in read(octets, where):
        first = line[0]
        is_known = is_known or first.rstrip(">") in _RESPONSES
        if first in ("FAILURE", "ERROR"):
            status = " ".join(line[:2]) if first == "FAILURE" else first
            return responses._replace(status=status, words=" ".join(line))
        if first == "FORWARDED":
            if len(line) < 5:
                raise ProtocolError(f"a forwarding of {len(line)} tokens", "Prospero 5, FORWARDED", where=where)
            return responses._replace(forwarded=ObjectName(*line[1:6]))
        if first == "WARNING" and len(responses.warnings) < 100:
            responses = responses._replace(warnings=(*responses.warnings, " ".join(line[1:])))
        elif first in ("ATTRIBUTE", "LINK", "SUCCESS") and responses.status:
            responses = responses._replace(status="", words="")
    if not is_known:
        raise ProtocolError("the answer is not a Prospero answer", "Prospero 5, Standard Responses", where=where)
    return responses


_RESPONSES = frozenset(
    "LINK ATTRIBUTE FILTER ID UNRESOLVED NONE-FOUND SUCCESS FORWARDED ERROR FAILURE WARNING".split()  # noqa: SIM905
)


def _methods(octets: bytes, object_name: ObjectName, where: str) -> list[Method]:
    methods: list[Method] = []
    for line in read(octets, where):
        parsed = method(attribute(line), object_name)
        if parsed is not None:
            methods.append(parsed)
        if len(methods) > 1000:
            raise LimitExceeded("more than 1,000 access methods", where=where)
    return methods


def _contents(octets: bytes, where: str) -> bytes | None:
    """Join the values of CONTENTS: DATA, or TAGGED, which has names (written in the form of the program vget)."""
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


def _alternative(via: Method) -> Entry:
    place = via.there
    name = f"{via.name} {place.host} {place.hsoname}".strip()
    return Entry(name, via.uri(), via.name, {"host": place.host, "hsoname": place.hsoname, "arguments": via.arguments})
