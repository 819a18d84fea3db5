"""Makes a URI of raw text, as the first step of Safe Browsing does ("URLs and Hashing")."""

from __future__ import annotations

import re

from overthere.ground.exact import exact
from overthere.kernel import percent_encode
from overthere.repairs import AROUND, repair
from overthere.values.uri import URI, URIReference

_BREAKS = re.compile("[\t\r\n]")
_CONTROLS = re.compile("[\x00-\x20\x7f-\x9f]")
_NON_ASCII = re.compile("[\x80-\xff]")


def raw_uri(text: URIReference | str | bytes) -> URI:
    """Return the URI that a raw text means.

    White space around it, and tabs and line breaks within, are removed; controls and spaces are escaped, also in a
    host; a host without a scheme gets http; `overthere.repair` does the rest.  Non-ASCII bytes are only escaped.

    Raises: InvalidURI if the text has no or two possible readings.

    >>> str(raw_uri(" www.example.com/a b ")), str(raw_uri(b"http://\\x01\\x80.com"))
    ('http://www.example.com/a%20b', 'http://%01%80.com')
    """
    if isinstance(text, bytes):
        raw = _NON_ASCII.sub(lambda m: percent_encode(m[0].encode("latin-1"), ""), text.decode("latin-1"))
    else:
        raw = str(text) if isinstance(text, URIReference) else exact(text, "a raw text")
    raw = _BREAKS.sub("", raw.strip(AROUND))
    raw = _CONTROLS.sub(lambda m: percent_encode(m[0].encode(), ""), raw)
    return URI(str(repair(raw, scheme="http", idna=False, limit=0)))
