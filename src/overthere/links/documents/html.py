"""URI references in HTML: every attribute whose value the HTML Standard (or HTML 4.01) defines as a URL."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import NamedTuple

from overthere.links.documents import css
from overthere.links.documents.charset import MARKS, decode_text, encoding
from overthere.links.documents.prescan import find_encoding
from overthere.links.documents.tokens import Metadata, Script, Sheet, Start, tokens
from overthere.links.documents.tree import Namespace
from overthere.links.model import EmbeddedContent, Found

__all__ = [
    "ATTRIBUTES", "CHOSEN", "CODEBASE", "EMBEDDED", "OBJECTS", "ParsedHTML", "PlacedReference", "decode",
    "embedded_kind", "octets", "read", "references", "sheet_references", "values",
]  # fmt: skip

# ASCII whitespace of the HTML Standard, which may surround a URL.
_SPACE = "\t\n\f\r "


def _single_value(value: str) -> Iterable[str]:
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


# HTML, shared declarative refresh steps: each step takes what it can and gives nothing back.
_REFRESH = re.compile(
    r"[\t\n\f\r ]*+(?:[0-9]++|(?=\.))[0-9.]*+(?:[;,]|[\t\n\f\r ]++[;,]?+)[\t\n\f\r ]*+(?!\Z)"
    r"(?:url[\t\n\f\r ]*+=[\t\n\f\r ]*+)?+(?:'([^']*+)|\"([^\"]*+)|(.*+))",
    re.IGNORECASE | re.DOTALL,
)


_AT_ONCE = re.compile(r"[\t\n\f\r ]*+(?:0++(?![0-9])|\.)")


def is_at_once(content: str) -> bool:
    """Whether a refresh waits for no second: of its time only the whole seconds count."""
    return _AT_ONCE.match(content) is not None


def _refresh(content: str) -> Iterable[str]:
    match = _REFRESH.match(content)
    return () if match is None else ("".join(group or "" for group in match.groups()).strip(_SPACE),)


def _paint_value(value: str) -> Iterable[str]:
    return (url for _, url in css.inline(value)) if "(" in value else ()


_WAYS: dict[str, Callable[[str], Iterable[str]]] = {
    "one": _single_value,
    "nonempty": _nonempty,
    "list": _list,
    "commas": _commas,
    "srcset": _srcset,
    "refresh": _refresh,
    "paint": _paint_value,
}


def values(way: str, value: str) -> list[str]:
    """The references in an attribute's value that is written in one of the ways of `ATTRIBUTES`."""
    return list(_WAYS[way](value))


CHOSEN: dict[str, tuple[tuple[str, ...], str, str]] = {
    # From which scripts take images.
    "data-src": ((), "nonempty", "data-src"),
    "data-srcset": ((), "srcset", "data-src"),
    # RDFa Core 1.1 5: a CURIE or an IRI.
    "about": ((), "one", "rdfa"),
    "resource": ((), "one", "rdfa"),
    # Attribution Reporting 3.1.
    "attributionsrc": (("a", "area", "img", "script"), "list", "attributionsrc"),
}
"""Attributes that are read by choice: elements (or none for every one), how the URLs are written, and their name in the
counts of what was skipped."""

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
    ("code", ("applet",), "nonempty"),
    ("longdesc", ("frame", "iframe", "img"), "nonempty"),
    ("lowsrc", ("img",), "nonempty"),
    ("profile", ("head",), "list"),
    ("usemap", ("img", "input", "object"), "nonempty"),
    ("value", ("param",), "content"),
    ("valuetype", ("param",), "valuetype"),
    # What embeds references in a syntax of its own.
    ("property", ("meta",), "property"),
    ("name", ("meta",), "property"),
    ("type", ("script",), "type"),
    ("srcdoc", ("iframe",), "srcdoc"),
    *((name, elements, "attribute") for name, (elements, _, _) in CHOSEN.items()),
    # SVG
    *((name, (), "paint") for name in sorted(css.PAINTED)),
)
"""Attribute, elements (or none for every one), and how its URLs are written.

"style" is a style sheet, "paint" a value of CSS on elements of SVG only; "http-equiv" and "content" are a refresh
together, "valuetype" and "content" a URI of a param if the first says "ref" (HTML 4.01 13.3.2); "property", "type" and
"srcdoc" name what is `EMBEDDED`, and so does "attribute" by its own name.
"""
OBJECTS = frozenset(
    (
        "article:author", "article:publisher", "book:author", "music:album", "music:creator", "music:musician",
        "music:song", "video:actor", "video:director", "video:series", "video:writer",
    )
)  # fmt: skip
"""Properties whose values are objects of Open Graph, which their URIs name (ogp.me, Object Types); many pages have a
name of a person there."""
_METAS = frozenset(
    (
        # ogp.me: Basic Metadata, Optional Metadata, Structured Properties; og:see_also is of its namespace ogp.me/ns#.
        "og:url", "og:see_also",
        "og:image", "og:image:url", "og:image:secure_url",
        "og:video", "og:video:url", "og:video:secure_url",
        "og:audio", "og:audio:url", "og:audio:secure_url",
        # Cards of Twitter: the markup reference, and what it had before.
        "twitter:url", "twitter:image", "twitter:image:src", "twitter:player", "twitter:player:stream",
        "twitter:image0", "twitter:image1", "twitter:image2", "twitter:image3",
        "twitter:app:url:iphone", "twitter:app:url:ipad", "twitter:app:url:googleplay",
    )
)  # fmt: skip
EMBEDDED = {
    "property": dict.fromkeys(sorted(_METAS | OBJECTS), "meta"),
    "type": {
        "application/ld+json": "json-ld",
        "importmap": "import map",
        "speculationrules": "speculation rules",
    },
    "srcdoc": {"srcdoc": "srcdoc"},
    "attribute": {name: kind for name, (_, _, kind) in CHOSEN.items()},
}
"""What is read by choice: by the way of the attribute that says it, its names, and how it is called where it is passed
over.  Properties (RDFa in HTML 3.1) or names of metas; types of scripts (HTML 4.12.1; JSON-LD 1.1 7); the attribute
`srcdoc` (HTML 4.8.5); the attributes of `CHOSEN`."""
CODEBASE = {"object": ("classid", "data", "archive"), "applet": ("code", "archive")}
"""Attributes that are resolved against the `codebase` of their element (HTML 4.01 13.3.1, 13.4)."""
_RULES: dict[str, list[tuple[tuple[str, ...], str]]] = {}
for _name, _elements, _way in ATTRIBUTES:
    _RULES.setdefault(_name, []).append((_elements, _way))

# A style sheet without one of these holds no reference; a backslash may hide one of them.
_SIGNS = re.compile(r"\\|url\(|@import|image-set\(|(?:src|image)\(", re.IGNORECASE)
_NAME = 64
"""Characters of an element's name that are told."""


def decode(data: bytes, told: str | None = None) -> tuple[str, bool]:
    """The text of an HTML document, and whether octets of it are not in the declared charset.

    The charset is that of the byte order mark, of `told`, or of the document's own declaration (`prescan`), otherwise
    UTF-8; octets that are not in it become U+FFFD.  A document without a declaration that is not UTF-8 is windows-1252
    (HTML 13.2.3.2).  An unknown label is ignored.

    UTF-16 without a mark is recognized by its NULs, whatever the label: any other charset would give a text without
    tags.
    """
    known = None if told is None else encoding(told)
    if data.startswith(_MARKS) or known in _UTF_16:
        return decode_text(data, told)
    wide = _decode_utf16(data)
    if wide is not None:
        # Without a label an XML declaration says it (HTML 13.2.3.2, "prescan").
        return decode_text(data, wide)[0], told is not None or not data.startswith(_DECLARATIONS)
    if known is not None:
        return decode_text(data, told)
    said, unknown = find_encoding(data)
    unknown |= told is not None
    if said is not None:
        text, lossy = decode_text(data, said)
        return text, lossy or unknown
    try:
        return data.decode(), unknown
    except UnicodeError:
        return decode_text(data, "windows-1252")[0], unknown


def octets(data: bytes, told: str | None = None) -> tuple[bytes, bool]:
    """The same characters in UTF-8: mostly the octets as they are."""
    known = None if told is None else encoding(told)
    if known in (None, "utf-8") and not data.startswith(_MARKS) and _decode_utf16(data) is None and _is_utf8(data):
        if known is not None:
            return data, False
        said, unknown = find_encoding(data)
        if said in (None, "utf-8"):
            return data, unknown or told is not None
    text, lossy = decode(data, told)
    return text.encode("utf-8", "replace"), lossy


def _is_utf8(data: bytes) -> bool:
    try:
        return data.isascii() or data.decode() is not None
    except UnicodeError:
        return False


def _decode_utf16(data: bytes) -> str | None:
    return next((name for name, pattern in _WIDE if pattern.match(data)), None)


_MARKS = tuple(mark for mark, _ in MARKS)
_UTF_16 = ("utf-16le", "utf-16be")
# Four characters of US-ASCII with as many NULs; HTML begins with no less ("<p>" and a letter).
_WIDE = (("utf-16le", re.compile(rb"(?:[\t\n\f\r -~]\0){4}")), ("utf-16be", re.compile(rb"(?:\0[\t\n\f\r -~]){4}")))
_DECLARATIONS = tuple("<?x".encode(name) for name in _UTF_16)


class PlacedReference(NamedTuple):
    """A reference, or what embeds some, and where it stands in the text."""

    item: Found | EmbeddedContent
    tag: Start | None
    """None in the text of a style sheet."""
    at: int
    """Where it begins; of an attribute, where the attributes of its tag begin."""
    end: int = -1
    """Where it ends; -1 for an attribute."""


class ParsedHTML(NamedTuple):
    """What an HTML document holds."""

    base: str | None
    """The href of the base element that counts (`tokens.Start.is_base`); None without one."""
    placed: list[PlacedReference]
    """Every reference, in the order of the document, and what embeds some."""
    notes: list[str]
    """On the document as a whole."""
    anchors: set[str]
    """What a fragment may name (HTML 7.4.6.4)."""
    maps: set[str]
    """Names of image maps."""

    @property
    def items(self) -> list[Found | EmbeddedContent]:
        return [one.item for one in self.placed]


def read(text: str) -> ParsedHTML:
    """Tokens (HTML 13.2.5) and no tree: nesting costs nothing, and a reference stands once where it is written.

    text: places are those in it if its line ends are LF.
    """
    page = ParsedHTML(None, [], [], set(), set())
    base: str | None = None
    script: tuple[str, Start] | None = None
    for token in tokens(text):
        if isinstance(token, Start):
            name, attributes, namespace, is_base, at, is_inert = token
            if is_base:
                base = attributes["href"].strip(_SPACE)
            if not is_inert:
                _add_anchors(page, token)
            page.placed.extend(
                PlacedReference(one, token, at) for one in references(name, attributes, namespace is Namespace.SVG)
            )
            known = embedded_kind(name, attributes) if namespace is Namespace.HTML else None
            if name == "script":
                script = None if known is None else (known, token)
            elif known is not None:
                embedded = attributes["srcdoc" if name == "iframe" else "content"]
                page.placed.append(PlacedReference(EmbeddedContent(known, embedded), token, at))
        elif isinstance(token, Sheet):
            page.placed.extend(sheet_references(token))
        elif isinstance(token, Script):
            if script is not None:
                page.placed.append(PlacedReference(EmbeddedContent(script[0], token.text), script[1], -1))
        elif token is Metadata.NO_BASE:
            base = None
        else:
            page.notes.append(token.value)
    return page._replace(base=base)


def _add_anchors(page: ParsedHTML, tag: Start) -> None:
    attributes = tag.attributes
    if identifier := attributes.get("id"):
        page.anchors.add(identifier)
    if name := attributes.get("name"):
        # HTML 7.4.6.4: "a elements ... that have a name attribute"; maps are named by `usemap` alone.
        if tag.name == "a":
            page.anchors.add(name)
        elif tag.name == "map":
            page.maps.add(name)


def sheet_references(sheet: Sheet) -> Iterator[PlacedReference]:
    """The references in a style sheet."""
    if _SIGNS.search(sheet.text):
        for where, url, (start, end) in css.with_places(sheet.text):
            yield PlacedReference(Found(f"style {where}", url), None, sheet.at + start, sheet.at + end)


def references(
    tag: str, attributes: Mapping[str, str | None], is_svg: bool = False
) -> Iterator[Found | EmbeddedContent]:
    """The references in the attributes of an element, and the attributes that are read by choice."""
    if attributes.keys().isdisjoint(_RULES) and tag != "meta":
        return
    told = tag[:_NAME]
    against = CODEBASE.get(tag, ())
    codebase = (attributes.get("codebase") or "").strip(_SPACE) or None if against else None
    for name, value in attributes.items():
        way = next((way for elements, way in _RULES.get(name, ()) if not elements or tag in elements), None)
        if way == "attribute":
            yield EmbeddedContent(f"{told} {name}", value or "")
        elif way == "style":
            yield from _styles(told, value or "")
        elif way in _WAYS and (way != "paint" or is_svg):
            for url in _WAYS[way](value or ""):
                yield Found(f"{told} {name}", url, codebase=codebase if name in against else None)
    if tag == "meta" and (attributes.get("http-equiv") or "").strip(_SPACE).lower() == "refresh":
        for url in _refresh(attributes.get("content") or ""):
            yield Found("meta refresh", url)
    if tag == "param" and "value" in attributes and (attributes.get("valuetype") or "").strip(_SPACE).lower() == "ref":
        yield Found("param value", (attributes["value"] or "").strip(_SPACE))


def embedded_kind(tag: str, attributes: Mapping[str, str | None]) -> str | None:
    """Which of `EMBEDDED` an element of HTML holds: a meta in its content, a script in its text; None for none.

    Of two attributes that say it the first counts.
    """
    if tag == "iframe":
        return "srcdoc" if "srcdoc" in attributes else None
    if tag == "script":
        named = (attributes.get("type") or "").strip(_SPACE).lower()
        # A media type may have parameters; what is none is what it is as a whole.
        named = named.partition(";")[0].strip(_SPACE) if "/" in named else named
        return named if named in EMBEDDED["type"] else None
    if tag != "meta" or "content" not in attributes:
        return None
    names = (attributes[name] or "" for name in attributes if name in ("property", "name"))
    return next((one for value in names for one in _list(value.lower()) if one in EMBEDDED["property"]), None)


def _styles(tag: str, text: str) -> Iterator[Found]:
    if _SIGNS.search(text):
        for where, url in css.inline(text):
            yield Found(f"{tag} {where}", url)
