"""HTTP: the request of a URI (RFC 9110 4.3.2, 7.1 and 7.2; the message of RFC 7230)."""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Iterator

from overthere.access.steps import Credentials, Receive, Role, Send, Step, connect, guarded, without_zone
from overthere.ground.errors import PlanRefused
from overthere.schemes.known.http import HTTPLocator


class HTTPRole(Role):
    """The answers that the dialogue distinguishes."""

    TUNNEL = "tunnel"
    """A proxy's answer to CONNECT."""
    RESPONSE = "response"
    UPGRADE = "upgrade"
    """The response by which a WebSocket is opened."""


# The expressions do not backtrack: a long target must not be stored character by character.
TARGET = re.compile(r"/(?:[A-Za-z0-9\-._~!$&'()*+,;=:@/?]++|%[0-9A-Fa-f]{2})*+")
_HOST = re.compile(r"\[[A-Za-z0-9\-._~!$&'()*+,;=:]+\]|(?:[A-Za-z0-9\-._~!$&'()*+,;=]++|%[0-9A-Fa-f]{2})++")


def steps(locator: HTTPLocator, credentials: Credentials) -> Iterator[Step]:
    """Return the steps of one GET, after which the server closes.  The fragment is not sent (RFC 9110 7.1).

    Raises: PlanRefused for userinfo, which must be treated as an error (RFC 9110 4.2.4), and for text that is not
    valid in a request.
    """
    if locator.user is not None or locator.password is not None:
        raise PlanRefused(
            f"there is userinfo before the host {locator.host!r}: it must be treated as an error, and HTTP requests "
            "cannot contain it",
            "RFC 9110 4.2.4",
        )
    origin = locator.origin
    tls = locator.scheme == "https"
    yield connect(locator.host, origin.port, "RFC 9110 4.3.3" if tls else "RFC 9110 4.3.2", tls=tls)
    head, secret, lines = request_head(locator) + b"Connection: close\r\nAccept: */*\r\n", None, 5
    if credentials.user is not None and credentials.password is not None:
        login = basic(credentials.user, credentials.password)
        secret = (len(head) + 15, len(head) + 15 + len(login))
        head += b"Authorization: " + login + b"\r\n"
        lines += 1
    yield Send(source="RFC 9110 7.1 and 7.2", data=head + b"\r\n", secret=secret, lines=lines)
    yield Receive(source="RFC 7230 3.3.3", what="the response", until="length", role=HTTPRole.RESPONSE)


def request_head(
    locator: HTTPLocator, port: str | None = None, *, absolute: bool = False, method: str = "GET"
) -> bytes:
    """Return the request line, and Host, which should be the first field (RFC 9110 7.2).

    method: GET, or HEAD for the head of the same answer (RFC 9110 9.3.2).
    port: the text after the host in Host, by default the URI's port; absolute: whether the target is the whole URI,
    for a request to a proxy (RFC 7230 5.3.2).

    >>> from overthere import URI
    >>> request_head(URI("http://www.example.org/pub/WWW/").locator)
    b'GET /pub/WWW/ HTTP/1.1\\r\\nHost: www.example.org\\r\\n'
    """
    # Path and query are sent as in the URI: nothing is decoded (RFC 3986 7.3).
    if not TARGET.fullmatch(locator.target):
        raise PlanRefused(
            "the path or query is not a valid request-target: it contains characters that URIs cannot contain",
            "RFC 7230 5.3.1",
        )
    host = without_zone(locator.host)
    if not _HOST.fullmatch(host):
        raise PlanRefused("the host is not valid in a URI, nor in a Host field", "RFC 9110 7.2")
    if port is None:
        # RFC 7230 5.4: identical to the authority without userinfo, so a written port is sent.
        port = "" if locator.port is None else f":{locator.port}"
    prefix = f"http://{host}{port}" if absolute else ""
    return f"{method} {prefix}{locator.target} HTTP/1.1\r\nHost: {host}{port}\r\n".encode("ascii")


_CONTROLS = bytes((*range(0x20), 0x7F))


def basic(user: str, password: str) -> bytes:
    """Write credentials for a header field (RFC 7617 2).

    Raises: PlanRefused for a colon in the name, and for controls, which are not allowed.

    >>> basic("Aladdin", "open sesame")
    b'Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ=='
    """
    name = guarded(user, "user", "RFC 7617 2", delimiters=_CONTROLS + b":")
    return b"Basic " + b64encode(name + b":" + guarded(password, "password", "RFC 7617 2", delimiters=_CONTROLS))
