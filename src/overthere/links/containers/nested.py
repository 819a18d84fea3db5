"""Documents from nested containers: the only code that opens them, limits decompression bombs, and turns a problem with
a member into a note on it."""

from __future__ import annotations

import io
import zlib
from collections.abc import Iterator

from overthere.ground.atomic import open_unnamed
from overthere.links.containers.model import STREAMED, MakePageReader, Member, Place, Stream, find_container
from overthere.links.containers.progress import Progress
from overthere.links.containers.streams import ChainedStream, take_octets, truncate
from overthere.links.documents.kinds import CONTAINERS, Kind, kind_of, passed_kind
from overthere.links.faults import guard, note_kind
from overthere.links.model import BEGUN, BegunPage, Document, Note, Options, PassedContent
from overthere.values.uri import URI

__all__ = ["KnownDocument", "NestedReader", "with_kind"]

KnownDocument = tuple[Document, Kind]
"""A document, and what `kinds` says of it."""


def with_kind(document: Document) -> KnownDocument:
    """A document with its kind; if that cannot be found out, with a note."""
    try:
        return document, kind_of(document)
    except Exception as error:
        return document.failed(note_kind(error)), ("", ())


class NestedReader:
    """Gives the documents of a source, out of all containers in it."""

    def __init__(
        self, options: Options, size: int, progress: Progress | None = None, pages: MakePageReader | None = None
    ) -> None:
        """size: octets of the source.  pages: what reads the pages of crawls on its own (`Place`)."""
        self.options = options
        self.pages = pages
        self.progress: Progress = Progress() if progress is None else progress
        self.left: int = 64 * options.limit + 32 * size
        """Octets that may still come out of archives: bombs of bombs end here."""

    def read(
        self, document: Document, kind: Kind, *, is_named: bool = False, beneath: URI | None = None
    ) -> Iterator[KnownDocument]:
        """A document whose content is at hand, or those in it.

        is_named: whether it is a source itself, of which something is to be said even if it has no reader.
        """
        if kind[0] in CONTAINERS and document.content:
            place = Place(self.options, beneath)
            yield from self.members(kind, io.BytesIO(document.content), document, place)
        elif kind[0] or is_named or (document.notes and not document.content):
            yield document, kind
        elif kind[1]:
            # It was said to be a document.
            yield document._replace(notes=tuple(dict.fromkeys((*document.notes, "unsupported")))), kind
        else:
            self.progress.passed[passed_kind(document)] += 1
            if damage := tuple(note for note in document.notes if note in _DAMAGE):
                yield with_kind(document._replace(content=b"", notes=damage))

    def members(self, kind: Kind, stream: Stream, document: Document, place: Place) -> Iterator[KnownDocument]:
        """The documents of a container, of whose members each is read before the next, and the notes on it.

        kind: what the container is; the notes on that are given here, for no reader will see it.
        """
        document = document._replace(content=b"", notes=tuple(dict.fromkeys((*document.notes, *kind[1]))))
        if document.notes:
            yield with_kind(document)
        if document.depth >= self.options.depth:
            yield with_kind(document._replace(notes=("too-deep",)))
            return
        members = find_container(kind[0]).members(stream, document._replace(notes=()), place._replace(pages=self.pages))
        # Compression is no entity of its own: what is in it is the source.
        beneath = place.beneath if kind[0] == "compressed" else None
        for member in guard(members, Note):
            if isinstance(member, Document | Member) and not self.progress.begins(_source_of(member)):
                continue
            if isinstance(member, Member) and member.documents is None and self.left <= 0:
                yield with_kind(document._replace(notes=("too-large",)))
                return
            yield from self._read_member(member, document, beneath)

    def _read_member(
        self, member: BegunPage | Document | Member | Note | PassedContent, container: Document, beneath: URI | None
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
                for inside in guard(documents, document.failed):
                    yield from self._read_member(inside, container, beneath)
            case Member(document, stream, crc) if stream is not None:
                yield from _guard(self._read_stream(document, stream, crc, beneath), document)

    def _read_stream(
        self, document: Document, stream: Stream, crc: int | None, beneath: URI | None
    ) -> Iterator[KnownDocument]:
        limit = self.options.limit
        content, note = take_octets(stream, limit + 1)
        self.left -= max(len(content), _LEAST)
        document = document._replace(content=content)
        kind = kind_of(document)
        if len(content) > limit and kind[0] in CONTAINERS:
            yield from self._read_large(
                document, kind, _CountedStream(self, ChainedStream(content, stream)), crc, beneath
            )
            return
        content, notes = truncate(content, note, limit, crc)
        yield from self.read(document._replace(content=content, notes=document.notes + notes), kind, beneath=beneath)

    def _read_large(
        self, document: Document, kind: Kind, stream: _CountedStream, crc: int | None, beneath: URI | None
    ) -> Iterator[KnownDocument]:
        """A container may be larger than a document."""
        note = ""
        if kind[0] in STREAMED:
            yield from self.members(kind, stream, document, Place(self.options, beneath))
        else:
            with open_unnamed() as file:
                while True:
                    piece, note = take_octets(stream, self.options.limit)
                    file.write(piece)
                    if note or not piece:
                        break
                file.seek(0)
                yield from self.members(kind, file, document, Place(self.options))
        if not note and crc not in (None, stream.crc) and not take_octets(stream, 1)[0]:
            note = "corrupt"
        if note:
            yield with_kind(document._replace(content=b"", notes=(note,)))


_LEAST = 1024
"""Octets that a member counts for at least: in few octets there can be archives of millions of empty ones."""
_DAMAGE = frozenset(("truncated", "corrupt", "wrong-length"))
"""Notes that say something of the archive, also on what is passed over."""


def _source_of(member: Document | Member) -> str:
    return member.source if isinstance(member, Document) else member.document.source


def _guard(work: Iterator[KnownDocument], document: Document) -> Iterator[KnownDocument]:
    """The documents of a member; if its reading fails, last the member with a note."""
    return guard(work, lambda kind: with_kind(document.failed(kind)))


class _CountedStream:
    """A stream that takes from what may still be read."""

    def __init__(self, reader: NestedReader, stream: Stream) -> None:
        self.reader, self.stream = reader, stream
        self.crc = 0

    def read(self, size: int, /) -> bytes:
        if self.reader.left <= 0:
            raise MemoryError
        part = self.stream.read(size)
        self.reader.left -= len(part)
        self.crc = zlib.crc32(part, self.crc)
        return part
