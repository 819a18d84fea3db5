"""Reads a URI that a person typed into an input field (RFC 3986 Appendix C, end; 4.5)."""

from __future__ import annotations

import re

from overthere.ground.exact import exact
from overthere.schemes.registry import Registry
from overthere.text.match import Found, Kind, expand_abbreviation
from overthere.text.names import registered_schemes
from overthere.text.rules import mail_domain_pattern
from overthere.values.findings import refuse_two_uris
from overthere.values.uri import URI

_PAIRS = {"<": ">", '"': '"', "'": "'", "\u201c": "\u201d", "\u2018": "\u2019", "\u00ab": "\u00bb"}
_PREFIX = re.compile(r"(?i)url:\s*+(?=[a-z][a-z0-9+.-]*+:)")
_HYPHEN = re.compile(r"-[^\S\r\n]*+(?:\r\n?|\n)\s*+")
_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*+):")
# The text after the colon if the name before it is a host with a port, not a known scheme.
_PORT = re.compile(r"[0-9]{1,5}(?:[/?#].*)?", re.DOTALL)
# Hosts that a person types: a name with a dot, an address, or the name of this machine.
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
    ValueError for a name that is not a scheme; TypeError if it is not text.

    >>> typed(" <URL:http://h.ex\\n   ample/a> ").uri, typed("example.com:8080/x").uri, typed("joe@example.com").kind
    ('http://h.example/a', 'http://example.com:8080/x', 'mail')
    >>> typed("example.com/a b", scheme="https").uri, typed("http://h/a b").alternative
    ('https://example.com/a%20b', 'http://h/ab')
    """
    full_text = exact(text, "typed()")
    if scheme is not None and not _SCHEME.fullmatch(f"{exact(scheme, 'scheme')}:"):
        raise ValueError(f"{scheme!r:.100} is not a scheme (RFC 3986 3.1)")
    outer = start, end = _strip_delimiters(full_text, 0, len(full_text))
    delimiter = ""
    if end - start > 1 and _PAIRS.get(full_text[start]) == full_text[end - 1]:
        delimiter = full_text[start] + full_text[end - 1]
        start, end = _strip_delimiters(full_text, start + 1, end - 1)
    prefix = _PREFIX.match(full_text, start, end)
    if prefix is not None:
        start = prefix.end()
        delimiter = delimiter or "URL:"
    inside = full_text[start:end]
    refuse_two_uris(full_text, start, end)
    compact = "".join(inside.split())
    kind = _kind(compact, Registry.default() if registry is None else registry)
    reference = compact if kind == "mail" else _with_blanks(inside)
    uri = expand_abbreviation(reference, kind, scheme)
    if uri is None:
        URI(reference)  # its error says what is wrong
        raise AssertionError(reference)  # pragma: no cover
    variant = compact if reference != compact else "".join(_HYPHEN.sub("", inside).split())
    alternative = variant if variant != reference and expand_abbreviation(variant, kind) is not None else None
    if kind == "URI" and not reference.isascii():
        kind = "IRI"
    return Found(reference, inside, start, end, delimiter, kind, uri, alternative, outer)


# The part before the path: of a URI with an authority or host; of others, up to their first delimiter.
_FRONT = re.compile(r"\s*+(?:[A-Za-z][A-Za-z0-9+.\-\s]*+:)?+(?:\s*+/\s*+/[^/?#]*+|[^/?#,]*+)")
_SPACE = re.compile(r"\s++")


def _with_blanks(text: str) -> str:
    """Return the text without white space before its path and at line ends, and with %20 for each other blank.

    >>> _with_blanks("http://h . example/a b\\n  c"), _with_blanks("h/a  b?c\\td")
    ('http://h.example/a%20bc', 'h/a%20%20b?c%20d')
    """
    front = _FRONT.match(text)
    end = front.end() if front else 0

    def blanks(space: re.Match[str]) -> str:
        return "%20" * len(space[0]) if space[0].splitlines() == [space[0]] else ""

    return "".join(text[:end].split()) + _SPACE.sub(blanks, text[end:])


def _strip_delimiters(text: str, start: int, end: int) -> tuple[int, int]:
    while start < end and text[start].isspace():
        start += 1
    while start < end and text[end - 1].isspace():
        end -= 1
    return start, end


def lacks_scheme(text: str) -> bool:
    """Whether `typed` reads a text without white space and quotes as a host without a scheme.

    >>> lacks_scheme("example.com:80/100%"), lacks_scheme("//h"), lacks_scheme("foo:80"), lacks_scheme("<example.com>")
    (True, True, False, False)
    """
    return _PAIRS.get(text[:1]) != text[-1:] and _kind(text, Registry.default()) == "abbreviated"


def _kind(text: str, registry: Registry) -> Kind:
    scheme = _SCHEME.match(text)
    port = None if scheme is None else _PORT.fullmatch(text, scheme.end())
    if scheme is not None and (port is None or scheme[1].lower() in registered_schemes(registry)):
        return "URI"
    if text.startswith("//") and text[2:3] not in ("", "/", "?", "#"):  # 4.2: a name with "//" before it
        return "abbreviated"
    local, at, domain = text.partition("@")
    if at and local and mail_domain_pattern().fullmatch(domain):
        return "mail"
    return "abbreviated" if _NAME.fullmatch(text) and _DOTTED.match(text) else "URI"
