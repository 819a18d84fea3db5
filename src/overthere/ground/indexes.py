"""Charsets of the Encoding Standard that Python's codecs implement incompletely or differently.

Python's codec reads.  What it refuses is looked up here, and what it reads otherwise is replaced.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator
from functools import cache
from typing import Any

__all__ = ["decoder", "is_corrected", "text"]

# Index gb18030 has for these what GB 18030-2022 has moved out of the private use area, and two that it has exchanged.
_GB = dict(zip(
    "\ue5e5\ue78d\ue78e\ue78f\ue790\ue791\ue792\ue793\ue794\ue795\ue796\ue7c7\u1e3f"
    "\ue81e\ue826\ue82b\ue82c\ue832\ue843\ue854\ue864",
    "\u3000\ufe10\ufe12\ufe11\ufe13\ufe14\ufe15\ufe16\ufe17\ufe18\ufe19\u1e3f\ue7c7"
    "\u9fb4\u9fb5\u9fb6\u9fb7\u9fb8\u9fb9\u9fba\u9fbb",
    strict=True,
))  # fmt: skip
# Index jis0208 is that of Microsoft.
_JIS = dict(zip("\u301c\u2016\u2212\xa2\xa3\xac", "\uff5e\u2225\uff0d\uffe0\uffe1\uffe2", strict=True))
_OTHERWISE = {
    "gb18030": _GB,
    "gbk": _GB,
    # Two more it has otherwise, A2 41 and A2 42, which cannot be told from A1 FE and A2 40 when they are read.
    "big5hkscs": dict(zip(
        "\u2022\uff64\u203e\u223c\u2641\u2609\xa5\xa2\xa3",
        "\u2027\ufe51\xaf\uff5e\u2295\u2299\uffe5\uffe0\uffe1",
        strict=True,
    )),
    "euc_jp": _JIS,
    "cp932": dict.fromkeys("\uf8f0\uf8f1\uf8f2\uf8f3", "\ufffd"),
    "koi8-u": {"\u255d": "\u045e", "\u256c": "\u040e"},
}  # fmt: skip
"""By Python's name of a codec what it reads, and what is meant."""
_BIG5 = """
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
"""What index Big5 has and Python has not: from an octet pair on, one pair after another."""


_MORE = frozenset(("cp1255",))
"""Codecs of single octets that have less."""


def _looked_up(name: str, octets: bytes) -> tuple[str, int]:
    """The character that a codec has not found at the beginning of the octets, and their number; or "" and 0."""
    match name:
        case "gb18030" | "gbk":
            return ("\N{EURO SIGN}", 1) if octets.startswith(b"\x80") else ("", 0)
        case "big5hkscs":
            return _big5().get(octets[:2], ""), 2
        case "euc_jp":
            return _jis0208(octets[:2]), 2
        case "cp1255":
            return ("\u05ba", 1) if octets.startswith(b"\xca") else ("", 0)
        case _:
            return "", 0


@cache
def _big5() -> dict[bytes, str]:
    characters = {}
    for run in _BIG5.split():
        lead, trail = bytes.fromhex(run[:4])
        for place, character in enumerate(run[4:]):
            characters[bytes((lead, trail + place))] = character
    return characters


def _jis0208(pair: bytes) -> str:
    """A pair of EUC-JP by its octets in Shift_JIS, in which Python has all of index jis0208 (12.3.1)."""
    if len(pair) < 2 or min(pair) < 0xA1 or max(pair) > 0xFE:
        return ""
    row, cell = pair[0] - 0xA1, pair[1] - 0xA1
    lead, trail = row // 2, cell + 94 * (row % 2)
    octets = bytes((lead + (0x81 if lead < 0x1F else 0xC1), trail + (0x40 if trail < 0x3F else 0x41)))
    try:
        return octets.decode("cp932")
    except UnicodeError:
        return ""


_LEADS = {
    "gb18030": "81-FE", "gbk": "81-FE", "big5hkscs": "81-FE", "cp949": "81-FE", "euc_jp": "8E-8F A1-FE",
    "cp932": "81-9F E0-FC",
}  # fmt: skip
"""Octets that begin others."""


@cache
def _lead_bytes(name: str) -> frozenset[int]:
    ranges = (part.split("-") for part in _LEADS.get(name, "").split())
    return frozenset(octet for first, last in ranges for octet in range(int(first, 16), int(last, 16) + 1))


_FOUR = re.compile(rb".[0-9](?:[\x81-\xfe](?:[0-9]|\Z)|\Z)", re.DOTALL)
"""Of GB 18030, or as many of them as there are before the end."""


def _wrong(name: str, octets: bytes) -> int:
    """How many octets at the beginning are one U+FFFD: those that begin a character, up to one of US-ASCII."""
    if octets[0] not in _lead_bytes(name):
        return 1
    if name in ("gb18030", "gbk") and octets[1:2].isdigit():
        return len(octets) if _FOUR.match(octets) else 1
    most = 3 if name == "euc_jp" and octets[0] == 0x8F and 0xA1 <= octets[1] <= 0xFE else 2
    return next((place for place, octet in enumerate(octets[:most]) if octet < 0x80), min(most, len(octets)))


@cache
def _handler(name: str, errors: str) -> str:
    """The name of the error handler for a codec that looks up, and else does what `errors` says."""
    if name not in _LEADS and name not in _MORE:
        return errors  # of UTF-8, UTF-16 and single octets Python itself knows how much is wrong

    def handle(error: UnicodeError) -> tuple[str | bytes, int]:
        if not isinstance(error, UnicodeDecodeError):
            raise error
        at = error.start
        character, count = _looked_up(name, error.object[at : at + 4])
        if character:
            return character, at + count
        if errors != "replace" or len(error.object) - at < 2:
            return other(error)
        return "\ufffd", at + _wrong(name, error.object[at : at + 4])

    other = codecs.lookup_error(errors)
    called = f"overthere.{name}.{errors}"
    codecs.register_error(called, handle)
    return called


def is_corrected(name: str) -> bool:
    """Whether Python's codec of this name is not all that the Standard has."""
    return name in _OTHERWISE or name in _MORE or name == "iso2022_jp"


def text(octets: bytes, name: str, errors: str = "strict") -> str:
    """The characters of octets in one of Python's codecs, as the Standard has them.  Raises: UnicodeDecodeError.

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
    there = {ord(one): other for one, other in _OTHERWISE.get(name, {}).items() if one in text}
    return text.translate(there) if there else text


_PART = re.compile(rb"\x1b(?:(?P<escape>\(B|\(J|\(I|\$@|\$B)|)|(?P<text>[^\x1b]++)")
_PAIRS = re.compile(rb"(?P<pairs>(?:[!-~]{2})++)|[!-~][^!-~]?|[^!-~]", re.DOTALL)
_ASCII = dict.fromkeys((14, 15, *range(128, 256)), "�")
_SETS = {
    b"(B": _ASCII,
    b"(J": {**_ASCII, 0x5C: "\xa5", 0x7E: "\u203e"},
    b"(I": {octet: chr(0xFF40 + octet) if 0x21 <= octet <= 0x5F else "\ufffd" for octet in range(0x100)},
}


def _iso2022_jp(octets: bytes) -> Iterator[str]:
    """12.2.1: Python knows other escapes than the Standard, and reads on where one is wrong."""
    set, escaped = b"(B", False
    for part in _PART.finditer(octets):
        if part["escape"]:
            set = part["escape"]
            if escaped:
                yield "\ufffd"  # an escape that nothing follows but another
            escaped = True
            continue
        escaped = False
        if part["text"] is None:
            yield "\ufffd"
        elif set in _SETS:
            yield part["text"].decode("latin-1").translate(_SETS[set])
        else:
            for piece in _PAIRS.finditer(part["text"]):
                pairs = piece["pairs"]
                yield "\ufffd" if pairs is None else text(bytes(octet | 0x80 for octet in pairs), "euc_jp", "replace")


def decoder(name: str, errors: str = "strict") -> codecs.IncrementalDecoder:
    """The same for octets that come in pieces."""
    return _CorrectedCodec(name, errors)


class _CorrectedCodec(codecs.IncrementalDecoder):
    def __init__(self, name: str, errors: str) -> None:
        super().__init__(errors)
        self.name = name
        self.inner = codecs.getincrementaldecoder(name)(_handler(name, errors))

    def decode(self, input: Any, final: bool = False) -> str:
        text = self.inner.decode(input, final)
        # At the end it gives the first of what is wrong, and keeps what stands behind it.
        while final and self.inner.getstate()[0]:
            text += self.inner.decode(b"", True)
        return _replace_text(text, self.name)
