"""Rows of the link table: made by the native kernel, or in plain Python with the same result.

Both are filled document by document and emptied batch by batch, so that memory is limited to a batch.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from overthere import kernel
from overthere.base import Base, from_content, to_reference
from overthere.editions import edition
from overthere.editions.resolution_steps import for_request
from overthere.ground.errors import InvalidURI, NotSpecified
from overthere.links.containers.message_labels import part_of
from overthere.links.containers.model import MakePageReader
from overthere.links.documents import css, html
from overthere.links.documents.charset import replace_surrogates
from overthere.links.documents.embedded_data import kind
from overthere.links.documents.first_octets import SIGNATURES
from overthere.links.model import Document, EmbeddedContent, Found, Link, Options
from overthere.links.report.batch import AnyBatch, links, to_batch
from overthere.links.report.record_pages import RecordPages
from overthere.values.normalize import Rung, normal_form
from overthere.values.uri import URI, URIReference

if TYPE_CHECKING:
    from overthere._native import LinkRows

MAX_TEXT_BYTES = 1 << 24
"""Maximal bytes of text in a batch: a base may be as long as a document, and every row has it."""


class Rows(ABC):
    """The rows so far: `len` is their number, `text_bytes` approximately the size of their text."""

    text_bytes: int
    base: Base
    """The base for the embedded content of the document that `read_html` read."""

    def __init__(self) -> None:
        self.begun_page_bytes: int | None = None
        """Size of the page that a page reader left unfinished; None if it stopped only because a batch is full."""
        self.skipped_counts: Counter[str] = Counter()
        """Counts of embedded content that was skipped in Python, by kind."""
        self.base_hrefs: dict[str, str] = {}
        """With option `whatwg`, the href of the base element of each document that has one; the caller removes them."""

    @property
    def passed_counts(self) -> Counter[str]:
        """Counts of skipped content by kind: embedded content, unless option `metadata`; records without a document."""
        return +self.skipped_counts

    @property
    def make_page_reader(self) -> MakePageReader | None:
        """The function that makes the page reader of a crawl or archive, which adds rows here; None if unavailable."""
        return None

    @property
    def page_counts(self) -> dict[str, tuple[int, int]]:
        """Number of documents that page readers read, and their bytes, by kind."""
        return {}

    def continue_page(self, document: Document) -> None:
        """Set the base of the page that a page reader left unfinished; `make_rows` makes its further rows."""
        self.base = document.base

    @abstractmethod
    def __len__(self) -> int: ...

    @abstractmethod
    def read_html(self, document: Document, utf8_content: bytes) -> list[str]:
        """Read an HTML document whose characters are `utf8_content`; `make_rows` makes the rows.

        Rows of the document before it that were not made yet are lost.  Returns: notes on it.
        """

    @abstractmethod
    def make_rows(self, count: int) -> bool:
        """Make at most `count` rows of the document; stop earlier at embedded content.

        Returns: False if all are made, otherwise True: there may be more, after `take` if `text_bytes` is at its limit.
        """

    @abstractmethod
    def take_embedded(self) -> EmbeddedContent | None:
        """Return the embedded content at which `make_rows` stopped, once: its references have a syntax of their own."""

    @abstractmethod
    def add(self, document: Document, base: Base, references: Sequence[Found]) -> None:
        """Add rows of references that share a base."""

    @abstractmethod
    def add_note(self, document: Document, note: str) -> None:
        """Add a row with a note on a document, one of `model.NOTES`."""

    @abstractmethod
    def take(self) -> AnyBatch:
        """Return all rows and remove them."""

    def take_links(self) -> list[Link]:
        """Return all rows as links and remove them."""
        return list(links(self.take()))


def make_rows_builder(options: Options) -> Rows:
    """Return an empty collector of rows: a native one for rfc3986 with the native kernel, otherwise one in Python."""
    if kernel.name == "native" and options.edition == "rfc3986":
        return _NativeRows(options)
    return _PythonRows(options)


class _NativeRows(Rows):
    def __init__(self, options: Options) -> None:
        from overthere._native import LinkRows

        super().__init__()
        self.options = options
        names = [(rule, name) for rule, names in html.EMBEDDED.items() for name in names]
        normal = None if options.form is None and options.rung <= Rung.SYNTAX else _normalizer(options)
        attributes = [(name, list(elements), rule) for name, elements, rule in html.ATTRIBUTES]
        rung = min(options.rung, Rung.SYNTAX)
        self.native: LinkRows = LinkRows(
            attributes, names, bool(options.metadata), list(SIGNATURES), rung, _map_text, html.values,
            _style_references, normal, part_of, html.octets,
        )  # fmt: skip

    @property
    def make_page_reader(self) -> MakePageReader | None:
        # The column `browser` is filled in Python, document by document.
        return None if self.options.whatwg else partial(RecordPages, self)

    @property
    def page_counts(self) -> dict[str, tuple[int, int]]:
        return {kind: (count, octets) for kind, count, octets in self.native.counts()[0]}

    def continue_page(self, document: Document) -> None:
        super().continue_page(document)
        self._update_base()

    def __len__(self) -> int:
        return len(self.native)

    @property
    def text_bytes(self) -> int:  # type: ignore[override]
        return self.native.octets

    def read_html(self, document: Document, utf8_content: bytes) -> list[str]:
        self.base = base = document.base
        notes = self.native.html(document.source, utf8_content, str(base.uri), base.layer, document.parts)
        self._update_base()
        if self.options.whatwg and (href := self.native.href()) is not None:
            self.base_hrefs[document.source] = href
        return notes

    def _update_base(self) -> None:
        """Set the base to that of the page's base element; only embedded content (option `metadata`) needs it."""
        base = self.base
        if self.options.metadata and (page_base := self.native.base()) != (str(base.uri), base.layer):
            self.base = Base(URI(page_base[0]), "content", "HTML base")

    def make_rows(self, count: int) -> bool:
        return self.native.step(count)

    def take_embedded(self) -> EmbeddedContent | None:
        embedded = self.native.embedded() if self.options.metadata else None
        return None if embedded is None else EmbeddedContent(*embedded)

    @property
    def passed_counts(self) -> Counter[str]:
        passed = super().passed_counts
        for name, count in self.native.passed():
            if count:
                passed[kind(name)] += count
        passed.update({name: count for name, count in self.native.counts()[1] if count})
        return passed

    def add(self, document: Document, base: Base, references: Sequence[Found]) -> None:
        plain = [
            (replace_surrogates(item.where), replace_surrogates(item.reference), item.target) for item in references
        ]
        self.native.add(document.source, str(base.uri), base.layer, plain, document.parts)

    def add_note(self, document: Document, note: str) -> None:
        self.native.note(document.source, str(document.base.uri), note)

    def take(self) -> AnyBatch:
        return self.native.take()


def _map_text(text: str) -> tuple[str | None, str | None, int | None]:
    """Map or repair a text; return the reference, its fault's kind and place (None for US-ASCII: Rust finds them)."""
    reference, problem = to_reference(text)
    kind, at = (None, None) if problem is None or text.isascii() else (problem.kind, problem.start)
    return None if reference is None else str(reference), kind, at


def _style_references(text: str) -> list[tuple[str, str]]:
    """Return the references of a style sheet or style attribute, each after its place."""
    return list(css.inline(text))


def _normalizer(options: Options) -> Callable[[str], str]:
    """Return a function from a target to its normal form, for the column `normal`."""
    if (form := options.form) is not None:
        return lambda target: str(form(target))
    rung, registry = options.rung, options.registry
    return lambda target: normal_form(target, rung, None, registry)


class _PythonRows(Rows):
    def __init__(self, options: Options) -> None:
        super().__init__()
        self.options = options
        self.links: list[Link] = []
        self.text_bytes = 0
        self.pending: Iterator[Link | EmbeddedContent] = iter(())
        self.next_embedded: EmbeddedContent | None = None
        self.normalize = _normalizer(options)
        self.make_link = self._make_link if options.edition == "rfc3986" else self._make_link_by_edition

    def __len__(self) -> int:
        return len(self.links)

    def _put(self, link: Link) -> None:
        self.links.append(link)
        self.text_bytes += sum(len(part) for part in link if isinstance(part, str))

    def read_html(self, document: Document, utf8_content: bytes) -> list[str]:
        page = html.read(utf8_content.decode("utf-8", "replace"))
        href, items = page.base, page.items
        self.base = base = from_content(href, document.base)
        if self.options.whatwg and href is not None:
            self.base_hrefs[document.source] = href
        if not self.options.metadata:
            self.skipped_counts.update(kind(item.name) for item in items if isinstance(item, EmbeddedContent))
            items = [item for item in items if isinstance(item, Found)]

        def base_of(item: Found) -> Base:
            # A base element is resolved against the base outside of the content (HTML 4.2.3).
            return document.base if item.where == "base href" else from_content(item.codebase, base)

        self.pending = (
            item if isinstance(item, EmbeddedContent) else self.make_link(document, base_of(item), item)
            for item in items
        )
        return page.notes

    def make_rows(self, count: int) -> bool:
        for _ in range(count):
            if self.text_bytes >= MAX_TEXT_BYTES:
                break
            link = next(self.pending, None)
            if link is None:
                return False
            if isinstance(link, EmbeddedContent):
                self.next_embedded = link
                break
            self._put(link)
        return True

    def take_embedded(self) -> EmbeddedContent | None:
        embedded, self.next_embedded = self.next_embedded, None
        return embedded

    def add(self, document: Document, base: Base, references: Sequence[Found]) -> None:
        for item in references:
            plain = item._replace(where=replace_surrogates(item.where), reference=replace_surrogates(item.reference))
            self._put(self.make_link(document, base, plain))

    def add_note(self, document: Document, note: str) -> None:
        self._put(_EMPTY._replace(source=document.source, base=str(document.base.uri), error=note))

    def _make_link(self, document: Document, base: Base, item: Found) -> Link:
        if item.target is not None:
            reference, error, error_at = _parse_intended(item.target, item.reference)
        else:
            reference, problem = to_reference(item.reference)
            error, error_at = (None, None) if problem is None else (problem.kind, problem.start)
        if reference is None:
            return _fill_link(document, base, item, error=error, error_at=error_at)
        target = base.uri.join(reference)
        text = str(target)
        same = text.partition("#")[0] == str(base.uri)
        return _fill_link(
            document, base, item, target=text, fragment=target.fragment, same_document=same, error=error,
            error_at=error_at, normal=self.normalize(text), part=part_of(text, document.parts),
        )  # fmt: skip

    def _make_link_by_edition(self, document: Document, base: Base, item: Found) -> Link:
        """Return a row according to an older edition; url-1994 and rfc1738 have no relative references."""
        rules = edition(self.options.edition)
        reference = item.reference if item.target is None else item.target
        rule, has_relative = _REFERENCES[rules.name]
        findings = rules.check(reference, rule, 1)
        if findings:
            kind = "not-specified" if not has_relative and _is_relative(reference) else findings[0].kind
            at = findings[0].start if item.target is None else _place_in(item.reference, reference, findings[0].start)
            return _fill_link(document, base, item, error=kind, error_at=at)
        try:
            target = rules.resolve(str(base.uri), reference)
            if item.where in _REQUESTS:
                target = for_request(target, str((document.base if rules.name == "url-1997" else base).uri))
            text, fragment, same = target
        except NotSpecified:
            text, fragment = reference, rules.split(reference).fragment
            same = text.partition("#")[0] == str(base.uri)
        normal = error = None
        try:
            normal = None if text is None else rules.normalize(text, self.options.rung, registry=self.options.registry)
            if text is not None and (self.options.canonical is not None or self.options.idna):
                valid = not edition("rfc3986").check(text, "URI", 1)
                normal = self.normalize(text) if valid else None
        except NotSpecified:
            pass
        except InvalidURI as problem:  # by this document the base is invalid, and so is the target
            error = problem.kind
        part = None if text is None else part_of(text, document.parts)
        return _fill_link(
            document, base, item, target=text, fragment=fragment, same_document=same, normal=normal, error=error,
            part=part,
        )  # fmt: skip

    def take(self) -> AnyBatch:
        links, self.links, self.text_bytes = self.links, [], 0
        return to_batch(links)


def _parse_intended(target: str, text: str) -> tuple[URIReference | None, str | None, int | None]:
    """Parse the intended URI of a text that is not a reference; return it, its fault's kind and place in the text."""
    reference, problem = to_reference(target)
    if problem is None:
        return reference, None, None
    return reference, problem.kind, _place_in(text, target, problem.start)


def _place_in(text: str, target: str, at: int) -> int | None:
    """Return the place in a text of a place in its intended URI; None if that is not the text after a prefix."""
    at -= len(target) - len(text)
    return at if at >= 0 and target.endswith(text) else None


# The rule of references in each edition, and whether it knows relative ones.  1994: the prefix "URL:" is for text.
_REFERENCES = {
    "url-1994": ("url", False),
    "rfc1738": (None, False),
    "url-1997": ("URL-reference", True),
    "uri-2003": ("URI-reference", True),
}


def _is_relative(text: str) -> bool:
    from overthere.kernel.reference import split

    return split(text).scheme is None


# Places where older documents always make a new request (url-1997 3; uri-2003 4.2).
_REQUESTS = ("form action", "img src")
_EMPTY = Link("", None, None, None, None, None, None, None, None, None, None, None, None)


def _fill_link(document: Document, base: Base, item: Found, **fields: Any) -> Link:
    return _EMPTY._replace(
        source=document.source, base=str(base.uri), base_from=base.layer, reference=item.reference, where=item.where,
        **fields,
    )  # fmt: skip
