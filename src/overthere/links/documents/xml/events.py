"""Tags and text of an XML document, by expat; for one that is not well-formed, the part before the error.

Nothing outside of the document is read. Entities are those that it declares and those of HTML, within a limit.
"""

from __future__ import annotations

import html
import re
from collections import Counter
from collections.abc import Iterator
from functools import cache
from html.entities import name2codepoint
from typing import Any, Protocol
from xml.parsers import expat

from overthere.links.documents.charset import decode_text
from overthere.links.model import Note

__all__ = ["DEPTH", "EXPANSION", "NAMES", "Receiver", "characters", "declarations", "events", "unescape"]

DEPTH = 2048
"""Elements in one another."""
EXPANSION = 1 << 23
"""Octets that the entities which a document declares may become."""
NAMES = 1 << 16
"""Names of elements and attributes that differ: expat keeps each of them."""
_CHUNK = 1 << 16


class Receiver(Protocol):
    """What is told of a document."""

    def start(self, name: str, attributes: dict[str, str]) -> None: ...
    def end(self) -> None: ...
    def text(self, data: str) -> None: ...
    def instruction(self, target: str, data: str) -> None: ...
    def external(self, kind: str, identifier: str) -> None:
        """A system identifier: of the DOCTYPE, an ENTITY or a NOTATION."""


_DECLARED = re.compile(rb"""<\?xml\s[^>]{0,200}?\bencoding\s*=\s*["']([\w.:-]{1,40})["']""")
# Characters that no document may hold (XML 1.0 2.2).
_FORBIDDEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")


def characters(content: bytes, told: str | None) -> tuple[str, list[Note]]:
    """The characters of a document: by byte order mark, else as told, else as it declares (RFC 7303 3; XML 1.0 4.3.3).

    Where they do not fit what was told and do fit what is declared, they are read so.
    """
    notes = []
    declared = None
    if content.startswith((b"<\0", b"\0<")):
        # UTF-16 without its mark (XML 1.0 F.1).
        declared = "utf-16le" if content[0] else "utf-16be"
    elif match := _DECLARED.match(content):
        declared = match[1].decode("ascii", "replace")
        declared = "utf-8" if declared.lower().startswith("utf-16") else declared
    text, wrong = decode_text(content, told or declared)
    if wrong:
        notes.append(Note("wrong-charset"))
        if told and declared and told.lower() != declared.lower():
            other, unfit = decode_text(content, declared)
            text = text if unfit else other
    if _FORBIDDEN.search(text):
        text = _FORBIDDEN.sub("\ufffd", text)
        notes.append(Note("corrupt"))
    return text, notes


class _StopParsing(Exception):
    """Raised in a handler to leave the parser; its argument is the kind of the note."""


def events(text: str, to: Receiver) -> Iterator[Note | None]:
    """Tell `to` what a document holds; yields None after each piece of it, and what is the matter.

    After the place where a document is not well-formed, tags are taken as they stand, and an end tag closes the
    nearest element of its name.
    """
    begins = text.lstrip("\ufeff\t\n\r ")
    if not begins:
        return
    flawed = begins is not text and begins.startswith("<?xml")
    if flawed:
        yield Note("corrupt")  # nothing may stand before the XML declaration (2.8)
    octets = begins.encode()
    source = _Expat(begins, to)
    at = pending = 0
    try:
        while at < len(octets):
            # A token is read again with each chunk until it ends: the chunks of a long one double.
            size = max(_CHUNK, pending)
            source.parser.Parse(octets[at : at + size], False)
            at += size
            pending = at - source.parser.CurrentByteIndex
            yield None
            if len(source.parser.intern) > NAMES:
                raise _StopParsing("too-large")
        source.parser.Parse(b"", True)
    except _StopParsing as stop:
        yield Note(str(stop))
    except expat.ExpatError as error:
        source.parser.buffer_text = False  # gives out the text that is kept
        if error.code in _ENDS:
            yield Note("truncated")
        elif error.code == _AMPLIFIED:
            yield Note("too-large")
        else:
            if not flawed:
                yield Note("corrupt")
            yield from _loose(octets, source.parser.ErrorByteIndex, to, source.open)
    yield None


_CODES = expat.errors.codes
_ENDS = {
    _CODES[message]
    for message in (
        expat.errors.XML_ERROR_NO_ELEMENTS,
        expat.errors.XML_ERROR_UNCLOSED_TOKEN,
        expat.errors.XML_ERROR_UNCLOSED_CDATA_SECTION,
    )
}
_AMPLIFIED = 43
_REFERENCE = re.compile(r"&(?!(?:amp|lt|gt|quot|apos);|#)\w++;")
_NESTED = re.compile(r"[&%]([^;&%\s]++);")


@cache
def _html_entities() -> bytes:
    """HTML's entities as declarations: feeds use them undeclared, XHTML by a DTD that is not read."""
    names = {name: code for name, code in name2codepoint.items() if name not in ("amp", "lt", "gt", "quot", "apos")}
    return "".join(f'<!ENTITY {name} "&#{code};">' for name, code in names.items()).encode()


class _Expat:
    """The parser and its handlers."""

    def __init__(self, document: str, to: Receiver) -> None:
        self.document = document
        self.to = to
        self.open: list[str] = []
        self.sizes: dict[tuple[bool, str], int] = {}
        self.missing: set[str] = set()
        self.largest = [0, 0]
        self.uses: tuple[int, int] | None = None
        """How often the document has "&" and "%"; counted once there are entities."""
        self.parser = parser = expat.ParserCreate("utf-8")
        parser.buffer_text = True
        # Attributes that a DTD adds would be as many and as long as it likes.
        parser.specified_attributes = True
        parser.StartElementHandler = self.start
        parser.EndElementHandler = self.end
        parser.CharacterDataHandler = to.text
        parser.ProcessingInstructionHandler = to.instruction
        parser.StartDoctypeDeclHandler = self.doctype
        parser.EntityDeclHandler = self.entity
        parser.NotationDeclHandler = self.notation
        if _REFERENCE.search(document):
            # The declarations of HTML stand in for the external subset; the document's own come first, and count.
            self.subset: bytes | None = _html_entities()
            parser.UseForeignDTD(True)
            parser.SetParamEntityParsing(expat.XML_PARAM_ENTITY_PARSING_ALWAYS)
            parser.ExternalEntityRefHandler = self.subsets

    def start(self, name: str, attributes: dict[str, str]) -> None:
        if len(self.open) >= DEPTH:
            raise _StopParsing("too-deep")
        self.open.append(name)
        self.to.start(name, attributes)

    def end(self, name: str) -> None:
        self.open.pop()
        self.to.end()

    def doctype(self, name: str, system: str | None, public: str | None, subset: bool) -> None:
        if system is not None:
            self.to.external("DOCTYPE", system)

    def notation(self, name: str, base: str | None, system: str | None, public: str | None) -> None:
        if system is not None:
            self.to.external("NOTATION", system)

    def subsets(self, context: str | None, base: str | None, system: str | None, public: str | None) -> int:
        if context is None and self.subset is not None:
            subset, self.subset = self.subset, None
            inner: Any = self.parser.ExternalEntityParserCreate(context, "utf-8")
            inner.EntityDeclHandler = _ignore
            inner.Parse(subset, True)
        return 1

    def entity(
        self, name: str, parameter: bool, value: str | None, base: str | None, system: str | None,
        public: str | None, notation: str | None,
    ) -> None:  # fmt: skip
        """What all references together can become has a limit, before any of them is read."""
        if value is None:
            if system is not None:
                self.to.external("ENTITY", system)
            return
        key = (bool(parameter), name)
        if key in self.sizes:
            return  # the first declaration counts (4.2)
        if name in self.missing:
            raise _StopParsing("too-large")  # its size was not known when another was measured
        size = len(value)
        for inner in _NESTED.findall(value):
            known = self.sizes.get((False, inner), 0) + self.sizes.get((True, inner), 0)
            if not known:
                self.missing.add(inner)
            size += known
        self.sizes[key] = size
        if size > self.largest[key[0]]:
            self.largest[key[0]] = size
            self.uses = self.uses or (self.document.count("&"), self.document.count("%"))
            if sum(use * most for use, most in zip(self.uses, self.largest, strict=True)) > EXPANSION:
                raise _StopParsing("too-large")


def _ignore(*_: object) -> None:
    """The handler of what is not read: PyPy calls None too."""


class _Subset(_Expat):
    """An external subset, which a document of nothing else refers to."""

    def __init__(self, document: str, to: Receiver) -> None:
        super().__init__(document, to)
        self.subset = document.encode()
        self.reading: Any = self.parser
        self.parser.StartDoctypeDeclHandler = _ignore
        self.parser.SetParamEntityParsing(expat.XML_PARAM_ENTITY_PARSING_ALWAYS)
        self.parser.ExternalEntityRefHandler = self.subsets

    def read(self) -> None:
        # Standalone: what follows a parameter entity that is not declared here is processed all the same (5.1).
        self.parser.Parse(b'<?xml version="1.0" standalone="yes"?><!DOCTYPE x SYSTEM "x"><x/>', True)

    def subsets(self, context: str | None, base: str | None, system: str | None, public: str | None) -> int:
        inner = self.reading.ExternalEntityParserCreate(context, "utf-8")
        subset, self.subset = self.subset, b""
        if subset:
            self.reading = inner
        inner.Parse(subset or b"", True)  # what lies elsewhere is as if it were empty
        return 1


_DECLARATION = re.compile(
    r"<!--(?:[^-]++|-(?!->))*+(?:-->|\Z)"
    r"|<!(?P<kind>ENTITY|NOTATION)\s++(?:%\s++)?+[^\s\"'<>%]++\s++(?:SYSTEM|PUBLIC\s++(?:\"[^\"]*+\"|'[^']*+'))\s++"
    r"(?:\"([^\"]*+)\"|'([^']*+)')"
)


def declarations(text: str, to: Receiver) -> Iterator[Note]:
    """Tell `to` the system identifiers that an external subset declares (XML 1.0 4.2.2, 4.7), and what is the matter.

    Nothing else is read: a parameter entity that lies elsewhere is empty.  Where that, or a mistake, leaves no
    declaration (2.8), the declarations behind it are taken as they stand.
    """
    source = _Subset(text.lstrip("\ufeff"), to)
    octets = source.subset or b""
    try:
        source.read()
    except _StopParsing as stop:
        yield Note(str(stop))
    except expat.ExpatError as error:
        yield Note("too-large" if error.code == _AMPLIFIED else "corrupt")
        for match in _DECLARATION.finditer(octets[source.reading.ErrorByteIndex :].decode("utf-8", "replace")):
            if match["kind"]:
                to.external(match["kind"], match[2] or match[3] or "")


_PIECE = re.compile(
    r"<!--(?:[^-]++|-(?!->))*+(?:-->|\Z)"
    r"|<!\[CDATA\[(?P<data>(?:[^\]]++|\](?!\]>))*+)(?:\]\]>|\Z)"
    r"|<\?(?P<target>[^\s?]++)(?P<instruction>(?:[^?]++|\?(?!>))*+)(?:\?>|\Z)"
    r"|<![^<>]*+>?"
    r"|</(?P<end>[^\s<>/]++)[^<>]*+>?"
    r"|<(?P<start>[^\s<>/!?=\"'&]++)(?P<attributes>(?:[^<>\"']++|\"[^\"<]*+\"|'[^'<]*+'|[\"'])*+)>?"
    r"|(?P<text>[^<]++|<)"
)
_ATTRIBUTE = re.compile(r"(?<=[\s\"'])([^\s=<>\"'/]++)\s*+=\s*+(?:\"([^\"]*+)\"|'([^']*+)'|([^\s\"'<>]++))")
_CHARACTER = re.compile(r"&#?\w{1,32};", re.ASCII)


def unescape(text: str) -> str:
    return _CHARACTER.sub(lambda match: html.unescape(match[0]), text) if "&" in text else text


def _loose(octets: bytes, at: int, to: Receiver, names: list[str]) -> Iterator[Note | None]:
    """From where expat gave up: the token in which the offending octet is begins at "<", or at "&" in text."""
    begins = octets.rfind(b"<", 0, at + 1)
    if begins >= 0:
        tag = _PIECE.match(octets[begins:at].decode("utf-8", "replace"))
        if tag is not None and tag[0].endswith(">"):
            begins = octets.rfind(b"&", begins, at + 1)
    rest = octets[begins if begins >= 0 else at :].decode("utf-8", "replace")
    count = Counter(names)
    for number, match in enumerate(_PIECE.finditer(rest)):
        if number % 4096 == 0:
            yield None
        kind = match.lastgroup
        if kind == "text":
            to.text(unescape(match[0]))
        elif kind == "data":
            to.text(match["data"])
        elif kind == "instruction":
            to.instruction(match["target"], match["instruction"])
        elif kind == "end":
            name = match["end"]
            while count[name]:
                count[names[-1]] -= 1
                to.end()
                if names.pop() == name:
                    break
        elif kind == "attributes":
            if len(names) >= DEPTH:
                yield Note("too-deep")
                return
            name, inside = match["start"], match["attributes"]
            attributes: dict[str, str] = {}
            for attribute in _ATTRIBUTE.finditer(inside):
                attributes.setdefault(attribute[1], unescape(attribute[2] or attribute[3] or attribute[4] or ""))
            to.start(name, attributes)
            if inside.endswith("/"):
                to.end()
            else:
                names.append(name)
                count[name] += 1
