"""References in JSON-LD 1.1: IRIs according to its keywords, its contexts and schema.org.

No context is fetched.  References are strings that are URIs as a whole, and also:

- the values of `@id` and `@import`, and the strings of `@context`;
- the values of a term that a context in the document itself defines as `"@type": "@id"`, or as another name of `@id`
  (4.1.2, 4.2.3); in `prefix:suffix` a defined prefix is replaced by its IRI (4.1.5);
- the values of `REFERRING`, unless a context in the document defines the name.

A context applies to the members after it in its object; `@base` does not apply to contexts (4.1.3); null is ignored.
A blank node identifier (`_:b0`), a term (`"@type": "Person"`) and a template of schema.org are not references.
"""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple

from overthere.base import Base
from overthere.links.documents import json
from overthere.links.documents.scope import LONGEST, narrow_base
from overthere.links.model import Found

REFERRING = frozenset(
    (
        "acquireLicensePage", "actionableFeedbackPolicy", "additionalType", "afterMedia", "archivedAt", "beforeMedia",
        "codeRepository", "contentUrl", "correctionsPolicy", "discussionUrl", "diversityPolicy",
        "diversityStaffingReport", "downloadUrl", "duringMedia", "embedUrl", "ethicsPolicy", "gameLocation", "hasMap",
        "image", "installUrl", "isBasedOn", "isBasedOnUrl", "layoutImage", "license", "logo", "mainEntityOfPage", "map",
        "maps", "masthead", "missionCoveragePrioritiesPolicy", "noBylinesPolicy", "paymentUrl", "prescribingInfo",
        "publishingPrinciples", "relatedLink", "replyToUrl", "sameAs", "screenshot", "sdLicense", "serviceUrl",
        "significantLink", "significantLinks", "target", "thumbnailUrl", "tourBookingPage", "trackingUrl",
        "unnamedSourcesPolicy", "url", "usageInfo", "verificationFactCheckingPolicy",
    )
)  # fmt: skip
"""Properties of schema.org that expect a URL, possibly also an object, but not text."""
_TEMPLATE_PROPERTY = "urlTemplate"
_VOCABULARIES = ("schema:", "http://schema.org/", "https://schema.org/")


class _Term(NamedTuple):
    """The definition of a term in a context."""

    iri: str = ""
    refers: bool = False
    """Whether its values are IRIs, or it is an alias of `@id`."""


class _Role(Enum):
    NODE = 1
    CONTEXT = 2
    """A context, or an array of contexts."""
    TERM = 3
    """The definition of a term."""
    TERM_DETAIL = 4
    """An array or object inside the definition of a term."""


class _Node:
    """The facts of JSON-LD about an array or object that is open."""

    def __init__(self, role: _Role, owner: _Node | None = None, is_reference: bool = False) -> None:
        self.role = role
        self.owner: _Node = owner or self
        """For a context or a definition in it: the object to which it applies; otherwise the node itself."""
        self.is_reference = is_reference
        """Whether the strings of its @list or @set are references."""
        self.iri: str = ""
        self.refers: bool = False
        self.shadowed_terms: list[tuple[str, _Term | None]] = []
        """Each term that its contexts define, with the definition outside, or None."""


class LDReader(json.JSONReader):
    def __init__(self, outer: Base) -> None:
        super().__init__(outer)
        self.nodes: list[_Node] = []
        self.terms: dict[str, _Term] = {}

    def begin_container(self, container: json.Container) -> None:
        parent, parent_node = (self.open[-2], self.nodes[-1]) if self.nodes else (None, None)
        if parent is None or parent_node is None:
            node = _Node(_Role.NODE)
        elif parent_node.role is _Role.CONTEXT:
            node = _Node(_Role.CONTEXT if parent.is_array else _Role.TERM, parent_node.owner)
        elif parent_node.role is not _Role.NODE:
            node = _Node(_Role.TERM_DETAIL)
        elif parent.name == "@context" and not parent.is_array:
            node = _Node(_Role.CONTEXT, parent_node)
        else:
            node = _Node(_Role.NODE, is_reference=parent.is_reference)
        self.nodes.append(node)

    def end_container(self, container: json.Container) -> None:
        node = self.nodes.pop()
        if node.role is _Role.TERM:
            self._define_term(node.owner, self.open[-1].name, _Term(node.iri, node.refers or node.iri == "@id"))
        for name, term in reversed(node.shadowed_terms):
            if term is None:
                del self.terms[name]
            else:
                self.terms[name] = term

    def _define_term(self, owner: _Node, name: str, term: _Term) -> None:
        owner.shadowed_terms.append((name, self.terms.get(name)))
        self.terms[name] = term

    def handle_name(self, parent: json.Container, raw: str) -> Found | None:
        node, name = self.nodes[-1], parent.name
        if node.role is not _Role.NODE:
            parent.is_reference = node.role is _Role.CONTEXT and name in ("@base", "@import")
        elif name in ("@list", "@set"):
            parent.is_reference = node.is_reference
        elif name.startswith("@"):
            parent.is_reference = name in ("@id", "@context")
        elif name in self.terms:
            parent.is_reference = self.terms[name].refers
        else:
            parent.is_reference = self._local_name(name) in REFERRING
        return None

    def _local_name(self, name: str) -> str:
        for vocabulary in _VOCABULARIES:
            name = name.removeprefix(vocabulary)
        return name

    def handle_value(self, parent: json.Container | None, text: str) -> Found | None:
        if parent is None:
            return super().handle_value(parent, text)
        node = self.nodes[-1]
        base = None if parent.name in ("@context", "@import") or node.role is _Role.CONTEXT else parent.base
        if node.role is _Role.TERM:
            if parent.name == "@id":
                node.iri = text
            elif parent.name == "@type":
                node.refers |= text == "@id"
        elif node.role is _Role.CONTEXT and not parent.is_array:
            if parent.name == "@base":
                return self._rebase(node.owner, text)
            if not parent.name.startswith("@"):
                self._define_term(node.owner, parent.name, _Term(text, text == "@id"))
        if self._local_name(parent.name) == _TEMPLATE_PROPERTY or text.startswith("_:"):
            return None
        prefix, colon, suffix = text.partition(":")
        term = self.terms.get(prefix) if colon and not suffix.startswith("//") else None
        if parent.is_reference and text and term is not None and len(term.iri) <= LONGEST and json.is_uri(term.iri):
            return Found(self.pointer(), text, base, target=term.iri + suffix)
        return Found(self.pointer(), text, base) if (parent.is_reference and text) or json.is_uri(text) else None

    def _rebase(self, owner: _Node, text: str) -> Found:
        container = self.open[self.nodes.index(owner)]
        reference = Found(self.pointer(), text, container.base)
        container.base = narrow_base(text, container.base or self.outer, "@base") or container.base
        return reference
