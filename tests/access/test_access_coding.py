"""Content codings that come unasked (RFC 9110 8.4): undone within bounds, or refused as an AccessError."""

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
MADE = {
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
        overthere.open(f"http://127.0.0.1:{server.port}/{path}", policy) as one,
    ):
        yield one


def read(octets: bytes, policy: Policy = LOCAL) -> bytes:
    (content,) = [found.read() for found in opened(octets, policy=policy)]
    return content


@pytest.mark.parametrize("coding", MADE)
def test_what_came_coded_is_read(coding: str) -> None:
    for found in opened(answer(coding, MADE[coding])):
        assert "coding" not in found.details
        assert found.length == (len(TEXT) if coding == "identity" else None)
        assert found.text() == TEXT.decode()


@pytest.mark.parametrize(("path", "more"), [("a.tar.gz", ""), ("a", "Content-Type: application/x-gzip\r\n")])
def test_what_is_packed_itself_stays(path: str, more: str) -> None:
    for found in opened(answer("x-gzip", MADE["gzip"], more), path):
        assert found.details["coding"] == "gzip"
        assert found.read() == MADE["gzip"]


@pytest.mark.parametrize("coding", ["compress", "no-such", "gzip, x", "gzip,gzip,gzip,gzip,gzip", "\x80"])
def test_a_coding_that_is_not_known_is_refused(coding: str) -> None:
    with pytest.raises(ProtocolError, match="not requested"):
        read(answer(coding, MADE["gzip"]))


@pytest.mark.parametrize("coding", [name for name in MADE if name != "identity"])
def test_what_is_not_in_it_or_cut_is_an_error(coding: str) -> None:
    body = MADE[coding]
    for spoiled in (TEXT, body[:-1], body[: len(body) // 2], body + b"x", b"\0" + body):
        with pytest.raises((ProtocolError, AccessFailed)) as caught:
            read(answer(coding, spoiled))
        assert isinstance(caught.value, AccessError)
    assert read(answer(coding, b"")) == b""


@pytest.mark.parametrize("coding", ["gzip", "deflate", "br", "zstd"])
def test_a_bomb_is_bounded(coding: str) -> None:
    """50 MB of zeros in a few octets: pieces stay small, and the bound is on what comes out."""
    zeros = bytes(50_000_000)
    pack = {"gzip": gzip.compress, "deflate": zlib.compress, "br": brotli.compress, "zstd": zstd.compress}[coding]
    octets = answer(coding, pack(zeros))
    for found in opened(octets):
        sizes = [len(piece) for piece in found]
        assert sum(sizes) == len(zeros)
        assert max(sizes) <= 1 << 20
    with pytest.raises(LimitExceeded, match="coding"):
        read(octets, policy=LOCAL.with_(max_bytes=1_000_000))


SKIPPED = b"\x50\x2a\x4d\x18"
NOTHING = {
    "frames of zstd to skip": ("zstd, gzip, gzip", (SKIPPED + bytes(4)) * 500_000),
    "a frame of zstd to skip": ("zstd, gzip, gzip", (SKIPPED + (1 << 24).to_bytes(4, "little") + bytes(1 << 24)) * 40),
    "empty members of gzip": ("gzip, gzip, gzip", gzip.compress(b"") * 200_000),
    "members of one octet": ("gzip, gzip, gzip", gzip.compress(b"a") * 200_000),
}


@pytest.mark.parametrize("name", NOTHING)
def test_what_decodes_to_next_to_nothing_ends_in_time(name: str) -> None:
    """Some hundred octets that become megabytes between the codings, and nothing or little behind them."""
    coding, inner = NOTHING[name]
    octets = answer(coding, gzip.compress(gzip.compress(inner)))
    with processor(20), contextlib.suppress(AccessError):
        read(octets, LOCAL.with_(total_timeout=1))
    with processor(20):
        asyncio.run(_read_beside(octets))


async def _read_beside(octets: bytes) -> None:
    """Others in the event loop run meanwhile."""
    turns = 0

    async def count() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    other = asyncio.create_task(count())
    with faulty(simple(close_at(octets))) as server, contextlib.suppress(AccessError):
        async with await overthere.aopen(f"http://127.0.0.1:{server.port}/x", LOCAL.with_(total_timeout=1)) as there:
            before = turns
            while await there.read(1 << 16):
                pass
    other.cancel()
    assert turns > before


def test_empty_parts_between_others_are_read() -> None:
    empty = gzip.compress(b"") * 1500
    assert b"".join(Decoder("gzip").feed(empty + gzip.compress(b"a") + empty + gzip.compress(b"b"))) == b"ab"
    skipped = (SKIPPED + bytes(4)) * 2000
    assert b"".join(Decoder("zstd").feed(skipped + zstd.compress(b"a") + skipped)) == b"a"


@pytest.mark.parametrize("content", [b"", b"a"])
def test_many_parts_take_linear_time(content: bytes) -> None:
    def feed(count: int) -> None:
        with contextlib.suppress(Undecodable):
            assert b"".join(Decoder("gzip").feed(gzip.compress(content) * count)) == content * count

    linear(feed, 90_000)


def test_a_window_that_is_too_large_is_refused() -> None:
    """RFC 9659 3: at most 8 MiB."""
    large = zstd.compress(bytes(range(256)) * 100_000, options={zstd.CompressionParameter.window_log: 27,
        zstd.CompressionParameter.content_size_flag: 0})  # fmt: skip
    with pytest.raises(ProtocolError):
        read(answer("zstd", large))


def test_without_the_library_it_is_an_error_of_access(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "brotli", None)
    with pytest.raises(AccessFailed, match=r"overthere\[access\]"):
        read(answer("br", MADE["br"]))
