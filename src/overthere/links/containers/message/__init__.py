"""A message as a container: its parts, their bases, and the labels that refer to parts (RFC 2557).

It is read through twice, for the labels and then for the content; a part at a time is held (RFC 2045, RFC 2046).
"""

from __future__ import annotations

from collections.abc import Generator, Iterator
from dataclasses import dataclass, field
from typing import Any

from overthere.base import THIS_MESSAGE, Base, enclosed, establish, to_reference
from overthere.links.containers.message.steps import Steps, rewindable, run_steps, take_body
from overthere.links.containers.message_labels import Labels, identifier_url
from overthere.links.containers.model import Place, Stream
from overthere.links.faults import guard, note_kind
from overthere.links.model import Document, Found, Note, Options
from overthere.mail.fields import EXTERNAL, Header
from overthere.mail.reader import ENCODED, PLAIN, MessageReader, decoder
from overthere.mail.traversal import Part, PartEnd, Traversal

__all__ = ["HEADER", "members", "read"]

HEADER = "text/rfc822-headers"
"""The media type of a header without its body (RFC 6522 4)."""

_SMIME = ("application/pkcs7-mime", "application/x-pkcs7-mime")  # RFC 8551 3.2.2: what may be encrypted


def members(
    stream: Stream,
    document: Document,
    place: Place = Place(),  # noqa: B008 - a value
) -> Iterator[Document | Note]:
    """As `Container.members`: the parts of a message, each under its number (RFC 9051 6.4.5).

    A part is `mail.eml!1.2`, a header `mail.eml!2.HEADER`.  The header is given only where it holds references, as a
    document of the type `HEADER`.  A body without parts is number 1.  The base of a part is that of the message or of
    what is around it (RFC 3986 5.1.2), as `establish` finds it in the fields; what gives none has `thismessage:/`
    (RFC 2557 5 e), for a file: URI says where the message lies, not where it was retrieved from.
    """
    options = place.options
    seen, note = rewindable(stream, options.limit)
    if note is not None:
        yield note
    if seen is None:
        return
    start = seen.tell()
    labels = Labels()
    walk = run_steps(_Reading(document, options, labels, gives=False).steps(), seen)
    for fault in guard((Note("") for _ in walk), Note):
        if fault.kind:
            yield fault
    try:
        seen.seek(start)
    except Exception:  # a decompressor that begins anew, and cannot
        yield Note("unreadable")
        return
    yield from run_steps(_Reading(document, options, labels, gives=True).steps(), seen)
    if labels.left < 0:
        yield Note("too-large")


def read(document: Document, options: Options) -> Iterator[Found | Note]:
    """The references of a header: mailing lists (RFC 2369 3), archives (RFC 5064), bodies elsewhere (RFC 2017 3).

    >>> from overthere import URI
    >>> of = Document("m!HEADER", b"List-Help: <http://h/a\\n b> (or ask)\\n", Base(URI("a:b"), "default"))
    >>> [(f.where, f.reference) for f in read(of, Options())]
    [('List-Help', 'http://h/ab')]
    """
    header = Header(document.content)
    for where, reference in header.uris:
        yield Found(where, reference)
    if header.is_cut:
        yield Note("too-large")


@dataclass(slots=True)
class _Open:
    """A multipart or a message whose end is not there yet."""

    source: str
    base: Base
    kind: str
    """Of the multipart; "" for a message."""
    start: bytes = b""
    """Which Content-ID has the root of multipart/related; without it the first part is that (RFC 2387 3.2)."""
    scope: int | None = None
    message_id: bytes = b""
    content_id: bytes = b""
    labels: list[tuple[int, str]] = field(default_factory=list)
    """What the multipart as a whole is called: a reader sees its root."""
    parts: dict[str, str] = field(default_factory=dict)
    root: tuple[str, bool] | None = None
    """The source of the root, and whether it is HTML."""


class _Reading:
    """Once through a message; `gives` is whether for the content, else for the labels."""

    def __init__(self, document: Document, options: Options, labels: Labels, *, gives: bool) -> None:
        self.document, self.options, self.labels, self.gives = document, options, labels, gives
        # RFC 1738 and before leave bases to RFC 1808, whose header field is not in use: today's rules.
        self.edition = options.edition if options.edition in ("url-1997", "uri-2003") else "rfc3986"
        self.walk = Traversal(MessageReader())
        base = document.base
        if base.uri.scheme.lower() == "file" and base.by not in ("Content-Base", "Content-Location"):
            base = Base(THIS_MESSAGE, "default", "default")
        self.around = enclosed(base)
        """Of the message that comes next."""
        self.opened: list[_Open] = []
        self.scopes = 0
        self.messages = 0
        self.flaws: list[str] = []

    def steps(self) -> Steps:
        first = event = yield from self.walk.next_part()
        while True:
            end = event if isinstance(event, PartEnd) else None
            if isinstance(event, Part):
                if event is first and not event.header.raw and (yield from self.walk.reader.at_end()):
                    yield Note("empty")
                    return
                end = yield from self._part(event)
            elif self.gives:
                yield from map(Note, ["truncated"] * event.cut + ["empty"] * event.empty)
            if end is not None:
                self._close(end.open)
                if not end.open:
                    return
            event = yield from self.walk.next_part()

    def _part(self, part: Part) -> Generator[Any, Any, PartEnd | None]:
        """Returns: the end of its body; None for one that the walk goes into or leaves out."""
        if part.message is not None:
            yield from self._message(part, part.message)
        if part.header.broken:
            self.flaws.append("corrupt")
        header, base, fault = self._read_header(part.header)
        fault = fault or self._fault(part)
        number = part.number or "1"
        if fault or part.holds != "parts":
            self._label(header, self._source(number))
        if fault:
            if self.gives:
                yield self._document(number, base, header.media_type, notes=(*self.flaws, fault))
            return (yield from self.walk.skip())
        if part.holds == "message":
            self.around = base
        elif part.holds == "parts":
            yield from self._notes()
            self._multipart(part.number, header, base)
        elif not self.gives:
            return None if self.walk.marks else PartEnd(0, cut=False, empty=False)
        elif header.media_type == EXTERNAL:
            yield self._document(f"{number}.MIME", base, HEADER, content=header.raw)
        else:
            return (yield from self._read_leaf(number, header, base))
        return None

    def _fault(self, part: Part) -> str:
        """Why a body is not read; "" if it is."""
        header = part.header
        enveloped = header.parameters.get("smime-type", "").lower() in ("enveloped-data", "authenveloped-data")
        if header.media_type == "multipart/encrypted" or (header.media_type in _SMIME and enveloped):
            return "encrypted"
        inside = self.document.depth + self.messages
        if part.holds == "deep" or (part.holds == "message" and inside >= self.options.depth):
            return "too-deep"
        # RFC 2045 6.4: of an unknown encoding, no more can be said.
        known = part.holds or header.media_type == EXTERNAL or header.encoding in PLAIN | ENCODED
        return "" if known else "unsupported"

    # -- what opens and closes

    def _message(self, part: Part, number: str) -> Steps:
        header = part.header
        self.messages += 1
        source = self._source(number) if number else self.document.source
        self._open_scope(_Open(source, self.around, "", message_id=header.message_id))
        if self.gives:
            yield from self._notes()
            if next(header.uris, None) is not None:
                name = f"{number}.HEADER".removeprefix(".")
                yield self._document(name, self.around, HEADER, content=header.raw)
        elif header.message_id:
            self.labels.put(0, identifier_url("mid:", header.message_id), source)

    def _multipart(self, number: str, header: Header, base: Base) -> None:
        kind = header.media_type.partition("/")[2]
        start = header.start if kind == "related" else b""
        here = _Open(self._source(number), base, kind, start, content_id=header.content_id)
        if not self.gives:
            here.labels = list(self._labels_of(header, self.opened[-1].base))
        self._open_scope(here)

    def _close(self, keep: int) -> None:
        while len(self.opened) > keep:
            here = self.opened.pop()
            self.messages -= not here.kind
            if here.root is None or self.gives:
                continue
            source, html = here.root if here.kind else (here.source, False)
            for scope, label in here.labels:
                self.labels.put(scope, label, source)
            self._root(here.content_id, source, html)

    def _notes(self) -> Steps:
        if self.gives:
            yield from map(Note, self.flaws)
        self.flaws.clear()

    # -- what is given

    def _read_leaf(self, number: str, header: Header, base: Base) -> Generator[Any, Any, PartEnd]:
        media_type, flaws = header.media_type, self.flaws.copy()
        if media_type.startswith("multipart/"):
            media_type = "text/plain"
            flaws.append("corrupt")
        content, wrong, end = yield from take_body(self.walk.piece, decoder(header.encoding), self.options.limit)
        flaws += wrong
        if header.is_misspelt:
            flaws.append("wrong-encoding")
        if end.cut:
            flaws.append("truncated")
        if not content and not flaws:
            flaws.append("empty")
        yield self._document(number, base, media_type, header.charset, content, tuple(dict.fromkeys(flaws)))
        return end

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

    def _read_header(self, header: Header) -> tuple[Header, Base, str]:
        """What a header says of the body, its base, and what went wrong: that is a note, and the walk goes on."""
        try:
            return header, self._base(header), ""
        except Exception as error:
            return Header(), self.opened[-1].base, note_kind(error)

    def _base(self, header: Header) -> Base:
        around = self.opened[-1].base
        multipart = header.media_type.startswith("multipart/")
        # RFC 2110 4.1: in multipart headings the fields are "meaningless"; since RFC 2557 12 they are not.
        if not header.bases or (multipart and self.edition == "uri-2003"):
            # What is content of the entity around (1997 5.1.1) is 5.1.2 for what is in it.
            return enclosed(around) if self.opened[-1].kind or self.opened[-1].scope is not None else around
        return establish(headers=header.bases, entity=around, edition=self.edition)

    def _open_scope(self, here: _Open) -> None:
        """What can be named in it: what is in it, in what is around it, in the message (8.2 d)."""
        here.parts = self.opened[-1].parts if self.opened else dict(self.document.parts or {})
        if here.kind in ("", "related"):
            here.scope, self.scopes = self.scopes, self.scopes + 1
            if self.gives:
                here.parts = self.labels.names_within(here.parts, here.scope)
        self.opened.append(here)

    def _label(self, header: Header, source: str) -> None:
        if self.gives:
            return
        better = self.opened[-1].kind == "alternative"
        for scope, label in self._labels_of(header, self.opened[-1].base):
            self.labels.put(scope, label, source, better=better)
        self._root(header.content_id, source, header.media_type == "text/html")

    def _labels_of(self, header: Header, around: Base) -> Iterator[tuple[int, str]]:
        """cid: in its message and mid: everywhere (RFC 2392 2), the Content-Location in its multipart/related."""
        message = next(here for here in reversed(self.opened) if not here.kind)
        for identifier in header.content_ids:
            yield message.scope or 0, identifier_url("cid:", identifier)
            if message.message_id:
                mid = identifier_url("mid:", message.message_id)
                yield 0, identifier_url(f"{mid}/", identifier)
        related = next((here.scope for here in reversed(self.opened) if here.scope is not None and here.kind), None)
        location = header.location
        if related is None or not location or location[:4].lower() == "cid:":
            return  # RFC 2557 11.1; 8.3
        reference, _ = to_reference(location)
        if reference is not None:
            fields = [pair for pair in header.bases if pair[0] == "Content-Base"]
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
