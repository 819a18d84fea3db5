"""A message as a container: its parts with their bases and the labels by which they name each other (RFC 2557).

It is read through twice, for the labels and then for the content; a part at a time is held (RFC 2045, RFC 2046).
"""

from __future__ import annotations

from collections.abc import Generator, Iterator
from dataclasses import dataclass, field
from typing import Any, BinaryIO
from urllib.parse import unquote_to_bytes

from overthere.access.errors import ProtocolError
from overthere.base import THIS_MESSAGE, Base, enclosed, establish, to_reference
from overthere.links.containers.message.fields import NOTHING, Entity, Header, header, uris
from overthere.links.containers.message.labels import Labels, identified
from overthere.links.containers.message.steps import Steps, carried, rewindable
from overthere.links.faults import guarded, noted
from overthere.links.model import Document, Found, Note, Options
from overthere.mail.reader import Decoder, Mark, Reader, decoder

__all__ = ["HEADER", "members", "read"]

HEADER = "text/rfc822-headers"
"""The media type of a header without its body (RFC 6522 4)."""

_MULTIPARTS = 100
"""So many multiparts may be open at once: what is deeper is not read."""
_PLAIN = frozenset((b"", b"7bit", b"8bit", b"binary"))
_ENCODED = frozenset((b"base64", b"quoted-printable"))
_ALPHABET = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/= \t\r\n"


def members(file: BinaryIO, document: Document, options: Options) -> Iterator[Document | Note]:
    """The parts of a message, each under its number (RFC 9051 6.4.5): `mail.eml!1.2`, a header as `mail.eml!2.HEADER`.

    The header is given only where it holds references, as a document of the type `HEADER`.  A body without parts is
    number 1.  The base of a part is that of the message or of what is around it (RFC 3986 5.1.2), as `establish` finds
    it in the fields; what gives none has `thismessage:/` (RFC 2557 5 e), for a file: URI says where the message lies,
    not where it was retrieved from.  Never raises.
    """
    if document.depth >= options.depth:
        yield Note("too-deep")
        return
    seen, note = rewindable(file, options.limit)
    if note is not None:
        yield note
    if seen is None:
        return
    start = seen.tell()
    labels = Labels()
    walk = carried(_Walk(document, options, labels, gives=False).steps(), seen)
    for fault in guarded((Note("") for _ in walk), Note):
        if fault.kind:
            yield fault
    try:
        seen.seek(start)
    except Exception:  # a decompressor that begins anew, and cannot
        yield Note("unreadable")
        return
    yield from carried(_Walk(document, options, labels, gives=True).steps(), seen)
    if labels.left < 0:
        yield Note("too-large")


def read(document: Document, options: Options) -> Iterator[Found | Note]:
    """The references of a header: mailing lists (RFC 2369 3), archives (RFC 5064), bodies elsewhere (RFC 2017 3).

    >>> from overthere import URI
    >>> of = Document("m!HEADER", b"List-Help: <http://h/a\\n b> (or ask)\\n", Base(URI("a:b"), "default"))
    >>> [(f.where, f.reference) for f in read(of, Options())]
    [('List-Help', 'http://h/ab')]
    """
    for where, reference in uris(document.content):
        yield Found(where, reference)


@dataclass(slots=True)
class _Open:
    """A multipart or a message whose end is not there yet."""

    number: str
    base: Base
    kind: str
    """Of the multipart; "" for a message."""
    digest: bool = False
    start: bytes = b""
    """Which Content-ID has the root of multipart/related; without it the first part is that (RFC 2387 3.2)."""
    scope: int | None = None
    message_id: bytes = b""
    count: int = 0
    content_id: bytes = b""
    labels: list[tuple[int, str]] = field(default_factory=list)
    """What the multipart as a whole is called: a reader sees its root."""
    parts: dict[str, str] = field(default_factory=dict)
    root: tuple[str, bool] | None = None
    """The source of the root, and whether it is HTML."""


class _Walk:
    """Once through a message; `gives` is whether for the content, else for the labels."""

    def __init__(self, document: Document, options: Options, labels: Labels, *, gives: bool) -> None:
        self.document, self.options, self.labels, self.gives = document, options, labels, gives
        # RFC 1738 and before leave bases to RFC 1808, whose field nobody has sent: today's rules.
        self.edition = options.edition if options.edition in ("url-1997", "uri-2003") else "rfc3986"
        self.reader = Reader()
        self.marks: dict[bytes, int] = {}
        self.opened: list[_Open] = []
        self.scopes = 0
        self.messages = 0
        self.flaws: list[str] = []

    def steps(self) -> Steps:
        head = yield from header(self.reader)
        if not head.raw and (yield from self.reader.at_end()):
            yield Note("empty")
            return
        base = self.document.base
        if base.uri.scheme.lower() == "file" and base.by not in ("Content-Base", "Content-Location"):
            base = Base(THIS_MESSAGE, "default", "default")
        yield from self._message("", head, enclosed(base))
        number, whole = "", True
        while True:
            if head.broken:
                self.flaws.append("corrupt")
            digest = not whole and self.opened[-1].digest
            entity, base, fault = self._said(head, "message/rfc822" if digest else "text/plain")
            multipart = entity.media_type.startswith("multipart/")
            own = _child(number, 1) if whole and not multipart else number
            if fault:
                mark = yield from self._skipped(own or "1", entity, base, fault)
            elif entity.media_type in ("message/rfc822", "message/global") and entity.encoding not in _ENCODED:
                if self.document.depth + self.messages < self.options.depth:
                    self._label(entity, base, self._source(own))
                    head = yield from header(self.reader)
                    yield from self._message(own, head, base)
                    number, whole = own, True
                    continue
                mark = yield from self._skipped(own, entity, base, "too-deep")
            elif entity.media_type == "multipart/encrypted":
                mark = yield from self._skipped(own or "1", entity, base, "encrypted")
            elif multipart and len(self.marks) >= _MULTIPARTS:
                mark = yield from self._skipped(own or "1", entity, base, "too-deep")
            elif multipart and entity.boundary:
                yield from self._notes()
                self._multipart(number, entity, base)
                mark = yield from self._until()
            else:
                found = yield from self._leaf(own or "1", entity, base, head)
                if found is None:
                    return
                mark = found
            while True:
                if mark.depth < 0:
                    self._close(0)
                    return
                if self.gives and mark.closes and not self.opened[mark.depth].count:
                    yield Note("empty")
                self._close(mark.depth + (0 if mark.closes else 1))
                if not mark.closes:
                    break
                mark = yield from self._until()
            around = self.opened[-1]
            around.count += 1
            number, whole = _child(around.number, around.count), False
            head = yield from header(self.reader)

    # -- what opens and closes

    def _message(self, number: str, head: Header, base: Base) -> Steps:
        identifier = head.message_id
        self.messages += 1
        self._opened(_Open(number, base, "", scope=self._scope(), message_id=identifier))
        if self.gives:
            yield from self._notes()
            if next(head.uris, None) is not None:
                yield self._document(_child(number, "HEADER"), base, HEADER, content=head.raw)
        elif identifier:
            whole = self._source(number) if number else self.document.source
            self.labels.put(0, identified("mid:", identifier), whole)

    def _multipart(self, number: str, entity: Entity, base: Base) -> None:
        kind = entity.media_type.partition("/")[2]
        start = entity.start if kind == "related" else b""
        here = _Open(number, base, kind, kind == "digest", start, content_id=entity.content_id)
        if not self.gives:
            here.labels = list(self._called(entity, self.opened[-1].base))
        if kind == "related":
            here.scope = self._scope()
        self.marks.setdefault(entity.boundary, len(self.opened))
        self._opened(here)

    def _scope(self) -> int:
        self.scopes += 1
        return self.scopes - 1

    def _close(self, keep: int) -> None:
        if keep >= len(self.opened):
            return
        while len(self.opened) > keep:
            here = self.opened.pop()
            self.messages -= not here.kind
            if here.root is None or self.gives:
                continue
            source, html = here.root if here.kind else (self._source(here.number), False)
            for scope, label in here.labels:
                self.labels.put(scope, label, source)
            self._root(here.content_id, source, html)
        self.marks = {text: depth for text, depth in self.marks.items() if depth < keep}

    def _until(self) -> Generator[Any, Any, Mark]:
        """Leave out a preamble or an epilogue (RFC 2046 5.1.1)."""
        mark = yield from self.reader.until(self.marks)
        if self.gives and self._cut(mark):
            yield Note("truncated")
        return mark

    def _cut(self, mark: Mark) -> bool:
        """Whether a multipart ends here that was not closed."""
        return any(here.kind for here in self.opened[mark.depth + 1 :])

    def _notes(self) -> Steps:
        if self.gives:
            yield from map(Note, self.flaws)
        self.flaws.clear()

    # -- what is given

    def _leaf(self, number: str, entity: Entity, base: Base, head: Header) -> Generator[Any, Any, Mark | None]:
        if not self.gives:
            self._label(entity, base, self._source(number))
            if not self.marks:
                return None
            return (yield from self._until())
        if entity.external:
            # The body is elsewhere: the references are in the fields (RFC 2046 5.2.3).
            yield self._document(_child(number, "MIME"), base, HEADER, content=head.raw)
            return (yield from self._until())
        if entity.enveloped:
            return (yield from self._skipped(number, entity, base, "encrypted"))
        if entity.encoding not in _PLAIN | _ENCODED:
            # RFC 2045 6.4: of an encoding that nobody knows, no more can be said.
            return (yield from self._skipped(number, entity, base, "unsupported"))
        media_type, flaws = entity.media_type, self.flaws.copy()
        if media_type.startswith("multipart/"):
            media_type = "text/plain"
            flaws.append("corrupt")
        content, wrong, mark = yield from self._content(decoder(entity.encoding), entity.encoding == b"base64")
        flaws += wrong
        if self._cut(mark):
            flaws.append("truncated")
        if not content and not flaws:
            flaws.append("empty")
        notes = tuple(dict.fromkeys(flaws))
        yield self._document(number, base, media_type, entity.charset, content, notes)
        return mark

    def _skipped(self, number: str, entity: Entity, base: Base, why: str) -> Generator[Any, Any, Mark]:
        if self.gives:
            yield self._document(number, base, entity.media_type, notes=(*self.flaws, why))
        else:
            self._label(entity, base, self._source(number))
        return (yield from self.reader.until(self.marks))

    def _content(self, through: Decoder, base64: bool) -> Generator[Any, Any, tuple[bytes, list[str], Mark]]:
        """What stands up to the next mark, decoded, of it so much as is read; and what is the matter with it."""
        pieces: list[bytes] = []
        left = self.options.limit
        flaws: list[str] = []
        mark: Mark | None = None
        while mark is None:
            piece, mark = yield from self.reader.piece(self.marks)
            if left < 0:
                continue
            if base64 and piece.translate(None, _ALPHABET):
                flaws.append("corrupt")
            try:
                found = through.feed(piece)
            except Exception as error:
                flaws.append("corrupt" if isinstance(error, ProtocolError) else noted(error))
                found, through, base64 = b"", _Nothing(), False
            if mark is not None:
                try:
                    found += through.end()
                except Exception as error:
                    flaws.append("corrupt" if isinstance(error, ProtocolError) else noted(error))
            left -= len(found)
            pieces.append(found if left >= 0 else found[:left])
            if left < 0:
                flaws.append("too-large")
        return b"".join(pieces), list(dict.fromkeys(flaws)), mark

    def _document(
        self, number: str, base: Base, media_type: str, charset: str | None = None, content: bytes = b"",
        notes: tuple[str, ...] = (),
    ) -> Document:  # fmt: skip
        self.flaws.clear()
        depth = self.document.depth + self.messages
        return Document(
            self._source(number), content, base, media_type, charset, notes, depth, self.opened[-1].parts or None
        )

    def _source(self, number: str) -> str:
        return f"{self.document.source}!{number}"

    # -- bases and labels

    def _said(self, head: Header, default: str) -> tuple[Entity, Base, str]:
        """What the header of a part says of it, its base, and what went wrong: that is a note, and the walk goes on."""
        try:
            entity = head.entity(default)
            return entity, self._base(entity, entity.media_type.startswith("multipart/")), ""
        except Exception as error:
            return NOTHING, self.opened[-1].base, noted(error)

    def _base(self, entity: Entity, multipart: bool) -> Base:
        around = self.opened[-1].base
        # RFC 2110 4.1: in multipart headings the fields are "meaningless"; since RFC 2557 12 they are not.
        if not entity.said or (multipart and self.edition == "uri-2003"):
            # What is content of the entity around (1997 5.1.1) is 5.1.2 for what is in it.
            return enclosed(around) if self.opened[-1].kind or self.opened[-1].scope is not None else around
        return establish(headers=entity.said, entity=around, edition=self.edition)

    def _opened(self, here: _Open) -> None:
        """What can be named in it: what is in it, in what is around it, in the message (8.2 d)."""
        here.parts = self.opened[-1].parts if self.opened else dict(self.document.parts or {})
        if here.scope is not None and self.gives:
            here.parts = self.labels.within(here.parts, here.scope)
        self.opened.append(here)

    def _label(self, entity: Entity, base: Base, source: str) -> None:
        if self.gives:
            return
        better = self.opened[-1].kind == "alternative"
        for scope, label in self._called(entity, self.opened[-1].base):
            self.labels.put(scope, label, source, better=better)
        self._root(entity.content_id, source, entity.media_type == "text/html")

    def _called(self, entity: Entity, around: Base) -> Iterator[tuple[int, str]]:
        """cid: in its message and mid: everywhere (RFC 2392 2), the Content-Location in its multipart/related."""
        message = next(here for here in reversed(self.opened) if not here.kind)
        # The RFC prints cid:foo4%25foo1@bar.net for the Content-ID <foo4%25foo1@bar.net> too: both are read.
        for identifier in dict.fromkeys((entity.content_id, unquote_to_bytes(entity.content_id))):
            if identifier:
                yield message.scope or 0, identified("cid:", identifier)
                if message.message_id:
                    mid = identified("mid:", message.message_id)
                    yield 0, identified(f"{mid}/", identifier)
        related = next((here.scope for here in reversed(self.opened) if here.scope is not None and here.kind), None)
        if related is None or not entity.location or entity.location[:4].lower() == "cid:":
            return  # RFC 2557 11.1; 8.3
        reference, _ = to_reference(entity.location)
        if reference is not None:
            fields = [pair for pair in entity.said if pair[0] == "Content-Base"]
            outer = establish(headers=fields, entity=around, edition=self.edition) if fields else around
            yield related, str(outer.uri.join(reference)).partition("#")[0]

    def _root(self, content_id: bytes, source: str, html: bool) -> None:
        """RFC 2387 3.2, and for multipart/alternative as root RFC 2557 7: what a reader sees first."""
        if not self.opened:
            return
        here = self.opened[-1]
        if (
            here.root is None
            or (here.start and content_id == here.start)
            or (here.kind == "alternative" and (html or not here.root[1]))
        ):
            here.root = (source, html)


def _child(number: str, name: int | str) -> str:
    return f"{number}.{name}" if number else str(name)


class _Nothing(Decoder):
    """In place of one that has failed: the rest of the content is passed over."""

    def feed(self, octets: bytes) -> bytes:
        return b""
