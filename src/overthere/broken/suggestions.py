"""Suggestions: another case, another extension, the same name elsewhere, the closest anchor; how certain each is."""

from __future__ import annotations

import posixpath
import re
from collections import OrderedDict
from collections.abc import Callable, Iterable
from difflib import SequenceMatcher, get_close_matches
from mimetypes import MimeTypes
from typing import Literal, NamedTuple

from overthere.broken.reference_check import ReferenceState, bare_address, mail_reference, resolve
from overthere.broken.scan import Reference, Scan
from overthere.broken.site import Site
from overthere.ground.errors import OverthereError
from overthere.repairs import to_reference
from overthere.values.encoding import encode
from overthere.values.uri import URI, URIReference

__all__ = ["SEARCHES", "Suggester", "Suggestion", "closest_name", "resource_kind"]

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
SEARCHES = 500
"""Names for which a near one is looked for in a run: each takes milliseconds, and every page may have a fault."""
_HELD = 32
"""Documents whose anchors are held."""


class Suggestion(NamedTuple):
    """Another reference for one that is broken."""

    text: str
    certainty: Literal["certain", "likely", "similar", "archived"]
    """Of `model.CERTAINTIES`."""


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

    def reference(
        self, kind: str, one: Reference, seen: ReferenceState, found: Scan, document: int
    ) -> Suggestion | None:
        """The reference to write instead of one with a finding of this kind."""
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
            name = self._near_document(seen.place.name, one.where)
        text = None if name is None or not name.text else self._write_reference(one, name.text)
        return None if text is None or name is None else Suggestion(text, name.certainty)

    def _near_document(self, name: str, where: str) -> Suggestion | None:
        """The one file that has another extension, or the same name in another folder, or nearly the name here."""
        folder, _, last = name.rpartition("/")
        if self.by_last is None:
            self.by_last = {}
            for one in self.site.files:
                told = one.decode("utf-8", "surrogateescape")
                self.by_last.setdefault(told.rpartition("/")[2], []).append(told)
        stem = last.rpartition(".")[0] or last
        extension = last[len(stem) :]
        here = self._files_of(folder)
        wanted = resource_kind(last) if extension else "page" if where in _LINKS else None
        beside = [one for one in here.by_stem.get(stem, []) if resource_kind(one) == wanted]
        if len(beside) == 1:
            return Suggestion(posixpath.join(folder, beside[0]), "likely")
        same = self.by_last.get(last, [])
        if len(same) == 1 and last not in self.site.checker.indexes:
            return Suggestion(same[0], "similar")
        if same or beside:
            return None
        # Of names with the same extension: two short ones are not alike for that.
        near = self._closest_name(stem, here.stems(extension) if self.left > 0 else ())
        return None if near is None else near._replace(text=posixpath.join(folder, near.text + extension))

    def _files_of(self, folder: str) -> _Folder:
        """The files in a folder."""
        if self._folders is None:
            self._folders = {}
            for one in self.site.files:
                where, _, last = one.decode("utf-8", "surrogateescape").rpartition("/")
                self._folders.setdefault(where, _Folder()).add(last)
        return self._folders.get(folder) or _Folder()

    def _fragment(self, one: Reference, seen: ReferenceState, found: Scan, document: int) -> Suggestion | None:
        if "#" not in one.reference or seen.fragment is None or seen.document < 0:
            return None  # the anchors of a document outside are not held
        if self.left <= 0:
            self.cut += 1
            return None
        anchors = found.anchors if seen.document == document else self._anchors(seen.document)
        near = self._closest_name(seen.fragment, anchors or ())
        if near is None:
            return None
        return near._replace(text=f"{one.reference.partition('#')[0]}#{encode(near.text, 'fragment')}")

    def _anchors(self, document: int) -> set[str] | None:
        if document not in self.held:
            if len(self.held) >= _HELD:
                self.held.popitem(last=False)
            self.held[document] = self.read(document)
        return self.held[document]

    def _closest_name(self, name: str, names: Iterable[str]) -> Suggestion | None:
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
_TYPES = MimeTypes()
"""Those that Python knows on every system, and those that only its newer versions know."""
for _media, _extensions in {
    "text/javascript": (".js", ".mjs"), "image/webp": (".webp",), "image/avif": (".avif",), "font/woff": (".woff",),
    "font/woff2": (".woff2",), "font/ttf": (".ttf",), "font/otf": (".otf",),
}.items():  # fmt: skip
    for _extension in _extensions:
        _TYPES.add_type(_media, _extension)
_PAGES = frozenset(("text/html", "application/xhtml+xml"))


def resource_kind(name: str) -> str | None:
    """What a file is by its name: "page", "image", "font", "audio", "video", or its media type; None: not known.

    >>> [resource_kind(name) for name in ("a.htm", "b.jpeg", "c.css", "d.js", "e.pdf", "README")]
    ['page', 'image', 'text/css', 'text/javascript', 'application/pdf', None]
    """
    media = _TYPES.guess_type(f"/{name.rpartition('/')[2]}")[0]
    if media is None or media in _PAGES:
        return media and "page"
    top = media.partition("/")[0]
    return top if top in ("image", "font", "audio", "video") else media


def closest_name(name: str, names: Iterable[str]) -> Suggestion | None:
    """The one name that is nearest, if it is near enough and no other is as near.

    It is certain if only its case differs, and likely if each of its words is like its counterpart and numbers are
    equal: `release-1.3` is no likely `release-1.2`, nor `guide-en` a `guide-de`.

    >>> names = ["installation", "usage", "release-1.3", "guide-en", "Start"]
    >>> [closest_name(name, names) for name in ("instalation", "start")]
    [Suggestion(text='installation', certainty='likely'), Suggestion(text='Start', certainty='certain')]
    >>> [closest_name(name, names)[1] for name in ("release-1.2", "guide-de")], closest_name("ab1", ["ab2", "ab3"])
    (['similar', 'similar'], None)
    """
    short = name[:_LONGEST]
    known = [one for _, one in zip(range(_MOST), sorted(names), strict=False) if len(one) <= _LONGEST]
    same = [one for one in known if one.casefold() == short.casefold()]
    if len(same) == 1 and len(name) <= _LONGEST:
        return Suggestion(same[0], "certain")
    near = get_close_matches(short, known, 2, _ALIKE)
    if not near or same:
        return None
    ratios = [SequenceMatcher(None, one, short).ratio() for one in near]
    margin = 1.0 if len(near) == 1 else ratios[0] - ratios[1]
    if margin <= _APART:
        return None
    return Suggestion(near[0], "likely" if margin >= _FAR_APART and _are_words_alike(near[0], name) else "similar")


_PARTS = re.compile(r"[0-9]++|[^\W\d_]++")


def _are_words_alike(one: str, other: str) -> bool:
    words, others = _PARTS.findall(one.casefold()), _PARTS.findall(other.casefold())
    return len(words) == len(others) and all(
        mine == theirs or (not mine.isdecimal() and SequenceMatcher(None, mine, theirs).ratio() >= _WORD_ALIKE)
        for mine, theirs in zip(words, others, strict=True)
    )
