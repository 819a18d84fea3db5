"""Pages that refresh after 0 seconds (HTML 4.2.5.3): their targets, and the cycles that they form."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from overthere.broken.keys import NUMBERLESS
from overthere.broken.model import Checker
from overthere.broken.reference_check import check_reference, document_identity, uri_key
from overthere.broken.scan import Scan
from overthere.broken.site import Site


def identity(scan: Scan, site: Site) -> int:
    """The identity of a page for other pages: its number, or in a container the key of its URI."""
    number = document_identity(scan, site)
    return number if number < NUMBERLESS else uri_key(str(scan.document.base.uri))


def refresh_target(scan: Scan, site: Site, checker: Checker) -> int:
    """The page to which a page refreshes at once; -1 for none.

    A target with a query may be another page, and a fragment of the same page loads nothing.
    """
    if scan.next is None:
        return -1
    own_identity, result = identity(scan, site), check_reference(scan.next, scan, site, checker)
    if result.target is None or "?" in result.target or result.findings:
        return -1
    if own_identity >= NUMBERLESS:
        target = uri_key(result.target.partition("#")[0])
    elif result.is_within:
        target = own_identity if result.place is None else result.place.document
    else:
        target = -1
    return -1 if target == own_identity and result.fragment is not None else target


def pages_behind(page: int, following: Mapping[int, int]) -> Iterator[int]:
    """Yield the pages to which a page refreshes, one after the other, each once.

    >>> list(pages_behind(1, {1: 2, 2: 3, 3: 2}))
    [2, 3]
    """
    seen = {page}
    while (page := following.get(page, -1)) not in seen and page >= 0:
        seen.add(page)
        yield page


def find_cycles(following: Mapping[int, int]) -> frozenset[int]:
    """The pages that form cycles.

    >>> sorted(find_cycles({1: 2, 2: 3, 3: 2, 4: 4, 5: 1}))
    [2, 3, 4]
    """
    cyclic: set[int] = set()
    seen: set[int] = set()
    for start in following:
        path: dict[int, None] = {}
        page = start
        while page in following and page not in seen:
            seen.add(page)
            path[page] = None
            page = following[page]
        if page in path:
            pages = list(path)
            cyclic.update(pages[pages.index(page) :])
    return frozenset(cyclic)
