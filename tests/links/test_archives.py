"""Members of ZIP, tar and compressed files, including damaged and hostile ones."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import random
import struct
import tarfile
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from overthere import URI
from overthere.base import Base
from overthere.links import batches, extract
from overthere.links.containers.model import Member, Place, find_container
from overthere.links.containers.nested import NestedReader, with_kind
from overthere.links.containers.streams import read_content
from overthere.links.job.task_rows import TaskEnd
from overthere.links.model import NOTES, Document, Note, Options, PassedContent
from overthere.links.report.record_pages import BATCH
from overthere.links.report.rows import MAX_TEXT_BYTES
from support import flat_members, linear

OUTSIDE = Document("x.gz", b"", Base(URI("http://h/x.gz"), "retrieval", "retrieval"))
FILES = {"a.html": b"<a href=x>" * 50, "d/ü b.html": b"<a href=y>"}


def zipped(files: Mapping[str, bytes]) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return file.getvalue()


def tarred(files: Mapping[str, bytes], form: int = tarfile.PAX_FORMAT) -> bytes:
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w", format=form) as archive:
        for name, content in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
    return file.getvalue()


def zstd(content: bytes) -> bytes:
    """One frame without content size, as from a stream."""
    from backports.zstd import ZstdCompressor

    packer = ZstdCompressor()
    return packer.compress(content) + packer.flush()


def _kind(data: bytes) -> str:
    packed = data.startswith((b"\x1f\x8b", b"BZh", b"\xfd7zXZ\0", b"\x28\xb5\x2f\xfd"))
    return "zip" if data.startswith(b"PK") else "compressed" if packed else "tar"


def found(data: bytes, options: Options = Options()) -> list[Document | Note | PassedContent]:  # noqa: B008
    return list(flat_members(_kind(data), io.BytesIO(data), OUTSIDE, options))


def contents(data: bytes) -> dict[str, bytes]:
    return {member.source: member.content for member in found(data) if isinstance(member, Document)}


def notes(data: bytes, options: Options = Options()) -> list[str]:  # noqa: B008
    return [
        note
        for member in found(data, options)
        if not isinstance(member, PassedContent)
        for note in ([member.kind] if isinstance(member, Note) else member.notes)
    ]


@pytest.mark.parametrize(
    "data",
    [zipped(FILES), tarred(FILES), tarred(FILES, tarfile.GNU_FORMAT), tarred(FILES, tarfile.USTAR_FORMAT)],
    ids=["zip", "pax", "gnu", "ustar"],
)
def test_members_of_archives(data: bytes) -> None:
    assert contents(data) == {f"x.gz!{name}": content for name, content in FILES.items()}
    for doc in found(data):
        assert isinstance(doc, Document)
        assert (doc.base.layer, str(doc.base.uri), doc.depth, doc.notes) == ("entity", "http://h/x.gz", 1, ())


@pytest.mark.parametrize("kind", ["zip", "tar"])
def test_published_archives(kind: str) -> None:
    files = {"a:b/c.html": b"1", "../../up": b"2", "/abs/ü": b"3", "./a//b/.": b"4"}
    data = zipped(files) if kind == "zip" else tarred(files)
    bases = [
        member.document.base
        for member in find_container(kind).members(io.BytesIO(data), OUTSIDE, Place(root_uri=URI("http://p/d/x")))
        if isinstance(member, Member)
    ]
    assert [str(base.uri) for base in bases] == [
        "http://p/d/a%3Ab/c.html", "http://p/d/up", "http://p/d/abs/%C3%BC", "http://p/d/a/b",
    ]  # fmt: skip
    assert {base.layer for base in bases} == {"retrieval"}


PACK: list[Callable[[bytes], bytes]] = [gzip.compress, bz2.compress, lzma.compress, zstd]


@pytest.mark.parametrize("pack", PACK)
def test_single_compressed_files(pack: Callable[[bytes], bytes]) -> None:
    text = random.Random(1).randbytes(200_000)
    (member,) = found(pack(text))
    assert member == OUTSIDE._replace(source="x.gz!x", content=text, depth=1)
    assert contents(pack(text[:9]) + pack(text[9:])) == {"x.gz!x": text}
    assert notes(pack(text)[:-30]) == ["truncated"]
    assert notes(pack(text), Options(limit=100)) == ["too-large"]


@pytest.mark.parametrize("pack", PACK[:3])
def test_content_before_an_error_is_kept(pack: Callable[[bytes], bytes]) -> None:
    text = b"".join(b"<a href=%d>" % number for number in range(200_000))
    broken = bytearray(pack(text))
    broken[-len(broken) // 4] ^= 0xFF
    (member,) = found(bytes(broken))
    assert isinstance(member, Document)
    assert member.notes == ("corrupt",)
    assert member.content[:1000] == text[:1000] or pack is not gzip.compress
    assert notes(pack(b"x") + b"\0" * 5000) == []
    assert notes(pack(b"x") + b"junk" * 9) == ["corrupt"]


def test_names_of_compressed_files() -> None:
    for name, inside in (("a.html.gz", "a.html"), ("s.TGZ", "s.tar"), ("p/x", "x"), ("z!b.svgz", "b.svg")):
        (member,) = flat_members("compressed", io.BytesIO(gzip.compress(b"")), OUTSIDE._replace(source=name), Options())
        assert isinstance(member, Document)
        assert member.source == f"{name}!{inside}"


@pytest.mark.parametrize("root_uri", [None, URI("http://h/z/")])
def test_an_invalid_utf_8_name_affects_only_itself(root_uri: URI | None) -> None:
    """APPNOTE Appendix D: bit 11 means UTF-8. `zipfile` alone would give no members."""
    data = zipped({"\u00fcb": b"one", "d/\u00e9a": b"two", "c\u0101/": b"", "d": b"PK\1\2" + b"x" * 26})
    broken = data.replace("\u00fcb".encode(), b"\xff\xfeb").replace("c\u0101".encode(), b"c\xc4\xc4")
    assert broken.count(b"\xff\xfeb") == 2
    first, two, three = (
        (member.document.source, member.document.base.uri, read_content(member.stream, 99, member.crc))
        for member in find_container("zip").members(io.BytesIO(broken), OUTSIDE, Place(root_uri=root_uri))
        if isinstance(member, Member) and member.stream
    )
    assert first[::2] == ("x.gz!\ufffd\ufffdb", (b"one", ()))
    assert two[::2] == ("x.gz!d/\u00e9a", (b"two", ()))
    assert three[::2] == ("x.gz!d", (b"PK\1\2" + b"x" * 26, ()))
    assert [str(first[1]), str(two[1])] == (
        ["http://h/z/%FF%FEb", "http://h/z/d/%C3%A9a"] if root_uri else ["http://h/x.gz"] * 2
    )


def test_names_of_a_zip_that_are_in_code_page_437() -> None:
    data = zipped({"u\u0308": b"x"})
    flagged = b"\x14\0\0\x08"
    for name, flags, charset in (("\u00fc\u2566", b"\x14\0\0\0", "cp437"), ("\u0108", flagged, "utf-8")):
        (member,) = found(data.replace("u\u0308".encode(), name.encode(charset) + b"!").replace(flagged, flags))
        assert isinstance(member, Document)
        assert (member.source, member.content) == (f"x.gz!{name}!", b"x")


def test_a_member_without_a_name() -> None:
    data = zipped({"?": b"x", "b": b"y"}).replace(b"?", b"\0")
    assert [member.content for member in found(data) if isinstance(member, Document)] == [b"x", b"y"]


def test_members_hidden_by_the_directory_of_a_zip() -> None:
    """By one byte: the length of a comment that hides entries; the count; a name that ends in "/"."""
    files = {"a.html": b"1", "b.html": b"2", "c.html": b"3", "d.html": b"4"}
    data = zipped(files)
    complete = {f"x.gz!{name}": content for name, content in files.items()}
    first = data.index(b"PK\x01\x02")
    entry = 46 + len("a.html")
    for entries in (1, 2, 3):
        hidden = bytearray(data)
        hidden[first + 32] = entry * entries
        assert contents(bytes(hidden)) == complete
        assert set(notes(bytes(hidden))) == {"corrupt"}
    end = data.index(b"PK\x05\x06")
    size = int.from_bytes(data[end + 12 : end + 16], "little") - entry
    truncated = data[: end - entry] + data[end : end + 12] + size.to_bytes(4, "little") + data[end + 16 :]
    assert contents(truncated) == complete
    assert set(notes(truncated)) == {"corrupt"}
    for place in (data.index(b"a.html"), data.rindex(b"a.html")):
        named = data[: place + 5] + b"/" + data[place + 6 :]
        assert len(contents(named)) == len(files) or "corrupt" in notes(named)
    folder = data.replace(b"a.html", b"a.htm/")
    assert len(contents(folder)) == len(contents(folder[: folder.index(b"PK\x01\x02")])) == len(files)


def unnamed(data: bytes, name: str) -> bytes:
    """A ZIP file of three members; its directory neither names nor counts one of them."""
    at = data.rindex(name.encode()) - 46
    data = data[:at] + data[at + 46 + len(name) :]
    size = int.from_bytes(data[-10:-6], "little") - 46 - len(name)
    return data[:-14] + b"\2\0\2\0" + size.to_bytes(4, "little") + data[-6:]


@pytest.mark.parametrize("name", ["a.html", "b.html", "c.html"])
@pytest.mark.parametrize("is_streamed", [False, True])
def test_members_missing_in_the_directory_of_a_zip(name: str, is_streamed: bool) -> None:
    files = {"a.html": b"1", "b.html": b"2", "c.html": b"3" * 40}
    data = streamed(files) if is_streamed else zipped(files)
    assert (notes(data), b"PK\x07\x08" in data) == ([], is_streamed)
    assert contents(unnamed(data, name)) == {f"x.gz!{name}": content for name, content in files.items()}
    assert notes(unnamed(data, name)) == ["corrupt"]


def streamed(files: dict[str, bytes]) -> bytes:
    """A ZIP file with data descriptors."""

    class Pipe(io.BytesIO):
        def seekable(self) -> bool:
            return False

        def seek(self, *offset: int) -> int:
            raise OSError

        tell = seek

    with zipfile.ZipFile(file := Pipe(), "w") as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return file.getvalue()


@pytest.mark.parametrize("offset", [0xFFFFFF, 0x7FFFFFFF])
def test_a_member_beyond_the_end_of_a_zip_affects_no_other(offset: int) -> None:
    data = bytearray(zipped({"a.html": b"1", "b.html": b"2"}))
    at = data.rindex(b"PK\x01\x02") + 42
    data[at : at + 4] = offset.to_bytes(4, "little")
    assert contents(bytes(data))["x.gz!a.html"] == b"1"
    assert set(notes(bytes(data))) == {"corrupt"}


FILLER = struct.pack("<4s5H3L2H", b"PK\x03\x04", 0, 0, 0, 0, 0, 0, 0, 0, 0, 100) + b"\0" * 100
"""A header without a name: Android tools fill the gap of a removed member with it."""


@pytest.mark.parametrize(
    "gap", [b"\0" * 4096, b"APK Sig Block 42" * 20, FILLER, b"PK\x03\x04" * 6, b"x" * 60 + b"PK\x03\x04", FILLER * 3]
)
@pytest.mark.parametrize("is_first", [False, True])
def test_data_between_the_members_of_a_zip_is_not_a_member(gap: bytes, is_first: bool) -> None:
    """Padding, signatures, the marker of a split archive (APPNOTE 8.5.3)."""
    file = io.BytesIO(b"PK\x07\x08" if is_first else b"")
    file.seek(0, io.SEEK_END)
    with zipfile.ZipFile(file, "w") as archive:
        for name in ("a.html", "b.html"):
            archive.writestr(name, name)
            file.seek(archive.start_dir)
            file.write(gap)
            archive.start_dir = file.tell()
    assert contents(file.getvalue()) == {"x.gz!a.html": b"a.html", "x.gz!b.html": b"b.html"}
    assert notes(file.getvalue()) == []


@pytest.mark.parametrize("gap", [b"\0" * 64, FILLER, b"PK\x03\x04" * 16])
def test_gaps_in_a_zip_are_linear(gap: bytes) -> None:
    def zip_with_gaps(count: int) -> bytes:
        file = io.BytesIO()
        with zipfile.ZipFile(file, "w") as archive:
            for number in range(count):
                archive.writestr(f"{number}", b"")
                file.seek(archive.start_dir)
                file.write(gap)
                archive.start_dir = file.tell()
        return file.getvalue()

    zips = {count: zip_with_gaps(count) for count in (2_000, 8_000)}
    linear(lambda count: notes(zips[count]), 8_000)


def test_a_wrong_checksum_in_a_zip() -> None:
    data = zipped({"a": b"x" * 100, "b": b"y"})
    broken = data.replace(zipfile.ZipFile(io.BytesIO(data)).getinfo("a").CRC.to_bytes(4, "little"), b"\0\0\0\0")
    first, two = found(broken)
    assert isinstance(first, Document)
    assert (first.content, first.notes) == (b"x" * 100, ("corrupt",))
    assert isinstance(two, Document)
    assert two.notes == ()


def test_encrypted_members() -> None:
    data = bytearray(zipped({"a": b"x"}))
    data[6] |= 1
    at = data.index(b"PK\x01\x02")
    data[at + 8] |= 1
    assert notes(bytes(data)) == ["encrypted"]


def test_unknown_compression() -> None:
    data = zipped({"a": b"x" * 100})
    at = data.index(b"PK\x01\x02")
    assert notes(data[:8] + b"\x63\0" + data[10 : at + 10] + b"\x63\0" + data[at + 12 :]) == ["unsupported"]


def test_symlinks_and_devices_are_skipped() -> None:
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w") as archive:
        for kind in (tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.CHRTYPE, tarfile.FIFOTYPE, tarfile.DIRTYPE):
            info = tarfile.TarInfo("x")
            info.type, info.linkname = kind, "/etc/passwd"
            archive.addfile(info)
    assert found(file.getvalue()) == [PassedContent(kind) for kind in ("link", "link", "device", "device")]
    link = zipfile.ZipInfo("l")
    link.external_attr = 0o120777 << 16
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as into:
        into.writestr(link, "/etc/passwd")
    assert found(packed.getvalue()) == [PassedContent("link")]


def header(size: bytes, kind: bytes = b"0") -> bytes:
    block = bytearray(tarfile.TarInfo("a").tobuf(tarfile.USTAR_FORMAT)[:512])
    block[124:136] = size.ljust(12, b"\0")
    block[156:157] = kind
    block[148:156] = b" " * 8
    block[148:156] = b"%06o\0 " % sum(block)
    return bytes(block)


def test_impossible_sizes_in_tar() -> None:
    assert notes(header(b"77777777777") + b"x" * 512) == ["truncated"] * 2
    assert notes(header(b"\x80" + b"\x7f" * 11)) == ["truncated"] * 2
    assert "corrupt" in notes(tarred({"a": b"x"})[:1024] + header(b"\xff" * 12))
    for kind in (b"x", b"L", b"g"):
        assert notes(header(b"77777777777", kind)) == ["too-large"]


def pax(kind: bytes, **records: str) -> bytes:
    content = b""
    for name, value in records.items():
        field = f" {name.replace('_', '.')}={value}\n".encode()
        size = next(size for size in range(len(field), len(field) + 9) if size == len(field) + len(str(size)))
        content += b"%d%s" % (size, field)
    return header(b"%o" % len(content), kind) + content + bytes(-len(content) % 512)


def test_the_total_size_of_headers_is_limited() -> None:
    """Global records apply to all members, and the map of a sparse file is a list; compressed, all this is small."""
    every = b"".join(pax(b"g", **{f"k{number}": "a" * 1_000_000}) + header(b"0") for number in range(20))
    assert notes(every)[-1] == "too-large"
    headers = b"".join(pax(b"g", **{f"k{number}": "a" * 500_000}) + header(b"0") * 1000 for number in range(4))
    assert notes(headers)[-1] == "too-large"
    assert notes(tarred({}, tarfile.PAX_FORMAT)[:0] + pax(b"g", comment="a") + header(b"0") + bytes(1024)) == []
    sparse = pax(b"x", GNU_sparse_major="1", GNU_sparse_minor="0", GNU_sparse_name="a", GNU_sparse_realsize="9")
    assert notes(sparse + header(b"%o" % (60 << 20)) + b"1000000000\n" + b"0\n" * (10 << 20)) == ["too-large"]
    block = bytearray(header(b"0", b"S"))
    block[482] = 1  # more of its map follows
    block[148:156] = b" " * 8
    block[148:156] = b"%06o\0 " % sum(block)
    extension = (b"00000000001\0" * 42 + b"\1").ljust(512, b"\0")
    assert notes(bytes(block) + extension * 20_000) == ["too-large"]


def test_many_members_with_extended_headers_are_read() -> None:
    members = {f"{'long/' * 40}{number}": b"" for number in range(20_000)}
    packed = tarred(members, tarfile.PAX_FORMAT)
    assert len(packed) > 7 << 22
    assert len(contents(packed)) == len(members)


def test_a_broken_header_is_not_the_end() -> None:
    data = bytearray(tarred({"a": b"x", "b": b"y"}, tarfile.USTAR_FORMAT))
    data[1024 + 3] ^= 1
    assert notes(bytes(data)) == ["corrupt"]


@pytest.mark.parametrize("form", [tarfile.USTAR_FORMAT, tarfile.GNU_FORMAT, tarfile.PAX_FORMAT])
def test_members_behind_a_broken_header_of_a_tar_are_read(form: int) -> None:
    """As in other containers; no member has the name of an extended header before a broken one."""
    names = "a", "b" * (90 if form == tarfile.USTAR_FORMAT else 150), "ü" * 40, "c"
    files = {name: bytes(1000) + b"<a href=x>" * (100 + number) for number, name in enumerate(names)}
    data = tarred(files, form)
    for at in range(0, len(data) - 1024, 512):
        changed = bytearray(data)
        changed[at] ^= 1
        read = {name.partition("!")[2]: content for name, content in contents(bytes(changed)).items()}
        assert len([name for name in files if read.get(name) == files[name]]) >= len(files) - 1, at
        assert not [name for name in files if read.get(name) in files.values() and read[name] != files[name]], at


def test_many_members_are_linear() -> None:
    def use(packed: bytes, count: int) -> None:
        assert len(contents(packed)) == count

    members_by_count = {count: {f"{number}": b"" for number in range(count)} for count in (5_000, 20_000, 80_000)}
    zips = {count: zipped(members_by_count[count]) for count in (20_000, 80_000)}
    tars = {count: tarred(members_by_count[count], tarfile.USTAR_FORMAT) for count in (5_000, 20_000)}
    linear(lambda count: use(zips[count], count), 80_000)
    linear(lambda count: use(tars[count], count), 20_000)


@pytest.mark.parametrize(
    ("name", "make_data"),
    [
        ("a.zip", lambda: zipped({f"{number}.html": b"" for number in range(20_000)})),
        ("a.tar", lambda: tarred({f"{number}.html": b"" for number in range(20_000)}, tarfile.USTAR_FORMAT)),
        ("a.mbox", lambda: b"From a@b today\nContent-Type: message/rfc822\n\n" * 20_000),
        ("a.eml", lambda: b"Content-Type: multipart/mixed; boundary=a\n\n" + b"--a\n" * 20_000),
        ("long.tar", lambda: tarred({f"{n}{'x' * 1400}.html": b"" for n in range(12_000)}, tarfile.GNU_FORMAT)),
        ("pages.tar", lambda: tarred({f"{n}.txt": b"http://h/" for n in range(20_000)}, tarfile.USTAR_FORMAT)),
    ],
)  # fmt: skip
def test_batches_of_many_members_are_limited(name: str, make_data: Callable[[], bytes], tmp_path: Path) -> None:
    """Members without references have a note each: all notes of an archive were one batch."""
    (tmp_path / name).write_bytes(make_data())
    tables = [batch for batch in batches([tmp_path / name]) if not isinstance(batch, TaskEnd)]
    assert sum(batch.num_rows for batch in tables) >= 12_000
    assert max(batch.num_rows for batch in tables) <= BATCH
    assert max(batch.nbytes for batch in tables) < 1.5 * MAX_TEXT_BYTES


def test_a_directory_too_large_for_memory(tmp_path: Path) -> None:
    data = zipped({"a": b"x"})
    at, end = data.index(b"PK\x01\x02"), data.index(b"PK\x05\x06")
    size = 1 << 26
    file = tmp_path / "z.zip"
    with file.open("wb") as into:
        into.write(data[:end])
        into.seek(at + size)
        into.write(data[end : end + 12] + size.to_bytes(4, "little") + at.to_bytes(4, "little") + b"\0\0")
    with file.open("rb") as opening:
        assert list(flat_members("zip", opening, OUTSIDE, Options())) == [Note("too-large")]


def test_members_at_the_same_offset_are_read_once() -> None:
    """A directory with few bytes per entry could make any number of documents."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("a.html", "<a href=x>")
        (info,) = archive.filelist
        archive.filelist += [info] * 50
    assert set(contents(file.getvalue())) == {"x.gz!a.html"}
    assert notes(file.getvalue()) == ["corrupt"] * 50


def test_an_archive_without_members() -> None:
    assert found(zipped({})) == []


def test_overlapping_members_are_corrupt() -> None:
    """Each could end in the content of the last one, so that a few bytes would cost reading it again."""
    data = bytearray(zipped({"a.html": b"<a href=x>", "b.html": b"<a href=y>"}))
    at = data.index(b"PK\x01\x02")
    data[at + 20 : at + 24] = (1000).to_bytes(4, "little")  # the size of the first member's data
    assert contents(bytes(data)) == {"x.gz!a.html": b"", "x.gz!b.html": b"<a href=y>"}
    assert notes(bytes(data)) == ["corrupt"]


@pytest.mark.parametrize("coding", ["", "gzip", "zstd"])
@pytest.mark.parametrize("is_nested", [False, True])
@pytest.mark.parametrize("kind", ["warc", "arc"])
def test_the_contents_of_records_are_limited_together(kind: str, is_nested: bool, coding: str, tmp_path: Path) -> None:
    """In a file that is compressed as a whole, and in many in an archive."""
    page, limit = b"<a href=x>".ljust(1 << 16), 1 << 16
    field = f"Content-Encoding: {coding}\r\n" if coding else ""
    block = f"HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\n{field}\r\n".encode()
    block += gzip.compress(page, mtime=0) if coding == "gzip" else zstd(page) if coding else page
    record = f"http://h/ 1.1.1.1 20200101000000 text/html {len(block)}\n".encode() + block + b"\n"
    if kind == "warc":
        head = "WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: http://h/\r\nWARC-Record-ID: <urn:x:y>\r\n"
        head += f"Content-Type: application/http; msgtype=response\r\nContent-Length: {len(block)}\r\n\r\n"
        record = head.encode() + block + b"\r\n\r\n"
    data = gzip.compress(record * 600, mtime=0) if kind == "arc" else zstd(record * 600)
    name = "x.arc.gz" if kind == "arc" else "x.warc.zst"
    path = tmp_path / ("x.tar" if is_nested else name)
    path.write_bytes(tarred({f"{number}{name}": data for number in range(40)}) if is_nested else data)
    rows = list(extract([str(path)], limit=limit))
    pages = sum(row.reference == "x" for row in rows)
    most = 64 + 32 * path.stat().st_size // limit
    assert 0 < pages <= most + 1
    assert "too-large" in {row.error for row in rows}


def test_archives_of_archives_end() -> None:
    content = b"x"
    for _ in range(8):
        file = io.BytesIO()
        with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
            for number in range(16):
                archive.writestr(f"{number}.zip" if content != b"x" else f"{number}.html", content)
        content = file.getvalue()
    options = Options(limit=1 << 12, depth=16)
    bomb = OUTSIDE._replace(source="x.zip", content=content)
    read = list(NestedReader(options, len(content)).read(*with_kind(bomb), is_named=True))
    assert len(read) < 5_000
    assert any(document.notes == ("too-large",) for document, _ in read)


@pytest.mark.parametrize("end", [b"", b"x"], ids=["valid", "corrupt"])
def test_dictionaries_of_zstd_count_as_unpacked_bytes(end: bytes) -> None:
    from backports import zstd

    packed = zstd.compress(zstd.train_dict([b"%d %d" % (n, n * n) for n in range(999)], 500).dict_content)
    packed += zstd.compress(bytes(1 << 20)) + b"\x50\x2a\x4d\x18" + (1 << 16).to_bytes(4, "little") + bytes(1 << 16)
    packed += end
    member = b"\x5d\x2a\x4d\x18" + len(packed).to_bytes(4, "little") + packed + zstd.compress(b"WARC/1.0\r\n")
    content = zipped({f"{number}.warc.zst": member for number in range(40)})
    options = Options(limit=1 << 17)  # unpacked, the members have less than the limit of all
    read = list(NestedReader(options, len(content)).read(*with_kind(OUTSIDE._replace(source="x.zip", content=content))))
    assert len(read) < 20
    assert read[-1][0].notes == ("too-large",)


def test_endless_headers() -> None:
    long = header(b"1", b"L") + b"a".ljust(512, b"\0")
    assert set(notes(long * 20_000)) <= {"corrupt", "truncated"}


@pytest.mark.parametrize(
    "data", [zipped(FILES), tarred(FILES), gzip.compress(FILES["a.html"])], ids=["zip", "tar", "gzip"]
)
def test_truncated_archives_and_wrong_bytes(data: bytes) -> None:
    draw = random.Random(2)
    for end in range(0, len(data), max(1, len(data) // 200)):
        assert set(notes(data[:end])) <= NOTES.keys()
    for _ in range(300):
        broken = bytearray(data)
        broken[draw.randrange(len(data))] = draw.randrange(256)
        assert set(notes(bytes(broken))) <= NOTES.keys()


def test_a_stream_that_fails() -> None:
    class Failing:
        left = 3

        def read(self, size: int, /) -> bytes:
            self.left -= 1
            if self.left < 0:
                raise OSError("the disk")
            return b"x"

    assert read_content(Failing(), 100) == (b"xxx", ("corrupt",))


def test_documents_of_an_epub_are_xhtml(tmp_path: Path) -> None:
    """EPUB 3.3 6.1, whatever their names; in other ZIP files an HTML name means HTML."""
    page = "<?xml version='1.0'?><html><head><title/></head><body><a href='x'/></body></html>"
    for name, mark, expected in (("a.epub", "application/epub+zip", ["x", "x"]), ("a.zip", "application/x", ["x"])):
        with zipfile.ZipFile(tmp_path / name, "w") as archive:
            archive.writestr("mimetype", mark)
            archive.writestr("b.html", page)
            archive.writestr("c.xhtml", page)
        assert [row.reference for row in extract(tmp_path / name) if row.where == "a href"] == expected


@pytest.mark.parametrize("front", [b"#!/usr/bin/env python3\n", b"MZ\x90\0\3\0", b"any octets \0"])
@pytest.mark.parametrize("name", ["a.zip", "a.exe", "a"])
def test_data_before_a_zip(tmp_path: Path, front: bytes, name: str) -> None:
    """A self-extracting file: its end gives the offset of the directory (APPNOTE 4.3.16)."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        archive.writestr("m.html", "<a href=x>")
        archive.comment = b"PK"
    (path := tmp_path / name).write_bytes(front + stream.getvalue())
    assert [(row.source, row.reference, row.error) for row in extract(path)] == [(f"{path}!m.html", "x", None)]
    path.write_bytes(front + stream.getvalue() + b"more")  # its end is not that of a ZIP
    assert {row.error for row in extract(path)} <= {"unsupported", "wrong-type"}


@pytest.mark.parametrize("end", [b"\n", b"\r\n", bytes(20), b"more " * 20])
def test_octets_behind_a_zip_do_not_replace_its_directory(end: bytes) -> None:
    """The directory says what is a link, and which members a tool has deleted."""
    link, stream = zipfile.ZipInfo("l"), io.BytesIO()
    link.create_system, link.external_attr = 3, 0o120777 << 16
    with zipfile.ZipFile(stream, "w") as archive:
        archive.writestr(link, "/etc/passwd")
        archive.writestr("a.html", "<a href=x>")
        archive.comment = b"a comment"
    expected = found(stream.getvalue())
    assert found(stream.getvalue() + end)[: len(expected)] == expected
    assert notes(stream.getvalue() + end) == ["corrupt"]
