"""Reads a document: its references with their places, and its anchors."""

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
from overthere.broken.generators.front_matter import front_matter_end, unknown_generator, without_front_matter
from overthere.broken.generators.project import NO_PROJECT, Project
from overthere.broken.heading_slugs import slug
from overthere.links.documents import css, html
from overthere.links.documents.charset import decode_text
from overthere.links.documents.embedded_data import kind as embedded_kind
from overthere.links.documents.kinds import MARKUPS
from overthere.links.documents.tokens import raw_text, tag
from overthere.links.faults import note_kind
from overthere.links.job.readers import READERS
from overthere.links.model import CUT_SUFFIX, UNREAD, Document, Found, Note, Options, PassedContent

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
"""The elements of HTML and SVG on which these attributes are links; the link table has them on all elements."""
_LINKS = ("a href", "area href", "form action")
"""Places whose element may have rel=nofollow."""
BASES = ("base href", "codebase", "xml:base")


class Reference(NamedTuple):
    """A reference, with its base and its place."""

    where: str
    """The element and attribute, such as "a href"."""
    reference: str
    base: Base
    target: str | None
    """The intended URI, if the text is not a valid reference."""
    passed: str | None
    """Why it is skipped because of its place (`model.PASSED`); None if it is checked."""
    at: int = -1
    """Its offset in the text; for an attribute of HTML, the offset of the tag's attributes; -1 if unknown."""
    end: int = -1
    """Its end in the text; -1 for an attribute of HTML."""
    is_nofollow: bool = False
    """Whether its link has rel=nofollow (HTML 4.6.7.12)."""


@dataclass
class Scan:
    """The references, anchors and notes of a document."""

    document: Document
    kind: str
    text: str = ""
    """Its characters, with LF for every line end."""
    references: list[Reference] = field(default_factory=list)
    anchors: set[str] = field(default_factory=set)
    maps: set[str] = field(default_factory=set)
    """Names of image maps."""
    labels: set[str] = field(default_factory=set)
    """Targets that other documents may reference by name alone (MyST)."""
    titles: set[str] = field(default_factory=set)
    """Titles of headings that references in the same document may use (MyST)."""
    names_labels: bool = False
    """Whether a fragment alone may refer to a label of another document."""
    next: Reference | None = None
    """The reference to which it refreshes at once (HTML, shared declarative refresh steps)."""
    has_anchors: bool = False
    """Whether `anchors` is complete, provided the document was read to its end."""
    project: Project = NO_PROJECT
    """The project of which it is a source."""
    more_anchors: str = ""
    """The reason that its page on the site may have further anchors; "" if it has none."""
    is_template: bool = False
    """Whether it is a template of pages whose addresses are not known."""
    notes: dict[str, None] = field(default_factory=dict)
    """The kinds of its notes, as keys in their order."""
    passed: Counter[str] = field(default_factory=Counter)
    known_places: list[tuple[int, int]] = field(default_factory=list)
    """Known places of a UTF-8 text: the number of characters before each, and of bytes; empty if none is known."""

    @property
    def is_whole(self) -> bool:
        """Whether the document was read to its end: it has no note of `UNREAD`."""
        return self.notes.keys().isdisjoint(UNREAD)


def scan(document: Document, kind: str, notes: tuple[str, ...], options: Options, project: Project) -> Scan:
    """Return the references, anchors and notes of a document; none of source code, and an error becomes a note.

    kind, notes: the results of `kinds.kind_of`.
    project: the project of which the document is a source.
    """
    result = Scan(document, kind, project=project, notes=dict.fromkeys((*document.notes, *notes)))
    if project.is_part(document.source):
        result.more_anchors = "it becomes a part of pages"
    else:
        result.more_anchors = project.more_anchors
    if not document.content:
        result.has_anchors = kind in _READERS_BY_KIND  # an empty document has no anchors
    elif not is_source_code(document, kind):
        try:
            _READERS_BY_KIND.get(kind, _read_without_places)(result, options)
        except Exception as error:  # an unreadable document must not end the check of the others
            result.notes[note_kind(error)] = None
    return result


_PROSE = frozenset(("", "txt", "text", "log", "rst", "rest", *MARKUPS))


def is_source_code(document: Document, kind: str) -> bool:
    """Whether a plain text is a program or settings, by the suffix of its name: URIs in these are data, not links.

    >>> from overthere import URI
    >>> names = ("README", "notes.txt", "guide.rst", "socket.cpp", "site.yml", "2.1")
    >>> here = Base(URI("file:///"), "retrieval")
    >>> [is_source_code(Document(name, b"...", here), "text") for name in names]
    [False, False, False, True, True, False]
    """
    suffix = os.path.splitext(document.source.rpartition("!")[2])[1][1:].lower()
    return kind == "text" and suffix not in _PROSE and not suffix.isdecimal()


def _scan_html(page_scan: Scan, options: Options) -> None:
    document = page_scan.document
    text, lossy = html.decode(document.content, document.charset)
    page_scan.text = text = text.replace("\r\n", "\n").replace("\r", "\n")
    if lossy:
        page_scan.notes["wrong-charset"] = None
    text = _hide_templates(page_scan, text)
    page = html.read(text)
    page_scan.anchors, page_scan.maps, page_scan.has_anchors = page.anchors, page.maps, True
    page_scan.notes |= dict.fromkeys(page.notes)
    references = _HTMLReferences(page_scan, page.base)
    for item, element, at, end in page.placed:
        if element is not None and element.is_inert:
            continue
        if isinstance(item, Found):
            references.add(item, "" if element is None else element.name, element and element.attributes, at, end)
        else:
            page_scan.passed[embedded_kind(item.name)] += 1


def _hide_templates(page_scan: Scan, text: str) -> str:
    """Return a text with its templates hidden, if its project or its name says that it may have some.

    With templates and without front matter the scan is marked as a template, whose page may have more anchors.
    """
    if not page_scan.project.has_templates and not templates.is_template_file(page_scan.document.source):
        return text
    hidden = templates.hide(text)
    if hidden != text and not front_matter_end(text.encode()):
        page_scan.is_template = True
        page_scan.more_anchors = page_scan.more_anchors or "it is a template"
    return hidden


def _is_linked(place: str) -> bool:
    """Whether a place such as "a href" is a link: `href` and `src` are links only on the elements in `LINKED`."""
    name, _, attribute = place.rpartition(" ")
    return name in LINKED.get(attribute, (name,))


class _HTMLReferences:
    """Collects the references in tags and style sheets of an HTML document, with its base element."""

    def __init__(self, result: Scan, base: str | None) -> None:
        self.result = result
        self.bases: dict[str | None, Base] = {None: from_content(base, result.document.base)}
        self.has_refresh = False

    def add(self, item: Found, name: str, attributes: dict[str, str] | None, at: int, end: int = -1) -> None:
        """Add an item if it is a link; the first refresh, if at once, is `Scan.next`.  CSS has no attributes."""
        if not _is_linked(item.where):
            return
        document, bases = self.result.document, self.bases
        if item.codebase not in bases:
            bases[item.codebase] = from_content(item.codebase, bases[None])
        item_base = document.base if item.where == "base href" else bases[item.codebase]
        reason = _hint_reason(name, attributes) if attributes is not None else None
        is_nofollow = (
            attributes is not None and item.where in _LINKS and "nofollow" in attributes.get("rel", "").lower().split()
        )
        reference = Reference(
            item.where, item.reference, item_base, item.target, reason or _skip_reason(item.where), at, end, is_nofollow
        )
        self.result.references.append(reference)
        if item.where == "meta refresh" and attributes is not None and not self.has_refresh:  # only the first counts
            self.has_refresh = True
            self.result.next = reference if html.is_at_once(attributes["content"]) else None


def scan_faults(document: Document, base: str | None, faults: list[tuple[int, int]]) -> Scan | None:
    """Read only the tags and style sheets of an HTML page in UTF-8 in which the native kernel found faults.

    base: the value of the page's base element.
    faults: the byte offset of each tag's name, and its holder: an HTML tag, an SVG tag, or a style sheet.

    Returns: a scan that seems to have all anchors, which only the kernel knows; None if a fault is at a place that only
    the full reader finds, or no tag is there because the file has changed since.
    """
    bounds = [0, *(offset for offset, _ in faults), len(document.content)]
    try:
        pieces = [document.content[start:end].decode() for start, end in pairwise(bounds)]
    except UnicodeDecodeError:
        return None
    if b"\r" in document.content:
        pieces = [piece.replace("\r\n", "\n").replace("\r", "\n") for piece in pieces]
    characters = [0, *accumulate(map(len, pieces))]
    result = Scan(
        document, "html", "".join(pieces), has_anchors=True, known_places=list(zip(characters, bounds, strict=True))
    )
    references = _HTMLReferences(result, base)
    for at, (_, holder) in zip(characters[1:], faults, strict=False):
        start = tag(result.text, at)
        if start is None or holder > _IN_SHEET:
            return None
        name, attributes, begins, ends = start
        if holder == _IN_SHEET:
            for item, _, begins, end in html.sheet_references(raw_text(result.text, name, ends)):
                if isinstance(item, Found):
                    references.add(item, "", None, begins, end)
            continue
        for item in html.references(name, attributes, holder == _IN_SVG):
            if isinstance(item, Found):
                references.add(item, name, attributes, begins)
    return result


_IN_SVG, _IN_SHEET = 1, 2
"""Two of the holders of a fault (`Holder` in `document.rs`); those above are for the full reader."""


def _hint_reason(name: str, attributes: dict[str, str]) -> str | None:
    """Return "hint" if the rel of a link element has preconnect or dns-prefetch, otherwise None."""
    if name != "link" or "rel" not in attributes:
        return None
    return "hint" if _HINTS & set(attributes["rel"].lower().split()) else None


def _skip_reason(where: str) -> str | None:
    """Return the reason to skip references at a place; None if they are checked."""
    place = where.rpartition(" ")[2]
    if where.endswith(BASES):
        return "base"
    if where.endswith(CUT_SUFFIX):
        return "template"  # such as "{id}" or a backslash of troff, which a program completes
    if place in IDENTIFIERS or where in ("entry id", "feed id"):
        return "identifier"
    return "ping" if place == "ping" else None


def _scan_css(page_scan: Scan, options: Options) -> None:
    document = page_scan.document
    text, lossy = css.decode(document)
    page_scan.text = text.replace("\r\n", "\n").replace("\r", "\n")
    if lossy:
        page_scan.notes["wrong-charset"] = None
    for place, reference, (start, end) in css.with_places(page_scan.text):
        reason = "local" if reference.startswith("#") else None
        page_scan.references.append(Reference(place, reference, document.base, None, reason, start, end))


def _scan_markdown(page_scan: Scan, options: Options) -> None:
    """Read Markdown with its templates hidden; its anchors follow the rule of the project's generator.

    `document` gets blanks for its front matter, and a project without a generator may become `unknown_generator`.
    """
    from overthere.broken.generators.inserts import inserted_texts
    from overthere.broken.markdown_anchors import MarkdownAnchors

    original, project = without_front_matter(page_scan.document), page_scan.project
    has_front_matter = original.content != page_scan.document.content
    page_scan.document, page_scan.text = original, text_of(original)
    if (visible_text := templates.hide(templates.hide_mathematics(page_scan.text))) != page_scan.text:
        page_scan.document = original._replace(content=visible_text.encode(), charset="utf-8")
        if _NAMED_BY_TEMPLATE.search(visible_text):
            page_scan.more_anchors = page_scan.more_anchors or "a template names a heading"
    if not project.generator and (has_front_matter or original.source.endswith(".mdx")):
        page_scan.project = project = unknown_generator(project)
    _read_without_places(page_scan, options)
    page_scan.document = original
    if "too-large" in page_scan.notes:
        return
    anchor_reader = MarkdownAnchors(project.anchors)
    inserted = list(inserted_texts(page_scan.text, original.source, project))
    anchor_reader.read(visible_text, *filter(None, (text for text, _ in inserted)))
    page_scan.more_anchors = next(filter(None, (page_scan.more_anchors, *(reason for _, reason in inserted))), "")
    page_scan.anchors, page_scan.labels, page_scan.has_anchors = anchor_reader.anchors, anchor_reader.labels, True
    page_scan.names_labels = anchor_reader.rule == "myst"
    page_scan.titles = {title for title, count in anchor_reader.titles.items() if count == 1}


_NAMED_BY_TEMPLATE = re.compile(
    rf"^ {{0,3}}#{{1,6}}[ \t][^\n]*{templates.MARK}|{{#{templates.MARK}"
    rf"|\b(?:id|name)=[\"']?[^\"'\s>]{{0,200}}{templates.MARK}",
    re.MULTILINE,
)


def _scan_rst(page_scan: Scan, options: Options) -> None:
    from overthere.links.documents import rst

    text, lossy = decode_text(page_scan.document.content, page_scan.document.charset)
    if lossy:
        page_scan.notes["wrong-charset"] = None
    page_scan.text = text = text.replace("\r\n", "\n").replace("\r", "\n")
    parsed = rst.parse(text)
    page_scan.notes |= dict.fromkeys(parsed.notes)
    if parsed.roles:
        page_scan.passed["sphinx-role"] += parsed.roles
    page_scan.anchors, page_scan.has_anchors = parsed.anchors, parsed.has_anchors
    rule = page_scan.project.anchors
    if page_scan.project.generator == "sphinx":
        page_scan.labels = page_scan.anchors
    elif rule in ("github", "gitlab"):  # these use the same anchors for headings as in Markdown
        page_scan.anchors.update(slug(title, rule) for title in parsed.titles)
    page_scan.references = [
        Reference(item.where, item.reference, page_scan.document.base, item.target, None) for item in parsed.references
    ]


def _scan_notebook(page_scan: Scan, options: Options) -> None:
    from overthere.broken.markdown_anchors import MarkdownAnchors
    from overthere.links.documents import notebook

    _read_without_places(page_scan, options)
    page_scan.text = text_of(page_scan.document)
    cells = notebook.cells(page_scan.text)
    if cells is None or "too-large" in page_scan.notes:
        return
    for rule in ("notebook", page_scan.project.anchors):
        anchor_reader = MarkdownAnchors(rule)
        anchor_reader.read(*cells)
        page_scan.anchors |= anchor_reader.anchors
    page_scan.has_anchors = True


def _scan_xml(page_scan: Scan, options: Options) -> None:
    """Read XML; in a project with templates, without these and without front matter.

    If that leaves nothing that can be read, it is counted as a template and has no note.
    """
    original = page_scan.document
    visible_text = _hide_templates(page_scan, text_of(page_scan.document)) if page_scan.project.has_templates else ""
    end = front_matter_end(visible_text.encode())
    is_unfinished = end > 0 or page_scan.is_template
    if is_unfinished:
        content = visible_text.encode()[end:].decode().lstrip(templates.MARK + " \n")
        page_scan.document = original._replace(content=content.encode(), charset="utf-8")
    _read_without_places(page_scan, options)
    page_scan.text, page_scan.has_anchors = anchors.xml(page_scan.document, page_scan.anchors)
    if is_unfinished:
        page_scan.document, page_scan.text = original, visible_text
        if page_scan.notes.pop("unreadable", "") is None:  # it becomes valid XML only when it is filled in
            page_scan.passed["template"] += 1


def _read_without_places(page_scan: Scan, options: Options) -> None:
    """Read references and notes by the reader of the kind, without their places; nothing if there is no reader."""
    document = page_scan.document
    if page_scan.kind not in READERS:
        return
    if page_scan.kind in ("text", "uri-list"):
        page_scan.text = text_of(page_scan.document)
    read: Callable[[Document, Options], Iterator[Found | Note | PassedContent]] = import_module(
        READERS[page_scan.kind]
    ).read
    for item in read(document, options):
        if isinstance(item, Note):
            page_scan.notes[item.kind] = None
        elif isinstance(item, PassedContent):
            page_scan.passed[item.kind] += 1
        elif not item.where.startswith("html ") or _is_linked(item.where[5:]):
            base = item.base or document.base
            if item.codebase is not None:
                base = from_content(item.codebase, base)
            page_scan.references.append(
                Reference(item.where, item.reference, base, item.target, _skip_reason(item.where))
            )


def text_of(document: Document) -> str:
    """Return the text of a document, ignoring a charset in HTML or XML itself, with LF for every line end."""
    text = decode_text(document.content, document.charset)[0]
    return text.replace("\r\n", "\n").replace("\r", "\n")


_READERS_BY_KIND: dict[str, Callable[[Scan, Options], None]] = {
    "html": _scan_html, "css": _scan_css, "markdown": _scan_markdown, "xml": _scan_xml, "rst": _scan_rst,
    "notebook": _scan_notebook,
}  # fmt: skip
