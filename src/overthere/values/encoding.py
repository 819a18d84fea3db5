"""Percent-encoding and decoding of component text (RFC 3986 2.1 to 2.5).

`encode` takes data and `decode` takes component text; no function takes "maybe both", so nothing is
encoded twice and no "%" that a URI already holds is quoted again.
"""

from __future__ import annotations

import re

from overthere.ground.caches import bounded_cache
from overthere.ground.errors import CodingError
from overthere.ground.exact import exact
from overthere.kernel import front, percent_decode, percent_encode
from overthere.kernel.classes import CHARSETS
from overthere.kernel.reference import BROKEN_ESCAPE

IN_SEGMENT = "!$&'()*+,:;=@"
"""The reserved characters that a segment may hold (3.3): they stay in names of files and of archive members, where no
scheme gives them a meaning (RFC 8089 2)."""

# Components that data can be put into -> the rule with the characters that may stay.
DATA_RULES = {
    "userinfo": "userinfo",
    "host": "reg-name",
    "reg-name": "reg-name",
    "path": "path",
    "segment": "segment",
    "segment-nz": "segment",
    "segment-nz-nc": "segment-nz-nc",
    "pchar": "pchar",
    "query": "query",
    "fragment": "fragment",
    "unreserved": "unreserved",
}


@bounded_cache(256)
def safe_characters(component: str, keep: str | None = None) -> str:
    """Return the characters that `encode` leaves unescaped in a component: the unreserved ones (2.3), and `keep`.

    component: a key of `DATA_RULES`.
    keep: the reserved characters of the component that stay (2.2); None and "" are none.

    Raises: CodingError for another component, or a `keep` that its rule does not allow.
    """
    if component not in DATA_RULES:
        raise CodingError(f"{component!r:.100} cannot hold data; use one of {', '.join(DATA_RULES)} (RFC 3986 2.4)")
    kept_characters = frozenset(keep or "")
    if foreign := kept_characters - frozenset(CHARSETS[DATA_RULES[component]]):
        characters = "".join(sorted(foreign))
        raise CodingError(f"a {component} cannot contain {characters!r} unescaped (RFC 3986 Appendix A)")
    return "".join(sorted(kept_characters | frozenset(CHARSETS["unreserved"])))


@front
def encode(data: str | bytes, component: str = "segment", *, keep: str | None = None, charset: str = "utf-8") -> str:
    """Percent-encode data for a component (RFC 3986 2.1, 2.2, 2.4).

    Text becomes octets by `charset` (2.5: UTF-8); every octet except unreserved characters becomes `%HH`, and so does
    every "%".  Reserved characters could be read as delimiters, and are encoded "unless these characters are
    specifically allowed by the URI scheme to represent data in that component" (2.2): `keep` names those.

    Raises: CodingError for text that the charset cannot encode (such as a lone surrogate), or an unknown component;
    TypeError for data that is neither text nor bytes.

    >>> encode("a/b c%ü"), encode("a/b;c", "path", keep="/"), encode("a&admin=1", "query")
    ('a%2Fb%20c%25%C3%BC', 'a/b%3Bc', 'a%26admin%3D1')
    """
    safe = safe_characters(exact(component, "component"), None if keep is None else exact(keep, "keep"))
    if not isinstance(data, str | bytes):
        raise TypeError(f"encode() takes text or bytes, not {type(data).__name__}")
    if isinstance(data, str):
        try:
            data = exact(data, "encode()").encode(charset)
        except UnicodeEncodeError as error:
            code_point = f"U+{ord(error.object[error.start]):04X}"
            raise CodingError(f"{code_point} at {error.start} cannot be encoded in {charset} (RFC 3986 2.5)") from None
        except (LookupError, ValueError):
            raise CodingError(f"{charset!r:.100} is not a charset that Python can encode") from None
    return percent_encode(data, safe)


def decode_bytes(text: str | bytes) -> bytes:
    """The octets that component text stands for (RFC 3986 2.1); characters above U+007F give their UTF-8 octets.

    Raises: CodingError for a "%" without two hexadecimal digits, and for a lone surrogate.

    >>> decode_bytes("%E9t%C3%A9")
    b'\\xe9t\\xc3\\xa9'
    """
    if isinstance(text, str):
        text = exact(text, "decode()")
        try:
            octets = text.encode()
        except UnicodeEncodeError as error:
            raise CodingError(f"U+{ord(text[error.start]):04X} at {error.start} is a lone surrogate") from None
    elif isinstance(text, bytes):
        octets, text = text, text.decode("latin-1")
    else:
        raise TypeError(f"component text is text or bytes, not {type(text).__name__}")
    if "%" not in text:
        return octets
    if broken := BROKEN_ESCAPE.search(text):
        raise CodingError(f'two hexadecimal digits must follow the "%" at {broken.start()} (RFC 3986 2.1)')
    return percent_decode(octets)


@front
def decode(text: str | bytes, *, charset: str = "utf-8", errors: str = "strict") -> str:
    """The characters that component text stands for (RFC 3986 2.1, 2.5); `+` stays `+` (see `forms`).

    errors: "keep" keeps everything that cannot be decoded: a "%" that begins no escape, and escapes of octets that are
    not in `charset`, with their digits in upper case.  "strict", "replace", "surrogateescape" and the other error
    handlers of Python's codecs apply to octets only: a broken escape is always an error.

    Raises: CodingError if the octets are not in `charset`, or an escape is broken.

    >>> decode("r%C3%A9sum%C3%A9"), decode("r%E9sum%E9", charset="latin-1")
    ('résumé', 'résumé')
    >>> decode("100%, caf%e9 %C3%A9", errors="keep")
    '100%, caf%E9 é'
    """
    if errors == "keep":
        return _decode_or_keep(text, charset)
    octets = decode_bytes(text)
    try:
        return octets.decode(charset, errors)
    except UnicodeDecodeError as error:
        byte = octets[error.start]
        raise CodingError(
            f"the octet %{byte:02X} at {error.start} of the decoded octets is not valid {charset} (RFC 3986 2.5)"
        ) from None
    except (LookupError, ValueError) as error:
        raise CodingError(f"{error!s:.200}") from None


_BROKEN_OCTETS = re.compile(rb"%(?![0-9A-Fa-f][0-9A-Fa-f])")
_UNDECODED = re.compile("[\udc80-\udcff]")


def _decode_or_keep(text: str | bytes, charset: str) -> str:
    """Decode a text; undecodable parts stay as they are."""
    # Escape a "%" that does not begin an escape, so that it is a "%" afterwards.
    if isinstance(text, str):
        text = BROKEN_ESCAPE.sub("%25", exact(text, "decode()"))
    elif isinstance(text, bytes):
        text = _BROKEN_OCTETS.sub(b"%25", text)
    decoded = decode(text, charset=charset, errors="surrogateescape")
    return _UNDECODED.sub(lambda match: f"%{ord(match[0]) & 0xFF:02X}", decoded)
