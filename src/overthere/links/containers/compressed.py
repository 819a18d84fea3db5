"""The one member of a compressed file: gzip, bzip2, xz, zstd."""

from __future__ import annotations

import os
from collections.abc import Iterator

from overthere.ground.codings import CODINGS, FILE_WINDOW, STEP, Decoder, decode
from overthere.links.containers.archive_members import member_document
from overthere.links.containers.model import Member, Place, Stream
from overthere.links.containers.streams import ChainedStream, PieceStream, fault_note
from overthere.links.model import Document, Note

_SUFFIXES = {
    ".gz": "", ".bz2": "", ".xz": "", ".zst": "", ".tgz": ".tar", ".tbz2": ".tar", ".txz": ".tar", ".svgz": ".svg",
}  # fmt: skip


_CODINGS = {CODINGS[name].magics[0]: name for name in ("gzip", "bz2", "xz", "zstd")}
"""Codings by the first bytes of a file."""


def content_name(name: str) -> str:
    """Return the name of the content of a compressed file.

    >>> content_name("pages.tgz"), content_name("page.html.gz")
    ('pages.tar', 'page.html')
    """
    stem, suffix = os.path.splitext(name)
    return stem + _SUFFIXES.get(suffix.lower(), suffix)


def members(
    stream: Stream,
    document: Document,
    place: Place = Place(),  # noqa: B008 - a value
) -> Iterator[Member | Note]:
    """Yield the member, as `Container.members`.  Its base stays: compression is a coding, not an entity around it."""
    name = (document.name or document.source.rpartition("!")[2]).rpartition("/")[2]
    member = member_document(document, content_name(name), document.base)
    try:
        head = stream.read(STEP)
    except Exception as error:  # on hostile bytes the library may raise anything
        yield Note(fault_note(error))
        return
    coding = next((coding for magic, coding in _CODINGS.items() if head.startswith(magic)), None)
    if coding is None:
        yield Note("corrupt")
    else:
        yield Member(member, PieceStream(decode(ChainedStream(head, stream), Decoder(coding, FILE_WINDOW))))
