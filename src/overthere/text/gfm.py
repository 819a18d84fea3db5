"""Autolinks of CommonMark (0.31, 6.5) and GitHub Flavored Markdown (0.29, 6.8 and 6.9), exactly as specified.

A `Found` of these rules has the target of the link, as in HTML, in `reference` and `uri`; it is not always a valid URI,
because CommonMark accepts more.  `text` is the displayed text.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from functools import partial
from html import unescape
from urllib.parse import quote

from overthere.text import Found, Kind
from overthere.text.blocks import Blocks, label

_URI = re.compile(r"<([A-Za-z][A-Za-z0-9+.-]{1,31}:[^\x00-\x20\x7f<>]*+)>")
_LABEL = r"[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?"
_MAIL = re.compile(rf"<([A-Za-z0-9.!#$%&'*+/=?^_`{{|}}~-]++@{_LABEL}(?:\.{_LABEL})*+)>")
_ATTRIBUTE = r"""\s++[A-Za-z_:][A-Za-z0-9_.:-]*+(?:\s*+=\s*+(?:[^\s"'=<>`]++|'[^']*+'|"[^"]*+"))?+"""
_TAG = re.compile(rf"<(?:[A-Za-z][A-Za-z0-9-]*+(?:{_ATTRIBUTE})*+\s*+/?|/[A-Za-z][A-Za-z0-9-]*+\s*+)>")
# Raw HTML that has an end marker, with the marker (CommonMark 6.6).
_RAW = (("<!-->", ""), ("<!--->", ""), ("<!--", "-->"), ("<?", "?>"), ("<![CDATA[", "]]>"))
_DECLARATION = re.compile(r"<![A-Za-z][^<>]*+>")

_INSIDE = r"[^\s()\\<\x00-\x1f]|\\."
_DESTINATION = (
    rf"(?:<(?:[^<>\\\r\n]|\\.)*+>|(?!<)(?:{_INSIDE}|\((?:{_INSIDE}|\((?:{_INSIDE}|\((?:{_INSIDE})*+\))*+\))*+\))*+)"
)
_TITLE = r"""(?:"(?:[^"\\]|\\.)*+"|'(?:[^'\\]|\\.)*+'|\((?:[^()\\]|\\.)*+\))"""
_INLINE = re.compile(rf"\(\s*+(?:{_DESTINATION}(?:\s++{_TITLE})?+)?\s*+\)", re.DOTALL)
_FULL = re.compile(r"\[((?:[^\[\]\\]|\\.){0,999}+)\]", re.DOTALL)

_MARKDOWN_TOKENS = r"\\[!-/:-@\[-`{-~]|`++|<|!?\[|\]"
_TOKENS = {
    False: re.compile(_MARKDOWN_TOKENS),
    True: re.compile(rf"{_MARKDOWN_TOKENS}|(?<![^\s*_~(])www\.|(?<![A-Za-z])(?i:https?|ftp)://|@"),
}
# A domain consists of "-", "_", "." and characters that are neither white space nor punctuation.
_HOST = r"[^\s\x00-/:-@\[-`{-\x7f\u2010-\u2027\u2030-\u205e\u3001-\u3003\u3008-\u3011]"
_DOMAIN = re.compile(rf"{_HOST}(?:{_HOST}|[._-])*+")
_PATH = {False: re.compile(r"[^\s<]*+"), True: re.compile(r"[^\s<\]]*+")}
_MAIL_DOMAIN = re.compile(r"[A-Za-z0-9_-]++(?:\.(?=[A-Za-z0-9_-])[A-Za-z0-9_-]++)++")
_RESOURCE = re.compile(r"/[A-Za-z0-9@.]++")
_LOCAL = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._+-"
_ENTITY = re.compile(r"&(?:#[0-9]{1,7}|#[xX][0-9A-Fa-f]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});")
_TRAILING = "?!.,:*_~'\""


# Escapes as HTML renderers do in a link.
_href = partial(quote, safe="-_.+!*'(),%#@?=;:/&$~", errors="replace")


def find(text: str, *, extended: bool) -> Iterator[Found]:
    """The autolinks of a Markdown text; with `extended` also those of GitHub Flavored Markdown.

    >>> [(found.text, found.uri) for found in find("`<a:b>` <x+y:z> www.commonmark.org.", extended=True)]
    [('x+y:z', 'x+y:z'), ('www.commonmark.org', 'http://www.commonmark.org')]
    """
    blocks = Blocks(text)
    for start, end in blocks.paragraphs:
        yield from _Paragraph(text, start, end, blocks.labels, extended).read()


class _Paragraph:
    """The inline text between two offsets."""

    def __init__(self, text: str, start: int, end: int, labels: set[str], extended: bool) -> None:
        self.text, self.start, self.end = text, start, end
        self.labels = labels
        self.search = _TOKENS[extended].search
        self.matches: list[Found] = []
        # Open brackets: offset, number of earlier matches, whether it is an image's.
        self.open: list[tuple[int, int, bool]] = []
        # Brackets below this index contain a link, and a link cannot contain another (CommonMark 6.3).
        self.inactive = 0
        self.backtick_runs: dict[int, list[int]] | None = None
        self.missing_closers: set[str] = set()

    def read(self) -> Iterator[Found]:
        at = self.start
        while match := self.search(self.text, at, self.end):
            at = self._token(match)
        yield from self.matches

    def _token(self, match: re.Match[str]) -> int:
        token, at = match[0], match.start()
        if token[0] == "\\":
            return match.end()
        if token[0] == "`":
            return self._code(at, len(token))
        if token == "<":
            return self._angle(at)
        if token in ("[", "!["):
            self.open.append((match.end(), len(self.matches), token == "!["))
            return match.end()
        if token == "]":
            return self._close(match.end())
        if token == "@":
            return self._address(at)
        return self._extended(at, match.end() if token != "www." else at, token == "www.")

    def _code(self, at: int, length: int) -> int:
        """Return the end of a code span, the next run of as many backticks (6.1)."""
        if self.backtick_runs is None:
            self.backtick_runs = {}
            for match in re.compile("`++").finditer(self.text, self.start, self.end):
                self.backtick_runs.setdefault(len(match[0]), []).append(match.start())
        closers = self.backtick_runs.get(length, [])
        place = bisect_right(closers, at)
        return closers[place] + length if place < len(closers) else at + length

    def _angle(self, at: int) -> int:
        text = self.text
        if match := _URI.match(text, at, self.end):
            address = match[1]
            href = _href(_ENTITY.sub(lambda entity: unescape(entity[0]), address))
            self._add(href, match.start(1), match.end(1), "<>", "URI" if address.isascii() else "IRI")
            return match.end()
        if match := _MAIL.match(text, at, self.end):
            self._add("mailto:" + _href(match[1]), match.start(1), match.end(1), "<>", "mail")
            return match.end()
        if match := _TAG.match(text, at, self.end) or _DECLARATION.match(text, at, self.end):
            return match.end()
        for opening, closing in _RAW:
            if text.startswith(opening, at) and closing not in self.missing_closers:
                end = text.find(closing, at + len(opening), self.end)
                if end >= 0:
                    return end + len(closing)
                self.missing_closers.add(closing)
        return at + 1

    def _close(self, at: int) -> int:
        """Handle a "]": the end of a link's text, of an image's, or of nothing."""
        if not self.open:
            return at
        begin, count_before, image = self.open.pop()
        inactive = len(self.open) < self.inactive
        self.inactive = min(self.inactive, len(self.open))
        end = at if inactive and not image else self._target(begin, at)
        if end > at or (
            not (inactive and not image) and self._is_definition(self.text[begin : begin + 1000], at - 1 - begin)
        ):
            # "Links may not contain other links": extended autolinks in a link's text do not count.
            allowed_links = [] if image else [link for link in self.matches[count_before:] if link.delimiter]
            self.matches[count_before:] = allowed_links
            if not image:
                self.inactive = len(self.open)
            return end
        return at

    def _target(self, begin: int, at: int) -> int:
        """Return the end of `(destination "title")` or `[label]` after a link's text; `at` if neither follows."""
        if match := _INLINE.match(self.text, at, self.end):
            return match.end()
        if self.labels and (match := _FULL.match(self.text, at, self.end)):
            if not match[1].strip():
                return match.end() if self._is_definition(self.text[begin : begin + 1000], at - 1 - begin) else at
            return match.end() if label(match[1]) in self.labels else at
        return at

    def _is_definition(self, text: str, length: int) -> bool:
        return bool(self.labels) and length < 1000 and label(text[:length]) in self.labels

    # -- GitHub Flavored Markdown 6.9

    def _extended(self, start: int, begin: int, www: bool) -> int:
        """Read an extended autolink: `www.` or a scheme, a valid domain, and anything but white space and "<"."""
        domain = _DOMAIN.match(self.text, begin, self.end)
        if domain is None:
            return begin + 1
        segments = domain[0].rsplit(".", 2)
        if any("_" in segment for segment in segments[-2:]) or (www and "." not in domain[0]):
            return domain.end()
        path = _PATH[bool(self.open)].match(self.text, domain.end(), self.end)
        end = _trim_path(self.text, start, path.end() if path else domain.end())
        if end <= begin:
            return domain.end()
        link_text = self.text[start:end]
        href = _href(f"http://{link_text}" if www else link_text)
        self._add(href, start, end, "", "abbreviated" if www else "URI" if link_text.isascii() else "IRI")
        return end

    def _address(self, at: int) -> int:
        floor = max(self.start, self.matches[-1].end if self.matches else 0, at - 256)
        before = self.text[floor:at]
        start = at - len(before) + len(before.rstrip(_LOCAL))
        domain = _MAIL_DOMAIN.match(self.text, at + 1, self.end)
        if start == at or domain is None:
            return at + 1
        end = domain.end()
        # A domain is invalid if a part lacks letters and digits or its last character is not a letter (cmark-gfm), or
        # if it continues as another address.
        if (
            not domain[0][-1].isalpha()
            or self.text[end : end + 1] == "@"
            or not all(part.strip("-_") for part in domain[0].split("."))
        ):
            return end
        kind: Kind = "mail"
        for protocol in ("mailto:", "xmpp:"):
            if self.text.endswith(protocol, floor, start):
                start, kind = start - len(protocol), "URI"
                if protocol == "xmpp:" and (resource := _RESOURCE.match(self.text, end, self.end)):
                    end = _trim_path(self.text, end, resource.end())
        link_text = self.text[start:end]
        self._add(_href(link_text if kind == "URI" else f"mailto:{link_text}"), start, end, "", kind)
        return end

    def _add(self, href: str, start: int, end: int, delimiter: str, kind: Kind) -> None:
        outer = (start - 1, end + 1) if delimiter else (start, end)
        self.matches.append(Found(href, self.text[start:end], start, end, delimiter, kind, href, None, outer))


def _trim_path(text: str, start: int, end: int) -> int:
    """Return the end of a path without trailing punctuation, unopened parentheses and entities (6.9)."""
    surplus = text.count(")", start, end) - text.count("(", start, end)
    while end > start:
        last = text[end - 1]
        if last in _TRAILING:
            end -= 1
        elif last == ")" and surplus > 0:
            surplus -= 1
            end -= 1
        elif last == ";":
            name = end - 1
            while name > start and text[name - 1].isascii() and text[name - 1].isalnum():
                name -= 1
            end = name - 1 if name < end - 1 and name > start and text[name - 1] == "&" else end - 1
        else:
            break
    return end
