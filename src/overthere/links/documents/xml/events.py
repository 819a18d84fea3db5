"""Tags and text of an XML document, by expat; after an error, tokens are recognized without expat.

Nothing outside of the document is read.  The known entities are its own and those of HTML, with a limit of size.
"""

from __future__ import annotations

import html
import re
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from html.entities import name2codepoint
from typing import Any, Protocol
from xml.parsers import expat

from overthere.links.documents.charset import decode_text
from overthere.links.model import Note

DEPTH = 2048
"""The maximum depth of nested elements."""
EXPANSION = 1 << 23
"""The limit of the estimated size of all expanded entities of a document, in characters."""
NAMES = 1 << 16
"""The maximum number of different names of elements and attributes; expat keeps each of them."""
_CHUNK = 1 << 16


class Receiver(Protocol):
    """Receives the contents of a document."""

    def handle_start(self, name: str, attributes: dict[str, str]) -> None: ...
    def handle_end(self) -> None: ...
    def handle_text(self, data: str) -> None: ...
    def handle_instruction(self, target: str, data: str) -> None: ...
    def handle_system_id(self, kind: str, identifier: str) -> None:
        """Handle the system identifier of a DOCTYPE, ENTITY or NOTATION; kind is that word."""


_DECLARED_ENCODING = re.compile(rb"""<\?xml\s[^>]{0,200}?\bencoding\s*=\s*["']([\w.:-]{1,40})["']""")
# Characters that are not allowed in any document (XML 1.0 2.2).
_FORBIDDEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")


def characters(content: bytes, charset: str | None) -> tuple[str, list[Note]]:
    """Return the text of a document by its byte order mark, `charset`, or XML declaration, in that order, and notes.

    If its bytes do not fit `charset`, but fit the XML declaration, that is used (RFC 7303 3; XML 1.0 4.3.3).
    """
    notes = []
    declared = None
    if content.startswith((b"<\0", b"\0<")):
        # UTF-16 without a byte order mark (XML 1.0 F.1).
        declared = "utf-16le" if content[0] else "utf-16be"
    elif match := _DECLARED_ENCODING.match(content):
        declared = match[1].decode("ascii", "replace")
        declared = "utf-8" if declared.lower().startswith("utf-16") else declared
    text, is_wrong = decode_text(content, charset or declared)
    if is_wrong:
        notes.append(Note("wrong-charset"))
        if charset and declared and charset.lower() != declared.lower():
            redecoded, is_unfit = decode_text(content, declared)
            text = text if is_unfit else redecoded
    if _FORBIDDEN.search(text):
        text = _FORBIDDEN.sub("\ufffd", text)
        notes.append(Note("corrupt"))
    return text, notes


class _StopParsing(Exception):
    """Raised in a handler to stop the parser; its argument is the kind of a note."""


def events(text: str, receiver: Receiver) -> Iterator[Note | None]:
    """Send the contents of a document to `receiver`; yield None after each chunk, and notes on errors.

    From the first error on, tags are handled one by one, and an end tag closes the nearest element of its name.
    """
    document = text.lstrip("\ufeff\t\n\r ")
    if not document:
        return
    is_corrupt = document is not text and document.startswith("<?xml")
    if is_corrupt:
        yield Note("corrupt")  # nothing may precede the XML declaration (2.8)
    data = document.encode()
    reader = _Expat(document, receiver)
    at = unfinished = 0
    try:
        while at < len(data):
            # expat reads an unfinished token again with each chunk, so chunks double within a long token.
            size = max(_CHUNK, unfinished)
            reader.parser.Parse(data[at : at + size], False)
            at += size
            unfinished = at - reader.parser.CurrentByteIndex
            yield None
            if len(reader.parser.intern) > NAMES:
                raise _StopParsing("too-large")
        reader.parser.Parse(b"", True)
    except _StopParsing as stop:
        yield Note(str(stop))
    except expat.ExpatError as error:
        reader.parser.buffer_text = False  # sends the buffered text
        if error.code in _TRUNCATION_CODES:
            yield Note("truncated")
        elif error.code == _AMPLIFICATION_CODE:
            yield Note("too-large")
        else:
            if not is_corrupt:
                yield Note("corrupt")
            yield from _recover(data, reader.parser.ErrorByteIndex, receiver, reader.open_elements)
    yield None


_ERROR_CODES = expat.errors.codes
_TRUNCATION_CODES = {
    _ERROR_CODES[message]
    for message in (
        expat.errors.XML_ERROR_NO_ELEMENTS,
        expat.errors.XML_ERROR_UNCLOSED_TOKEN,
        expat.errors.XML_ERROR_UNCLOSED_CDATA_SECTION,
    )
}
_AMPLIFICATION_CODE = 43
_ENTITY_REFERENCE = re.compile(r"&(?!(?:amp|lt|gt|quot|apos);)([A-Za-z_][\w.-]*+);", re.ASCII)
_MAX_UNKNOWN = 1 << 12
"""The maximum number of different undeclared entities that stay as they are written; others count as empty."""
_INNER_REFERENCE = re.compile(r"[&%]([^;&%\s]++);")


@cache
def _html_entities() -> bytes:
    """Return declarations of HTML's entities: feeds use them undeclared, XHTML by a DTD that is not read."""
    names = {name: code for name, code in name2codepoint.items() if name not in ("amp", "lt", "gt", "quot", "apos")}
    return "".join(f'<!ENTITY {name} "&#{code};">' for name, code in names.items()).encode()


class _Expat:
    """An expat parser and its handlers."""

    def __init__(self, document: str, receiver: Receiver) -> None:
        self.document = document
        self.receiver = receiver
        self.open_elements: list[str] = []
        self.entity_sizes: dict[tuple[bool, str], int] = {}
        self.unknown_entities: set[str] = set()
        self.max_sizes = [0, 0]
        self.use_counts: tuple[int, int] | None = None
        """The numbers of "&" and "%" in the document; counted after the first entity declaration."""
        self.doctype_system: str | None = None
        self.parser = parser = expat.ParserCreate("utf-8")
        parser.buffer_text = True
        # A DTD could add any number of attributes of any length.
        parser.specified_attributes = True
        parser.StartElementHandler = self.handle_start
        parser.EndElementHandler = self.handle_end
        parser.CharacterDataHandler = receiver.handle_text
        parser.ProcessingInstructionHandler = receiver.handle_instruction
        parser.StartDoctypeDeclHandler = self.handle_doctype
        parser.EntityDeclHandler = self.handle_entity
        parser.NotationDeclHandler = self.handle_notation
        if _ENTITY_REFERENCE.search(document):
            # HTML's declarations replace the external subset; the document's own come first and take precedence.
            # A reference to any other entity stays as it is written, so that no URI loses a part of itself.
            unknown: set[str] = set()
            for match in _ENTITY_REFERENCE.finditer(document):
                if match[1] not in name2codepoint and len(unknown) < _MAX_UNKNOWN:
                    unknown.add(match[1])
            declarations = "".join(f'<!ENTITY {name} "&#38;#38;{name};">' for name in unknown)
            self.subset: bytes = _html_entities() + declarations.encode()
            parser.UseForeignDTD(True)
            parser.SetParamEntityParsing(expat.XML_PARAM_ENTITY_PARSING_ALWAYS)
            parser.ExternalEntityRefHandler = self.handle_subset

    def handle_start(self, name: str, attributes: dict[str, str]) -> None:
        if len(self.open_elements) >= DEPTH:
            raise _StopParsing("too-deep")
        self.open_elements.append(name)
        self.receiver.handle_start(name, attributes)

    def handle_end(self, name: str) -> None:
        self.open_elements.pop()
        self.receiver.handle_end()

    def handle_doctype(self, name: str, system: str | None, public: str | None, subset: bool) -> None:
        self.doctype_system = system
        if system is not None:
            self.receiver.handle_system_id("DOCTYPE", system)

    def handle_notation(self, name: str, base: str | None, system: str | None, public: str | None) -> None:
        if system is not None:
            self.receiver.handle_system_id("NOTATION", system)

    def handle_subset(self, context: str | None, base: str | None, system: str | None, public: str | None) -> int:
        if context is None:
            subset = b""  # a parameter entity counts as empty
            if system == self.doctype_system:
                subset, self.subset = self.subset, b""
            inner_parser: Any = self.parser.ExternalEntityParserCreate(context, "utf-8")
            inner_parser.EntityDeclHandler = _ignore
            inner_parser.Parse(subset, True)
        return 1

    def handle_entity(
        self, name: str, parameter: bool, value: str | None, base: str | None, system: str | None,
        public: str | None, notation: str | None,
    ) -> None:  # fmt: skip
        """Handle an entity declaration; limit the size of all expansions before any reference is read."""
        if value is None:
            if system is not None:
                self.receiver.handle_system_id("ENTITY", system)
            return
        key = (bool(parameter), name)
        if key in self.entity_sizes:
            return  # the first declaration counts (4.2)
        if name in self.unknown_entities:
            raise _StopParsing("too-large")  # an earlier entity contains it and was measured without it
        size = len(value)
        for inner in _INNER_REFERENCE.findall(value):
            inner_size = self.entity_sizes.get((False, inner), 0) + self.entity_sizes.get((True, inner), 0)
            if not inner_size:
                self.unknown_entities.add(inner)
            size += inner_size
        self.entity_sizes[key] = size
        if size > self.max_sizes[key[0]]:
            self.max_sizes[key[0]] = size
            self.use_counts = self.use_counts or (self.document.count("&"), self.document.count("%"))
            if sum(count * largest for count, largest in zip(self.use_counts, self.max_sizes, strict=True)) > EXPANSION:
                raise _StopParsing("too-large")


def _ignore(*_: object) -> None:
    """Ignore an event; used instead of None, which PyPy would call."""


class _ExternalSubset(_Expat):
    """Reads an external subset, to which an otherwise empty document refers."""

    def __init__(self, document: str, receiver: Receiver) -> None:
        super().__init__(document, receiver)
        self.subset = document.encode()
        self.current_parser: Any = self.parser
        self.parser.StartDoctypeDeclHandler = _ignore
        self.parser.SetParamEntityParsing(expat.XML_PARAM_ENTITY_PARSING_ALWAYS)
        self.parser.ExternalEntityRefHandler = self.handle_subset

    def read(self) -> None:
        # In a standalone document declarations after an undeclared parameter entity are processed, too (5.1).
        self.parser.Parse(b'<?xml version="1.0" standalone="yes"?><!DOCTYPE x SYSTEM "x"><x/>', True)

    def handle_subset(self, context: str | None, base: str | None, system: str | None, public: str | None) -> int:
        inner_parser = self.current_parser.ExternalEntityParserCreate(context, "utf-8")
        subset, self.subset = self.subset, b""
        if subset:
            self.current_parser = inner_parser
        inner_parser.Parse(subset, True)  # external entities count as empty
        return 1


_DECLARATION = re.compile(
    r"<!--(?:[^-]++|-(?!->))*+(?:-->|\Z)"
    r"|<!(?P<kind>ENTITY|NOTATION)\s++(?:%\s++)?+[^\s\"'<>%]++\s++(?:SYSTEM|PUBLIC\s++(?:\"[^\"]*+\"|'[^']*+'))\s++"
    r"(?:\"([^\"]*+)\"|'([^']*+)')"
)


def declarations(text: str, receiver: Receiver) -> Iterator[Note]:
    """Send the system identifiers that an external subset declares (XML 1.0 4.2.2, 4.7) to `receiver`; yield notes.

    External parameter entities are not read and count as empty.  If the subset is then not well-formed (2.8), or has
    another error, the declarations after the error are found by a regular expression.
    """
    reader = _ExternalSubset(text.lstrip("\ufeff"), receiver)
    data = reader.subset
    try:
        reader.read()
    except _StopParsing as stop:
        yield Note(str(stop))
    except expat.ExpatError as error:
        yield Note("too-large" if error.code == _AMPLIFICATION_CODE else "corrupt")
        for match in _DECLARATION.finditer(data[reader.current_parser.ErrorByteIndex :].decode("utf-8", "replace")):
            if match["kind"]:
                receiver.handle_system_id(match["kind"], match[2] or match[3] or "")


_TOKEN = re.compile(
    r"<!--(?:[^-]++|-(?!->))*+(?:-->|\Z)"
    r"|<!\[CDATA\[(?P<data>(?:[^\]]++|\](?!\]>))*+)(?:\]\]>|\Z)"
    r"|<\?(?P<target>[^\s?]++)(?P<instruction>(?:[^?]++|\?(?!>))*+)(?:\?>|\Z)"
    r"|<![^<>]*+>?"
    r"|</(?P<end>[^\s<>/]++)[^<>]*+>?"
    r"|<(?P<start>[^\s<>/!?=\"'&]++)(?P<attributes>(?:[^<>\"']++|\"[^\"<]*+\"|'[^'<]*+'|[\"'])*+)>?"
    r"|(?P<text>[^<]++|<)"
)
_ATTRIBUTE = re.compile(r"(?<=[\s\"'])([^\s=<>\"'/]++)\s*+=\s*+(?:\"([^\"]*+)\"|'([^']*+)'|([^\s\"'<>]++))")
_CHARACTER_REFERENCE = re.compile(r"&#?\w{1,32};", re.ASCII)


def unescape(text: str) -> str:
    return _CHARACTER_REFERENCE.sub(lambda match: html.unescape(match[0]), text) if "&" in text else text


def _find_token_start(data: bytes) -> int:
    """Return where the token begins that contains the last byte; expat has reported all tokens before it."""
    parser, start = expat.ParserCreate("utf-8"), 0

    def handle_token(token: str) -> None:
        nonlocal start
        start = parser.CurrentByteIndex + len(token.encode())

    parser.UseForeignDTD(True)  # no entity is undefined
    parser.DefaultHandler = handle_token
    with suppress(expat.ExpatError):
        parser.Parse(data, False)
    return start


def _recover(data: bytes, at: int, receiver: Receiver, open_elements: list[str]) -> Iterator[Note | None]:
    """Handle tokens from the one with the error at `at` on."""
    remaining = data[_find_token_start(data[: at + 1]) :].decode("utf-8", "replace")
    open_counts = Counter(open_elements)
    for number, match in enumerate(_TOKEN.finditer(remaining)):
        if number % 4096 == 0:
            yield None
        kind = match.lastgroup
        if kind == "text":
            receiver.handle_text(unescape(match[0]))
        elif kind == "data":
            receiver.handle_text(match["data"])
        elif kind == "instruction":
            receiver.handle_instruction(match["target"], match["instruction"])
        elif kind == "end":
            name = match["end"]
            while open_counts[name]:
                open_counts[open_elements[-1]] -= 1
                receiver.handle_end()
                if open_elements.pop() == name:
                    break
        elif kind == "attributes":
            if len(open_elements) >= DEPTH:
                yield Note("too-deep")
                return
            name, attribute_text = match["start"], match["attributes"]
            attributes: dict[str, str] = {}
            for attribute in _ATTRIBUTE.finditer(attribute_text):
                attributes.setdefault(attribute[1], unescape(attribute[2] or attribute[3] or attribute[4] or ""))
            receiver.handle_start(name, attributes)
            if attribute_text.endswith("/"):
                receiver.handle_end()
            else:
                open_elements.append(name)
                open_counts[name] += 1
