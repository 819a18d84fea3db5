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
from overthere.links.documents.embedded_data import kind
from overthere.links.documents.first_octets import SIGNATURES
from overthere.links.model import Document, EmbeddedContent, Found, Link, Options
from overthere.links.report.record_pages import RecordPages
from overthere.links.report.table import schema, to_batch
from overthere.values.normalize import Rung, normal_form
from overthere.values.uri import URI, URIReference

if TYPE_CHECKING:
    import pyarrow as pa

    from overthere._native import LinkRows

__all__ = ["OCTETS", "Rows", "rows"]

OCTETS = 1 << 24
"""Maximal bytes of text in a batch: a base may be as long as a document, and every row has it."""


class Rows(ABC):
    """The rows so far: `len` is their number, `octets` approximately the size of their text."""

    octets: int
    base: Base
    """The base of the document that `html` read."""

    def __init__(self) -> None:
        self.page_bytes: int | None = None
        """Bytes of the page that `pages` has begun; None if rows should be taken and no page is unfinished."""
        self.skipped_counts: Counter[str] = Counter()
        """Counts of embedded content that other readers skipped, by kind."""
        self.hrefs: dict[str, str] = {}
        """The href of the effective base element of each document that `html` read; the caller removes them."""

    @property
    def passed_counts(self) -> Counter[str]:
        """Counts of content that is read only on request and was skipped, by kind."""
        return +self.skipped_counts

    @property
    def pages(self) -> MakePageReader | None:
        """The reader that turns the pages of a crawl into rows by itself; None if there is none."""
        return None

    @property
    def page_counts(self) -> dict[str, tuple[int, int]]:
        """Number of documents that `pages` read, and their bytes, by kind."""
        return {}

    def begin(self, document: Document) -> None:
        """Continue with a page that `pages` has begun."""
        self.base = document.base

    @abstractmethod
    def __len__(self) -> int: ...

    @abstractmethod
    def html(self, document: Document, content: bytes) -> list[str]:
        """Read an HTML document whose characters are `content` in UTF-8; `step` makes the rows.

        Returns: notes on it.
        """

    @abstractmethod
    def step(self, count: int) -> bool:
        """Make at most `count` rows of what `html` read: fewer of long ones, none beyond what `take_embedded` gives.

        Returns: whether there are more.
        """

    @abstractmethod
    def take_embedded(self) -> EmbeddedContent | None:
        """Return the embedded content at which `step` stopped, once: its references have a syntax of their own."""

    @abstractmethod
    def add(self, document: Document, base: Base, references: Sequence[Found]) -> None:
        """Add rows of references that share a base."""

    @abstractmethod
    def note(self, document: Document, kind: str) -> None:
        """Add a row with a note on a document."""

    @abstractmethod
    def take(self) -> pa.RecordBatch:
        """Return all rows and remove them."""

    @abstractmethod
    def take_links(self) -> list[Link]:
        """As `take`, without pyarrow."""


def rows(options: Options) -> Rows:
    """Return the native maker of rows where the kernel has the edition, otherwise the one in Python."""
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
            attributes, names, options.metadata, list(SIGNATURES), rung, _map_text, html.values, _styles, normal,
            part_of, html.octets,
        )  # fmt: skip

    @property
    def pages(self) -> MakePageReader | None:
        # The column `browser` is filled in Python, document by document.
        return None if self.options.whatwg else partial(RecordPages, self)

    @property
    def page_counts(self) -> dict[str, tuple[int, int]]:
        return {kind: (count, octets) for kind, count, octets in self.native.counts()[0]}

    def begin(self, document: Document) -> None:
        super().begin(document)
        self._find_base()

    def __len__(self) -> int:
        return len(self.native)

    @property
    def octets(self) -> int:  # type: ignore[override]
        return self.native.octets

    def html(self, document: Document, content: bytes) -> list[str]:
        self.base = base = document.base
        notes = self.native.html(document.source, content, str(base.uri), base.layer, _parts(document))
        self._find_base()
        if self.options.whatwg and (href := self.native.href()) is not None:
            self.hrefs[document.source] = href
        return notes

    def _find_base(self) -> None:
        base = self.base
        if self.options.metadata and (page_base := self.native.base()) != (str(base.uri), base.layer):
            self.base = Base(URI(page_base[0]), "content", "HTML base")

    def step(self, count: int) -> bool:
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
        plain = [(_text(item.where), _text(item.reference), item.target) for item in references]
        self.native.add(document.source, str(base.uri), base.layer, plain, _parts(document))

    def note(self, document: Document, kind: str) -> None:
        self.native.note(document.source, str(document.base.uri), kind)

    def take(self) -> pa.RecordBatch:
        import pyarrow as pa

        struct_array = pa.array(self.native.take())
        return pa.record_batch([*struct_array.flatten(), pa.nulls(len(struct_array), pa.string())], schema=schema())

    def take_links(self) -> list[Link]:
        return list(map(Link._make, self.native.take_tuples()))


def _text(text: str) -> str:
    """Return the text with "?" for lone surrogates, which UTF-8 cannot encode."""
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-8", "replace").decode()
    return text


def _parts(document: Document) -> dict[str, str] | None:
    return dict(document.parts) if document.parts else None


def _map_text(text: str) -> tuple[str | None, str | None, int | None]:
    """Return the reference that a text maps to or is repaired to; beyond US-ASCII also the fault and its place."""
    reference, problem = to_reference(text)
    kind, at = (None, None) if problem is None or text.isascii() else (problem.kind, problem.start)
    return None if reference is None else str(reference), kind, at


def _styles(text: str) -> list[tuple[str, str]]:
    return list(css.inline(text))


def _normalizer(options: Options) -> Callable[[str], str]:
    """Return the function that gives the column `normal` of a target."""
    if (form := options.form) is not None:
        return lambda target: str(form(target))
    rung, registry = options.rung, options.registry
    return lambda target: normal_form(target, rung, None, registry)


class _PythonRows(Rows):
    def __init__(self, options: Options) -> None:
        super().__init__()
        self.options = options
        self.links: list[Link] = []
        self.octets = 0
        self.pending: Iterator[Link | EmbeddedContent] = iter(())
        self.next_embedded: EmbeddedContent | None = None
        self.normalize = _normalizer(options)
        self.make_link = self._link_of if options.edition == "rfc3986" else self._link_by_edition

    def __len__(self) -> int:
        return len(self.links)

    def _put(self, link: Link) -> None:
        self.links.append(link)
        self.octets += sum(len(part) for part in link if isinstance(part, str))

    def html(self, document: Document, content: bytes) -> list[str]:
        page = html.read(content.decode("utf-8", "replace"))
        href, items = page.base, page.items
        self.base = base = from_content(href, document.base)
        if self.options.whatwg and href is not None:
            self.hrefs[document.source] = href
        if not self.options.metadata:
            self.skipped_counts.update(kind(item.name) for item in items if isinstance(item, EmbeddedContent))
            items = [item for item in items if isinstance(item, Found)]

        def base_against(item: Found) -> Base:
            # A base element is resolved against the base outside of the content (HTML 4.2.3).
            return document.base if item.where == "base href" else from_content(item.codebase, base)

        self.pending = (
            item if isinstance(item, EmbeddedContent) else self.make_link(document, base_against(item), item)
            for item in items
        )
        return page.notes

    def step(self, count: int) -> bool:
        for _ in range(count):
            if self.octets >= OCTETS:
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
            self._put(self.make_link(document, base, item))

    def note(self, document: Document, kind: str) -> None:
        self._put(_EMPTY._replace(source=document.source, base=str(document.base.uri), error=kind))

    def _link_of(self, document: Document, base: Base, item: Found) -> Link:
        if item.target is not None:
            reference, error, error_at = _resolve_meaning(item.target, item.reference)
        else:
            reference, problem = to_reference(item.reference)
            error, error_at = (None, None) if problem is None else (problem.kind, problem.start)
        if reference is None:
            return _link(document, base, item, error=error, error_at=error_at)
        target = base.uri.join(reference)
        text = str(target)
        same = text.partition("#")[0] == str(base.uri)
        return _link(
            document, base, item, target=text, fragment=target.fragment, same_document=same, error=error,
            error_at=error_at, normal=self.normalize(text), part=part_of(text, document.parts),
        )  # fmt: skip

    def _link_by_edition(self, document: Document, base: Base, item: Found) -> Link:
        """Return a link by an older document's grammar and algorithm; 1994 and RFC 1738 have no relative references."""
        rules = edition(self.options.edition)
        reference = item.reference if item.target is None else item.target
        rule, has_relative = _REFERENCES[rules.name]
        findings = rules.check(reference, rule, 1)
        if findings:
            kind = "not-specified" if not has_relative and _is_relative(reference) else findings[0].kind
            return _link(document, base, item, error=kind, error_at=findings[0].start)
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
        return _link(
            document, base, item, target=text, fragment=fragment, same_document=same, normal=normal, error=error,
            part=part,
        )  # fmt: skip

    def take(self) -> pa.RecordBatch:
        return to_batch(self.take_links())

    def take_links(self) -> list[Link]:
        links, self.links, self.octets = self.links, [], 0
        return [Link._make(_text(value) if isinstance(value, str) else value for value in link) for link in links]


def _resolve_meaning(target: str, text: str) -> tuple[URIReference | None, str | None, int | None]:
    """Return the intended URI of a text that is not a reference, or the kind of its fault and the place in the text."""
    reference, problem = to_reference(target)
    if problem is None:
        return reference, None, None
    at = problem.start - (len(target) - len(text))
    return reference, problem.kind, at if at >= 0 and target.endswith(text) else None


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


def _link(document: Document, base: Base, item: Found, **fields: Any) -> Link:
    return _EMPTY._replace(
        source=document.source,
        base=str(base.uri),
        base_from=base.layer,
        reference=item.reference,
        where=item.where,
        **fields,
    )
