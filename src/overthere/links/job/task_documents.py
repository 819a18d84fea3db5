"""The documents of a task: its files, and the members of containers among them."""

from __future__ import annotations

import os
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from overthere.base import Base, file_uri, retrieval_uri
from overthere.ground.display import file_name
from overthere.ground.redact import mask
from overthere.links.containers.model import MakePageReader, Place
from overthere.links.containers.nested import KnownDocument, NestedReader, with_kind
from overthere.links.containers.progress import Progress
from overthere.links.containers.streams import read_content
from overthere.links.documents.header import HTTP
from overthere.links.documents.kinds import CONTAINERS, HEAD, TYPES, kind
from overthere.links.faults import guard
from overthere.links.job.files import NotFollowedError, open_file
from overthere.links.job.indexed_records import check_records
from overthere.links.job.ranged_sources import open_ranges
from overthere.links.job.task_builder import Task
from overthere.links.model import Document, Options
from overthere.values.encoding import IN_SEGMENT, encode
from overthere.values.uri import URI, URIReference


def documents(
    task: Task, options: Options, progress: Progress | None = None, pages: MakePageReader | None = None
) -> Iterator[KnownDocument]:
    """Yield the documents of a task that have a reader or a note, out of all containers, each with its kind.

    Never raises: problems become `notes`.  Files without a reader (images and the like) are skipped in folders and
    containers; one that is a source itself gets the note "unsupported".

    pages: makes the reader that reads pages of crawls by itself (`containers.model.Place`).
    """
    progress = Progress() if progress is None else progress
    files = _TaskFiles(task)
    for index, path in enumerate(task.paths):
        file_documents = _file_documents(files, path, index, options, progress, pages)
        yield from guard(file_documents, partial(_failed_source, files, path))


def failed_sources(task: Task, options: Options) -> Iterator[Document]:
    """Yield the sources of a task that failed, each with the note "unreadable"."""
    files = _TaskFiles(task)
    for path in task.paths:
        yield _document(files, path, "unreadable")


def _failed_source(files: _TaskFiles, path: str, note: str) -> KnownDocument:
    return with_kind(_document(files, path, note))


class _TaskFiles:
    """A task and the URIs of its files; the URI of a folder is computed once for all files in it."""

    def __init__(self, task: Task) -> None:
        self.task = task
        self.base: URI | None = None if task.base is None else URI(task.base)
        self.folder: str | None = None
        self.prefix: str = ""

    def uri(self, path: str) -> URI:
        if self.task.objects is not None:
            return self._uri_of_object(path)
        folder, name = os.path.split(path)
        if name in ("", ".", ".."):
            return self._retrieval_uri(Path(path))
        if folder != self.folder:
            self.prefix = str(self._retrieval_uri(Path(folder, "x")))[:-1]
            self.folder = folder
        return URI(self.prefix + encode(os.fsencode(name), keep=IN_SEGMENT))

    def _uri_of_object(self, path: str) -> URI:
        """Return the URI without secrets, because each row repeats it (RFC 3986 7.5)."""
        if self.base is None:
            return URI(mask(path))
        root = f"{path.rpartition('/')[0]}/" if self.task.root is None else self.task.root
        return self.base.join(URIReference(f"./{path.removeprefix(root)}"))

    def _retrieval_uri(self, path: Path) -> URI:
        return retrieval_uri(path, path.parent if self.task.root is None else Path(self.task.root), self.base)


def _document(files: _TaskFiles, path: str, *notes: str) -> Document:
    task = files.task
    if (meta := task.retrieved) is not None:
        notes = (*meta.notes, *notes)
        return Document(
            file_name(task.name or ""), b"", meta.base, meta.media_type, meta.charset, notes, name=meta.name
        )
    if task.name is not None:
        # It was not retrieved: the base is the given one, or by default (RFC 3986 5.1.4) the current folder.
        default_base = Base(URI(f"{file_uri('.')}/"), "default", "default")
        base = default_base if files.base is None else _base(files.base)
        return Document(file_name(task.name), b"", base, notes=(*task.notes, *notes))
    source = file_name(path) if task.objects is None else mask(path)
    return Document(source, b"", _base(files.uri(path)), notes=notes)


def _base(uri: URI) -> Base:
    return Base(uri if uri.fragment is None else uri.replace(fragment=None), "retrieval", "retrieval")


_RECORD_FILES = ("warc", "arc")
"""Containers that can be read in part."""


def _file_documents(
    files: _TaskFiles, path: str, index: int, options: Options, progress: Progress, pages: MakePageReader | None
) -> Iterator[KnownDocument]:
    task = files.task
    document = _document(files, path)
    is_named = task.root is None
    if is_named and options.kind:
        document = document._replace(media_type=TYPES[options.kind])
    if task.notes:
        yield with_kind(document)
        return
    try:
        opened = open_file(path, task.root) if task.objects is None else open_ranges(task, path, index)
    except (NotFollowedError, IsADirectoryError) as error:  # a path is a folder only if it is nested too deep
        note = "not-followed" if isinstance(error, NotFollowedError) else "too-deep"
        yield with_kind(document._replace(notes=(note,)))
        return
    with opened as file:
        if task.objects is not None:
            file.seek(task.start)  # the range to read may be far from the beginning
        head = file.read(HEAD)
        size = file.seek(0, os.SEEK_END)
        is_part = task.start or task.end is not None or task.part is not None
        reader = NestedReader(options, min(task.size, size) if is_part else size, progress, pages)
        file_kind = kind(document.name or task.name or path, document.media_type, head)
        if not file_kind[0]:
            from overthere.links.containers.zip import ends_as_zip

            file_kind = ("zip", ()) if ends_as_zip(file) else file_kind
        file.seek(0)
        kinds = _RECORD_FILES if task.part is None else (task.part.kind,)
        if is_part and (file_kind[0] not in kinds or task.start >= size):
            note = "truncated" if file_kind[0] in _RECORD_FILES else "unsupported"
            yield with_kind(document._replace(notes=(note,)))
            return
        if task.part is not None and task.part.start:
            file_kind = file_kind[0], ()  # the first part has the notes
        for base, fields in () if task.retrieved is None else task.retrieved.headers:
            yield with_kind(document._replace(content=fields, base=base, media_type=HTTP, notes=()))
        if file_kind[0] in CONTAINERS and head:
            # An archive that is a source is published like a folder.
            members_base = URI(task.base) if is_named and task.base is not None else None
            if members_base is None and is_named and options.rooted:
                members_base = URI(f"{document.base.uri}!/")
            if not task.records:
                yield from reader.members(
                    file_kind, file, document, Place(options, members_base, task.start, task.end, task.part)
                )
                return
            for at, note in check_records(file, task.records):
                if note:
                    yield with_kind(document._replace(source=f"{document.source}!{at}", notes=(note,)))
                else:
                    yield from reader.members(file_kind, file, document, Place(options, members_base, at, at + 1))
            return
        content, notes = read_content(file, options.limit)
    if is_named and content and not file_kind[0]:
        notes += ("unsupported",)
    document = document._replace(content=content, notes=document.notes + notes)
    yield from reader.read(document, file_kind, is_named=is_named)
