"""Suggestions: another case, another extension, the same name elsewhere, the closest anchor; how certain each is."""

from __future__ import annotations

import posixpath
import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable
from difflib import SequenceMatcher, get_close_matches
from functools import cache
from heapq import nsmallest
from mimetypes import MimeTypes
from typing import Literal, NamedTuple, TypeAlias

from overthere.broken.reference_check import ReferenceState, bare_address, mail_reference, resolve
from overthere.broken.scan import Reference, Scan
from overthere.broken.site import Site
from overthere.ground.caches import bounded_cache
from overthere.ground.errors import OverthereError
from overthere.repairs import to_reference
from overthere.values.encoding import encode
from overthere.values.uri import URI, URIReference

__all__ = ["KnownNames", "Suggester", "Suggestion", "resource_kind"]

_MOST = 2000
"""Names among which the nearest is looked for."""
_LONGEST = 200
"""Characters of a name that is compared."""
_ALIKE = 0.8
_APART = 0.05
"""By how much the nearest must be nearer than the next: of two candidates none is given."""
_WORD_ALIKE = 0.75
_FAR_APART = 0.1
"""The same for what is likely: each word of the name, and the margin to the next name."""
_WORK = 1 << 30
"""Characters that are compared in a run, about twenty seconds: only hostile sites have more to compare."""
_FREE, _FOR_EACH = 1 << 20, 100
"""The same in a document: so many, and for each of its characters."""
_REMEMBERED = 1 << 14
"""Names for which the nearest is remembered: a template has the same fault on every page."""
_HELD = 32
"""Documents whose anchors are held."""


Certainty: TypeAlias = Literal["certain", "likely", "similar", "archived"]


class Suggestion(NamedTuple):
    """Another reference for one that is broken."""

    text: str
    certainty: Certainty
    """Of `model.CERTAINTIES`."""


class Suggester:
    """Looks for what a reference may have meant; gives one candidate or none."""

    def __init__(self, site: Site, anchors: Callable[[int], set[str] | None]) -> None:
        """anchors: of a document, by its number; None if they are not known."""
        self.site: Site = site
        self.anchors: Callable[[int], set[str] | None] = bounded_cache(_HELD)(anchors)
        self.own: tuple[int, set[str]] = (-1, set())
        """The document at hand and its anchors, as far as they are known."""
        self._known: dict[int, tuple[Iterable[str], KnownNames]] = {}
        """By their identity the names that were last asked for, and the same made ready."""
        self.left: int = _WORK
        self.left_here: int = 0
        self.document: int = -1
        self.nearest_file: Callable[[str, bool], Suggestion | None] = bounded_cache(_REMEMBERED)(self._near_document)
        self.nearest_anchor: Callable[[int, str], Suggestion | None] = bounded_cache(_REMEMBERED)(self._near_anchor)
        self.by_last: dict[str, list[str]] = {}
        self.folders: dict[str, _Folder] = {}

    def reference(
        self, kind: str, one: Reference, seen: ReferenceState, found: Scan, document: int
    ) -> Suggestion | None:
        """The reference to write instead of one with a finding of this kind."""
        if document != self.document:
            self.document, self.left_here = document, _FREE + _FOR_EACH * len(found.text)
        if kind in ("repaired", "encoded-at", "bad-mailto"):
            meant = mail_reference(one.reference)
            if meant is None and kind == "repaired":
                mapped = to_reference(one.reference)[0]
                meant = None if mapped is None else str(mapped)
            return None if meant is None else Suggestion(meant, "certain")
        if kind == "no-fragment":
            return self._fragment(one, seen, found, document)
        if seen.place is None or one.target is not None or seen.is_remapped:
            return None
        name: Suggestion | None = None
        if kind == "wrong-case":
            name = Suggestion(seen.place.instead, "certain")
        elif kind == "redirected":
            name = Suggestion(f"{seen.place.name.rpartition('/')[0]}/", "certain")
        elif kind == "no-document":
            if one.where in _LINKS and (meant := bare_address(one.reference)) is not None:
                return Suggestion(meant, "likely")
            name = self.nearest_file(seen.place.name, one.where in _LINKS)
        return None if name is None or not name.text else self.other_document(one, name.text, name.certainty)

    def other_document(self, one: Reference, name: str, certainty: Certainty) -> Suggestion | None:
        """The reference with the name of another document; None if it cannot be written in this form."""
        text = self._write_reference(one, name)
        return None if text is None else Suggestion(text, certainty)

    def _near_document(self, name: str, is_link: bool) -> Suggestion | None:
        """The one file that has another extension, or the same name in another folder, or nearly the name here."""
        folder, _, last = name.rpartition("/")
        for one in () if self.folders else self.site.files:
            whole = one.decode("utf-8", "surrogateescape")
            where, _, file = whole.rpartition("/")
            self.by_last.setdefault(file, []).append(whole)
            self.folders.setdefault(where, _Folder()).add(file)
        stem = last.rpartition(".")[0] or last
        extension = last[len(stem) :]
        here = self.folders.get(folder) or _Folder()
        wanted = resource_kind(last) if extension else "page" if is_link else None
        beside = [one for one in here.by_stem.get(stem, []) if resource_kind(one) == wanted]
        if len(beside) == 1:
            return Suggestion(posixpath.join(folder, beside[0]), "likely")
        same = self.by_last.get(last, [])
        if len(same) == 1 and last not in self.site.checker.indexes:
            return Suggestion(same[0], "similar")
        if same or beside:
            return None
        # Of names with the same extension: two short ones are not alike for that.
        near = self._closest_name(stem, here.stems(extension))
        return None if near is None else near._replace(text=posixpath.join(folder, near.text + extension))

    def _fragment(self, one: Reference, seen: ReferenceState, found: Scan, document: int) -> Suggestion | None:
        if "#" not in one.reference or seen.fragment is None or seen.document < 0:
            return None  # the anchors of a document outside are not held
        self.own = document, found.anchors
        near = self.nearest_anchor(seen.document, seen.fragment)
        if near is None:
            return None
        return near._replace(text=f"{one.reference.partition('#')[0]}#{encode(near.text, 'fragment')}")

    def _near_anchor(self, document: int, fragment: str) -> Suggestion | None:
        here, anchors = self.own
        return self._closest_name(fragment, (here == document and anchors) or self.anchors(document) or ())

    def _closest_name(self, name: str, names: Iterable[str]) -> Suggestion | None:
        if self.left <= 0 or self.left_here <= 0:
            return None
        if id(names) not in self._known:
            if len(self._known) >= _HELD:
                self._known.clear()
            self._known[id(names)] = names, (known := KnownNames(names))
            self.left -= known.work
        near, work = self._known[id(names)][1].closest(name)
        self.left -= work
        self.left_here -= work
        return near

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
                root = self.site.root
                if root is not None and not target.startswith(root):
                    return None
                target = path if root is None else target[len(root) - 1 :]
            else:
                here = posixpath.dirname(one.base.uri.path) or "/"
                target = posixpath.relpath(path, here) + "/" * (path.endswith("/") and path != "/")
                if ":" in target.partition("/")[0]:
                    target = f"./{target}"
        try:
            joined = str(resolve(URIReference(f"{target}{after}"), one.base.uri, self.site))
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


_LINKS = ("a href", "area href", "link", "autolink", "definition", "iframe src", "frame src", "form action")


@cache
def _types() -> MimeTypes:
    """Those that Python knows on every system, and those that only its newer versions know."""
    types = MimeTypes()
    for media, extensions in {
        "text/javascript": (".js", ".mjs"), "image/webp": (".webp",), "image/avif": (".avif",), "font/woff": (".woff",),
        "font/woff2": (".woff2",), "font/ttf": (".ttf",), "font/otf": (".otf",),
    }.items():  # fmt: skip
        for extension in extensions:
            types.add_type(media, extension)
    return types


_PAGES = frozenset(("text/html", "application/xhtml+xml"))


def resource_kind(name: str) -> str | None:
    """What a file is by its name: "page", "image", "font", "audio", "video", or its media type; None: not known.

    >>> [resource_kind(name) for name in ("a.htm", "b.jpeg", "c.css", "d.js", "e.pdf", "README")]
    ['page', 'image', 'text/css', 'text/javascript', 'application/pdf', None]
    """
    media = _types().guess_type(f"/{name.rpartition('/')[2]}")[0]
    if media is None or media in _PAGES:
        return media and "page"
    top = media.partition("/")[0]
    return top if top in ("image", "font", "audio", "video") else media


class KnownNames:
    """The names among which the nearest is looked for: the first in their order, without very long ones."""

    def __init__(self, names: Iterable[str]) -> None:
        given = list(names)
        self.work: int = sum(map(len, given))
        """Characters that were compared."""
        first = (name for name in nsmallest(_MOST, given) if len(name) <= _LONGEST)
        self._by_length: list[str] = sorted(first, key=len)
        self._lengths: list[int] = list(map(len, self._by_length))
        self._folded: dict[str, list[str]] = {}
        for one in self._by_length:
            self._folded.setdefault(one.casefold(), []).append(one)

    def closest(self, name: str) -> tuple[Suggestion | None, int]:
        """The one that is nearest, if it is near enough and no other is as near; and how much was compared.

        It is certain if only its case differs, and likely if each of its words is like its counterpart and numbers are
        equal: `release-1.3` is no likely `release-1.2`, nor `guide-en` a `guide-de`.

        >>> names = KnownNames(["installation", "usage", "release-1.3", "guide-en", "Start"])
        >>> [names.closest(name)[0] for name in ("instalation", "start")]
        [Suggestion(text='installation', certainty='likely'), Suggestion(text='Start', certainty='certain')]
        >>> [names.closest(name)[0].certainty for name in ("release-1.2", "guide-de")]
        ['similar', 'similar']
        >>> KnownNames(["ab2", "ab3"]).closest("ab1")
        (None, 6)
        """
        short = name[:_LONGEST]
        if same := self._folded.get(short.casefold()):
            certain = Suggestion(same[0], "certain") if len(same) == 1 and len(name) <= _LONGEST else None
            return certain, len(self._by_length)
        # A ratio of 0.8 needs so many characters in common: most names are done with before they are compared.
        length, letters = len(short), frozenset(short)
        first = bisect_left(self._lengths, 2 * length / 3)
        alike = self._by_length[first : bisect_right(self._lengths, 3 * length / 2)]
        alike = [
            one for one in alike if 5 * min(length, sum(map(letters.__contains__, one))) >= 2 * (length + len(one))
        ]
        work = sum(self._lengths) + length * sum(map(len, alike))
        near = get_close_matches(short, alike, 2, _ALIKE)
        ratios = [SequenceMatcher(None, one, short).ratio() for one in near]
        margin = ratios[0] - ratios[1] if len(near) == 2 else float(len(near))
        if margin <= _APART:
            return None, work
        return Suggestion(
            near[0], "likely" if margin >= _FAR_APART and _are_words_alike(near[0], name) else "similar"
        ), work


_PARTS = re.compile(r"[0-9]++|[^\W\d_]++")


def _are_words_alike(one: str, other: str) -> bool:
    words, others = _PARTS.findall(one.casefold()), _PARTS.findall(other.casefold())
    return len(words) == len(others) and all(
        mine == theirs or (not mine.isdecimal() and SequenceMatcher(None, mine, theirs).ratio() >= _WORD_ALIKE)
        for mine, theirs in zip(words, others, strict=True)
    )
