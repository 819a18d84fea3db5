r"""Masks passwords and tokens in messages, figures and repr (RFC 3986 3.2.1 and 7.5).

What is shown has `***` where a secret stands, in a URI and in what is no URI: better too much than too little.  Secrets
are the passwords of userinfo and the values of parameters that let somebody in (`secret_parameters`).

- Userinfo begins behind two or more slashes, behind a colon and slashes, behind a colon alone where the text begins
  with the scheme or where browsers repair it (http, https, ws, wss, ftp): `https:///joe:pw@h`, `https:/joe:pw@h`,
  `http:joe:pw@h`.  A backslash is a slash there, and tabs and line ends are passed over, as browsers do.
- It may stand anywhere: in a query, a fragment, a path, between other words, and be escaped as a whole, once or often:
  `?next=http%3A%2F%2Fjoe%3Apw%40h`.
- It ends at the last "@" before a slash, "?" or "#"; an escaped one (`%40`) counts where there is no other.
- The password follows the first colon of it, escaped or not.  Where a stray "/", "?" or "#" in the password has cut the
  authority short, so that no port stands in the port's place, everything up to the last "@" of the text counts.
- No password is seen in a name or an address (`mailto:joe@h`, `urn:a:b@c`, any `scheme:joe@h`), nor in a path
  (`http://h/a:b@c`).
- A name without a password is shown.  It may be a token (`https://ghp_x@github.com/`): `mask(text, userinfo=True)`
  hides it.

The time is linear in the length of the text; a text without "@", `%40` and "=" is only searched for them.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from functools import cache
from itertools import chain
from typing import Any

from overthere.ground.exact import exact
from overthere.ground.secret_parameters import secret_parameters

__all__ = [
    "MASK", "Span", "join_spans", "mask", "masked_repr", "overlaps", "password_spans", "secret_spans", "shorten_masks",
    "mask_equal_length",
]  # fmt: skip

MASK = "***"
Span = tuple[int, int]

_NO_DELIMITER = re.compile(r"[^/\\?#@:\[\]]")
_VEIL = re.compile(r"\*+")

_GAP = r"[\t\n\r]*+"
_SLASH = r"(?:[/\\]|%(?:25)*+(?:2[fF]|5[cC]))"
_COLON = r"(?:[:]|%(?:25)*+3[aA])"
_REPAIRED = "|".join(_GAP.join(scheme) for scheme in ("https?", "wss?", "ftp")).replace(f"{_GAP}?", "?")
_NAMES = "about|cid|data|did|info|javascript|mailto|mid|news|tag|tel|urn"
"""Schemes of names, addresses and content: they have no login."""
_ESCAPED_AT = re.compile(r"%(?:25)*+40")


@cache
def _begin() -> re.Pattern[str]:
    """Where what may be an authority begins; made for the first text that may hold a password, for it takes long."""
    return re.compile(
        rf"(?:{_COLON}{_GAP})?+[/\\]{_GAP}[/\\](?:{_GAP}[/\\])*+"  # an escaped slash behind them is of the userinfo
        rf"|(?:{_COLON}{_GAP}{_SLASH}|{_SLASH}{_GAP}{_SLASH})(?:{_GAP}{_SLASH})*+"
        rf"|(?:(?<![a-zA-Z0-9+.-])(?i:{_REPAIRED}){_GAP}"
        rf"|\A[\x00-\x20<\"'(]*+(?i:url:)?+(?!(?i:{_NAMES}):)[a-zA-Z][a-zA-Z0-9+.\-\t\n\r]*+){_COLON}(?!{_GAP}{_SLASH})"
    )


# No backslash: by RFC 3986 it ends no authority.
_END = re.compile(r"([/?#])|(&)|%((?:25)*+)(?:2[fF]|3[fF]|23)")
_MARK = re.compile(r"([:@])|%((?:25)*+)(3[aA]|40)")
_BEFORE = re.compile(rf"{_COLON}{_GAP}\Z")
_FIRST_SLASH = re.compile(r"[/\\]|%((?:25)*+)(?:2[fF]|5[cC]|3[aA]\Z)")
"""The first slash of a beginning, or the colon of one that has none."""


def password_spans(text: str, *, userinfo: bool = False) -> tuple[Span, ...]:
    """Where passwords stand in `text`, which need not be a URI, in its order; by the rules of this module.

    userinfo: the whole userinfo, and also one that has no password.

    >>> password_spans("ftp://joe:secret@h/"), password_spans("http://h/?to=http%3A%2F%2Fu%3Apw%40h")
    (((10, 16),), ((30, 32),))
    """
    if "@" not in text and ("%" not in text or not _ESCAPED_AT.search(text)):
        return ()
    last = max(text.rfind("@"), max((match.start() for match in _ESCAPED_AT.finditer(text)), default=-1))
    spans: list[Span] = []
    at = 0
    while (begin := _begin().search(text, at)) is not None and begin.end() <= last:
        at = begin.end()
        # How often it is escaped: what is escaped more often is data in it.
        slash = _FIRST_SLASH.search(begin[0])
        level = 0 if slash is None or slash[1] is None else 1 + len(slash[1]) // 2
        end = _end(text, at, level)
        span = _password(text, at, end, level, last, userinfo)
        if span is not None:
            spans.append(span)
        # The colon before a slash begins the next one.
        colon = _BEFORE.search(text, at, end)
        at = max(end if colon is None else colon.start(), at if span is None else span[1])
    return tuple(spans)


def _end(text: str, start: int, level: int) -> int:
    """Where what may be an authority ends."""
    for match in _END.finditer(text, start):
        if match[1] or (level and (match[2] or len(match[3]) // 2 < level)):
            return match.start()
    return len(text)


def _password(text: str, start: int, end: int, level: int, last: int, userinfo: bool) -> Span | None:
    """In what may be an authority; last: where the last "@" of the whole text is."""
    colons: tuple[int, int] | None = None  # the first one: where it is and where it ends
    own = other = (-1, -1)  # the last "@" as it is delimited there, and however it is escaped
    for match in _MARK.finditer(text, start, end):
        if match[0] == ":" or match[3] in ("3a", "3A"):
            colons = colons or match.span()
        else:
            other = match.span()
            own = other if match[1] or len(match[2]) // 2 < level else own
    at, behind = own if own[0] >= 0 else other
    if colons is not None and 0 <= at < colons[0]:
        colons = None
    for match in _MARK.finditer(text, max(behind, start), end):
        if match[0] == ":" or match[3] in ("3a", "3A"):
            port = text[match.end() : end]
            host = text[max(behind, start) : match.start()]
            # What stands in the port's place is no port: a password that a stray delimiter has cut.
            if port and not (port.isascii() and port.isdigit()) and not _BRACKET.match(host):
                colons, at = colons or match.span(), max(at, last)
            break
    if userinfo and at > start:
        return start, at
    return (colons[1], at) if colons is not None and colons[1] < at else None


_BRACKET = re.compile(r"\[|%(?:25)*+5[bB]")


def secret_spans(text: str, *, userinfo: bool = False) -> tuple[Span, ...]:
    """Where secrets stand in `text`, in its order: passwords (`password_spans`) and values of secret parameters.

    >>> secret_spans("ftp://joe:secret@h/?sig=x"), secret_spans("?u=http%3A%2F%2Fh%2F%3Faccess_token%3Dx%26a%3Db&c=d")
    (((10, 16), (24, 25)), ((38, 39),))
    """
    if "@" not in text and "=" not in text and "%" not in text:
        return ()
    passwords = password_spans(text, userinfo=userinfo)
    values = tuple((one.value, one.close) for one in secret_parameters(text))
    return join_spans(passwords, values) if passwords and values else passwords or values


def join_spans(*spans: Iterable[Span]) -> tuple[Span, ...]:
    """All spans in their order; those that overlap become one."""
    joined: list[Span] = []
    for start, end in sorted(chain(*spans)):
        if joined and start < joined[-1][1]:
            joined[-1] = (joined[-1][0], max(end, joined[-1][1]))
        else:
            joined.append((start, end))
    return tuple(joined)


def overlaps(spans: Sequence[Span], start: int, end: int) -> bool:
    """Whether something of the spans, which are in their order, stands in text[start:end]; of an empty place, there."""
    at = bisect_right(spans, (max(start, end - 1), 1 << 62))
    return at > 0 and spans[at - 1][1] > start


def mask(text: str, spans: Iterable[Span] | None = None, *, userinfo: bool = False) -> str:
    """The text with `***` for each secret, which may be in a URI or anywhere in a sentence.

    spans: the places of the secrets; by default they are searched.
    userinfo: mask the whole userinfo, for forges that take a token as user name.

    >>> mask("ftp://joe:secret@h/"), mask("https://ghp_x:x-oauth-basic@github.com/", userinfo=True)
    ('ftp://joe:***@h/', 'https://***@github.com/')
    """
    text, at, pieces = exact(text, "mask()"), 0, list[str]()
    for start, end in secret_spans(text, userinfo=userinfo) if spans is None else spans:
        pieces += [text[at:start], MASK]
        at = end
    return "".join((*pieces, text[at:])) if pieces else text


def masked_repr(value: Any) -> str:
    """`repr(value)` of a named tuple, with secrets masked in each of its texts."""
    shown = ((name, mask(one) if isinstance(one, str) else one) for name, one in value._asdict().items())
    return f"{type(value).__name__}({', '.join(f'{name}={one!r}' for name, one in shown)})"


def mask_equal_length(*texts: str) -> tuple[str, ...]:
    """The texts with "*" for each character of a secret but delimiters: they are cut where they were cut before.

    >>> mask_equal_length("ftp://joe:pa?ss@h/")
    ('ftp://joe:**?**@h/',)
    """
    veiled: list[str] = []
    for text in texts:
        pieces, at = [], 0
        for start, end in secret_spans(text):
            pieces += [text[at:start], _NO_DELIMITER.sub("*", text[start:end])]
            at = end
        veiled.append("".join((*pieces, text[at:])))
    return tuple(veiled)


def shorten_masks(text: str) -> str:
    """What stands for a secret in a veiled text, at one length: `***`."""
    return _VEIL.sub(MASK, text)
