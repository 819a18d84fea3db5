"""A message as a container: its parts, their bases, and the labels that refer to parts (RFC 2557).

It is read twice, for the labels and then for the content, one part at a time (RFC 2045, RFC 2046).
"""

from __future__ import annotations

from collections.abc import Generator, Iterator
from dataclasses import dataclass, field
from typing import Any

from overthere.base import THIS_MESSAGE, Base, enclosed, establish, to_reference
from overthere.links.containers.message.steps import Steps, make_rewindable, read_body, run_steps
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

_SMIME_TYPES = ("application/pkcs7-mime", "application/x-pkcs7-mime")  # RFC 8551 3.2.2: may be encrypted


def members(
    stream: Stream,
    document: Document,
    place: Place = Place(),  # noqa: B008 - a value
) -> Iterator[Document | Note]:
    """Yield the parts of a message, as `Container.members`, each under its number (RFC 9051 6.4.5).

    A part is `mail.eml!1.2`, a header `mail.eml!2.HEADER`.  A header is yielded only if it has references, as a
    document of the type `HEADER`.  A body without parts is number 1.  The base of a part is that of the message or of
    the entity around it (RFC 3986 5.1.2), as `establish` finds it in the fields; without one it is `thismessage:/` (RFC
    2557 5 e), because a file: URI is where the message is stored, not where it was retrieved from.
    """
    options = place.options
    file, note = make_rewindable(stream, options.limit)
    if note is not None:
        yield note
    if file is None:
        return
    start = file.tell()
    labels = Labels()
    steps = run_steps(_MessagePass(document, options, labels, yields_content=False).steps(), file)
    for fault in guard((Note("") for _ in steps), Note):
        if fault.kind:
            yield fault
    try:
        file.seek(start)
    except Exception:  # a decompressor that cannot start again
        yield Note("unreadable")
        return
    yield from run_steps(_MessagePass(document, options, labels, yields_content=True).steps(), file)
    if labels.remaining_chars < 0:
        yield Note("too-large")


def read(document: Document, options: Options) -> Iterator[Found | Note]:
    """Yield the references of a header: mailing lists (RFC 2369 3), archives (RFC 5064), bodies elsewhere (RFC 2017 3).

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
class _OpenEntity:
    """A multipart or message that has not ended yet."""

    source: str
    base: Base
    kind: str
    """The subtype of the multipart; "" for a message."""
    start: bytes = b""
    """The Content-ID of the root of multipart/related; without it the root is the first part (RFC 2387 3.2)."""
    scope: int | None = None
    message_id: bytes = b""
    content_id: bytes = b""
    labels: list[tuple[int, str]] = field(default_factory=list)
    """The labels of the whole multipart, which name its root."""
    parts: dict[str, str] = field(default_factory=dict)
    root: tuple[str, bool] | None = None
    """The source of the root, and whether it is HTML."""


class _MessagePass:
    """One pass through a message, for its content or (without `yields_content`) for its labels."""

    def __init__(self, document: Document, options: Options, labels: Labels, *, yields_content: bool) -> None:
        self.document, self.options, self.labels, self.yields_content = document, options, labels, yields_content
        # RFC 1738 and before leave bases to RFC 1808, whose header field is not in use: today's rules apply.
        self.edition = options.edition if options.edition in ("url-1997", "uri-2003") else "rfc3986"
        self.traversal = Traversal(MessageReader())
        base = document.base
        if base.uri.scheme.lower() == "file" and base.by not in ("Content-Base", "Content-Location"):
            base = Base(THIS_MESSAGE, "default", "default")
        self.outer_base = enclosed(base)
        """The base for the next message."""
        self.entities: list[_OpenEntity] = []
        self.scope_count = 0
        self.message_depth = 0
        self.flaws: list[str] = []

    def steps(self) -> Steps:
        first = event = yield from self.traversal.next_part()
        while True:
            end = event if isinstance(event, PartEnd) else None
            if isinstance(event, Part):
                if event is first and not event.header.raw and (yield from self.traversal.reader.at_end()):
                    yield Note("empty")
                    return
                end = yield from self._handle_part(event)
            elif self.yields_content:
                yield from map(Note, ["truncated"] * event.is_cut + ["empty"] * event.empty)
            if end is not None:
                self._close(end.open)
                if not end.open:
                    return
            event = yield from self.traversal.next_part()

    def _handle_part(self, part: Part) -> Generator[Any, Any, PartEnd | None]:
        """Read a part.  Returns: the end of its body; None if the traversal enters or skips the body."""
        if part.message is not None:
            yield from self._open_message(part, part.message)
        if part.header.broken:
            self.flaws.append("corrupt")
        header, base, fault = self._read_header(part.header)
        fault = fault or self._find_fault(part)
        number = part.number or "1"
        if fault or part.holds != "parts":
            self._label_part(header, self._make_source(number))
        if fault:
            if self.yields_content:
                yield self._make_document(number, base, header.media_type, notes=(*self.flaws, fault))
            return (yield from self.traversal.skip())
        if part.holds == "message":
            self.outer_base = base
        elif part.holds == "parts":
            yield from self._yield_flaws()
            self._open_multipart(part.number, header, base)
        elif not self.yields_content:
            return None if self.traversal.marks else PartEnd(0, is_cut=False, empty=False)
        elif header.media_type == EXTERNAL:
            yield self._make_document(f"{number}.MIME", base, HEADER, content=header.raw, notes=(*self.flaws,))
        else:
            return (yield from self._read_leaf(number, header, base))
        return None

    def _find_fault(self, part: Part) -> str:
        """Return the note for a body that cannot be read; "" otherwise."""
        header = part.header
        enveloped = header.parameters.get("smime-type", "").lower() in ("enveloped-data", "authenveloped-data")
        if header.media_type == "multipart/encrypted" or (header.media_type in _SMIME_TYPES and enveloped):
            return "encrypted"
        depth = self.document.depth + self.message_depth
        if part.holds == "deep" or (part.holds == "message" and depth >= self.options.depth):
            return "too-deep"
        # RFC 2045 6.4: a body in an unknown encoding cannot be read.
        is_known = part.holds or header.media_type == EXTERNAL or header.encoding in PLAIN | ENCODED
        return "" if is_known else "unsupported"

    # -- entities that open and close

    def _open_message(self, part: Part, number: str) -> Steps:
        header = part.header
        self.message_depth += 1
        source = self._make_source(number) if number else self.document.source
        self._open_scope(_OpenEntity(source, self.outer_base, "", message_id=header.message_id))
        if self.yields_content:
            yield from self._yield_flaws()
            if next(header.uris, None) is not None:
                name = f"{number}.HEADER".removeprefix(".")
                yield self._make_document(name, self.outer_base, HEADER, content=header.raw)
        elif header.message_id:
            self.labels.add(0, identifier_url("mid:", header.message_id), source)

    def _open_multipart(self, number: str, header: Header, base: Base) -> None:
        kind = header.media_type.partition("/")[2]
        start = header.start if kind == "related" else b""
        entity = _OpenEntity(self._make_source(number), base, kind, start, content_id=header.content_id)
        if not self.yields_content:
            entity.labels = list(self._find_labels(header, self.entities[-1].base))
        self._open_scope(entity)

    def _close(self, open_count: int) -> None:
        while len(self.entities) > open_count:
            entity = self.entities.pop()
            self.message_depth -= not entity.kind
            if entity.root is None or self.yields_content:
                continue
            source, is_html = entity.root if entity.kind else (entity.source, False)
            for scope, label in entity.labels:
                self.labels.add(scope, label, source)
            self._set_root(entity.content_id, source, is_html)

    def _yield_flaws(self) -> Steps:
        if self.yields_content:
            yield from map(Note, self.flaws)
        self.flaws.clear()

    # -- documents

    def _read_leaf(self, number: str, header: Header, base: Base) -> Generator[Any, Any, PartEnd]:
        media_type, flaws = header.media_type, self.flaws.copy()
        if media_type.startswith("multipart/"):
            media_type = "text/plain"
            flaws.append("corrupt")
        content, faults, end = yield from read_body(self.traversal.piece, decoder(header.encoding), self.options.limit)
        flaws += faults
        if header.is_misspelt:
            flaws.append("wrong-encoding")
        if end.is_cut:
            flaws.append("truncated")
        if not content and not flaws:
            flaws.append("empty")
        yield self._make_document(number, base, media_type, header.charset, content, tuple(dict.fromkeys(flaws)))
        return end

    def _make_document(
        self, number: str, base: Base, media_type: str, charset: str | None = None, content: bytes = b"",
        notes: tuple[str, ...] = (),
    ) -> Document:  # fmt: skip
        self.flaws.clear()
        depth = self.document.depth + self.message_depth
        return Document(
            self._make_source(number), content, base, media_type, charset, notes, depth, self.entities[-1].parts or None
        )

    def _make_source(self, number: str) -> str:
        return f"{self.document.source}!{number}"

    # -- bases and labels

    def _read_header(self, header: Header) -> tuple[Header, Base, str]:
        """Return a header and its base; if that fails, an empty header, the outer base and a note."""
        try:
            return header, self._find_base(header), ""
        except Exception as error:
            return Header(), self.entities[-1].base, note_kind(error)

    def _find_base(self, header: Header) -> Base:
        outer_base = self.entities[-1].base
        is_multipart = header.media_type.startswith("multipart/")
        # RFC 2110 4.1: in multipart headings the fields are "meaningless"; since RFC 2557 12 they are not.
        if not header.bases or (is_multipart and self.edition == "uri-2003"):
            # A base in the content of the outer entity (1997 5.1.1) is for its parts a base by 5.1.2.
            return enclosed(outer_base) if self.entities[-1].kind or self.entities[-1].scope is not None else outer_base
        return establish(headers=header.bases, entity=outer_base, edition=self.edition)

    def _open_scope(self, entity: _OpenEntity) -> None:
        """Open an entity; its labels are those in it, then those around it, up to the message (RFC 2557 8.2 d)."""
        entity.parts = self.entities[-1].parts if self.entities else self.document.parts or {}
        if entity.kind in ("", "related"):
            entity.scope, self.scope_count = self.scope_count, self.scope_count + 1
            if self.yields_content:
                entity.parts = self.labels.find_labels(entity.parts, entity.scope)
        self.entities.append(entity)

    def _label_part(self, header: Header, source: str) -> None:
        if self.yields_content:
            return
        is_better = self.entities[-1].kind == "alternative"
        for scope, label in self._find_labels(header, self.entities[-1].base):
            self.labels.add(scope, label, source, is_better=is_better)
        self._set_root(header.content_id, source, header.media_type == "text/html")

    def _find_labels(self, header: Header, outer_base: Base) -> Iterator[tuple[int, str]]:
        """Yield the labels of a part: cid: in its message, mid: everywhere (RFC 2392 2), its Content-Location."""
        message = next(item for item in reversed(self.entities) if not item.kind)
        for identifier in header.content_ids:
            yield message.scope or 0, identifier_url("cid:", identifier)
            if message.message_id:
                mid = identifier_url("mid:", message.message_id)
                yield 0, identifier_url(f"{mid}/", identifier)
        related = next((item.scope for item in reversed(self.entities) if item.scope is not None and item.kind), None)
        location = header.location
        if related is None or not location or location[:4].lower() == "cid:":
            return  # RFC 2557 11.1; 8.3
        reference, _ = to_reference(location)
        if reference is not None:
            fields = [pair for pair in header.bases if pair[0] == "Content-Base"]
            base = establish(headers=fields, entity=outer_base, edition=self.edition) if fields else outer_base
            yield related, str(base.uri.join(reference)).partition("#")[0]

    def _set_root(self, content_id: bytes, source: str, is_html: bool) -> None:
        """Set the root of a multipart (RFC 2387 3.2), in multipart/alternative the last HTML or part (RFC 2557 7)."""
        if not self.entities:
            return
        entity = self.entities[-1]
        if (
            entity.root is None
            or (entity.start and content_id == entity.start)
            or (entity.kind == "alternative" and (is_html or not entity.root[1]))
        ):
            entity.root = (source, is_html)
