"""The documents of a task: its files, and the members of containers among them."""

from __future__ import annotations

import os
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from overthere.base import Base, file_uri, retrieval_uri
from overthere.ground.redact import mask
from overthere.links.containers.model import MakePageReader, Place
from overthere.links.containers.nested import KnownDocument, NestedReader, with_kind
from overthere.links.containers.progress import Progress
from overthere.links.containers.streams import read_content
from overthere.links.containers.zip import ends_as_zip
from overthere.links.documents.header import HTTP
from overthere.links.documents.kinds import CONTAINERS, HEAD, TYPES, kind
from overthere.links.faults import guard
from overthere.links.job.files import NotFollowedError, open_file
from overthere.links.job.indexed_records import runs
from overthere.links.job.ranged_sources import open_ranges
from overthere.links.job.task_builder import Task
from overthere.links.model import Document, Options
from overthere.values.encoding import IN_SEGMENT, encode
from overthere.values.uri import URI, URIReference

__all__ = ["documents", "failed_sources"]


def documents(
    task: Task,
    options: Options,
    progress: Progress | None = None,
    pages: MakePageReader | None = None,
) -> Iterator[KnownDocument]:
    """The documents of a task that a reader can read, out of all containers, and those that have notes.

    Each with its kind.  Never raises: what is the matter is in `notes`.  What has no reader (images and the like) is
    passed over in folders and containers; of a file that was named the note "unsupported" says so.

    pages: of crawls, what reads pages on its own (`containers.model.Place`).
    """
    progress = Progress() if progress is None else progress
    places = _Places(task)
    for place, path in enumerate(task.paths):
        made = _file_documents(places, path, place, options, progress, pages)
        yield from guard(made, partial(_failed_source, places, path))


def failed_sources(task: Task, options: Options) -> Iterator[Document]:
    """The sources of a task that could not be carried out, each with the note "unreadable"."""
    places = _Places(task)
    for path in task.paths:
        yield _document(places, path, "unreadable")


def _failed_source(places: _Places, path: str, note: str) -> KnownDocument:
    return with_kind(_document(places, path, note))


class _Places:
    """A task, and the URIs of its files: those in one folder differ in their last segment alone."""

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
        """Without what is secret in it, which would stand in each row (RFC 3986 7.5)."""
        if self.base is None:
            return URI(mask(path))
        root = f"{path.rpartition('/')[0]}/" if self.task.root is None else self.task.root
        return self.base.join(URIReference(f"./{path.removeprefix(root)}"))

    def _retrieval_uri(self, place: Path) -> URI:
        return retrieval_uri(place, place.parent if self.task.root is None else Path(self.task.root), self.base)


def _document(places: _Places, path: str, *notes: str) -> Document:
    task = places.task
    if (there := task.retrieved) is not None:
        notes = (*there.notes, *notes)
        return Document(
            _show_name(task.name or ""), b"", there.base, there.media_type, there.charset, notes, name=there.name
        )
    if task.name is not None:
        # It was not retrieved: the base is what was given, or by default (RFC 3986 5.1.4) where we are.
        here = Base(URI(f"{file_uri('.')}/"), "default", "default")
        base = here if places.base is None else _base(places.base)
        return Document(_show_name(task.name), b"", base, notes=(*task.notes, *notes))
    source = _show_name(path) if task.objects is None else mask(path)
    return Document(source, b"", _base(places.uri(path)), notes=notes)


def _base(uri: URI) -> Base:
    return Base(uri if uri.fragment is None else uri.replace(fragment=None), "retrieval", "retrieval")


def _show_name(path: str) -> str:
    """A name that is text: octets of a file name that are not UTF-8 become U+FFFD (the base URI keeps them)."""
    return os.fsencode(path).decode("utf-8", "replace")


_RECORDED = ("warc", "arc")
"""Containers of which a part can be read."""


def _file_documents(
    places: _Places,
    path: str,
    place: int,
    options: Options,
    progress: Progress,
    pages: MakePageReader | None,
) -> Iterator[KnownDocument]:
    task = places.task
    document = _document(places, path)
    is_named = task.root is None
    if is_named and options.kind:
        document = document._replace(media_type=TYPES[options.kind])
    if task.notes:
        yield with_kind(document)
        return
    try:
        opened = open_file(path, task.root) if task.objects is None else open_ranges(task, path, place)
    except (NotFollowedError, IsADirectoryError) as error:  # folders are listed, but for those that lie too deep
        note = "not-followed" if isinstance(error, NotFollowedError) else "too-deep"
        yield with_kind(document._replace(notes=(note,)))
        return
    with opened as file:
        if task.objects is not None:
            file.seek(task.start)  # its beginning may be far from what is read
        head = file.read(HEAD)
        size = file.seek(0, os.SEEK_END)
        reader = NestedReader(options, size, progress, pages)
        known = kind(document.name or task.name or path, document.media_type, head)
        if not known[0] and ends_as_zip(file):
            known = "zip", ()
        file.seek(0)
        is_part = task.start or task.end is not None
        if is_part and (known[0] not in _RECORDED or task.start >= size):
            note = "truncated" if known[0] in _RECORDED else "unsupported"
            yield with_kind(document._replace(notes=(note,)))
            return
        for base, fields in () if task.retrieved is None else task.retrieved.headers:
            yield with_kind(document._replace(content=fields, base=base, media_type=HTTP, notes=()))
        if known[0] in CONTAINERS and head:
            # An archive that is a source is published as a folder is.
            beneath = URI(task.base) if is_named and task.base is not None else None
            if beneath is None and is_named and options.rooted:
                beneath = URI(f"{document.base.uri}!/")
            if not task.records:
                yield from reader.members(known, file, document, Place(options, beneath, task.start, task.end))
                return
            for start, end, note in runs(file, task.records):
                if note:
                    yield with_kind(document._replace(source=f"{document.source}!{start}", notes=(note,)))
                else:
                    yield from reader.members(known, file, document, Place(options, beneath, start, end))
            return
        content, notes = read_content(file, options.limit)
    if is_named and content and not known[0]:
        notes += ("unsupported",)
    document = document._replace(content=content, notes=document.notes + notes)
    yield from reader.read(document, known, is_named=is_named)
