"""Hostile ZIP files without a directory: the cost of reading them grows with their length only."""

from __future__ import annotations

import io
import struct
import zipfile
import zlib

import pytest

from overthere.base import Base
from overthere.links.containers import zip_recovery
from overthere.links.model import Document, Note, Options
from overthere.values.uri import URI
from support import flat_members

_BASE = Base(URI("http://h.example/a.zip"), "retrieval", "retrieval")
_DESCRIBED = 8
"""The flag of a member whose size follows its data (APPNOTE 4.4.4)."""
_STORED, _DEFLATED = zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED


def header(name: bytes = b"", flags: int = 0, method: int = _STORED, size: int = 0, length: int | None = None) -> bytes:
    """A local header; length: a false length of its name."""
    stated = len(name) if length is None else length
    return struct.pack("<4s5H3L2H", b"PK\3\4", 20, flags, method, 0, 0, 0, size, size, stated, 0) + name


def block(data: bytes, last: bool = False) -> bytes:
    """A stored block of deflate (RFC 1951 3.2.4)."""
    return struct.pack("<BHH", last, len(data), len(data) ^ 0xFFFF) + data


class Counted(io.BytesIO):
    """A file that counts the bytes read and the calls."""

    def __init__(self, data: bytes) -> None:
        super().__init__(data)
        self.size = len(data)
        self.octets = 0
        self.calls = 0

    def read(self, size: int | None = -1, /) -> bytes:
        data = super().read(size)
        self.octets += len(data)
        self.calls += 1
        assert self.octets <= 20 * self.size + (1 << 27), f"{self.octets:,} octets read of {self.size:,}"
        assert self.calls <= 2 * self.size + (1 << 20), f"{self.calls:,} calls for {self.size:,} octets"
        return data


def chained(count: int) -> bytes:
    """Deflated members, each with the header of the next in a stored block: inflating one leads to the end, where a
    little becomes a megabyte, followed by invalid deflate data."""
    deflater = zlib.compressobj(9, wbits=-15)
    end = deflater.compress(bytes(900_000)) + deflater.flush(zlib.Z_SYNC_FLUSH) + b"\x07"
    entry = header(b"n", _DESCRIBED, _DEFLATED)
    return entry + block(entry) * (count - 1) + end


HOSTILE = {
    # The descriptor of each is searched, and there are many candidates.
    "descriptors that fit no member": header(b"n", _DESCRIBED) * 500 + b"PK\7\x08" * 20_000,
    "descriptors and headers": (header(b"n", _DESCRIBED) + b"PK\7\x08" * 20) * 1000,
    "headers one in another": b"PK\3\4" * 60_000,
    "headers in what each inflates": chained(800),
    "chains that end in a bomb": chained(300) * 6,
    "sizes beyond the end": header(b"n", 0, _STORED, 0xFFFFFFF0) * 6000,
    "sizes that overlap": b"".join(header(b"n", 0, _STORED, 100 * (number % 7)) for number in range(6000)),
    "names beyond the end": b"".join(header(b"n", length=65_535) + bytes(10) for _ in range(1000)) + header(b"n"),
    "no header but its beginning": b"PK\3\4" + b"PK\3" * 60_000,
}


@pytest.mark.parametrize("kind", HOSTILE)
def test_the_cost_of_a_search_is_limited(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Bytes read, calls, and bytes inflated are limited by the length of the file; there is a note."""
    data = HOSTILE[kind]
    count = 0
    real = zlib.decompressobj

    class Inflating:
        def __init__(self, bits: int) -> None:
            self.inner = real(bits)

        def __getattr__(self, name: str) -> object:
            return getattr(self.inner, name)

        def decompress(self, octets: bytes, most: int = 0) -> bytes:
            nonlocal count
            count += most
            found = self.inner.decompress(octets, most)  # a failing call may have inflated all of it
            count -= most - len(found)
            assert count <= 200 * len(data) + (1 << 30), f"{count:,} octets inflated of {len(data):,}"
            return found

    monkeypatch.setattr(zlib, "decompressobj", Inflating)
    members = list(zip_recovery.find_members(Counted(data)))
    assert members[-1] in ("corrupt", "truncated")
    assert sum(member.size for member in members if not isinstance(member, str)) <= len(data)


@pytest.mark.parametrize("kind", HOSTILE)
def test_members_are_read_once(kind: str) -> None:
    """Nothing is read twice as the content of two members."""
    data = HOSTILE[kind]
    file = Counted(data)
    members = list(flat_members("zip", file, Document("a.zip", b"", _BASE), Options(limit=1 << 16)))
    assert any(isinstance(member, Note) for member in members)
    assert sum(len(member.content) for member in members if isinstance(member, Document)) <= (1 << 16) * len(members)


def test_a_name_beyond_the_end_hides_no_member() -> None:
    data = header(b"a", length=65_000) + header(b"b.html", size=5) + b"hello"
    *members, note = zip_recovery.find_members(io.BytesIO(data))
    assert [member.info.filename for member in members if not isinstance(member, str)] == ["b.html"]
    assert note == "corrupt"


@pytest.mark.parametrize("method", [_STORED, _DEFLATED])
def test_very_many_small_members_are_found(method: int) -> None:
    """The limit of the search is far above what a valid file needs: empty members whose size follows them."""
    packed = b"\x03\0" if method == _DEFLATED else b""
    entry = header(b"n", _DESCRIBED, method) + packed + struct.pack("<4s3L", b"PK\7\x08", 0, len(packed), 0)
    count = 20_000
    *members, note = zip_recovery.find_members(io.BytesIO(entry * count))
    assert (len(members), note) == (count, "truncated")
