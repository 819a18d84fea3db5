"""How much memory a frame of zstd may ask for: 8 MiB as a content coding (RFC 9659 3), 128 MiB as a file."""

from __future__ import annotations

import gzip
import tracemalloc
from pathlib import Path

import pytest
from backports import zstd

from overthere.access.errors import ProtocolError
from overthere.ground import codings
from overthere.links import extract
from overthere.links.containers.response import read_content
from overthere.links.documents.header import header
from test_access_coding import answer, read

PAGE = b"<a href=x>x</a>"
CONTENT, FILE = codings.CONTENT_WINDOW, codings.FILE_WINDOW
MEBIBYTE = 20
"""The logarithm."""


def framed(text: bytes, log: int) -> bytes:
    """One frame with a window of 2 ** log octets, without the size of its content, which would make the window less."""
    options: dict[int, int] = {
        zstd.CompressionParameter.window_log: log,
        zstd.CompressionParameter.enable_long_distance_matching: 1,
        zstd.CompressionParameter.content_size_flag: 0,
    }
    packer = zstd.ZstdCompressor(options=options)
    return packer.compress(text) + packer.flush()


def response(coded: bytes) -> bytes:
    return b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Encoding: zstd\r\n\r\n" + coded


def record(block: bytes) -> bytes:
    head = "WARC/1.0\r\nWARC-Type: response\r\nWARC-Record-ID: <urn:uuid:0>\r\nWARC-Target-URI: http://h/"
    head += f"\r\nContent-Type: application/http;msgtype=response\r\nContent-Length: {len(block)}\r\n\r\n"
    return head.encode() + block + b"\r\n\r\n"


def test_the_two_limits() -> None:
    assert (CONTENT, FILE) == (8 << MEBIBYTE, 128 << MEBIBYTE)


@pytest.mark.parametrize("log", [10, 22, 23, 24, 26, 27, 28, 30])
@pytest.mark.parametrize("window", [None, CONTENT, FILE, 1 << MEBIBYTE])
def test_a_decoder_keeps_to_its_limit(log: int, window: int | None) -> None:
    """Without one it is that of a content coding."""
    decoder = codings.Decoder("zstd") if window is None else codings.Decoder("zstd", window)
    if 1 << log <= (window or CONTENT):
        assert b"".join(decoder.feed(framed(PAGE, log))) == PAGE
    else:
        with pytest.raises(codings.Undecodable, match="too much memory"):
            list(decoder.feed(framed(PAGE, log)))


@pytest.mark.parametrize(("log", "is_read"), [(10, True), (MEBIBYTE + 3, True), (MEBIBYTE + 4, False), (30, False)])
def test_a_coding_has_the_window_of_responses_in_a_record_and_in_an_answer(log: int, is_read: bool) -> None:
    block = response(framed(PAGE, log))
    head = header(block)
    assert head is not None
    assert read_content(block, head, 1000) == ((PAGE, []) if is_read else (b"", ["too-large"]))
    if is_read:
        assert read(answer("zstd", framed(PAGE, log))) == PAGE
    else:
        with pytest.raises(ProtocolError):
            read(answer("zstd", framed(PAGE, log)))


def test_what_stands_before_a_window_that_is_too_large_is_kept() -> None:
    block = response(framed(PAGE, 20) + framed(PAGE, 27))
    head = header(block)
    assert head is not None
    assert read_content(block, head, 1000) == (PAGE, ["too-large"])


@pytest.mark.parametrize("pack", [gzip.compress, bytes])
def test_a_window_in_an_archive_is_a_note_and_takes_no_memory(tmp_path: Path, pack: object) -> None:
    assert callable(pack)
    file = tmp_path / "a.warc"
    file.write_bytes(b"".join(pack(record(response(coded))) for coded in (framed(PAGE, 27), framed(PAGE, 10))))
    tracemalloc.start()
    found = [link.reference or link.error for link in extract(file)]
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert found == ["too-large", "x"]
    assert most < 64 << MEBIBYTE


@pytest.mark.parametrize(("log", "is_read"), [(27, True), (28, False)])
@pytest.mark.parametrize("name", ["a.warc.zst", "a.html.zst"])
def test_a_file_is_read_as_zstd_itself_reads_it(tmp_path: Path, name: str, log: int, is_read: bool) -> None:
    file = tmp_path / name
    file.write_bytes(framed(record(response(framed(PAGE, 10))) if "warc" in name else PAGE, log))
    assert [link.reference or link.error for link in extract(file)] == ["x" if is_read else "too-large"]
