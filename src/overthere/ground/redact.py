r"""Masks passwords and tokens in messages, figures and repr (RFC 3986 3.2.1 and 7.5).

Secrets become `***` when they are shown, in a URI and in any other text: better too much than too little.  Secrets
are the passwords of userinfo and the values of parameters that grant access (`secret_parameters`).

- Userinfo begins after two or more slashes, after a colon and slashes, or after a colon alone if the text begins
  with the scheme or if browsers repair it (http, https, ws, wss, ftp): `https:///joe:pw@h`, `https:/joe:pw@h`,
  `http:joe:pw@h`.  A backslash counts as a slash, and tabs and line ends are ignored, as in browsers.
- It may be anywhere: in a query, a fragment, a path, between other words, and be escaped as a whole, once or often:
  `?next=http%3A%2F%2Fjoe%3Apw%40h`.
- It ends at the last "@" before a slash, "?" or "#"; an escaped one (`%40`) counts if there is no other.
- The password follows its first colon, escaped or not.  If a stray "/", "?" or "#" in the password cuts the
  authority short, so that the port would not be a number, everything up to the last "@" of the text counts.
- Names and addresses (`mailto:joe@h`, `urn:a:b@c`, any `scheme:joe@h`) and paths (`http://h/a:b@c`) have no
  passwords.
- A name without a password is shown.  It may be a token (`https://ghp_x@github.com/`): `mask(text, userinfo=True)`
  masks it.

The time is linear in the length of the text; a text without "@", "=" and escapes of them is only searched for these.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from functools import cache
from itertools import chain
from typing import Any, TypeVar, cast

from overthere.ground.exact import exact
from overthere.ground.secret_parameters import secret_parameters

T = TypeVar("T")
MASK = "***"
Span = tuple[int, int]

_NOT_DELIMITER = re.compile(r"[^/\\?#@:\[\]]")
_MASKED_RUN = re.compile(r"\*+")

_GAP = r"[\t\n\r]*+"
_SLASH = r"(?:[/\\]|%(?:25)*+(?:2[fF]|5[cC]))"
_COLON = r"(?:[:]|%(?:25)*+3[aA])"
_REPAIRED = "|".join(_GAP.join(scheme) for scheme in ("https?", "wss?", "ftp")).replace(f"{_GAP}?", "?")
_SCHEMES_WITHOUT_LOGIN = "about|cid|data|did|info|javascript|mailto|mid|news|tag|tel|urn"
"""Schemes of names, addresses and content, which have no login."""
_ESCAPED_AT = re.compile(r"%(?:25)*+40")


@cache
def _authority_start() -> re.Pattern[str]:
    """Return the pattern of the start of a possible authority; compiled on first use, because that is slow."""
    return re.compile(
        rf"(?:{_COLON}{_GAP})?+[/\\]{_GAP}[/\\](?:{_GAP}[/\\])*+"  # an escaped slash after them belongs to the userinfo
        rf"|(?:{_COLON}{_GAP}{_SLASH}|{_SLASH}{_GAP}{_SLASH})(?:{_GAP}{_SLASH})*+"
        rf"|(?:(?:(?<![a-zA-Z0-9+.-])|(?<=%[0-9a-fA-F]{{2}}))(?i:{_REPAIRED}){_GAP}"
        rf"|\A[\x00-\x20<\"'(]*+(?i:url:)?+(?!(?i:{_SCHEMES_WITHOUT_LOGIN}):)[a-zA-Z][a-zA-Z0-9+.\-\t\n\r]*+){_COLON}(?!{_GAP}{_SLASH})"
    )


# A backslash does not end an authority in RFC 3986.
_AUTHORITY_END = re.compile(r"([/?#])|(&)|%((?:25)*+)(?:2[fF]|3[fF]|23)")
_COLON_OR_AT = re.compile(r"([:@])|%((?:25)*+)(3[aA]|40)")
_COLON_AT_END = re.compile(rf"{_COLON}{_GAP}\Z")
_FIRST_SLASH = re.compile(r"[/\\]|%((?:25)*+)(?:2[fF]|5[cC]|3[aA]\Z)")
"""The first slash of an authority's start, or its colon if it has no slash."""


def password_spans(text: str, *, userinfo: bool = False) -> tuple[Span, ...]:
    """Return the places of passwords in `text`, which may be any text, in its order; by the rules of this module.

    userinfo: return the whole userinfo, also without a password.

    >>> password_spans("ftp://joe:secret@h/"), password_spans("http://h/?to=http%3A%2F%2Fu%3Apw%40h")
    (((10, 16),), ((30, 32),))
    """
    if "@" not in text and ("%" not in text or not _ESCAPED_AT.search(text)):
        return ()
    last = max(text.rfind("@"), max((match.start() for match in _ESCAPED_AT.finditer(text)), default=-1))
    spans: list[Span] = []
    position = 0
    while (begin := _authority_start().search(text, position)) is not None and begin.end() <= last:
        position = begin.end()
        # The number of times that it is escaped: delimiters that are escaped more often are data in it.
        slash = _FIRST_SLASH.search(begin[0])
        level = 0 if slash is None or slash[1] is None else 1 + len(slash[1]) // 2
        end = _authority_end(text, position, level)
        span = _password_span(text, position, end, level, last, userinfo)
        if span is not None:
            spans.append(span)
        # The colon before a slash begins the next one.
        colon = _COLON_AT_END.search(text, position, end)
        position = max(end if colon is None else colon.start(), position if span is None else span[1])
    return tuple(spans)


def _authority_end(text: str, start: int, level: int) -> int:
    """Return the end of a possible authority.  level: the number of times that it is escaped."""
    for match in _AUTHORITY_END.finditer(text, start):
        if match[1] or (level and (match[2] or len(match[3]) // 2 < level)):
            return match.start()
    return len(text)


def _password_span(text: str, start: int, end: int, level: int, last: int, userinfo: bool) -> Span | None:
    """Return the place of the password in a possible authority; last: the place of the last "@" of the whole text."""
    colons: tuple[int, int] | None = None  # start and end of the first colon
    last_at = any_at = (-1, -1)  # the last "@" at this level of escaping, and at any level
    for match in _COLON_OR_AT.finditer(text, start, end):
        if match[0] == ":" or match[3] in ("3a", "3A"):
            colons = colons or match.span()
        else:
            any_at = match.span()
            last_at = any_at if match[1] or len(match[2]) // 2 < level else last_at
    at, userinfo_end = last_at if last_at[0] >= 0 else any_at
    if colons is not None and 0 <= at < colons[0]:
        colons = None
    for match in _COLON_OR_AT.finditer(text, max(userinfo_end, start), end):
        if match[0] == ":" or match[3] in ("3a", "3A"):
            port = text[match.end() : end]
            host = text[max(userinfo_end, start) : match.start()]
            # The text after the colon is not a port but a password, cut by a stray delimiter.
            if port and not (port.isascii() and port.isdigit()) and not _BRACKET.match(host):
                colons, at = colons or match.span(), max(at, last)
            break
    if userinfo and at > start:
        return start, at
    return (colons[1], at) if colons is not None and colons[1] < at else None


_BRACKET = re.compile(r"\[|%(?:25)*+5[bB]")


def secret_spans(text: str, *, userinfo: bool = False) -> tuple[Span, ...]:
    """Return the places of secrets in `text`, in order: passwords (`password_spans`), values of secret parameters.

    >>> secret_spans("ftp://joe:secret@h/?sig=x"), secret_spans("?u=http%3A%2F%2Fh%2F%3Faccess_token%3Dx%26a%3Db&c=d")
    (((10, 16), (24, 25)), ((38, 39),))
    """
    if "@" not in text and "=" not in text and "%" not in text:
        return ()
    passwords = password_spans(text, userinfo=userinfo)
    values = tuple((item.value, item.close) for item in secret_parameters(text))
    return join_spans(passwords, values) if passwords and values else passwords or values


def join_spans(*spans: Iterable[Span]) -> tuple[Span, ...]:
    """Merge spans into one ordered tuple; overlapping spans become one."""
    joined: list[Span] = []
    for start, end in sorted(chain(*spans)):
        if joined and start < joined[-1][1]:
            joined[-1] = (joined[-1][0], max(end, joined[-1][1]))
        else:
            joined.append((start, end))
    return tuple(joined)


def overlaps(spans: Sequence[Span], start: int, end: int) -> bool:
    """Whether any of the ordered spans overlaps text[start:end]; for an empty place, whether one contains it."""
    index = bisect_right(spans, (max(start, end - 1), 1 << 62))
    return index > 0 and spans[index - 1][1] > start


def mask(text: str, spans: Iterable[Span] | None = None, *, userinfo: bool = False) -> str:
    """Replace each secret in a text by `***`; it may be in a URI or anywhere in a sentence.

    spans: the places of the secrets; by default they are searched.
    userinfo: mask the whole userinfo, for forges that accept a token as user name.

    >>> mask("ftp://joe:secret@h/"), mask("https://ghp_x:x-oauth-basic@github.com/", userinfo=True)
    ('ftp://joe:***@h/', 'https://***@github.com/')
    """
    text, position, pieces = exact(text, "mask()"), 0, list[str]()
    for start, end in secret_spans(text, userinfo=userinfo) if spans is None else spans:
        pieces += [text[position:start], MASK]
        position = end
    return "".join((*pieces, text[position:])) if pieces else text


def masked_repr(value: Any) -> str:
    """Return `repr(value)` of a named tuple or dataclass, secrets masked: in `text`, those of the part `component`."""
    fields: list[str] = []
    for name in getattr(value, "_fields", None) or value.__dataclass_fields__:
        item = getattr(value, name)
        part = getattr(value, "component", name) if name == "text" else name
        fields.append(f"{name}={(mask_part(part, item) if isinstance(item, str) else mask_texts(item))!r}")
    return f"{type(value).__name__}({', '.join(fields)})"


def hides_secrets(cls: type[T]) -> type[T]:
    """Give a named tuple or a dataclass `masked_repr`."""
    cast("Any", cls).__repr__ = masked_repr
    return cls


def mask_texts(item: Any) -> Any:
    """Mask the secrets in a text, in octets, or in the texts of a tuple, a list or a dict."""
    if isinstance(item, bytes):
        return mask(item.decode("latin-1")).encode("latin-1")
    if type(item) in (tuple, list):
        return type(item)(map(mask_texts, item))
    if type(item) is dict:
        return {key: mask_texts(value) for key, value in item.items()}
    return mask(item) if isinstance(item, str) else item


_AROUND = {"authority": ("//", ""), "userinfo": ("//", "@"), "query": ("?", ""), "fragment": ("#", "")}


def mask_part(name: str, text: str) -> str:
    """Mask the secrets of a component, which is read as in its URI.

    >>> mask_part("userinfo", "joe:secret"), mask_part("query", "sig=x")
    ('joe:***', 'sig=***')
    """
    if name == "password":
        return text and MASK
    before, after = _AROUND.get(name, ("", ""))
    return mask(f"{before}{text}{after}")[len(before) :].removesuffix(after)


def mask_equal_length(*texts: str) -> tuple[str, ...]:
    """Replace each character of a secret by "*", except delimiters, so that the texts are split at the same places.

    >>> mask_equal_length("ftp://joe:pa?ss@h/")
    ('ftp://joe:**?**@h/',)
    """
    results: list[str] = []
    for text in texts:
        pieces, position = [], 0
        for start, end in secret_spans(text):
            pieces += [text[position:start], _NOT_DELIMITER.sub("*", text[start:end])]
            position = end
        results.append("".join((*pieces, text[position:])))
    return tuple(results)


def shorten_masks(text: str) -> str:
    """Write `***` for each run of "*", such as a masked secret of any length."""
    return _MASKED_RUN.sub(MASK, text)
