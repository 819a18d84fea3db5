"""gzip members inflated by igzip and by zlib give the same result."""

from __future__ import annotations

import gzip
import io
import random
import zlib

import pytest

from overthere.links.containers import gzip_member

DATA = b"".join(b"%d %d\n" % (number, number * number % 997) for number in range(20_000))
SOUND = gzip.compress(DATA, mtime=0)
LINES = gzip.compress(b"", mtime=0), gzip.compress(bytes(3_000_000), mtime=0), gzip.compress(b"a", mtime=0) + SOUND


def both(octets: bytes, monkeypatch: pytest.MonkeyPatch, most: int = 1 << 30) -> tuple[bytes, int, str]:
    text = gzip_member.inflate_member(io.BytesIO(octets), 0, most, 64)
    with monkeypatch.context() as patch:
        patch.setattr(gzip_member, "_FAST_ZLIB", zlib)
        assert gzip_member.inflate_member(io.BytesIO(octets), 0, most, 64) == text
    return text


def test_igzip_is_installed() -> None:
    pytest.importorskip("isal")
    assert gzip_member._FAST_ZLIB.__name__ == "isal.isal_zlib"


def test_valid_members(monkeypatch: pytest.MonkeyPatch) -> None:
    assert both(SOUND, monkeypatch) == (DATA, len(SOUND), "")
    assert both(SOUND + b"next", monkeypatch) == (DATA, len(SOUND), "")
    assert both(LINES[0], monkeypatch) == (b"", len(LINES[0]), "")
    assert both(LINES[2], monkeypatch)[0] == b"a"


def test_members_larger_than_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    data, used, fault = both(SOUND, monkeypatch, 100_000)
    assert (used, fault) == (len(SOUND), "long")
    assert DATA.startswith(data)
    assert 100_000 <= len(data) < 100_000 + gzip_member.MAX_OUTPUT
    assert both(LINES[1], monkeypatch, 1000)[2] == "too-large"


def test_damaged_members(monkeypatch: pytest.MonkeyPatch) -> None:
    """The data before the error is the same, wherever the error is."""
    chance = random.Random(3986)
    seen = set()
    for length in (0, 1, 9, 10, 11, 500, len(SOUND) // 2, len(SOUND) - 9, len(SOUND) - 1):
        seen.add(both(SOUND[:length], monkeypatch)[2])
    ends = [8 * at + bit for at in (*range(12), *range(len(SOUND) - 9, len(SOUND))) for bit in range(8)]
    for place in ends + [chance.randrange(8 * len(SOUND)) for _ in range(200)]:
        octets = bytearray(SOUND)
        octets[place // 8] ^= 1 << place % 8
        seen.add(both(bytes(octets), monkeypatch)[2])
    assert seen >= {"truncated", "corrupt"}
