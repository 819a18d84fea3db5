"""References in JSON: strings that are URIs, and members named as references (RFC 8259, RFC 6901).

JSON does not mark references; these strings are read as references:

- a string that is a URI as a whole, without white space: its scheme is followed by `//`, or is a registered scheme;
- any string, relative or not, with one of these names, or in an array with that name: `href`, `url`, `uri`, `iri`,
  `src`, `link`, `homepage`, also as the last word of a name (`avatar_url`, `imageURL`) and in the plural; `@id`,
  `@context`, `$id`, `$ref`, `$schema`.

A blank node identifier (`_:b0`, JSON-LD 1.1 3.4) is not a reference.  `$id` is the base of its object (JSON Schema Core
8.2.1), for the references after it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from itertools import accumulate

from overthere.base import Base
from overthere.ground.caches import bounded_cache
from overthere.links.documents.charset import decode_text, replace_surrogates
from overthere.links.documents.scope import narrow_base
from overthere.links.model import Document, Found, Note, Options, PassedContent
from overthere.schemes.iana import registration
from overthere.schemes.registry import Registry

DEPTH = 512
"""The maximum depth of nested arrays and objects."""
_MAX_POINTER = 1000  # characters of a pointer; the rest is cut

_TOKEN = re.compile(
    r'"(?P<string>(?:[^"\\]++|\\.)*+)(?P<closed>"?)|(?P<mark>[{}\[\],:])|(?P<scalar>[^\s"{}\[\],:]++)', re.DOTALL
)
_SCALAR = re.compile(r"-?(?:0|[1-9][0-9]*+)(?:\.[0-9]++)?(?:[eE][-+]?[0-9]++)?|true|false|null")
_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]{0,63}):(//)?(?=.)")
_REFERENCE_NAME = re.compile(
    r"(?i:(?:.*[_.:-])?(?:href|url|uri|iri|src|link|homepage)s?)"
    r"|.*[a-z0-9](?:Href|Ur[li]|UR[LI]|Iri|IRI|Src|Link|Homepage)s?"
    r"|@id|@context|\$id|\$ref|\$schema",
    re.DOTALL,
)


_STRING = re.compile(r'"(?:[^"\\]++|\\.)*+"?+', re.DOTALL)
_NO_BRACKET = re.compile(r"[^][{}]++")


def has_more_objects(text: str, limit: int) -> bool:
    """Whether a JSON text has more than `limit` objects and arrays; brackets in its strings do not count.

    >>> has_more_objects('{"a": [1]}', 1), has_more_objects('{"[[[[[[": 1}', 1)
    (True, False)
    """
    if text.count("{") + text.count("[") <= limit:
        return False
    without_strings = _STRING.sub("", text)
    return without_strings.count("{") + without_strings.count("[") > limit


def is_deeper(text: str, limit: int) -> bool:
    """Whether arrays and objects of a JSON text are nested more than `limit` deep, whatever Python's stack has left.

    >>> is_deeper('{"a": [1], "b": []}', 2), is_deeper('{"[[[": [1]}', 1)
    (False, True)
    """
    if text.count("{") + text.count("[") <= limit:
        return False
    brackets = _NO_BRACKET.sub("", _STRING.sub("", text))
    return max(accumulate(1 if bracket in "{[" else -1 for bracket in brackets), default=0) > limit


def read(document: Document, options: Options) -> Iterator[Found | Note | PassedContent]:
    """Yield the references of a JSON document; `where` is the JSON Pointer of the string.

    Without `options.json` the document is skipped.
    Several consecutive texts (JSON Lines, RFC 7464) are read, too; from the second one on, the number of the text,
    counted from 0, precedes the pointer.  References before an error or before the end of a truncated text are
    included, and those after an error as far as they can be recognized.
    """
    if not options.json:
        yield PassedContent("json")
        return
    charset = document.charset
    if charset is None and 0 in document.content[:2]:
        charset = "utf-16be" if document.content[:1] == b"\0" else "utf-16le"
    text, is_wrong = decode_text(document.content, charset)
    if is_wrong:
        yield Note("wrong-charset")
    yield from JSONReader(document.base).read(text)


class Container:
    """An open array or object."""

    def __init__(self, is_array: bool, pointer: str, is_reference: bool, base: Base | None) -> None:
        self.is_array = is_array
        self.pointer = pointer
        self.is_reference = is_reference  # whether its strings, or the next one, are references, by name
        self.base = base
        self.index = 0
        self.name = ""


# The states of the reader, named for the tokens that may come next.
_VALUE, _VALUE_OR_END, _NAME, _NAME_OR_END, _COLON, _COMMA_OR_END = range(6)


class JSONReader:
    """Reads JSON token by token; a misplaced token is noted, and handled as well as possible.

    A subclass may select other strings as references: it overrides `begin_container`, `handle_name`, `handle_value` and
    `end_container`.
    """

    def __init__(self, outer: Base) -> None:
        self.outer = outer
        self.open: list[Container] = []
        self.expected: int = _VALUE
        self.text_count: int = 0
        self.is_corrupt: bool = False
        self.is_truncated: bool = False

    def read(self, text: str) -> Iterator[Found | Note]:
        """Yield the references of one or several consecutive JSON texts, and notes on errors."""
        for token in _TOKEN.finditer(text):
            if (reference := self.handle_token(token)) is not None:
                yield reference
            if len(self.open) > DEPTH:
                yield Note("too-deep")
                return
        if self.is_corrupt:
            yield Note("corrupt")
        if self.open or self.is_truncated:
            yield Note("truncated")

    def begin_container(self, container: Container) -> None:
        """Handle the begin of an array or object, now the last of `open`; for subclasses."""

    def handle_name(self, parent: Container, raw: str) -> Found | None:
        """Handle the name of a member of an object; raw: the name with its escapes."""
        parent.is_reference = len(parent.name) <= 100 and _REFERENCE_NAME.fullmatch(parent.name) is not None
        return None

    def handle_value(self, parent: Container | None, text: str) -> Found | None:
        """Handle a string that is a value; return it if it is a reference."""
        base = None if parent is None else parent.base
        if not ((parent is not None and parent.is_reference and text and not text.startswith("_:")) or is_uri(text)):
            return None
        reference = Found(self.pointer(), text, base)
        if parent is not None and parent.name == "$id" and not parent.is_array:
            # It is resolved against the outer base; if the result is too long, the base does not change.
            parent.base = narrow_base(text, base or self.outer, "$id") or base
        return reference

    def end_container(self, container: Container) -> None:
        """Handle the end of an array or object, no longer in `open`; for subclasses."""

    def handle_token(self, token: re.Match[str]) -> Found | None:
        kind = token.lastgroup
        if kind == "closed":
            return self.handle_string_token(token["string"], is_closed=token["closed"] != "")
        if kind == "mark":
            self.handle_mark(token[0])
        else:
            self.expect(_VALUE, _VALUE_OR_END)
            if not _SCALAR.fullmatch(token[0]):
                self.is_corrupt = True
            self.finish_value()
        return None

    def expect(self, *states: int) -> None:
        if self.expected not in states:
            self.is_corrupt = True

    def finish_value(self) -> None:
        """Set the state after a value."""
        self.expected = _COMMA_OR_END
        if not self.open:
            self.expected = _VALUE
            self.text_count += 1

    def handle_mark(self, mark: str) -> None:
        parent = self.open[-1] if self.open else None
        if mark in "{[":
            self.expect(_VALUE, _VALUE_OR_END)
            is_array = mark == "["
            is_reference, base = (False, None) if parent is None else (parent.is_reference and is_array, parent.base)
            self.open.append(Container(is_array, self.pointer(), is_reference, base))
            self.begin_container(self.open[-1])
            self.expected = _VALUE_OR_END if is_array else _NAME_OR_END
        elif mark in "}]":
            self.expect(_COMMA_OR_END, _VALUE_OR_END if mark == "]" else _NAME_OR_END)
            if parent is None or parent.is_array != (mark == "]"):
                self.is_corrupt = True
            else:
                self.end_container(self.open.pop())
                self.finish_value()
        elif mark == ",":
            self.expect(_COMMA_OR_END)
            if parent is not None:
                parent.index += 1
                self.expected = _VALUE if parent.is_array else _NAME
        else:
            self.expect(_COLON)
            self.expected = _VALUE

    def handle_string_token(self, raw: str, is_closed: bool) -> Found | None:
        parent = self.open[-1] if self.open else None
        if not is_closed:
            self.is_truncated = True
            return None
        if parent is not None and not parent.is_array and self.expected not in (_VALUE, _COLON):
            self.expect(_NAME, _NAME_OR_END)
            parent.name = self.unescape(raw[: _MAX_POINTER + 1])
            self.expected = _COLON
            return self.handle_name(parent, raw)
        self.expect(_VALUE, _VALUE_OR_END)
        reference = self.handle_value(parent, self.unescape(raw).strip(" \t\r\n"))
        self.finish_value()
        return reference

    def unescape(self, raw: str) -> str:
        if "\\" not in raw:
            return raw
        try:
            # An unpaired surrogate is not a character (8.2).
            return replace_surrogates(json.loads(f'"{raw}"', strict=False))
        except ValueError:
            self.is_corrupt = self.is_corrupt or len(raw) <= _MAX_POINTER  # a longer name was cut by the caller
            return raw

    def pointer(self) -> str:
        """Return the JSON Pointer of the current value (RFC 6901 3)."""
        if not self.open:
            return f"{self.text_count} " if self.text_count else ""
        parent = self.open[-1]
        if len(parent.pointer) > _MAX_POINTER:
            return parent.pointer
        name = str(parent.index) if parent.is_array else parent.name.replace("~", "~0").replace("/", "~1")
        pointer = f"{parent.pointer}/{name}"
        return pointer if len(pointer) <= _MAX_POINTER else f"{pointer[:_MAX_POINTER]}…"


@bounded_cache(4096)
def is_uri(text: str) -> bool:
    """Whether a text as a whole is a URI: its scheme is followed by `//`, or is registered."""
    match = _SCHEME.match(text)
    if match is None or len(text.split(None, 1)) > 1:
        return False
    return match[2] is not None or _is_registered(match[1].lower())


@bounded_cache(1024)
def _is_registered(scheme: str) -> bool:
    return scheme in Registry.default() or registration(scheme) is not None
