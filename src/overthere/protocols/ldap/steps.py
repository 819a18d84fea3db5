"""ldap, ldaps: the session in which a URL's search is asked (RFC 4516; RFC 4511 for the messages; RFC 2255 5)."""

from __future__ import annotations

import re
from collections.abc import Generator, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from overthere.access.errors import ProtocolError, ResourceMissing
from overthere.access.steps import Connect, Credentials, Receive, Send, Step, connect
from overthere.access.wire import Dial, Dialogue, Effect, Entry, Hangup, Head, Item, Wire, Write
from overthere.errors import OverthereError, PlanRefused
from overthere.protocols.ldap import answer as answers
from overthere.protocols.ldap.message import Element, bind_request, search_request, unbind_request
from overthere.schemes.known.ldap import PORTS, LDAPLocator
from overthere.showing import printable
from overthere.uri import URI

if TYPE_CHECKING:
    from overthere.access.planning import Plan
    from overthere.access.policy import Policy

__all__ = ["dialogue", "steps"]

# In lines they delimit; in BER they do not, but a DN has its own escapes for whoever means them.
_UNESCAPED = re.compile("[\0\t\n\r]")
_ESCAPED = "which is written with a backslash and its digits, RFC 4514 2.4"


def steps(locator: LDAPLocator, credentials: Credentials) -> Iterator[Step]:
    """Bind, search, unbind.  The one extension that is implemented is bindname (RFC 2255 4)."""
    name, password, why = _login(locator, credentials)
    base, scope, wanted, attributes = locator.search
    names = [_octets(one, "attributes", "RFC 4512 2.5") for one in attributes]
    if b"" in names:
        raise PlanRefused("attributes has one without a name (RFC 4512 2.5)")
    sought = search_request(2, _octets(base, "dn", _ESCAPED), scope, wanted, names)
    tls = locator.scheme == "ldaps"
    port = PORTS[locator.scheme] if locator.port is None else locator.port
    yield connect(locator.host, port, "RFC 4516 3", tls=tls)
    data = bind_request(1, name, password)
    secret = (len(data) - len(password), len(data)) if password else None
    clear = " and everybody on the way can read the password (RFC 4516 5)" if password and not tls else ""
    yield Send(source="RFC 4511 4.2", data=data, secret=secret, lines=0, note=f"BindRequest: {why}{clear}")
    yield Receive(source="RFC 4511 4.2.2", what="the BindResponse", until="reply")
    shown = ", ".join(attributes) or "all user attributes"
    note = f'SearchRequest: {scope} at "{base}" for {wanted}, {shown}'
    yield Send(source="RFC 4516 3", data=sought, lines=0, note=printable(note))
    yield Receive(source="RFC 4511 4.5.2", what="the entries and references", until="SearchResultDone")
    yield Send(source="RFC 4511 4.3", data=unbind_request(3), lines=0)


def _login(locator: LDAPLocator, credentials: Credentials) -> tuple[bytes, bytes, str]:
    """The name and password to bind with, and in words who that is.

    The name of the extension with the caller's password, if it is his name or he gives none; else the caller's own;
    else nobody's: a name without a password would be taken as nobody's all the same (RFC 4513 5.1.2).

    Raises: PlanRefused for a critical extension that is not implemented or cannot be followed (RFC 4516 2).
    """
    user, password = credentials.user or "", credentials.password or ""
    for critical, kind, value in locator.extensions or ():
        if kind.lower() != "bindname":
            if critical:
                raise PlanRefused(f'the critical extension "{printable(kind)}" is not implemented (RFC 4516 2)')
            continue
        usable = value is not None and (not value or (bool(password) and user in ("", value)))
        if usable:
            user, password = value or "", password if value else ""
        elif critical:
            raise PlanRefused("the URL asks to bind as a name for which no password is given (RFC 2255 4)")
    if not user or not password:
        return b"", b"", "anonymous, for a name goes with a password (RFC 4513 5.1.2)" if user else "anonymous"
    try:
        octets = password.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        raise PlanRefused("the password holds what is no character (RFC 4513 5.1.3)") from None
    return _octets(user, "the name to bind as", _ESCAPED), octets, "by name and password"


def _octets(text: str, part: str, source: str) -> bytes:
    """UTF-8, which is all that an LDAPString is (RFC 4511 4.1.2); line ends, tabs and NUL not as they are."""
    if wrong := _UNESCAPED.search(text):
        raise PlanRefused(f"{part} holds U+{ord(wrong[0]):04X} as it is ({source}; RFC 3986 7.2)")
    try:
        return text.encode()
    except UnicodeEncodeError as error:
        raise PlanRefused(f"{part} is not UTF-8 at {error.start} (RFC 4511 4.1.2)") from None


# -- carrying it out

_MESSAGE = 256
"""How many times the longest line a message may be: values are photographs and lists of revoked certificates too."""
_LIMITS = (3, 4, 11)
"""timeLimitExceeded, sizeLimitExceeded, adminLimitExceeded: what came is right, and not all of it (RFC 4511 A.2)."""


def dialogue(plan: Plan, policy: Policy) -> Dialogue:
    """The session, each request answered before the next: the search starts when the bind has succeeded."""
    wire = Wire(policy.max_line)
    most = _MESSAGE * policy.max_line
    asked, over = 0, False
    for step in plan.steps:
        match step:
            case Connect(host=host, port=port, tls=tls):
                yield Dial(host, port, tls)
            case Send(data=data):
                asked = answers.number(data)
                yield Write(data, courtesy=over)
            case Receive(until="reply", what=what):
                operation = yield from answers.answer(wire, asked, most, what)
                if operation.tag != answers.BIND_RESPONSE:
                    raise ProtocolError("the answer to the bind is none", "RFC 4511 4.2.2", where=what)
                bound = answers.result(operation, what)
                if bound.code:
                    raise ResourceMissing(str(bound), str(bound.code), "RFC 4511 4.2.2", where=what)
            case Receive(what=what):
                if not (yield from _found(wire, plan, asked, most, what)):
                    return
                over = True
            case _:
                raise AssertionError(step)
    yield Hangup()


def _found(wire: Wire, plan: Plan, asked: int, most: int, where: str) -> Generator[Effect, Any, bool]:
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
