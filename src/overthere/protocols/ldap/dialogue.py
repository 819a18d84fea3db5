"""The LDAP client: bind, search, entries and referrals (RFC 4511; RFC 4516 4)."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import replace
from typing import Any

from overthere.access.errors import ProtocolError, ResourceMissing
from overthere.access.planning import Plan
from overthere.access.policy import Policy
from overthere.access.steps import Connect, Receive, Send
from overthere.access.wire import Dial, Dialogue, Effect, Entry, Hangup, Head, Item, Wire, Write
from overthere.ground.errors import OverthereError
from overthere.protocols.ldap import answer as answers
from overthere.protocols.ldap.message import Element
from overthere.protocols.ldap.steps import LDAPRole, message_id
from overthere.schemes.known.ldap import LDAPLocator
from overthere.values.uri import URI

__all__ = ["dialogue"]

_MESSAGE = 256
"""How many times the longest line a message may be: values are photographs and lists of revoked certificates too."""
_LIMITS = (3, 4, 11)
"""timeLimitExceeded, sizeLimitExceeded, adminLimitExceeded: what came is right, and not all of it (RFC 4511 A.2)."""


def dialogue(plan: Plan, policy: Policy) -> Dialogue:
    """The session, each request answered before the next: the search starts when the bind has succeeded."""
    wire = Wire(policy.max_line)
    most = _MESSAGE * policy.max_line
    asked = 0
    for step in plan.steps:
        match step:
            case Connect(host=host, port=port, tls=tls):
                yield Dial(host, port, tls)
            case Send(data=data, role=role):
                asked = message_id(role)
                yield Write(data, courtesy=role is LDAPRole.UNBIND)
            case Receive(role=LDAPRole.BOUND, what=what):
                operation = yield from answers.answer(wire, asked, most, what)
                if operation.tag != answers.BIND_RESPONSE:
                    raise ProtocolError("the answer to the bind is another operation", "RFC 4511 4.2.2", where=what)
                bound = answers.result(operation, what)
                if bound.code:
                    raise ResourceMissing(str(bound), str(bound.code), "RFC 4511 4.2.2", where=what)
            case Receive(role=LDAPRole.FOUND, what=what):
                if not (yield from _read_listing(wire, plan, asked, most, what)):
                    return
            case _:
                raise AssertionError(step)
    yield Hangup()


def _read_listing(wire: Wire, plan: Plan, asked: int, most: int, where: str) -> Generator[Effect, Any, bool]:
    """What was found, as a listing; False if the server only says where to ask (RFC 4511 4.1.10, 4.5.3)."""
    locator = plan.locator
    assert isinstance(locator, LDAPLocator)
    head = Head(how="scheme", listing=True)
    said = False
    while (operation := (yield from answers.answer(wire, asked, most, where))).tag != answers.SEARCH_DONE:
        if operation.tag == answers.SEARCH_ENTRY:
            item = _entry(operation, locator, where)
        elif operation.tag == answers.SEARCH_REFERENCE:
            item = _referral(answers.uris(operation.content, where), locator)
        else:
            raise ProtocolError(f"an operation {operation.tag:02X} among the entries", "RFC 4511 4.5.2", where=where)
        if not said:
            yield head
            said = True
        yield Item(item)
    done = answers.result(operation, where)
    head.details["result"] = done.to_dict()
    elsewhere = _referral(done.referral, locator) if done.code == 10 and done.referral else None
    if elsewhere is not None and elsewhere.uri is not None and not said:
        yield Head(location=elsewhere.uri, details=head.details)
        return False
    if done.code and elsewhere is None and not (said and done.code in _LIMITS):
        raise ResourceMissing(str(done), str(done.code), "RFC 4511 4.5.2", where=where)
    if not said:
        yield head
    if done.code:
        yield Item(elsewhere or Entry(str(done), None, "limit", done.to_dict()))
    return True


def _entry(operation: Element, locator: LDAPLocator, where: str) -> Entry:
    """An entry by its name, with a URI at the same server, where its name is one that a URI can say."""
    dn, attributes = answers.entry(operation, where)
    classes = next((values for kind, values in attributes.items() if kind.lower() == "objectclass"), [])
    kind = " ".join(one for one in classes if isinstance(one, str)) or "entry"
    try:
        there = LDAPLocator(locator.host, locator.port, dn.decode(), scheme=locator.scheme)
        uri = str(there.uri())
    except (OverthereError, UnicodeDecodeError):
        uri = None
    return Entry(dn.decode("utf-8", "replace"), uri, kind, {"attributes": attributes})


def _referral(uris: tuple[str, ...], locator: LDAPLocator) -> Entry:
    """Where the search goes on: the first URI of ours; what it leaves out is as in the search (RFC 4511 4.1.10)."""
    for text in uris:
        try:
            there = URI(text).locator
            if isinstance(there, LDAPLocator):
                whole = replace(
                    there,
                    dn=there.dn or locator.dn,
                    attributes=there.attributes or locator.attributes,
                    scope=there.scope or locator.scope,
                    filter=there.filter or locator.filter,
                    fragment=None,
                    written=None,
                )
                return Entry(text, str(whole.uri()), "referral", {"uris": list(uris)})
        except OverthereError:
            continue
    return Entry(uris[0], None, "referral", {"uris": list(uris)})
