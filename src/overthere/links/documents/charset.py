"""Decodes a document by byte order mark, declared charset, or default (Encoding Standard 6, "decode")."""

from __future__ import annotations

import codecs
import re
from functools import cache
from typing import TYPE_CHECKING

from overthere.ground import indexes
from overthere.ground.caches import bounded_cache

if TYPE_CHECKING:
    from webencodings import Encoding

MARKS = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"))

_SURROGATE = re.compile("[\ud800-\udfff]")


def replace_surrogates(text: str) -> str:
    """Return the text with U+FFFD for lone surrogates, as browsers do (Infra 4.6); "?" would be a delimiter."""
    return text if text.isascii() else _SURROGATE.sub("\ufffd", text)


def decode_text(content: bytes, label: str | None, default: str = "utf-8") -> tuple[str, bool]:
    """Return the text of `content`, and whether its charset is wrong.

    label: the declared charset, a label of the Encoding Standard (4.2), in which latin-1 and US-ASCII are
    windows-1252.
    default: the charset if there is no label, or an unknown one.

    A byte order mark overrides everything else and is not part of the text.  Invalid bytes become U+FFFD.  The charset
    is wrong if there are invalid bytes, if the label is unknown, or if the byte order mark contradicts the label.

    >>> decode_text(b"caf\\xe9 \\x80", "ISO-8859-1")
    ('café €', False)
    >>> decode_text(b"caf\\xe9", None)
    ('caf\\ufffd', True)
    """
    codec = None if label is None else _codec(label)
    is_unknown = label is not None and codec is None
    for mark, name in MARKS:
        if content.startswith(mark):
            # The label "utf-16" allows both byte orders (RFC 2781 3.3).
            is_contradicted = codec is not None and codec[:6] != name[:6]
            text, is_lossy = _decode(content[len(mark) :], name)
            return text, is_unknown or is_contradicted or is_lossy
    text, is_lossy = _decode(content, codec or _codec(default) or "utf-8")
    return text, is_unknown or is_lossy


@bounded_cache(1024)  # labels are untrusted
def _codec(label: str) -> str | None:
    """Return the codec name for a label; None if the Encoding Standard does not have it, or does not decode it."""
    match = _lookup_label(label)
    # "replacement" is for charsets that browsers reject (4.2): the default charset reads their US-ASCII.
    if match is None or match.name == "replacement":
        return None
    if match.name in _WIDER_CODECS:
        return _WIDER_CODECS[match.name]
    has_own_name = match.name == "x-user-defined" or match.name.startswith("windows-")
    return match.name if has_own_name else match.codec_info.name


# These encodings of the Encoding Standard contain more than the codecs of that name (10.1, 11.1, 12.3, 13.1).
_WIDER_CODECS = {"gbk": "gb18030", "big5": "big5hkscs", "shift_jis": "cp932", "euc-kr": "cp949"}


def encoding(label: str) -> str | None:
    """Return the name of the encoding with this label (Encoding Standard 4.2), or None."""
    match = _lookup_label(label)
    return None if match is None else match.name


def _lookup_label(label: str) -> Encoding | None:
    from webencodings import lookup

    # All labels are US-ASCII; webencodings cannot lower-case a lone surrogate.
    return lookup(label) if label.isascii() and len(label) < 64 else None


def _decode(content: bytes, codec: str) -> tuple[str, bool]:
    python = codec.replace("windows-", "cp")
    try:
        if indexes.is_corrected(python):
            text = indexes.text(content, python)
            return text, "\ufffd" in text
        if codec != "x-user-defined":
            return content.decode(python), False
    except UnicodeError:
        pass
    table = _table(codec)
    if table is None:
        return indexes.text(content, python, "replace"), True
    text = content.decode("latin-1").translate(table)
    return text, "\ufffd" in text


@cache
def _table(codec: str) -> dict[int, str] | None:
    """Return the characters of the bytes from 80 on in a windows charset or x-user-defined; None for others.

    The Encoding Standard maps the bytes 80 to 9F that Python leaves undefined to the C1 controls (index files).
    """
    if codec == "x-user-defined":
        return {octet: chr(0xF700 + octet) for octet in range(0x80, 0x100)}
    if not codec.startswith("windows-"):
        return None
    characters = indexes.text(bytes(range(256)), codec.replace("windows-", "cp"), "replace")
    return {
        octet: chr(octet) if char == "\ufffd" and octet < 0xA0 else char
        for octet, char in enumerate(characters)
        if octet >= 0x80
    }
