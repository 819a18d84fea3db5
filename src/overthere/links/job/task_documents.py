"""The documents of a task: its files, and the members of containers among them."""

from __future__ import annotations

import io
import os
import stat
import zlib
from collections.abc import Iterator
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, cast

from overthere.base import Base, file_uri, retrieval_uri
from overthere.ground.atomic import open_unnamed
from overthere.links.containers import arc, archives, warc
from overthere.links.containers.progress import Progress
from overthere.links.documents.header import HTTP
from overthere.links.documents.kinds import CONTAINERS, HEAD, kind, kind_of, passed_kind
from overthere.links.faults import guard, note_kind
from overthere.links.job.sources import Task, is_within
from overthere.links.model import Document, Note, Options, PassedContent
from overthere.values.uri import URI

if TYPE_CHECKING:
    pass

__all__ = ["Known", "FileReader", "failed_sources", "documents", "with_kind"]


def documents(task: Task, options: Options, walk: Progress | None = None) -> Iterator[Document]:
    """The documents of a task that a reader can read, out of all containers, and those that have notes.

    Never raises: what is the matter is in `notes`.  What has no reader (images and the like) is passed over in folders
    and containers; of a file that was named the note "unsupported" says so.
    """
    for path in task.paths:
        yield from guard(FileReader(options, walk).file(task, path), partial(_document, task, path))


def failed_sources(task: Task, options: Options) -> Iterator[Document]:
    """The sources of a task that could not be carried out, each with the note "unreadable"."""
    for path in task.paths:
        yield _document(task, path, "unreadable")


class _NotFollowedError(OSError):
    """A link in a folder that is not followed."""


def _document(task: Task, path: str, *notes: str) -> Document:
    if (there := task.retrieved) is not None:
        notes = (*there.notes, *notes)
        return Document(
            _show_name(task.name or ""), b"", there.base, there.media_type, there.charset, notes, name=there.name
        )
    base = None if task.base is None else URI(task.base)
    if task.name is not None:
        # It was not retrieved: the base is what was given, or by default (RFC 3986 5.1.4) where we are.
        here = Base(URI(f"{file_uri('.')}/"), "default", "default")
        return Document(_show_name(task.name), b"", here if base is None else _base(base), notes=notes)
    place = Path(path)
    uri = retrieval_uri(place, place.parent if task.root is None else Path(task.root), base)
    return Document(_show_name(path), b"", _base(uri), notes=notes)


def _base(uri: URI) -> Base:
    return Base(uri.replace(fragment=None), "retrieval", "retrieval")


def _show_name(path: str) -> str:
    """A name that is text: octets of a file name that are not UTF-8 become U+FFFD (the base URI keeps them)."""
    return os.fsencode(path).decode("utf-8", "replace")


class FileReader:
    """Reads a file and what is in it."""

    def __init__(self, options: Options, walk: Progress | None = None) -> None:
        self.options = options
        self.walk: Progress = Progress() if walk is None else walk
        self.left: int = 0
        """Octets that may still come out of archives: bombs of bombs end here."""

    def file(self, task: Task, path: str) -> Iterator[Document]:
        document = _document(task, path)
        named = task.root is None
        try:
            opened = _open_file(path, task.root)
        except _NotFollowedError:
            yield document._replace(notes=("not-followed",))
            return
        with opened as file:
            self.left = 64 * self.options.limit + 32 * os.fstat(file.fileno()).st_size
            head = file.read(HEAD)
            kinds = kind(document.name or task.name or path, document.media_type, head)
            if not kinds[0] and archives.ends_as_zip(file):
                kinds = "zip", ()
            file.seek(0)
            part = task.start or task.end is not None
            if part and (kinds[0] not in _RECORDED or task.start >= os.fstat(file.fileno()).st_size):
                yield document._replace(notes=("unsupported" if kinds[0] not in _RECORDED else "truncated",))
                return
            for base, fields in () if task.retrieved is None else task.retrieved.headers:
                yield document._replace(content=fields, base=base, media_type=HTTP, notes=())
            if kinds[0] in CONTAINERS and head:
                # An archive that is a source is published as a folder is.
                beneath = URI(task.base) if named and task.base is not None else None
                if beneath is None and named and self.options.rooted:
                    beneath = URI(f"{document.base.uri}!/")
                yield from self.container(kinds, file, document, beneath, (task.start, task.end))
                return
            content, notes = archives.read(file, self.options.limit)
        if named and content and not kinds[0]:
            notes += ("unsupported",)
        yield from self.read_document(
            document._replace(content=content, notes=document.notes + notes), kinds, named=named
        )

    def container(
        self,
        kinds: _Kinds,
        file: archives.Stream,
        document: Document,
        beneath: URI | None = None,
        part: tuple[int, int | None] = (0, None),
    ) -> Iterator[Document]:
        """kinds: what the container is, and the notes on that, which are said here: no reader will see it."""
        notes = tuple(dict.fromkeys((*document.notes, *kinds[1])))
        document = document._replace(content=b"", notes=())
        if notes:
            yield document._replace(notes=notes)
        if document.depth >= self.options.depth:
            yield document._replace(notes=("too-deep",))
            return
        for one in guard(self.read_container(kinds[0], file, document, beneath, part), Note):
            if isinstance(one, PassedContent):
                self.walk.passed[one.kind] += 1
            elif isinstance(one, Note):
                yield document._replace(notes=(one.kind,))
            elif kinds[0] not in _RECORDED and not self.walk.begins(
                one.source if isinstance(one, Document) else one.document.source
            ):
                continue
            elif isinstance(one, Document):
                yield from guard(self.read_document(*with_kind(one)), one.failed)
            elif self.left <= 0:
                yield document._replace(notes=("too-large",))
                return
            elif one.stream is None:
                yield one.document
            else:
                # Compression is no entity of its own: what is in it is the source.
                within = self.member(one, one.stream, beneath if kinds[0] == "compressed" else None)
                yield from guard(within, one.document.failed)

    def read_container(
        self, kind: str, file: archives.Stream, document: Document, beneath: URI | None, part: tuple[int, int | None]
    ) -> Iterator[Document | Note | PassedContent | archives.Member]:
        if kind in _STREAMED or kind == "zip":
            yield from archives.open_archive(kind, file, document, beneath)
        elif kind in _RECORDED:
            read = warc.members if kind == "warc" else arc.members
            yield from read(cast("BinaryIO", file), document, self.options, *part, self.walk.begins)
        else:
            yield from import_module(f"overthere.links.containers.{kind}").members(file, document, self.options)

    def member(self, member: archives.Member, stream: archives.Stream, beneath: URI | None) -> Iterator[Document]:
        limit = self.options.limit
        content, note = archives.take_octets(stream, limit + 1)
        self.left -= len(content)
        document = member.document._replace(content=content)
        kinds = kind_of(document)
        if len(content) > limit and kinds[0] in CONTAINERS:
            # A container may be larger than a document.
            counted = _CountedStream(self, archives.Chained(content, stream))
            if kinds[0] in _STREAMED:
                yield from self.container(kinds, counted, document, beneath)
            else:
                with open_unnamed() as file:
                    while True:
                        piece, note = archives.take_octets(counted, limit)
                        file.write(piece)
                        if note or not piece:
                            break
                    file.seek(0)
                    yield from self.container(kinds, file, document)
            if not note and member.crc not in (None, counted.crc) and not archives.take_octets(counted, 1)[0]:
                note = "corrupt"
            if note:
                yield document._replace(content=b"", notes=(note,))
            return
        content, notes = archives.truncate(content, note, limit, member.crc)
        document = document._replace(content=content, notes=document.notes + notes)
        yield from self.read_document(document, kinds, beneath=beneath)

    def read_document(
        self, document: Document, kinds: _Kinds, *, named: bool = False, beneath: URI | None = None
    ) -> Iterator[Document]:
        if kinds[0] in CONTAINERS and document.content:
            yield from self.container(kinds, io.BytesIO(document.content), document, beneath)
        elif kinds[0] or named or (document.notes and not document.content):
            yield document
        elif kinds[1]:
            # It was said to be a document.
            yield document._replace(notes=tuple(dict.fromkeys((*document.notes, "unsupported"))))
        else:
            self.walk.passed[passed_kind(document)] += 1
            if damage := tuple(note for note in document.notes if note in _DAMAGE):
                yield document._replace(content=b"", notes=damage)


_Kinds = tuple[str, tuple[str, ...]]
Known = tuple[Document, _Kinds]
"""A document, and what `kinds` says of it."""


def with_kind(document: Document) -> Known:
    """A document with its kind; if that cannot be told, with a note."""
    try:
        return document, kind_of(document)
    except Exception as error:
        return document.failed(note_kind(error)), ("", ())


_STREAMED = ("tar", "compressed")
"""Containers that are read from their beginning to their end."""


_DAMAGE = frozenset(("truncated", "corrupt", "wrong-length"))
"""Notes that say something of the archive, also on what is passed over."""
_RECORDED = ("warc", "arc")
"""Containers that say themselves which of their records begin."""


class _CountedStream:
    """A stream that takes from what may still be read."""

    def __init__(self, reader: FileReader, stream: archives.Stream) -> None:
        self.reader, self.stream = reader, stream
        self.crc = 0

    def read(self, size: int, /) -> bytes:
        if self.reader.left <= 0:
            raise MemoryError
        part = self.stream.read(size)
        self.reader.left -= len(part)
        self.crc = zlib.crc32(part, self.crc)
        return part


_BUFFER = 1 << 18
"""Records are short, and of each the octets behind its end are read too: from memory, not from the system anew."""


def _open_file(path: str, root: str | None) -> BinaryIO:
    """A file that is read; by a link in a folder only if it leads to what is there.

    Raises: _NotFollowedError; OSError, also if it is no regular file: a pipe would be waited for, a device never ends.
    """
    flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0)
    try:
        if root is not None:
            if os.path.islink(path):
                if not is_within(path, root):
                    raise _NotFollowedError(path)
                path = os.path.realpath(path)
            flags |= getattr(os, "O_NOFOLLOW", 0)  # a link that has come up since is none that was looked at
        number = os.open(path, flags)
    except ValueError as error:  # NUL in a name
        raise OSError(str(error)) from error
    if not stat.S_ISREG(os.fstat(number).st_mode):
        os.close(number)
        raise OSError("not a regular file")
    return open(number, "rb", buffering=_BUFFER)
