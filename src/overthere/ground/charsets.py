"""Text decoders by charset label; Python's other codecs are rejected.

Python has codecs that are not charsets: some decompress, some take quadratic time, some fail.  A label is one
of the Encoding Standard (4.2) or another of Python's names for the same encodings.  Browsers read "iso-8859-1"
and "us-ascii" as windows-1252; here a media type is taken literally (RFC 2046 4.1.2); the link table, which
reads documents like a browser, has `links/documents/charset.py`.
"""

from __future__ import annotations

import codecs
from encodings import iso2022_jp, normalize_encoding
from encodings.aliases import aliases
from typing import Any

from overthere.ground import indexes
from overthere.ground.caches import bounded_cache

_NAMES = """
ascii utf-8 utf-16 utf-16-le utf-16-be koi8-r koi8-u mac-roman mac-cyrillic tis-620 cp866 cp874 cp1250 cp1251 cp1252
cp1253 cp1254 cp1255 cp1256 cp1257 cp1258 gb2312 gbk gb18030 big5 big5hkscs euc_jp iso2022_jp shift_jis cp932 euc_kr
cp949 iso8859-1 iso8859-2 iso8859-3 iso8859-4 iso8859-5 iso8859-6 iso8859-7 iso8859-8 iso8859-9 iso8859-10 iso8859-11
iso8859-13 iso8859-14 iso8859-15 iso8859-16
"""
"""Python's names of the encodings, without "replacement" (4.2), UTF-7 and UTF-32, which the Standard excludes."""
_CODECS = frozenset(_NAMES.split())
_EXTRA_LABELS = {
    "big5": "cn-big5 x-x-big5",
    "cp1250": "x-cp1250",
    "cp1251": "x-cp1251",
    "cp1252": "x-cp1252",
    "cp1253": "x-cp1253",
    "cp1254": "x-cp1254",
    "cp1255": "x-cp1255",
    "cp1256": "x-cp1256",
    "cp1257": "x-cp1257",
    "cp1258": "x-cp1258",
    "cp874": "dos-874 windows-874",
    "cp932": "windows-31j x-sjis",
    "cp949": "windows-949",
    "euc_jp": "cseucpkdfmtjapanese x-euc-jp",
    "euc_kr": "cseuckr csksc56011987 iso-ir-149 ks_c_5601-1989 ksc_5601",
    "gbk": "csgb2312 gb_2312 gb_2312-80 x-gbk",
    "iso8859-1": "iso88591",
    "iso8859-10": "iso885910",
    "iso8859-11": "iso885911",
    "iso8859-13": "iso885913",
    "iso8859-14": "iso885914",
    "iso8859-15": "csisolatin9 iso885915",
    "iso8859-2": "iso88592",
    "iso8859-3": "iso88593",
    "iso8859-4": "iso88594",
    "iso8859-5": "iso88595",
    "iso8859-6": "csiso88596e csiso88596i iso-8859-6-e iso-8859-6-i iso88596",
    "iso8859-7": "iso88597 sun_eu_greek",
    "iso8859-8": "csiso88598e csiso88598i iso-8859-8-e iso-8859-8-i iso88598 logical visual",
    "iso8859-9": "iso88599",
    "koi8-r": "koi koi8",
    "koi8-u": "koi8-ru",
    "mac-cyrillic": "x-mac-cyrillic x-mac-ukrainian",
    "mac-roman": "csmacintosh mac x-mac-roman",
    "utf-16": "csunicode iso-10646-ucs-2 ucs-2 unicode",
    "utf-16-be": "unicodefffe",
    "utf-16-le": "unicodefeff",
    "utf-8": "unicode-1-1-utf-8 unicode11utf8 unicode20utf8 x-unicode20utf8",
}
"""Labels of the Standard that Python does not know."""
_CODEC_BY_LABEL = {label: name for name, labels in _EXTRA_LABELS.items() for label in labels.split()}
_WITH_EURO_BYTE = frozenset(("gbk", "gb18030"))
"""Both have one decoder (10.1.1), which reads the byte 80 as the euro sign; Python's codecs reject it."""
_SPELLINGS = frozenset((*aliases, *aliases.values(), *map(normalize_encoding, _CODECS)))
"""Python's normalized names of codecs: for any other name, Python would store for ever that it is unknown."""
_FALLBACK_CODEC = "iso8859-1"
"""It decodes every byte."""


@bounded_cache(256)
def codec(label: str) -> str | None:
    """Return Python's name of the codec for a label; None if the label is not a charset.

    >>> codec("Latin1"), codec("x-sjis"), codec("zlib"), codec("utf-7")
    ('iso8859-1', 'cp932', None, None)
    """
    label = label.strip("\t\n\f\r ")
    if not label.isascii() or not 0 < len(label) < 64:
        return None
    if (label := label.lower()) in _CODEC_BY_LABEL:
        return _CODEC_BY_LABEL[label]
    spelling = normalize_encoding(label)
    if spelling not in _SPELLINGS and spelling.replace(".", "_") not in _SPELLINGS:
        return None
    try:
        name = codecs.lookup(label).name
    except (LookupError, ValueError):
        return None
    return name if name in _CODECS else None


class _UTF16(codecs.IncrementalDecoder):
    """UTF-16 with the byte order of its mark; little-endian without one (Encoding Standard 4.2)."""

    def __init__(self, errors: str) -> None:
        super().__init__(errors)
        self.start = b""
        self.inner: codecs.IncrementalDecoder | None = None

    def decode(self, input: Any, final: bool = False) -> str:
        data = bytes(input)
        if self.inner is None:
            data = self.start = self.start + data
            if len(data) < 2 and not final:
                return ""
            big = data.startswith(codecs.BOM_UTF16_BE)
            if big or data.startswith(codecs.BOM_UTF16_LE):
                data = data[2:]
            self.inner = codecs.getincrementaldecoder("utf-16-be" if big else "utf-16-le")(self.errors)
        return self.inner.decode(data, final)


class _ISO2022JP(iso2022_jp.IncrementalDecoder):
    """ISO-2022-JP.  Python keeps up to eight bytes of an escape, and has no error handler for a longer one."""

    def decode(self, input: Any, final: bool = False) -> str:
        state = self.getstate()
        try:
            return super().decode(input, final)
        except UnicodeDecodeError:
            raise
        except UnicodeError:
            self.setstate(state)
            return super().decode(input, True)  # such an escape is invalid


def decoder(label: str, errors: str = "strict") -> codecs.IncrementalDecoder:
    """Return the decoder for a label; that of ISO Latin 1 if the label is not a charset (see `codec`)."""
    name = codec(label) or _FALLBACK_CODEC
    if name == "utf-16":
        return _UTF16(errors)
    if name == "iso2022_jp":
        return _ISO2022JP(errors)
    return indexes.decoder("gb18030", errors) if name in _WITH_EURO_BYTE else codecs.getincrementaldecoder(name)(errors)


def text(octets: bytes, label: str, errors: str = "strict") -> str:
    """Decode bytes; as ISO Latin 1 if the label is not a charset.  Raises: UnicodeDecodeError.

    >>> text(b"a\\0b\\0", "utf-16"), text(b"\\xfe\\xff\\0a", "utf-16"), text(b"caf\\xe9", "rot13")
    ('ab', 'a', 'café')
    """
    return decoder(label, errors).decode(octets, True)
