"""No record of an archive is lost silently: each is the source of rows, or a note reports what is missing."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import random
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import lz4.frame
import pytest

import test_arc as arc
from overthere.links import extract
from overthere.links.containers.progress import Progress
from overthere.links.job.sources import tasks
from overthere.links.job.task_documents import documents
from overthere.links.model import NOTES, Document, Options
from test_archives import tarred, zipped, zstd
from test_faults import mailbox
from test_warc import record, response

TEXTS = [b"<a href=x%d>" % number + b" words, again and again" * (3 * number) for number in range(3)]


class Archive(NamedTuple):
    """An archive of three documents, and what is known of its end."""

    name: str
    data: bytes
    ends: list[int]
    """The ends of complete records."""
    silent: frozenset[int]
    """The lengths at which a truncated archive is a complete one with fewer records."""
    streamed: bool = True
    """Whether records before the cut can be read."""


def parts(name: str, pieces: list[bytes], behind: bytes = b"") -> Archive:
    """Concatenated records: a cut between them cannot be noticed."""
    ends = [sum(map(len, pieces[: number + 1])) for number in range(len(pieces))]
    return Archive(name, b"".join(pieces) + behind, ends, frozenset(ends))


def streaming_zip(method: int) -> bytes:
    """A ZIP file as written to a stream: sizes follow the data."""

    class Forward(io.RawIOBase):
        def __init__(self) -> None:
            super().__init__()
            self.parts: list[bytes] = []

        def writable(self) -> bool:
            return True

        def write(self, data: bytes) -> int:  # type: ignore[override]
            self.parts.append(bytes(data))
            return len(data)

    into = Forward()
    with zipfile.ZipFile(into, "w", method) as archive:
        for number, text in enumerate(TEXTS):
            archive.writestr(f"{number}.html", text)
    return b"".join(into.parts)


def zip_of(name: str, data: bytes) -> Archive:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        starts = [info.header_offset for info in archive.infolist()] + [archive.start_dir]
    return Archive(name, data, starts[1:], frozenset())


def tar_of(form: int) -> Archive:
    data = tarred({f"{number}.html": text for number, text in enumerate(TEXTS)}, form)
    with tarfile.open(fileobj=io.BytesIO(data)) as archive:
        ends = [info.offset_data + info.size for info in archive.getmembers()]
        zeros = archive.getmembers()[-1].offset_data + 512
    # After the two blocks of zeros there is padding of unknown length.
    return Archive("a.tar", data[: zeros + 1024], ends, frozenset())


def packed_tar(name: str, pack: Callable[[bytes], bytes]) -> Archive:
    data = pack(tarred({f"{number}.html": text for number, text in enumerate(TEXTS)}))
    return Archive(name, data, [], frozenset(), streamed=False)


def arcs() -> Archive:
    result = parts("a.arc", ARCS)
    # A line end precedes each record; after the last there is none.
    return result._replace(silent=result.silent | {end - 1 for end in result.ends})


def mails() -> Archive:
    data = mailbox(TEXTS)
    ends = [len(mailbox(TEXTS[: number + 1])) for number in range(3)]
    # RFC 4155: only an empty line ends a message, and there is one after its header, too.
    silent = {end for end in range(len(data)) if data[:end].endswith((b"\n\n", b"\n\r\n"))}
    return Archive("a.mbox", data, ends, frozenset(silent))


def checked(data: bytes) -> bytes:
    result: bytes = lz4.frame.compress(data, content_checksum=True, block_checksum=True, block_size=4)
    return result


def skipping(frames: list[bytes]) -> Archive:
    """With a skippable frame before each (LZ4 Frame Format, "Skippable Frames"): a cut after it is not noticed."""
    before = b"\x5a\x2a\x4d\x18\x05\0\0\0abcde"
    result = parts("c.warc.lz4", [before + frame for frame in frames])
    return result._replace(silent=result.silent | {end + len(before) for end in (0, *result.ends)})


def by_fastwarc(data: bytes) -> bytes:
    """Exactly as FastWARC writes them: frames without content size."""
    result: bytes = lz4.frame.compress(data, store_size=False)
    return result


RECORDS = [
    record(b"software: x\r\n", b"warcinfo", media_type=b"application/warc-fields"),
    *(item for text in TEXTS for item in (record(b"GET / HTTP/1.1\r\n\r\n", b"request"), record(response(text)))),
]
ARCS = [arc.first(), *(arc.record(text) for text in TEXTS)]
MADE = {
    "arc": arcs(),
    "arc.gz": parts("a.arc.gz", [gzip.compress(item, mtime=0) for item in ARCS]),
    "warc": parts("a.warc", RECORDS),
    "warc.gz": parts("a.warc.gz", [gzip.compress(item, mtime=0) for item in RECORDS]),
    "warc in one member": Archive("b.warc.gz", gzip.compress(b"".join(RECORDS), mtime=0), [], frozenset(), False),
    "warc.zst": Archive("a.warc.zst", zstd(b"".join(RECORDS)), [], frozenset(), False),
    "warc.lz4": parts("a.warc.lz4", [lz4.frame.compress(item) for item in RECORDS]),
    "warc.lz4 with checksums": parts("b.warc.lz4", [checked(item) for item in RECORDS]),
    "warc.lz4 with what is skipped": skipping([checked(item) for item in RECORDS]),
    "warc.lz4 in one frame": Archive("d.warc.lz4", lz4.frame.compress(b"".join(RECORDS)), [], frozenset(), False),
    "warc.lz4 of FastWARC": parts("e.warc.lz4", [by_fastwarc(item) for item in RECORDS]),
    "zip": zip_of("a.zip", zipped({f"{number}.html": text for number, text in enumerate(TEXTS)})),
    "zip as a stream": zip_of("b.zip", streaming_zip(zipfile.ZIP_DEFLATED)),
    "zip stored as a stream": zip_of("c.zip", streaming_zip(zipfile.ZIP_STORED)),
    "zip bzip2": zip_of("d.zip", streaming_zip(zipfile.ZIP_BZIP2)),
    "pax": tar_of(tarfile.PAX_FORMAT),
    "gnu": tar_of(tarfile.GNU_FORMAT),
    "tar.gz": packed_tar("a.tgz", gzip.compress),
    "tar.bz2": packed_tar("a.tar.bz2", bz2.compress),
    "tar.xz": packed_tar("a.tar.xz", lzma.compress),
    "tar.zst": packed_tar("a.tar.zst", zstd),
    "mbox": mails(),
    "members of gzip": Archive(
        "a.html.gz",
        b"".join(gzip.compress(text, mtime=0) for text in TEXTS),
        [],
        frozenset(len(b"".join(gzip.compress(text, mtime=0) for text in TEXTS[:n])) for n in (1, 2)),
        streamed=False,
    ),
}


def read(folder: Path, name: str, data: bytes | bytearray, walk: Progress | None = None) -> list[Document]:
    file = folder / name
    file.unlink(missing_ok=True)  # a new file: some file systems delay a file that is truncated and rewritten
    file.write_bytes(data)
    return [document for task in tasks([file], None, Options()) for document, _ in documents(task, Options(), walk)]


def has_note(folder: Path, name: str, results: list[Document]) -> bool:
    """Whether a fault is noted; for a stub by its kind only."""
    return any(row.notes for row in results) or any(row.error for row in extract(folder / name))


@pytest.mark.parametrize("kind", MADE)
def test_a_truncated_archive_has_a_note_and_all_complete_records(kind: str, tmp_path: Path) -> None:
    result = MADE[kind]
    content = read(tmp_path, result.name, result.data)
    assert not has_note(tmp_path, result.name, content)
    assert len(content) == (1 if kind == "members of gzip" else 3)
    untold, lost = [], []
    for end in range(len(result.data)):
        content = read(tmp_path, result.name, result.data[:end])
        if end not in result.silent and not has_note(tmp_path, result.name, content):
            untold.append(end)
        if result.streamed:
            rows = expected(result, end)
            contents = [item.content.rstrip() for item in content if item.content]
            if not all(map(bytes.startswith, contents, rows)) or len(contents) < len(rows):
                lost.append((end, len(rows), len(contents)))
    assert (untold, lost) == ([], [])


def expected(archive: Archive, end: int) -> list[bytes]:
    """The contents of what is there as a whole."""
    if archive.name.startswith("a.arc"):
        return [text for text, last in zip(TEXTS, archive.ends[1:], strict=True) if last <= end]
    texts = TEXTS if len(archive.ends) == len(TEXTS) else [None, *(value for text in TEXTS for value in (None, text))]
    return [text for text, last in zip(texts, archive.ends, strict=True) if text is not None and last <= end]


def test_checksums_of_lz4(tmp_path: Path) -> None:
    """Any wrong byte in the frame of the second of three records is noticed."""
    frames = [checked(record(response(text))) for text in TEXTS]
    start = len(frames[0])
    data = b"".join(frames)
    for at in range(start, start + len(frames[1])):
        content = read(tmp_path, "a.warc.lz4", data[:at] + bytes([data[at] ^ 4]) + data[at + 1 :])
        assert has_note(tmp_path, "a.warc.lz4", content), at
        assert content[0].content.rstrip() == TEXTS[0].rstrip()


CASES = [(kind, seed) for kind in MADE for seed in range(3)]


@pytest.mark.parametrize(("kind", "seed"), CASES, ids=[f"{kind} {seed}" for kind, seed in CASES])
def test_no_record_of_a_damaged_archive_is_lost_silently(kind: str, seed: int, tmp_path: Path) -> None:
    """Each document is the source of rows, or skipped and counted, or has a note, itself or its container."""
    result = MADE[kind]
    chance = random.Random(f"{kind} {seed}")
    for _ in range(40):
        data = bytearray(result.data)
        for _ in range(chance.choice((1, 1, 2, 5))):
            at = chance.randrange(len(data))
            match chance.randrange(3):
                case 0:
                    data[at] ^= 1 << chance.randrange(8)
                case 1:
                    data[at] = chance.randrange(256)
                case _:
                    del data[at : at + chance.randrange(1, 9)]
        walk = Progress()
        content = read(tmp_path, result.name, data, walk)
        assert all(note in NOTES for item in content for note in item.notes)
        complete = len({item.source for item in content if item.content})
        # A message with a damaged "From " line is text of the previous one, and read as such.
        usual = 1 if kind in ("members of gzip", "mbox") else len(TEXTS)
        if complete + walk.passed.total() - usually(kind) < usual:
            assert has_note(tmp_path, result.name, content), (kind, seed, data)


def usually(kind: str) -> int:
    """The skipped content of the undamaged archive."""
    return 4 if kind.startswith("warc") else 1 if kind.startswith("arc") else 0
