"""Fragments that a document has: ids and names, Markdown headings by a rule; and what is not an anchor."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import cache
from itertools import chain
from typing import TYPE_CHECKING
from unicodedata import category
from urllib.parse import unquote

from overthere.ground.unicode_forms import normalize_unicode
from overthere.links.documents import html
from overthere.links.documents.markdown import pieces
from overthere.links.documents.xml.events import characters, events
from overthere.links.model import UNREAD, Document

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

__all__ = ["is_top", "markdown", "names", "reason", "slug", "xml"]

_MEDIA = (
    "png", "jpg", "jpeg", "gif", "webp", "avif", "bmp", "ico", "mp4", "webm", "mov", "mkv", "avi", "mp3", "ogg",
    "oga", "ogv", "wav", "flac", "m4a", "opus",
)  # fmt: skip
_POINTER = re.compile(r"(?:xpointer|element|xmlns)\(|/[0-9]")
_SCRIPT = re.compile(r"[!/]")
_RANGE = re.compile(r"(L?[0-9]+)-L?[0-9]+")
_LINES = re.compile(r"L[0-9]+(?:C[0-9]+)?(?:-L?[0-9]+(?:C[0-9]+)?)?")


def is_top(fragment: str) -> bool:
    """Whether it is the top of any HTML document (HTML 7.4.6.4): the empty one, and "top" in either case.

    >>> is_top(""), is_top("TOP"), is_top("a")
    (True, True, False)
    """
    return fragment.lower() in ("", "top")


def names(fragment: str) -> tuple[str, ...]:
    """What an anchor may be called that a fragment names: as it stands, and percent-decoded (HTML 7.4.6.4).

    A range of lines, as pages of source code have them, is where its first line is.

    >>> names("a%20b"), names("L10-L20")
    (('a%20b', 'a b'), ('L10-L20', 'L10'))
    """
    if found := _RANGE.fullmatch(fragment):
        return fragment, found[1]
    return (fragment, unquote(fragment)) if "%" in fragment else (fragment,)


def reason(fragment: str, path: str, kind: str) -> str | None:
    """Why a fragment that is no anchor is not judged (`model.PASSED`); None if it should be one.

    path: of the target, by whose suffix media are known.
    kind: of the target, as its reader is called; "" if it has none.

    >>> reason("t=10", "/a.mp4", ""), reason(":~:text=x", "/a.html", "html"), reason("x", "/a.html", "html")
    ('media-fragment', 'text-fragment', None)
    """
    if ":~:" in fragment:
        return "text-fragment"
    if kind == "html" or (kind == "markdown" and not _LINES.fullmatch(fragment)):
        return "script-fragment" if _SCRIPT.match(fragment) else None
    suffix = path.rpartition(".")[2].lower()
    if suffix == "pdf":
        return "pdf-fragment"
    if suffix in _MEDIA:
        return "media-fragment"
    if kind == "xml":
        if fragment.startswith("svgView("):
            return "view-fragment"
        return "pointer-fragment" if _POINTER.match(fragment) else None
    return "fragment"


# -- XML


class _Ids:
    """Takes the tags of an XML document, and keeps its anchors."""

    def __init__(self, anchors: set[str]) -> None:
        self.anchors = anchors
        self.root = ""

    def start(self, name: str, attributes: dict[str, str]) -> None:
        local = name.rpartition(":")[2]
        self.root = self.root or local
        for attribute in ("id", "xml:id") if attributes else ():
            if attributes.get(attribute):
                self.anchors.add(attributes[attribute])
        if local == "a" and attributes.get("name"):
            self.anchors.add(attributes["name"])

    def end(self) -> None: ...
    def text(self, data: str) -> None: ...
    def instruction(self, target: str, data: str) -> None: ...
    def external(self, kind: str, identifier: str) -> None: ...


_KNOWN = ("html", "svg")
"""Vocabularies whose anchors are these; in others a DTD may make any attribute an ID (XML 1.0 3.3.1)."""


def xml(document: Document, anchors: set[str]) -> tuple[str, bool]:
    """Gather the anchors of an XML document.  Returns: its text, and whether these are all that it has."""
    text, notes = characters(document.content, document.charset)
    ids = _Ids(anchors)
    said = {note.kind for note in notes}
    said |= {note.kind for note in events(text, ids) if note is not None}
    return text.replace("\r\n", "\n").replace("\r", "\n"), ids.root in _KNOWN and said.isdisjoint(UNREAD)


# -- Markdown


@cache
def _parser() -> MarkdownIt:
    from markdown_it import MarkdownIt

    # Inline text is read of headings alone.
    return MarkdownIt("commonmark").enable("table").disable("inline")


_LONGEST = 1000
"""Characters of a heading from which its anchor is made."""
_HTML_ID = re.compile(r"<[A-Za-z][^<>]*?\b(?:id|name)\s*=", re.IGNORECASE)
_OWN = re.compile(r"\{:?+[^{}#]*+#([\w.:-]++)[^{}]*+\}\s*+\Z")


def markdown(text: str, rule: str, anchors: set[str]) -> None:
    """Gather the anchors of a Markdown document: of its headings by the rule, and of the HTML in it."""
    seen: dict[str, int] = {}
    heading = False
    for token in chain.from_iterable(_parser().parse(piece) for piece in pieces(text)):
        if token.type == "html_block":
            _html_anchors(token.content, anchors)
        elif token.type == "inline":
            if heading:
                anchors.add(_number_name(_heading(token.content[:_LONGEST], rule, anchors), rule, seen))
            if "<" in token.content and _HTML_ID.search(token.content):
                _html_anchors(token.content, anchors)
        heading = token.type == "heading_open"


def _html_anchors(text: str, anchors: set[str]) -> None:
    for name in html.read(text).anchors:
        # GitHub puts a prefix before it, which links may leave out or have.
        anchors.update((name, f"user-content-{name}"))


def _heading(source: str, rule: str, anchors: set[str]) -> str:
    if own := _OWN.search(source):
        if rule != "github":
            return own[1]
        anchors.add(own[1])  # of renderers beside GitHub's, which read the same files
    parser = _parser()
    return slug("".join(_shown_text(parser.inline.parse(source, parser, {}, []))), rule)


def _shown_text(tokens: list[Token]) -> Iterator[str]:
    """The text that a heading shows."""
    for token in tokens:
        if token.type in ("text", "code_inline", "text_special"):
            yield token.content
        elif token.type in ("softbreak", "hardbreak"):
            yield " "
        elif token.type == "image" and token.children:
            yield from _shown_text(token.children)


def _number_name(name: str, rule: str, seen: dict[str, int]) -> str:
    """The name that a heading gets whose name others have: each rule numbers them in its own way."""
    if name not in seen and (name or rule != "mkdocs"):
        seen[name] = 0
        return name
    if rule == "mkdocs":
        while not name or name in seen:  # Python-Markdown, `unique`: the number at the end grows
            numbered = _NUMBERED.fullmatch(name)
            name = f"{numbered[1]}_{int(numbered[2]) + 1}" if numbered else f"{name}_1"
        seen[name] = 0
        return name
    while True:
        seen[name] += 1
        if rule == "sphinx":
            number = seen["id"] = seen.get("id", 0) + 1
            found = f"id{number}"
        else:
            found = f"{name}-{seen[name]}"
        if found not in seen or rule == "sphinx":
            seen.setdefault(found, 0)
            return found


_NUMBERED = re.compile(r"(.*)_([0-9]{1,18})", re.DOTALL)


def slug(text: str, rule: str) -> str:
    """The anchor of a heading by a rule.

    >>> [slug("What's new in 2.0?", rule) for rule in ("github", "gitlab", "sphinx", "mkdocs")]
    ['whats-new-in-20', 'whats-new-in-20', 'what-s-new-in-2-0', 'whats-new-in-20']
    """
    return _SLUGS[rule](text)


_NO_WORD = re.compile(r"[^\w\- ]")
_NO_NAME = re.compile(r"[^a-z0-9]+")
_NO_MKDOCS = re.compile(r"[^\w\s-]")
_JOINTS = re.compile(r"[-\s]+")
_HYPHENS = re.compile(r"-{2,}")
_PRODUCT = re.compile(
    r"\*{0,9}\((?:premium|ultimate|free|beta|experiment)(?:\s(?:all|self|saas))?(?:\s(?:beta|experiment))?\)\*{0,9}"
)
"""The badges of GitLab's own documentation, such as `**(PREMIUM SELF)**`."""
_CIRCLED = range(0x24B6, 0x24EA)
"""Symbols that are alphabetic (Other_Alphabetic)."""
_DOCUTILS = str.maketrans(
    "\u00f8\u0111\u0127\u0131\u0142\u0167\u0180\u0183\u0188\u018c\u0192\u0199\u019a\u019e\u01a5\u01ab\u01ad\u01b4\u01b6\u01e5"
    "\u0225\u0234\u0235\u0236\u0237\u023c\u023f\u0240\u0247\u0249\u024b\u024d\u024f",
    "odhiltbbcdfklnpttyzgzlntjcszejqry",
) | {0xDF: "sz", 0xE6: "ae", 0x153: "oe", 0x238: "db", 0x239: "qp"}
"""Letters that no decomposition makes US-ASCII, as docutils writes them."""


def _is_word(character: str) -> bool:
    """Whether it is a letter, a mark, a decimal digit or a connector, as `\\p{Word}` of Ruby has it (UTS 18)."""
    kind = category(character)
    return kind[0] in "LM" or kind in ("Nd", "Nl", "Pc") or ord(character) in _CIRCLED


def _github(text: str) -> str:
    # Punctuation and symbols go, also numbers such as \u00b2 and \u00bd; marks stay; every blank becomes a hyphen.
    text = text.strip().lower()
    if text.isascii():
        return _NO_WORD.sub("", text).replace(" ", "-")
    return "".join(one for one in text if one in "- " or _is_word(one)).replace(" ", "-")


def _gitlab(text: str) -> str:
    plain = _HYPHENS.sub("-", _github(_PRODUCT.sub("", text.strip().lower())))
    return f"anchor-{plain}" if plain.isascii() and plain.isdecimal() else plain


def _sphinx(text: str) -> str:
    # docutils.nodes.make_id: US-ASCII letters and digits, and hyphens between them; it begins with a letter.
    plain = normalize_unicode("NFKD", text.lower().translate(_DOCUTILS)).encode("ascii", "ignore").decode()
    return _NO_NAME.sub("-", plain).strip("-").lstrip("0123456789-")


def _mkdocs(text: str) -> str:
    # Python-Markdown, extension toc, `slugify`.
    plain = normalize_unicode("NFKD", text).encode("ascii", "ignore").decode()
    return _JOINTS.sub("-", _NO_MKDOCS.sub("", plain).strip().lower())


_SLUGS: dict[str, Callable[[str], str]] = {
    "github": _github,
    "gitlab": _gitlab,
    "sphinx": _sphinx,
    "mkdocs": _mkdocs,
}
