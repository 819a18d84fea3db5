"""HTML files read in Rust, on all cores, each once; Python reads what is not plain HTML."""

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

__all__ = ["AHEAD", "TOGETHER", "Example", "Lot", "Page", "PageBatches", "count_page", "file_of", "numbers", "reader"]

TOGETHER = 200
"""Files that are read between two steps of progress."""
AHEAD = 2
"""Lots of them that are read ahead at most."""
_SUFFIXES = (".html", ".htm", ".shtml")
_REDIRECTED = 1 << 31
_PLACES = ("base", "hint", "identifier", "ping", "text-fragment")
"""Reasons that Rust knows by these names."""

Example = tuple[int, str | None, str, bool]
"""A reference with a target that Python judges: the number of its page, the base that the page says, its text, whether
it names an image map."""


class Page(NamedTuple):
    """What is kept of a page."""

    number: int
    octets: int
    anchors: bytes
    open: bytes
    """Its references that are not settled, 24 octets each (`pages.rs`)."""
    references: int
    within: int
    base: str | None
    passed: list[int]
    next: int | None
    """The page to which its reader is sent at once."""


class Lot(NamedTuple):
    """What was read; what only Python reads is missing."""

    pages: list[Page]
    targets: dict[int, tuple[int, Example]]
    """Those that Python judges, by their keys: how many references have each, and one of these."""
    outside: dict[str, int]
    """URIs outside that need no judgment, without their fragments: how many references have each."""


@cache
def _reasons() -> tuple[str, ...]:
    embedded = dict.fromkeys(kind for names in html.EMBEDDED.values() for kind in names.values())
    return tuple(dict.fromkeys((*PASSED_SCHEMES.values(), *_PLACES, "nofollow", *embedded)))


def reader(site: Site, checker: Checker, keeps_outside: bool = False) -> Pages:
    """What reads the pages of a site."""
    from overthere._native import Pages

    number = {reason: at for at, reason in enumerate(_reasons())}
    attributes: list[tuple[str, list[str], str]] = [
        ("id", [], "anchor"), ("name", ["a"], "anchor"), ("name", ["map"], "map"), ("rel", ["link"], "rel"),
        ("href", ["base"], "base"),
    ]  # fmt: skip
    if checker.skip_nofollow:
        attributes.append(("rel", ["a", "area", "form"], "rel"))
    for name, elements, way in html.ATTRIBUTES:
        if name == "codebase":
            way = "codebase"
        elif name in IDENTIFIERS:
            way = " identifier"
        elif name == "ping":
            way = " ping"
        attributes.append((name, list(LINKED.get(name, elements)), way))
    passed = {name: number[reason] for name, reason in PASSED_SCHEMES.items()}
    passed |= {f" {reason}": number[reason] for reason in _PLACES}
    embedded = [(way, name, number[kind]) for way, names in html.EMBEDDED.items() for name, kind in names.items()]
    prefixes: list[tuple[str, tuple[str | None, bool] | None]] = [
        (prefix, scheme(prefix.partition(":")[0]).common_rules) for prefix in site.prefixes
    ]
    names, remaps = list(_names(site, checker).items()), [start for start, _ in checker.remap]
    rules = attributes, embedded, passed, names, prefixes, checker.fragments
    styles = lambda text: [reference for _, reference in css.inline(text)]  # noqa: E731
    return Pages(
        *rules, site.root, remaps, number["nofollow"] if checker.skip_nofollow else None, keeps_outside, styles
    )


def _names(site: Site, checker: Checker) -> dict[bytes, int]:
    """What is served under each name, as `Site.find` has it; what it looks up on the disk is not here."""
    names = dict(site.files)
    for folder in site.folders:
        within = folder + b"/" if folder else b""
        found = (site.files.get(within + index.encode()) for index in checker.indexes)
        number = next((one for one in found if one is not None), None)
        if number is not None:
            names[within] = number
            if folder:
                names[folder] = number | _REDIRECTED
    for extension in dict.fromkeys((*checker.extensions, *(one for own in checker.files for one in own.extensions))):
        suffix = f".{extension}".encode()
        for name in site.files:
            stem = name.removesuffix(suffix)
            if stem not in site.files and stem[-1:] not in (b"", b"/"):
                place = site.find_file(stem)
                if place.verdict == "document" and place.document < NUMBERLESS:
                    names[stem] = place.document
    return names


class PageBatches:
    """Files of the site, read in lots and ahead: while Python takes one in, Rust reads the next."""

    def __init__(self, pages: Pages, site: Site, checker: Checker, numbers: Iterable[int]) -> None:
        self._pages, self._site, self._checker = pages, site, checker
        self._waiting = iter(numbers)
        self._thread: ThreadPoolExecutor = ThreadPoolExecutor(1, "reading pages")
        self._coming: deque[Future[Lot]] = deque()
        self._begin()

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> Lot:
        if not self._coming:
            raise StopIteration
        lot = self._coming.popleft().result()
        self._begin()
        return lot

    @property
    def is_ready(self) -> bool:
        """Whether the next one is read."""
        return bool(self._coming) and self._coming[0].done()

    def _begin(self) -> None:
        while len(self._coming) < AHEAD and (some := list(islice(self._waiting, TOGETHER))):
            files = _files(self._site, some)
            self._coming.append(self._thread.submit(self._read_batch, files))

    def _read_batch(self, files: list[tuple[int, str, str]]) -> Lot:
        rows, targets, outside = self._pages.read(files, self._checker.workers or cores(), self._checker.limit)
        return Lot([Page(*row) for row in rows], targets, outside)

    def close(self) -> None:
        """What was not begun is dropped, what was begun is waited for."""
        self._thread.shutdown(cancel_futures=True)


def file_of(site: Site, number: int) -> str:
    """The file that has a page; of a symlink the one that it leads to."""
    return site.link_targets.get(number, site.paths[number])


def _files(site: Site, numbers: list[int]) -> list[tuple[int, str, str]]:
    """Number, file and URI of each."""
    return [(number, file_of(site, number), site.uri(number)) for number in numbers]


def numbers(site: Site) -> list[int]:
    """The files that may be HTML, by their names."""
    there = set(site.files.values())
    return [number for number, path in enumerate(site.paths) if number in there and path.lower().endswith(_SUFFIXES)]


def count_page(page: Page, summary: Summary) -> None:
    """Count a page that was read."""
    summary.documents += 1
    summary.octets += page.octets
    summary.references += page.references
    summary.within += page.within
    for reason, count in zip(_reasons(), page.passed, strict=False):
        if count:
            summary.passed[reason] += count
