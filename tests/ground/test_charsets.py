"""Charset names from untrusted sources: which are accepted, and that no decoded text controls a terminal."""

from __future__ import annotations

import codecs
import random
from encodings.aliases import aliases
from types import SimpleNamespace
from typing import Any

import pytest
from webencodings.labels import LABELS

import overthere
from overthere.cli.terminal import Binary, Display
from overthere.ground import charsets
from overthere.mail.words import words
from overthere.protocols.news.dialogue import _decoded_words

NONE = (
    "zlib", "bz2", "base64", "hex", "uu", "quopri", "rot13", "rot_13", "idna", "punycode", "unicode_escape", "mbcs",
    "raw_unicode_escape", "undefined", "utf-7", "utf-32", "cp037", "charmap", "", " ", "\0", "x" * 70, "ü",
    "utf-8\udc80", "../utf_8", "replacement", "hz", "iso-2022-kr", "\u212aoi8-r",
)  # fmt: skip
CHARSETS = sorted(charsets._CODECS)


def test_every_label_of_the_standard_is_known() -> None:
    unknown = {name for label, name in LABELS.items() if charsets.codec(label) is None}
    assert unknown == {"replacement", "x-user-defined"}
    assert {charsets.codec(f" {label.upper()}\n") for label in LABELS} - {None} <= set(CHARSETS)


@pytest.mark.parametrize("label", NONE)
def test_an_unknown_charset_is_not_decoded(label: str) -> None:
    assert charsets.codec(label) is None
    assert charsets.text(b"caf\xe9 +AGE-", label) == "café +AGE-"


def test_every_codec_of_python_is_classified() -> None:
    for name in {*aliases, *aliases.values()}:
        codec = charsets.codec(name)
        assert codec is None or codec in charsets._CODECS


SAMPLE = "eins\r\nzwei\n\nvier"


@pytest.mark.parametrize("step", [1, 2, 3, 100])
@pytest.mark.parametrize("name", CHARSETS)
def test_lines_are_the_same_when_decoded_in_pieces(name: str, step: int) -> None:
    octets = SAMPLE.encode(name)
    for data in (octets, octets.removeprefix(codecs.BOM_UTF16_LE)):
        decoder = charsets.decoder(name)
        pieces = [decoder.decode(data[at : at + step]) for at in range(0, len(data), step)]
        assert "".join(pieces) + decoder.decode(b"", True) == SAMPLE
        assert charsets.text(data, name) == SAMPLE


@pytest.mark.parametrize("step", [1, 5, 100])
def test_an_endless_escape_of_iso_2022_jp_is_invalid(step: int) -> None:
    octets = b"a\n\x1b(" + b"a" * 12 + b"\n\x1b$BF|\x1b(B\n"
    pieces = [octets[at : at + step] for at in range(0, len(octets), step)]
    decoder = charsets.decoder("iso-2022-jp", "replace")
    text = "".join(map(decoder.decode, pieces)) + decoder.decode(b"", True)
    assert (text[:2], "\ufffd" in text, text[-2:]) == ("a\n", True, "日\n")
    decoder = charsets.decoder("iso-2022-jp")
    with pytest.raises(UnicodeDecodeError):
        [*map(decoder.decode, pieces), decoder.decode(b"", True)]


@pytest.mark.parametrize(
    ("octets", "text"),
    [
        (b"\xff\xfea\0\n\0b\0", "a\nb"), (b"\xfe\xff\0a\0\n\0b", "a\nb"), (b"a\0\n\0b\0", "a\nb"), (b"", ""),
        (b"\xff\xfe", ""), (b"a", "\ufffd"), (b"a\0b", "a\ufffd"),
    ],
)  # fmt: skip
def test_utf_16_with_and_without_a_byte_order_mark(octets: bytes, text: str) -> None:
    assert charsets.text(octets, "UTF-16", "replace") == text


def open_data(charset: str, octets: bytes) -> Any:
    escaped = "".join(f"%{octet:02X}" for octet in octets)
    return overthere.open(f"data:text/plain;charset={charset},{escaped}")


@pytest.mark.parametrize("mark", [codecs.BOM_UTF16_LE, b""])
def test_a_resource_in_utf_16(mark: bytes) -> None:
    octets = mark + SAMPLE.encode("utf-16-le")
    with open_data("utf-16", octets) as resource:
        assert list(resource.iter_lines()) == ["eins", "zwei", "", "vier"]
    with open_data("utf-16", octets) as resource:
        assert resource.unknown_charset is None
        assert resource.text() == SAMPLE


@pytest.mark.parametrize("charset", ["utf-7", "zlib", "idna", "rot13", "punycode"])
def test_a_resource_in_an_unknown_charset(charset: str) -> None:
    for _ in range(2):
        with open_data(charset, b"+AGE-\nb\xe9") as resource:
            assert resource.unknown_charset == charset
            assert list(resource.iter_lines()) == ["+AGE-", "bé"]
    with open_data("utf-8", b"+AGE-\nb\xe9") as resource:
        assert resource.text(charset) == "+AGE-\nbé"


def displayed(charset: str, octets: bytes, step: int) -> str:
    resource: Any = SimpleNamespace(media_type=f"text/plain; charset={charset}", charset=lambda: charset)
    display = Display(resource)
    try:
        pieces = [display.show(octets[at : at + step]) for at in range(0, len(octets), step)]
    except Binary:
        return ""
    return "".join(pieces) + display.show(b"", True)


ATTACKS = ("\x1b]0;owned\x07", "\x1b[2J", "\x9b2J", "\x90q\x9c", "\x1b$B\x1b[31m", "\u202e", "\x7f\x08\x08", "\x0e\x0f")


@pytest.mark.parametrize("charset", [*CHARSETS, *NONE[:22]])
def test_no_control_reaches_the_terminal_in_any_charset(charset: str) -> None:
    draw = random.Random(charset)
    encoding = charsets.codec(charset) or "latin-1"
    for step in (1, 7, 4096):
        for attack in ATTACKS:
            for coding in (encoding, "latin-1"):
                octets = f"text {attack} text\n".encode(coding, "ignore")
                text = displayed(charset, b"harmless words " * 20 + octets, step)
                assert all(c.isprintable() or c in "\n\t" for c in text), (attack, text)
        noise = bytes(draw.choice(b"\x1b$B(J[]0;m\x07\x9b\x8e\x8f\x0e\x0f~{}AbcdE ") for _ in range(400))
        text = displayed(charset, b"harmless words " * 400 + noise, step)
        assert all(c.isprintable() or c in "\n\t" for c in text)


def test_encoded_words_in_every_charset() -> None:
    for charset in ("utf-8", "iso-8859-1", "koi8-r", "gb2312"):
        octets = "я".encode(charset, "ignore")
        field = f"=?{charset}?q?{''.join(f'={octet:02X}' for octet in octets)}?="
        assert words(field) == octets.decode(charset)
    for charset in NONE[:16]:
        field = f"=?{charset}?q?=41+AGE-?= x"
        assert words(field) == field == _decoded_words(field)
    assert words("\\u0041 =?utf-8?q?a?=") == "\\u0041 a"
