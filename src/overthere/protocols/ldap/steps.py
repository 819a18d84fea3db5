"""ldap, ldaps: the session for a URL's search (RFC 4516; RFC 4511 for the messages; RFC 2255 5)."""

from __future__ import annotations

import re
from collections.abc import Iterator

from overthere.access.steps import Credentials, Receive, Role, Send, Step, connect
from overthere.ground.display import printable
from overthere.ground.errors import PlanRefused
from overthere.protocols.ldap.message import bind_request, search_request, unbind_request
from overthere.schemes.known.ldap import PORTS, LDAPLocator


class LDAPRole(Role):
    """The requests and their answers."""

    BIND = "BindRequest"
    BOUND = "BindResponse"
    SEARCH = "SearchRequest"
    FOUND = "SearchResult"
    UNBIND = "UnbindRequest"


_REQUESTS = (LDAPRole.BIND, LDAPRole.SEARCH, LDAPRole.UNBIND)


def message_id(request: Role | None) -> int:
    """Return the number of a request, which its answers repeat (RFC 4511 4.1.1.1)."""
    return _REQUESTS.index(request) + 1 if request in _REQUESTS else 0


# Delimiters of line-based protocols; in BER they are not, but a DN has its own escapes for them.
_FORBIDDEN = re.compile("[\0\t\n\r]")
_ESCAPES = "which is written with a backslash and its digits, RFC 4514 2.4"


def steps(locator: LDAPLocator, credentials: Credentials) -> Iterator[Step]:
    """Return the steps: bind, search, unbind.  The only implemented extension is bindname (RFC 2255 4)."""
    name, password, identity = _login(locator, credentials)
    base, scope, filter_, attributes = locator.search
    names = [_encode(name, "attributes", "RFC 4512 2.5") for name in attributes]
    if b"" in names:
        raise PlanRefused("one of the attributes has no name", "RFC 4512 2.5")
    query = search_request(message_id(LDAPRole.SEARCH), _encode(base, "dn", _ESCAPES), scope, filter_, names)
    tls = locator.scheme == "ldaps"
    port = PORTS[locator.scheme] if locator.port is None else locator.port
    yield connect(locator.host, port, "RFC 4516 3", tls=tls)
    data = bind_request(message_id(LDAPRole.BIND), name, password)
    secret = (len(data) - len(password), len(data)) if password else None
    warning = " and everybody on the network path can read the password (RFC 4516 5)" if password and not tls else ""
    note = f"BindRequest: {identity}{warning}"
    yield Send(source="RFC 4511 4.2", data=data, secret=secret, lines=0, note=note, role=LDAPRole.BIND)
    yield Receive(source="RFC 4511 4.2.2", what="the BindResponse", until="reply", role=LDAPRole.BOUND)
    attribute_text = ", ".join(attributes) or "all user attributes"
    note = f'SearchRequest: {scope} at "{base}" for {filter_}, {attribute_text}'
    yield Send(source="RFC 4516 3", data=query, lines=0, note=printable(note), role=LDAPRole.SEARCH)
    description = "the entries and references"
    yield Receive(source="RFC 4511 4.5.2", what=description, until="SearchResultDone", role=LDAPRole.FOUND)
    unbind = unbind_request(message_id(LDAPRole.UNBIND))
    yield Send(source="RFC 4511 4.3", data=unbind, lines=0, role=LDAPRole.UNBIND)


def _login(locator: LDAPLocator, credentials: Credentials) -> tuple[bytes, bytes, str]:
    """Return the name and password to bind with, and a description of that identity.

    It is the extension's name with the caller's password, if the caller gives the same name or none; otherwise the
    caller's; otherwise anonymous: for a server, a name without a password is anonymous (RFC 4513 5.1.2).

    Raises: PlanRefused for a critical extension that is not implemented or cannot be followed (RFC 4516 2).
    """
    user, password = credentials.user or "", credentials.password or ""
    for critical, kind, value in locator.extensions or ():
        if kind.lower() != "bindname":
            if critical:
                raise PlanRefused(f'the critical extension "{printable(kind)}" is not implemented', "RFC 4516 2")
            continue
        usable = value is not None and (not value or (bool(password) and user in ("", value)))
        if usable:
            user, password = value or "", password if value else ""
        elif critical:
            raise PlanRefused("the URL requires a bind with a name, but there is no password", "RFC 2255 4")
    if not user or not password:
        return b"", b"", "anonymous, because a name needs a password (RFC 4513 5.1.2)" if user else "anonymous"
    try:
        encoded_password = password.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        raise PlanRefused("the password contains an invalid character", "RFC 4513 5.1.3") from None
    return _encode(user, "the name to bind as", _ESCAPES), encoded_password, "by name and password"


def _encode(text: str, part: str, source: str) -> bytes:
    """Encode an LDAPString, which is UTF-8 (RFC 4511 4.1.2); unescaped line ends, tabs and NUL are rejected."""
    if match := _FORBIDDEN.search(text):
        raise PlanRefused(f"{part} contains U+{ord(match[0]):04X} as it is", f"{source}; RFC 3986 7.2")
    try:
        return text.encode()
    except UnicodeEncodeError as error:
        raise PlanRefused(f"{part} is not UTF-8 at {error.start}", "RFC 4511 4.1.2") from None
