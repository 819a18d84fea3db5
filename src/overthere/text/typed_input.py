"""Reads a URI typed by a person into an input field (RFC 3986 Appendix C, its last advice; 4.5)."""

from __future__ import annotations

import re

from overthere.ground.errors import Finding, InvalidURI
from overthere.ground.exact import exact
from overthere.ground.redact import mask
from overthere.schemes.registry import Registry
from overthere.text.match import Found, Kind, expand_abbreviation
from overthere.text.names import registered_schemes
from overthere.text.rules import mail_domain_pattern
from overthere.values.uri import URI

__all__ = ["lacks_scheme", "refuse_two_uris", "typed"]

_PAIRS = {"<": ">", '"': '"', "'": "'", "\u201c": "\u201d", "\u2018": "\u2019", "\u00ab": "\u00bb"}
_PREFIX = re.compile(r"(?i)url:\s*+(?=[a-z][a-z0-9+.-]*+:)")
_HYPHEN = re.compile(r"-[^\S\r\n]*+(?:\r\n?|\n)\s*+")
_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*+):")
# What follows the colon of a name and its port, and of no scheme that is known.
_PORT = re.compile(r"[0-9]{1,5}(?:[/?#].*)?", re.DOTALL)
# A person asked for a URI means a host by a name with a dot, by an address, or by the name of the own machine.
_NAME = re.compile(
    r"(?:(?:[^\s/?#@:\[\]]++|localhost)(?::[0-9]*+)?|\[[0-9A-Fa-f:.]++\](?::[0-9]*+)?)(?:[/?#].*)?", re.DOTALL
)
_DOTTED = re.compile(r"[^/?#:]*?[^/?#:.]\.[^/?#:.]|localhost\b|\[")


def typed(text: str, *, scheme: str | None = None, registry: Registry | None = None) -> Found:
    """The URI that a person meant to type: "recognize and strip both delimiters and embedded whitespace".

    It removes a pair of brackets or quotes around the text, a prefix "URL:", and white space around the text, at a line
    end, and before the path.  A blank within path, query and fragment is one that a person typed, and is read as %20;
    `alternative` is then the text without it.  A name without a scheme is read as a suffix reference (4.5), also after
    "//" (4.2), or as a mail address; `kind` says which, and `uri` is the guess.  Otherwise `alternative` is the text
    without hyphens at line ends, which "may or may not actually be part of the URI".

    scheme: the scheme of a host without one, such as "https"; None: "ftp" for names that begin with "ftp.", otherwise
    "http".
    registry: the known schemes; None: the default registry.

    Raises: InvalidURI if the rest is neither of these nor a valid URI, or is two URIs with white space between them;
    TypeError if it is not text.

    >>> typed(" <URL:http://h.ex\\n   ample/a> ").uri, typed("example.com:8080/x").uri, typed("joe@example.com").kind
    ('http://h.example/a', 'http://example.com:8080/x', 'mail')
    >>> typed("example.com/a b", scheme="https").uri, typed("http://h/a b").alternative
    ('https://example.com/a%20b', 'http://h/ab')
    """
    whole = exact(text, "typed()")
    outer = start, end = _strip_delimiters(whole, 0, len(whole))
    delimiter = ""
    if end - start > 1 and _PAIRS.get(whole[start]) == whole[end - 1]:
        delimiter = whole[start] + whole[end - 1]
        start, end = _strip_delimiters(whole, start + 1, end - 1)
    prefix = _PREFIX.match(whole, start, end)
    if prefix is not None:
        start = prefix.end()
        delimiter = delimiter or "URL:"
    inside = whole[start:end]
    refuse_two_uris(whole, start, end)
    closed = "".join(inside.split())
    kind = _kind(closed, Registry.default() if registry is None else registry)
    reference = closed if kind == "mail" else _with_blanks(inside)
    uri = expand_abbreviation(reference, kind, scheme)
    if uri is None:
        URI(reference)  # says what is wrong
        raise AssertionError(reference)  # pragma: no cover
    other = closed if reference != closed else "".join(_HYPHEN.sub("", inside).split())
    alternative = other if other != reference and expand_abbreviation(other, kind) is not None else None
    if kind == "URI" and not reference.isascii():
        kind = "IRI"
    return Found(reference, inside, start, end, delimiter, kind, uri, alternative, outer)


# Up to the path: of what has an authority or may be a host, and of the others up to their first delimiter.
_FRONT = re.compile(r"\s*+(?:[A-Za-z][A-Za-z0-9+.\-\s]*+:)?+(?:\s*+/\s*+/[^/?#]*+|[^/?#,]*+)")
_SPACE = re.compile(r"\s++")


def _with_blanks(text: str) -> str:
    """The text without white space before its path and at line ends, and with %20 for each other blank.

    >>> _with_blanks("http://h . example/a b\\n  c"), _with_blanks("h/a  b?c\\td")
    ('http://h.example/a%20bc', 'h/a%20%20b?c%20d')
    """
    front = _FRONT.match(text)
    end = front.end() if front else 0

    def blanks(space: re.Match[str]) -> str:
        return "%20" * len(space[0]) if space[0].splitlines() == [space[0]] else ""

    return "".join(text[:end].split()) + _SPACE.sub(blanks, text[end:])


_SECOND = re.compile(r"(?<=\S)\s++(?=[A-Za-z][A-Za-z0-9+.-]*+://|mailto:)")
_SHOWN = 60
"""Characters of a URI that a message shows."""


def refuse_two_uris(text: str, start: int, end: int) -> None:
    """White space parts URIs (Appendix C): what begins with a scheme behind it is not the end of the one before.

    start, end: what is looked at of the text, without white space around it.
    Raises: InvalidURI, which names both.
    """
    space = _SECOND.search(text, start, end)
    if space is None:
        return
    shown = [
        mask(part)[:_SHOWN] for part in (text[start : space.start()].split()[-1], text[space.end() : end].split()[0])
    ]
    why = f"white space separates two URIs, {shown[0]!r} and {shown[1]!r}: give only one, or remove the white space"
    kind = "space" if space[0].startswith(" ") else "control"
    raise InvalidURI(text, Finding(kind, space.start(), space.end(), "path", "path", "", "RFC 3986 Appendix C", why))


def _strip_delimiters(text: str, start: int, end: int) -> tuple[int, int]:
    while start < end and text[start].isspace():
        start += 1
    while start < end and text[end - 1].isspace():
        end -= 1
    return start, end


def lacks_scheme(text: str) -> bool:
    """Whether `typed` takes a text without white space for a host without a scheme, which no quotes stand around.

    >>> lacks_scheme("example.com:80/100%"), lacks_scheme("//h"), lacks_scheme("foo:80"), lacks_scheme("<example.com>")
    (True, True, False, False)
    """
    return _PAIRS.get(text[:1]) != text[-1:] and _kind(text, Registry.default()) == "abbreviated"


def _kind(text: str, registry: Registry) -> Kind:
    scheme = _SCHEME.match(text)
    port = None if scheme is None else _PORT.fullmatch(text, scheme.end())
    if scheme is not None and (port is None or scheme[1].lower() in registered_schemes(registry)):
        return "URI"
    if text.startswith("//") and text[2:3] not in ("", "/", "?", "#"):  # 4.2: a name without a scheme, "//" before it
        return "abbreviated"
    local, at, domain = text.partition("@")
    if at and local and mail_domain_pattern().fullmatch(domain):
        return "mail"
    return "abbreviated" if _NAME.fullmatch(text) and _DOTTED.match(text) else "URI"
