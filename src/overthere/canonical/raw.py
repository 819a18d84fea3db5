"""Makes a URI of raw text as Safe Browsing does first ("URLs and Hashing")."""

from __future__ import annotations

import re

from overthere.ground.exact import exact
from overthere.kernel import percent_encode
from overthere.repairs import AROUND, repair
from overthere.values.uri import URI, URIReference

__all__ = ["raw_uri"]

_BREAKS = re.compile("[\t\r\n]")
_CONTROLS = re.compile("[\x00-\x20\x7f-\x9f]")
_OCTETS = re.compile("[\x80-\xff]")


def raw_uri(text: URIReference | str | bytes) -> URI:
    """The URI that a raw text stands for.

    White space around it, and tabs and line breaks within, are taken away; controls and spaces are escaped, in a host
    too; a host without a scheme gets that of http; the rest is `overthere.repair`'s.  Non-ASCII octets are escaped
    unchanged.

    Raises: InvalidURI if the text has no or two possible readings.

    >>> str(raw_uri(" www.example.com/a b ")), str(raw_uri(b"http://\\x01\\x80.com"))
    ('http://www.example.com/a%20b', 'http://%01%80.com')
    """
    if isinstance(text, bytes):
        written = _OCTETS.sub(lambda m: percent_encode(m[0].encode("latin-1"), ""), text.decode("latin-1"))
    else:
        written = str(text) if isinstance(text, URIReference) else exact(text, "a raw text")
    written = _BREAKS.sub("", written.strip(AROUND))
    written = _CONTROLS.sub(lambda m: percent_encode(m[0].encode(), ""), written)
    return URI(str(repair(written, scheme="http", idna=False, limit=0)))
