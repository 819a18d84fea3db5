"""Suggestions: another case, another extension, the same name elsewhere, the closest anchor."""

from __future__ import annotations

import posixpath
from collections import OrderedDict
from collections.abc import Callable, Iterable
from difflib import SequenceMatcher, get_close_matches

from overthere.broken.reference_check import ReferenceState
from overthere.broken.scan import Reference, Scan
from overthere.broken.site import Site
from overthere.ground.errors import OverthereError
from overthere.repairs import to_reference
from overthere.values.encoding import encode
from overthere.values.uri import URI

__all__ = ["SEARCHES", "Suggester"]

_MOST = 2000
"""Names among which the nearest is looked for."""
_LONGEST = 200
"""Characters of a name that is compared."""
_ALIKE = 0.8
_APART = 0.05
"""By how much the nearest must be nearer than the next: of two candidates none is given."""
SEARCHES = 500
"""Names for which a near one is looked for in a run: each takes milliseconds, and every page may have a fault."""
_HELD = 32
"""Documents whose anchors are held."""


class Suggester:
    """Looks for what a reference may have meant; gives one candidate or none."""

    def __init__(self, site: Site, anchors: Callable[[int], set[str] | None]) -> None:
        """anchors: of a document, by its number; None if they are not known."""
        self.site: Site = site
        self.read: Callable[[int], set[str] | None] = anchors
        self.held: OrderedDict[int, set[str] | None] = OrderedDict()
        self.left: int = SEARCHES
        self.cut: int = 0
        """Findings for which nothing was looked for."""
        self.by_last: dict[str, list[str]] | None = None
        self._folders: dict[str, _Folder] | None = None

    def reference(self, kind: str, one: Reference, seen: ReferenceState, found: Scan, document: int) -> str | None:
        """The reference to write instead of one with a finding of this kind."""
        if kind == "repaired":
            mapped = to_reference(one.reference)[0]
            return None if mapped is None else str(mapped)
        if kind == "no-fragment":
            return self._fragment(one, seen, found, document)
        if seen.place is None or one.target is not None:
            return None
        name = None
        if kind == "wrong-case":
            name = seen.place.instead
        elif kind == "redirected":
            name = f"{seen.place.name.rpartition('/')[0]}/"
        elif kind == "no-document":
            name = self._same_name_in_site(seen.place.name)
        return None if not name else self._write_reference(one, name)

    def _same_name_in_site(self, name: str) -> str | None:
        """The one file that has another extension, or the same name in another folder, or nearly the name here."""
        folder, _, last = name.rpartition("/")
        if self.by_last is None:
            self.by_last = {}
            for one in self.site.files:
                told = one.decode("utf-8", "surrogateescape")
                self.by_last.setdefault(told.rpartition("/")[2], []).append(told)
        stem = last.rpartition(".")[0] or last
        here = self._files_of(folder)
        beside = here.by_stem.get(stem, [])
        if len(beside) == 1:
            return posixpath.join(folder, beside[0])
        same = self.by_last.get(last, [])
        if len(same) == 1 and last not in self.site.checker.indexes:
            return same[0]
        if same or beside:
            return None
        # Of names with the same extension: two short ones are not alike for that.
        extension = last[len(stem) :]
        near = self._closest_name(stem, here.stems(extension) if self.left > 0 else ())
        return None if near is None else posixpath.join(folder, near + extension)

    def _files_of(self, folder: str) -> _Folder:
        """The files in a folder."""
        if self._folders is None:
            self._folders = {}
            for one in self.site.files:
                where, _, last = one.decode("utf-8", "surrogateescape").rpartition("/")
                self._folders.setdefault(where, _Folder()).add(last)
        return self._folders.get(folder) or _Folder()

    def _fragment(self, one: Reference, seen: ReferenceState, found: Scan, document: int) -> str | None:
        if "#" not in one.reference or seen.fragment is None:
            return None
        if self.left <= 0:
            self.cut += 1
            return None
        anchors = found.anchors if seen.document == document else self._anchors(seen.document)
        near = self._closest_name(seen.fragment, anchors or ())
        if near is None:
            return None
        return f"{one.reference.partition('#')[0]}#{encode(near, 'fragment')}"

    def _anchors(self, document: int) -> set[str] | None:
        if document not in self.held:
            if len(self.held) >= _HELD:
                self.held.popitem(last=False)
            self.held[document] = self.read(document)
        return self.held[document]

    def _closest_name(self, name: str, names: Iterable[str]) -> str | None:
        if self.left <= 0:
            self.cut += 1
            return None
        self.left -= 1
        return closest_name(name, names)

    def _write_reference(self, one: Reference, name: str) -> str | None:
        """A name as a reference of the same form: absolute, from the root, or relative."""
        target = self.site.uri_of(name)
        old = to_reference(one.reference)[0]
        if old is None:
            return None
        after = one.reference[len(one.reference.partition("?")[0].partition("#")[0]) :]
        if old.scheme is None and old.authority is None:
            path = URI(target).path
            if old.path.startswith("/"):
                target = path
            else:
                here = posixpath.dirname(one.base.uri.path) or "/"
                target = posixpath.relpath(path, here) + "/" * (path.endswith("/") and path != "/")
                if ":" in target.partition("/")[0]:
                    target = f"./{target}"
        try:
            joined = str(one.base.uri.join(f"{target}{after}"))
        except (OverthereError, ValueError):
            return None
        return f"{target}{after}" if self.site.find(joined).verdict == "document" else None


class _Folder:
    """The names of the files in a folder: what stands before and behind their last dot."""

    def __init__(self) -> None:
        self.by_stem: dict[str, list[str]] = {}
        self._by_extension: dict[str, list[str]] = {}

    def add(self, name: str) -> None:
        stem = name.rpartition(".")[0] or name
        self.by_stem.setdefault(stem, []).append(name)
        if extension := name[len(stem) :]:
            self._by_extension.setdefault(extension, []).append(stem)

    def stems(self, extension: str) -> list[str]:
        """Of the names with an extension; without one, all names as they are."""
        if extension:
            return self._by_extension.get(extension, [])
        return [name for names in self.by_stem.values() for name in names]


def closest_name(name: str, names: Iterable[str]) -> str | None:
    """The one name that is nearest, if it is near enough and no other is as near.

    >>> closest_name("instalation", ["installation", "usage"]), closest_name("ab1", ["ab2", "ab3"])
    ('installation', None)
    """
    short = name[:_LONGEST]
    known = [one for _, one in zip(range(_MOST), sorted(names), strict=False) if len(one) <= _LONGEST]
    same = [one for one in known if one.casefold() == short.casefold()]
    if len(same) == 1:
        return same[0]
    near = get_close_matches(short, known, 2, _ALIKE)
    if not near or same:
        return None
    ratios = [SequenceMatcher(None, one, short).ratio() for one in near]
    return near[0] if len(near) == 1 or ratios[0] - ratios[1] > _APART else None
