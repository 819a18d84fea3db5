"""One text as each edition reads it: valid or not by its grammar, its parts and its target."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from overthere.ground.errors import OverthereError
from overthere.ground.figure import shorten_distinctly
from overthere.kernel import percent_encode

if TYPE_CHECKING:
    from overthere.editions.model import Edition
    from overthere.schemes.registry import Registry
    from overthere.values.resolve import Target

__all__ = ["MARKS", "PARTS", "Reading", "as_dict", "disagreements", "letter", "matrix", "notes", "read", "shown_target"]

# How it is shown whether a text is valid by the letter.
MARKS = {True: "ok", False: "-", None: "n/a"}

# What a text can be read differently in; an edition without a target says nothing of it.
PARTS = ("host", "path", "query", "fragment", "target", "says")

# RFC 3986 5.4: any base does for a reference that has a scheme.
_ANY_BASE = "http://a/b/c/d;p?q"

_SCHEME = re.compile(r"([^:/?#]+):")


class Reading(NamedTuple):
    """What one edition makes of a text."""

    edition: str
    valid: bool | None
    """By the letter of the grammar; None where the document has no production for such a text."""
    host: str | None
    """The host that a client of the document's day would ask."""
    path: str | None
    query: str | None
    fragment: str | None
    target: str | None
    """What the reference resolves to; None without a base for a relative one, or where `note` says why."""
    note: str | None
    """Why there are no parts, or no target."""
    says: str | None = None
    """What it says by the edition's account of its scheme, beside host, query and fragment; None where it has none."""


def letter(edition: Edition, text: str) -> bool | None:
    """Whether the edition's grammar derives the text, by the rule that its prose selects for it.

    Where a document has a production for a scheme, the generic one does not count (94 "BNF", RFC 1738 5).
    None: no production is for it, such as for a relative reference in 1994.
    """
    return _LETTERS.get(edition.name, _reference)(edition, text)


def _reference(edition: Edition, text: str) -> bool:
    """03 4.1, RFC 3986 4.1: the rule of references, which are of URLs in 97 3."""
    return edition.is_valid(text, "URI-reference" if "uri-reference" in edition.grammar else "URL-reference")


def _of_1994(edition: Edition, text: str) -> bool | None:
    """94 "BNF": a production for each scheme, no other; "URL:" goes before (PrePrefix) or is left out."""
    if text[:4].lower() == "url:":
        return edition.is_valid(text, "prefixedurl")
    match = _SCHEME.match(text)
    # The afsaddress "is left in as historical note, but is not a url production".
    known = match is not None and f"{match[1]}address" in edition.grammar and match[1] != "afs"
    return edition.is_valid(text, "url") if known and "#" not in text else None


def _of_1738(edition: Edition, text: str) -> bool | None:
    """RFC 1738 5: the scheme's own production, or the generic one for a scheme that is not defined there."""
    match = _SCHEME.match(text)
    if match is None:
        return None
    # "the scheme is in lower case; interpreters should use case-ignore"
    folded = match[1].lower() + text[match.end(1) :]
    rule = f"{match[1].lower()}url"
    return edition.is_valid(folded, rule if rule in edition.grammar else "genericurl")


_LETTERS = {"url-1994": _of_1994, "rfc1738": _of_1738}


def compare_key(rule: str) -> str:
    """A rule's name as it is compared: without case, "_" as "-", and a URL reference is a URI reference."""
    return rule.lower().replace("_", "-").replace("url-reference", "uri-reference")


def read(
    text: str, base: str | None = None, names: Iterable[str] | None = None, *, registry: Registry | None = None
) -> list[Reading]:
    """The text as each edition reads it, oldest first; never raises.

    base: where given, a relative reference has a target too.
    registry: the known schemes (default: the default registry).

    >>> [(r.edition, r.host) for r in read("ftp://u?x@h/", names=["rfc3986"])]
    [('rfc3986', 'u')]
    """
    from overthere.editions import NAMES, edition

    return [_read(edition(name), text, base, registry) for name in names or NAMES]


def _read(edition: Edition, text: str, base: str | None, registry: Registry | None) -> Reading:
    valid = letter(edition, text)
    if "resolve" in edition.elsewhere and not _SCHEME.match(text):
        # No URL, and the document has no references (94-25; RFC 1738 2.3).
        left = f"{edition.document} leaves references to {edition.elsewhere['resolve']}"
        return Reading(edition.name, valid, None, None, None, None, None, left)
    try:
        parts, host = edition.split(text), edition.host_of(text)
    except OverthereError as error:
        return Reading(edition.name, valid, None, None, None, None, None, _line(error))
    target, note = _target(edition, text, base)
    says = _scheme_parts(edition, text, registry)
    return Reading(edition.name, valid, host, parts.path, parts.query, parts.fragment, target, note, says)


_GENERIC = ("host", "port", "user", "password", "query", "fragment", "charset", "cellname")


def _scheme_parts(edition: Edition, text: str, registry: Registry | None) -> str | None:
    """The scheme's own parts in one line; what is beyond US-ASCII as escapes, for the octets are what is said."""
    try:
        locator = edition.locator(text, registry=registry)
    except OverthereError:
        return None
    if locator.generic:
        return None
    said = {name: value for name, value in locator.to_dict().items() if name not in _GENERIC and value not in ("", [])}
    shown = ", ".join(f"{name} {json.dumps(value, ensure_ascii=False)}" for name, value in said.items())
    return "".join(c if c.isascii() else percent_encode(_octets(c, locator.charset), "") for c in shown)


def _octets(char: str, charset: str) -> bytes:
    try:
        return char.encode(charset, "surrogateescape")
    except UnicodeEncodeError:
        return char.encode("utf-8", "surrogatepass")  # no text has it; it is only shown


def _target(edition: Edition, text: str, base: str | None) -> tuple[str | None, str | None]:
    match = _SCHEME.match(text)
    if base is None and match is None:
        return None, None
    try:
        return shown_target(edition.resolve(_ANY_BASE if base is None else base, text)), None
    except OverthereError as error:  # the document leaves it to another; no base; no reference
        return None, _line(error)


def shown_target(target: Target) -> str:
    """A target as the tables of the documents print it: "(current document)#s" where it has no URI."""
    if target.uri is not None:
        return target.uri
    return "(current document)" + ("" if target.fragment is None else f"#{target.fragment}")


def _line(error: OverthereError) -> str:
    return str(error).split("\n", 1)[0]


def matrix(texts: Iterable[str]) -> Iterator[tuple[str, list[Reading]]]:
    """Each text with its readings under every edition."""
    for text in texts:
        yield text, read(text)


def disagreements(readings: Sequence[Reading]) -> dict[str, dict[str | None, list[str]]]:
    """The parts that are named differently: part -> what it is -> by which editions.

    The "/" before a path is a delimiter in 1994 and 1738 and part of the path afterwards; that is no disagreement.
    Nor is an empty host where another has none: neither asks one.  "says" is what a scheme's own parts are, where
    nothing else differs: `ftp://h/a!I` has a type in 1994.
    """
    differing: dict[str, dict[str | None, list[str]]] = {}
    for part in PARTS:
        if part == "says" and differing:  # it would be told twice
            continue
        groups: dict[str | None, list[str]] = {}
        first: dict[str | None, str | None] = {}
        for reading in readings:
            value: str | None = getattr(reading, part)
            if (part in ("target", "says") and value is None) or (reading.path is None and reading.note):
                continue
            key: str | None = value
            if part == "path" and value and reading.host is not None:
                key = value.removeprefix("/")
            elif part == "host":
                key = value or None
            groups.setdefault(first.setdefault(key, value), []).append(reading.edition)
        if len(groups) > 1:
            differing[part] = groups
    return differing


def notes(readings: Sequence[Reading], hide: Callable[[str], str] = str) -> list[str]:
    """What the editions name differently, a line each.

    hide: how a value is shown, where a password may stand in it (`redact.unveil`).

    >>> notes(read("http://h/a?b"))
    []
    """
    lines: list[str] = []
    for part, groups in disagreements(readings).items():
        # The most usual answer last: what is particular stands in front.
        usual = sorted(groups.items(), key=lambda group: len(group[1]))
        values = _show_values([value for value, _ in usual], hide)
        said = [f"{value} ({', '.join(names)})" for value, (_, names) in zip(values, usual, strict=True)]
        if len(usual[-1][1]) > 2:
            said[-1] = f"{values[-1]} (the others)"
        lines.append(f"{part}: {'; '.join(said)}")
    return lines


def _show_values(values: Sequence[str | None], hide: Callable[[str], str]) -> list[str]:
    """Values, cut so that what differs is not what is cut away."""
    shown = iter(shorten_distinctly([hide(value) for value in values if value is not None], 48))
    return ["none" if value is None else next(shown) or '""' for value in values]


def as_dict(readings: Sequence[Reading]) -> dict[str, Any]:
    """Readings as dicts and text, by edition, and the parts that are named differently."""
    return {
        "editions": {r.edition: {k: v for k, v in r._asdict().items() if k != "edition"} for r in readings},
        "differ": list(disagreements(readings)),
    }
