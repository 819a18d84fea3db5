"""References in JSON: strings that are URIs, and members named as references (RFC 8259, RFC 6901).

JSON does not say which of its strings are references; these are taken:

- one that is a URI as a whole, without white space: its scheme is followed by `//`, or is a registered scheme;
- every one, relative or not, whose name says so: `href`, `url`, `uri`, `iri`, `src`, `link`, `homepage`, also as the
  last word of a name (`avatar_url`, `imageURL`) and in the plural, `@id`, `@context`, `$id`, `$ref`, `$schema`; or
  which stands in an array of such a name.

A blank node identifier (`_:b0`, JSON-LD 1.1 3.4) is none.  `$id` is the base of its object (JSON Schema Core 8.2.1),
for what follows it there.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

from overthere.base import Base
from overthere.ground.caches import bounded_cache
from overthere.links.documents.charset import decode_text
from overthere.links.documents.scope import narrow_base
from overthere.links.model import Document, Found, Note, Options, PassedContent
from overthere.schemes.iana import registration
from overthere.schemes.registry import Registry

__all__ = ["DEPTH", "Open", "JSONReader", "has_more_objects", "is_uri", "read"]

DEPTH = 512
"""Arrays and objects in one another."""
_POINTER = 1000  # characters of a pointer that are shown

_TOKEN = re.compile(
    r'"(?P<string>(?:[^"\\]++|\\.)*+)(?P<closed>"?)|(?P<mark>[{}\[\],:])|(?P<scalar>[^\s"{}\[\],:]++)', re.DOTALL
)
_SCALAR = re.compile(r"-?(?:0|[1-9][0-9]*+)(?:\.[0-9]++)?(?:[eE][-+]?[0-9]++)?|true|false|null")
_SURROGATE = re.compile("[\ud800-\udfff]")  # one that is alone is no character (8.2)
_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]{0,63}):(//)?(?=.)")
_SAYING = re.compile(
    r"(?i:(?:.*[_.:-])?(?:href|url|uri|iri|src|link|homepage)s?)"
    r"|.*[a-z0-9](?:Href|Ur[li]|UR[LI]|Iri|IRI|Src|Link|Homepage)s?"
    r"|@id|@context|\$id|\$ref|\$schema",
    re.DOTALL,
)


_STRING = re.compile(r'"(?:[^"\\]++|\\.)*+"?+', re.DOTALL)


def has_more_objects(text: str, most: int) -> bool:
    """Whether a JSON text has more than `most` objects and arrays; brackets in its strings do not count.

    >>> has_more_objects('{"a": [1]}', 1), has_more_objects('{"[[[[[[": 1}', 1)
    (True, False)
    """
    if text.count("{") + text.count("[") <= most:
        return False
    bare = _STRING.sub("", text)
    return bare.count("{") + bare.count("[") > most


def read(document: Document, options: Options) -> Iterator[Found | Note | PassedContent]:
    """The references of a JSON document; `where` is the JSON Pointer of the string.

    Unless `options.json` asks for them, the document is passed over.
    Several texts after one another (JSON Lines, RFC 7464) are read, too; from the second one on, the number of the
    text, counted from 0, stands before the pointer.  What precedes an error or the end of a text that is cut off is
    given, and what follows an error as far as it can be told.
    """
    if not options.json:
        yield PassedContent("json")
        return
    told = document.charset
    if told is None and 0 in document.content[:2]:
        told = "utf-16be" if document.content[:1] == b"\0" else "utf-16le"
    text, wrong = decode_text(document.content, told)
    if wrong:
        yield Note("wrong-charset")
    yield from JSONReader(document.base).read(text)


class Open:
    """An array or an object that has begun."""

    def __init__(self, array: bool, pointer: str, says: bool, base: Base | None) -> None:
        self.array = array
        self.pointer = pointer
        self.says = says  # whether its strings, or the one that comes, are references
        self.base = base
        self.index = 0
        self.name = ""


# What may come next.
_VALUE, _VALUE_OR_END, _NAME, _NAME_OR_END, _COLON, _COMMA_OR_END = range(6)


class JSONReader:
    """Takes token by token; what does not fit where it stands is noted, and taken as well as it goes.

    A subclass may decide otherwise which strings are references: it overrides `begin_container`, `take_name`,
    `reference` and `end_container`.
    """

    def __init__(self, outer: Base) -> None:
        self.outer = outer
        self.open: list[Open] = []
        self.next: int = _VALUE
        self.texts: int = 0
        self.flawed: bool = False
        self.cut: bool = False

    def read(self, text: str) -> Iterator[Found | Note]:
        """The references of a text of JSON, or of several, and what is the matter with it."""
        for token in _TOKEN.finditer(text):
            if (reference := self.take(token)) is not None:
                yield reference
            if len(self.open) > DEPTH:
                yield Note("too-deep")
                return
        if self.flawed:
            yield Note("corrupt")
        if self.open or self.cut:
            yield Note("truncated")

    def begin_container(self, new: Open) -> None:
        """An array or an object begins, which is the last of `open`."""

    def take_name(self, inner: Open, raw: str) -> Found | None:
        """A name stands in an object, written so; its value comes."""
        inner.says = len(inner.name) <= 100 and _SAYING.fullmatch(inner.name) is not None
        return None

    def reference(self, inner: Open | None, text: str) -> Found | None:
        """A string that is a value."""
        base = None if inner is None else inner.base
        if not ((inner is not None and inner.says and text and not text.startswith("_:")) or is_uri(text)):
            return None
        made = Found(self.pointer(), text, base)
        if inner is not None and inner.name == "$id" and not inner.array:
            # Against the base around the object; one that would be too long changes nothing.
            inner.base = narrow_base(text, base or self.outer, "$id") or base
        return made

    def end_container(self, last: Open) -> None:
        """An array or an object has ended."""

    def take(self, token: re.Match[str]) -> Found | None:
        kind = token.lastgroup
        if kind == "closed":
            return self.string(token["string"], closed=token["closed"] != "")
        if kind == "mark":
            self.take_mark(token[0])
        else:
            self.expect(_VALUE, _VALUE_OR_END)
            if not _SCALAR.fullmatch(token[0]):
                self.flawed = True
            self.end_value()
        return None

    def expect(self, *states: int) -> None:
        if self.next not in states:
            self.flawed = True

    def end_value(self) -> None:
        """A value has ended."""
        self.next = _COMMA_OR_END
        if not self.open:
            self.next = _VALUE
            self.texts += 1

    def take_mark(self, mark: str) -> None:
        inner = self.open[-1] if self.open else None
        if mark in "{[":
            self.expect(_VALUE, _VALUE_OR_END)
            array = mark == "["
            says, base = (False, None) if inner is None else (inner.says and array, inner.base)
            self.open.append(Open(array, self.pointer(), says, base))
            self.begin_container(self.open[-1])
            self.next = _VALUE_OR_END if array else _NAME_OR_END
        elif mark in "}]":
            self.expect(_COMMA_OR_END, _VALUE_OR_END if mark == "]" else _NAME_OR_END)
            if inner is None or inner.array != (mark == "]"):
                self.flawed = True
            else:
                self.end_container(self.open.pop())
                self.end_value()
        elif mark == ",":
            self.expect(_COMMA_OR_END)
            if inner is not None:
                inner.index += 1
                self.next = _VALUE if inner.array else _NAME
        else:
            self.expect(_COLON)
            self.next = _VALUE

    def string(self, raw: str, closed: bool) -> Found | None:
        inner = self.open[-1] if self.open else None
        if not closed:
            self.cut = True
            return None
        if inner is not None and not inner.array and self.next not in (_VALUE, _COLON):
            self.expect(_NAME, _NAME_OR_END)
            inner.name = self.characters(raw[: _POINTER + 1])
            self.next = _COLON
            return self.take_name(inner, raw)
        self.expect(_VALUE, _VALUE_OR_END)
        reference = self.reference(inner, self.characters(raw).strip(" \t\r\n"))
        self.end_value()
        return reference

    def characters(self, raw: str) -> str:
        if "\\" not in raw:
            return raw
        try:
            return _SURROGATE.sub("\ufffd", json.loads(f'"{raw}"', strict=False))
        except ValueError:
            self.flawed = self.flawed or len(raw) <= _POINTER  # else a name that was cut here
            return raw

    def pointer(self) -> str:
        """The JSON Pointer of the value that comes or has come (RFC 6901 3)."""
        if not self.open:
            return f"{self.texts} " if self.texts else ""
        inner = self.open[-1]
        if len(inner.pointer) > _POINTER:
            return inner.pointer
        name = str(inner.index) if inner.array else inner.name.replace("~", "~0").replace("/", "~1")
        pointer = f"{inner.pointer}/{name}"
        return pointer if len(pointer) <= _POINTER else f"{pointer[:_POINTER]}…"


@bounded_cache(4096)
def is_uri(text: str) -> bool:
    """Whether a text is a URI as a whole: its scheme is followed by `//`, or is a registered one."""
    match = _SCHEME.match(text)
    if match is None or len(text.split(None, 1)) > 1:
        return False
    return match[2] is not None or _is_registered(match[1].lower())


@bounded_cache(1024)
def _is_registered(scheme: str) -> bool:
    return scheme in Registry.default() or registration(scheme) is not None
