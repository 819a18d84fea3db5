"""References in XML: Atom, RSS, sitemaps, SVG, XHTML and any vocabulary; xml:base (W3C XML Base).

A place is named by element and attribute, by their local names.  What is not of a document's main vocabulary has the
customary prefix of its namespace, whatever prefix the document uses.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from overthere.base import Base, from_content
from overthere.links.documents import css, embedded_data, html
from overthere.links.documents.scope import narrow_base
from overthere.links.documents.xml.encodings import FEEDS, Encoding, declared_encoding, decode_content, encoding_of
from overthere.links.documents.xml.events import characters, events, unescape
from overthere.links.documents.xml.names import (
    MAIN,
    NAMESPACES,
    ROOTS,
    has_rules,
    vocabulary_of,
    way_of_attribute,
    way_of_text,
)
from overthere.links.model import Document, EmbeddedContent, Found, Note, Options, PassedContent

__all__ = ["read"]

_SPACE = " \t\r\n"
_CUSTOMARY = frozenset(NAMESPACES.values())
_NAME = 64  # characters of a name that are shown
_PAIRS = 4096  # schema locations at one element
_CACHE = 4096
_WITHOUT_CHILDREN = ("escaped", "inline")
"""Ways to read the text of an element that has no child elements."""
_PSEUDO = re.compile(r"""(?<![^\s])href\s*+=\s*+(?:"([^"]*+)"|'([^']*+)')""")


def read(document: Document, options: Options) -> Iterator[Found | Note | PassedContent]:
    """The references of an XML document, in its order.

    Left out are names: namespaces, `atom:id`, a `guid` that is no permanent link.  Text that is HTML, in a feed, is
    read as HTML, and its references are at "description > a href"; so is content in base64, which is counted if its
    media type has no reader here, and noted if it cannot be decoded.

    Nothing is fetched: no external subset, no external entity.
    """
    text, notes = characters(document.content, document.charset)
    receiver = _XMLReader(document, options)
    seen = set(notes)
    yield from notes
    for note in events(text, receiver):
        yield from receiver.found
        receiver.found.clear()
        if note is not None and note not in seen:
            seen.add(note)
            yield note
    if receiver.too_long:
        yield Note("too-large")


class _Open(NamedTuple):
    """What an end tag brings back."""

    place: str
    way: str | Encoding | None
    pieces: list[str] | None
    base: Base | None
    """The base outside, if this element has one of its own."""
    prefixes: dict[str, str | None] | None
    """What the prefixes meant outside that this element declares."""


def _source_part(base: Base) -> Base:
    """The base of relationships: the part that they are of, `a/b.xml` of `a/_rels/b.xml.rels` (ECMA-376-2 6.5)."""
    folder, _, last = base.uri.path.rpartition("/")
    if not last.endswith(".rels") or not folder.endswith("_rels"):
        return base
    return base._replace(uri=base.uri.join(f"../{last.removesuffix('.rels')}"))


class _XMLReader:
    """Takes the tags of a document, and keeps what is found."""

    def __init__(self, document: Document, options: Options) -> None:
        self.outer = document.base
        self.depth, self.options = document.depth, options
        self.page: Base | None = None
        """By the first `base` element of XHTML, for what follows."""
        self.root = ""
        """The outermost element: a `base` counts in `html` only, not in a piece of XHTML in a feed."""
        self.scoped: Base | None = None
        """By the nearest xml:base."""
        self.found: list[Found | Note | PassedContent] = []
        self.too_long = self.is_searched = False
        self.elements: list[_Open] = []
        self.pieces: list[str] | None = None
        self.vocabulary = ""
        self.prefixes: dict[str, str] = {}
        self.names: dict[str, tuple[str, str, str]] = {}
        self.ways: dict[tuple[str, str], tuple[str, str] | None] = {}

    def add(self, where: str, reference: str, codebase: str | None = None) -> None:
        base = self.scoped or self.page
        self.found.append(Found(where, reference.strip(_SPACE), base, codebase=codebase))

    def embed(self, one: EmbeddedContent, place: str = "") -> None:
        base = self.scoped or self.page
        for inner in embedded_data.read(one, base or self.outer, self.options, self.depth):
            if isinstance(inner, Found):
                inner = inner._replace(where=place + inner.where, base=inner.base or base)
            self.found.append(inner)

    # What `Receiver` asks for.

    def start(self, name: str, attributes: dict[str, str]) -> None:
        prefixes = self.declare(attributes) if attributes else None
        known = self.names.get(name)
        if known is None:
            if len(self.names) > _CACHE:
                self.clear()
            known = self.names[name] = self.resolve(name)
        vocabulary, local, place = known
        if not self.root:
            self.judge_vocabulary(name, vocabulary, local)
        self.root = self.root or local
        outside = None
        if attributes:
            if "xml:base" in attributes:
                outside = self.scoped or self.outer
                self.rebase(place, attributes["xml:base"])
            if vocabulary == "xhtml":
                self.xhtml(place, attributes)
            else:
                self.attributes(name, known, attributes)
        way = self.choose_reading(known, attributes) or ("search" if self.is_searched else None)
        if self.elements and isinstance(around := self.elements[-1].way, Encoding) and around.way in _WITHOUT_CHILDREN:
            self.elements[-1] = self.elements[-1]._replace(way=None)
        self.pieces = None if way is None else []
        self.elements.append(_Open(place, way, self.pieces, outside, prefixes))

    def judge_vocabulary(self, name: str, vocabulary: str, local: str) -> None:
        """At the root element: where a vocabulary has no rules, the URIs of its text are searched."""
        if vocabulary == "relationships":
            self.page = _source_part(self.outer)
        if not vocabulary and not has_rules(self.prefixes.get(name.rpartition(":")[0], ""), local):
            self.is_searched = True
            self.found.append(Note("no-vocabulary"))

    def choose_reading(self, name: tuple[str, str, str], attributes: dict[str, str]) -> str | Encoding | None:
        """How the text of an element is read; None if it holds no references."""
        vocabulary, local, _ = name
        if attributes and self.root in FEEDS and (encoding := declared_encoding(attributes)) is not None:
            return encoding
        way = way_of_text(vocabulary, local)
        if way in ("typed", "html"):
            return encoding_of(attributes, is_html=way == "html")
        if way == "link":
            return None if attributes.get("isPermaLink", "").strip(_SPACE).lower() == "false" else "one"
        if vocabulary == "xhtml":
            if local == "script":
                return html.embedded_kind(local, attributes)
            if local == "body" and self.root in FEEDS:
                return Encoding("escaped")
        elif vocabulary == "rdf" and local == "value" and self.elements and self.elements[-1].place == "content:item":
            # Literal if `rdf:parseType` says so, otherwise escaped (RSS 1.0, mod_content).
            return Encoding("escaped")
        elif vocabulary == "content" and local == "encoding":
            named = next((value for key, value in attributes.items() if self.attribute(key) == "rdf:resource"), "")
            if not named.endswith("#dt-wellformed"):
                self.found.append(Note("unsupported"))
        return way

    def end(self) -> None:
        place, way, pieces, outside, prefixes = self.elements.pop()
        if way is not None and pieces:
            self.content(place, way, "".join(pieces))
        if self.is_searched and self.elements and self.elements[-1].pieces is not None:
            self.elements[-1].pieces.append(" ")  # no URI goes on behind another element
        if outside is not None:
            self.scoped = None if outside is self.outer else outside
        if prefixes is not None:
            self.undeclare(prefixes)
        self.pieces = self.elements[-1].pieces if self.elements else None

    def text(self, data: str) -> None:
        if self.pieces is not None:
            self.pieces.append(data)

    def instruction(self, target: str, data: str) -> None:
        if target == "xml-stylesheet" and (match := _PSEUDO.search(data)):
            # A pseudo-attribute (Associating Style Sheets with XML 2), outside of every element.
            self.found.append(Found("xml-stylesheet href", unescape(match[1] or match[2] or "").strip(_SPACE)))

    def external(self, kind: str, identifier: str) -> None:
        # Relative to what declares it, and no xml:base is around it (XML 1.0 4.2.2).
        self.found.append(Found(kind, identifier.strip(_SPACE)))

    # Names (Namespaces in XML 1.0).

    def declare(self, attributes: dict[str, str]) -> dict[str, str | None] | None:
        outside: dict[str, str | None] | None = None
        for name, value in attributes.items():
            if name.startswith("xmlns") and (name == "xmlns" or name[5] == ":"):
                prefix = name[6:]
                outside = outside or {}
                outside[prefix] = self.prefixes.get(prefix)
                self.prefixes[prefix] = value
        if outside:
            self.clear()
        return outside

    def undeclare(self, outside: dict[str, str | None]) -> None:
        for prefix, value in outside.items():
            if value is None:
                self.prefixes.pop(prefix, None)
            else:
                self.prefixes[prefix] = value
        self.clear()

    def clear(self) -> None:
        self.names.clear()
        self.ways.clear()

    def namespace(self, prefix: str) -> str | None:
        """The vocabulary of a prefix; None if its namespace is not known.  A known one is taken undeclared, too."""
        name = self.prefixes.get(prefix)
        if name is None:
            return prefix if prefix in _CUSTOMARY else None
        return vocabulary_of(name)

    def resolve(self, name: str) -> tuple[str, str, str]:
        """The vocabulary of an element, its local name, and the name to show."""
        prefix, colon, local = name.rpartition(":")
        if not self.elements and not self.vocabulary:
            self.vocabulary = ROOTS.get(local, "")
        if not colon and not self.prefixes.get(""):
            vocabulary = self.vocabulary
        else:
            vocabulary = self.namespace(prefix) or ("rss" if self.vocabulary == "rss" and not colon else "")
        shown = local if len(local) <= _NAME else f"{local[:_NAME]}…"
        return vocabulary, local, shown if vocabulary in MAIN else f"{vocabulary}:{shown}"

    def attribute(self, name: str) -> str:
        """An attribute by the customary prefix of its namespace; its local name alone says nothing of another."""
        prefix, colon, local = name.rpartition(":")
        if not colon:
            return name
        known = self.namespace(prefix)
        return name if known is None else f"{known}:{local}"

    # What holds references.

    def attributes(self, name: str, known: tuple[str, str, str], attributes: dict[str, str]) -> None:
        for attribute, value in attributes.items():
            key = (name, attribute)
            if key in self.ways:
                way = self.ways[key]
            else:
                shown = self.attribute(attribute)
                how = way_of_attribute(known[0], known[1], shown)
                if len(self.ways) > _CACHE:
                    self.ways.clear()
                way = self.ways[key] = None if how is None else (how, shown)
            if way is not None:
                self.value(way[0], known[2], way[1], value)

    def value(self, way: str, place: str, attribute: str, value: str) -> None:
        if way == "one":
            self.add(f"{place} {attribute}", value)
        elif way in ("pairs", "several"):
            # In pairs: namespace names and where their schemas are, by turns (XML Schema 1 4.3.2).
            references = value.split(None, 2 * _PAIRS)
            for reference in references[1 : 2 * _PAIRS : 2] if way == "pairs" else references[: 2 * _PAIRS]:
                self.add(f"{place} {attribute}", reference)
            self.too_long |= len(references) > 2 * _PAIRS
        elif way == "css" and "(" in value:
            for where, reference in css.inline(value):
                self.add(f"{place} {where if attribute == 'style' else attribute}", reference)

    def xhtml(self, local: str, attributes: dict[str, str]) -> None:
        shown: dict[str, str | None] = {self.attribute(name): value for name, value in attributes.items()}
        for one in html.references(local, shown):
            if isinstance(one, EmbeddedContent):
                self.embed(one)
                continue
            where, reference, *_, codebase = one
            if where == "base href" and self.page is None and self.root == "html":
                # HTML: the first one counts, and is resolved against what stands outside of it.
                self.found.append(Found(where, reference, self.scoped))
                self.page = from_content(reference, self.scoped or self.outer)
            else:
                self.add(where, reference, codebase)
        known = None if local == "script" else html.embedded_kind(local, shown)
        if known is not None:
            self.embed(EmbeddedContent(known, shown["srcdoc" if local == "iframe" else "content"] or ""))
        for name in ("rdf:about", "rdf:resource", "xsi:schemaLocation"):
            if name in shown:
                self.value(way_of_attribute("", "", name) or "", local, name, shown[name] or "")

    def rebase(self, place: str, value: str) -> None:
        value = value.strip(_SPACE)
        self.add(f"{place} xml:base", value)
        around = self.scoped or self.page or self.outer
        inner = narrow_base(value, around, "xml:base")
        if inner is None:
            self.too_long = True
        elif inner is not around:
            self.scoped = inner

    def content(self, place: str, way: str | Encoding, text: str) -> None:
        if isinstance(way, Encoding):
            if text.strip(_SPACE):
                self.add_content(place, way, text)
        elif way == "one":
            if text.strip(_SPACE):
                self.add(place, text)
        elif way == "search" and (":" in text or "www." in text):
            from overthere.links.documents.plaintext import CUT_SUFFIX, search

            for one in search(text, place):
                self.found += (one, Note("cut")) if one.where.endswith(CUT_SUFFIX) else (one,)
        elif way == "style":
            for where, reference in css.inline(text):
                self.add(f"{place} {where}", reference)
        elif way in html.EMBEDDED["type"]:
            self.embed(EmbeddedContent(way, text))

    def add_content(self, place: str, encoding: Encoding, text: str) -> None:
        """The references in what an element of a feed holds as HTML or in base64."""
        base = self.scoped or self.page
        for content in decode_content(text, encoding, base or self.outer):
            if isinstance(content, str):
                for one in html.read(content).items:
                    if isinstance(one, EmbeddedContent):
                        self.embed(one, f"{place} > ")
                    else:
                        self.add(f"{place} > {one.where}", one.reference, one.codebase)
            elif not isinstance(content, Document):
                self.found.append(content)
            elif self.depth >= self.options.depth:
                self.found.append(Note("too-deep"))
            else:
                for found in read(content._replace(depth=self.depth + 1), self.options):
                    if isinstance(found, Found):
                        found = found._replace(where=f"{place} > {found.where}", base=found.base or base)
                    self.found.append(found)
