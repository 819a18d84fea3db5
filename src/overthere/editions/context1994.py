"""draft-ietf-uri-url-03: URLs in running text, and safer spellings of URLs."""

from __future__ import annotations

import re
from typing import NamedTuple

from overthere.editions.url1994 import DOCUMENT, EDITION, is_scheme, latin1, reading_of
from overthere.ground.errors import CodingError
from overthere.ground.exact import exact
from overthere.kernel import percent_encode

__all__ = ["WrappedURL", "unwrap", "extract", "safer"]

_WRAPPER = re.compile("<([^<>]*)>")
# From the first of the blanks alone: to begin anew at each of them would take time by the square of their number.
_BREAK = re.compile("(?<![ \t])[ \t]*+(?:\r\n|[\r\n\v\f])[ \t\r\n\v\f]*+")
_WHITE = " \t\r\n\v\f"


class WrappedURL(NamedTuple):
    """A URL that stood in running text as `<...>`."""

    url: str
    fragment: str | None
    """The fragment identifier, which is "not involved in the basic URL definition"; None if there is none."""
    with_spaces: str | None
    """The URL with a space for each line break, which the other reading leaves out; None if no line was broken."""


def extract(text: str) -> list[WrappedURL]:
    """The URLs between angle brackets in a text (Wrappers for URIs in plain text).

    A space inside is part of the URL, as in the gopher URL of the document's own references.  A line break is not,
    nor the blanks around it: these references break URLs at any place.  Without a scheme it is not a URL.

    >>> [found.url for found in extract("it is at <gopher://h/00/About Gopher> or <ftp://ds.inter\\n  nic.net/rfc>.")]
    ['gopher://h/00/About Gopher', 'ftp://ds.internic.net/rfc']
    """
    wrapped = (_read_wrapper(match[1]) for match in _WRAPPER.finditer(exact(text, "extract()")))
    return [one for one in wrapped if one is not None]


def unwrap(text: str) -> str:
    """The URL without its wrapper and without its prefix `URL:` (Wrappers; PrePrefix).

    >>> unwrap("<URL:news:*>"), unwrap("url:news:*"), unwrap("<gopher://h/0a b>")
    ('news:*', 'news:*', 'gopher://h/0a b')
    """
    text = exact(text, "bare()")
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


# What no class of the BNF holds, and of `extra` what the prose or other documents exclude (94-1).
_UNSAFE = ' "<>[]{}\\|^~`' + "".join(map(chr, [*range(0x20), *range(0x7F, 0x100)]))


def safer(url: str, unsafe: str = _UNSAFE) -> str:
    """The same URL with the unsafe characters encoded (Encoding prohibited characters).

    "A URL may be made safer simply by encoding any characters considered unsafe, while leaving already encoded
    characters still encoded."

    unsafe: the characters; by default what the document's classes do not hold, a space and a double quote.

    Raises: CodingError for a character that ISO Latin 1 does not have, and where one that is encoded would part
    nothing any more; InvalidURI if there is no scheme.

    >>> safer('gopher://h/00/About "Gopher"%20~'), safer("http://h/a,b", ",")
    ('gopher://h/00/About%20%22Gopher%22%20%7E', 'http://h/a%2Cb')
    """
    url, unsafe = exact(url, "safer()"), exact(unsafe, "unsafe").replace("%", "")
    octets, prohibited = latin1(url), latin1(unsafe)
    keep = "".join(chr(b) for b in range(0x80) if b not in prohibited)
    if any(octet > 0x7F and octet not in prohibited for octet in octets):
        raise CodingError(f"a non-ASCII character must be written as an escape ({DOCUMENT}, BNF: national)")
    written = percent_encode(octets, keep)
    if reading_of(written) != reading_of(url):
        raise CodingError(f"a delimiter among these means something else when encoded ({DOCUMENT})")
    EDITION.parts(written)
    return written
