"""audit(): security findings in a URI (RFC 3986 7; RFC 3987 8), by the kinds of `table.py`."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from functools import cache
from itertools import chain, islice
from typing import TYPE_CHECKING

from overthere.ground.errors import Finding
from overthere.ground.exact import exact, exact_limit
from overthere.ground.redact import mask
from overthere.ground.secret_parameters import secret_parameters
from overthere.security.table import KINDS, LEVELS, Concern, Level

if TYPE_CHECKING:
    from overthere.schemes.registry import Registry
    from overthere.security.parts import Place, TextParts
    from overthere.values.value import Value

__all__ = ["KINDS", "LEVELS", "Concern", "Level", "audit", "harmless", "kinds", "level_of", "mask"]


def audit(
    uri: Value | str,
    *,
    level: Level = "note",
    limit: int = 1000,
    registry: Registry | None = None,
    only: Collection[str] = KINDS,
) -> list[Finding]:
    """The security findings on a URI or any text, in its order.

    uri: a URI, a reference, an IRI, or any text; offsets are code points of it.
    level: the lowest level to report: "note", "warning" or "error" (see `KINDS`).
    limit: the most findings to list; a last one of the kind "more" counts the rest.
    registry: the known schemes (default: the default registry).
    only: the kinds to report; others do not count against the limit.

    No message shows a password.  Raises: TypeError if it is not text.

    >>> for finding in audit("http://www.bank.example@0x7f.1/"):
    ...     print(finding.kind, finding.start, finding.message)
    userinfo-host 7 the userinfo looks like the host "www.bank.example"
    address-rare 24 "0x7f.1" is not an IPv4address of the syntax, but an address to inet_aton
    address-loopback 24 the address 127.0.0.1, loopback: the machine that opens the URI
    """
    text, max_findings = _text(uri), exact_limit(limit)
    if harmless(text):
        return []
    from overthere.security.parts import finding, split_text
    from overthere.values.known_secrets import Secrets

    parts = split_text(text, registry)
    places = (place for place in _places(parts, level) if place.kind in only)

    @cache
    def secrets() -> Secrets:
        return Secrets.from_texts(text)

    findings = [finding(parts, place, secrets) for place in islice(places, max_findings)]
    findings.sort(key=lambda item: item.start)
    unlisted = sum(1 for _ in places)
    if unlisted:
        from overthere.security.parts import Place

        findings.append(finding(parts, Place("more", len(text), len(text), f"{unlisted:,}", component="any"), secrets))
    return findings


def kinds(uri: Value | str, *, level: Level = "note", registry: Registry | None = None) -> tuple[str, ...]:
    """Only the kinds, each once, without messages: fast for many URIs.

    >>> kinds("http://joe:secret@h.example:22/"), kinds("http://h.example/")
    (('password', 'port-reserved'), ())
    """
    text = _text(uri)
    if harmless(text):
        return ()
    from overthere.security.parts import split_text

    return tuple(dict.fromkeys(place.kind for place in _places(split_text(text, registry), level)))


def level_of(finding: Finding | str) -> Level:
    """The level of a finding, or of a kind."""
    return KINDS[finding if isinstance(finding, str) else finding.kind].level


def _text(uri: Value | str) -> str:
    from overthere.kernel import Components

    if not isinstance(uri, str | Components):
        raise TypeError(f"a URI must be a URI or text, not {type(uri).__name__}")
    return exact(uri, "audit()") if isinstance(uri, str) else str(uri)


def _places(parts: TextParts, level: Level) -> Iterator[Place]:
    """Yield the places of findings; kinds with a bounded number of findings are first, so that a limit keeps them."""
    from overthere.security import characters, contents, hosts
    from overthere.security.differences import differences

    min_index = LEVELS.index(level)
    places = chain(
        hosts.scheme(parts), hosts.authority(parts), contents.contents(parts), differences(parts),
        contents.length(parts), _invalid(parts), contents.parameters(parts), characters.dots(parts),
        characters.devices(parts), characters.find_escapes(parts), characters.raw(parts),
    )  # fmt: skip
    return (place for place in places if LEVELS.index(KINDS[place.kind].level) >= min_index)


def _invalid(parts: TextParts) -> Iterator[Place]:
    """Yield the first place that makes the text neither a URI nor an IRI, unless `characters.raw` finds it."""
    from overthere.kernel import parse
    from overthere.security.characters import foreign
    from overthere.security.parts import Place
    from overthere.values.findings import scan

    text, at = parts.text_without_prefix, parts.start
    if parse(text, "IRI-reference", True) is None and not foreign(text):
        first = next(scan(text, "IRI-reference", True))
        start, end = at + first.start, at + first.end
        yield Place("invalid", start, end, first.message, first.expected, first.component, first.rule)


# Texts in which nothing can be found, recognised quickly: a name with a dot, without "xn--" labels and not below
# localhost; no userinfo, port, dot-segment or device; and only escapes of spaces, of marks that are not delimiters, and
# of letters whose blocks hold nothing invisible.
_ESCAPES = (
    r"%(?:2[0-24689a-dA-D]|3[b-eB-E]|5[bdBD]|7[b-eB-E]|(?:[cC][3-9a-bA-BcC]|[dD][0-79a-fA-F])%[89abAB][0-9a-fA-F]"
    r"|(?:[eE][4-9a-dA-D]%[89abAB][0-9a-fA-F]|[eE]3%8[1-3])%[89abAB][0-9a-fA-F])"
)
_DEVICE = (
    r"(?:[cC][oO][nNmM]|[pP][rR][nN]|[aA][uU][xX]|[nN][uU][lL]|[lL][pP][tT]|[cC][lL][oO][cC][kK]\$)"
    r"(?:[$.:0-9iIoO/?#%]|\Z)"
)
_HARMLESS = re.compile(
    r"mailto:[a-zA-Z0-9._+-]++@[a-zA-Z0-9.-]++"
    r"|(?:https?|ftp)://(?:(?![xX][nN]--)[a-zA-Z0-9][a-zA-Z0-9-]{0,62}+(?<!-)\.){1,3}+(?![xX][nN]--|[lL][oO][cC][aA][lL][hH])"
    rf"[a-zA-Z]{{2,61}}+(?:/(?!\.|{_DEVICE})(?:[a-zA-Z0-9._~!$&'()*+,;=:@-]|{_ESCAPES})*+)*+"
    rf"(?:\?((?:[a-zA-Z0-9._~!$&'()*+,;=:@/?-]|{_ESCAPES}|%(?:2[fF]|3[aAfF]|40))*+))?+"
    rf"(?:\#((?:[a-zA-Z0-9._~!$&'()*+,;=:@/?-]|{_ESCAPES})*+))?+"
)


def harmless(text: str) -> bool:
    """Whether a text is one of those, the most, in which nothing can be found; False leaves it open."""
    text = exact(text, "harmless()")
    if len(text) > 2000:
        return False
    match = _HARMLESS.fullmatch(text)
    if match is None:
        return False
    start = match.start(2 if match[1] is None else 1)  # the query or a lone fragment; -1 without
    return start < 0 or ("@" not in text[start:] and not any(secret_parameters(text)))
