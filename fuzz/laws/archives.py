"""ZIP and tar files and compressed ones, cut and changed: every member is returned, or a note is."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import tarfile
import zipfile
from collections.abc import Iterator
from functools import cache

import damage
from damage import SampleArchive, Span
from overthere.links.model import Document, Note, Options, PassedContent
from readings import OUTER, flat_members

WORDS = (
    b"PK\x01\x02", b"PK\x03\x04", b"PK\x05\x06", b"PK\x07\x08", b"PK\x06\x06", b"\x1f\x8b\x08\0", b"BZh91AY&SY",
    b"\xfd7zXZ\0", b"\x28\xb5\x2f\xfd", b"ustar\x0000", b"ustar  \0", b"0000644\0", b"00000001000\0", b"././@LongLink",
    b"12 path=abc\n", b"\0" * 16, b"\xff\xff", b"\xff\xff\xff\xff", b"\x80",
)  # fmt: skip
LONGEST = 4096
AFTER = "a test to tests/links/test_archives.py"

_CONTENTS = (b"<a href=0>", b"<a href=1>" * 60, b"", b"<a href=3>" + bytes(range(256)) * 3)
_FULL = tuple(content for content in _CONTENTS if content)


def _make_zip(method: int) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", method) as archive:
        for number, content in enumerate(_FULL):
            archive.writestr(zipfile.ZipInfo(f"d/{number}.html"), content, method)
    return file.getvalue()


def _make_tar(form: int) -> bytes:
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w", format=form) as archive:
        for number, content in enumerate(_FULL):
            info = tarfile.TarInfo(f"d/{number}{'ü' * 60 * (number == 1)}.html")
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
    # Two blocks of zeros end it; more of them fill it up.
    used = file.getvalue().rstrip(b"\0")
    return used + b"\0" * (-len(used) % tarfile.BLOCKSIZE + 2 * tarfile.BLOCKSIZE)


@cache
def samples() -> tuple[SampleArchive, ...]:
    """One of each kind."""
    results: list[SampleArchive] = []
    for name, method in (("zip stored", zipfile.ZIP_STORED), ("zip deflated", zipfile.ZIP_DEFLATED)):
        octets = _make_zip(method)
        # Only the directory has a member's properties other than its name, size and checksum.
        directory = octets.index(b"PK\x01\x02")
        with zipfile.ZipFile(io.BytesIO(octets)) as archive:
            starts = [info.header_offset for info in archive.infolist()] + [directory]
        free = (Span(directory, len(octets)),)
        results.append(SampleArchive(name, octets, _FULL, True, free, reach=tuple(starts[1:]), listed=True))
    for name, form in (("tar gnu", tarfile.GNU_FORMAT), ("tar pax", tarfile.PAX_FORMAT)):
        octets = _make_tar(form)
        with tarfile.open(fileobj=io.BytesIO(octets)) as archive:
            reach = tuple(info.offset_data + info.size for info in archive.getmembers())
        results.append(SampleArchive(name, octets, _FULL, False, reach=reach))
    content = b"".join(_FULL)
    for name, pack in (
        ("gzip", lambda data: gzip.compress(data, mtime=0)),
        ("bzip2", bz2.compress),
        ("xz", lzma.compress),
    ):
        results.append(SampleArchive(name, pack(content), (content,), True))
        results.append(SampleArchive(f"{name} twice", pack(_FULL[1]) + pack(_FULL[2]), (_FULL[1] + _FULL[2],), True,
                          ends={len(pack(_FULL[1])): (_FULL[1],)}))  # fmt: skip
    return tuple(results)


def _kind(octets: bytes) -> str:
    packed = octets.startswith((b"\x1f\x8b", b"BZh", b"\xfd7zXZ\0"))
    return "zip" if octets.startswith(b"PK") else "compressed" if packed else "tar"


def _read(octets: bytes) -> Iterator[Document | Note | PassedContent]:
    return flat_members(_kind(octets), io.BytesIO(octets), Document("a.gz", b"", OUTER), Options(limit=1 << 20))


def check(data: bytes) -> None:
    """data: as `damage` has it."""
    damage.check_damaged(data, samples(), _read)


def seeds() -> Iterator[bytes]:
    for number, sample in enumerate(samples()):
        yield bytes((number,))
        yield bytes((number, 0, 0x80, 0, 0))
        yield bytes((number, 1, 0x40, 0, 3))
        yield bytes((damage.RAW,)) + sample.octets
