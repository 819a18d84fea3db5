"""draft-fielding-url-syntax-05: base URLs of documents (5.1), delimiters in text (Appendix E)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Literal, NamedTuple

from overthere.editions.url1997 import resolve, split
from overthere.grammar.library import grammar
from overthere.ground.redact import hides_secrets

Layer = Literal["content", "entity", "retrieval", "default"]

_WHITE = re.compile(r"\s+")


@hides_secrets
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
    """Return the base URL of the innermost layer that defines one (5.1).

    embedded: the base in the content itself, such as the HREF of HTML's BASE element (Appendix D).
    headers: the fields around the document; Content-Base takes precedence over Content-Location (decision 97-16).
    entity: the base URL of the encapsulating entity.  retrieval: the last URL that was requested.

    A value without a scheme is skipped, and a fragment is not part of a URL (3).  A relative Content-Location is
    first resolved against the base of the outer layers.

    >>> base_url(headers=[("content-base", "http://www.ics.uci.edu/Test/a/b/c")], retrieval="http://h/")
    BaseURL(url='http://www.ics.uci.edu/Test/a/b/c', layer='content')
    """
    fields = {name.lower(): _WHITE.sub("", value) for name, value in reversed(list(headers))}
    for base_text in (embedded, fields.get("content-base")):
        if base_text is not None and _is_absolute(base_text):
            return BaseURL(_without_fragment(base_text), "content")
    outer = BaseURL("", "default")
    if entity is not None and _is_absolute(entity):
        outer = BaseURL(_without_fragment(entity), "entity")
    elif retrieval is not None and _is_absolute(retrieval):
        outer = BaseURL(_without_fragment(retrieval), "retrieval")
    location = fields.get("content-location", "")
    if location and not _is_absolute(location) and outer.url:
        location = resolve(outer.url, location).uri or ""
    return BaseURL(_without_fragment(location), "content") if _is_absolute(location) else outer


def _without_fragment(text: str) -> str:
    return text.partition("#")[0]


def _is_absolute(text: str) -> bool:
    """Whether a URL has a scheme (5.2: "only the scheme component is required to be present in the base URL")."""
    return split(text).scheme is not None


@hides_secrets
class DelimitedURL(NamedTuple):
    """A URL reference in running text."""

    url: str
    start: int
    """Its start in the text, without delimiters."""
    end: int
    without_hyphens: str | None
    """The URL without the hyphen before a line break, which "may or may not actually be part of the URL"."""


_CANDIDATE = re.compile(r'<(?P<angle>[^<>"]+)>|"(?P<quotes>[^<>"]+)"|(?P<bare>[^\s<>"]+)')
_BROKEN_HYPHEN = re.compile(r"-[^\S\n]*\n\s*")


def delimited(text: str, edition: Literal["url-1997", "uri-2003"] = "url-1997") -> Iterator[DelimitedURL]:
    """Yield the URL references with a scheme in a text, within quotes, `<` and `>`, or white space (Appendix E).

    White space inside the delimiters is ignored, and so is a prefix "URL:".  For a hyphen at the end of a line, both
    readings are returned (decision 97-18).  Punctuation after a bare URL stays: the document has no rule for it.

    edition: the draft of March 2003 repeats the appendix with its number, for the URIs of its own grammar.

    >>> [d.url for d in delimited('"http://test.com/", <URL: http://test.\\n  com/> http://test.com/')]
    ['http://test.com/', 'http://test.com/', 'http://test.com/']
    """
    name, rule = _REFERENCES[edition]
    automaton = grammar(name).automaton(rule)
    for match in _CANDIDATE.finditer(text):
        inside = match[match.lastgroup or 0]
        url = _strip_delimiters(inside)
        # It has only characters that a URL can have (97-19); a word such as "Note:" looks like a scheme without a URL.
        is_url = _is_absolute(url) and automaton.accepts(url)
        if is_url and (match.lastgroup == "angle" or not url.endswith(":")):
            joined = _strip_delimiters(_BROKEN_HYPHEN.sub("", inside))
            start, end = match.span(match.lastgroup or 0)
            yield DelimitedURL(url, start, end, joined if joined != url else None)


def read_typed(text: str) -> str:
    """Remove "both delimiters and embedded whitespace" and "URL:" from a typed URL (Appendix E).

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
