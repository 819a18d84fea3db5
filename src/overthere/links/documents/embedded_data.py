"""Other data in HTML: meta elements of Open Graph and Twitter, JSON in scripts, `srcdoc`, some attributes.

It is read on request (`Options.metadata`); otherwise it is skipped and counted.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from overthere.base import Base
from overthere.links.documents import html, json, jsonld
from overthere.links.documents.scope import narrow_base
from overthere.links.model import EmbeddedContent, Found, Note, Options, PassedContent

_SPACE = "\t\n\f\r "


def kind(name: str) -> str:
    """Return the kind under which content is counted when it is skipped; name: `EmbeddedContent.name`."""
    name = name.rpartition(" ")[2]
    return next(names[name] for names in html.EMBEDDED.values() if name in names)


def read(
    embedded: EmbeddedContent, base: Base, options: Options, depth: int = 0
) -> Iterator[Found | Note | PassedContent]:
    """Yield the references in embedded content; `where` is "meta og:image", "img data-src", "script importmap > " with
    a JSON Pointer, or "iframe srcdoc > " with the place in that document.

    base: the base of the document around it.
    depth: the number of containers around it; a document in `srcdoc` is one more, up to `options.depth`.
    """
    name, text = embedded
    if not options.metadata:
        yield PassedContent(kind(name))
    elif name == "srcdoc":
        yield from _read_srcdoc(text, base, options, depth)
    elif name in _SCRIPTS:
        place, reader = _SCRIPTS[name]
        for item in reader(base).read(text):
            # A truncated script does not mean that the document is truncated.
            if isinstance(item, Note):
                yield Note("corrupt") if item.kind == "truncated" else item
            else:
                yield item._replace(where=f"script {place} > {item.where}")
    elif (chosen := html.CHOSEN.get(name.rpartition(" ")[2])) is not None:
        _, syntax, _ = chosen
        for url in html.values(syntax, text):
            if syntax != "one" or _is_iri(url):
                yield Found(name, url)
    elif (text := text.strip(_SPACE)) and (name not in html.OBJECTS or json.is_uri(text)):
        yield Found(f"meta {name}", text)


def _is_iri(text: str) -> bool:
    """Whether an RDFa value is not a CURIE (RDFa Core 1.1 7.4.3), whose prefix looks like an unknown scheme."""
    return not text.startswith(("[", "_:")) and (json.is_uri(text) or ":" not in text.partition("/")[0])


def _read_srcdoc(text: str, base: Base, options: Options, depth: int) -> Iterator[Found | Note | PassedContent]:
    """Read a separate document, whose fallback base is that of the document around it (HTML 2.4.2, 7.3.1.2)."""
    if depth >= options.depth:
        yield Note("too-deep")
        return
    page = html.read(text)
    inner = base if page.base is None else narrow_base(page.base, base, "HTML base")
    if inner is None:
        yield Note("too-large")
        inner = base
    yield from map(Note, page.notes)
    for item in read_within(page.items, inner, options, depth + 1):
        if isinstance(item, Found):
            outer = base if item.where == "base href" else item.base or inner
            item = item._replace(where=f"iframe srcdoc > {item.where}", base=outer)
        yield item


def read_within(
    references: list[Found | EmbeddedContent], base: Base, options: Options, depth: int
) -> Iterator[Found | Note | PassedContent]:
    """Yield the references of `html.read`, and those in the embedded content among them.

    base: the base of the document, used only for embedded content; other references stay without a base.
    """
    for item in references:
        if isinstance(item, Found):
            yield item
        else:
            yield from read(item, base, options, depth)


# "/", "./", "../", or an absolute URL (HTML 8.1.6.2, "resolving a URL-like module specifier").
_URL_LIKE = re.compile(r"\.{0,2}/|[A-Za-z][A-Za-z0-9+.-]*+:")


class _ImportMap(json.JSONReader):
    """Reads `imports`, `scopes` and `integrity`; a specifier that is not a URL is a name (HTML 8.1.6.2)."""

    def handle_name(self, parent: json.Container, raw: str) -> Found | None:
        path, key = self._path(), self.unescape(raw)
        parent.is_reference = path in (["imports"], ["scopes", ""])
        if path == ["scopes"] or ((parent.is_reference or path == ["integrity"]) and _URL_LIKE.match(key)):
            return Found(f"{parent.pointer} key", key)
        return None

    def _path(self) -> list[str]:
        """Return the name in the outermost of two open objects, with "" after it if there are three; otherwise []."""
        if not 2 <= len(self.open) <= 3 or any(container.is_array for container in self.open):
            return []
        return [self.open[0].name, *[""] * (len(self.open) - 2)]

    def handle_value(self, parent: json.Container | None, text: str) -> Found | None:
        if parent is None or parent.is_array or not parent.is_reference or not _URL_LIKE.match(text):
            return None
        return Found(self.pointer(), text)


class _SpeculationRules(json.JSONReader):
    """Reads the `urls` of rules; `where` contains patterns instead (HTML 7.6.1)."""

    def handle_value(self, parent: json.Container | None, text: str) -> Found | None:
        path = [container.is_array for container in self.open]
        if path != [False, True, False, True] or self.open[2].name != "urls":
            return None
        return Found(self.pointer(), text)


_SCRIPTS: dict[str, tuple[str, type[json.JSONReader]]] = {
    "application/ld+json": ("ld+json", jsonld.LDReader),
    "importmap": ("importmap", _ImportMap),
    "speculationrules": ("speculationrules", _SpeculationRules),
}
