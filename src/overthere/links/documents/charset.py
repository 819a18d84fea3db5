"""Decodes a document: byte order mark, given charset, default (Encoding Standard 6, "decode")."""

from __future__ import annotations

import codecs
from functools import cache
from typing import TYPE_CHECKING

from overthere.ground import indexes
from overthere.ground.caches import bounded_cache

if TYPE_CHECKING:
    from webencodings import Encoding

__all__ = ["MARKS", "decode_text", "encoding"]

MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)


def decode_text(content: bytes, told: str | None, default: str = "utf-8") -> tuple[str, bool]:
    """The characters of `content`, and whether it is not what was told.

    told: the charset as it was told; its label is read as the Encoding Standard reads it (4.2): latin-1 and
    US-ASCII are windows-1252.
    default: the charset where nothing was told, or what was told is no charset.

    A byte order mark goes before everything else and is no character of the text. Octets that are not in the charset
    become U+FFFD. True: there were such octets, the label is unknown, or the mark says something else than the label.

    >>> decode_text(b"caf\\xe9 \\x80", "ISO-8859-1")
    ('café €', False)
    >>> decode_text(b"caf\\xe9", None)
    ('caf\\ufffd', True)
    """
    codec = None if told is None else _codec(told)
    wrong = told is not None and codec is None
    for mark, name in MARKS:
        if content.startswith(mark):
            # UTF-16 without more means either order of its octets (RFC 2781 3.3).
            contradicted = codec is not None and codec[:6] != name[:6]
            text, unfit = _characters(content[len(mark) :], name)
            return text, wrong or contradicted or unfit
    text, unfit = _characters(content, codec or _codec(default) or "utf-8")
    return text, wrong or unfit


@bounded_cache(1024)  # labels are what strangers write
def _codec(label: str) -> str | None:
    """Python's name of the codec for a label of the Encoding Standard; None if it has no such label."""
    known = _lookup(label)
    # "replacement" stands for charsets that browsers refuse (4.2): what is US-ASCII in their octets is read.
    if known is None or known.name == "replacement":
        return None
    if known.name in _WIDER:
        return _WIDER[known.name]
    own = known.name == "x-user-defined" or known.name.startswith("windows-")
    return known.name if own else known.codec_info.name


# What the Encoding Standard has under a name is more than Python has under it (10.1, 11.1, 12.3, 13.1).
_WIDER = {"gbk": "gb18030", "big5": "big5hkscs", "shift_jis": "cp932", "euc-kr": "cp949"}


def encoding(label: str) -> str | None:
    """The name of the encoding that has this label (Encoding Standard 4.2); None if none has it."""
    known = _lookup(label)
    return None if known is None else known.name


def _lookup(label: str) -> Encoding | None:
    from webencodings import lookup

    # A lone surrogate is in no label, and lower-casing it is no business of the library.
    return lookup(label) if label.isascii() and len(label) < 64 else None


def _characters(content: bytes, codec: str) -> tuple[str, bool]:
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
    """The octets of a single-octet charset that Python and the Encoding Standard have differently.

    In the windows charsets the Standard gives the octets 80 to 9F that are free to the C1 controls (index files).
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
