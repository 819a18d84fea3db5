"""Exceptions raised when a resource is opened.

AccessError (OverthereError)
+-- AccessRefused       the policy forbids it
+-- AccessTimeout       the server sent nothing for too long
+-- AccessFailed        the connection failed or broke
+-- ProtocolError       the server broke its protocol
+-- ResourceMissing     the server reports that the resource does not exist, or refuses it
+-- ResourceUnavailable the server reports that the resource is unavailable now
+-- LimitExceeded       more than the policy allows
"""

from __future__ import annotations

from overthere.ground.display import printable, shorten
from overthere.ground.errors import InvalidURI, NotSpecified, OverthereError, PlanRefused
from overthere.ground.extras import need
from overthere.ground.redact import mask

LONGER = "set Policy.total_timeout or --max-time"
LARGER = "set Policy.max_bytes or --max-bytes"
"""How to raise the two limits that every policy has."""


class AccessError(OverthereError):
    """A resource could not be opened or read; `uri` is the resource, `where` the step, `source` the RFC section.

    Its text has limited length and no password of a URI; `masking` removes passwords that a server repeats.
    """

    def __init__(self, message: str, source: str = "", uri: object = None, where: str = "") -> None:
        super().__init__(message)
        self.message: str = message
        self.source: str = source
        self.uri: object = uri
        self.where: str = where

    def __str__(self) -> str:
        # A message may contain text from a server, so control characters are removed.
        parts = [_shorten_reply(self.message.replace("\n", " "))]
        parts += [f"at: {_shorten_reply(self.where, 300)}"] if self.where else []
        parts += [self.source] if self.source else []
        parts += [_shorten_reply(str(self.uri), 300)] if self.uri is not None else []
        return parts[0] if len(parts) == 1 else f"{parts[0]} ({'; '.join(parts[1:])})"

    def __repr__(self) -> str:
        return f"{type(self).__name__}({str(self)!r})"

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (self.message, self.source, self.uri, self.where)


def _shorten_reply(text: str, most: int = 1000) -> str:
    return printable(shorten(mask(text), most))


def needs(module: str) -> None:
    """Raises: AccessFailed if a module of the extra "access" is not installed."""
    try:
        need("access", module)
    except ModuleNotFoundError as error:
        raise AccessFailed(str(error)) from None


class AccessRefused(AccessError):
    """The policy forbids it; `rule` names which of its rules: "scheme", "host", "port", "address", "redirect", ..."""

    def __init__(self, rule: str, message: str, source: str = "", uri: object = None) -> None:
        super().__init__(message, source, uri)
        self.rule = rule

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (self.rule, self.message, self.source, self.uri)


class AccessTimeout(AccessError):
    """The server sent nothing for longer than the policy allows."""


class AccessFailed(AccessError):
    """The connection failed, or it broke before the end."""


class ProtocolError(AccessError):
    """The server breaks its protocol."""


class _ErrorReply(AccessError):
    """A reply that is not the resource; `code` is the server's."""

    def __init__(self, message: str, code: str = "", source: str = "", uri: object = None, where: str = "") -> None:
        super().__init__(message, source, uri, where)
        self.code = code

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (self.message, self.code, self.source, self.uri, self.where)


class ResourceMissing(_ErrorReply):
    """The server does not have the resource or refuses it; `code` is the server's."""


class ResourceUnavailable(_ErrorReply):
    """The server cannot send the resource now but may later; `code` is the server's.

    HTTP 5xx, 408, 425 and 429 (RFC 9110 15.5.9, 15.6; RFC 8470 5.2; RFC 6585 4), also of a WebSocket; FTP 4xx (RFC 959
    4.2.1); NNTP 400 and 403 (RFC 3977 3.2.1); LDAP busy and unavailable (RFC 4511 A.2); Gopher+ 2 (Gopher+ 2.3).
    """


class LimitExceeded(AccessError):
    """The server sends more than the policy allows."""


DOCUMENTED = (AccessError, InvalidURI, NotSpecified, PlanRefused)
"""The only errors that opening and reading raise, whatever a server sends."""
