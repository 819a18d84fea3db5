"""Documents that are rows of a table: bytes in one column, metadata in others."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from typing import Any

from overthere.base import THIS_MESSAGE, Base, file_uri, to_reference
from overthere.ground.errors import OverthereError
from overthere.links.containers.nested import KnownDocument, NestedReader, with_kind
from overthere.links.documents.kinds import CONTAINERS, Kind, kind_of, media_type_of
from overthere.links.faults import guard, note_kind
from overthere.links.job.task_rows import TaskEnd
from overthere.links.job.task_rows import read as read_documents
from overthere.links.model import Document, Options
from overthere.links.report.batch import AnyBatch
from overthere.values.encoding import IN_SEGMENT
from overthere.values.uri import URI, URIReference

_HADOOP_PATH = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*+):(?://([^/]*+))?(/.*+)", re.DOTALL)
"""A path as Hadoop writes it: it looks like a URI, but nothing in it is escaped."""


def read(rows: Iterable[Mapping[str, Any]], base: URI | None, options: Options) -> Iterator[AnyBatch]:
    """Yield the rows of the link table for documents and archives.

    rows: each has `content` (bytes), and may have `path`, `url` and `media_type` (text); None is undefined.
    base: the URI under which the folder of each path is published.
    """
    for batch in read_documents(_read_rows(rows, base, options), options):
        if not isinstance(batch, TaskEnd):
            yield batch


def _read_rows(rows: Iterable[Mapping[str, Any]], base: URI | None, options: Options) -> Iterator[KnownDocument]:
    for row in rows:
        yield from guard(_read_row(row, base, options), partial(_failed_document, row))


def _failed_document(row: Mapping[str, Any], kind: str) -> KnownDocument:
    source = next((str(row[name]) for name in ("path", "url") if row.get(name) is not None), "")
    return Document(source, b"", Base(THIS_MESSAGE, "default", "default"), notes=(kind,)), ("", ())


def _read_row(row: Mapping[str, Any], base: URI | None, options: Options) -> Iterator[KnownDocument]:
    """Yield the documents of a row, each with its kind; an exception becomes a note."""
    outer = document(row, base)
    kind = kind_of(outer)
    try:
        yield from _nested_documents(outer, kind, options)
    except Exception as error:
        yield with_kind(outer.failed(note_kind(error)))


def document(row: Mapping[str, Any], base: URI | None) -> Document:
    """Return a row as a document.

    Its base is `url` (RFC 3986 5.1.3), otherwise its last name below `base`, otherwise `path` as a URI, otherwise
    "thismessage:/", the base of documents without one (RFC 2557 5 e).  A `url` that is not a valid URI gets a note.

    >>> document({"path": "s3a://b/x y.html", "content": b""}, None).base.uri
    URI('s3a://b/x%20y.html')
    """
    path, url, content = (row.get(name) for name in ("path", "url", "content"))
    uri = None if url is None else _absolute_uri(url)
    notes = ("corrupt",) if url is not None and uri is None else ()
    if uri is None and path is not None:
        uri = _uri_of_path(path, base)
    document_base = Base(THIS_MESSAGE, "default", "default")
    if uri is not None:
        document_base = Base(uri.replace(fragment=None), "retrieval", "retrieval")
    source = path if path is not None else url or ""
    media_type, charset = media_type_of(row.get("media_type") or "")
    if content is None:
        return Document(source, b"", document_base, media_type, charset, (*notes, "unreadable"))
    return Document(source, content, document_base, media_type, charset, notes)


def _absolute_uri(text: str) -> URI | None:
    reference, _ = to_reference(text.strip())
    return None if reference is None or reference.scheme is None else URI(str(reference))


def _uri_of_path(path: str, base: URI | None) -> URI | None:
    """Return the URI of a path of this machine or of Hadoop; None if it has none."""
    hadoop_path = _HADOOP_PATH.fullmatch(path)
    try:
        if base is not None:
            last_segment = path.rstrip("/").rpartition("/")[2]
            return (
                base.join(URIReference.build(segments=[last_segment.encode("utf-8", "replace")], keep=IN_SEGMENT))
                if last_segment
                else base
            )
        if hadoop_path is None:
            return file_uri(path) if path.startswith("/") else None
        scheme, authority, local_path = hadoop_path.groups()
        if scheme.lower() in ("http", "https"):
            return _absolute_uri(path)
        if scheme.lower() == "file":
            return file_uri(local_path)
        segments = local_path.split("/")[1:]
        return URI.build(scheme=scheme, authority=authority, segments=segments, rooted=True, keep=IN_SEGMENT)
    except (OverthereError, ValueError):
        return None


def _nested_documents(outer: Document, kind: Kind, options: Options) -> Iterator[KnownDocument]:
    """Yield the documents in an archive, or the document itself."""
    content, notes = outer.content, outer.notes
    if kind[0] in CONTAINERS:
        yield from NestedReader(options, len(content)).read(outer, kind, is_named=True)
        return
    if len(content) > options.limit:
        content, notes = content[: options.limit], (*notes, "too-large")
    if content and not kind[0]:
        notes = (*notes, "unsupported")
    yield outer._replace(content=content, notes=notes), kind
