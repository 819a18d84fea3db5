"""URI references in HTML: every attribute whose value the HTML Standard (or HTML 4.01) defines as a URL."""

from __future__ import annotations

import codecs
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from html.parser import HTMLParser
from typing import NamedTuple

__all__ = ["Found", "decode", "read"]


class Found(NamedTuple):
    """A reference as it stands in the document: where, and its text without surrounding white space."""

    where: str
    reference: str


# ASCII whitespace of the HTML Standard, which may surround a URL.
_SPACE = "\t\n\f\r "


def _one(value: str) -> Iterable[str]:
    return (value.strip(_SPACE),)


def _list(value: str) -> Iterable[str]:
    return value.split()


def _nonempty(value: str) -> Iterable[str]:
    value = value.strip(_SPACE)
    return (value,) if value else ()


def _commas(value: str) -> Iterable[str]:
    return [piece for part in value.split(",") if (piece := part.strip(_SPACE))]


_CANDIDATE = re.compile(r"[\t\n\f\r ,]*([^\t\n\f\r ]+)")
_DESCRIPTORS = re.compile(r"(?:[^,(]|\([^)]*\)?)*+,?")


def _srcset(value: str) -> Iterator[str]:
    """The URLs of image candidates: a URL ends at white space, or at the commas that it ends with."""
    at = 0
    while match := _CANDIDATE.match(value, at):
        url = match[1]
        at = match.end()
        bare = url.rstrip(",")
        if bare == url and (rest := _DESCRIPTORS.match(value, at)):
            at = rest.end()
        if bare:
            yield bare


# Attribute -> (elements, or () for every one; how its URLs are written).
_ATTRIBUTES: dict[str, tuple[tuple[str, ...], Callable[[str], Iterable[str]]]] = {
    "href": ((), _one),
    "xlink:href": ((), _one),
    "src": ((), _one),
    "srcset": (("img", "source"), _srcset),
    "imagesrcset": (("link",), _srcset),
    "action": (("form",), _one),
    "formaction": (("button", "input"), _one),
    "cite": (("blockquote", "del", "ins", "q"), _one),
    "data": (("object",), _one),
    "poster": (("video",), _one),
    "ping": (("a", "area"), _list),
    "itemid": ((), _one),
    "itemtype": ((), _list),
    "manifest": (("html",), _nonempty),
    # HTML 4.01
    "background": ((), _nonempty),
    "classid": (("object",), _nonempty),
    "codebase": (("applet", "object"), _nonempty),
    "archive": (("object",), _list),
    "longdesc": (("frame", "iframe", "img"), _nonempty),
    "lowsrc": (("img",), _nonempty),
    "profile": (("head",), _list),
    "usemap": (("img", "input", "object"), _nonempty),
}

_REFRESH = re.compile(
    r"[\t\n\f\r ]*(?:[0-9]+|(?=\.))[0-9.]*[\t\n\f\r ]*[;,\t\n\f\r ][\t\n\f\r ]*"
    r"(?:url[\t\n\f\r ]*=[\t\n\f\r ]*)?(?:'([^']*)|\"([^\"]*)|([^\t\n\f\r ].*))",
    re.IGNORECASE | re.DOTALL,
)


def _refresh(content: str) -> str | None:
    match = _REFRESH.match(content)
    if match is None:
        return None
    return "".join(group or "" for group in match.groups()).strip(_SPACE)


def decode(data: bytes) -> str:
    """The characters of an HTML document: by byte order mark, by `meta charset` in the first 1024 octets, else UTF-8.

    Octets that are not in the charset become U+FFFD; a document that declares nothing and is no UTF-8 is windows-1252.
    """
    if data.startswith(codecs.BOM_UTF8):
        return data.decode("utf-8-sig", "replace")
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return data.decode("utf-16", "replace")
    declared = re.search(rb"""<meta[^>]{0,512}?charset\s*=\s*["']?\s*([\w.:-]+)""", data[:1024], re.IGNORECASE)
    name = declared[1].decode("ascii", "replace").lower() if declared else "utf-8"
    # The labels of the Encoding Standard: Latin-1 and US-ASCII mean windows-1252, and UTF-16 in a meta means UTF-8.
    name = {"iso-8859-1": "cp1252", "latin1": "cp1252", "us-ascii": "cp1252", "ascii": "cp1252"}.get(name, name)
    if name.startswith(("utf-16", "utf-32")):
        name = "utf-8"
    try:
        return data.decode(name, "replace" if declared else "strict")
    except (LookupError, UnicodeError):
        return data.decode("utf-8" if declared else "cp1252", "replace")


# A tree parser's time grows with the square of the nesting, so what may be nested deeper than this is read tag by tag.
_DEPTH = 5000
_OPENS, _CLOSES = re.compile(r"<[A-Za-z]"), re.compile(r"</|/>")


def read(text: str) -> tuple[str | None, list[Found]]:
    """The first base href (None without one), and every reference of a document in its order."""
    base: str | None = None
    found: list[Found] = []
    for tag, attributes in _elements(text):
        if tag == "base" and base is None and "href" in attributes:
            base = (attributes["href"] or "").strip(_SPACE)
        found += _references(tag, attributes)
    return base, found


def _references(tag: str, attributes: Mapping[str, str | None]) -> Iterator[Found]:
    for name, value in attributes.items():
        known = _ATTRIBUTES.get(name)
        if known is not None and (not known[0] or tag in known[0]):
            for url in known[1](value or ""):
                yield Found(f"{tag} {name}", url)
        elif name == "archive" and tag == "applet":
            for url in _commas(value or ""):
                yield Found("applet archive", url)
    if tag == "meta" and (attributes.get("http-equiv") or "").strip(_SPACE).lower() == "refresh":
        target = _refresh(attributes.get("content") or "")
        if target is not None:
            yield Found("meta refresh", target)


def _elements(text: str) -> Iterator[tuple[str, Mapping[str, str | None]]]:
    opens = sum(1 for _ in _OPENS.finditer(text))
    if opens > _DEPTH and opens - sum(1 for _ in _CLOSES.finditer(text)) > _DEPTH:
        reader = _Tags(convert_charrefs=False)
        reader.feed(text)
        reader.close()
        yield from reader.found
        return
    from selectolax.lexbor import LexborHTMLParser

    for node in LexborHTMLParser(text).css("*"):
        attributes = node.attributes
        if attributes:
            yield node.tag or "", attributes


class _Tags(HTMLParser):
    """Start tags only: no tree, so nesting costs nothing."""

    def __init__(self, *, convert_charrefs: bool) -> None:
        super().__init__(convert_charrefs=convert_charrefs)
        self.found: list[tuple[str, Mapping[str, str | None]]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        attributes: dict[str, str | None] = {}
        for name, value in attrs:
            attributes.setdefault(name, value)  # of an attribute that stands twice, the first counts
        if attributes:
            self.found.append((tag, attributes))
