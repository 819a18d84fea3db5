"""Pages that send their reader on after 0 seconds (HTML 4.2.5.3, refresh): where to, and in which cycles."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from overthere.broken.keys import NUMBERLESS
from overthere.broken.model import Checker
from overthere.broken.reference_check import check_reference, document_identity, uri_key
from overthere.broken.scan import Scan
from overthere.broken.site import Site

__all__ = ["find_cycles", "identity", "pages_behind", "refresh_target"]


def identity(found: Scan, site: Site) -> int:
    """By what other pages know a page: its number, or in a container the key of its URI."""
    number = document_identity(found, site)
    return number if number < NUMBERLESS else uri_key(str(found.document.base.uri))


def refresh_target(found: Scan, site: Site, checker: Checker) -> int:
    """The page to which the reader of a page is sent at once; -1 for none.

    Another query may be answered by another page, and a fragment of the page itself opens nothing anew.
    """
    if found.next is None:
        return -1
    here, seen = identity(found, site), check_reference(found.next, found, site, checker)
    if seen.target is None or "?" in seen.target or seen.findings:
        return -1
    if here >= NUMBERLESS:
        there = uri_key(seen.target.partition("#")[0])
    elif seen.is_within:
        there = here if seen.place is None else seen.place.document
    else:
        there = -1
    return -1 if there == here and seen.fragment is not None else there


def pages_behind(page: int, following: Mapping[int, int]) -> Iterator[int]:
    """The pages to which the reader of a page is sent on, one after the other, each once.

    >>> list(pages_behind(1, {1: 2, 2: 3, 3: 2}))
    [2, 3]
    """
    seen = {page}
    while (page := following.get(page, -1)) not in seen and page >= 0:
        seen.add(page)
        yield page


def find_cycles(following: Mapping[int, int]) -> frozenset[int]:
    """The pages that a reader comes to again and again.

    >>> sorted(find_cycles({1: 2, 2: 3, 3: 2, 4: 4, 5: 1}))
    [2, 3, 4]
    """
    found: set[int] = set()
    seen: set[int] = set()
    for start in following:
        way: dict[int, None] = {}
        page = start
        while page in following and page not in seen:
            seen.add(page)
            way[page] = None
            page = following[page]
        if page in way:
            pages = list(way)
            found.update(pages[pages.index(page) :])
    return frozenset(found)
