"""What the scheme rung of the ladder needs to know of a scheme (RFC 3986 6.2.3)."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

__all__ = ["SCHEMES", "SchemeFacts", "facts"]


class SchemeFacts(NamedTuple):
    """Facts that change which URIs of a scheme are equivalent; the defaults hold for an unknown scheme."""

    port: int | None = None
    """The default port (3.2.3)."""
    empty_path_is_slash: bool = False
    """With an authority, an empty path means the same as "/"."""
    normal_path: Callable[[str], str] | None = None
    """The scheme's own rule for its path."""
    sources: tuple[str, ...] = ()


def _mail_domain(path: str) -> str:
    """6.2.3: the domain of a mailbox is case-insensitive, its local part is not (RFC 6068 2: addresses by comma)."""

    def lowered(address: str) -> str:
        local, at, domain = address.rpartition("@")
        # The hexadecimal digits of an escape stay in upper case.
        head, *escaped = domain.split("%")
        return local + at + head.lower() + "".join(f"%{e[:2]}{e[2:].lower()}" for e in escaped) if at else address

    return ",".join(map(lowered, path.split(",")))


SCHEMES: dict[str, SchemeFacts] = {
    "http": SchemeFacts(80, True, None, ("RFC 9110 4.2.1", "RFC 9110 4.2.3")),
    "https": SchemeFacts(443, True, None, ("RFC 9110 4.2.2", "RFC 9110 4.2.3")),
    "ws": SchemeFacts(80, True, None, ("RFC 6455 3",)),
    "wss": SchemeFacts(443, True, None, ("RFC 6455 3",)),
    "ftp": SchemeFacts(21, sources=("RFC 1738 3.2",)),
    "gopher": SchemeFacts(70, sources=("RFC 4266 2.1",)),
    "telnet": SchemeFacts(23, sources=("RFC 4248 2",)),
    "nntp": SchemeFacts(119, sources=("RFC 5538 4",)),
    "news": SchemeFacts(119, sources=("RFC 5538 3",)),
    "wais": SchemeFacts(210, sources=("RFC 4156 2",)),
    "prospero": SchemeFacts(1525, sources=("RFC 4157 2",)),
    "ldap": SchemeFacts(389, sources=("RFC 4516 2",)),
    "mailto": SchemeFacts(normal_path=_mail_domain, sources=("RFC 3986 6.2.3", "RFC 6068 2")),
}

_UNKNOWN = SchemeFacts()


def facts(scheme: str) -> SchemeFacts:
    """The facts of a scheme, in any case (3.1); those of the generic syntax alone if it is not known."""
    return SCHEMES.get(scheme.lower(), _UNKNOWN)
