"""Reads a document: its references, its anchors, and what locates each reference."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from importlib import import_module
from itertools import accumulate, pairwise
from typing import NamedTuple

from overthere.base import Base, from_content
from overthere.broken import anchors
from overthere.broken.generators import templates
from overthere.broken.generators.front_matter import unknown_generator
from overthere.broken.generators.inserts import inserted_texts
from overthere.broken.generators.project import NO_PROJECT, Project
from overthere.broken.heading_slugs import slug
from overthere.broken.markdown_anchors import MarkdownAnchors
from overthere.links.documents import css, html
from overthere.links.documents.charset import decode_text
from overthere.links.documents.embedded_data import kind as embedded_kind
from overthere.links.documents.kinds import MARKUPS
from overthere.links.documents.tokens import raw_text, tag
from overthere.links.faults import note_kind
from overthere.links.job.readers import READERS
from overthere.links.model import UNREAD, Document, Found, Note, Options, PassedContent

__all__ = [
    "BASES",
    "IDENTIFIERS",
    "LINKED",
    "Reference",
    "Scan",
    "is_source_code",
    "scan",
    "scan_faults",
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
    project: Project = NO_PROJECT
    """The site that it is a source of."""
    more_anchors: str = ""
    """Why the page that is made of it may have further anchors; "" if it has none."""
    is_template: bool = False
    """Whether the build makes pages of it, whose addresses are not known."""
    notes: dict[str, None] = field(default_factory=dict)
    passed: Counter[str] = field(default_factory=Counter)
    octets: list[tuple[int, int]] = field(default_factory=list)
    """Of places in a text in UTF-8: the characters before them, and the octets; empty if they are not known."""

    @property
    def is_whole(self) -> bool:
        return self.notes.keys().isdisjoint(UNREAD)


def scan(document: Document, kind: str, notes: tuple[str, ...], options: Options, project: Project) -> Scan:
    """Read a document.

    kind, notes: what `kinds.kind_of` says of it.
    project: the site that it is a source of.
    """
    found = Scan(document, kind, project=project, notes=dict.fromkeys((*document.notes, *notes)))
    if any(f"/{part}/" in f"/{document.source}" for part in project.parts):
        found.more_anchors = "it becomes a part of pages"
    else:
        found.more_anchors = project.more_anchors
    if document.content and not is_source_code(document, kind):
        try:
            _WAYS.get(kind, _read_other)(found, options)
        except Exception as error:  # whatever is wrong with a document ends no check of others
            found.notes[note_kind(error)] = None
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


def _html(found: Scan, options: Options) -> None:
    document = found.document
    text, lossy = html.decode(document.content, document.charset)
    found.text = text = text.replace("\r\n", "\n").replace("\r", "\n")
    if lossy:
        found.notes["wrong-charset"] = None
    text = _hide_templates(found, text)
    page = html.read(text)
    found.anchors, found.maps, found.has_anchors = page.anchors, page.maps, True
    found.notes |= dict.fromkeys(page.notes)
    references = _HTMLReferences(found, page.base)
    for one, element, at, end in page.placed:
        if element is not None and element.is_inert:
            continue
        if isinstance(one, Found):
            references.add(one, "" if element is None else element.name, element and element.attributes, at, end)
        else:
            found.passed[embedded_kind(one.name)] += 1


def _hide_templates(found: Scan, text: str) -> str:
    """The text of HTML or XML without its templates, if it may have some; with front matter it is a page itself."""
    if not found.project.has_templates and not templates.is_template_file(found.document.source):
        return text
    hidden = templates.hide(text)
    if hidden != text and not text.startswith("---\n"):
        found.is_template = True
        found.more_anchors = found.more_anchors or "it is a template"
    return hidden


class _HTMLReferences:
    """Adds what stands in the tags and style sheets of an HTML document, which may say a base, to its references."""

    def __init__(self, found: Scan, base: str | None) -> None:
        self.found = found
        self.bases: dict[str | None, Base] = {None: from_content(base, found.document.base)}
        self.is_refreshed = False

    def add(self, one: Found, name: str, attributes: dict[str, str] | None, at: int, end: int = -1) -> None:
        """Add one of a tag; attributes: None for a style sheet."""
        tag_name, _, attribute = one.where.rpartition(" ")
        if tag_name not in LINKED.get(attribute, (tag_name,)):
            return
        document, bases = self.found.document, self.bases
        if one.codebase not in bases:
            bases[one.codebase] = from_content(one.codebase, bases[None])
        against = document.base if one.where == "base href" else bases[one.codebase]
        reason = _hint(name, attributes) if attributes is not None else None
        is_nofollow = (
            attributes is not None and one.where in _LINKS and "nofollow" in attributes.get("rel", "").lower().split()
        )
        reference = Reference(
            one.where, one.reference, against, one.target, reason or _reason(one.where), at, end, is_nofollow
        )
        self.found.references.append(reference)
        if one.where == "meta refresh" and attributes is not None and not self.is_refreshed:  # a later one is not heard
            self.is_refreshed = True
            self.found.next = reference if html.is_at_once(attributes["content"]) else None


def scan_faults(document: Document, base: str | None, faults: list[tuple[int, int]]) -> Scan | None:
    """The references of an HTML page in UTF-8 that stand where the native kernel has seen faults.

    base: that the page says.
    faults: the octets before the name of each tag, and what that is: of HTML, of SVG, a style sheet.

    Returns: None if these do not stand there, as of octets that changed in between.
    """
    bounds = [0, *(offset for offset, _ in faults), len(document.content)]
    try:
        pieces = [document.content[start:end].decode() for start, end in pairwise(bounds)]
    except UnicodeDecodeError:
        return None
    if b"\r" in document.content:
        pieces = [piece.replace("\r\n", "\n").replace("\r", "\n") for piece in pieces]
    characters = [0, *accumulate(map(len, pieces))]
    found = Scan(document, "html", "".join(pieces), has_anchors=True, octets=list(zip(characters, bounds, strict=True)))
    references = _HTMLReferences(found, base)
    for at, (_, holder) in zip(characters[1:], faults, strict=False):
        start = tag(found.text, at)
        if start is None or holder > _IN_SHEET:
            return None
        name, attributes, begins, ends = start
        if holder == _IN_SHEET:
            for item, _, begins, end in html.sheet_references(raw_text(found.text, name, ends)):
                if isinstance(item, Found):
                    references.add(item, "", None, begins, end)
            continue
        for item in html.references(name, attributes, holder == _IN_SVG):
            if isinstance(item, Found):
                references.add(item, name, attributes, begins)
    return found


_IN_SVG, _IN_SHEET = 1, 2
"""What holds a fault (`document.rs`)."""


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


def _css(found: Scan, options: Options) -> None:
    document = found.document
    for one in css.read(document, options):
        if isinstance(one, Note):
            found.notes[one.kind] = None
    found.text = _text(found)
    for where, reference, (start, end) in css.with_places(found.text):
        reason = "local" if reference.startswith("#") else None
        found.references.append(Reference(where, reference, document.base, None, reason, start, end))


def _markdown(found: Scan, options: Options) -> None:
    whole, project = found.document, found.project
    end = front_matter_end(whole.content)
    blank = bytes(one if one in b"\r\n" else 32 for one in whole.content[:end])
    found.document = whole._replace(content=blank + whole.content[end:])
    found.text = _text(found)
    if (hidden := templates.hide(templates.hide_mathematics(found.text))) != found.text:
        found.document = whole._replace(content=hidden.encode(), charset="utf-8")
        if _NAMED_BY_TEMPLATE.search(hidden):
            found.more_anchors = found.more_anchors or "a template names a heading"
    if not project.generator and (end or whole.source.endswith(".mdx")):
        found.project = project = unknown_generator(project)
    _read_other(found, options)
    found.document = whole
    if "too-large" in found.notes:
        return
    gathered = MarkdownAnchors(project.anchors)
    gathered.read(hidden)
    for text, why in inserted_texts(found.text, whole.source, project):
        gathered.read(text)
        found.more_anchors = found.more_anchors or why
    found.anchors, found.labels, found.has_anchors = gathered.anchors, gathered.labels, True
    found.names_labels = gathered.rule == "myst"
    found.titles = {title for title, count in gathered.titles.items() if count == 1}


_NAMED_BY_TEMPLATE = re.compile(
    rf"^ {{0,3}}#{{1,6}}[ \t][^\n]*{templates.MARK}|{{#{templates.MARK}"
    rf"|\b(?:id|name)=[\"']?[^\"'\s>]{{0,200}}{templates.MARK}",
    re.MULTILINE,
)


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


def _rst(found: Scan, options: Options) -> None:
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
    rule = found.project.anchors
    if found.project.generator == "sphinx":
        found.labels = found.anchors
    elif rule in ("github", "gitlab"):  # these give headings the anchors that they give those of Markdown
        found.anchors.update(slug(title, rule) for title in parsed.titles)
    found.references = [
        Reference(one.where, one.reference, found.document.base, one.target, None) for one in parsed.references
    ]


def _notebook(found: Scan, options: Options) -> None:
    from overthere.links.documents import notebook

    _read_other(found, options)
    found.text = _text(found)
    cells = notebook.cells(found.text)
    if cells is None or "too-large" in found.notes:
        return
    for one in ("notebook", found.project.anchors):
        gathered = MarkdownAnchors(one)
        gathered.read("\n\n".join(cells))
        found.anchors |= gathered.anchors
    found.has_anchors = True


def _xml(found: Scan, options: Options) -> None:
    whole = found.document
    hidden = _hide_templates(found, _text(found)) if found.project.has_templates else ""
    if found.is_template:
        found.document = whole._replace(content=hidden.lstrip(templates.MARK + " \n").encode(), charset="utf-8")
    _read_other(found, options)
    found.text, found.has_anchors = anchors.xml(found.document, found.anchors)
    if found.is_template:
        found.document = whole
        if found.notes.pop("unreadable", "") is None:  # it becomes XML when it is filled in
            found.passed["template"] += 1


def _read_other(found: Scan, options: Options) -> None:
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


_WAYS: dict[str, Callable[[Scan, Options], None]] = {
    "html": _html, "css": _css, "markdown": _markdown, "xml": _xml, "rst": _rst, "notebook": _notebook,
}  # fmt: skip
