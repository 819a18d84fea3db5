"""Memory for a zstd frame: a window of 8 MiB as a content coding (RFC 9659 3), 128 MiB as a file."""

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
"""The base-2 logarithm of the window."""


def zstd_frame(text: bytes, log: int) -> bytes:
    """One frame with a window of 2 ** log bytes; it does not state its content size, which would shrink the window."""
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


def test_the_limits_of_codings_and_files() -> None:
    assert (CONTENT, FILE) == (8 << MEBIBYTE, 128 << MEBIBYTE)


@pytest.mark.parametrize("log", [10, 22, 23, 24, 26, 27, 28, 30])
@pytest.mark.parametrize("window", [None, CONTENT, FILE, 1 << MEBIBYTE])
def test_a_decoder_enforces_its_window_limit(log: int, window: int | None) -> None:
    """Its default is that of a content coding."""
    decoder = codings.Decoder("zstd") if window is None else codings.Decoder("zstd", window)
    if 1 << log <= (window or CONTENT):
        assert b"".join(decoder.feed(zstd_frame(PAGE, log))) == PAGE
    else:
        with pytest.raises(codings.Undecodable, match="too much memory"):
            list(decoder.feed(zstd_frame(PAGE, log)))


@pytest.mark.parametrize(("log", "is_read"), [(10, True), (MEBIBYTE + 3, True), (MEBIBYTE + 4, False), (30, False)])
def test_the_limit_holds_in_records_and_in_responses(log: int, is_read: bool) -> None:
    block = response(zstd_frame(PAGE, log))
    head = header(block)
    assert head is not None
    assert read_content(block, head, 1000) == ((PAGE, []) if is_read else (b"", ["too-large"]))
    if is_read:
        assert read(answer("zstd", zstd_frame(PAGE, log))) == PAGE
    else:
        with pytest.raises(ProtocolError):
            read(answer("zstd", zstd_frame(PAGE, log)))


def test_data_before_a_too_large_window_is_returned() -> None:
    block = response(zstd_frame(PAGE, 20) + zstd_frame(PAGE, 27))
    head = header(block)
    assert head is not None
    assert read_content(block, head, 1000) == (PAGE, ["too-large"])


@pytest.mark.parametrize("pack", [gzip.compress, bytes])
def test_a_too_large_window_in_an_archive_becomes_a_note(tmp_path: Path, pack: object) -> None:
    assert callable(pack)
    file = tmp_path / "a.warc"
    file.write_bytes(b"".join(pack(record(response(coded))) for coded in (zstd_frame(PAGE, 27), zstd_frame(PAGE, 10))))
    tracemalloc.start()
    values = [link.reference or link.error for link in extract(file)]
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert values == ["too-large", "x"]
    assert most < 64 << MEBIBYTE


@pytest.mark.parametrize(("log", "is_read"), [(27, True), (28, False)])
@pytest.mark.parametrize("name", ["a.warc.zst", "a.html.zst"])
def test_a_file_is_decoded_like_the_zstd_command(tmp_path: Path, name: str, log: int, is_read: bool) -> None:
    file = tmp_path / name
    file.write_bytes(zstd_frame(record(response(zstd_frame(PAGE, 10))) if "warc" in name else PAGE, log))
    assert [link.reference or link.error for link in extract(file)] == ["x" if is_read else "too-large"]
