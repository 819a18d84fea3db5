"""Passwords stay out of messages, figures and repr (RFC 3986 3.2.1 and 7.5)."""

from __future__ import annotations

import re

__all__ = ["MASK", "mask", "password_span"]

MASK = "***"

_AUTHORITY = re.compile(r"[^:/?#]*+:?//([^/?#]*)")


def password_span(text: str) -> tuple[int, int] | None:
    """Where a password stands in `text`, which need not be a URI; None if there is none.

    The password is what follows the first colon of the userinfo.  Where a stray `/`, `?` or `#` in it
    has cut the authority short, everything up to the last "@" counts: better too much than too little.

    >>> password_span("ftp://joe:secret@h/")
    (10, 16)
    """
    match = _AUTHORITY.match(text)
    if match is None:
        return None
    start, end = match.span(1)
    at = text.rfind("@", start, end)
    colon = text.find(":", start, end if at < 0 else at)
    if colon < 0:
        return None
    if at < 0:
        rest = text[colon + 1 : end]
        if text.startswith("[", start) or (rest.isascii() and rest.isdigit()) or not rest:
            return None
        at = text.rfind("@", end)
    return (colon + 1, at) if at > colon + 1 else None


def mask(text: str) -> str:
    """`text` with `***` for the password.

    >>> mask("ftp://joe:secret@h/")
    'ftp://joe:***@h/'
    """
    span = password_span(text)
    return text if span is None else text[: span[0]] + MASK + text[span[1] :]
