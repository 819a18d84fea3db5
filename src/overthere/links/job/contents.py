"""Documents that are rows of a table: their octets in one column, metadata in others."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from overthere.base import THIS_MESSAGE, Base, file_uri, to_reference
from overthere.ground.errors import OverthereError
from overthere.links.containers.nested import KnownDocument, NestedReader, with_kind
from overthere.links.documents.kinds import CONTAINERS, Kind, kind_of, media_type_of
from overthere.links.faults import guard, note_kind
from overthere.links.job.task_rows import TaskEnd
from overthere.links.job.task_rows import read as rows_of
from overthere.links.model import Document, Options
from overthere.values.encoding import IN_SEGMENT
from overthere.values.uri import URI, URIReference

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["document", "read"]

_NAME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*+):(?://([^/]*+))?(/.*+)", re.DOTALL)
"""A name in Hadoop: a URI to look at, but nothing in its path is escaped."""


def read(given: Iterable[Mapping[str, Any]], base: URI | None, options: Options) -> Iterator[pa.RecordBatch]:
    """The rows of the link table for documents and archives.

    given: each has `content`, octets, and may have `path`, `url` and `media_type`, texts; None is undefined.
    base: where they are published: of the folder of each path.
    """
    for batch in rows_of(_documents(given, base, options), options):
        if not isinstance(batch, TaskEnd):
            yield batch


def _documents(given: Iterable[Mapping[str, Any]], base: URI | None, options: Options) -> Iterator[KnownDocument]:
    for one in given:
        yield from guard(_read(one, base, options), partial(_failed_document, one))


def _failed_document(given: Mapping[str, Any], kind: str) -> KnownDocument:
    source = next((str(given[name]) for name in ("path", "url") if given.get(name) is not None), "")
    return Document(source, b"", Base(THIS_MESSAGE, "default", "default"), notes=(kind,)), ("", ())


def _read(given: Mapping[str, Any], base: URI | None, options: Options) -> Iterator[KnownDocument]:
    """Each document with its kind, for the name of a URI is its path."""
    outside = document(given, base)
    kind = kind_of(outside)
    try:
        yield from _documents_within(outside, kind, options)
    except Exception as error:
        yield with_kind(outside.failed(note_kind(error)))


def document(given: Mapping[str, Any], base: URI | None) -> Document:
    """A row as a document.

    Its base is `url` (RFC 3986 5.1.3), else its place below `base`, else `path` as a URI.  With none of these it is
    "thismessage:/", the base of what has none (RFC 2557 5 e), and a `url` that is no URI is noted.

    >>> document({"path": "s3a://b/x y.html", "content": b""}, None).base.uri
    URI('s3a://b/x%20y.html')
    """
    path, url, content = (given.get(name) for name in ("path", "url", "content"))
    uri = None if url is None else _absolute(url)
    notes = ("corrupt",) if url is not None and uri is None else ()
    if uri is None and path is not None:
        uri = _uri_of_path(path, base)
    at = Base(THIS_MESSAGE, "default", "default")
    if uri is not None:
        at = Base(uri.replace(fragment=None), "retrieval", "retrieval")
    source = path if path is not None else url or ""
    media_type, charset = media_type_of(given.get("media_type") or "")
    if content is None:
        return Document(source, b"", at, media_type, charset, (*notes, "unreadable"))
    return Document(source, content, at, media_type, charset, notes)


def _absolute(text: str) -> URI | None:
    reference, _ = to_reference(text.strip())
    return None if reference is None or reference.scheme is None else URI(str(reference))


def _uri_of_path(path: str, base: URI | None) -> URI | None:
    """The URI of a path, of this machine or as Hadoop writes it."""
    name = _NAME.fullmatch(path)
    try:
        if base is not None:
            last = path.rstrip("/").rpartition("/")[2]
            return (
                base.join(URIReference.build(segments=[last.encode("utf-8", "replace")], keep=IN_SEGMENT))
                if last
                else base
            )
        if name is None:
            return file_uri(path) if path.startswith("/") else None
        scheme, authority, place = name.groups()
        if scheme.lower() in ("http", "https"):
            return _absolute(path)
        if scheme.lower() == "file":
            return file_uri(place)
        segments = place.split("/")[1:]
        return URI.build(scheme=scheme, authority=authority, segments=segments, rooted=True, keep=IN_SEGMENT)
    except (OverthereError, ValueError):
        return None


def _documents_within(outside: Document, kind: Kind, options: Options) -> Iterator[KnownDocument]:
    """The documents in an archive, or the document itself."""
    content, notes = outside.content, outside.notes
    if kind[0] in CONTAINERS:
        yield from NestedReader(options, len(content)).read(outside, kind, is_named=True)
        return
    if len(content) > options.limit:
        content, notes = content[: options.limit], (*notes, "too-large")
    if content and not kind[0]:
        notes = (*notes, "unsupported")
    yield outside._replace(content=content, notes=notes), kind
