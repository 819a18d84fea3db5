"""References in XML: Atom, RSS, sitemaps, SVG, XHTML and any vocabulary; xml:base (W3C XML Base).

A place consists of the local names of element and attribute.  Names outside of the vocabularies `MAIN` have the
customary prefix of their namespace, whatever prefix the document uses.
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
    attribute_syntax,
    has_rules,
    text_syntax,
    vocabulary_of,
)
from overthere.links.model import CUT_SUFFIX, Document, EmbeddedContent, Found, Note, Options, PassedContent

__all__ = ["read"]

_SPACE = " \t\r\n"
_PREFIXES = frozenset(NAMESPACES.values())
_MAX_NAME_LENGTH = 64  # characters of a name that a place shows
_MAX_PAIRS = 4096  # the maximum number of references in one attribute
_MAX_CACHED_NAMES = 4096
_CHILDLESS = ("escaped", "inline")
"""Forms of `Encoding` whose text is decoded only if the element has no child elements."""
_PSEUDO_HREF = re.compile(r"""(?<![^\s])href\s*+=\s*+(?:"([^"]*+)"|'([^']*+)')""")


def read(document: Document, options: Options) -> Iterator[Found | Note | PassedContent]:
    """Yield the references of an XML document, in its order.

    Names are not references: namespaces, `atom:id`, a `guid` that is not a permanent link.  HTML text in a feed is read
    as HTML, with places such as "description > a href"; so is content in base64, which is counted as skipped if its
    media type is neither HTML, text nor XML, and noted if it cannot be decoded.

    Nothing is fetched: no external subset, no external entity.
    """
    text, notes = characters(document.content, document.charset)
    receiver = _XMLReader(document, options)
    seen = set(notes)
    yield from notes
    for note in events(text, receiver):
        yield from receiver.results
        receiver.results.clear()
        if note is not None and note not in seen:
            seen.add(note)
            yield note
    if receiver.is_too_large:
        yield Note("too-large")


class _OpenElement(NamedTuple):
    """An open element, with the state to restore at its end tag."""

    place: str
    syntax: str | Encoding | None
    text_pieces: list[str] | None
    outer_base: Base | None
    """The base outside, if the element has an xml:base."""
    outer_prefixes: dict[str, str | None] | None
    """The outer namespaces, or None, of the prefixes that the element declares."""


def _source_part(base: Base) -> Base:
    """Return the base of relationships: `a/b.xml` is the part that `a/_rels/b.xml.rels` belongs to (ECMA-376-2 6.5)."""
    folder, _, file_name = base.uri.path.rpartition("/")
    if not file_name.endswith(".rels") or not folder.endswith("_rels"):
        return base
    return base._replace(uri=base.uri.join(f"../{file_name.removesuffix('.rels')}"))


class _XMLReader:
    """A `Receiver` that collects references, notes and skipped content in `results`."""

    def __init__(self, document: Document, options: Options) -> None:
        self.document_base = document.base
        self.depth, self.options = document.depth, options
        self.page_base: Base | None = None
        """The base by the first `base` element of XHTML; it applies to later elements."""
        self.root = ""
        """The name of the root element: a `base` counts only in `html`, not in XHTML inside a feed."""
        self.xml_base: Base | None = None
        """The base by the nearest xml:base."""
        self.results: list[Found | Note | PassedContent] = []
        self.is_too_large = self.is_searched = False
        self.elements: list[_OpenElement] = []
        self.text_pieces: list[str] | None = None
        self.vocabulary = ""
        self.prefixes: dict[str, str] = {}
        self.resolved_names: dict[str, tuple[str, str, str]] = {}
        self.attribute_syntaxes: dict[tuple[str, str], tuple[str, str] | None] = {}

    def add_reference(self, place: str, reference: str, codebase: str | None = None) -> None:
        base = self.xml_base or self.page_base
        self.results.append(Found(place, reference.strip(_SPACE), base, codebase=codebase))

    def read_embedded(self, embedded: EmbeddedContent, place: str = "") -> None:
        base = self.xml_base or self.page_base
        for result in embedded_data.read(embedded, base or self.document_base, self.options, self.depth):
            if isinstance(result, Found):
                result = result._replace(where=place + result.where, base=result.base or base)
            self.results.append(result)

    # The methods of `Receiver`.

    def handle_start(self, name: str, attributes: dict[str, str]) -> None:
        outer_prefixes = self.declare_prefixes(attributes) if attributes else None
        element_name = self.resolved_names.get(name)
        if element_name is None:
            if len(self.resolved_names) > _MAX_CACHED_NAMES:
                self.clear_caches()
            element_name = self.resolved_names[name] = self.resolve_name(name)
        vocabulary, local, place = element_name
        if not self.root:
            self.check_vocabulary(name, vocabulary, local)
        self.root = self.root or local
        outer_base = None
        if attributes:
            if "xml:base" in attributes:
                outer_base = self.xml_base or self.document_base
                self.set_xml_base(place, attributes["xml:base"])
            if vocabulary == "xhtml":
                self.read_xhtml_attributes(place, attributes)
            else:
                self.read_attributes(name, element_name, attributes)
        syntax = self.choose_syntax(element_name, attributes) or ("search" if self.is_searched else None)
        if self.elements and isinstance(parent := self.elements[-1].syntax, Encoding) and parent.form in _CHILDLESS:
            self.elements[-1] = self.elements[-1]._replace(syntax=None)
        self.text_pieces = None if syntax is None else []
        self.elements.append(_OpenElement(place, syntax, self.text_pieces, outer_base, outer_prefixes))

    def check_vocabulary(self, name: str, vocabulary: str, local: str) -> None:
        """Decide by the root element's vocabulary: if it has no rules, URIs are searched in all text."""
        if vocabulary == "relationships":
            self.page_base = _source_part(self.document_base)
        if not vocabulary and not has_rules(self.prefixes.get(name.rpartition(":")[0], ""), local):
            self.is_searched = True
            self.results.append(Note("no-vocabulary"))

    def choose_syntax(self, name: tuple[str, str, str], attributes: dict[str, str]) -> str | Encoding | None:
        """Return how the text of an element is read; None if it contains no references."""
        vocabulary, local, _ = name
        if attributes and self.root in FEEDS and (encoding := declared_encoding(attributes)) is not None:
            return encoding
        syntax = text_syntax(vocabulary, local)
        if syntax in ("typed", "html"):
            return encoding_of(attributes, is_html=syntax == "html")
        if syntax == "link":
            return None if attributes.get("isPermaLink", "").strip(_SPACE).lower() == "false" else "one"
        if vocabulary == "xhtml":
            if local == "script":
                return html.embedded_kind(local, attributes)
            if local == "body" and self.root in FEEDS:
                return Encoding("escaped")
        elif vocabulary == "rdf" and local == "value" and self.elements and self.elements[-1].place == "content:item":
            # Literal child elements if `rdf:parseType` says so, otherwise escaped (RSS 1.0, mod_content).
            return Encoding("escaped")
        elif vocabulary == "content" and local == "encoding":
            uri = next((value for key, value in attributes.items() if self.show_attribute(key) == "rdf:resource"), "")
            if not uri.endswith("#dt-wellformed"):
                self.results.append(Note("unsupported"))
        return syntax

    def handle_end(self) -> None:
        place, syntax, text_pieces, outer_base, outer_prefixes = self.elements.pop()
        if syntax is not None and text_pieces:
            self.read_text(place, syntax, "".join(text_pieces))
        if self.is_searched and self.elements and self.elements[-1].text_pieces is not None:
            self.elements[-1].text_pieces.append(" ")  # no URI continues after a child element
        if outer_base is not None:
            self.xml_base = None if outer_base is self.document_base else outer_base
        if outer_prefixes is not None:
            self.restore_prefixes(outer_prefixes)
        self.text_pieces = self.elements[-1].text_pieces if self.elements else None

    def handle_text(self, data: str) -> None:
        if self.text_pieces is not None:
            self.text_pieces.append(data)

    def handle_instruction(self, target: str, data: str) -> None:
        if target == "xml-stylesheet" and (match := _PSEUDO_HREF.search(data)):
            # A pseudo-attribute (Associating Style Sheets with XML 2), outside of every element.
            self.results.append(Found("xml-stylesheet href", unescape(match[1] or match[2] or "").strip(_SPACE)))

    def handle_system_id(self, kind: str, identifier: str) -> None:
        # It is relative to the document with the declaration, outside of any xml:base (XML 1.0 4.2.2).
        self.results.append(Found(kind, identifier.strip(_SPACE)))

    # Names (Namespaces in XML 1.0).

    def declare_prefixes(self, attributes: dict[str, str]) -> dict[str, str | None] | None:
        outer_prefixes: dict[str, str | None] | None = None
        for name, value in attributes.items():
            if name.startswith("xmlns") and (name == "xmlns" or name[5] == ":"):
                prefix = name[6:]
                outer_prefixes = outer_prefixes or {}
                outer_prefixes[prefix] = self.prefixes.get(prefix)
                self.prefixes[prefix] = value
        if outer_prefixes:
            self.clear_caches()
        return outer_prefixes

    def restore_prefixes(self, outer_prefixes: dict[str, str | None]) -> None:
        for prefix, value in outer_prefixes.items():
            if value is None:
                self.prefixes.pop(prefix, None)
            else:
                self.prefixes[prefix] = value
        self.clear_caches()

    def clear_caches(self) -> None:
        self.resolved_names.clear()
        self.attribute_syntaxes.clear()

    def find_vocabulary(self, prefix: str) -> str | None:
        """Return the vocabulary of a prefix, or None; an undeclared prefix means its customary vocabulary."""
        name = self.prefixes.get(prefix)
        if name is None:
            return prefix if prefix in _PREFIXES else None
        return vocabulary_of(name)

    def resolve_name(self, name: str) -> tuple[str, str, str]:
        """Return the vocabulary of an element, its local name, and the name that places show."""
        prefix, colon, local = name.rpartition(":")
        if not self.elements and not self.vocabulary:
            self.vocabulary = ROOTS.get(local, "")
        if not colon and not self.prefixes.get(""):
            vocabulary = self.vocabulary
        else:
            vocabulary = self.find_vocabulary(prefix) or ("rss" if self.vocabulary == "rss" and not colon else "")
        shown_name = local if len(local) <= _MAX_NAME_LENGTH else f"{local[:_MAX_NAME_LENGTH]}…"
        return vocabulary, local, shown_name if vocabulary in MAIN else f"{vocabulary}:{shown_name}"

    def show_attribute(self, name: str) -> str:
        """Return an attribute name with the customary prefix of its namespace, if that is known."""
        prefix, colon, local = name.rpartition(":")
        if not colon:
            return name
        vocabulary = self.find_vocabulary(prefix)
        return name if vocabulary is None else f"{vocabulary}:{local}"

    # Attributes and text with references.

    def read_attributes(self, name: str, element_name: tuple[str, str, str], attributes: dict[str, str]) -> None:
        for attribute, value in attributes.items():
            key = (name, attribute)
            if key in self.attribute_syntaxes:
                entry = self.attribute_syntaxes[key]
            else:
                shown_name = self.show_attribute(attribute)
                syntax = attribute_syntax(element_name[0], element_name[1], shown_name)
                if len(self.attribute_syntaxes) > _MAX_CACHED_NAMES:
                    self.attribute_syntaxes.clear()
                entry = self.attribute_syntaxes[key] = None if syntax is None else (syntax, shown_name)
            if entry is not None:
                self.read_value(entry[0], element_name[2], entry[1], value)

    def read_value(self, syntax: str, place: str, attribute: str, value: str) -> None:
        if syntax == "one":
            self.add_reference(f"{place} {attribute}", value)
        elif syntax in ("pairs", "several"):
            # Pairs are a namespace name and the location of its schema (XML Schema 1 4.3.2).
            references = value.split(None, 2 * _MAX_PAIRS)
            for reference in references[1 : 2 * _MAX_PAIRS : 2] if syntax == "pairs" else references[: 2 * _MAX_PAIRS]:
                self.add_reference(f"{place} {attribute}", reference)
            self.is_too_large |= len(references) > 2 * _MAX_PAIRS
        elif syntax == "css" and "(" in value:
            for css_place, reference in css.inline(value):
                self.add_reference(f"{place} {css_place if attribute == 'style' else attribute}", reference)

    def read_xhtml_attributes(self, local: str, attributes: dict[str, str]) -> None:
        prefixed: dict[str, str | None] = {self.show_attribute(name): value for name, value in attributes.items()}
        for item in html.references(local, prefixed):
            if isinstance(item, EmbeddedContent):
                self.read_embedded(item)
                continue
            reference_place, reference, *_, codebase = item
            if reference_place == "base href" and self.page_base is None and self.root == "html":
                # HTML: the first one counts, and is resolved against the base outside.
                self.results.append(Found(reference_place, reference, self.xml_base))
                self.page_base = from_content(reference, self.xml_base or self.document_base)
            else:
                self.add_reference(reference_place, reference, codebase)
        kind = None if local == "script" else html.embedded_kind(local, prefixed)
        if kind is not None:
            self.read_embedded(EmbeddedContent(kind, prefixed["srcdoc" if local == "iframe" else "content"] or ""))
        for name in ("rdf:about", "rdf:resource", "xsi:schemaLocation"):
            if name in prefixed:
                self.read_value(attribute_syntax("", "", name) or "", local, name, prefixed[name] or "")

    def set_xml_base(self, place: str, value: str) -> None:
        value = value.strip(_SPACE)
        self.add_reference(f"{place} xml:base", value)
        outer_base = self.xml_base or self.page_base or self.document_base
        inner_base = narrow_base(value, outer_base, "xml:base")
        if inner_base is None:
            self.is_too_large = True
        elif inner_base is not outer_base:
            self.xml_base = inner_base

    def read_text(self, place: str, syntax: str | Encoding, text: str) -> None:
        if isinstance(syntax, Encoding):
            if text.strip(_SPACE):
                self.read_encoded_text(place, syntax, text)
        elif syntax == "one":
            if text.strip(_SPACE):
                self.add_reference(place, text)
        elif syntax == "search" and (":" in text or "www." in text):
            from overthere.links.documents.plaintext import search

            for result in search(text, place):
                self.results += (result, Note("cut")) if result.where.endswith(CUT_SUFFIX) else (result,)
        elif syntax == "style":
            for css_place, reference in css.inline(text):
                self.add_reference(f"{place} {css_place}", reference)
        elif syntax in html.EMBEDDED["type"]:
            self.read_embedded(EmbeddedContent(syntax, text))

    def read_encoded_text(self, place: str, encoding: Encoding, text: str) -> None:
        """Read the references in HTML text or base64 content of an element of a feed."""
        base = self.xml_base or self.page_base
        for content in decode_content(text, encoding, base or self.document_base):
            if isinstance(content, str):
                for item in html.read(content).items:
                    if isinstance(item, EmbeddedContent):
                        self.read_embedded(item, f"{place} > ")
                    else:
                        self.add_reference(f"{place} > {item.where}", item.reference, item.codebase)
            elif not isinstance(content, Document):
                self.results.append(content)
            elif self.depth >= self.options.depth:
                self.results.append(Note("too-deep"))
            else:
                for result in read(content._replace(depth=self.depth + 1), self.options):
                    if isinstance(result, Found):
                        result = result._replace(where=f"{place} > {result.where}", base=result.base or base)
                    self.results.append(result)
