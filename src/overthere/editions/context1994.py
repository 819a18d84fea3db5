"""draft-ietf-uri-url-03: URLs in running text, and safer spellings of URLs."""

from __future__ import annotations

import re
from typing import NamedTuple

from overthere.editions.url1994 import DOCUMENT, EDITION, is_scheme, latin1, reading_of
from overthere.ground.errors import CodingError
from overthere.ground.exact import exact
from overthere.ground.redact import hides_secrets
from overthere.kernel import percent_encode

_WRAPPER = re.compile("<([^<>]*)>")
# A match begins at the first blank only: otherwise the time would be quadratic in the number of blanks.
_BREAK = re.compile("(?<![ \t])[ \t]*+(?:\r\n|[\r\n\v\f])[ \t\r\n\v\f]*+")
_WHITE = " \t\r\n\v\f"


@hides_secrets
class WrappedURL(NamedTuple):
    """A URL that is written as `<...>` in running text."""

    url: str
    fragment: str | None
    """The fragment identifier, which is "not involved in the basic URL definition", or None."""
    with_spaces: str | None
    """The URL with a space for each line break, which the other reading removes; None without line breaks."""


def extract(text: str) -> list[WrappedURL]:
    """Return the URLs between angle brackets in a text (Wrappers for URIs in plain text).

    A space inside is part of the URL, as in the gopher URL of the document's own references.  A line break and the
    blanks around it are not: these references break URLs at any place.  A text without a scheme is not a URL.

    >>> [found.url for found in extract("it is at <gopher://h/00/About Gopher> or <ftp://ds.inter\\n  nic.net/rfc>.")]
    ['gopher://h/00/About Gopher', 'ftp://ds.internic.net/rfc']
    """
    wrapped = (_read_wrapper(match[1]) for match in _WRAPPER.finditer(exact(text, "extract()")))
    return [url for url in wrapped if url is not None]


def unwrap(text: str) -> str:
    """Remove a URL's wrapper and its prefix `URL:` (Wrappers; PrePrefix).

    >>> unwrap("<URL:news:*>"), unwrap("url:news:*"), unwrap("<gopher://h/0a b>")
    ('news:*', 'news:*', 'gopher://h/0a b')
    """
    text = exact(text, "unwrap()")
    if match := _WRAPPER.fullmatch(text.strip(_WHITE)):
        text = _BREAK.sub("", match[1]).strip(_WHITE)
    return text[4:] if text[:4].lower() == "url:" else text


def _read_wrapper(inside: str) -> WrappedURL | None:
    inside = inside.strip(_WHITE)
    url, sharp, fragment = unwrap(_BREAK.sub("", inside)).partition("#")
    if not is_scheme(url):
        return None
    spaced = unwrap(_BREAK.sub(" ", inside)).partition("#")[0]
    return WrappedURL(url, fragment if sharp else None, spaced if spaced != url else None)


# Characters that are in no class of the BNF, and those of `extra` that the prose or other documents exclude (94-1).
_UNSAFE = ' "<>[]{}\\|^~`' + "".join(map(chr, [*range(0x20), *range(0x7F, 0x100)]))


def safer(url: str, unsafe: str = _UNSAFE) -> str:
    """Encode the unsafe characters of a URL (Encoding prohibited characters).

    "A URL may be made safer simply by encoding any characters considered unsafe, while leaving already encoded
    characters still encoded."

    unsafe: the characters; by default those outside the document's classes, a space and a double quote.

    Raises: CodingError for a character outside ISO Latin 1, and if an encoded character would no longer be a
    delimiter; InvalidURI if the scheme is missing.

    >>> safer('gopher://h/00/About "Gopher"%20~'), safer("http://h/a,b", ",")
    ('gopher://h/00/About%20%22Gopher%22%20%7E', 'http://h/a%2Cb')
    """
    url, unsafe = exact(url, "safer()"), exact(unsafe, "unsafe").replace("%", "")
    data, prohibited = latin1(url), latin1(unsafe)
    keep = "".join(chr(b) for b in range(0x80) if b not in prohibited)
    if any(byte > 0x7F and byte not in prohibited for byte in data):
        raise CodingError(f"a non-ASCII character must be written as an escape ({DOCUMENT}, BNF: national)")
    encoded = percent_encode(data, keep)
    if reading_of(encoded) != reading_of(url):
        raise CodingError(f"a delimiter among these means something else when encoded ({DOCUMENT})")
    EDITION.parts(encoded)
    return encoded
