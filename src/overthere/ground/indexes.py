"""Charsets of the Encoding Standard that Python's codecs implement incompletely or differently.

Python's codec decodes.  Bytes that it rejects are looked up here, and characters that differ are replaced.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator
from functools import cache
from typing import Any

# Index gb18030 has other characters for these: GB 18030-2022 moved them out of the private use area; two are swapped.
_GB18030_CHANGES = dict(zip(
    "\ue5e5\ue78d\ue78e\ue78f\ue790\ue791\ue792\ue793\ue794\ue795\ue796\ue7c7\u1e3f"
    "\ue81e\ue826\ue82b\ue82c\ue832\ue843\ue854\ue864",
    "\u3000\ufe10\ufe12\ufe11\ufe13\ufe14\ufe15\ufe16\ufe17\ufe18\ufe19\u1e3f\ue7c7"
    "\u9fb4\u9fb5\u9fb6\u9fb7\u9fb8\u9fb9\u9fba\u9fbb",
    strict=True,
))  # fmt: skip
# Index jis0208 is Microsoft's.
_JIS0208_CHANGES = dict(zip("\u301c\u2016\u2212\xa2\xa3\xac", "\uff5e\u2225\uff0d\uffe0\uffe1\uffe2", strict=True))
_CHANGES = {
    "gb18030": _GB18030_CHANGES,
    "gbk": _GB18030_CHANGES,
    # A2 41 and A2 42 differ too, but cannot be distinguished from A1 FE and A2 40 after decoding.
    "big5hkscs": dict(zip(
        "\u2022\uff64\u203e\u223c\u2641\u2609\xa5\xa2\xa3",
        "\u2027\ufe51\xaf\uff5e\u2295\u2299\uffe5\uffe0\uffe1",
        strict=True,
    )),
    "euc_jp": _JIS0208_CHANGES,
    "cp932": dict.fromkeys("\uf8f0\uf8f1\uf8f2\uf8f3", "\ufffd"),
    "koi8-u": {"\u255d": "\u045e", "\u256c": "\u040e"},
}  # fmt: skip
"""Python's name of a codec -> its character -> the Standard's character."""
_BIG5_EXTRA = """
877a㡵𡵓𣚞𦀡㻬
87a1𥣞㫵竼龗𤅡𨤍𣇪𠪊𣉞䌊蒄龖鐯䤰蘓墖靊鈘秐稲晠権袝瑌篅枂稬剏遆㓦珄𥶹瓆鿇垳䤯呌䄱𣚎堘穲𧭥讏䚮𦺈䆁𥶙箮𢒼鿈𢓁𢓉𢓌鿉蔄𣖻䂴鿊䓡𪷿拁灮鿋
8e69箸 8e6f簆 8e7e糎 8eab緒 8eb4縝 8ecd者 8ed0耨 8f57菁 8f69蒨 8f6e萏 8fcb覦覩 8ffe起 906d都 907a銹 90dc靜
90f1響 91bf鼖 9244蔃 92af兙兛兝兞 92c8鍮 92d1瑹 9447浧 94ca禛 95d9邗 9644靝 96ed瀞 96fc嬨 9b76爁 9b78矗 9b7b纇
9bc6駖 9bde釔 9bec惞 9bf6澶 9c42輶 9c53侻 9c62營 9c68鄄 9c6b鷰 9c77菏 9cbc尐秣 9cd0婧 9d57輋 9d5a筑 9dc4拐
9ea9恢 9eef痹 9efd汊 9f60鬮 9f66鼗 9fcb僭 9fd8弌 a063蠏 a077拎 a0d5瑨 a0df煢 a0e4牐
a3c0␀␁␂␃␄␅␆␇␈␉␊␋␌␍␎␏␐␑␒␓␔␕␖␗␘␙␚␛␜␝␞␟␡€ c6cf廴 c6d3无 c6d5癶 c6d7隶 c6de〃仝 fa5f倩 fa66偽 fabd包 fac5卄 fad5卿
fb48嘅 fbb8婷 fbf3幵 fbf9廐 fc4f彘 fc6c悤 fcb9撐 fce2晴 fcf1杞 fdb7沜渝 fdbb港 fdf1煮 fe52猪 fe6f瑜 feaa瓩
fedd砉
"""
"""Characters of index Big5 that Python does not have: a byte pair, then the characters of it and its successors."""


_INCOMPLETE_CODECS = frozenset(("cp1255",))
"""Single-byte codecs without some characters."""


def _missing_character(name: str, data: bytes) -> tuple[str, int]:
    """Return the first character, if Python's codec does not have it, and its number of bytes; or "" and 0."""
    match name:
        case "gb18030" | "gbk":
            return ("€", 1) if data.startswith(b"\x80") else ("", 0)
        case "big5hkscs":
            return _big5().get(data[:2], ""), 2
        case "euc_jp":
            return _jis0208(data[:2]), 2
        case "cp1255":
            return ("\u05ba", 1) if data.startswith(b"\xca") else ("", 0)
        case _:
            return "", 0


@cache
def _big5() -> dict[bytes, str]:
    characters = {}
    for run in _BIG5_EXTRA.split():
        lead, trail = bytes.fromhex(run[:4])
        for place, character in enumerate(run[4:]):
            characters[bytes((lead, trail + place))] = character
    return characters


def _jis0208(pair: bytes) -> str:
    """Decode a pair of EUC-JP as Shift_JIS, in which Python has all of index jis0208 (12.3.1)."""
    if len(pair) < 2 or min(pair) < 0xA1 or max(pair) > 0xFE:
        return ""
    row, cell = pair[0] - 0xA1, pair[1] - 0xA1
    lead, trail = row // 2, cell + 94 * (row % 2)
    data = bytes((lead + (0x81 if lead < 0x1F else 0xC1), trail + (0x40 if trail < 0x3F else 0x41)))
    try:
        return data.decode("cp932")
    except UnicodeError:
        return ""


_LEAD_BYTES = {
    "gb18030": "81-FE", "gbk": "81-FE", "big5hkscs": "81-FE", "cp949": "81-FE", "euc_jp": "8E-8F A1-FE",
    "cp932": "81-9F E0-FC",
}  # fmt: skip
"""The ranges of lead bytes, by Python's name of a codec."""


@cache
def _lead_bytes(name: str) -> frozenset[int]:
    ranges = (part.split("-") for part in _LEAD_BYTES.get(name, "").split())
    return frozenset(byte for first, last in ranges for byte in range(int(first, 16), int(last, 16) + 1))


_FOUR_BYTES = re.compile(rb".[0-9](?:[\x81-\xfe](?:[0-9]|\Z)|\Z)", re.DOTALL)
"""A four-byte sequence of GB 18030, or its beginning at the end of the data."""


def _invalid_prefix_length(name: str, data: bytes) -> int:
    """Return the number of leading bytes that decode to one U+FFFD: a beginning of a character before US-ASCII."""
    if data[0] not in _lead_bytes(name):
        return 1
    if name in ("gb18030", "gbk") and data[1:2].isdigit():
        return len(data) if _FOUR_BYTES.match(data) else 1
    max_length = 3 if name == "euc_jp" and data[0] == 0x8F and 0xA1 <= data[1] <= 0xFE else 2
    return next((place for place, byte in enumerate(data[:max_length]) if byte < 0x80), min(max_length, len(data)))


@cache
def _handler(name: str, errors: str) -> str:
    """Return the name of an error handler that looks up missing characters, and otherwise follows `errors`."""
    if name not in _LEAD_BYTES and name not in _INCOMPLETE_CODECS:
        return errors  # Python itself handles the errors of UTF-8, UTF-16 and single-byte codecs

    def handle(error: UnicodeError) -> tuple[str | bytes, int]:
        if not isinstance(error, UnicodeDecodeError):
            raise error
        start = error.start
        character, count = _missing_character(name, error.object[start : start + 4])
        if character:
            return character, start + count
        if errors != "replace" or len(error.object) - start < 2:
            return fallback(error)
        return "\ufffd", start + _invalid_prefix_length(name, error.object[start : start + 4])

    fallback = codecs.lookup_error(errors)
    handler_name = f"overthere.{name}.{errors}"
    codecs.register_error(handler_name, handle)
    return handler_name


def is_corrected(name: str) -> bool:
    """Whether Python's codec of this name differs from the Standard."""
    return name in _CHANGES or name in _INCOMPLETE_CODECS or name == "iso2022_jp"


def text(octets: bytes, name: str, errors: str = "strict") -> str:
    """Decode bytes by one of Python's codecs, corrected to the Standard.  Raises: UnicodeDecodeError.

    >>> text(b"\\x80", "gb18030"), text(b"\\xad\\xa1", "euc_jp"), text(b"\\xae", "koi8-u")
    ('€', '①', 'ў')
    """
    if name != "iso2022_jp":
        return _replace_text(octets.decode(name, _handler(name, errors)), name)
    decoded = "".join(_iso2022_jp(octets))
    if errors == "strict" and "\ufffd" in decoded:
        raise UnicodeDecodeError(name, octets, 0, len(octets), "no ISO-2022-JP")
    return decoded


def _replace_text(text: str, name: str) -> str:
    changes = {ord(char): replacement for char, replacement in _CHANGES.get(name, {}).items() if char in text}
    return text.translate(changes) if changes else text


_PART = re.compile(rb"\x1b(?:(?P<escape>\(B|\(J|\(I|\$@|\$B)|)|(?P<text>[^\x1b]++)")
_PAIRS = re.compile(rb"(?P<pairs>(?:[!-~]{2})++)|[!-~][^!-~]?|[^!-~]", re.DOTALL)
_ASCII = dict.fromkeys((14, 15, *range(128, 256)), "�")
_SETS = {
    b"(B": _ASCII,
    b"(J": {**_ASCII, 0x5C: "\xa5", 0x7E: "\u203e"},
    b"(I": {octet: chr(0xFF40 + octet) if 0x21 <= octet <= 0x5F else "\ufffd" for octet in range(0x100)},
}


def _iso2022_jp(data: bytes) -> Iterator[str]:
    """Decode ISO-2022-JP (12.2.1): Python knows other escapes than the Standard, and continues after invalid ones."""
    charset, escaped = b"(B", False
    for part in _PART.finditer(data):
        if part["escape"]:
            charset = part["escape"]
            if escaped:
                yield "\ufffd"  # an escape directly after another
            escaped = True
            continue
        escaped = False
        if part["text"] is None:
            yield "\ufffd"
        elif charset in _SETS:
            yield part["text"].decode("latin-1").translate(_SETS[charset])
        else:
            for piece in _PAIRS.finditer(part["text"]):
                pairs = piece["pairs"]
                yield "\ufffd" if pairs is None else text(bytes(byte | 0x80 for byte in pairs), "euc_jp", "replace")


def decoder(name: str, errors: str = "strict") -> codecs.IncrementalDecoder:
    """Return an incremental decoder that does the same as `text`."""
    return _CorrectedCodec(name, errors)


class _CorrectedCodec(codecs.IncrementalDecoder):
    def __init__(self, name: str, errors: str) -> None:
        super().__init__(errors)
        self.name = name
        self.inner = codecs.getincrementaldecoder(name)(_handler(name, errors))

    def decode(self, input: Any, final: bool = False) -> str:
        text = self.inner.decode(input, final)
        # At the end the decoder returns its first error only, and keeps the bytes after it.
        while final and self.inner.getstate()[0]:
            text += self.inner.decode(b"", True)
        return _replace_text(text, self.name)

    def getstate(self) -> tuple[bytes, int]:
        return self.inner.getstate()

    def reset(self) -> None:
        self.inner.reset()
