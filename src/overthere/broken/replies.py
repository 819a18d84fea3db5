"""What a server has said to one request, or why there was no answer."""

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

__all__ = ["IN_ANSWER", "TOLD", "Reply", "brief_redirect", "failure", "short_reason", "wait_for"]

TOLD = 300
"""Characters that are kept of a reason or a media type."""
_LOCATION, _COOKIES, _MOST_COOKIES = 1 << 16, 1 << 13, 50
"""The same of a redirect: its Location, and the cookies that it sets and how many of them (RFC 6265 6.1)."""
IN_ANSWER = ("", "the response")
"""Where an error was, if there was a connection."""


class Reply(NamedTuple):
    """What a server has said to one request, or why there was none."""

    kind: str | None
    """Of `KINDS`; None: all is well, or `redirect` says where it is."""
    status: int | None
    why: str
    media_type: str = ""
    wait: float | None = None
    """Seconds after which it wants to be asked again (RFC 9110 10.2.3; RFC 6585 4); None if it does not say."""
    busy: bool = False
    """Whether it may answer at another time (429, 503)."""
    redirect: Head | None = None
    peer: tuple[int, Any] | None = None
    """The address that answered with a redirect."""
    is_read: bool = False
    """Whether the content was wanted."""
    anchors: Anchors | None = None
    """Of a document, where fragments are looked up in it."""


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
    """Why a URI could not be asked for, or a redirect not be followed."""
    if isinstance(error, AccessRefused):
        kind = "redirect-loop" if error.source == "RFC 9110 15.4" and error.rule == "redirect" else "refused-by-policy"
    elif isinstance(error, AccessFailed):
        kind = _failure_kind(error)
    else:
        kind = _KINDS[type(error)]
    return Reply(kind, None, short_reason(error.message if isinstance(error, AccessError) else str(error)))


def _failure_kind(error: AccessFailed) -> str:
    cause = error.__cause__
    if isinstance(cause, ssl.SSLError | ssl.CertificateError):
        return "tls"
    if isinstance(cause, socket.gaierror | UnicodeError):
        return "dns"
    return "protocol" if error.where in IN_ANSWER else "connect"


def brief_redirect(head: Head) -> Head:
    """What is kept of a redirect to the end of the run: where it leads, and the first cookies that it sets.

    Raises: ProtocolError for a Location that is too long.
    """
    if len(head.location or "") > _LOCATION:
        raise ProtocolError(f"a Location of more than {_LOCATION:,} octets", "RFC 9110 4.1", where="the response")
    cookies: list[tuple[str, str]] = []
    left = _COOKIES
    for name, value in head.details.get("headers", ()):
        if name.lower() == "set-cookie" and len(value) <= left and len(cookies) < _MOST_COOKIES:
            left -= len(value)
            cookies.append((name, value))
    return Head(location=head.location, permanent=head.permanent, details={"headers": tuple(cookies)})


def short_reason(told: str) -> str:
    return printable(shorten(told, TOLD))


def wait_for(said: Reply, tried: int) -> float | None:
    """Seconds after which it is asked for once more; None if it is not.

    tried: how often it was asked for.
    """
    if not said.busy or tried >= TRIES:
        return None
    wait = said.wait
    if wait is None and said.kind == "rate-limited":
        wait = BACK_OFF * 2 ** (tried - 1)
    return wait if wait is not None and wait <= MOST_WAIT else None
