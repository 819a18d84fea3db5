"""One text as each edition reads it: valid or not by its grammar, its parts and its target."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from overthere.ground.errors import OverthereError
from overthere.ground.figure import shorten_distinctly
from overthere.ground.redact import hides_secrets
from overthere.kernel import percent_encode

if TYPE_CHECKING:
    from overthere.editions.model import Edition
    from overthere.schemes.registry import Registry
    from overthere.values.resolve import Target

# The marks for valid, invalid and not applicable.
MARKS = {True: "ok", False: "-", None: "n/a"}

# The parts in which readings can differ; an edition without a target does not count for that part.
PARTS = ("host", "path", "query", "fragment", "target", "says")

# RFC 3986 5.4: any base will do for a reference that has a scheme.
_ANY_BASE = "http://a/b/c/d;p?q"

_SCHEME = re.compile(r"([^:/?#]+):")


@hides_secrets
class Reading(NamedTuple):
    """The reading of a text by one edition."""

    edition: str
    valid: bool | None
    """Whether the grammar allows it; None if the document has no production for such a text."""
    host: str | None
    """The host that a client of the document's time would contact."""
    path: str | None
    query: str | None
    fragment: str | None
    target: str | None
    """The target of the reference; None for a relative one without a base, or for the reason in `note`."""
    note: str | None
    """The reason why there are no parts, or no target."""
    says: str | None = None
    """The scheme's own parts by this edition, besides host, query and fragment; None if there are none."""


def letter(edition: Edition, text: str) -> bool | None:
    """Whether the edition's grammar allows the text, by the rule that its prose selects for it.

    If a document has a production for a scheme, the generic one does not count (94 "BNF", RFC 1738 5).
    None: there is no production for it, such as for a relative reference in 1994.
    """
    return _VALIDITY_CHECKS.get(edition.name, _is_valid_reference)(edition, text)


def _is_valid_reference(edition: Edition, text: str) -> bool:
    """Whether a text is valid by the rule of references (97 3, 03 4.1, RFC 3986 4.1)."""
    return edition.is_valid(text, "URI-reference" if "uri-reference" in edition.grammar else "URL-reference")


def _is_valid_1994(edition: Edition, text: str) -> bool | None:
    """Whether a text is valid in 1994: each scheme has a production ("BNF"); "URL:" is optional (PrePrefix)."""
    if text[:4].lower() == "url:":
        return edition.is_valid(text, "prefixedurl")
    match = _SCHEME.match(text)
    # The afsaddress "is left in as historical note, but is not a url production".
    has_production = match is not None and f"{match[1]}address" in edition.grammar and match[1] != "afs"
    return edition.is_valid(text, "url") if has_production and "#" not in text else None


def _is_valid_1738(edition: Edition, text: str) -> bool | None:
    """Whether a text is valid by its scheme's production, or by the generic one for other schemes (RFC 1738 5)."""
    match = _SCHEME.match(text)
    if match is None:
        return None
    # "the scheme is in lower case; interpreters should use case-ignore"
    folded = match[1].lower() + text[match.end(1) :]
    rule = f"{match[1].lower()}url"
    return edition.is_valid(folded, rule if rule in edition.grammar else "genericurl")


_VALIDITY_CHECKS = {"url-1994": _is_valid_1994, "rfc1738": _is_valid_1738}


def compare_key(rule: str) -> str:
    """Return a rule's name for comparison: in lower case, "_" as "-", and a URL reference is a URI reference."""
    return rule.lower().replace("_", "-").replace("url-reference", "uri-reference")


def read(
    text: str, base: str | None = None, names: Iterable[str] | None = None, *, registry: Registry | None = None
) -> list[Reading]:
    """Return the readings of a text by each edition, oldest first; any text is accepted.

    base: if given, a relative reference has a target too.
    registry: the known schemes (default: the default registry).

    >>> [(r.edition, r.host) for r in read("ftp://u?x@h/", names=["rfc3986"])]
    [('rfc3986', 'u')]
    """
    from overthere.editions import NAMES, edition

    return [_read(edition(name), text, base, registry) for name in names or NAMES]


def _read(edition: Edition, text: str, base: str | None, registry: Registry | None) -> Reading:
    valid = letter(edition, text)
    if "resolve" in edition.elsewhere and not _SCHEME.match(text):
        # It is not a URL, and the document does not define references (94-25; RFC 1738 2.3).
        reason = f"{edition.document} leaves references to {edition.elsewhere['resolve']}"
        return Reading(edition.name, valid, None, None, None, None, None, reason)
    try:
        parts, host = edition.split(text), edition.host_of(text)
    except OverthereError as error:
        return Reading(edition.name, valid, None, None, None, None, None, _first_line(error))
    target, note = _target(edition, text, base)
    scheme_parts = _scheme_parts(edition, text, registry)
    return Reading(edition.name, valid, host, parts.path, parts.query, parts.fragment, target, note, scheme_parts)


_GENERIC = ("host", "port", "user", "password", "query", "fragment", "charset", "cellname")


def _scheme_parts(edition: Edition, text: str, registry: Registry | None) -> str | None:
    """The scheme's own parts in one line; characters beyond US-ASCII are escaped, to show their bytes."""
    try:
        locator = edition.locator(text, registry=registry)
    except OverthereError:
        return None
    if locator.generic:
        return None
    parts = {name: value for name, value in locator.to_dict().items() if name not in _GENERIC and value not in ("", [])}
    line = ", ".join(f"{name} {json.dumps(value, ensure_ascii=False)}" for name, value in parts.items())
    return "".join(c if c.isascii() else percent_encode(_encoded_char(c, locator.charset), "") for c in line)


def _encoded_char(char: str, charset: str) -> bytes:
    try:
        return char.encode(charset, "surrogateescape")
    except UnicodeEncodeError:
        return char.encode("utf-8", "surrogatepass")  # only for display: the character is not in the charset


def _target(edition: Edition, text: str, base: str | None) -> tuple[str | None, str | None]:
    match = _SCHEME.match(text)
    if base is None and match is None:
        return None, None
    try:
        return shown_target(edition.resolve(_ANY_BASE if base is None else base, text)), None
    except OverthereError as error:  # left to another document; base missing; not a reference
        return None, _first_line(error)


def shown_target(target: Target) -> str:
    """Write a target in the form of the documents' tables: "(current document)#s" if it has no URI."""
    if target.uri is not None:
        return target.uri
    return "(current document)" + ("" if target.fragment is None else f"#{target.fragment}")


def _first_line(error: OverthereError) -> str:
    return str(error).split("\n", 1)[0]


def matrix(texts: Iterable[str]) -> Iterator[tuple[str, list[Reading]]]:
    """Yield each text with its readings under every edition."""
    for text in texts:
        yield text, read(text)


def disagreements(readings: Sequence[Reading]) -> dict[str, dict[str | None, list[str]]]:
    """Return the parts that are read differently: part -> value -> editions.

    The "/" before a path is a delimiter in 1994 and 1738 and part of the path afterwards; that does not count.
    Nor does an empty host instead of an undefined one.  "says" is for a scheme's own parts, if nothing
    else differs: `ftp://h/a!I` has a type in 1994.
    """
    differing: dict[str, dict[str | None, list[str]]] = {}
    for part in PARTS:
        if part == "says" and differing:  # it would repeat the other parts
            continue
        groups: dict[str | None, list[str]] = {}
        first_values: dict[str | None, str | None] = {}
        for reading in readings:
            value: str | None = getattr(reading, part)
            if (part in ("target", "says") and value is None) or (reading.path is None and reading.note):
                continue
            key: str | None = value
            if part == "path" and value and reading.host is not None:
                key = value.removeprefix("/")
            elif part == "host":
                key = value or None
            groups.setdefault(first_values.setdefault(key, value), []).append(reading.edition)
        if len(groups) > 1:
            differing[part] = groups
    return differing


def notes(readings: Sequence[Reading], hide: Callable[[str], str] = str) -> list[str]:
    """Describe the parts that editions read differently, one line per part.

    hide: a function to mask values, which may contain a password (`redact.unveil`).

    >>> notes(read("http://h/a?b"))
    []
    """
    lines: list[str] = []
    for part, groups in disagreements(readings).items():
        # The most frequent value is last, so that the unusual ones come first.
        by_frequency = sorted(groups.items(), key=lambda group: len(group[1]))
        values = _show_values([value for value, _ in by_frequency], hide)
        descriptions = [f"{value} ({', '.join(names)})" for value, (_, names) in zip(values, by_frequency, strict=True)]
        if len(by_frequency[-1][1]) > 2:
            descriptions[-1] = f"{values[-1]} (the others)"
        lines.append(f"{part}: {'; '.join(descriptions)}")
    return lines


def _show_values(values: Sequence[str | None], hide: Callable[[str], str]) -> list[str]:
    """Shorten values in such a way that their differences remain visible."""
    shortened = iter(shorten_distinctly([hide(value) for value in values if value is not None], 48))
    return ["none" if value is None else next(shortened) or '""' for value in values]


def as_dict(readings: Sequence[Reading]) -> dict[str, Any]:
    """Convert readings to dicts and text, by edition, with the parts that are read differently."""
    return {
        "editions": {r.edition: {k: v for k, v in r._asdict().items() if k != "edition"} for r in readings},
        "differ": list(disagreements(readings)),
    }
