"""The LDAP client: bind, search, entries and referrals (RFC 4511; RFC 4516 4)."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import replace
from typing import Any

from overthere.access.errors import ProtocolError, ResourceMissing, ResourceUnavailable
from overthere.access.masking import secrets_of
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

_MESSAGE_FACTOR = 256
"""A message may be longer than a line by this factor: values may be photographs or lists of revoked certificates."""
_LIMIT_CODES = (3, 4, 11)
"""timeLimitExceeded, sizeLimitExceeded, adminLimitExceeded: the entries are valid, but incomplete (RFC 4511 A.2)."""


def dialogue(plan: Plan, policy: Policy) -> Dialogue:
    """Execute the session; each request waits for its answer: the search starts after a successful bind."""
    wire = Wire(policy.max_line)
    limit = _MESSAGE_FACTOR * policy.max_line
    number = 0
    for step in plan.steps:
        match step:
            case Connect(host=host, port=port, tls=tls):
                yield Dial(host, port, tls)
            case Send(data=data, role=role):
                number = message_id(role)
                yield Write(data, courtesy=role is LDAPRole.UNBIND)
            case Receive(role=LDAPRole.BOUND, what=what):
                operation = yield from answers.answer(wire, number, limit, what)
                if operation.tag != answers.BIND_RESPONSE:
                    raise ProtocolError("the answer to the bind is another operation", "RFC 4511 4.2.2", where=what)
                bind_result = answers.result(operation, what)
                if bind_result.code:
                    raise _result_error(bind_result, "RFC 4511 4.2.2", what)
            case Receive(role=LDAPRole.FOUND, what=what):
                if not (yield from _read_listing(wire, plan, number, limit, what)):
                    return
            case _:
                raise AssertionError(step)
    yield Hangup()


def _read_listing(wire: Wire, plan: Plan, number: int, limit: int, where: str) -> Generator[Effect, Any, bool]:
    """Yield the results as a listing; return False if the server only refers to another (RFC 4511 4.1.10, 4.5.3)."""
    locator = plan.locator
    assert isinstance(locator, LDAPLocator)
    head = Head(how="scheme", listing=True)
    has_head = False
    while (operation := (yield from answers.answer(wire, number, limit, where))).tag != answers.SEARCH_DONE:
        if operation.tag == answers.SEARCH_ENTRY:
            item = _entry(operation, locator, where)
        elif operation.tag == answers.SEARCH_REFERENCE:
            item = _referral(answers.uris(operation.content, where), locator)
        else:
            raise ProtocolError(f"an operation {operation.tag:02X} among the entries", "RFC 4511 4.5.2", where=where)
        if not has_head:
            yield head
            has_head = True
        yield Item(item)
    final_result = answers.result(operation, where)
    secrets = secrets_of(plan)  # the head has been yielded, and its details masked, before this
    head.details["result"] = result = secrets.mask_in(final_result.to_dict())
    referral = _referral(final_result.referral, locator) if final_result.code == 10 and final_result.referral else None
    if referral is not None and referral.uri is not None and not has_head:
        yield Head(location=referral.uri, details=head.details)
        return False
    if final_result.code and referral is None and not (has_head and final_result.code in _LIMIT_CODES):
        raise _result_error(final_result, "RFC 4511 4.5.2", where)
    if not has_head:
        yield head
    if final_result.code:
        yield Item(referral or Entry(secrets.mask(str(final_result)), None, "limit", result))
    return True


def _result_error(result: answers.Result, source: str, context: str) -> ResourceMissing | ResourceUnavailable:
    kind = ResourceUnavailable if result.code in (51, 52) else ResourceMissing  # busy, unavailable (RFC 4511 A.2)
    return kind(str(result), str(result.code), source, where=context)


def _entry(operation: Element, locator: LDAPLocator, where: str) -> Entry:
    """Return an entry by its name, with a URI at the same server if a URI can contain the name."""
    dn, attributes = answers.entry(operation, where)
    classes = next((values for kind, values in attributes.items() if kind.lower() == "objectclass"), [])
    kind = " ".join(name for name in classes if isinstance(name, str)) or "entry"
    try:
        target = LDAPLocator(locator.host, locator.port, dn.decode(), scheme=locator.scheme)
        uri = str(target.uri())
    except (OverthereError, UnicodeDecodeError):
        uri = None
    return Entry(dn.decode("utf-8", "replace"), uri, kind, {"attributes": attributes})


def _referral(uris: tuple[str, ...], locator: LDAPLocator) -> Entry:
    """Return a referral by its first LDAP URI; missing parts are those of the search (RFC 4511 4.1.10)."""
    for text in uris:
        try:
            target = URI(text).locator
            if isinstance(target, LDAPLocator):
                completed = replace(
                    target,
                    dn=target.dn or locator.dn,
                    attributes=target.attributes or locator.attributes,
                    scope=target.scope or locator.scope,
                    filter=target.filter or locator.filter,
                    fragment=None,
                    written=None,
                )
                return Entry(text, str(completed.uri()), "referral", {"uris": list(uris)})
        except OverthereError:
            continue
    return Entry(uris[0], None, "referral", {"uris": list(uris)})
