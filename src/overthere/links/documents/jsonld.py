"""References in JSON-LD 1.1: IRIs according to its keywords, its contexts and schema.org.

No context is fetched.  References are, beside strings that are URIs as a whole:

- the values of `@id` and `@import`, and the strings of `@context`;
- those of a term that a context in the document itself defines as `"@type": "@id"`, or as another name of `@id`
  (4.1.2, 4.2.3); with `prefix:rest` for what the prefix is defined as (4.1.5), if it is;
- those of `REFERRING`, unless a context in the document defines the name.

A context counts for what follows it in its object, and `@base` for all but contexts (4.1.3); null takes nothing back.
A blank node identifier (`_:b0`) is no reference; nor is a term (`"@type": "Person"`), nor a template of schema.org.
"""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple

from overthere.base import Base
from overthere.links.documents import json
from overthere.links.documents.scope import LONGEST, narrow_base
from overthere.links.model import Found

__all__ = ["REFERRING", "LDReader"]

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
"""Properties of schema.org that expect a URL, alone or beside things, and no text."""
_TEMPLATES = "urlTemplate"
_VOCABULARIES = ("schema:", "http://schema.org/", "https://schema.org/")


class _Term(NamedTuple):
    """What a context says of a term."""

    iri: str = ""
    refers: bool = False
    """Its values are IRIs, or it stands for `@id`."""


class _Role(Enum):
    NODE = 1
    CONTEXT = 2
    """A context, or an array of some."""
    TERM = 3
    """The definition of a term."""
    OTHER = 4
    """What is within that."""


class _Node:
    """What is known of an array or object of the document beside what JSON says."""

    def __init__(self, role: _Role, owner: _Node | None = None, says: bool = False) -> None:
        self.role = role
        self.owner: _Node = owner or self
        """Of a context: the object that has it."""
        self.says = says
        """Its @list or @set are references."""
        self.iri: str = ""
        self.refers: bool = False
        self.before: list[tuple[str, _Term | None]] = []
        """What the terms meant outside that its contexts define."""


class LDReader(json.JSONReader):
    def __init__(self, outer: Base) -> None:
        super().__init__(outer)
        self.nodes: list[_Node] = []
        self.terms: dict[str, _Term] = {}

    def begin_container(self, new: json.Open) -> None:
        inner, outer = (self.open[-2], self.nodes[-1]) if self.nodes else (None, None)
        if inner is None or outer is None:
            made = _Node(_Role.NODE)
        elif outer.role is _Role.CONTEXT:
            made = _Node(_Role.CONTEXT if inner.array else _Role.TERM, outer.owner)
        elif outer.role is not _Role.NODE:
            made = _Node(_Role.OTHER)
        elif inner.name == "@context" and not inner.array:
            made = _Node(_Role.CONTEXT, outer)
        else:
            made = _Node(_Role.NODE, says=inner.says)
        self.nodes.append(made)

    def end_container(self, last: json.Open) -> None:
        node = self.nodes.pop()
        if node.role is _Role.TERM:
            self.define(node.owner, self.open[-1].name, _Term(node.iri, node.refers or node.iri == "@id"))
        for name, term in reversed(node.before):
            if term is None:
                del self.terms[name]
            else:
                self.terms[name] = term

    def define(self, owner: _Node, name: str, term: _Term) -> None:
        owner.before.append((name, self.terms.get(name)))
        self.terms[name] = term

    def take_name(self, inner: json.Open, raw: str) -> Found | None:
        node, name = self.nodes[-1], inner.name
        if node.role is not _Role.NODE:
            inner.says = node.role is _Role.CONTEXT and name in ("@base", "@import")
        elif name in ("@list", "@set"):
            inner.says = node.says
        elif name.startswith("@"):
            inner.says = name in ("@id", "@context")
        elif name in self.terms:
            inner.says = self.terms[name].refers
        else:
            inner.says = self._of_schema(name) in REFERRING
        return None

    def _of_schema(self, name: str) -> str:
        for vocabulary in _VOCABULARIES:
            name = name.removeprefix(vocabulary)
        return name

    def reference(self, inner: json.Open | None, text: str) -> Found | None:
        if inner is None:
            return super().reference(inner, text)
        node = self.nodes[-1]
        base = None if inner.name in ("@context", "@import") or node.role is _Role.CONTEXT else inner.base
        if node.role is _Role.TERM:
            if inner.name == "@id":
                node.iri = text
            elif inner.name == "@type":
                node.refers |= text == "@id"
        elif node.role is _Role.CONTEXT and not inner.array:
            if inner.name == "@base":
                return self._rebase(node.owner, text)
            if not inner.name.startswith("@"):
                self.define(node.owner, inner.name, _Term(text, text == "@id"))
        if self._of_schema(inner.name) == _TEMPLATES or text.startswith("_:"):
            return None
        prefix, colon, rest = text.partition(":")
        known = self.terms.get(prefix) if colon and not rest.startswith("//") else None
        if inner.says and text and known is not None and len(known.iri) <= LONGEST and json.is_uri(known.iri):
            return Found(self.pointer(), text, base, target=known.iri + rest)
        return Found(self.pointer(), text, base) if (inner.says and text) or json.is_uri(text) else None

    def _rebase(self, owner: _Node, text: str) -> Found:
        place = self.open[self.nodes.index(owner)]
        reference = Found(self.pointer(), text, place.base)
        place.base = narrow_base(text, place.base or self.outer, "@base") or place.base
        return reference
