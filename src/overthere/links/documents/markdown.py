"""References in Markdown (CommonMark 0.31; the extended autolinks of GitHub Flavored Markdown 6.9; RFC 7763).

A reference is at "link", "image", "definition", "autolink", or, in HTML that the text holds, at "html a href".
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from overthere.ground.caches import bounded_cache
from overthere.links.documents import embedded_data, html
from overthere.links.documents.charset import decode_text
from overthere.links.model import Document, EmbeddedContent, Found, Note, Options, PassedContent

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

__all__ = ["DIRECTIVE", "LONGEST", "NESTED", "PIECE", "Blocks", "blocks", "is_prose", "pieces", "read", "unwrap"]

LONGEST = 1 << 21
"""Characters of a document that are read: each takes the parser up to twenty microseconds."""
PIECE = 1 << 17
"""Characters that are read at once: what is longer is cut before a heading, else at a blank line, at a line end, at a
blank, or anywhere."""

# A tag that may hold a reference; most do not, and reading one takes a document of its own.
_ATTRIBUTES = re.compile(r"<[A-Za-z][^\s<>]*+(?:<(?![A-Za-z])[^\s<>]*+)*+\s")
_STYLE = re.compile(r"<style", re.IGNORECASE)
# Without one of these no reference is in a text, however it is escaped.
_REFERENCE = re.compile(r"[\[<&\\@]|://|www\.", re.IGNORECASE)
# Without one of these no extended autolink is in a text (GFM 6.9).
_EXTENDED = re.compile(r"www\.|://|@", re.IGNORECASE)


def read(document: Document, options: Options) -> Iterator[Found | Note | PassedContent]:
    """The references of a Markdown document, in its order.

    They are given after the escapes of Markdown, without the percent-encoding that renderers add.  A definition is
    given once, where it stands; that a link names it by its label is no other reference.  `base` elements in the text
    establish nothing: to text/markdown (RFC 7763) they are markup like any other.
    """
    text, wrong = decode_text(document.content, document.charset)
    if wrong:
        yield Note("wrong-charset")
    if len(text) > LONGEST:
        yield Note("too-large")
    deep = False
    for piece in pieces(unwrap(text[:LONGEST])):
        if not _REFERENCE.search(piece):
            continue
        # A bracket costs a thousand times what a letter does: text that is hardly anything else has no links.
        brackets = piece.count("[") * 3 > len(piece) > 100
        deep = deep or brackets
        for part in _piece(piece, _markdown(links=not brackets)):
            if isinstance(part, Note):
                deep = True
                continue
            if isinstance(part, Found):
                yield part
                continue
            for one in embedded_data.read(part, document.base, options, document.depth):
                yield one._replace(where=f"html {one.where}") if isinstance(one, Found) else one
    if deep:
        yield Note("too-deep")


_WRAPPED = re.compile(r"^[ ]*+(?:!!!|\?\?\?\+?|===[!+]?)[ ]++[\"\w]|^\[\^[^\]\s]++\]:", re.MULTILINE)
_FENCE = re.compile(r"[ ]*+(`{3,}|~{3,})")


def unwrap(text: str) -> str:
    """A text in which the contents of admonitions, tabs (Python-Markdown, pymdownx) and footnotes are not indented.

    In CommonMark they would be code, in which no link is read.

    >>> unwrap('!!! note\\n\\n    [a](b)\\n')
    '!!! note\\n\\n[a](b)\\n'
    """
    if not _WRAPPED.search(text):
        return text
    lines, depth, fence = [], 0, ""
    for line in text.split("\n"):
        if line.strip():
            indent = (len(line) - len(line.lstrip(" "))) // 4
            if not fence:
                depth = min(depth, indent)
            line = line[4 * min(depth, indent) :]
            if match := _FENCE.match(line):
                # The end of a fence has its character, as often at least (CommonMark 4.5).
                fence = match[1] if not fence else "" if match[1].startswith(fence) else fence
            elif not fence and depth < _DEPTH and _WRAPPED.match(line):
                depth += 1
        lines.append(line)
    return "\n".join(lines)


_DEPTH = 100
NESTED = 8
"""Directives of MyST in one another that are read."""
DIRECTIVE = re.compile(r"\{([a-zA-Z][\w:+-]*+)\}")
"""The name of a directive of MyST, which a fence has for its language."""
_PROSE = frozenset(
    (
        *("admonition", "attention", "caution", "danger", "error", "hint", "important", "note", "seealso", "tip"),
        *("warning", "topic", "sidebar", "dropdown", "card", "grid", "grid-item", "grid-item-card", "tab-set"),
        *("tab-item", "versionadded", "versionchanged", "deprecated", "epigraph", "pull-quote", "margin", "only"),
        *("list-table", "figure", "container", "rubric", "glossary", "details", "exercise", "solution", "aside"),
    )
)


def is_prose(directive: str) -> bool:
    """Whether the content of a directive of MyST is Markdown, not code or data."""
    return directive in _PROSE


def pieces(text: str) -> Iterator[str]:
    """A text in parts that are read one by one."""
    at = 0
    while len(text) - at > PIECE:
        least, most = at + PIECE // 2, at + PIECE
        for separator in ("\n\n#", "\n\n", "\n", " "):
            place = text.rfind(separator, least, most)
            if place >= 0:
                most = place + 1
                break
        yield text[at:most]
        at = most
    yield text[at:]


@cache
def _markdown(links: bool) -> MarkdownIt:
    from markdown_it import MarkdownIt

    parser = MarkdownIt("commonmark", {"inline_definitions": True, "store_labels": True}).enable("table")
    # Emphasis holds no reference and hides none, and inline text is read by `_inline`, paragraph by paragraph.
    parser.disable(["inline", "text_join", "emphasis", "balance_pairs", "fragments_join"])
    if not links:
        parser.disable(["link", "image"])
    # Without percent-encoding, and without refusing schemes.
    for name, rule in (("normalizeLink", str), ("normalizeLinkText", str), ("validateLink", lambda url: True)):
        setattr(parser, name, rule)
    return parser


class Blocks(NamedTuple):
    """The block structure of a text; the content of its paragraphs is not read yet."""

    tokens: list[Token]
    definitions: dict[str, object]
    """The link reference definitions that inline text needs: markdown-it's `env`."""


@bounded_cache(32, longest=1 << 14)
def blocks(text: str) -> Blocks:
    """The blocks of a text (CommonMark 0.31; tables of GFM), to be read only: for its links, then for its anchors."""
    definitions: dict[str, object] = {}
    return Blocks(_markdown(True).parse(text, definitions), definitions)


def _piece(text: str, parser: MarkdownIt, depth: int = 0) -> Iterator[Found | EmbeddedContent | Note]:
    tokens, env = blocks(text)
    # Behind 20 block quotes, or 10 lists, in one another markdown-it may drop the rest; more would take it too long.
    deepest = parser.options["maxNesting"] - 1
    if any(token.level >= deepest and token.type in ("blockquote_open", "list_item_open") for token in tokens):
        yield Note("too-deep")
    for token in tokens:
        if token.type == "inline" and _REFERENCE.search(token.content):
            yield from _inline(parser.inline.parse(token.content, parser, env, []))
        elif token.type == "html_block":
            yield from _html(token.content)
        elif token.type == "fence" and (directive := DIRECTIVE.match(token.info)) and is_prose(directive[1]):
            if depth < NESTED:
                yield from _piece(token.content, parser, depth + 1)
            else:
                yield Note("too-deep")
        elif token.type == "definition":
            # The definition of a footnote (GitHub) looks alike, and contains text.
            footnote = token.meta["label"].startswith("^")
            yield from _bare_autolinks(token.meta["url"]) if footnote else [Found("definition", token.meta["url"])]


def _inline(tokens: Iterable[Token]) -> Iterator[Found | EmbeddedContent]:
    run: list[str] = []  # text that no token interrupts
    inside = 0
    automatic: str | None = None
    for token in tokens:
        if token.type in ("text", "text_special"):
            if automatic is not None:
                # CommonMark 6.5: a mail address leads to mailto:, which is not written there.
                target = None if automatic == token.content else automatic
                yield Found("autolink", token.content, target=target)
                automatic = None
            elif not inside:
                run.append(token.content)
            continue
        if run:
            yield from _bare_autolinks("".join(run))
            run.clear()
        if token.type == "link_open":
            inside += 1
            if token.markup == "autolink":
                automatic = str(token.attrs["href"])
            elif "label" not in token.meta:
                yield Found("link", str(token.attrs["href"]).strip())
        elif token.type == "link_close":
            inside -= 1
        elif token.type == "image" and "label" not in token.meta:
            yield Found("image", str(token.attrs["src"]).strip())
        elif token.type == "html_inline":
            yield from _html(token.content)
    if run:
        yield from _bare_autolinks("".join(run))


def _html(text: str) -> Iterator[Found | EmbeddedContent]:
    if _ATTRIBUTES.search(text) or _STYLE.search(text):
        for one in html.read(text).items:
            yield one._replace(where=f"html {one.where}") if isinstance(one, Found) else one


def _bare_autolinks(text: str) -> Iterator[Found]:
    """The extended autolinks of a text without markup."""
    if not _EXTENDED.search(text):
        return
    from overthere.text import gfm  # its expressions take long to compile

    # A word in front of it keeps the text from being read as the start of a block.
    for link in gfm.find(f"a {text}", extended=True):
        yield Found("autolink", link.text, target=link.uri if link.kind in ("abbreviated", "mail") else None)
