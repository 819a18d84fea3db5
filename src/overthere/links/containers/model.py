"""The interface of every container, and its members before they are read."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, cast

from overthere.ground.codings import Stream
from overthere.links.model import BegunPage, Document, Note, Options, PassedContent
from overthere.values.uri import URI

if TYPE_CHECKING:
    from overthere.links.containers.page_reader import PageReader

__all__ = ["STREAMED", "Budget", "Container", "MakePageReader", "Member", "Part", "Place", "Stream", "find_container"]


class Budget:
    """Bytes that may still come from the containers of a source: this limits nested bombs."""

    _MIN_MEMBER_COST = 1024
    """Bytes that a member counts for at least: a few bytes can contain archives of millions of empty members."""

    def __init__(self, remaining: int) -> None:
        self.remaining: int = remaining

    def spend(self, member_bytes: int) -> None:
        self.remaining -= max(member_bytes, self._MIN_MEMBER_COST)


MakePageReader = Callable[[Document, Budget | None], "PageReader"]
"""A function that makes the reader of the pages of a file; it spends what the records contain from the budget."""


class Part(NamedTuple):
    """A part of a ZIP or tar file or of a mailbox, found by `find_parts` of its module, which is read independently."""

    size: int
    """Bytes, as a measure of the work."""
    start: int = 0
    """The offset of its first member in a tar file or a mailbox; in a ZIP file the bytes of the parts before it."""
    end: int | None = None
    """The offset of the next part of a tar file; None for the last part."""
    members: Sequence[Any] = ()
    """The entries of the directory of a ZIP file (`zip.Entry`), or the numbers of the messages of a mailbox."""
    kind: str = ""
    """The kind of the file when it was cut; another is not read."""


class Place(NamedTuple):
    """The part of a container to read, and how to read it."""

    options: Options = Options()
    root_uri: URI | None = None
    """The URI of the folder as which a ZIP or tar file is published; if None, its members have the base of the archive
    (RFC 3986 5.1.2)."""
    start: int = 0
    end: int | None = None
    """In a WARC or ARC file, only the records that begin in [start, end) are read."""
    part: Part | None = None
    """The part of a ZIP or tar file or of a mailbox to read; None for all of it."""
    pages: MakePageReader | None = None
    """Makes the reader of the pages of a WARC, ARC, ZIP or tar file; if None, each page is a document."""
    budget: Budget | None = None
    """Given with `pages`."""


class Member(NamedTuple):
    """A member before it is read: a stream of bytes, or the documents in it."""

    document: Document
    """The document without its content."""
    stream: Stream | None = None
    """None if there is nothing to read; the document's notes say why."""
    crc: int | None = None
    documents: Iterator[Document | Note | PassedContent] | None = None
    """The documents of a record of a crawl: its HTTP header, if that has references, and its content."""


class Container(Protocol):
    """A kind of container, which is a module of this folder."""

    def members(
        self, stream: Stream, document: Document, place: Place = ...
    ) -> Iterator[BegunPage | Document | Member | Note | PassedContent]:
        """Yield the members one by one, and notes on the container; each member must be read before the next.

        stream: seekable, unless the kind is one of `STREAMED`.  Raises nothing.
        """
        ...


STREAMED = ("tar", "compressed")
"""Containers that are read sequentially; the others need a seekable stream."""


def find_container(kind: str) -> Container:
    """Return the module for a kind of `kinds.CONTAINERS`."""
    return cast("Container", import_module(f"overthere.links.containers.{kind}"))
