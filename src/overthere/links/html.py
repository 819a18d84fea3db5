"""URI references in HTML: every attribute whose value the HTML Standard (or HTML 4.01) defines as a URL."""

from __future__ import annotations

import codecs
import re
from collections.abc import Callable, Iterable, Iterator, Mapping

from overthere.links import css
from overthere.links.charset import decoded
from overthere.links.model import Found

__all__ = ["ATTRIBUTES", "decode", "octets", "read", "references", "values"]

# ASCII whitespace of the HTML Standard, which may surround a URL.
_SPACE = "\t\n\f\r "


def _one(value: str) -> Iterable[str]:
    return (value.strip(_SPACE),)


def _list(value: str) -> Iterable[str]:
    return [piece for piece in _SPACES.split(value) if piece]


def _nonempty(value: str) -> Iterable[str]:
    value = value.strip(_SPACE)
    return (value,) if value else ()


def _commas(value: str) -> Iterable[str]:
    return [piece for part in value.split(",") if (piece := part.strip(_SPACE))]


_SPACES = re.compile(r"[\t\n\f\r ]+")
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


_REFRESH = re.compile(
    r"[\t\n\f\r ]*(?:[0-9]+|(?=\.))[0-9.]*[\t\n\f\r ]*[;,\t\n\f\r ][\t\n\f\r ]*"
    r"(?:url[\t\n\f\r ]*=[\t\n\f\r ]*)?(?:'([^']*)|\"([^\"]*)|([^\t\n\f\r ].*))",
    re.IGNORECASE | re.DOTALL,
)


def _refresh(content: str) -> Iterable[str]:
    match = _REFRESH.match(content)
    return () if match is None else ("".join(group or "" for group in match.groups()).strip(_SPACE),)


_WAYS: dict[str, Callable[[str], Iterable[str]]] = {
    "one": _one,
    "nonempty": _nonempty,
    "list": _list,
    "commas": _commas,
    "srcset": _srcset,
    "refresh": _refresh,
}


def values(way: str, value: str) -> list[str]:
    """The references in an attribute's value that is written in one of the ways of `ATTRIBUTES`."""
    return list(_WAYS[way](value))


ATTRIBUTES: tuple[tuple[str, tuple[str, ...], str], ...] = (
    ("href", (), "one"),
    ("xlink:href", (), "one"),
    ("src", (), "one"),
    ("srcset", ("img", "source"), "srcset"),
    ("imagesrcset", ("link",), "srcset"),
    ("action", ("form",), "one"),
    ("formaction", ("button", "input"), "one"),
    ("cite", ("blockquote", "del", "ins", "q"), "one"),
    ("data", ("object",), "one"),
    ("poster", ("video",), "one"),
    ("ping", ("a", "area"), "list"),
    ("itemid", (), "one"),
    ("itemtype", (), "list"),
    ("manifest", ("html",), "nonempty"),
    ("style", (), "style"),
    ("http-equiv", ("meta",), "http-equiv"),
    ("content", ("meta",), "content"),
    # HTML 4.01
    ("background", (), "nonempty"),
    ("classid", ("object",), "nonempty"),
    ("codebase", ("applet", "object"), "nonempty"),
    ("archive", ("object",), "list"),
    ("archive", ("applet",), "commas"),
    ("longdesc", ("frame", "iframe", "img"), "nonempty"),
    ("lowsrc", ("img",), "nonempty"),
    ("profile", ("head",), "list"),
    ("usemap", ("img", "input", "object"), "nonempty"),
)
"""Attribute, elements (or none for every one), and how its URLs are written.

"style" is a style sheet; "http-equiv" and "content" are a refresh together.
"""
_RULES: dict[str, list[tuple[tuple[str, ...], str]]] = {}
for _name, _elements, _way in ATTRIBUTES:
    _RULES.setdefault(_name, []).append((_elements, _way))

# A style sheet without one of these holds no reference; a backslash may hide one of them.
_SIGNS = re.compile(r"\\|url\(|@import|image-set\(|(?:src|image)\(", re.IGNORECASE)
_NAME = 64
"""Characters of an element's name that are told."""


# HTML 13.2.3.2: within the first 1024 octets.
_META = re.compile(rb"""<meta[^>]{0,512}?charset\s*=\s*["']?\s*([\w.:-]+)""", re.IGNORECASE)


def decode(data: bytes, told: str | None = None) -> tuple[str, bool]:
    """The characters of an HTML document, and whether they are not in the charset that was said.

    By byte order mark, by what was told, by `meta charset` in the first 1024 octets, else UTF-8; octets that are not in
    the charset become U+FFFD; a document that declares nothing and is no UTF-8 is windows-1252 (HTML 13.2.3.2).
    """
    declared = None if told else _META.search(data[:1024])
    if declared is not None:
        label = declared[1].decode("ascii", "replace").lower()
        # In a meta element UTF-16 means UTF-8: it was read as US-ASCII.
        told = "utf-8" if label.startswith(("utf-16", "utf-32")) else label
    if told is None and not data.startswith(_MARKS):
        try:
            return data.decode(), False
        except UnicodeError:
            return data.decode("cp1252", "replace"), False
    return decoded(data, told)


def octets(data: bytes, told: str | None = None) -> tuple[bytes, bool]:
    """The same characters in UTF-8."""
    text, lossy = decode(data, told)
    return text.encode("utf-8", "replace"), lossy


_MARKS = (codecs.BOM_UTF8, codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


def read(text: str) -> tuple[str | None, list[Found]]:
    """The first base href (None without one), and every reference of a document in its order.

    Tokens only (HTML 13.2.5), no tree: nesting costs nothing, and a reference stands once where it is written.
    """
    base: str | None = None
    found: list[Found] = []
    for tag, attributes in _tags(text):
        if tag == "base" and base is None and "href" in attributes:
            base = (attributes["href"] or "").strip(_SPACE)
        found += references(tag, attributes)
    return base, found


def references(tag: str, attributes: Mapping[str, str | None]) -> Iterator[Found]:
    """The references in the attributes of an element; the text of a `style` element is that of the attribute ""."""
    told = tag[:_NAME].replace("\0", "\ufffd")  # HTML 13.2.5.8
    for name, value in attributes.items():
        if name == "" and tag == "style":
            yield from _styles(told, value or "")
            continue
        way = next((way for elements, way in _RULES.get(name, ()) if not elements or tag in elements), None)
        if way == "style":
            yield from _styles(told, value or "")
        elif way in _WAYS:
            for url in _WAYS[way](value or ""):
                yield Found(f"{told} {name}", url)
    if tag == "meta" and (attributes.get("http-equiv") or "").strip(_SPACE).lower() == "refresh":
        for url in _refresh(attributes.get("content") or ""):
            yield Found("meta refresh", url)


def _styles(tag: str, text: str) -> Iterator[Found]:
    if _SIGNS.search(text):
        for where, url in css.inline(text):
            yield Found(f"{tag} {where}", url)


def _tags(text: str) -> Iterator[tuple[str, Mapping[str, str | None]]]:
    """The start tags of a document, and its style sheets as elements "style" with an attribute ""."""
    from justhtml import stream

    within = ""
    for event in stream(text):
        if event[0] == "start":
            within, attributes = event[1]
            if attributes:
                yield within, attributes
        elif event[0] == "end":
            within = ""
        elif event[0] == "text" and within == "style":
            yield "style", {"": event[1]}
        elif event[0] == "text" and within == "noscript":
            # Without scripting it is markup (HTML 13.2.6.4.7).
            yield from _tags(event[1])
