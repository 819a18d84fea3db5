"""Content codings: all have the same interface and the same errors, for any sizes of pieces."""

from __future__ import annotations

import bz2
import contextlib
import gzip
import io
import lzma
import zlib
from collections.abc import Callable

import brotli
import lz4.frame
import pytest
from backports import zstd

from overthere.ground.codings import CODINGS, CONTENT, Decoder, TrailingOctets, Undecodable, decode, decode_until_fault
from support import linear

TEXT = b"".join(b"<a href=%d>%d</a>\n" % (number, number * number % 97) for number in range(40))
PACK: dict[str, Callable[[bytes], bytes]] = {
    "gzip": lambda data: gzip.compress(data, mtime=0),
    "deflate": zlib.compress,
    "br": brotli.compress,
    "zstd": zstd.compress,
    "bz2": bz2.compress,
    "xz": lzma.compress,
    "lz4": lz4.frame.compress,
}
SEVERAL = sorted(PACK.keys() - {"deflate", "br"})


def read(name: str, data: bytes, step: int = 1 << 20, most: int = 1 << 16) -> bytes:
    decoder = Decoder(name)
    parts = [part for at in range(0, len(data), step) for part in decoder.feed(data[at : at + step], most)]
    decoder.end()
    return b"".join(parts)


def test_all_codings_are_tested() -> None:
    assert CODINGS.keys() == PACK.keys()
    assert CODINGS.keys() >= CONTENT


@pytest.mark.parametrize("name", PACK)
def test_the_sizes_of_pieces_do_not_matter(name: str) -> None:
    data = PACK[name](TEXT)
    for step in (1, 2, 7, 1 << 20):
        for most in (1, 5, 1 << 16):
            assert read(name, data, step, most) == TEXT
    assert read(name, b"") == b""
    assert read(name, PACK[name](b"")) == b""


@pytest.mark.parametrize("name", PACK)
def test_a_truncated_stream_is_an_error(name: str) -> None:
    data = PACK[name](TEXT)
    for end in range(1, len(data)):
        with pytest.raises(EOFError):
            read(name, data[:end])
        content, fault = decode_until_fault(data[:end], name, 1 << 20)
        assert isinstance(fault, EOFError)
        assert TEXT.startswith(content)


@pytest.mark.parametrize("name", SEVERAL)
def test_concatenated_streams_and_trailing_zeros_are_accepted(name: str) -> None:
    pack = PACK[name]
    data = pack(TEXT[:50]) + bytes(3) + pack(b"") + pack(TEXT[50:]) + bytes(2000)
    for step in (1, 1000, 1 << 20):
        assert read(name, data, step) == TEXT
    assert b"".join(decode(io.BytesIO(data), Decoder(name))) == TEXT
    assert decode_until_fault(data, name, 1 << 20) == (TEXT, None)
    assert decode_until_fault(data, name, 100) == (TEXT[:100], None)


@pytest.mark.parametrize("name", PACK)
@pytest.mark.parametrize("junk", [b"\n", b"j", b"junk" * 900])
def test_trailing_data_is_an_error(name: str, junk: bytes) -> None:
    data = PACK[name](TEXT) + junk
    content, fault = decode_until_fault(data, name, 1 << 20)
    assert (content, type(fault)) == (TEXT, TrailingOctets)
    with pytest.raises(Undecodable):
        read(name, data)


@pytest.mark.parametrize("name", sorted(CONTENT))
def test_data_before_an_error_is_returned(name: str) -> None:
    """Exactly what decoding byte by byte gives."""
    text = b"".join(b"%d;" % (number * number % 99_991) for number in range(30_000))
    data = PACK[name](text)
    for place in range(100, len(data), len(data) // 9):
        broken = data[:place] + bytes([data[place] ^ 0x55]) + data[place + 1 :]
        content, fault = decode_until_fault(broken, name, 1 << 20)
        if not isinstance(fault, Undecodable):
            continue
        decoder, parts = Decoder(name), b""
        with contextlib.suppress(Undecodable):
            for octet in broken:
                for part in decoder.feed(bytes([octet])):
                    parts += part
        assert content == parts


@pytest.mark.parametrize("name", sorted(CONTENT))
def test_text_that_is_not_in_the_coding_is_an_error(name: str) -> None:
    """A coding without a magic number decodes some bytes by chance: they do not count as content."""
    for text in (TEXT, b"\n" + TEXT, b'{"a": 1, "b": [2, 3]}' * 9, b"body { color: red }" * 9, b"%PDF-1.4" * 20):
        content, fault = decode_until_fault(text, name, 1 << 20)
        assert (content, type(fault)) == (b"", Undecodable), text


@pytest.mark.parametrize("name", sorted(CONTENT))
def test_a_missing_package_is_reported(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("brotli", "backports.zstd", "compression.zstd"):
        monkeypatch.setitem(__import__("sys").modules, module, None)
    if name in ("br", "zstd"):
        with pytest.raises(ModuleNotFoundError, match=r"is not installed: pip install 'overthere\[links\]'"):
            read(name, PACK[name](TEXT))
    else:
        assert read(name, PACK[name](TEXT)) == TEXT


@pytest.mark.parametrize("name", SEVERAL)
def test_many_concatenated_streams_are_linear(name: str) -> None:
    part = PACK[name](b"x")
    linear(lambda count: decode_until_fault(part * count, name, 1 << 30), 2000)
