"""The interface of every container, and its members before they are read."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib import import_module
from typing import TYPE_CHECKING, NamedTuple, Protocol, cast

from overthere.ground.codings import Stream
from overthere.links.model import BegunPage, Document, Note, Options, PassedContent
from overthere.values.uri import URI

if TYPE_CHECKING:
    from overthere.links.containers.records import PageReader

__all__ = ["STREAMED", "Container", "MakePageReader", "Member", "Place", "Stream", "find_container"]

MakePageReader = Callable[[Document], "PageReader"]
"""Of a WARC or ARC file, what reads pages on its own."""


class Place(NamedTuple):
    """The place of a container, and the required parts of it."""

    options: Options = Options()
    beneath: URI | None = None
    """The URI under which the members of a ZIP or tar file are published, as the files of a folder are; without it the
    base of a member is that of the archive (RFC 3986 5.1.2)."""
    start: int = 0
    end: int | None = None
    """Of a WARC or ARC file the records that begin in [start, end)."""
    pages: MakePageReader | None = None
    """None if each page of a crawl is to be a document here."""


class Member(NamedTuple):
    """A member before it is read: octets, or documents that are made of it."""

    document: Document
    """Without content."""
    stream: Stream | None = None
    """None if there are no octets to read; the document's notes say why."""
    crc: int | None = None
    documents: Iterator[Document | Note | PassedContent] | None = None
    """Of a record of a crawl: its content, and before it the header of HTTP if that refers to something."""


class Container(Protocol):
    """A kind of container, which is a module of this folder."""

    def members(
        self, stream: Stream, document: Document, place: Place = ...
    ) -> Iterator[BegunPage | Document | Member | Note | PassedContent]:
        """The members one by one, and notes on the container; each member must be read before the next.

        stream: it can seek, unless the kind is one of `STREAMED`.  Raises nothing.
        """
        ...


STREAMED = ("tar", "compressed")
"""Containers that are read from their beginning to their end; the others seek."""


def find_container(kind: str) -> Container:
    """kind: one of `kinds.CONTAINERS`."""
    return cast("Container", import_module(f"overthere.links.containers.{kind}"))
