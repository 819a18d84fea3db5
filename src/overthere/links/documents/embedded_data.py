"""Other data in HTML: meta elements of Open Graph and Twitter, JSON in scripts, `srcdoc`, some attributes.

Read by choice (`Options.metadata`); what is not asked for is passed over, and counted.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from overthere.base import Base
from overthere.links.documents import html, json, jsonld
from overthere.links.documents.scope import narrow_base
from overthere.links.model import EmbeddedContent, Found, Note, Options, PassedContent

__all__ = ["kind", "read", "read_within"]

_SPACE = "\t\n\f\r "


def kind(name: str) -> str:
    """What is passed over under this name of `html.EMBEDDED`."""
    name = name.rpartition(" ")[2]
    return next(names[name] for names in html.EMBEDDED.values() if name in names)


def read(
    embedded: EmbeddedContent, base: Base, options: Options, depth: int = 0
) -> Iterator[Found | Note | PassedContent]:
    """The references in it; `where` is "meta og:image", "img data-src", or "script importmap > " and a JSON Pointer, or
    "iframe srcdoc > " and what it is in that document.

    base: of the document.
    depth: how many containers it is in; a document in `srcdoc` is another, and there are no more than `options.depth`.
    """
    name, text = embedded
    if not options.metadata:
        yield PassedContent(kind(name))
    elif name == "srcdoc":
        yield from _document(text, base, options, depth)
    elif name in _SCRIPTS:
        place, reader = _SCRIPTS[name]
        for one in reader(base).read(text):
            # The document is not cut off where its script is.
            if isinstance(one, Note):
                yield Note("corrupt") if one.kind == "truncated" else one
            else:
                yield one._replace(where=f"script {place} > {one.where}")
    elif (chosen := html.CHOSEN.get(name.rpartition(" ")[2])) is not None:
        _, way, _ = chosen
        for url in html.values(way, text):
            if way != "one" or _is_iri(url):
                yield Found(name, url)
    elif (text := text.strip(_SPACE)) and (name not in html.OBJECTS or json.is_uri(text)):
        yield Found(f"meta {name}", text)


def _is_iri(text: str) -> bool:
    """Whether a value of RDFa is no CURIE (RDFa Core 1.1 7.4.3): a scheme that is none is the prefix of one."""
    return not text.startswith(("[", "_:")) and (json.is_uri(text) or ":" not in text.partition("/")[0])


def _document(text: str, base: Base, options: Options, depth: int) -> Iterator[Found | Note | PassedContent]:
    """A document of its own, whose fallback base is that of the document around it (HTML 2.4.2, 7.3.1.2)."""
    if depth >= options.depth:
        yield Note("too-deep")
        return
    page = html.read(text)
    inner = base if page.base is None else narrow_base(page.base, base, "HTML base")
    if inner is None:
        yield Note("too-large")
        inner = base
    yield from map(Note, page.notes)
    for one in read_within(page.items, inner, options, depth + 1):
        if isinstance(one, Found):
            outer = base if one.where == "base href" else one.base or inner
            one = one._replace(where=f"iframe srcdoc > {one.where}", base=outer)
        yield one


def read_within(
    references: list[Found | EmbeddedContent], base: Base, options: Options, depth: int
) -> Iterator[Found | Note | PassedContent]:
    """What `html.read` has found, and in it what is embedded; of this, `base` is that of the document.

    The reference of a `base` element has none, nor has any other that is not embedded.
    """
    for one in references:
        if isinstance(one, Found):
            yield one
        else:
            yield from read(one, base, options, depth)


# "/", "./", "../", or an absolute URL (HTML 8.1.6.2, "resolving a URL-like module specifier").
_URL_LIKE = re.compile(r"\.{0,2}/|[A-Za-z][A-Za-z0-9+.-]*+:")


class _ImportMap(json.JSONReader):
    """`imports`, `scopes` and `integrity`; a specifier that is no URL is a name (HTML 8.1.6.2)."""

    def take_name(self, inner: json.Open, raw: str) -> Found | None:
        path, key = self._path(), self.characters(raw)
        inner.says = path in (["imports"], ["scopes", ""])
        if path == ["scopes"] or ((inner.says or path == ["integrity"]) and _URL_LIKE.match(key)):
            return Found(f"{inner.pointer} key", key)
        return None

    def _path(self) -> list[str]:
        """The first name, and as many blanks as objects follow that have names."""
        if not 2 <= len(self.open) <= 3 or any(one.array for one in self.open):
            return []
        return [self.open[0].name, *[""] * (len(self.open) - 2)]

    def reference(self, inner: json.Open | None, text: str) -> Found | None:
        if inner is None or inner.array or not inner.says or not _URL_LIKE.match(text):
            return None
        return Found(self.pointer(), text)


class _SpeculationRules(json.JSONReader):
    """The `urls` of rules; what `where` matches are patterns (HTML 7.6.1)."""

    def reference(self, inner: json.Open | None, text: str) -> Found | None:
        path = [one.array for one in self.open]
        if path != [False, True, False, True] or self.open[2].name != "urls":
            return None
        return Found(self.pointer(), text)


_SCRIPTS: dict[str, tuple[str, type[json.JSONReader]]] = {
    "application/ld+json": ("ld+json", jsonld.LDReader),
    "importmap": ("importmap", _ImportMap),
    "speculationrules": ("speculationrules", _SpeculationRules),
}
