"""Reads a document: its references, its anchors, and what locates each reference."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from importlib import import_module
from typing import NamedTuple

from overthere.base import Base, from_content
from overthere.broken import anchors
from overthere.broken.heading_slugs import slug
from overthere.broken.markdown_anchors import MarkdownAnchors
from overthere.links.documents import css, html
from overthere.links.documents.charset import decode_text
from overthere.links.documents.embedded_data import kind as embedded_kind
from overthere.links.documents.kinds import MARKUPS
from overthere.links.documents.tokens import tag
from overthere.links.job.reading import READERS
from overthere.links.model import UNREAD, Document, Found, Note, Options, PassedContent

__all__ = [
    "BASES",
    "IDENTIFIERS",
    "LINKED",
    "Again",
    "Reference",
    "Scan",
    "anchors_of",
    "is_source_code",
    "scan",
    "scan_again",
]

_HINTS = frozenset(("preconnect", "dns-prefetch"))
IDENTIFIERS = ("itemid", "itemtype", "profile", "rdf:about", "rdf:resource", "rdf:datatype", "classid")
LINKED: dict[str, tuple[str, ...]] = {
    "href": (
        *("a", "area", "base", "link"),
        *("image", "use", "script", "feimage", "lineargradient", "radialgradient", "pattern", "textpath", "mpath"),
        *("animate", "animatemotion", "animatetransform", "set", "discard", "filter", "cursor", "tref", "glyphref"),
    ),
    "src": ("audio", "embed", "frame", "iframe", "image", "img", "input", "script", "source", "track", "video"),
}
"""The elements of HTML and SVG on which these attributes are links; the table of links has them on all."""
_LINKS = ("a href", "area href", "form action")
"""Whose element may say rel=nofollow."""
BASES = ("base href", "codebase", "xml:base")


class Reference(NamedTuple):
    """A reference and what it is resolved against."""

    where: str
    reference: str
    base: Base
    target: str | None
    """The URI that is meant, if the text is no reference."""
    passed: str | None
    """Why it is not judged, if its place says so (`model.PASSED`)."""
    at: int = -1
    """In the text, where it begins; of an attribute of HTML, where the attributes of its tag begin; -1: not known."""
    end: int = -1
    """Where it ends; -1 for an attribute of HTML."""
    is_nofollow: bool = False
    """Whether its link says rel=nofollow (HTML 4.6.7.12)."""


@dataclass
class Scan:
    """What a document holds."""

    document: Document
    kind: str
    text: str = ""
    """Its characters, with LF for every line end."""
    references: list[Reference] = field(default_factory=list)
    anchors: set[str] = field(default_factory=set)
    maps: set[str] = field(default_factory=set)
    """Names of image maps."""
    labels: set[str] = field(default_factory=set)
    """Targets that other documents may name without this one (MyST)."""
    titles: set[str] = field(default_factory=set)
    """Of headings, by which references of the document itself may name them (MyST)."""
    names_labels: bool = False
    """Whether a fragment alone may name one of another document."""
    next: Reference | None = None
    """Where its reader is sent at once (HTML, shared declarative refresh steps)."""
    has_anchors: bool = False
    """Whether `anchors` are all that it has, where it was read whole."""
    notes: dict[str, None] = field(default_factory=dict)
    passed: Counter[str] = field(default_factory=Counter)

    @property
    def is_whole(self) -> bool:
        return self.notes.keys().isdisjoint(UNREAD)


def scan(document: Document, kind: str, notes: tuple[str, ...], options: Options, rule: str) -> Scan:
    """Read a document.

    kind, notes: what `kinds.kind_of` says of it.
    rule: of `model.ANCHORS`, for Markdown.
    """
    found = Scan(document, kind, notes=dict.fromkeys((*document.notes, *notes)))
    if document.content and not is_source_code(document, kind):
        _WAYS.get(kind, _read_other)(found, options, rule)
    return found


_PROSE = frozenset(("", "txt", "text", "log", "rst", "rest", *MARKUPS))


def is_source_code(document: Document, kind: str) -> bool:
    """Whether a plain text is no prose by the suffix of its name: URIs in programs and settings are data of these.

    >>> from overthere import URI
    >>> names = ("README", "notes.txt", "guide.rst", "socket.cpp", "site.yml", "2.1")
    >>> here = Base(URI("file:///"), "retrieval")
    >>> [is_source_code(Document(name, b"...", here), "text") for name in names]
    [False, False, False, True, True, False]
    """
    suffix = os.path.splitext(document.source.rpartition("!")[2])[1][1:].lower()
    return kind == "text" and suffix not in _PROSE and not suffix.isdecimal()


def _html(found: Scan, options: Options, rule: str) -> None:
    document = found.document
    text, lossy = html.decode(document.content, document.charset)
    found.text = text = text.replace("\r\n", "\n").replace("\r", "\n")
    if lossy:
        found.notes["wrong-charset"] = None
    page = html.read(text)
    found.anchors, found.maps, found.has_anchors = page.anchors, page.maps, True
    found.notes |= dict.fromkeys(page.notes)
    inner = from_content(page.base, document.base)
    bases: dict[str | None, Base] = {None: inner}
    is_refreshed = False
    for one, element, at, end in page.placed:
        if element is not None and element.is_inert:
            continue
        if not isinstance(one, Found):
            found.passed[embedded_kind(one.name)] += 1
            continue
        tag_name, _, attribute = one.where.rpartition(" ")
        if tag_name not in LINKED.get(attribute, (tag_name,)):
            continue
        if one.codebase not in bases:
            bases[one.codebase] = from_content(one.codebase, inner)
        against = document.base if one.where == "base href" else bases[one.codebase]
        reason = _hint(element.name, element.attributes) if element is not None else None
        is_nofollow = (
            element is not None
            and one.where in _LINKS
            and "nofollow" in element.attributes.get("rel", "").lower().split()
        )
        reference = Reference(
            one.where, one.reference, against, one.target, reason or _reason(one.where), at, end, is_nofollow
        )
        found.references.append(reference)
        if one.where == "meta refresh" and element is not None and not is_refreshed:  # a later one is not heard
            is_refreshed = True
            found.next = reference if html.is_at_once(element.attributes["content"]) else None


Again = tuple[list[bytes], bytes | None, list[tuple[int, bool, bytes]]]
"""Of a page that was read again: its anchors, the base that it says, and of each fault in the octets where the name of
its tag begins, whether that is of SVG, and the reference."""


def anchors_of(told: Again) -> set[str]:
    """The anchors of a page that the native kernel has read again."""
    return {name.decode("utf-8", "replace") for name in told[0] if not name.startswith(b"\0")}


def scan_again(document: Document, kind: str, notes: tuple[str, ...], told: Again) -> Scan | None:
    """Of an HTML page its faults alone, as the native kernel tells them.

    Returns: None if they do not stand there, as of octets that changed in between.
    """
    _, base, faults = told
    found = Scan(document, kind, notes=dict.fromkeys((*document.notes, *notes)), has_anchors=True)
    text = document.content.decode("utf-8", "replace")
    found.text = text.replace("\r\n", "\n").replace("\r", "\n")
    found.anchors = anchors_of(told)
    against = from_content(None if base is None else base.decode("utf-8", "replace"), document.base)
    seen = octets = 0
    wanted: dict[tuple[int, bool], Counter[str]] = {}
    is_plain = text.isascii() and "\r" not in text
    for at, is_svg, reference in faults:
        if is_plain:
            seen = at
        else:
            piece = document.content[octets:at]
            octets, seen = at, seen + len(piece.decode("utf-8", "replace")) - piece.count(b"\r\n")
        wanted.setdefault((seen, is_svg), Counter())[reference.decode("utf-8", "replace")] += 1
    for (at, is_svg), references in wanted.items():
        name, attributes, begin = tag(found.text, at) or ("", {}, 0)
        reason = _hint(name, attributes)
        for one in html.references(name, attributes, is_svg):
            if isinstance(one, Found) and one.reference in references:
                references[one.reference] -= 1
                found.references.append(
                    Reference(one.where, one.reference, against, one.target, reason or _reason(one.where), begin)
                )
        if any(references.values()):
            return None
    return found


def _hint(name: str, attributes: dict[str, str]) -> str | None:
    if name != "link" or "rel" not in attributes:
        return None
    return "hint" if _HINTS & set(attributes["rel"].lower().split()) else None


def _reason(where: str) -> str | None:
    """Why what stands there is not judged."""
    place = where.rpartition(" ")[2]
    if where.endswith(BASES):
        return "base"
    if place in IDENTIFIERS or where in ("entry id", "feed id"):
        return "identifier"
    return "ping" if place == "ping" else None


def _css(found: Scan, options: Options, rule: str) -> None:
    document = found.document
    for one in css.read(document, options):
        if isinstance(one, Note):
            found.notes[one.kind] = None
    found.text = _text(found)
    for where, reference, (start, end) in css.with_places(found.text):
        reason = "local" if reference.startswith("#") else None
        found.references.append(Reference(where, reference, document.base, None, reason, start, end))


def _markdown(found: Scan, options: Options, rule: str) -> None:
    whole = found.document
    end = front_matter_end(whole.content)
    blank = bytes(one if one in b"\r\n" else 32 for one in whole.content[:end])
    found.document = whole._replace(content=blank + whole.content[end:])
    _read_other(found, options, rule)
    found.text = _text(found)
    found.document = whole
    if "too-large" in found.notes:
        return
    gathered = MarkdownAnchors(rule)
    gathered.read(found.text)
    found.anchors, found.labels, found.has_anchors = gathered.anchors, gathered.labels, True
    found.names_labels = gathered.rule == "myst"
    found.titles = {title for title, count in gathered.titles.items() if count == 1}


def front_matter_end(content: bytes) -> int:
    """Octets of the front matter of a Markdown document: YAML between "---", TOML between "+++"; 0 without one.

    >>> front_matter_end(b"---\\ntitle: x\\n---\\n# A"), front_matter_end(b"---\\n\\n# A"), front_matter_end(b"# A")
    (17, 0, 0)
    """
    mark = content[:3]
    first = content.find(b"\n")
    if mark not in (b"---", b"+++") or content[3 : max(first, 3)].strip():
        return 0
    at = first + 1
    while at > 0:
        end = content.find(b"\n", at)
        if content[at : len(content) if end < 0 else end].rstrip() == mark:
            return len(content) if end < 0 else end + 1
        at = end + 1
    return 0


def _rst(found: Scan, options: Options, rule: str) -> None:
    from overthere.links.documents import rst

    text, lossy = decode_text(found.document.content, found.document.charset)
    if lossy:
        found.notes["wrong-charset"] = None
    found.text = text = text.replace("\r\n", "\n").replace("\r", "\n")
    parsed = rst.parse(text)
    found.notes |= dict.fromkeys(parsed.notes)
    if parsed.roles:
        found.passed["sphinx-role"] += parsed.roles
    found.anchors, found.has_anchors = parsed.anchors, parsed.has_anchors
    if rule in ("github", "gitlab"):  # these give headings the anchors that they give those of Markdown
        found.anchors.update(slug(title, rule) for title in parsed.titles)
    found.references = [
        Reference(one.where, one.reference, found.document.base, one.target, None) for one in parsed.references
    ]


def _notebook(found: Scan, options: Options, rule: str) -> None:
    from overthere.links.documents import notebook

    _read_other(found, options, rule)
    found.text = _text(found)
    cells = notebook.cells(found.text)
    if cells is None or "too-large" in found.notes:
        return
    for one in ("notebook", rule):
        gathered = MarkdownAnchors(one)
        gathered.read("\n\n".join(cells))
        found.anchors |= gathered.anchors
    found.has_anchors = True


def _xml(found: Scan, options: Options, rule: str) -> None:
    _read_other(found, options, rule)
    found.text, found.has_anchors = anchors.xml(found.document, found.anchors)


def _read_other(found: Scan, options: Options, rule: str) -> None:
    """What another reader finds; it does not say where that stands."""
    document = found.document
    if found.kind not in READERS:
        return
    if found.kind in ("text", "uri-list"):
        found.text = _text(found)
    read: Callable[[Document, Options], Iterator[Found | Note | PassedContent]] = import_module(
        READERS[found.kind]
    ).read
    for one in read(document, options):
        if isinstance(one, Note):
            found.notes[one.kind] = None
        elif isinstance(one, PassedContent):
            found.passed[one.kind] += 1
        else:
            base = one.base or document.base
            if one.codebase is not None:
                base = from_content(one.codebase, base)
            found.references.append(Reference(one.where, one.reference, base, one.target, _reason(one.where)))


def _text(found: Scan) -> str:
    """The characters of a document that is neither HTML nor XML."""
    text = decode_text(found.document.content, found.document.charset)[0]
    return text.replace("\r\n", "\n").replace("\r", "\n")


_WAYS: dict[str, Callable[[Scan, Options, str], None]] = {
    "html": _html, "css": _css, "markdown": _markdown, "xml": _xml, "rst": _rst, "notebook": _notebook,
}  # fmt: skip
