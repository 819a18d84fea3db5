"""Passwords stay out of messages, figures and repr (RFC 3986 3.2.1 and 7.5)."""

from __future__ import annotations

import re

__all__ = ["MASK", "mask", "password_span", "unveil", "veil"]

MASK = "***"

_NO_DELIMITER = re.compile(r"[^/?#@:\[\]]")
_VEIL = re.compile(r"\*+")
_AUTHORITY = re.compile(r"(?:[^/?#]*:)?//([^/?#]*)")


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
    last = text.find(":", max(at + 1, start), end)
    rest = text[last + 1 : end]
    if last >= 0 and rest and not (rest.isascii() and rest.isdigit()) and not text.startswith("[", max(at + 1, start)):
        # What stands in the port's place is no port: a password that a stray delimiter has cut.
        colon, at = (last if colon < 0 else colon), max(at, text.rfind("@", end))
    return (colon + 1, at) if 0 <= colon < at - 1 else None


def mask(text: str, span: tuple[int, int] | None = None) -> str:
    """`text` with `***` for the password: what stands in `span`, or else in `password_span(text)`.

    >>> mask("ftp://joe:secret@h/")
    'ftp://joe:***@h/'
    """
    span = span or password_span(text)
    return text if span is None else text[: span[0]] + MASK + text[span[1] :]


def veil(*texts: str) -> tuple[str, ...]:
    """The texts with "*" for each character of a password but delimiters: they are cut where they were cut before.

    >>> veil("ftp://joe:pa?ss@h/")
    ('ftp://joe:**?**@h/',)
    """
    veiled: list[str] = []
    for text in texts:
        span = password_span(text)
        if span is not None:
            text = text[: span[0]] + _NO_DELIMITER.sub("*", text[slice(*span)]) + text[span[1] :]
        veiled.append(text)
    return tuple(veiled)


def unveil(text: str) -> str:
    """What stands for a password in a veiled text, at one length: `***`."""
    return _VEIL.sub(MASK, text)
