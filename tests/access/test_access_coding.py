"""Unrequested content codings (RFC 9110 8.4): decoded within limits, or rejected with an AccessError."""

from __future__ import annotations

import asyncio
import contextlib
import gzip
import zlib
from collections.abc import Iterator

import brotli
import pytest
from backports import zstd

import overthere
from overthere.access.errors import AccessError, AccessFailed, LimitExceeded, ProtocolError
from overthere.access.policy import Policy
from overthere.ground.codings import Decoder, Undecodable
from servers.faults import close_at, faulty, simple
from support import linear, processor

TEXT = b"<p>caf\xc3\xa9</p>\n" * 1000
LOCAL = Policy.local()
RAW = zlib.compressobj(wbits=-15)
CODED = {
    "gzip": gzip.compress(TEXT),
    "x-gzip": gzip.compress(TEXT[:500]) + gzip.compress(TEXT[500:]),
    "deflate": zlib.compress(TEXT),
    "Deflate": RAW.compress(TEXT) + RAW.flush(),
    "br": brotli.compress(TEXT),
    "zstd": zstd.compress(TEXT),
    "ZSTD": zstd.compress(TEXT[:7]) + zstd.compress(TEXT[7:]),
    "identity": TEXT,
    "deflate, gzip": gzip.compress(zlib.compress(TEXT)),
    "br, identity, zstd": zstd.compress(brotli.compress(TEXT)),
}


def answer(coding: str, body: bytes, more: str = "Content-Type: text/html; charset=utf-8\r\n") -> bytes:
    return f"HTTP/1.1 200 OK\r\n{more}Content-Encoding: {coding}\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body


def opened(octets: bytes, path: str = "x", policy: Policy = LOCAL) -> Iterator[overthere.access.resource.Resource]:
    with (
        faulty(simple(close_at(octets))) as server,
        overthere.open(f"http://127.0.0.1:{server.port}/{path}", policy) as resource,
    ):
        yield resource


def read(octets: bytes, policy: Policy = LOCAL) -> bytes:
    (content,) = [results.read() for results in opened(octets, policy=policy)]
    return content


@pytest.mark.parametrize("coding", CODED)
def test_coded_content_is_decoded(coding: str) -> None:
    for resource in opened(answer(coding, CODED[coding])):
        assert "coding" not in resource.details
        assert resource.length == (len(TEXT) if coding == "identity" else None)
        assert resource.text() == TEXT.decode()


@pytest.mark.parametrize(("path", "fields"), [("a.tar.gz", ""), ("a", "Content-Type: application/x-gzip\r\n")])
def test_compressed_files_are_not_decoded(path: str, fields: str) -> None:
    for resource in opened(answer("x-gzip", CODED["gzip"], fields), path):
        assert resource.details["coding"] == "gzip"
        assert resource.read() == CODED["gzip"]


@pytest.mark.parametrize("coding", ["compress", "no-such", "gzip, x", "gzip,gzip,gzip,gzip,gzip", "\x80"])
def test_an_unknown_coding_is_rejected(coding: str) -> None:
    with pytest.raises(ProtocolError, match="not requested"):
        read(answer(coding, CODED["gzip"]))


@pytest.mark.parametrize("coding", [name for name in CODED if name != "identity"])
def test_invalid_or_truncated_content_is_an_error(coding: str) -> None:
    body = CODED[coding]
    for spoiled in (TEXT, body[:-1], body[: len(body) // 2], body + b"x", b"\0" + body):
        with pytest.raises((ProtocolError, AccessFailed)) as caught:
            read(answer(coding, spoiled))
        assert isinstance(caught.value, AccessError)
    assert read(answer(coding, b"")) == b""


@pytest.mark.parametrize("coding", ["gzip", "deflate", "br", "zstd"])
def test_a_decompression_bomb_is_limited(coding: str) -> None:
    """50 MB of zeros in a few bytes: pieces stay small, and the limit applies to decoded bytes."""
    zeros = bytes(50_000_000)
    pack = {"gzip": gzip.compress, "deflate": zlib.compress, "br": brotli.compress, "zstd": zstd.compress}[coding]
    octets = answer(coding, pack(zeros))
    for resource in opened(octets):
        sizes = [len(piece) for piece in resource]
        assert sum(sizes) == len(zeros)
        assert max(sizes) <= 1 << 20
    with pytest.raises(LimitExceeded, match="coding"):
        read(octets, policy=LOCAL.with_(max_bytes=1_000_000))


SKIPPED = b"\x50\x2a\x4d\x18"
EMPTY_CODINGS = {
    "frames of zstd to skip": ("zstd, gzip, gzip", (SKIPPED + bytes(4)) * 500_000),
    "a frame of zstd to skip": ("zstd, gzip, gzip", (SKIPPED + (1 << 24).to_bytes(4, "little") + bytes(1 << 24)) * 40),
    "empty members of gzip": ("gzip, gzip, gzip", gzip.compress(b"") * 200_000),
    "members of one octet": ("gzip, gzip, gzip", gzip.compress(b"a") * 200_000),
}


@pytest.mark.parametrize("name", EMPTY_CODINGS)
def test_content_that_decodes_to_little_ends_in_time(name: str) -> None:
    """Some hundred bytes that become megabytes between the codings, and nothing or little at the end."""
    coding, inner = EMPTY_CODINGS[name]
    octets = answer(coding, gzip.compress(gzip.compress(inner)))
    with processor(20), contextlib.suppress(AccessError):
        read(octets, LOCAL.with_(total_timeout=1))
    with processor(20):
        asyncio.run(_read_beside(octets))


async def _read_beside(octets: bytes) -> None:
    """Other tasks in the event loop run meanwhile."""
    turns = 0

    async def count() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    other = asyncio.create_task(count())
    with faulty(simple(close_at(octets))) as server, contextlib.suppress(AccessError):
        async with await overthere.aopen(f"http://127.0.0.1:{server.port}/x", LOCAL.with_(total_timeout=1)) as resource:
            before = turns
            while await resource.read(1 << 16):
                pass
    other.cancel()
    assert turns > before


def test_empty_parts_between_others_are_decoded() -> None:
    empty = gzip.compress(b"") * 1500
    assert b"".join(Decoder("gzip").feed(empty + gzip.compress(b"a") + empty + gzip.compress(b"b"))) == b"ab"
    skipped = (SKIPPED + bytes(4)) * 2000
    assert b"".join(Decoder("zstd").feed(skipped + zstd.compress(b"a") + skipped)) == b"a"


@pytest.mark.parametrize("content", [b"", b"a"])
def test_many_parts_are_linear(content: bytes) -> None:
    def feed(count: int) -> None:
        with contextlib.suppress(Undecodable):
            assert b"".join(Decoder("gzip").feed(gzip.compress(content) * count)) == content * count

    linear(feed, 90_000)


def test_a_too_large_window_is_rejected() -> None:
    """RFC 9659 3: at most 8 MiB."""
    large = zstd.compress(bytes(range(256)) * 100_000, options={zstd.CompressionParameter.window_log: 27,
        zstd.CompressionParameter.content_size_flag: 0})  # fmt: skip
    with pytest.raises(ProtocolError):
        read(answer("zstd", large))


def test_a_missing_library_is_an_access_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "brotli", None)
    with pytest.raises(AccessFailed, match=r"overthere\[access\]"):
        read(answer("br", CODED["br"]))
