"""Pass 1 in Rust: keys of HTML files, on all cores; Python reads what is not plain HTML."""

from __future__ import annotations

from array import array
from collections import deque
from collections.abc import Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from functools import cache
from itertools import islice
from typing import TYPE_CHECKING, Self

from overthere.broken.model import Checker, Summary
from overthere.broken.reference_check import PASSED_SCHEMES
from overthere.broken.scan import IDENTIFIERS, LINKED, Again
from overthere.broken.site import Site
from overthere.links.documents import html
from overthere.links.job.pool import cores
from overthere.schemes import scheme

if TYPE_CHECKING:
    from overthere._native import Keys, Pages

__all__ = ["AHEAD", "TOGETHER", "Lot", "PageBatches", "Told", "read_again", "count_page", "keys", "numbers", "reader"]

TOGETHER = 200
"""Files that are read between two steps of progress."""
AHEAD = 2
"""Lots of them that are read ahead at most."""
_SUFFIXES = (".html", ".htm", ".shtml")
_REDIRECTED = 1 << 31

Told = tuple[int, int, bytes, bytes, bytes, int, int, list[int], bool, int | None]
"""Of a page: number, octets, keys of its anchors, keys of what it asks two by two, keys of the targets that Python
judges, references, references within, references passed over by reason, whether it is to be read again, the page to
which its reader is sent at once."""


@cache
def _reasons() -> tuple[str, ...]:
    embedded = dict.fromkeys(kind for names in html.EMBEDDED.values() for kind in names.values())
    return tuple(
        dict.fromkeys((*PASSED_SCHEMES.values(), "base", "hint", "identifier", "ping", "text-fragment", *embedded))
    )


Lot = tuple[list[Told], dict[int, str]]
"""What was read, and the targets that Python judges by their keys; what only Python reads is missing."""


def reader(site: Site, checker: Checker) -> Pages:
    """What reads the pages of a site."""
    from overthere._native import Pages

    number = {reason: at for at, reason in enumerate(_reasons())}
    attributes: list[tuple[str, list[str], str]] = [
        ("id", [], "anchor"), ("name", ["a"], "anchor"), ("name", ["map"], "map"), ("rel", ["link"], "rel"),
        ("href", ["base"], "base"),
    ]  # fmt: skip
    for name, elements, way in html.ATTRIBUTES:
        if name in IDENTIFIERS:
            way = " identifier"
        elif name == "ping":
            way = " ping"
        attributes.append((name, list(LINKED.get(name, elements)), way))
    passed = {name: number[reason] for name, reason in PASSED_SCHEMES.items()}
    passed |= {f" {reason}": number[reason] for reason in ("base", "hint", "identifier", "ping", "text-fragment")}
    embedded = [(way, name, number[kind]) for way, names in html.EMBEDDED.items() for name, kind in names.items()]
    prefixes: list[tuple[str, tuple[str | None, bool] | None]] = [
        (prefix, scheme(prefix.partition(":")[0]).common_rules) for prefix in site.prefixes
    ]
    return Pages(attributes, embedded, passed, list(_names(site, checker).items()), prefixes, checker.fragments)


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
    for extension in reversed(checker.extensions):
        suffix = f".{extension}".encode()
        for name, number in site.files.items():
            if (
                name.endswith(suffix)
                and (stem := name[: -len(suffix)])
                and stem not in site.files
                and stem[-1:] != b"/"
            ):
                names[stem] = number
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
        told, _, others = self._pages.read(files, self._checker.workers or cores(), self._checker.limit)
        return told, others

    def close(self) -> None:
        """What was not begun is dropped, what was begun is waited for."""
        self._thread.shutdown(cancel_futures=True)


def read_again(
    pages: Pages, site: Site, checker: Checker, numbers: list[int], keys: Keys, targets: set[int]
) -> dict[int, Again]:
    """Read pages again for their faults; those that only Python places are missing.

    keys: of all anchors; targets: the keys of what Python has judged a fault.
    """
    files = _files(site, numbers)
    return pages.again(files, keys, targets, checker.workers or cores(), checker.limit)


def _files(site: Site, numbers: list[int]) -> list[tuple[int, str, str]]:
    """Number, path and URI of each; symlinks by the files that they lead to."""
    return [(number, site.link_targets.get(number, site.paths[number]), site.uri(number)) for number in numbers]


def numbers(site: Site) -> list[int]:
    """The files that may be HTML, by their names."""
    there = set(site.files.values())
    return [number for number, path in enumerate(site.paths) if number in there and path.lower().endswith(_SUFFIXES)]


def count_page(told: Told, summary: Summary) -> None:
    """Count a page that was read."""
    summary.documents += 1
    summary.octets += told[1]
    summary.references += told[5]
    summary.within += told[6]
    if any(told[7]):
        for reason, count in zip(_reasons(), told[7], strict=False):
            if count:
                summary.passed[reason] += count


def keys(octets: bytes) -> array[int]:
    """Keys as Rust gives them."""
    found = array("Q")
    found.frombytes(octets)
    return found
