"""Anchors of a Markdown document: slugs of headings, attribute lists, footnotes, targets of MyST, and HTML."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from functools import cache
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from overthere.broken.heading_slugs import CODE_HYPHEN, docutils, slug
from overthere.links.documents import html
from overthere.links.documents.markdown import (
    DIRECTIVE_PATTERN,
    MARKDOWN_IN_HTML,
    MAX_DEPTH,
    blocks,
    is_prose,
    pieces,
    remove_indents,
)

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token


@cache
def _parser() -> MarkdownIt:
    from markdown_it import MarkdownIt

    return MarkdownIt("commonmark")


_MAX_HEADING_LENGTH = 1000
"""Characters of a heading that are used for its anchor."""
_HTML_ID = re.compile(r"<[A-Za-z][^<>]*?\b(?:id|name)\s*=", re.IGNORECASE)
_WRITTEN_ID = re.compile(r"\{:?+[^{}#]*+#([^\s#={}*/]++)[^{}]*+\}\s*+\Z")
_ITEM = r"[#.][^\s{}\"'#=]++|[\w:-]++=(?:\"[^\"{}]*+\"|[^\s\"{}]++)"
_ITEMS = re.compile(rf"(?<!\\)\{{((?:[ \t]*+(?:{_ITEM}))++)[ \t]*+\}}\s*+\Z")
_PANDOC_ITEMS = re.compile(rf"(?<![\\)\]`])\{{((?:[ \t]*+(?:-(?=[ \t}}])|{_ITEM}))++)[ \t]*+\}}\s*+\Z")
_MKDOCS_ITEMS = re.compile(r"(?<= )\{:?+[ ]*+([^{}\n ][^{}\n]*+)\}[ ]*+\Z")
_KRAMDOWN_ID = re.compile(r"(?:\A|(?<=[ \t]))\{(#[^\s{}.,#=]++)\}\s*+\Z")
"""The attribute list at the end of a heading, which is not a part of its text."""
_COMMENT_ID = re.compile(r"(?:\{/\*|<!--)\s*+#?([^\s*<>]++)[^*<>]*+(?:\*/\}|-->)\s*+\Z")
"""`{/* #id */}` in MDX, which Docusaurus reads."""
_BRACKET_ID = re.compile(r"\[#([\w.-]++)\]\s*+\Z")
"""`[#id]` of Nextra and Fumadocs."""
_EMOJI = re.compile(r":[\w+-]++:")
_OMITTED = dict.fromkeys(("vitepress", "mkdocs", "pymdownx"), _EMOJI) | {
    "myst": re.compile(r"\$[^$\n]++\$|\[\^[^\[\]\s]++\]")
}
"""The parts that a slug omits if an extension is on: emoji; formulas and footnotes."""
_ALONE = re.compile(r"[ \t]*+\{(:?+)([^{}\n]*+)\}[ \t]*+\Z")
_AFTER = re.compile(r"\{(:?+)([^{}\n]*+)\}")
_SPAN = re.compile(r"\]\{(:?+)([^{}\n]*+)\}")
_IDENTIFIER = re.compile(r"(?:\A|\s)#([^\s#={}]++)|(?:\A|\s)id=[\"']?([^\s\"'{}]++)")
_FOOTNOTE = re.compile(r"\[\^([^\]\s]{1,200})\](?!:)")
_TARGET = re.compile(r"\(([A-Za-z0-9|@<>*./_+: -]{1,100})\)=[ \t]*+(?:\n|\Z)")
_NAME = re.compile(r"^(?:(?:---)?\n)?:?name:[ \t]*+(\S[^\n]*+)", re.MULTILINE)
_COLON_FENCE = re.compile(r"^:{3,}[ \t]*+\{[a-zA-Z][^{}\n]*+\}[^\n]*+\n((?:[ \t]*+:[\w-]++:[^\n]*+\n)++)", re.MULTILINE)
"""The options of a directive of MyST that is fenced by colons."""
_DIV = re.compile(r"^:{3,}[ \t]*+\{([^{}\n]*+)\}", re.MULTILINE)
_TIGHT = re.compile(r"^(#{1,6})(?=[^#\s])", re.MULTILINE)
_NUMBERED = re.compile(r"(.*)_([0-9]{1,18})", re.DOTALL)


class _Dialect(NamedTuple):
    """How a program generates anchors."""

    alternative: bool = True
    """Whether the alternative text of an image is part of a heading's slug."""
    attributes: re.Pattern[str] | None = None
    """The attribute list of a heading, if it may have others than `{#id}`."""
    explicit_id: bool = True
    """Whether `{#id}` replaces a heading's slug."""
    strict: bool = False
    """Whether a heading must begin at the start of a line, and be a single line."""
    interrupts: bool = True
    """Whether a heading may follow a paragraph without a blank line."""
    tight: bool = False
    """Whether `#heading` is a heading."""
    lists: str = ""
    """The marks of attribute lists: ":" for `{:#id}`, " " for `{#id}`, ": " for both, "-" for none."""
    footnotes: tuple[str, ...] = ()
    """The anchors of a footnote, of the first reference to it, and of later ones: {0} is its name, {1} the number of
    the reference among all, {2} and {3} the number of references to it before and including this one, {4} the number
    of the footnote."""
    numbers: str = "free"
    """How equal anchors are numbered: by the next free number, by a count, or in a way of the program."""


_NAMED = ("fn:{0}", "fnref:{0}", "fnref{3}:{0}")
_COUNTED = ("fn:{0}", "fnref:{0}", "fnref:{0}:{2}")
_DIALECTS = {
    "notebook": _Dialect(lists="-"),
    "github": _Dialect(explicit_id=False, lists="-"),
    "gitlab": _Dialect(lists="-"),
    "mkdocs": _Dialect(False, _MKDOCS_ITEMS, strict=True, tight=True, lists=": ", footnotes=_NAMED, numbers="mkdocs"),
    "pymdownx": _Dialect(False, _MKDOCS_ITEMS, strict=True, tight=True, lists=": ", footnotes=_NAMED, numbers="mkdocs"),
    "myst": _Dialect(False, lists=" "),
    "docusaurus": _Dialect(
        lists="-", footnotes=("user-content-fn-{0}", "user-content-fnref-{0}", "user-content-fnref-{0}-{3}")
    ),
    "vitepress": _Dialect(True, _ITEMS, lists="-", footnotes=("fn{4}", "fnref{4}", "fnref{4}:{2}")),
    "hugo": _Dialect(True, _ITEMS, lists="-", footnotes=("fn:{4}", "fnref:{4}", "fnref{2}:{4}")),
    "mdbook": _Dialect(False, _ITEMS, lists="-", footnotes=("footnote-{0}", "fr-{0}-1", "fr-{0}-{3}")),
    "pandoc": _Dialect(
        True, _PANDOC_ITEMS, strict=True, interrupts=False, lists=" ", footnotes=("fn{1}", "fnref{1}", "fnref{1}")
    ),
    "kramdown": _Dialect(
        True, _KRAMDOWN_ID, strict=True, interrupts=False, tight=True, lists=":", footnotes=_COUNTED, numbers="count"
    ),
    "jekyll": _Dialect(False, _KRAMDOWN_ID, strict=True, lists=":", footnotes=_COUNTED, numbers="count"),
}
_DIALECTS["pandoc-gfm"] = _DIALECTS["pandoc"]


class MarkdownAnchors:
    """Collects the anchors of a Markdown document.

    rule: one of `model.ANCHORS`; for MyST with the lowest level of headings that have slugs, as in "myst:3".  "sphinx"
    is MyST without such slugs.
    """

    def __init__(self, rule: str) -> None:
        name, _, depth = ("myst:0" if rule == "sphinx" else rule).partition(":")
        self.rule: str = name
        self.depth: int = int(depth or 7)
        self.dialect: _Dialect = _DIALECTS[name]
        self.anchors: set[str] = set()
        self.labels: set[str] = set()
        """Targets that other documents of the project may reference by name alone (MyST)."""
        self.titles: Counter[str] = Counter()
        """Headings by their normalized texts, as in docutils: this document may reference a unique one by it (MyST)."""
        self._headings: list[tuple[str, str | None]] = []
        """The slug of each heading, in order, and its explicit anchor."""
        self._references: Counter[str] = Counter()
        self._numbers: dict[str, int] = {}
        """The numbers of the footnotes."""
        self._footnotes_seen: int = 0
        """The number of references to footnotes."""
        self._identifiers: list[str] = []
        """The identifiers of docutils for headings and labels."""

    def read(self, *texts: str) -> None:
        """Collect the anchors of a page that consists of these texts: equal headings are numbered together."""
        for text in texts:
            count = 0
            if self.rule in ("mkdocs", "pymdownx", "kramdown", "jekyll"):
                text, count = MARKDOWN_IN_HTML.subn("\\g<0>\n", text)
            html_blocks = ("html_block", "code_block") if count else ("html_block",)  # HTML may be indented
            for piece in pieces(remove_indents(text)):
                self._piece(_TIGHT.sub(r"\1 ", piece) if self.dialect.tight else piece, html_blocks)
        explicit = self.anchors | {anchor for _, anchor in self._headings if anchor is not None}
        self.anchors |= explicit
        seen = dict.fromkeys(explicit if self.dialect.numbers == "mkdocs" else (), 0)
        for name, anchor in self._headings:
            if anchor is None:
                self.anchors.add(_number(name, self.dialect.numbers, seen))
            elif self.rule.startswith("pandoc"):
                seen[anchor] = 0
        if self.rule == "myst":
            counts: dict[str, int] = {}
            self.anchors.update(self.labels, [_number(name, "docutils", counts) for name in self._identifiers])
        elif self.rule == "github":
            self.anchors |= {f"user-content-{name}" for name in self.anchors}
        self.anchors.discard("")

    def _piece(self, piece: str, html_blocks: tuple[str, ...]) -> None:
        tokens, definitions = blocks(piece)
        tokens = [token for token in tokens if token.type != "definition"]
        lines = piece.split("\n")
        for at, token in enumerate(tokens):
            if token.type in html_blocks:
                self._html(token.content)
            elif token.type == "inline":
                is_heading = tokens[at - 1].type == "heading_open"
                if is_heading and self._counts(tokens, at, lines):
                    self._heading(tokens, at, definitions)
                self._inline(token.content, is_heading)
            elif token.type == "fence" and self.dialect.lists in (" ", ": "):
                self._fence(token)
        if self.dialect.footnotes:
            self._footnotes(piece)

    def _html(self, text: str) -> None:
        for name in html.read(text).anchors:
            # GitHub and GitLab add a prefix, which links may omit or have.
            prefixed = (name, f"user-content-{name}") if self.rule in ("github", "gitlab") else (name,)
            self.anchors.update(prefixed)

    def _counts(self, tokens: list[Token], at: int, lines: list[str]) -> bool:
        """Whether the program recognizes the heading at a token."""
        opening = tokens[at - 1]
        if not self.dialect.strict or opening.map is None:
            return True
        first = opening.map[0]
        if "\n" in tokens[at].content or (opening.level == 0 and lines[first][:1] == " "):
            return False
        before = tokens[at - 2] if at > 1 else None
        return (
            self.dialect.interrupts
            or before is None
            or before.type != "paragraph_close"
            or not lines[first - 1].strip()
        )

    def _heading(self, tokens: list[Token], at: int, definitions: dict[str, object]) -> None:
        source = tokens[at].content[:_MAX_HEADING_LENGTH]
        match = (self.dialect.attributes or _WRITTEN_ID).search(source)
        if match is None and self.rule in ("docusaurus", "github"):
            match = _COMMENT_ID.search(source)
        if match is None and self.rule == "github":
            match = _BRACKET_ID.search(source)
        explicit = match[1] if match is not None else None
        if match is not None and self.dialect.attributes is not None:
            explicit, source = _identifier(match[1]), source[: match.start()].rstrip()
        if match is not None and not self.dialect.explicit_id:
            self.anchors.add(match[1])  # renderers other than GitHub's read the same files
            explicit = None
        if self.dialect.lists == ":" and (after := self._list_beside(tokens, at)) is not None:
            explicit = after
        level = int(tokens[at - 1].tag[1:])
        if self.rule in ("kramdown", "hugo"):
            self._headings.append((slug(source.rpartition("\n")[2], self.rule), explicit))
            return
        parser = _parser()
        # pandoc makes the slug before it knows the definitions.
        inline_tokens = parser.inline.parse(source, parser, {} if self.rule == "pandoc" else definitions, [])
        if self.rule == "jekyll":
            for token in inline_tokens:
                if token.type == "code_inline":
                    token.content = token.content.replace("-", CODE_HYPHEN)
        if self.dialect.lists in (" ", ": ") and self.rule != "myst":
            _remove_lists(inline_tokens, has_spans=self.dialect.lists == " ")
        shown_text = "".join(_shown_text(inline_tokens, self.dialect.alternative, "" if self.rule == "myst" else " "))
        name = slug(shown_text, self.rule)
        if (omitted := _OMITTED.get(self.rule)) and omitted.search(shown_text):
            self.anchors.add(slug(omitted.sub("", shown_text), self.rule))
        if self.rule == "myst":
            title = "".join(_shown_text(inline_tokens, False, " "))
            self.titles[" ".join(title.lower().split())] += 1
            self._identifiers.append(docutils(title))
            if level > self.depth or not name:
                return
        self._headings.append((name, explicit))

    def _list_beside(self, tokens: list[Token], at: int) -> str | None:
        """The identifier of a kramdown attribute list in the line after or before a heading."""
        opening = tokens[at - 1]
        for inline in (tokens[at + 3 : at + 4], tokens[max(0, at - 3) : at - 2]):
            if not inline or inline[0].type != "inline" or inline[0].map is None or opening.map is None:
                continue
            touches = inline[0].map[0] == opening.map[1] or inline[0].map[1] == opening.map[0]
            line = inline[0].content.split("\n")[0 if inline[0].map[0] >= opening.map[1] else -1]
            if touches and (match := _ALONE.match(line)) and match[1] == ":":
                return _identifier(match[2])
        return None

    def _inline(self, text: str, is_heading: bool) -> None:
        if "<" in text and _HTML_ID.search(text):
            self._html(text)
        if self.rule == "myst":
            self._targets(text)
        if "{" not in text or self.dialect.lists == "-":
            return
        if self.dialect.lists == " ":
            for div in _DIV.finditer(text):
                self._add(_identifier(div[1]))
        lines = text.split("\n")
        if self.dialect.lists != " " or self.rule == "myst":
            for line in lines[:1] if is_heading else lines:
                if (match := _ALONE.match(line)) and self._is_list(match[1]):
                    self._add(_identifier(match[2]))
        parser = _parser()
        tokens = parser.inline.parse(text, parser, {}, [])
        for before, token in pairwise(tokens):
            if token.type == "text" and before.type in _LIST_HOLDERS and (match := _AFTER.match(token.content)):
                self._add(_identifier(match[2]) if self._is_list(match[1]) else None)
        for token in tokens if self.dialect.lists == " " else ():
            for match in _SPAN.finditer(token.content) if token.type == "text" else ():
                self._add(_identifier(match[2]) if self._is_list(match[1]) else None)

    def _targets(self, text: str) -> None:
        at = 0
        while target := _TARGET.match(text, at):
            at = target.end()
            self._label(target[1])
        for fence in _COLON_FENCE.finditer(text):
            if name := _NAME.search(fence[1]):
                self._label(name[1].rstrip())

    def _is_list(self, mark: str) -> bool:
        return self.dialect.lists == ": " or (mark or " ") == self.dialect.lists

    def _add(self, name: str | None) -> None:
        if name is not None:
            self.anchors.add(name)
            if self.rule == "myst":
                self._label(name)

    def _label(self, name: str) -> None:
        self.labels.update((name, name.lower()))
        self._identifiers.append(docutils(name))

    def _fence(self, token: Token, depth: int = 0) -> None:
        if match := _AFTER.search(token.info):
            self._add(_identifier(match[2]))
        if self.rule != "myst" or not (directive := DIRECTIVE_PATTERN.match(token.info)):
            return
        if name := _NAME.search(token.content[:_MAX_HEADING_LENGTH]):
            self._label(name[1].rstrip())
        if is_prose(directive[1]) and depth < MAX_DEPTH:
            for inner in blocks(token.content).tokens:
                if inner.type == "inline":
                    self._inline(inner.content, False)
                elif inner.type == "html_block":
                    self._html(inner.content)
                elif inner.type == "fence":
                    self._fence(inner, depth + 1)

    def _footnotes(self, piece: str) -> None:
        note, first, repeated = self.dialect.footnotes
        for match in _FOOTNOTE.finditer(piece):
            before = self._references[match[1]]
            self._references[match[1]] += 1
            self._footnotes_seen += 1
            number = self._numbers.setdefault(match[1], len(self._numbers) + 1)
            for form in (note, repeated if before else first):
                self.anchors.add(form.format(match[1], self._footnotes_seen, before, before + 1, number))


_LIST_HOLDERS = frozenset(("link_close", "em_close", "strong_close", "code_inline", "image", "html_inline"))
"""The elements that an attribute list may follow."""


def _identifier(attributes: str) -> str | None:
    """The identifier in an attribute list, or None."""
    match = _IDENTIFIER.search(attributes)
    return None if match is None else match[1] or match[2]


def _remove_lists(tokens: list[Token], *, has_spans: bool) -> None:
    """Remove the attribute lists of a heading's elements; has_spans: and of its text in brackets, as in pandoc."""
    for before, token in pairwise((*tokens[:1], *tokens)):
        if token.type == "text" and before.type in _LIST_HOLDERS and (match := _AFTER.match(token.content)):
            token.content = token.content[match.end() :]
        if token.type == "text" and has_spans:
            token.content = _SPAN.sub("]", token.content)


def _shown_text(tokens: list[Token], alternative: bool, blank: str) -> Iterator[str]:
    """The text that a heading shows.

    alternative: whether to include that of images; blank: the replacement for a line end.
    """
    for token in tokens:
        if token.type in ("text", "code_inline", "text_special"):
            yield token.content
        elif token.type in ("softbreak", "hardbreak"):
            yield blank
        elif token.type == "image" and token.children and alternative:
            yield from _shown_text(token.children, alternative, blank)


def _number(name: str, numbering: str, seen: dict[str, int]) -> str:
    """The unique anchor for a name that other headings may have: each program numbers them in its own way.

    numbering: a value of `_Dialect.numbers`; seen: the names in use, with the last number of each.
    """
    if name not in seen and (name or numbering not in ("mkdocs", "docutils")):
        seen[name] = 0
        return name
    if numbering == "mkdocs":
        numbered = _NUMBERED.fullmatch(name)
        stem, number = (numbered[1], int(numbered[2])) if numbered else (name, 0)
        number = max(number, seen.get(name, 0)) + 1
        passed = [name]
        while (candidate := f"{stem}_{number}") in seen:  # Python-Markdown, `unique`: it counts up at the end
            passed.append(candidate)
            number = max(number, seen[candidate]) + 1
        seen |= dict.fromkeys(passed, number)  # all numbers up to it are in use
        seen[candidate] = 0
        return candidate
    if numbering == "docutils":
        while True:
            number = seen[""] = seen.get("", 0) + 1
            if f"id{number}" not in seen:
                seen[f"id{number}"] = 0
                return f"id{number}"
    while True:
        seen[name] += 1
        candidate = f"{name}-{seen[name]}"
        if numbering == "count":
            return candidate
        if candidate not in seen:
            seen[candidate] = 0
            return candidate
