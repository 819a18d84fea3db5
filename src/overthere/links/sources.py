"""Where documents come from: files, folders, URIs, containers in one another, standard input; how a job is cut."""

from __future__ import annotations

import io
import os
import re
import shutil
import stat
import sys
import tempfile
import zlib
from collections.abc import Iterable, Iterator
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, NamedTuple, cast

from overthere.base import Base, file_uri, retrieval_uri
from overthere.links import arc, archives, records, warc
from overthere.links.faults import guarded, noted
from overthere.links.held import hold
from overthere.links.kinds import CONTAINERS, HEAD, kind, kind_of, passed_over
from overthere.links.model import Document, Note, Options, Passed
from overthere.links.response import HTTP
from overthere.links.retrieved import Retrieved, is_uri, retrieve
from overthere.links.walk import Walk
from overthere.redact import mask
from overthere.uri import URI

if TYPE_CHECKING:
    from overthere.access.policy import Policy

__all__ = ["Known", "Task", "blamed", "documents", "is_pipe", "known", "tasks"]


class Task(NamedTuple):
    """A part of a job that can be read by itself, in any process on the same machine."""

    paths: tuple[str, ...]
    root: str | None
    """The folder that was named, in which they were found; None if each of them was named itself."""
    base: str | None
    """The URI under which the sources are published."""
    start: int = 0
    end: int | None = None
    """Of a WARC or ARC file the records that begin in [start, end)."""
    size: int = 0
    """Octets, as a measure of the work."""
    name: str | None = None
    """What to call a file that holds what came through a pipe, or by a URI; "-" is standard input."""
    retrieved: Retrieved | None = None
    """What is known of a source that is a URI."""


_TOGETHER, _MANY = 4 << 20, 200
"""Small files make a task together, up to so many octets and files."""
_APART = (".zip", ".tar", ".tgz", ".gz", ".bz2", ".xz", ".zst", ".mbox", ".eml", ".mht", ".mhtml", ".warc", ".epub")


def tasks(
    sources: Iterable[str | os.PathLike[str] | URI], base: URI | None, options: Options, split: int = 8 << 20,
    policy: Policy | None = None,
) -> Iterator[Task]:  # fmt: skip
    """A job in parts, in the order of the sources and, in a folder, of the names: its files, then its folders.

    split: octets of a WARC file that make a part.
    policy: under which sources that are URIs (`is_uri`) are opened; without one every source is the name of a file.

    `FILE#OFFSET,LENGTH` is a WARC or ARC file of which only the records are read that begin in so many octets from
    there on, as an index names them; a file of that very name comes first.

    What comes through a pipe is laid into a temporary file first: another process could not read it, and archives are
    read from their end; so is what a URI names.  `held.drop` removes it.  Hidden files count.

    Links: what is named itself is followed.  In a folder, a link to a file is followed if the file lies in that folder
    too, however deep.  A link that leads out of it, or to a folder (whose files are found where they lie, so that there
    are no loops), is not: its note is "not-followed".
    """
    text = None if base is None else str(base)
    gathered = _Gathered(text, split)
    for source in sources:
        if policy is not None and is_uri(source):
            yield from gathered.all()
            yield _retrieved(cast("str | URI", source), policy, options)
            continue
        path = str(source) if isinstance(source, URI) else os.fspath(source)
        if path == "-" or is_pipe(path):
            yield from gathered.all()
            yield _piped(path, text)
        elif os.path.isdir(path):
            yield from gathered.all()
            for file, size in _walk(path):
                yield from gathered.add(file, size, path)
            yield from gathered.all()
        elif (placed := _placed(path)) is not None:
            yield from gathered.all()
            file, start, length = placed
            yield Task((file,), None, text, start, start + length, length)
        else:
            yield from gathered.add(path, _size(path), None)
    yield from gathered.all()


def documents(task: Task, options: Options, walk: Walk | None = None) -> Iterator[Document]:
    """The documents of a task that a reader can read, out of all containers, and those that have notes.

    Never raises: what is the matter is in `notes`.  What has no reader (images and the like) is passed over in folders
    and containers; of a file that was named the note "unsupported" says so.
    """
    for path in task.paths:
        yield from guarded(_Reader(options, walk).file(task, path), partial(_document, task, path))


def blamed(task: Task, options: Options) -> Iterator[Document]:
    """The sources of a task that could not be carried out, each with the note "unreadable"."""
    for path in task.paths:
        yield _document(task, path, "unreadable")


class _Gathered:
    """Files on their way into tasks."""

    def __init__(self, base: str | None, split: int) -> None:
        self.base, self.split = base, split
        self.root: str | None = None
        self.paths: list[str] = []
        self.size = 0

    def add(self, path: str, size: int, root: str | None) -> Iterator[Task]:
        self.root = root
        if size >= _TOGETHER or size > self.split or path.lower().endswith(_APART):
            yield from self.all()
            places = _cuts(path, self.split) if size > self.split else [0]
            for start, end in zip(places, [*places[1:], None], strict=True):
                yield Task((path,), root, self.base, start, end, (size if end is None else end) - start)
            return
        if len(self.paths) >= _MANY or self.size + size > _TOGETHER:
            yield from self.all()
        self.paths.append(path)
        self.size += size

    def all(self) -> Iterator[Task]:
        if self.paths:
            yield Task(tuple(self.paths), self.root, self.base, size=self.size)
            self.paths.clear()
            self.size = 0


_PLACED = re.compile(r"(.+)#([0-9]{1,18}),([1-9][0-9]{0,17})", re.DOTALL)


def _placed(path: str) -> tuple[str, int, int] | None:
    """The file, the offset and the length that a source names."""
    found = _PLACED.fullmatch(path)
    if found is None or os.path.lexists(path) or not os.path.isfile(found[1]):
        return None
    return found[1], int(found[2]), int(found[3])


def _walk(root: str) -> Iterator[tuple[str, int]]:
    """The files and links below a folder and their sizes; a folder that cannot be read is among them."""
    folders = [root]
    while folders:
        folder = folders.pop()
        try:
            with os.scandir(folder) as entries:
                found = sorted(entries, key=lambda entry: entry.name)
        except OSError:
            yield folder, 0
            continue
        below: list[str] = []
        for entry in found:
            if entry.is_dir(follow_symlinks=False):
                below.append(entry.path)
            elif entry.is_symlink():
                yield entry.path, _size(entry.path) if _within(entry.path, root) else 0
            else:
                yield entry.path, _size(entry.path)
        folders += reversed(below)


class _NotFollowedError(OSError):
    """A link in a folder that is not followed."""


def _within(link: str, root: str) -> bool:
    """Whether a link leads to what is in the folder, and is none itself."""
    folder, found = os.path.realpath(root), os.path.realpath(link)
    return os.path.commonpath((folder, found)) == folder and not os.path.isdir(found)


def _size(path: str) -> int:
    try:
        return os.stat(path).st_size
    except (OSError, ValueError):
        return 0


def is_pipe(path: str) -> bool:
    """Whether what a name leads to can be read once only."""
    try:
        mode = os.stat(path).st_mode
    except (OSError, ValueError):
        return False
    return stat.S_ISFIFO(mode) or stat.S_ISCHR(mode) or stat.S_ISSOCK(mode)


def _retrieved(source: str | URI, policy: Policy, options: Options) -> Task:
    held, file = hold()
    with file:
        found = retrieve(source, policy, file, options.edition)
        size = file.tell()
    return Task((held,), None, None, size=size, name=mask(str(source)), retrieved=found)


def _piped(path: str, base: str | None) -> Task:
    held, file = hold()
    with file:
        try:
            if path == "-":
                if sys.stdin is None:
                    raise OSError("standard input is closed")
                shutil.copyfileobj(sys.stdin.buffer, file)
            else:
                with open(path, "rb") as pipe:
                    shutil.copyfileobj(pipe, file)
        except OSError:
            return Task((path,), None, base)
        size = file.tell()
    return Task((held,), None, base, size=size, name=path)


def _cuts(path: str, split: int) -> list[int]:
    try:
        with open(path, "rb") as file:
            if kind(path, "", file.read(HEAD))[0] == "warc":
                return records.cuts(file, split)
    except Exception as error:  # who reads it says what is the matter
        noted(error)
    return [0]


def _document(task: Task, path: str, *notes: str) -> Document:
    if (there := task.retrieved) is not None:
        notes = (*there.notes, *notes)
        return Document(
            _shown(task.name or ""), b"", there.base, there.media_type, there.charset, notes, name=there.name
        )
    base = None if task.base is None else URI(task.base)
    if task.name is not None:
        # Nobody has retrieved it: the base is what was given, or by default (RFC 3986 5.1.4) where we are.
        here = Base(URI(f"{file_uri('.')}/"), "default", "default")
        return Document(_shown(task.name), b"", here if base is None else _base(base), notes=notes)
    place = Path(path)
    uri = retrieval_uri(place, place.parent if task.root is None else Path(task.root), base)
    return Document(_shown(path), b"", _base(uri), notes=notes)


def _base(uri: URI) -> Base:
    return Base(uri.replace(fragment=None), "retrieval", "retrieval")


def _shown(path: str) -> str:
    """A name that is text: octets of a file name that are not UTF-8 become U+FFFD (the base URI keeps them)."""
    return os.fsencode(path).decode("utf-8", "replace")


class _Reader:
    """Reads a file and what is in it."""

    def __init__(self, options: Options, walk: Walk | None = None) -> None:
        self.options = options
        self.walk = Walk() if walk is None else walk
        self.left = 0
        """Octets that may still come out of archives: bombs of bombs end here."""

    def file(self, task: Task, path: str) -> Iterator[Document]:
        document = _document(task, path)
        named = task.root is None
        try:
            opened = _opened(path, task.root)
        except _NotFollowedError:
            yield document._replace(notes=("not-followed",))
            return
        with opened as file:
            self.left = 64 * self.options.limit + 32 * os.fstat(file.fileno()).st_size
            head = file.read(HEAD)
            kinds = kind(document.name or task.name or path, document.media_type, head)
            file.seek(0)
            part = task.start or task.end is not None
            if part and (kinds[0] not in _RECORDED or task.start >= os.fstat(file.fileno()).st_size):
                yield document._replace(notes=("unsupported" if kinds[0] not in _RECORDED else "truncated",))
                return
            if task.retrieved is not None and task.retrieved.fields:
                yield document._replace(content=task.retrieved.fields, media_type=HTTP, notes=())
            if kinds[0] in CONTAINERS and head:
                # An archive that is a source is published as a folder is.
                beneath = URI(task.base) if named and task.base is not None else None
                yield from self.container(kinds, file, document, beneath, (task.start, task.end))
                return
            content, notes = archives.read(file, self.options.limit)
        if named and content and not kinds[0]:
            notes += ("unsupported",)
        yield from self.leaf(document._replace(content=content, notes=document.notes + notes), kinds, named=named)

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
        for one in guarded(self.held(kinds[0], file, document, beneath, part), Note):
            if isinstance(one, Passed):
                self.walk.passed[one.kind] += 1
            elif isinstance(one, Note):
                yield document._replace(notes=(one.kind,))
            elif kinds[0] not in _RECORDED and not self.walk.begins(
                one.source if isinstance(one, Document) else one.document.source
            ):
                continue
            elif isinstance(one, Document):
                yield from guarded(self.leaf(*known(one)), one.failed)
            elif self.left <= 0:
                yield document._replace(notes=("too-large",))
                return
            elif one.stream is None:
                yield one.document
            else:
                # Compression is no entity of its own: what is in it is the source.
                within = self.member(one, one.stream, beneath if kinds[0] == "compressed" else None)
                yield from guarded(within, one.document.failed)

    def held(
        self, kind: str, file: archives.Stream, document: Document, beneath: URI | None, part: tuple[int, int | None]
    ) -> Iterator[Document | Note | Passed | archives.Member]:
        if kind in _STREAMED or kind == "zip":
            yield from archives.opened(kind, file, document, beneath)
        elif kind in _RECORDED:
            read = warc.members if kind == "warc" else arc.members
            yield from read(cast("BinaryIO", file), document, self.options, *part, self.walk.begins)
        else:
            yield from import_module(f"overthere.links.{kind}").members(file, document, self.options)

    def member(self, member: archives.Member, stream: archives.Stream, beneath: URI | None) -> Iterator[Document]:
        limit = self.options.limit
        content, note = archives.taken(stream, limit + 1)
        self.left -= len(content)
        document = member.document._replace(content=content)
        kinds = kind_of(document)
        if len(content) > limit and kinds[0] in CONTAINERS:
            # A container may be larger than a document.
            counted = _Counted(self, archives.Chained(content, stream))
            if kinds[0] in _STREAMED:
                yield from self.container(kinds, counted, document, beneath)
            else:
                with tempfile.TemporaryFile() as file:
                    while True:
                        piece, note = archives.taken(counted, limit)
                        file.write(piece)
                        if note or not piece:
                            break
                    file.seek(0)
                    yield from self.container(kinds, file, document)
            if not note and member.crc not in (None, counted.crc) and not archives.taken(counted, 1)[0]:
                note = "corrupt"
            if note:
                yield document._replace(content=b"", notes=(note,))
            return
        content, notes = archives.cut(content, note, limit, member.crc)
        document = document._replace(content=content, notes=document.notes + notes)
        yield from self.leaf(document, kinds, beneath=beneath)

    def leaf(
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
            self.walk.passed[passed_over(document)] += 1
            if damage := tuple(note for note in document.notes if note in _DAMAGE):
                yield document._replace(content=b"", notes=damage)


_Kinds = tuple[str, tuple[str, ...]]
Known = tuple[Document, _Kinds]
"""A document, and what `kinds` says of it."""


def known(document: Document) -> Known:
    """A document with its kind; one whose kind cannot be found out has a note."""
    try:
        return document, kind_of(document)
    except Exception as error:
        return document.failed(noted(error)), ("", ())


_STREAMED = ("tar", "compressed")
"""Containers that are read from their beginning to their end."""


_DAMAGE = frozenset(("truncated", "corrupt", "wrong-length"))
"""Notes that say something of the archive, also on what is passed over."""
_RECORDED = ("warc", "arc")
"""Containers that say themselves which of their records begin."""


class _Counted:
    """A stream that takes from what may still be read."""

    def __init__(self, reader: _Reader, stream: archives.Stream) -> None:
        self.reader, self.stream = reader, stream
        self.crc = 0

    def read(self, size: int, /) -> bytes:
        if self.reader.left <= 0:
            raise MemoryError
        part = self.stream.read(size)
        self.reader.left -= len(part)
        self.crc = zlib.crc32(part, self.crc)
        return part


def _opened(path: str, root: str | None) -> BinaryIO:
    """A file that is read; by a link in a folder only if it leads to what is there.

    Raises: _NotFollowedError; OSError, also if it is no regular file: a pipe would be waited for, a device never ends.
    """
    flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0)
    try:
        if root is not None:
            if os.path.islink(path):
                if not _within(path, root):
                    raise _NotFollowedError(path)
                path = os.path.realpath(path)
            flags |= getattr(os, "O_NOFOLLOW", 0)  # a link that has come up since is none that was looked at
        number = os.open(path, flags)
    except ValueError as error:  # NUL in a name
        raise OSError(str(error)) from error
    if not stat.S_ISREG(os.fstat(number).st_mode):
        os.close(number)
        raise OSError("not a regular file")
    return open(number, "rb")
