"""HTML files that Rust reads once, on all cores; Python reads files that are not plain HTML."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from functools import cache
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple, Self

from overthere.broken.keys import NUMBERLESS
from overthere.broken.model import Checker, Summary
from overthere.broken.reference_check import PASSED_SCHEMES
from overthere.broken.scan import IDENTIFIERS, LINKED
from overthere.broken.site import Site
from overthere.ground.cores import cores
from overthere.links.documents import css, html
from overthere.schemes import scheme

if TYPE_CHECKING:
    from overthere._native import Pages

TOGETHER = 200
"""Files in a batch; progress is reported after each."""
AHEAD = 2
"""Maximum number of batches that are read in advance."""
_SUFFIXES = (".html", ".htm", ".shtml")
_REDIRECT_BIT = 1 << 31
_SPECIAL_REASONS = ("base", "hint", "identifier", "ping", "text-fragment")
"""Reasons whose names Rust knows."""

Example = tuple[int, str | None, str, bool]
"""A reference to a target that Python checks: the number of its page, the base in the page, its text, whether it names
an image map."""


class Page(NamedTuple):
    """Facts about a page that the check needs."""

    number: int
    octets: int
    anchors: bytes
    open: bytes
    """Its references that are not decided yet, 24 bytes each (`pages.rs`)."""
    references: int
    within: int
    base: str | None
    passed: list[int]
    next: int | None
    """The page to which it refreshes at once."""


class Batch(NamedTuple):
    """The result of a batch, without the pages that only Python can read."""

    pages: list[Page]
    targets: dict[int, tuple[int, Example]]
    """The targets that Python checks, by key: the number of references to each, and one of them."""
    outside: dict[str, int]
    """External URIs that need no check here, without fragments: the number of references to each."""


@cache
def _reasons() -> tuple[str, ...]:
    embedded = dict.fromkeys(kind for names in html.EMBEDDED.values() for kind in names.values())
    return tuple(dict.fromkeys((*PASSED_SCHEMES.values(), *_SPECIAL_REASONS, "nofollow", *embedded)))


def reader(site: Site, checker: Checker, keeps_outside: bool = False) -> Pages:
    """The native reader for the pages of a site."""
    from overthere._native import Pages

    number = {reason: at for at, reason in enumerate(_reasons())}
    attributes: list[tuple[str, list[str], str]] = [
        ("id", [], "anchor"), ("name", ["a"], "anchor"), ("name", ["map"], "map"), ("rel", ["link"], "rel"),
        ("href", ["base"], "base"),
    ]  # fmt: skip
    if checker.skip_nofollow:
        attributes.append(("rel", ["a", "area", "form"], "rel"))
    for name, elements, role in html.ATTRIBUTES:
        if name == "codebase":
            role = "codebase"
        elif name in IDENTIFIERS:
            role = " identifier"
        elif name == "ping":
            role = " ping"
        attributes.append((name, list(LINKED.get(name, elements)), role))
    passed = {name: number[reason] for name, reason in PASSED_SCHEMES.items()}
    passed |= {f" {reason}": number[reason] for reason in _SPECIAL_REASONS}
    embedded = [(role, name, number[kind]) for role, names in html.EMBEDDED.items() for name, kind in names.items()]
    prefixes: list[tuple[str, tuple[str | None, bool] | None]] = [
        (prefix, scheme(prefix.partition(":")[0]).common_rules) for prefix in site.prefixes
    ]
    names, remaps = list(_names(site, checker).items()), [start for start, _ in checker.remap]
    rules = attributes, embedded, passed, names, prefixes, bool(checker.fragments)
    styles = lambda text: [reference for _, reference in css.inline(text)]  # noqa: E731
    return Pages(
        *rules, site.root, remaps, number["nofollow"] if checker.skip_nofollow else None, keeps_outside, styles
    )


def _names(site: Site, checker: Checker) -> dict[bytes, int]:
    """The document served under each name, as in `Site.find`, except those that it looks up on the disk."""
    names = dict(site.files)
    for folder in site.folders:
        within = folder + b"/" if folder else b""
        indexes = (site.files.get(within + index.encode()) for index in checker.indexes)
        number = next((index for index in indexes if index is not None), None)
        if number is not None:
            names[within] = number
            if folder:
                names[folder] = number | _REDIRECT_BIT
    for extension in dict.fromkeys((*checker.extensions, *(name for row in checker.files for name in row.extensions))):
        suffix = f".{extension}".encode()
        for name in site.files:
            stem = name.removesuffix(suffix)
            if stem not in site.files and stem[-1:] not in (b"", b"/"):
                place = site.find_file(stem)
                if place.verdict == "document" and place.document < NUMBERLESS:
                    names[stem] = place.document
    return names


class PageBatches:
    """The files of a site, read in batches in advance: while Python stores one, Rust reads the next."""

    def __init__(self, pages: Pages, site: Site, checker: Checker, numbers: Iterable[int]) -> None:
        self._pages, self._site, self._checker = pages, site, checker
        self._waiting = iter(numbers)
        self._thread: ThreadPoolExecutor = ThreadPoolExecutor(1, "reading pages")
        self._futures: deque[Future[Batch]] = deque()
        self._submit()

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> Batch:
        if not self._futures:
            raise StopIteration
        lot = self._futures.popleft().result()
        self._submit()
        return lot

    @property
    def is_ready(self) -> bool:
        """Whether the next batch is complete."""
        return bool(self._futures) and self._futures[0].done()

    def _submit(self) -> None:
        while len(self._futures) < AHEAD and (batch := list(islice(self._waiting, TOGETHER))):
            files = _files(self._site, batch)
            self._futures.append(self._thread.submit(self._read_batch, files))

    def _read_batch(self, files: list[tuple[int, str, str]]) -> Batch:
        rows, targets, outside = self._pages.read(
            files, min(self._checker.workers or cores(), len(files)), self._checker.limit
        )
        return Batch([Page(*row) for row in rows], targets, outside)

    def close(self) -> None:
        """Drop the batches that have not started, and wait for the others."""
        self._thread.shutdown(cancel_futures=True)


def file_of(site: Site, number: int) -> str:
    """The file of a page; for a symlink, its target."""
    return site.link_targets.get(number, site.paths[number])


def _files(site: Site, numbers: list[int]) -> list[tuple[int, str, str]]:
    """The number, file and URI of each page."""
    return [(number, file_of(site, number), site.uri(number)) for number in numbers]


def numbers(site: Site) -> list[int]:
    """The numbers of the files that may be HTML, judging by their names."""
    served = set(site.files.values())
    return [number for number, path in enumerate(site.paths) if number in served and path.lower().endswith(_SUFFIXES)]


def count_page(page: Page, summary: Summary) -> None:
    """Count a page that was read."""
    summary.documents += 1
    summary.octets += page.octets
    summary.references += page.references
    summary.within += page.within
    for reason, count in zip(_reasons(), page.passed, strict=False):
        if count:
            summary.passed[reason] += count
