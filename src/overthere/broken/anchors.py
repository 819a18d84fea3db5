"""The anchors of a document, which are ids and names; and fragments that are not anchors."""

from __future__ import annotations

import re
from urllib.parse import unquote

from overthere.links.model import UNREAD, Document

_MEDIA = (
    "png", "jpg", "jpeg", "gif", "webp", "avif", "bmp", "ico", "mp4", "webm", "mov", "mkv", "avi", "mp3", "ogg",
    "oga", "ogv", "wav", "flac", "m4a", "opus",
)  # fmt: skip
_POINTER = re.compile(r"(?:xpointer|element|xmlns)\(|/[0-9]")
_SCRIPT = re.compile(r"[!/]")
_RANGE = re.compile(r"(L?[0-9]+)-L?[0-9]+")
_LINES = re.compile(r"L[0-9]+(?:C[0-9]+)?(?:-L?[0-9]+(?:C[0-9]+)?)?")


def is_top(fragment: str) -> bool:
    """Whether a fragment means the top of any HTML document (HTML 7.4.6.4): "", and "top" in any case.

    >>> is_top(""), is_top("TOP"), is_top("a")
    (True, True, False)
    """
    return fragment.lower() in ("", "top")


def names(fragment: str) -> tuple[str, ...]:
    """The possible names of a fragment's anchor: the fragment unchanged, and percent-decoded (HTML 7.4.6.4).

    A range of lines, as on pages of source code, is at the anchor of its first line.

    >>> names("a%20b"), names("L10-L20")
    (('a%20b', 'a b'), ('L10-L20', 'L10'))
    """
    if match := _RANGE.fullmatch(fragment):
        return fragment, match[1]
    return (fragment, unquote(fragment)) if "%" in fragment else (fragment,)


def reason(fragment: str, path: str, kind: str) -> str | None:
    """Why a fragment is not checked (`model.PASSED`); None if it should be an anchor.

    path: the path of the target; its suffix identifies media.
    kind: the name of the target's reader; "" if it has none.

    >>> reason("t=10", "/a.mp4", ""), reason(":~:text=x", "/a.html", "html"), reason("x", "/a.html", "html")
    ('media-fragment', 'text-fragment', None)
    """
    if ":~:" in fragment:
        return "text-fragment"
    if kind == "html" or (kind in ("markdown", "rst", "notebook") and not _LINES.fullmatch(fragment)):
        return "script-fragment" if _SCRIPT.match(fragment) else None
    suffix = path.rpartition(".")[2].lower()
    if suffix == "pdf":
        return "pdf-fragment"
    if suffix in _MEDIA:
        return "media-fragment"
    if kind == "xml":
        if fragment.startswith("svgView("):
            return "view-fragment"
        return "pointer-fragment" if _POINTER.match(fragment) else None
    return "fragment"


# -- XML


class _Ids:
    """A handler of the tags of an XML document that collects its anchors."""

    def __init__(self, anchors: set[str]) -> None:
        self.anchors = anchors
        self.root = ""

    def handle_start(self, name: str, attributes: dict[str, str]) -> None:
        local = name.rpartition(":")[2]
        self.root = self.root or local
        for attribute in ("id", "xml:id") if attributes else ():
            if attributes.get(attribute):
                self.anchors.add(attributes[attribute])
        if local == "a" and attributes.get("name"):
            self.anchors.add(attributes["name"])

    def handle_end(self) -> None: ...
    def handle_text(self, data: str) -> None: ...
    def handle_instruction(self, target: str, data: str) -> None: ...
    def handle_system_id(self, kind: str, identifier: str) -> None: ...


_VOCABULARIES = ("html", "svg")
"""Vocabularies with exactly these anchors; in others, a DTD may declare any attribute as ID (XML 1.0 3.3.1)."""


def xml(document: Document, anchors: set[str]) -> tuple[str, bool]:
    """Collect the anchors of an XML document.  Returns: its text, and whether it can have no other anchors."""
    from overthere.links.documents.xml.events import characters, events

    text, notes = characters(document.content, document.charset)
    ids = _Ids(anchors)
    note_kinds = {note.kind for note in notes}
    note_kinds |= {note.kind for note in events(text, ids) if note is not None}
    return text.replace("\r\n", "\n").replace("\r", "\n"), ids.root in _VOCABULARIES and note_kinds.isdisjoint(UNREAD)
