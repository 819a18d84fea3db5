"""draft-fielding-url-syntax-05: base URLs of documents (5.1), delimiters in text (Appendix E)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Literal, NamedTuple

from overthere.editions.url1997 import resolve, split
from overthere.grammar.library import grammar

__all__ = ["BaseURL", "DelimitedURL", "base_url", "delimited", "read_typed"]

Layer = Literal["content", "entity", "retrieval", "default"]

_WHITE = re.compile(r"\s+")


class BaseURL(NamedTuple):
    """A base URL, "" if it is undefined, and its layer: 5.1.1 content, 5.1.2 entity, 5.1.3 retrieval, 5.1.4 default."""

    url: str
    layer: Layer


def base_url(
    embedded: str | None = None,
    headers: Iterable[tuple[str, str]] = (),
    entity: str | None = None,
    retrieval: str | None = None,
) -> BaseURL:
    """5.1: the base URL, the innermost first.

    embedded: what the content itself says, such as the HREF of HTML's BASE element (Appendix D).
    headers: the fields around the document; Content-Base goes before Content-Location (decision 97-16).
    entity: the base URL of the encapsulating entity.  retrieval: the last URL that was asked for.

    A value without a scheme is passed over, and a fragment is no part of a URL (3).  A relative Content-Location is
    first resolved against what the outer layers give.

    >>> base_url(headers=[("content-base", "http://www.ics.uci.edu/Test/a/b/c")], retrieval="http://h/")
    BaseURL(url='http://www.ics.uci.edu/Test/a/b/c', layer='content')
    """
    fields = {name.lower(): _WHITE.sub("", value) for name, value in reversed(list(headers))}
    for said in (embedded, fields.get("content-base")):
        if said is not None and _absolute(said):
            return BaseURL(_url(said), "content")
    outer = BaseURL("", "default")
    if entity is not None and _absolute(entity):
        outer = BaseURL(_url(entity), "entity")
    elif retrieval is not None and _absolute(retrieval):
        outer = BaseURL(_url(retrieval), "retrieval")
    location = fields.get("content-location", "")
    if location and not _absolute(location) and outer.url:
        location = resolve(outer.url, location).uri or ""
    return BaseURL(_url(location), "content") if _absolute(location) else outer


def _url(text: str) -> str:
    return text.partition("#")[0]


def _absolute(text: str) -> bool:
    """5.2: "only the scheme component is required to be present in the base URL"."""
    return split(text).scheme is not None


class DelimitedURL(NamedTuple):
    """A URL reference in running text."""

    url: str
    start: int
    """Where it stands, its delimiters left out."""
    end: int
    without_hyphens: str | None
    """The other reading if a line breaks after a hyphen, which "may or may not actually be part of the URL"."""


_FOUND = re.compile(r'<(?P<angle>[^<>"]+)>|"(?P<quotes>[^<>"]+)"|(?P<bare>[^\s<>"]+)')
_BROKEN_HYPHEN = re.compile(r"-[^\S\n]*\n\s*")


def delimited(text: str, edition: Literal["url-1997", "uri-2003"] = "url-1997") -> Iterator[DelimitedURL]:
    """Appendix E: the URL references with a scheme in a text, between `"`, between `<` and `>`, or between white space.

    White space inside the delimiters is ignored, and so is a prefix "URL:".  After a hyphen at the end of a line both
    readings are given (decision 97-18).  Punctuation after a bare URL stays: the document has no rule for it.

    edition: the draft of March 2003 repeats the appendix with its number, for the URIs of its own grammar.

    >>> [d.url for d in delimited('"http://test.com/", <URL: http://test.\\n  com/> http://test.com/')]
    ['http://test.com/', 'http://test.com/', 'http://test.com/']
    """
    for match in _FOUND.finditer(text):
        inside = match[match.lastgroup or 0]
        url = _strip_delimiters(inside)
        # A word such as "Note:" is a scheme and nothing else.
        if _reads(url, edition) and (match.lastgroup == "angle" or not url.endswith(":")):
            joined = _strip_delimiters(_BROKEN_HYPHEN.sub("", inside))
            start, end = match.span(match.lastgroup or 0)
            yield DelimitedURL(url, start, end, joined if joined != url else None)


def read_typed(text: str) -> str:
    """Appendix E: what a user typed, "both delimiters and embedded whitespace" taken away, and "URL:".

    >>> read_typed(' <URL: http://test.com/ a> ')
    'http://test.com/a'
    """
    bare = text.strip()
    if len(bare) > 1 and bare[0] + bare[-1] in ("<>", '""'):
        bare = bare[1:-1]
    return _strip_delimiters(bare)


def _strip_delimiters(text: str) -> str:
    return _WHITE.sub("", text.strip().removeprefix("URL:"))


_REFERENCES = {"url-1997": ("url1997", "printed-URL-reference"), "uri-2003": ("uri2003", "absolute-URI-reference")}
"""The grammar of an edition and its rule for references with a scheme."""


def _reads(text: str, edition: str) -> bool:
    """Whether it can be read as a URL: it has a scheme and holds only what a URL can hold (decision 97-19)."""
    name, rule = _REFERENCES[edition]
    return _absolute(text) and grammar(name).automaton(rule).accepts(text)
