"""HTTP: the request of a URI (RFC 9110 4.3.2, 7.1 and 7.2; the message of RFC 7230)."""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Iterator

from overthere.access.steps import Credentials, Receive, Role, Send, Step, connect, guarded, without_zone
from overthere.ground.errors import PlanRefused
from overthere.schemes.known.http import HTTPLocator

__all__ = ["TARGET", "HTTPRole", "basic", "request_head", "steps"]


class HTTPRole(Role):
    """What is received."""

    TUNNEL = "tunnel"
    """A proxy's answer to CONNECT."""
    RESPONSE = "response"
    UPGRADE = "upgrade"
    """The response by which a WebSocket is opened."""


# Runs are taken whole and never given back: a long target must not be remembered character by character.
TARGET = re.compile(r"/(?:[A-Za-z0-9\-._~!$&'()*+,;=:@/?]++|%[0-9A-Fa-f]{2})*+")
_HOST = re.compile(r"\[[A-Za-z0-9\-._~!$&'()*+,;=:]+\]|(?:[A-Za-z0-9\-._~!$&'()*+,;=]++|%[0-9A-Fa-f]{2})++")


def steps(locator: HTTPLocator, credentials: Credentials) -> Iterator[Step]:
    """One GET, after which the server closes.  The fragment is not sent (RFC 9110 7.1).

    Raises: PlanRefused for userinfo, which is to be treated as an error (RFC 9110 4.2.4), and for what can stand in
    no request.
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
        told = basic(credentials.user, credentials.password)
        secret = (len(head) + 15, len(head) + 15 + len(told))
        head += b"Authorization: " + told + b"\r\n"
        lines += 1
    yield Send(source="RFC 9110 7.1 and 7.2", data=head + b"\r\n", secret=secret, lines=lines)
    yield Receive(source="RFC 7230 3.3.3", what="the response", until="length", role=HTTPRole.RESPONSE)


def request_head(
    locator: HTTPLocator, port: str | None = None, *, absolute: bool = False, method: str = "GET"
) -> bytes:
    """The request line, and Host, which should come first after it (RFC 9110 7.2).

    method: GET, or HEAD for the head of the same answer (RFC 9110 9.3.2).
    port: what Host says after the host, what the URI says unless given; absolute: whether the target is the whole URI,
    as a proxy is asked (RFC 7230 5.3.2).

    >>> from overthere import URI
    >>> request_head(URI("http://www.example.org/pub/WWW/").locator)
    b'GET /pub/WWW/ HTTP/1.1\\r\\nHost: www.example.org\\r\\n'
    """
    # Path and query are sent as the URI has them: nothing is decoded into the request (RFC 3986 7.3).
    if not TARGET.fullmatch(locator.target):
        raise PlanRefused(
            "the path or query is not a valid request-target: it contains characters that URIs cannot contain",
            "RFC 7230 5.3.1",
        )
    host = without_zone(locator.host)
    if not _HOST.fullmatch(host):
        raise PlanRefused("the host is not valid in a URI, nor in a Host field", "RFC 9110 7.2")
    if port is None:
        # RFC 7230 5.4: identical to the authority without userinfo, so a port that is written is sent.
        port = "" if locator.port is None else f":{locator.port}"
    there = f"http://{host}{port}" if absolute else ""
    return f"{method} {there}{locator.target} HTTP/1.1\r\nHost: {host}{port}\r\n".encode("ascii")


def basic(user: str, password: str) -> bytes:
    """Credentials as a header field says them (RFC 7617 2).

    Raises: PlanRefused for a colon in the name, and for controls, which cannot be said.

    >>> basic("Aladdin", "open sesame")
    b'Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ=='
    """
    name = guarded(user, "user", "RFC 7617 2", delimiters=b":")
    return b"Basic " + b64encode(name + b":" + guarded(password, "password", "RFC 7617 2"))
