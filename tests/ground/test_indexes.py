"""Indexes of the Encoding Standard in which Python's codecs differ: complete texts and streams."""

from __future__ import annotations

import pytest

from overthere.ground import charsets, indexes
from overthere.links.documents.charset import decode_text
from overthere.links.report.browser_column import _encode_query
from support import linear

# Label, bytes, characters that an implementation of the Standard (encoding_rs 0.8) returns.
ROWS = [
    ("gbk", b"\x80 5", "€ 5"),  # 10.2.1, step 5
    ("gb18030", b"a\x80\x80", "a€€"),
    ("gb2312", b"\xa2\xe3\x80", "€€"),
    ("gbk", b"\xa6\xd9\xfe\x59\xa3\xa0\xa8\xbc", "\ufe10\u9fb4\u3000\u1e3f"),
    ("gb18030", b"\x81\x35\xf4\x37", "\ue7c7"),
    ("gbk", b"\x81\x300", "\ufffd00"),
    ("gbk", b"<\x8c0\xdc0<", "<\ufffd<"),
    ("gbk", b"\x81\xff<", "\ufffd<"),
    ("gbk", b"\x81<", "\ufffd<"),
    ("big5", b"\x87\x7a\x8e\x69\xa3\xe1\xc6\xcf", "㡵箸€廴"),
    ("big5", b"\xa1\x45\xa1\xe3\xa2\x46", "‧～￠"),
    ("big5", b"\x81\x80a\x81a", "\ufffda\ufffda"),
    ("euc-jp", b"\xad\xa1\xfc\xfe\xa1\xc1\xa1\xdd", "①＂～－"),
    ("euc-jp", b"\x8f\xa1\x80<\x8e\x80<", "\ufffd<\ufffd<"),
    ("euc-jp", b"\xa9\xa1<", "\ufffd<"),
    ("shift_jis", b"\x5c\x7e\x80\xb1\x87\x40\xf0\x40", "\\~\x80ｱ①\ue000"),
    ("shift_jis", b"\xa0\xfd\xfe\xff", "\ufffd\ufffd\ufffd\ufffd"),
    ("shift_jis", b"\x81\xad<", "\ufffd<"),
    ("euc-kr", b"\x81\x41\xb0\xa1\x81\x80<", "갂가\ufffd<"),
    ("koi8-u", b"\xae\xbe", "ўЎ"),
    ("windows-1255", b"\xca\x81\xd9", "\u05ba\x81\ufffd"),
    ("windows-1252", b"\x80\x81\x8d\x9d", "€\x81\x8d\x9d"),
    ("iso-8859-8-i", b"\xe0\xa1", "א\ufffd"),
    ("x-mac-cyrillic", b"\xa2\xb6\xff", "Ґґ€"),
    ("x-user-defined", b"\x80\xff", "\uf780\uf7ff"),
    ("iso-2022-jp", b"\x1b$B\x2d\x21\x1b(B~", "①~"),
    ("iso-2022-jp", b"\x1b(I\x31\x1b(J\x5c\x7e", "ｱ¥‾"),
    ("iso-2022-jp", b"a\x0e\x0f\x80", "a\ufffd\ufffd\ufffd"),
    ("iso-2022-jp", b"\x1b$(D\x22\x2f", '\ufffd$(D"/'),
    ("iso-2022-jp", b"\x1b$B\x1b(Ba", "\ufffda"),
    ("iso-2022-jp", b"\x1b$B\x24\x22\x24\x1b(Ba\x1b", "あ\ufffda\ufffd"),
    ("iso-2022-jp", b"\x1b$B\x24\x0a\x80\x29\x21", "\ufffd\ufffd\ufffd"),
    ("utf-8", b"\xe2\x82x\xf0\x9f\x98 \xed\xa0\x80\xe2", "\ufffdx\ufffd \ufffd\ufffd\ufffd\ufffd"),
    ("utf-16le", b"a\0\0\xdcb\0\x01\xd8c\0d", "a\ufffdb\ufffdc\ufffd"),
    ("utf-16be", b"\0a\xdc\0\0b\xd8\1\0c\xd8", "a\ufffdb\ufffdc\ufffd"),
]


@pytest.mark.parametrize(("label", "octets", "text"), ROWS)
def test_texts_are_decoded_as_the_standard_says(label: str, octets: bytes, text: str) -> None:
    assert decode_text(octets, label) == (text, "\ufffd" in text)


@pytest.mark.parametrize(("name", "octets", "text"), [row for row in ROWS if row[0] in ("gbk", "gb18030")])
def test_streams_are_decoded_as_the_standard_says(name: str, octets: bytes, text: str) -> None:
    """Split anywhere; Python's codec rejects the byte 80."""
    for split in range(len(octets) + 1):
        decoder = charsets.decoder(name, "replace")
        output = decoder.decode(octets[:split]) + decoder.decode(octets[split:], True)
        assert output == text
    if "\ufffd" in text:
        with pytest.raises(UnicodeDecodeError):
            charsets.text(octets, name)
    else:
        assert charsets.text(octets, name) == text


def test_errors_are_handled_as_by_python() -> None:
    assert charsets.text(b"a\x80\xff", "gbk", "ignore") == "a€"
    assert charsets.text(b"a\x80\xff", "gbk", "backslashreplace") == "a€\\xff"
    with pytest.raises(UnicodeEncodeError):
        "\ud800".encode("gbk", indexes._handler("gbk", "strict"))


@pytest.mark.parametrize("name", ["gb18030", "big5hkscs", "euc_jp", "cp932", "iso2022_jp"])
def test_decoding_is_linear(name: str) -> None:
    """Texts that consist of errors too."""
    for unit in (b"\x80", b"\xff\xff", b"\x87\x7a", b"\x1b", b"\x1b$B", b"\xad\xa1"):
        linear(lambda size, unit=unit: indexes.text(unit * size, name, "replace"), 20_000)  # type: ignore[misc]


@pytest.mark.parametrize(
    ("charset", "octets", "query"),
    [("shift_jis", b"\x87\x40", "%87@"), ("euc-kr", b"\x81\x41", "%81A")],
)
def test_queries_use_the_encoding_of_the_document(charset: str, octets: bytes, query: str) -> None:
    """URL Standard 4.4: Python's own shift_jis and euc_kr have fewer characters than the Standard's."""
    assert _encode_query(decode_text(octets, charset)[0], charset) == query
