"""Suggestions: another case, another extension, the same name elsewhere, the closest anchor; with a certainty."""

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

_MAX_NAMES = 2000
"""Maximum number of names that are searched for the closest one."""
_MAX_NAME_LENGTH = 200
"""Maximum length of a compared name, in characters."""
_MIN_RATIO = 0.8
_MIN_MARGIN = 0.05
"""The minimum margin between the closest name and the next; of two equally close names, none is suggested."""
_MIN_WORD_RATIO = 0.75
_LIKELY_MARGIN = 0.1
"""For a likely suggestion: the minimum ratio of each word, and the minimum margin to the next name."""
_MAX_WORK = 1 << 30
"""Characters that are compared in a run, about twenty seconds: only hostile sites need more."""
_WORK_PER_DOCUMENT, _WORK_PER_CHARACTER = 1 << 20, 100
"""Characters that are compared in a document: a fixed number, and a number for each of its characters."""
_CACHE_SIZE = 1 << 14
"""Names whose closest name is cached: a template has the same fault on every page."""
_MAX_DOCUMENTS = 32
"""Maximum number of documents whose anchors are cached."""


Certainty: TypeAlias = Literal["certain", "likely", "similar", "archived"]


class Suggestion(NamedTuple):
    """A replacement for a broken reference."""

    text: str
    certainty: Certainty
    """One of `model.CERTAINTIES`."""


class Suggester:
    """Searches for the intended reference; returns one candidate or none."""

    def __init__(self, site: Site, anchors: Callable[[int], set[str] | None]) -> None:
        """anchors: returns the anchors of a document by its number; None if they are not known."""
        self.site: Site = site
        self.anchors: Callable[[int], set[str] | None] = bounded_cache(_MAX_DOCUMENTS)(anchors)
        self.current_anchors: tuple[int, set[str]] = (-1, set())
        """The current document and its anchors."""
        self._prepared: dict[int, tuple[Iterable[str], KnownNames]] = {}
        """Recently used collections of names by identity, each with its `KnownNames`."""
        self.remaining_work: int = _MAX_WORK
        self.left_here: int = 0
        self.document: int = -1
        self.nearest_file: Callable[[str, bool], Suggestion | None] = bounded_cache(_CACHE_SIZE)(self._near_document)
        self.nearest_anchor: Callable[[int, str], Suggestion | None] = bounded_cache(_CACHE_SIZE)(self._near_anchor)
        self.by_last: dict[str, list[str]] = {}
        self.folders: dict[str, _Folder] = {}

    def reference(
        self, kind: str, reference: Reference, seen: ReferenceState, result: Scan, document: int
    ) -> Suggestion | None:
        """The suggestion for a reference with a finding of this kind, or None."""
        if document != self.document:
            self.document, self.left_here = document, _WORK_PER_DOCUMENT + _WORK_PER_CHARACTER * len(result.text)
        if kind in ("repaired", "encoded-at", "bad-mailto"):
            intended = mail_reference(reference.reference)
            if intended is None and kind == "repaired":
                mapped = to_reference(reference.reference)[0]
                intended = None if mapped is None else str(mapped)
            return None if intended is None else Suggestion(intended, "certain")
        if kind == "no-fragment":
            return self._fragment(reference, seen, result, document)
        if seen.place is None or reference.target is not None or seen.is_remapped:
            return None
        name: Suggestion | None = None
        if kind == "wrong-case":
            name = Suggestion(seen.place.instead, "certain")
        elif kind == "redirected":
            name = Suggestion(f"{seen.place.name.rpartition('/')[0]}/", "certain")
        elif kind == "no-document":
            if reference.where in _LINKS and (intended := bare_address(reference.reference)) is not None:
                return Suggestion(intended, "likely")
            name = self.nearest_file(seen.place.name, reference.where in _LINKS)
        return None if name is None or not name.text else self.other_document(reference, name.text, name.certainty)

    def other_document(self, reference: Reference, name: str, certainty: Certainty) -> Suggestion | None:
        """The reference rewritten to the name of another document; None if that is impossible in its form."""
        text = self._write_reference(reference, name)
        return None if text is None else Suggestion(text, certainty)

    def _near_document(self, name: str, is_link: bool) -> Suggestion | None:
        """The only file with another extension, or the same name in another folder, or a similar name in this one."""
        folder, _, last = name.rpartition("/")
        for encoded in () if self.folders else self.site.files:
            path = encoded.decode("utf-8", "surrogateescape")
            parent, _, file = path.rpartition("/")
            self.by_last.setdefault(file, []).append(path)
            self.folders.setdefault(parent, _Folder()).add(file)
        stem = last.rpartition(".")[0] or last
        extension = last[len(stem) :]
        siblings = self.folders.get(folder) or _Folder()
        needed_kind = resource_kind(last) if extension else "page" if is_link else None
        same_stem = [file for file in siblings.by_stem.get(stem, []) if resource_kind(file) == needed_kind]
        if len(same_stem) == 1:
            return Suggestion(posixpath.join(folder, same_stem[0]), "likely")
        same = self.by_last.get(last, [])
        if len(same) == 1 and last not in self.site.checker.indexes:
            return Suggestion(same[0], "similar")
        if same or same_stem:
            return None
        # Compare names without the extension, which would make short names similar.
        near = self._closest_name(stem, siblings.stems(extension))
        return None if near is None else near._replace(text=posixpath.join(folder, near.text + extension))

    def _fragment(self, reference: Reference, seen: ReferenceState, result: Scan, document: int) -> Suggestion | None:
        if "#" not in reference.reference or seen.fragment is None or seen.document < 0:
            return None  # the anchors of external documents are not stored
        self.current_anchors = document, result.anchors
        near = self.nearest_anchor(seen.document, seen.fragment)
        if near is None:
            return None
        return near._replace(text=f"{reference.reference.partition('#')[0]}#{encode(near.text, 'fragment')}")

    def _near_anchor(self, document: int, fragment: str) -> Suggestion | None:
        current, anchors = self.current_anchors
        return self._closest_name(fragment, (current == document and anchors) or self.anchors(document) or ())

    def _closest_name(self, name: str, names: Iterable[str]) -> Suggestion | None:
        if self.remaining_work <= 0 or self.left_here <= 0:
            return None
        if id(names) not in self._prepared:
            if len(self._prepared) >= _MAX_DOCUMENTS:
                self._prepared.clear()
            self._prepared[id(names)] = names, (prepared := KnownNames(names))
            self.remaining_work -= prepared.work
        near, work = self._prepared[id(names)][1].closest(name)
        self.remaining_work -= work
        self.left_here -= work
        return near

    def _write_reference(self, reference: Reference, name: str) -> str | None:
        """A name as a reference of the same form: absolute, from the root, or relative; None if it does not resolve."""
        target = self.site.uri_of(name)
        old = to_reference(reference.reference)[0]
        if old is None:
            return None
        after = reference.reference[len(reference.reference.partition("?")[0].partition("#")[0]) :]
        if old.scheme is None and old.authority is None:
            path = URI(target).path
            if old.path.startswith("/"):
                root = self.site.root
                if root is not None and not target.startswith(root):
                    return None
                target = path if root is None else target[len(root) - 1 :]
            else:
                base_folder = posixpath.dirname(reference.base.uri.path) or "/"
                target = posixpath.relpath(path, base_folder) + "/" * (path.endswith("/") and path != "/")
                if ":" in target.partition("/")[0]:
                    target = f"./{target}"
        try:
            joined = str(resolve(URIReference(f"{target}{after}"), reference.base.uri, self.site))
        except (OverthereError, ValueError):
            return None
        return f"{target}{after}" if self.site.find(joined).verdict == "document" else None


class _Folder:
    """The names of the files in a folder, split at their last dot."""

    def __init__(self) -> None:
        self.by_stem: dict[str, list[str]] = {}
        self._by_extension: dict[str, list[str]] = {}

    def add(self, name: str) -> None:
        stem = name.rpartition(".")[0] or name
        self.by_stem.setdefault(stem, []).append(name)
        if extension := name[len(stem) :]:
            self._by_extension.setdefault(extension, []).append(stem)

    def stems(self, extension: str) -> list[str]:
        """The stems of the names with an extension; without an extension, all names."""
        if extension:
            return self._by_extension.get(extension, [])
        return [name for names in self.by_stem.values() for name in names]


_LINKS = ("a href", "area href", "link", "autolink", "definition", "iframe src", "frame src", "form action")


@cache
def _types() -> MimeTypes:
    """The media types that Python knows on every system, and those that only its newer versions know."""
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
    """The kind of a file by its name: "page", "image", "font", "audio", "video", or its media type; None if unknown.

    >>> [resource_kind(name) for name in ("a.htm", "b.jpeg", "c.css", "d.js", "e.pdf", "README")]
    ['page', 'image', 'text/css', 'text/javascript', 'application/pdf', None]
    """
    media = _types().guess_type(f"/{name.rpartition('/')[2]}")[0]
    if media is None or media in _PAGES:
        return media and "page"
    top = media.partition("/")[0]
    return top if top in ("image", "font", "audio", "video") else media


class KnownNames:
    """The names that are searched for the closest one: the first in sorted order, without very long ones."""

    def __init__(self, names: Iterable[str]) -> None:
        all_names = list(names)
        self.work: int = sum(map(len, all_names))
        """The number of characters that were read."""
        self._all: list[str] = all_names if len(all_names) > _MAX_NAMES else []
        first = (name for name in nsmallest(_MAX_NAMES, all_names) if len(name) <= _MAX_NAME_LENGTH)
        self._by_length: list[str] = sorted(first, key=len)
        self._lengths: list[int] = list(map(len, self._by_length))
        self._folded: dict[str, list[str]] = {}
        for name in self._by_length:
            self._folded.setdefault(name.casefold(), []).append(name)

    def closest(self, name: str) -> tuple[Suggestion | None, int]:
        """The closest name, if it is close enough and no other is as close; and the number of compared characters.

        It is certain if only its case differs, and likely if each of its words is similar to its counterpart and
        numbers are equal: `release-1.3` is not likely for `release-1.2`, nor `guide-en` for `guide-de`.

        >>> names = KnownNames(["installation", "usage", "release-1.3", "guide-en", "Start"])
        >>> [names.closest(name)[0] for name in ("instalation", "start")]
        [Suggestion(text='installation', certainty='likely'), Suggestion(text='Start', certainty='certain')]
        >>> [names.closest(name)[0].certainty for name in ("release-1.2", "guide-de")]
        ['similar', 'similar']
        >>> KnownNames(["ab2", "ab3"]).closest("ab1")
        (None, 6)
        """
        short = name[:_MAX_NAME_LENGTH]
        if same := self._folded.get(folded := short.casefold()):
            is_only = name == short and sum(candidate.casefold() == folded for candidate in self._all or same) == 1
            return Suggestion(same[0], "certain") if is_only else None, self.work if self._all else len(self._by_length)
        # A ratio of 0.8 needs this many common characters: this rules out most names before they are compared.
        length, letters = len(short), frozenset(short)
        first = bisect_left(self._lengths, 2 * length / 3)
        alike = self._by_length[first : bisect_right(self._lengths, 3 * length / 2)]
        alike = [
            word for word in alike if 5 * min(length, sum(map(letters.__contains__, word))) >= 2 * (length + len(word))
        ]
        work = sum(self._lengths) + length * sum(map(len, alike))
        near = get_close_matches(short, alike, 2, _MIN_RATIO)
        ratios = [SequenceMatcher(None, word, short).ratio() for word in near]
        margin = ratios[0] - ratios[1] if len(near) == 2 else float(len(near))
        if margin <= _MIN_MARGIN:
            return None, work
        return Suggestion(
            near[0], "likely" if margin >= _LIKELY_MARGIN and _are_words_alike(near[0], name) else "similar"
        ), work


_PARTS = re.compile(r"[0-9]++|[^\W\d_]++")


def _are_words_alike(name: str, other_name: str) -> bool:
    words, other_words = _PARTS.findall(name.casefold()), _PARTS.findall(other_name.casefold())
    return len(words) == len(other_words) and all(
        word == other or (not word.isdecimal() and SequenceMatcher(None, word, other).ratio() >= _MIN_WORD_RATIO)
        for word, other in zip(words, other_words, strict=True)
    )
