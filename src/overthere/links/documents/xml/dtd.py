"""References in a document type definition: the external identifiers that it declares (XML 1.0 4.2.2, 4.7)."""

from __future__ import annotations

from collections.abc import Iterator

from overthere.links.documents.xml.events import characters, declarations
from overthere.links.model import Document, Found, Note, Options

__all__ = ["read"]


def read(document: Document, options: Options) -> Iterator[Found | Note]:
    """The system identifiers of ENTITY and NOTATION declarations, in their order; nothing is fetched.

    >>> from overthere import URI
    >>> from overthere.base import Base
    >>> content = b'<!ENTITY % a PUBLIC "-//A" "a.mod"> %a; <!NOTATION n SYSTEM "n.txt">'
    >>> [one[:2] for one in read(Document("x.dtd", content, Base(URI("a:b"), "default")), Options())]
    [('ENTITY', 'a.mod'), ('NOTATION', 'n.txt')]
    """
    text, notes = characters(document.content, document.charset)
    yield from notes
    receiver = _Receiver()
    for note in declarations(text, receiver):
        if note not in notes:
            yield note
    yield from receiver.found


class _Receiver:
    """Keeps what is declared."""

    def __init__(self) -> None:
        self.found: list[Found] = []

    def external(self, kind: str, identifier: str) -> None:
        self.found.append(Found(kind, identifier.strip(" \t\r\n")))

    def start(self, name: str, attributes: dict[str, str]) -> None: ...
    def end(self) -> None: ...
    def text(self, data: str) -> None: ...
    def instruction(self, target: str, data: str) -> None: ...
