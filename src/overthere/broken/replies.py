"""The reply of a server to a request, or why there was none."""

from __future__ import annotations

import socket
import ssl
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from overthere.access.errors import (
    AccessError,
    AccessFailed,
    AccessRefused,
    AccessTimeout,
    LimitExceeded,
    ProtocolError,
    ResourceMissing,
    ResourceUnavailable,
)
from overthere.access.wire import Head
from overthere.broken.hosts import BACK_OFF, MOST_WAIT, TRIES
from overthere.ground.display import printable, shorten
from overthere.ground.errors import InvalidURI, NotSpecified, PlanRefused

if TYPE_CHECKING:
    from overthere.broken.fragments import Anchors

TOLD = 300
"""Maximum length of a stored reason or media type, in characters."""
_MAX_LOCATION, _MAX_COOKIE_LENGTH, _MAX_COOKIES = 1 << 16, 1 << 13, 50
"""Maximum length of a redirect's Location, and of its cookies, and their maximum number (RFC 6265 6.1)."""
IN_ANSWER = ("", "the response")
"""The places of errors that occur after connecting."""


class Reply(NamedTuple):
    """The reply of a server to a request, or why there was none."""

    kind: str | None
    """One of `KINDS`; None if all is well, or `redirect` has the new place."""
    status: int | None
    why: str
    media_type: str = ""
    wait: float | None = None
    """Seconds of Retry-After (RFC 9110 10.2.3; RFC 6585 4); None without the field."""
    busy: bool = False
    """Whether the server may answer later (429, 503)."""
    redirect: Head | None = None
    peer: tuple[int, Any] | None = None
    """The address of the server that redirected."""
    is_read: bool = False
    """Whether the content was requested."""
    anchors: Anchors | None = None
    """The anchors of a document in which fragments are looked up."""
    unreached: bool = False
    """Whether the connection failed before an answer; an invalid answer is one."""


_KINDS: Mapping[type[BaseException], str] = {
    AccessTimeout: "timeout",
    LimitExceeded: "too-large",
    ResourceMissing: "not-found",
    ResourceUnavailable: "server-error",
    ProtocolError: "protocol",
    InvalidURI: "not-of-scheme",
    PlanRefused: "refused-by-policy",
    NotSpecified: "not-asked",
}


def failure(error: BaseException) -> Reply:
    """The reply for an error: a URI could not be requested, or a redirect not be followed."""
    if isinstance(error, AccessRefused):
        kind = "redirect-loop" if error.source == "RFC 9110 15.4" and error.rule == "redirect" else "refused-by-policy"
    elif isinstance(error, AccessFailed):
        kind = _failure_kind(error)
    else:
        kind = _KINDS[type(error)]
    unreached = isinstance(error, AccessFailed | AccessTimeout) and kind != "tls"
    message = error.message if isinstance(error, AccessError) else str(error)
    return Reply(kind, None, short_reason(message), unreached=unreached)


def _failure_kind(error: AccessFailed) -> str:
    cause = error.__cause__
    if isinstance(cause, ssl.SSLError | ssl.CertificateError):
        return "tls"
    if isinstance(cause, socket.gaierror | UnicodeError):
        return "dns"
    return "protocol" if error.where in IN_ANSWER else "connect"


def brief_redirect(head: Head) -> Head:
    """The part of a redirect that is stored until the run ends: its Location, and the first cookies that it sets.

    Raises: ProtocolError for a Location that is too long.
    """
    if len(head.location or "") > _MAX_LOCATION:
        raise ProtocolError(f"a Location of more than {_MAX_LOCATION:,} octets", "RFC 9110 4.1", where="the response")
    cookies: list[tuple[str, str]] = []
    remaining = _MAX_COOKIE_LENGTH
    for name, value in head.details.get("headers", ()):
        if name.lower() == "set-cookie" and len(value) <= remaining and len(cookies) < _MAX_COOKIES:
            remaining -= len(value)
            cookies.append((name, value))
    return Head(location=head.location, permanent=head.permanent, details={"headers": tuple(cookies)})


def short_reason(reason: str) -> str:
    return printable(shorten(reason, TOLD))


def wait_for(reply: Reply, tried: int) -> float | None:
    """Seconds before a retry; None if there is none.

    tried: the number of requests so far.
    """
    if not reply.busy or tried >= TRIES:
        return None
    wait = reply.wait
    if wait is None and reply.kind == "rate-limited":
        wait = BACK_OFF * 2 ** (tried - 1)
    return wait if wait is not None and wait <= MOST_WAIT else None
