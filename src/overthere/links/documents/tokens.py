"""Tags and style sheets of an HTML document, by the HTML Standard's tokenizer (13.2.5).

Each expression is a state of it, or some in a row.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from enum import Enum
from html import unescape
from html.entities import html5
from typing import NamedTuple

from overthere.links.documents.tree import Namespace, Tree

__all__ = ["Script", "Sheet", "Start", "Metadata", "attribute", "tag", "tokens"]


class Start(NamedTuple):
    """A start tag."""

    name: str
    attributes: dict[str, str]
    namespace: Namespace
    is_base: bool
    """It is the `base` element that counts: the first of HTML with an href in the document's tree (HTML 4.2.3), which
    has no contents of templates (4.12.3), and nothing but frames where there is a frameset (13.2.6.4.7)."""
    at: int
    """Where its attributes begin in the text, whose line ends are LF."""
    is_inert: bool
    """It is in the contents of a `template`, which no browser shows (4.12.3), unless the document has shadow roots."""


class Sheet(NamedTuple):
    """The text of a `style` element, of HTML or SVG."""

    text: str
    at: int
    """Where it begins."""


class Metadata(Enum):
    """What is told of a document; the value is a note on it, or ""."""

    NO_BASE = ""
    """The base that counted stood in a body that a frameset took the place of: none counts."""
    TOO_DEEP = "too-deep"
    """At the end: elements of SVG or MathML, or a template, lay too deep to be followed (`tree.DEPTH`)."""
    UNCLOSED = "unclosed"
    """At the end: it stands within a comment, a CDATA section, a tag, or an element whose text is no markup."""


class Script(NamedTuple):
    """The text of the script of HTML whose start tag came before, if that says a type."""

    text: str


# 13.2.5.1, 13.2.5.6: data, tag open, markup declaration open.
_MARKUP = re.compile(r"<(?:(?P<end>/)?(?P<tag>[A-Za-z][^\t\n\f />]*+)|(?P<comment>!--)|(?P<data>!\[CDATA\[)|[!?/])")
# 13.2.5.32 to 13.2.5.39.
_ATTRIBUTE = re.compile(
    r"[\t\n\f /]*+([^\t\n\f />][^\t\n\f />=]*+)"
    r"(?:[\t\n\f ]*+=[\t\n\f ]*+(?:\"([^\"]*+)\"|'([^']*+)'|([^\t\n\f >\"'][^\t\n\f >]*+)|(?=>)))?+"
)
_CLOSE = re.compile(r"[\t\n\f /]*+>")
_UNCLOSED = re.compile(r"[\t\n\f ]*+=[\t\n\f ]*+(?:[\"']|\Z)")
# 13.2.5.43 to 13.2.5.52.
_COMMENT_END = re.compile(r"(?<=<!--)-?>|--!?>")
# 13.2.5.15 to 13.2.5.31.
_SCRIPT = re.compile(r"<!--|-->|<(/?)script(?=[\t\n\f />])", re.IGNORECASE | re.ASCII)
# 13.2.6: what the tree's construction would switch the tokenizer to, without scripting.
_RAW = {
    name: re.compile(rf"</{name}(?=[\t\n\f />])", re.IGNORECASE | re.ASCII)
    for name in ("title", "textarea", "style", "iframe", "xmp", "noembed", "noframes")
}


def tokens(text: str) -> Iterator[Start | Sheet | Script | Metadata]:
    """The start tags, style sheets and typed scripts of a document, in its order."""
    text = text.replace("\r\n", "\n").replace("\r", "\n")  # 13.2.3.5
    tree = Tree()
    has_shadow_roots = "shadowrootmode" in text
    pieces: list[str] | None = None  # of a sheet in SVG
    is_unclosed = False
    at = sheet = 0
    while markup := _MARKUP.search(text, at):
        tree.characters(text, at, markup.start())
        if pieces is not None:
            pieces.append(_characters(text[at : markup.start()]))
        if not markup["tag"]:
            data, at, is_unclosed = _no_tag(text, markup, tree.is_foreign)
            if pieces is not None:
                pieces.append(data)
            continue
        tag = markup.end()
        attributes, closing, at = _tag(text, tag)
        if not closing:
            is_unclosed = True
            break
        if pieces is not None:
            yield Sheet("".join(pieces), sheet)
            pieces = None
        name = _lower(markup["tag"])
        if markup["end"]:
            tree.end(name)
            continue
        is_inert = tree.templates > 0 and not has_shadow_roots
        namespace = tree.start(name, attributes, closing == "/>")
        if attributes:
            yield Start(name, attributes, namespace, tree.is_base(name, namespace, attributes), tag, is_inert)
        if tree.loses_base():
            yield Metadata.NO_BASE
        if namespace is not Namespace.HTML:
            pieces = [] if name == "style" and namespace is Namespace.SVG and closing != "/>" else None
            sheet = at
            continue
        begins, (at, is_unclosed) = at, _content_end(text, at, name)
        if name == "script" and "type" in attributes:
            yield Script(text[begins:at].replace("\0", "\ufffd"))
        if name == "style":
            yield Sheet(text[begins:at].replace("\0", "\ufffd"), begins)
    if pieces is not None:
        yield Sheet("".join(pieces) + (_characters(text[at:]) if markup is None else ""), sheet)
    at_end = ((Metadata.TOO_DEEP, tree.is_lossy), (Metadata.UNCLOSED, is_unclosed))
    yield from (told for told, is_so in at_end if is_so)


def _no_tag(text: str, markup: re.Match[str], is_foreign: bool) -> tuple[str, int, bool]:
    """Of what is no tag: its characters, if it is a CDATA section, where it ends, and whether the document does within.

    A DOCTYPE and what is taken for a comment (13.2.5.41, 13.2.5.53) end at the next ">", so that no tag is in them.
    """
    at = markup.end()
    if markup["comment"]:
        close = _COMMENT_END.search(text, at)
        return "", close.end() if close else len(text), close is None
    if markup["data"] and is_foreign:
        end = text.find("]]>", at)
        return (text[at:], len(text), True) if end < 0 else (text[at:end], end + 3, False)
    return "", (text.find(">", markup.start() + 2) + 1) or len(text), False


def _content_end(text: str, at: int, name: str) -> tuple[int, bool]:
    """Where the content ends in which an element of HTML holds no markup, and whether the document does before.

    Most elements hold some: their content ends at once.
    """
    if name == "script":
        at = _script_end(text, at)
        return at, at == len(text)
    if name in _RAW:
        close = _RAW[name].search(text, at)
        return (close.start(), False) if close else (len(text), True)
    return len(text) if name == "plaintext" else at, False


def _tag(text: str, at: int) -> tuple[dict[str, str], str, int]:
    """The attributes of a tag, "/>" or ">" (or "": it does not end, and is none), and where it ends."""
    if text.startswith(">", at):  # as in most tags
        return {}, ">", at + 1
    attributes: dict[str, str] = {}
    while match := _ATTRIBUTE.match(text, at):
        at = match.end()
        name = _lower(match[1])
        if name not in attributes:  # of an attribute that stands twice the first counts
            value = match[2] or match[3] or match[4] or ""
            attributes[name] = _in_attribute(value) if "&" in value or "\0" in value else value
        if match.lastindex == 1 and _UNCLOSED.match(text, at):
            return {}, "", len(text)
    close = _CLOSE.match(text, at)
    return (attributes, "", len(text)) if close is None else (attributes, close[0][-2:].lstrip("\t\n\f "), close.end())


def tag(text: str, at: int) -> tuple[str, dict[str, str], int, int] | None:
    """The start tag whose name begins there: its name, its attributes, where they begin, and where the tag ends.

    >>> tag("<A HREF='y'>", 1)
    ('a', {'href': 'y'}, 2, 12)
    """
    found = _MARKUP.match(text, at - 1)
    if found is None or not found["tag"] or found["end"]:
        return None
    attributes, closing, end = _tag(text, found.end())
    return (_lower(found["tag"]), attributes, found.end(), end) if closing else None


def raw_text(text: str, name: str, at: int) -> Sheet:
    """The text of an element without markup, such as `style`, which begins there."""
    return Sheet(text[at : _content_end(text, at, name)[0]].replace("\0", "\ufffd"), at)


def attribute(text: str, at: int, name: str) -> tuple[int, int] | None:
    """Where the value of an attribute stands in a tag whose attributes begin there, between its quotes.

    >>> attribute("<a x href='y'>", 2, "href")
    (11, 12)
    """
    while found := _ATTRIBUTE.match(text, at):
        at = found.end()
        if _lower(found[1]) == name:
            return None if found.lastindex is None or found.lastindex < 2 else found.span(found.lastindex)
    return None


def _script_end(text: str, at: int) -> int:
    """Where the end tag of a script begins: `<!-- <script>` hides one."""
    depth = 0  # 0 script data, 1 escaped, 2 double escaped
    while match := _SCRIPT.search(text, at):
        at = match.end()
        if match[0] == "<!--":
            depth = depth or 1
            at -= 2  # "<!-->" is a whole comment
        elif match[0] == "-->":
            depth = 0
        elif not match[1]:
            depth = 2 if depth else 0
        elif depth == 2:
            depth = 1
        else:
            return match.start()
    return len(text)


_UPPER = {code: code + 32 for code in range(ord("A"), ord("Z") + 1)} | {0: "\ufffd"}


def _lower(name: str) -> str:
    """ASCII letters only (13.2.5.8)."""
    return name.translate(_UPPER) if not name.isascii() or "\0" in name else name.lower()


# 13.2.5.72 to 13.2.5.80.
_REFERENCE = re.compile(r"&(?:#[xX]([0-9A-Fa-f]++);?|#([0-9]++);?|([A-Za-z][A-Za-z0-9]*+)(;|(?==))?)")


def _in_attribute(value: str) -> str:
    return _REFERENCE.sub(_attribute_reference, value.replace("\0", "\ufffd"))


def _attribute_reference(match: re.Match[str]) -> str:
    """A name without ";" is one unless a letter, a digit or "=" follows (13.2.5.73)."""
    if match[3] is None:
        return _number(match)
    name, next_ = match[3], match[4]
    return match[0] if next_ == "" else html5.get(name + (next_ or ""), match[0])


def _characters(text: str) -> str:
    if "&" not in text:
        return text
    return _REFERENCE.sub(lambda match: unescape(match[0]) if match[3] else _number(match), text)


def _number(match: re.Match[str]) -> str:
    """13.2.5.80"""
    digits = (match[1] or match[2]).lstrip("0")
    code = int(digits or "0", 16 if match[1] else 10) if len(digits) < 8 else 0
    if 0x80 <= code < 0xA0:
        try:
            return bytes((code,)).decode("cp1252")
        except UnicodeDecodeError:
            return chr(code)
    return chr(code) if 0 < code < 0xD800 or 0xDFFF < code < 0x110000 else "\ufffd"
