"""The place of a reference in its document: line, column, and bytes."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from typing import NamedTuple

from overthere.broken.scan import Reference, Scan
from overthere.links.documents import css
from overthere.links.documents.charset import MARKS, encoding
from overthere.links.documents.tokens import attribute

_END = frozenset("\t\n\f\r \"'<>)]},")
_END_IN_JSON = _END | {"\\"}
# One pattern, so that a link and an image that are equal have different places.
_BEFORE_TARGET = re.compile(r"(?:\]\([ \t\n]*<?|\{(?:figure|image)\}[ \t]*)\Z")
_BEFORE = {
    "link": _BEFORE_TARGET,
    "image": _BEFORE_TARGET,
    "definition": re.compile(r"\]:[ \t\n]*<?\Z"),
    "autolink": re.compile(r"(?:\A|[^\w])\Z"),
    "uri-list": re.compile(r"(?:\A|\n)[ \t]*\Z"),
}
_ATTRIBUTE = re.compile(r"[=>\[(,\"'][ \t\n]*+\Z")
_VALUE = re.compile(r"=[ \t\n]*+[\"']?[ \t\n]*+\Z")
_WORD = re.compile(r"[^\t\n\f ]+")
"""A word in `srcset`, `ping` and others: commas separate candidates too, and are not part of them (HTML 4.8.4.2.1)."""
_SPACE = "\t\n\f "
_LOOK_BACK = 80
_MAX_SEARCHES = 64
"""Maximum number of searches through a document's text for places that its reader did not record."""
_FAR = 1024
"""Characters to the next known place before: nearer places are not inserted, for that moves all later ones."""


class Place(NamedTuple):
    """A place; unknown fields are None."""

    line: int | None
    column: int | None
    offset: int | None
    length: int | None


class _Value(NamedTuple):
    """The value of an attribute, parsed once for all its references."""

    start: int
    text: str
    placed: dict[str, tuple[int, int]]
    """The first place of each reference of a style sheet, and of each word of a list."""

    @classmethod
    def from_attribute(cls, start: int, text: str) -> _Value:
        placed: dict[str, tuple[int, int]] = {}
        for _, reference, place in css.with_places(text) if "(" in text else ():
            placed.setdefault(reference, place)
        for word in _WORD.finditer(text):
            at = word.end() - len(word[0].lstrip(","))
            bare = word[0].strip(",")
            placed.setdefault(bare, (at, at + len(bare)))
        return cls(start, text, placed)


class Places:
    """Locates the references of a document, in any order."""

    def __init__(self, scan: Scan) -> None:
        self.scan = scan
        self.text: str = scan.text
        self.content: bytes = scan.document.content
        self.searches_left: int = _MAX_SEARCHES * len(self.text) + 4096
        self.next: dict[tuple[str, str], int] = {}
        self.lines: list[int] | None = None
        """The start of each line, once places are requested out of order."""
        self.last: tuple[int, int, int] = (0, 1, 0)
        """The last place, its line, and the start of that line."""
        self.value: tuple[tuple[int, str], _Value | None] | None = None
        """The last parsed value, with the place of its tag and the attribute's name."""
        self.has_returns: bool = b"\r" in self.content
        self.codec: tuple[str, int] | None = ("utf-8", 0) if scan.known_places else _codec(scan)
        self.known_places: list[tuple[int, int]] = scan.known_places or [(0, self.codec[1] if self.codec else 0)]
        """Known places: a number of characters, and the number of bytes that encode them."""

    def locate(self, reference: Reference) -> Place:
        """The place of the reference, or of the attribute's value if the reference cannot be located in it."""
        span = self._span(reference)
        if span is None:
            return Place(None, None, None, None)
        line, column = self._line(span[0])
        start, end = self._octets(span[0]), self._octets(span[1])
        if start is None or end is None:
            return Place(line, column, None, None)
        return Place(line, column, start, end - start)

    def _span(self, reference: Reference) -> tuple[int, int] | None:
        if reference.at < 0:
            return self._find_text(reference)
        if reference.end >= 0:
            return reference.at, reference.end
        name = reference.where.rpartition(" ")[2]
        if reference.where == "meta refresh":
            name = "content"
        elif "(" in name or name.startswith("@"):
            name = "style"
        if self.value is None or self.value[0] != (reference.at, name):
            span = attribute(self.text, reference.at, name)
            text = "" if span is None else self.text[slice(*span)]
            if span is not None and text.strip(_SPACE) == reference.reference:
                at = span[0] + len(text) - len(text.lstrip(_SPACE))
                return at, at + len(reference.reference)
            self.value = (reference.at, name), None if span is None else _Value.from_attribute(span[0], text)
        value = self.value[1]
        return None if value is None else self._piece(reference.reference, value)

    def _piece(self, reference: str, attribute_value: _Value) -> tuple[int, int]:
        """The span of a reference in an attribute's value; the span of the value if it is written differently there."""
        start, value = attribute_value.start, attribute_value.text
        if reference in attribute_value.placed:
            first, last = attribute_value.placed[reference]
            return start + first, start + last
        at = -1
        while self.searches_left > 0 and reference:
            begin = at + 1
            at = value.find(reference, begin)
            self.searches_left -= (at if at >= 0 else len(value)) - begin + _LOOK_BACK
            if at < 0:
                break
            last = at + len(reference)
            if (at == 0 or value[at - 1] in "\t\n\f ,='\"") and (last == len(value) or value[last] in _END):
                return start + at, start + last
        return start, start + len(value)

    def _find_text(self, reference: Reference) -> tuple[int, int] | None:
        """Search for the next occurrence of the reference that has the markup of its kind before it."""
        before = _BEFORE.get(reference.where, _VALUE if reference.where.endswith((" href", " src")) else _ATTRIBUTE)
        if self.scan.kind in ("text", "rst"):
            before = _BEFORE["autolink"]
        ends = _END_IN_JSON if self.scan.kind == "notebook" else _END
        for notation in dict.fromkeys((reference.reference, reference.reference.replace("&", "&amp;"))):
            key = (before.pattern, notation)
            at = self.next.get(key, 0) - 1
            while notation and self.searches_left > 0:
                begin = at + 1
                at = self.text.find(notation, begin)
                self.searches_left -= (at if at >= 0 else len(self.text)) - begin + _LOOK_BACK
                if at < 0:
                    break
                end = at + len(notation)
                if (end == len(self.text) or self.text[end] in ends) and before.search(
                    self.text[max(0, at - _LOOK_BACK) : at]
                ):
                    self.next[key] = end
                    return at, end
        return None

    def _line(self, at: int) -> tuple[int, int]:
        last, line, start = self.last
        if self.lines is None and at >= last:
            start = self.text.rfind("\n", last, at) + 1 or start
            self.last = (at, line := line + self.text.count("\n", last, at), start)
            return line, at - start + 1
        if self.lines is None:
            self.lines = [0, *(line_end.end() for line_end in re.finditer("\n", self.text))]
        line = bisect_right(self.lines, at)
        return line, at - self.lines[line - 1] + 1

    def _octets(self, at: int) -> int | None:
        """The number of bytes before a character; None unless encoding the text gives the bytes of the document."""
        if self.codec is None:
            return None
        after = bisect_right(self.known_places, (at, len(self.content))) - 1
        characters, octets = self.known_places[after]
        codec = self.codec[0]
        try:
            encoded = self.text[characters:at].encode(codec)
        except UnicodeError:
            return None
        if self.has_returns:
            encoded = self._with_returns(octets, encoded, codec)
        if not self.content.startswith(encoded, octets):
            return None
        octets += len(encoded)
        if at - characters > _FAR or (at > characters and after + 1 == len(self.known_places)):
            self.known_places.insert(after + 1, (at, octets))
        return octets

    def _with_returns(self, octets: int, encoded: bytes, codec: str) -> bytes:
        """The encoded text with the line ends of the document."""
        ends = [end.encode(codec) for end in ("\r\n", "\r", "\n")]
        pieces: list[bytes] = []
        at = octets
        for number, piece in enumerate(encoded.split(ends[2])):
            if number:
                line_end = next((end for end in ends if self.content.startswith(end, at)), ends[2])
                pieces.append(line_end)
                at += len(line_end)
            pieces.append(piece)
            at += len(piece)
        return b"".join(pieces)


def _codec(scan: Scan) -> tuple[str, int] | None:
    """The codec that decodes the document's bytes to its text, and the length of its byte order mark; or None."""
    content = scan.document.content
    mark = next((mark for mark, _ in MARKS if content.startswith(mark)), b"")
    for name in _encodings(content, mark, scan.document.charset):
        codec = name.replace("windows-", "cp")
        try:
            text = content[len(mark) :].decode(codec)
        except (UnicodeError, LookupError):
            continue
        if text.replace("\r\n", "\n").replace("\r", "\n") == scan.text:
            return codec, len(mark)
    return None


_LABEL = re.compile(rb"(?:(?:charset|encoding)\s*+=|@charset)\s*+[\"']?+\s*+([\w:.-]{1,40})", re.IGNORECASE)


def _encodings(content: bytes, mark: bytes, charset: str | None) -> Iterator[str]:
    """Yield the possible encodings of a document, the likely ones first."""
    yield from (name for start, name in MARKS if start == mark and mark)
    labels = (match[1].decode("ascii", "replace") for match in _LABEL.finditer(content[:4096]))
    yield from filter(None, (charset and encoding(charset), "utf-8"))
    yield from filter(None, map(encoding, labels))
    yield from ("windows-1252", "utf-16-le", "utf-16-be")
