"""References in Markdown (CommonMark 0.31; the extended autolinks of GitHub Flavored Markdown 6.9; RFC 7763).

The place of a reference is "link", "image", "definition" or "autolink"; in embedded HTML it is "html a href" and so on.
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

MAX_CHARACTERS = 1 << 21
"""The number of characters of a document that are read; the parser needs up to 20 microseconds for each."""
MAX_PIECE_CHARACTERS = 1 << 17
"""The number of characters that are parsed at once.  A longer text is split before a heading, otherwise at an empty
line, a line end, a space, or anywhere."""

# Only a tag with attributes can contain a reference; most tags have none, and parsing HTML is slow.
_ATTRIBUTES = re.compile(r"<[A-Za-z][^\s<>/]*+(?:<(?![A-Za-z])[^\s<>/]*+)*+[\s/](?!>)")
_STYLE = re.compile(r"<style", re.IGNORECASE)
MARKDOWN_IN_HTML = re.compile(
    r"^ {0,3}<[A-Za-z](?:(?![ \t]markdown[ \t=>])[^<>\n])*+[ \t]markdown(?:=[\"']?(?:1|block)\b|(?=[ \t>]))"
    r"[^<>\n]*+>[ \t]*+$(?!\n[ \t]*+$)",
    re.MULTILINE,
)
"""A line with a tag after which HTML contains Markdown although no blank line follows (md_in_html, kramdown)."""
# A text without a match contains no reference, in whatever escaping.
_REFERENCE_HINT = re.compile(r"[\[<&\\@]|://|www\.|\{(?:figure|image)\}", re.IGNORECASE)
# A text without a match contains no extended autolink (GFM 6.9).
_AUTOLINK_HINT = re.compile(r"www\.|://|@", re.IGNORECASE)


def read(document: Document, options: Options) -> Iterator[Found | Note | PassedContent]:
    """Yield the references of a Markdown document, in its order, and notes and passed content.

    Escapes of Markdown are decoded; the percent-encoding of renderers is not applied.  A link reference definition is
    yielded once, at its place; links that use its label are not yielded.  `base` elements in the text have no effect:
    in text/markdown (RFC 7763) they are ordinary markup.
    """
    text, is_wrong = decode_text(document.content, document.charset)
    if is_wrong:
        yield Note("wrong-charset")
    yield from read_texts([text], document, options)


def read_texts(texts: Iterable[str], document: Document, options: Options) -> Iterator[Found | Note | PassedContent]:
    """Yield the references of the texts of a document, as `read`; no block of a text goes on in the next."""
    remaining_characters, is_too_deep = MAX_CHARACTERS, False
    for text in texts:
        if len(text) > remaining_characters:
            yield Note("too-large")
        for piece in pieces(remove_indents(text[:remaining_characters])):
            if not _REFERENCE_HINT.search(piece):
                continue
            # A bracket takes a thousand times as long as a letter: in text of little else, links are not read.
            is_mostly_brackets = piece.count("[") * 3 > len(piece) > 100
            is_too_deep = is_too_deep or is_mostly_brackets
            for result in _read_piece(piece, _get_parser(reads_links=not is_mostly_brackets)):
                if isinstance(result, Note):
                    is_too_deep = True
                elif isinstance(result, Found):
                    yield result
                else:
                    for item in embedded_data.read(result, document.base, options, document.depth):
                        yield item._replace(where=f"html {item.where}") if isinstance(item, Found) else item
        remaining_characters -= len(text)
        if remaining_characters < 0:
            break
    if is_too_deep:
        yield Note("too-deep")


_INDENTING_LINE = re.compile(r"^[ ]*+(?:!!!|\?\?\?\+?|===[!+]?)[ ]++[\"\w]|^\[\^[^\]\s]++\]:", re.MULTILINE)
_FENCE = re.compile(r"[ ]*+(?:(?:[-*+]|[0-9]{1,9}[.)])[ ]++)*+(`{3,}+|~{3,}+)(.*+)")


def remove_indents(text: str) -> str:
    """Return a text without the indents of the content of admonitions, tabs (Python-Markdown, pymdownx) and footnotes.

    CommonMark would read the indented content as code, without links.  Line ends become line feeds.

    >>> remove_indents('!!! note\\n\\n    [a](b)\\n')
    '!!! note\\n\\n[a](b)\\n'
    """
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    if not _INDENTING_LINE.search(text):
        return text
    lines, depth, fence = [], 0, ""
    for line in text.split("\n"):
        if line.strip():
            indent = (len(line) - len(line.lstrip(" "))) // 4
            if not fence:
                depth = min(depth, indent)
            line = line[4 * min(depth, indent) :]
            if (match := _FENCE.match(line)) and line.lstrip(" ").startswith(fence):  # no list item ends a block
                fence = _fence_after(fence, match)
            elif not fence and depth < _MAX_INDENT and _INDENTING_LINE.match(line):
                depth += 1
        lines.append(line)
    return "\n".join(lines)


_MAX_INDENT = 100
MAX_DEPTH = 8
"""The maximum depth of nested directives of MyST."""
DIRECTIVE_PATTERN = re.compile(r"\{([a-zA-Z][\w:+-]*+)\}")
"""The name of a directive of MyST, written as the language of a fence."""
_COLON_IMAGE = re.compile(r"^:{3,}[ \t]*+\{(?:figure|image)\}[ \t]*+(\S[^\n]*+)", re.MULTILINE)
"""The first line of an image of MyST that is fenced by colons."""
_PROSE_DIRECTIVES = frozenset(
    (
        *("admonition", "attention", "caution", "danger", "error", "hint", "important", "note", "seealso", "tip"),
        *("warning", "topic", "sidebar", "dropdown", "card", "grid", "grid-item", "grid-item-card", "tab-set"),
        *("tab-item", "versionadded", "versionchanged", "deprecated", "epigraph", "pull-quote", "margin", "only"),
        *("list-table", "figure", "container", "rubric", "glossary", "details", "exercise", "solution", "aside"),
        *("figure-md", "table", "todo", "versionremoved"),
    )
)


def is_prose(directive: str) -> bool:
    """Whether the content of a directive of MyST is Markdown, not code or data."""
    return directive in _PROSE_DIRECTIVES


def pieces(text: str) -> Iterator[str]:
    """Split a text into pieces of about `MAX_PIECE_CHARACTERS`; a code block that goes on begins anew in the next."""
    at, opening = 0, ""
    while len(text) - at > MAX_PIECE_CHARACTERS:
        earliest, end = at + MAX_PIECE_CHARACTERS // 2, at + MAX_PIECE_CHARACTERS
        for separator in ("\n\n#", "\n\n", "\n", " "):
            offset = text.rfind(separator, earliest, end)
            if offset >= 0:
                end = offset + 1
                break
        yield (piece := opening + text[at:end])
        at, opening = end, _open_fence(piece)
    yield opening + text[at:]


_FENCE_LINE = re.compile(r"^ {0,3}(`{3,}+|~{3,}+)(.*+)$", re.MULTILINE)


def _open_fence(text: str) -> str:
    """The line that opens the code block in which a text ends, or ""."""
    opening = fence = ""
    for line in _FENCE_LINE.finditer(text):
        opening = opening if fence else line[0]
        fence = _fence_after(fence, line)
    return f"{opening[:1000]}\n" if fence else ""


def _fence_after(fence: str, line: re.Match[str]) -> str:
    """Return the fence that is open after a line, or "" (CommonMark 4.5); line: its marks, and what follows them."""
    if not fence:
        return "" if "`" in line[1] and "`" in line[2] else line[1]
    return "" if line[1].startswith(fence) and not line[2].strip() else fence


@cache
def _get_parser(reads_links: bool) -> MarkdownIt:
    from markdown_it import MarkdownIt

    parser = MarkdownIt("commonmark", {"inline_definitions": True, "store_labels": True}).enable("table")
    # Emphasis cannot contain or hide a reference; `_read_piece` parses inline text, paragraph by paragraph.
    parser.disable(["inline", "text_join", "emphasis", "balance_pairs", "fragments_join"])
    if not reads_links:
        parser.disable(["link", "image"])
    # URLs are not percent-encoded, and no scheme is rejected.
    for name, rule in (("normalizeLink", str), ("normalizeLinkText", str), ("validateLink", lambda url: True)):
        setattr(parser, name, rule)
    return parser


class Blocks(NamedTuple):
    """The block structure of a text, with inline text that is not parsed yet."""

    tokens: list[Token]
    definitions: dict[str, object]
    """The link reference definitions that inline text needs: markdown-it's `env`."""


@bounded_cache(32, longest=1 << 14)
def blocks(text: str) -> Blocks:
    """Return the blocks of a text (CommonMark 0.31; tables of GFM), which are cached and must not be changed."""
    definitions: dict[str, object] = {}
    return Blocks(_get_parser(True).parse(text, definitions), definitions)


def _read_piece(
    text: str, parser: MarkdownIt, directive_depth: int = 0, in_html: bool = False
) -> Iterator[Found | EmbeddedContent | Note]:
    tokens, env = blocks(text)
    # Below 20 nested block quotes or 10 nested lists markdown-it may drop the rest; a higher limit would be slow.
    max_level = parser.options["maxNesting"] - 1
    if any(token.level >= max_level and token.type in ("blockquote_open", "list_item_open") for token in tokens):
        yield Note("too-deep")
    for token in tokens:
        if token.type == "inline" and _REFERENCE_HINT.search(token.content):
            at = 0
            for fence in _COLON_IMAGE.finditer(token.content):
                yield from _read_inline(parser.inline.parse(token.content[at : fence.start()], parser, env, []))
                yield Found("image", fence[1].rstrip())
                at = fence.end()
            yield from _read_inline(parser.inline.parse(token.content[at:], parser, env, []))
        elif token.type == "html_block" or (in_html and token.type == "code_block"):  # HTML may be indented
            content = MARKDOWN_IN_HTML.sub("\\g<0>\n", token.content)
            is_html = content == token.content or directive_depth >= MAX_DEPTH
            yield from _read_html(content) if is_html else _read_piece(content, parser, directive_depth + 1, True)
        elif token.type == "fence" and (directive := DIRECTIVE_PATTERN.match(token.info)):
            name, argument = directive[1], token.info[directive.end() :].strip()
            if name in ("figure", "image"):
                yield from [Found("image", argument)] * bool(argument)
            elif name == "raw" and argument == "html":
                yield from _read_html(token.content)
            else:
                yield from _read_inline(parser.inline.parse(argument, parser, env, []))
            if is_prose(name) and directive_depth < MAX_DEPTH:
                yield from _read_piece(token.content, parser, directive_depth + 1)
            elif is_prose(name):
                yield Note("too-deep")
        elif token.type == "definition":
            # The definition of a footnote (GitHub) has the same form, but contains text.
            footnote = token.meta["label"].startswith("^")
            yield from _find_autolinks(token.meta["url"]) if footnote else [Found("definition", token.meta["url"])]


def _read_inline(tokens: Iterable[Token]) -> Iterator[Found | EmbeddedContent]:
    text_run: list[str] = []  # consecutive text tokens outside of links
    link_depth = 0
    autolink_target: str | None = None
    for token in tokens:
        if token.type in ("text", "text_special"):
            if autolink_target is not None:
                # CommonMark 6.5: the target of a mail address is a mailto: URI, which is not in the text.
                target = None if autolink_target == token.content else autolink_target
                yield Found("autolink", token.content, target=target)
                autolink_target = None
            elif not link_depth:
                text_run.append(token.content)
            continue
        if text_run:
            yield from _find_autolinks("".join(text_run))
            text_run.clear()
        if token.type == "link_open":
            link_depth += 1
            if token.markup == "autolink":
                autolink_target = str(token.attrs["href"])
            elif "label" not in token.meta:
                yield Found("link", str(token.attrs["href"]).strip())
        elif token.type == "link_close":
            link_depth -= 1
        elif token.type == "image" and "label" not in token.meta:
            yield Found("image", str(token.attrs["src"]).strip())
        elif token.type == "html_inline":
            yield from _read_html(token.content)
    if text_run:
        yield from _find_autolinks("".join(text_run))


def _read_html(text: str) -> Iterator[Found | EmbeddedContent]:
    if _ATTRIBUTES.search(text) or _STYLE.search(text):
        for item in html.read(text).items:
            yield item._replace(where=f"html {item.where}") if isinstance(item, Found) else item


def _find_autolinks(text: str) -> Iterator[Found]:
    """Yield the extended autolinks of a text without markup."""
    if not _AUTOLINK_HINT.search(text):
        return
    from overthere.text import gfm  # its expressions take long to compile

    # The word in front keeps the text from being parsed as the start of a block.
    for link in gfm.find(f"a {text}", extended=True):
        yield Found("autolink", link.text, target=link.uri if link.kind in ("abbreviated", "mail") else None)
