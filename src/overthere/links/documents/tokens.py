"""Tags and style sheets of an HTML document, according to the HTML Standard's tokenizer (13.2.5).

Each regular expression implements one state of the tokenizer, or several consecutive states.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from enum import Enum
from html import unescape
from html.entities import html5
from typing import NamedTuple

from overthere.links.documents.tree import Namespace, Tree


class Start(NamedTuple):
    """A start tag."""

    name: str
    attributes: dict[str, str]
    namespace: Namespace
    is_base: bool
    """Whether it is the `base` element that counts: the first HTML one with an href in the document's tree (HTML
    4.2.3).  Contents of templates are not in the tree (4.12.3); with a frameset, only frames are (13.2.6.4.7)."""
    at: int
    """The offset of its attributes in the text with LF line ends."""
    is_inert: bool
    """Whether it is in a `template`, which no browser shows (4.12.3), and the document has no shadow roots."""


class Sheet(NamedTuple):
    """The text of a `style` element, of HTML or SVG."""

    text: str
    at: int
    """The offset of the text."""


class Metadata(Enum):
    """A fact about a document as a whole; the value is the kind of a note, or ""."""

    NO_BASE = ""
    """A frameset has replaced the body, which contained the base that counted: now no base counts."""
    TOO_DEEP = "too-deep"
    """At the end: elements of SVG or MathML, or a template, were nested too deep to be tracked (`tree.DEPTH`)."""
    UNCLOSED = "unclosed"
    """At the end: a comment, a CDATA section, a tag, or an element that contains only text is not closed."""


class Script(NamedTuple):
    """The text of an HTML script that has a `type`; it follows the start tag."""

    text: str


# 13.2.5.1, 13.2.5.6: data, tag open, markup declaration open.
_MARKUP = re.compile(r"<(?:(?P<end>/)?(?P<tag>[A-Za-z][^\t\n\f />]*+)|(?P<comment>!--)|(?P<data>!\[CDATA\[)|[!?/])")
# 13.2.5.32 to 13.2.5.39.
_ATTRIBUTE = re.compile(
    r"[\t\n\f /]*+([^\t\n\f />][^\t\n\f />=]*+)"
    r"(?:[\t\n\f ]*+=[\t\n\f ]*+(?:\"([^\"]*+)\"|'([^']*+)'|([^\t\n\f >\"'][^\t\n\f >]*+)|(?=>)))?+"
)
_TAG_END = re.compile(r"[\t\n\f /]*+>")
_UNCLOSED_VALUE = re.compile(r"[\t\n\f ]*+=[\t\n\f ]*+(?:[\"']|\Z)")
# 13.2.5.43 to 13.2.5.52.
_COMMENT_END = re.compile(r"(?<=<!--)-?>|--!?>")
# 13.2.5.15 to 13.2.5.31.
_SCRIPT_MARK = re.compile(r"<!--|-->|<(/?)script(?=[\t\n\f />])", re.IGNORECASE | re.ASCII)
# 13.2.6: elements for which tree construction, without scripting, switches the tokenizer to text.
_RAW_TEXT_ENDS = {
    name: re.compile(rf"</{name}(?=[\t\n\f />])", re.IGNORECASE | re.ASCII)
    for name in ("title", "textarea", "style", "iframe", "xmp", "noembed", "noframes")
}


def tokens(text: str) -> Iterator[Start | Sheet | Script | Metadata]:
    """Yield the start tags that have attributes, style sheets and typed scripts in order; facts once they are known."""
    text = text.replace("\r\n", "\n").replace("\r", "\n")  # 13.2.3.5
    tree = Tree()
    has_shadow_roots = "shadowrootmode" in text
    svg_sheet: list[str] | None = None  # the pieces of an open style sheet in SVG
    is_unclosed = False
    at = sheet_start = 0
    while markup := _MARKUP.search(text, at):
        tree.handle_text(text, at, markup.start())
        if svg_sheet is not None:
            svg_sheet.append(_decode_text(text[at : markup.start()]))
        if not markup["tag"]:
            cdata, at, is_unclosed = _read_non_tag(text, markup, tree.is_foreign)
            if svg_sheet is not None:
                svg_sheet.append(cdata)
            continue
        after_name = markup.end()
        attributes, closing, at = _read_tag(text, after_name)
        if not closing:
            is_unclosed = True
            break
        if svg_sheet is not None:
            yield Sheet("".join(svg_sheet), sheet_start)
            svg_sheet = None
        name = _to_lower(markup["tag"])
        if markup["end"]:
            tree.end(name)
            continue
        is_inert = tree.templates > 0 and not has_shadow_roots
        namespace = tree.start(name, attributes, closing == "/>")
        if attributes:
            yield Start(name, attributes, namespace, tree.is_base(name, namespace, attributes), after_name, is_inert)
        if tree.loses_base():
            yield Metadata.NO_BASE
        if namespace is not Namespace.HTML:
            svg_sheet = [] if name == "style" and namespace is Namespace.SVG and closing != "/>" else None
            sheet_start = at
            continue
        content_start, (at, is_unclosed) = at, _find_content_end(text, at, name)
        if name == "script" and "type" in attributes:
            yield Script(text[content_start:at].replace("\0", "\ufffd"))
        if name == "style":
            yield Sheet(text[content_start:at].replace("\0", "\ufffd"), content_start)
    if svg_sheet is not None:
        yield Sheet("".join(svg_sheet) + (_decode_text(text[at:]) if markup is None else ""), sheet_start)
    final_facts = ((Metadata.TOO_DEEP, tree.is_lossy), (Metadata.UNCLOSED, is_unclosed))
    yield from (fact for fact, applies in final_facts if applies)


def _read_non_tag(text: str, markup: re.Match[str], is_foreign: bool) -> tuple[str, int, bool]:
    """Read markup that is not a tag: return its text if it is a CDATA section, its end, and whether it is unclosed.

    A DOCTYPE and a bogus comment (13.2.5.41, 13.2.5.53) end at the next ">", so they contain no tag.
    """
    at = markup.end()
    if markup["comment"]:
        close = _COMMENT_END.search(text, at)
        return "", close.end() if close else len(text), close is None
    if markup["data"] and is_foreign:
        end = text.find("]]>", at)
        return (text[at:], len(text), True) if end < 0 else (text[at:end], end + 3, False)
    return "", (text.find(">", markup.start() + 2) + 1) or len(text), False


def _find_content_end(text: str, at: int, name: str) -> tuple[int, bool]:
    """Return the end of the text that an HTML element contains instead of markup, and whether its end tag is missing.

    Most elements contain markup: for them the end is `at`.
    """
    if name == "script":
        at = _find_script_end(text, at)
        return at, at == len(text)
    if name in _RAW_TEXT_ENDS:
        close = _RAW_TEXT_ENDS[name].search(text, at)
        return (close.start(), False) if close else (len(text), True)
    return len(text) if name == "plaintext" else at, False


def _read_tag(text: str, at: int) -> tuple[dict[str, str], str, int]:
    """Return the attributes of a tag, its "/>" or ">" (or "" if it has no end and so is not a tag), and its end."""
    if text.startswith(">", at):  # as in most tags
        return {}, ">", at + 1
    attributes: dict[str, str] = {}
    while match := _ATTRIBUTE.match(text, at):
        at = match.end()
        name = _to_lower(match[1])
        if name not in attributes:  # the first of equal names counts
            value = match[2] or match[3] or match[4] or ""
            attributes[name] = _decode_attribute(value) if "&" in value or "\0" in value else value
        if match.lastindex == 1 and _UNCLOSED_VALUE.match(text, at):
            return {}, "", len(text)
    close = _TAG_END.match(text, at)
    return (attributes, "", len(text)) if close is None else (attributes, close[0][-2:].lstrip("\t\n\f "), close.end())


def tag(text: str, at: int) -> tuple[str, dict[str, str], int, int] | None:
    """Return a start tag by the offset of its name: name, attributes, their offset, the tag's end; None for no tag.

    >>> tag("<A HREF='y'>", 1)
    ('a', {'href': 'y'}, 2, 12)
    """
    markup = _MARKUP.match(text, at - 1)
    if markup is None or not markup["tag"] or markup["end"]:
        return None
    attributes, closing, end = _read_tag(text, markup.end())
    return (_to_lower(markup["tag"]), attributes, markup.end(), end) if closing else None


def raw_text(text: str, name: str, at: int) -> Sheet:
    """Return the text of an element that contains no markup, such as `style`; `at` is the offset of the text."""
    return Sheet(text[at : _find_content_end(text, at, name)[0]].replace("\0", "\ufffd"), at)


def attribute(text: str, at: int, name: str) -> tuple[int, int] | None:
    """Return the span of an attribute's value without quotes, or None; `at` is the offset of the tag's attributes.

    >>> attribute("<a x href='y'>", 2, "href")
    (11, 12)
    """
    while match := _ATTRIBUTE.match(text, at):
        at = match.end()
        if _to_lower(match[1]) == name:
            return None if match.lastindex is None or match.lastindex < 2 else match.span(match.lastindex)
    return None


def _find_script_end(text: str, at: int) -> int:
    """Return the offset of a script's end tag; `<!-- <script>` hides one."""
    depth = 0  # 0 script data, 1 escaped, 2 double escaped
    while match := _SCRIPT_MARK.search(text, at):
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


_LOWER_TABLE = {code: code + 32 for code in range(ord("A"), ord("Z") + 1)} | {0: "\ufffd"}


def _to_lower(name: str) -> str:
    """Lower-case only ASCII letters, and replace NUL (13.2.5.8)."""
    return name.translate(_LOWER_TABLE) if not name.isascii() or "\0" in name else name.lower()


# 13.2.5.72 to 13.2.5.80.
_CHARACTER_REFERENCE = re.compile(r"&(?:#[xX]([0-9A-Fa-f]++);?|#([0-9]++);?|([A-Za-z][A-Za-z0-9]*+)(;|(?==))?)")


def _decode_attribute(value: str) -> str:
    return _CHARACTER_REFERENCE.sub(_decode_attribute_reference, value.replace("\0", "\ufffd"))


def _decode_attribute_reference(match: re.Match[str]) -> str:
    """Decode a reference; one without ";" is kept if a letter, a digit or "=" follows its name (13.2.5.73)."""
    if match[3] is None:
        return _decode_number(match)
    name, suffix = match[3], match[4]
    return match[0] if suffix == "" else html5.get(name + (suffix or ""), match[0])


def _decode_text(text: str) -> str:
    if "&" not in text:
        return text
    return _CHARACTER_REFERENCE.sub(lambda match: unescape(match[0]) if match[3] else _decode_number(match), text)


def _decode_number(match: re.Match[str]) -> str:
    """Decode a numeric character reference (13.2.5.80)."""
    digits = (match[1] or match[2]).lstrip("0")
    code = int(digits or "0", 16 if match[1] else 10) if len(digits) < 8 else 0
    if 0x80 <= code < 0xA0:
        try:
            return bytes((code,)).decode("cp1252")
        except UnicodeDecodeError:
            return chr(code)
    return chr(code) if 0 < code < 0xD800 or 0xDFFF < code < 0x110000 else "\ufffd"
