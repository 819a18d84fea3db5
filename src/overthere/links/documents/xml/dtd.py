"""References in a document type definition: the system identifiers in its declarations (XML 1.0 4.2.2, 4.7)."""

from __future__ import annotations

from collections.abc import Iterator

from overthere.links.documents.xml.events import characters, declarations
from overthere.links.model import Document, Found, Note, Options


def read(document: Document, options: Options) -> Iterator[Found | Note]:
    """Yield the system identifiers of ENTITY and NOTATION declarations, in their order; nothing is fetched.

    >>> from overthere import URI
    >>> from overthere.base import Base
    >>> content = b'<!ENTITY % a PUBLIC "-//A" "a.mod"> %a; <!NOTATION n SYSTEM "n.txt">'
    >>> [found[:2] for found in read(Document("x.dtd", content, Base(URI("a:b"), "default")), Options())]
    [('ENTITY', 'a.mod'), ('NOTATION', 'n.txt')]
    """
    text, notes = characters(document.content, document.charset)
    yield from notes
    receiver = _Receiver()
    for note in declarations(text, receiver):
        if note not in notes:
            yield note
    yield from receiver.references


class _Receiver:
    """Collects the system identifiers."""

    def __init__(self) -> None:
        self.references: list[Found] = []

    def handle_system_id(self, kind: str, identifier: str) -> None:
        self.references.append(Found(kind, identifier.strip(" \t\r\n")))

    def handle_start(self, name: str, attributes: dict[str, str]) -> None: ...
    def handle_end(self) -> None: ...
    def handle_text(self, data: str) -> None: ...
    def handle_instruction(self, target: str, data: str) -> None: ...
