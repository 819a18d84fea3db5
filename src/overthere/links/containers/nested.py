"""Documents from nested containers: the only code that opens them, limits decompression bombs, and turns a problem with
a member into a note on it."""

from __future__ import annotations

import io
import zlib
from collections.abc import Iterator

from overthere.ground.atomic import open_unnamed
from overthere.links.containers.model import STREAMED, Budget, MakePageReader, Member, Place, Stream, find_container
from overthere.links.containers.progress import Progress
from overthere.links.containers.streams import ChainedStream, read_bytes, truncate
from overthere.links.documents.header import HTTP
from overthere.links.documents.kinds import CONTAINERS, Kind, kind_of, passed_kind
from overthere.links.faults import guard, note_kind
from overthere.links.model import BEGUN, BegunPage, Document, Note, Options, PassedContent
from overthere.values.uri import URI

KnownDocument = tuple[Document, Kind]
"""A document, and its kind according to `kinds`."""


def with_kind(document: Document) -> KnownDocument:
    """Return a document with its kind; on an error, without content or kind, but with a note."""
    try:
        return document, kind_of(document)
    except Exception as error:
        return document.failed(note_kind(error)), ("", ())


class NestedReader:
    """Yields the documents of a source, from all containers in it."""

    def __init__(
        self, options: Options, size: int, progress: Progress | None = None, pages: MakePageReader | None = None
    ) -> None:
        """size: bytes of the source.  pages: makes rows of the pages of crawls (`Place`)."""
        self.options = options
        self.pages = pages
        self.progress: Progress = Progress() if progress is None else progress
        self.budget: Budget = Budget(64 * options.limit + 32 * size)

    def read(
        self, document: Document, kind: Kind, *, is_named: bool = False, root_uri: URI | None = None
    ) -> Iterator[KnownDocument]:
        """Yield a document whose content is in memory, or the documents in it.

        is_named: whether it is a source itself, which is yielded even without a reader.
        """
        if kind[0] in CONTAINERS and document.content:
            place = Place(self.options, root_uri)
            yield from self.members(kind, io.BytesIO(document.content), document, place)
        elif kind[0] or is_named or (document.notes and not document.content):
            yield document, kind
        elif kind[1]:
            # It was declared as a document.
            yield document._replace(notes=tuple(dict.fromkeys((*document.notes, "unsupported")))), kind
        else:
            self.progress.passed[passed_kind(document)] += 1
            if damage := tuple(note for note in document.notes if note in _DAMAGE_NOTES):
                yield with_kind(document._replace(content=b"", notes=damage))

    def members(self, kind: Kind, stream: Stream, document: Document, place: Place) -> Iterator[KnownDocument]:
        """Yield the documents of a container and notes on it; each member must be read before the next.

        kind: the kind of the container; its notes are yielded here, because no reader sees the container.
        """
        document = document._replace(content=b"", notes=tuple(dict.fromkeys((*document.notes, *kind[1]))))
        if document.notes:
            yield with_kind(document)
        if document.depth >= self.options.depth:
            yield with_kind(document._replace(notes=("too-deep",)))
            return
        place = place._replace(pages=self.pages, budget=self.budget)
        members = find_container(kind[0]).members(stream, document._replace(notes=()), place)
        # Compression is not an entity: its content is the source.
        root_uri = place.root_uri if kind[0] == "compressed" else None
        for member in guard(members, Note):
            if isinstance(member, Document | Member) and not self.progress.begin_unit(_source_of(member)):
                continue
            if isinstance(member, Member) and self.budget.remaining <= 0:
                yield with_kind(document._replace(notes=("too-large",)))
                return
            yield from self._read_member(member, document, root_uri)

    def _read_member(
        self, member: BegunPage | Document | Member | Note | PassedContent, container: Document, root_uri: URI | None
    ) -> Iterator[KnownDocument]:
        match member:
            case BegunPage(document):
                yield document, (BEGUN, ())
            case PassedContent(kind):
                self.progress.passed[kind] += 1
            case Note(kind):
                yield with_kind(container._replace(notes=(kind,)))
            case Document():
                yield from _guard(self.read(*with_kind(member)), member)
            case Member(document, None, _, None):
                yield with_kind(document)
            case Member(document, None, _, documents) if documents is not None:
                for inner in guard(documents, document.failed):
                    if isinstance(inner, Document) and inner.media_type != HTTP:
                        self.budget.remaining -= len(inner.content)
                    yield from self._read_member(inner, container, root_uri)
            case Member(document, stream, crc) if stream is not None:
                yield from _guard(self._read_stream(document, stream, crc, root_uri), document)

    def _read_stream(
        self, document: Document, stream: Stream, crc: int | None, root_uri: URI | None
    ) -> Iterator[KnownDocument]:
        limit = self.options.limit
        content, note = read_bytes(stream, limit + 1)
        self.budget.spend(len(content))
        document = document._replace(content=content)
        kind = kind_of(document)
        if len(content) > limit and kind[0] in CONTAINERS:
            yield from self._read_large(
                document, kind, _CountedStream(self.budget, ChainedStream(content, stream)), crc, root_uri
            )
            return
        content, notes = truncate(content, note, limit, crc)
        yield from self.read(document._replace(content=content, notes=document.notes + notes), kind, root_uri=root_uri)

    def _read_large(
        self, document: Document, kind: Kind, stream: _CountedStream, crc: int | None, root_uri: URI | None
    ) -> Iterator[KnownDocument]:
        """Read a container, which may be larger than a document."""
        note = ""
        if kind[0] in STREAMED:
            yield from self.members(kind, stream, document, Place(self.options, root_uri))
        else:
            with open_unnamed() as file:
                while True:
                    piece, note = read_bytes(stream, self.options.limit)
                    file.write(piece)
                    if note or not piece:
                        break
                file.seek(0)
                yield from self.members(kind, file, document, Place(self.options))
        if not note and crc not in (None, stream.crc) and not read_bytes(stream, 1)[0]:
            note = "corrupt"
        if note:
            yield with_kind(document._replace(content=b"", notes=(note,)))


_DAMAGE_NOTES = frozenset(("truncated", "corrupt", "wrong-length"))
"""Notes on damage to the archive, which are kept for skipped content too."""


def _source_of(member: Document | Member) -> str:
    return member.source if isinstance(member, Document) else member.document.source


def _guard(work: Iterator[KnownDocument], document: Document) -> Iterator[KnownDocument]:
    """Yield the documents of a member; if reading fails, end with the member and a note."""
    return guard(work, lambda kind: with_kind(document.failed(kind)))


class _CountedStream:
    """A stream that counts its bytes against a budget, and computes their CRC."""

    def __init__(self, budget: Budget, stream: Stream) -> None:
        self.budget, self.stream = budget, stream
        self.crc = 0

    def read(self, size: int, /) -> bytes:
        if self.budget.remaining <= 0:
            raise MemoryError
        data = self.stream.read(size)
        self.budget.remaining -= len(data)
        self.crc = zlib.crc32(data, self.crc)
        return data
