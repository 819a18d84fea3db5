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

# ASCII whitespace of the HTML Standard, which may surround a URL.
_SPACE = "\t\n\f\r "


def _parse_single(value: str) -> Iterable[str]:
    return (value.strip(_SPACE),)


def _parse_list(value: str) -> Iterable[str]:
    return [piece for piece in _SPACES.split(value) if piece]


def _parse_nonempty(value: str) -> Iterable[str]:
    value = value.strip(_SPACE)
    return (value,) if value else ()


def _parse_commas(value: str) -> Iterable[str]:
    return [piece for part in value.split(",") if (piece := part.strip(_SPACE))]


_SPACES = re.compile(r"[\t\n\f\r ]+")
_CANDIDATE = re.compile(r"[\t\n\f\r ,]*([^\t\n\f\r ]+)")
_DESCRIPTORS = re.compile(r"(?:[^,(]|\([^)]*\)?)*+,?")


def _parse_srcset(value: str) -> Iterator[str]:
    """Yield the URLs of image candidates; commas at the end of a URL are not part of it."""
    at = 0
    while match := _CANDIDATE.match(value, at):
        url = match[1]
        at = match.end()
        without_commas = url.rstrip(",")
        if without_commas == url and (descriptors := _DESCRIPTORS.match(value, at)):
            at = descriptors.end()
        if without_commas:
            yield without_commas


# HTML, shared declarative refresh steps: each step matches as much as it can and never backtracks.
_REFRESH = re.compile(
    r"[\t\n\f\r ]*+(?:[0-9]++|(?=\.))[0-9.]*+(?:[;,]|[\t\n\f\r ]++[;,]?+)[\t\n\f\r ]*+(?!\Z)"
    r"(?:url[\t\n\f\r ]*+=[\t\n\f\r ]*+)?+(?:'([^']*+)|\"([^\"]*+)|(.*+))",
    re.IGNORECASE | re.DOTALL,
)


_ZERO_SECONDS = re.compile(r"[\t\n\f\r ]*+(?:0++(?![0-9])|\.)")


def is_at_once(content: str) -> bool:
    """Whether a refresh waits 0 seconds; fractions of its time are ignored."""
    return _ZERO_SECONDS.match(content) is not None


def _parse_refresh(content: str) -> Iterable[str]:
    match = _REFRESH.match(content)
    return () if match is None else ("".join(group or "" for group in match.groups()).strip(_SPACE),)


def _parse_paint(value: str) -> Iterable[str]:
    return (url for _, url in css.inline(value)) if "(" in value else ()


_PARSERS: dict[str, Callable[[str], Iterable[str]]] = {
    "one": _parse_single,
    "nonempty": _parse_nonempty,
    "list": _parse_list,
    "commas": _parse_commas,
    "srcset": _parse_srcset,
    "refresh": _parse_refresh,
    "paint": _parse_paint,
}


def values(syntax: str, value: str) -> list[str]:
    """Return the references in an attribute's value; syntax: how its URLs are written, a key of `_PARSERS`."""
    return list(_PARSERS[syntax](value))


CHOSEN: dict[str, tuple[tuple[str, ...], str, str]] = {
    # Scripts load images from these.
    "data-src": ((), "nonempty", "data-src"),
    "data-srcset": ((), "srcset", "data-src"),
    # RDFa Core 1.1 5: a CURIE or an IRI.
    "about": ((), "one", "rdfa"),
    "resource": ((), "one", "rdfa"),
    # Attribution Reporting 3.1.
    "attributionsrc": (("a", "area", "img", "script"), "list", "attributionsrc"),
}
"""Attributes that are read on request: their elements (empty: all), how their URLs are written, and their name in the
counts of skipped content."""

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
    # These embed references in their own syntax.
    ("property", ("meta",), "property"),
    ("name", ("meta",), "property"),
    ("type", ("script",), "type"),
    ("srcdoc", ("iframe",), "srcdoc"),
    *((name, elements, "attribute") for name, (elements, _, _) in CHOSEN.items()),
    # SVG
    *((name, (), "paint") for name in sorted(css.PAINTED)),
)
"""Attribute, elements (empty: all), and how its URLs are written.

"style" is a style sheet, "paint" a CSS value, only on elements of SVG; "http-equiv" and "content" together are a
refresh, and "valuetype" and "content" the URI of a param if the valuetype is "ref" (HTML 4.01 13.3.2); "property",
"type", "srcdoc" and "attribute" are keys of `EMBEDDED`.
"""
OBJECTS = frozenset(
    (
        "article:author", "article:publisher", "book:author", "music:album", "music:creator", "music:musician",
        "music:song", "video:actor", "video:director", "video:series", "video:writer",
    )
)  # fmt: skip
"""Properties whose values should be URIs of Open Graph objects (ogp.me, Object Types); many pages have the name of a
person instead."""
_URL_PROPERTIES = frozenset(
    (
        # ogp.me: Basic Metadata, Optional Metadata, Structured Properties; og:see_also is of its namespace ogp.me/ns#.
        "og:url", "og:see_also",
        "og:image", "og:image:url", "og:image:secure_url",
        "og:video", "og:video:url", "og:video:secure_url",
        "og:audio", "og:audio:url", "og:audio:secure_url",
        # Cards of Twitter: the markup reference, and its earlier versions.
        "twitter:url", "twitter:image", "twitter:image:src", "twitter:player", "twitter:player:stream",
        "twitter:image0", "twitter:image1", "twitter:image2", "twitter:image3",
        "twitter:app:url:iphone", "twitter:app:url:ipad", "twitter:app:url:googleplay",
    )
)  # fmt: skip
EMBEDDED = {
    "property": dict.fromkeys(sorted(_URL_PROPERTIES | OBJECTS), "meta"),
    "type": {"application/ld+json": "json-ld", "importmap": "import map", "speculationrules": "speculation rules"},
    "srcdoc": {"srcdoc": "srcdoc"},
    "attribute": {name: kind for name, (_, _, kind) in CHOSEN.items()},
}
"""Content that is read on request: the syntax of an attribute in `ATTRIBUTES`, then each name, and the kind that is
counted when it is skipped.  The names are properties (RDFa in HTML 3.1) or names of metas; types of scripts (HTML
4.12.1; JSON-LD 1.1 7); the attribute `srcdoc` (HTML 4.8.5); the attributes of `CHOSEN`."""
CODEBASE = {"object": ("classid", "data", "archive"), "applet": ("code", "archive")}
"""Attributes that are resolved against the `codebase` of their element (HTML 4.01 13.3.1, 13.4)."""
_RULES: dict[str, list[tuple[tuple[str, ...], str]]] = {}
for _name, _elements, _syntax in ATTRIBUTES:
    _RULES.setdefault(_name, []).append((_elements, _syntax))

# A style sheet without a match contains no reference; a backslash may hide a match.
_URL_HINT = re.compile(r"\\|url\(|@import|image-set\(|(?:src|image)\(", re.IGNORECASE)
_MAX_NAME_LENGTH = 64
"""The number of characters of an element's name that a place shows."""


def decode(data: bytes, charset: str | None = None) -> tuple[str, bool]:
    """Return the text of an HTML document, and whether its declared charset is unknown or does not fit its bytes.

    The charset is that of the byte order mark, of `charset`, or of the document's own declaration (`prescan`),
    otherwise UTF-8; invalid bytes become U+FFFD.  A document without a declaration that is not UTF-8 is windows-1252
    (HTML 13.2.3.2).  An unknown label is ignored.

    UTF-16 without a mark is recognized by its NULs, whatever the label: in any other charset the text would have no
    tags.  The charset then counts as wrong, unless an XML declaration begins the document and there is no label.
    """
    declared = None if charset is None else encoding(charset)
    if data.startswith(_BOMS) or declared in _UTF_16:
        return decode_text(data, charset)
    utf_16_name = _detect_utf16(data)
    if utf_16_name is not None:
        # Without a label, an XML declaration in UTF-16 declares it (HTML 13.2.3.2, "prescan").
        return decode_text(data, utf_16_name)[0], charset is not None or not data.startswith(_DECLARATIONS)
    if declared is not None:
        return decode_text(data, charset)
    page_encoding, is_wrong = find_encoding(data)
    is_wrong |= charset is not None
    if page_encoding is not None:
        text, is_lossy = decode_text(data, page_encoding)
        return text, is_lossy or is_wrong
    try:
        return data.decode(), is_wrong
    except UnicodeError:
        return decode_text(data, "windows-1252")[0], is_wrong


def octets(data: bytes, charset: str | None = None) -> tuple[bytes, bool]:
    """Return the text that `decode` returns in UTF-8, usually the unchanged bytes, and the same flag."""
    declared = None if charset is None else encoding(charset)
    if declared in (None, "utf-8") and not data.startswith(_BOMS) and _detect_utf16(data) is None and _is_utf8(data):
        if declared is not None:
            return data, False
        page_encoding, is_wrong = find_encoding(data)
        if page_encoding in (None, "utf-8"):
            return data, is_wrong or charset is not None
    text, is_lossy = decode(data, charset)
    return text.encode("utf-8", "replace"), is_lossy


def _is_utf8(data: bytes) -> bool:
    try:
        return data.isascii() or data.decode() is not None
    except UnicodeError:
        return False


def _detect_utf16(data: bytes) -> str | None:
    return next((name for name, pattern in _NULS if pattern.match(data)), None)


_BOMS = tuple(mark for mark, _ in MARKS)
_UTF_16 = ("utf-16le", "utf-16be")
# Four US-ASCII characters with a NUL each; the shortest HTML is not shorter ("<p>" and a letter).
_NULS = (("utf-16le", re.compile(rb"(?:[\t\n\f\r -~]\0){4}")), ("utf-16be", re.compile(rb"(?:\0[\t\n\f\r -~]){4}")))
_DECLARATIONS = tuple("<?x".encode(name) for name in _UTF_16)


class PlacedReference(NamedTuple):
    """A reference, or content that embeds references, and its place in the text."""

    item: Found | EmbeddedContent
    tag: Start | None
    """The tag with the attribute or before the script; None for a reference in a style sheet."""
    at: int
    """The offset of a reference in a style sheet, or of the attributes of `tag`; -1 for a script."""
    end: int = -1
    """The end of a reference in a style sheet; otherwise -1."""


class ParsedHTML(NamedTuple):
    """The contents of an HTML document."""

    base: str | None
    """The href of the base element that counts (`tokens.Start.is_base`); None without one."""
    placed: list[PlacedReference]
    """All references, and content that embeds references, in the order of the document."""
    notes: list[str]
    """Kinds of notes on the document as a whole."""
    anchors: set[str]
    """The names that a fragment may have (HTML 7.4.6.4)."""
    maps: set[str]
    """Names of image maps."""

    @property
    def items(self) -> list[Found | EmbeddedContent]:
        return [reference.item for reference in self.placed]


def read(text: str) -> ParsedHTML:
    """Read a document from its tokens (HTML 13.2.5), not a tree: depth is free, and each reference occurs once.

    text: if its line ends are LF, the places are offsets in it.
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
                PlacedReference(item, token, at) for item in references(name, attributes, namespace is Namespace.SVG)
            )
            kind = embedded_kind(name, attributes) if namespace is Namespace.HTML else None
            if name == "script":
                script = None if kind is None else (kind, token)
            elif kind is not None:
                embedded = attributes["srcdoc" if name == "iframe" else "content"]
                page.placed.append(PlacedReference(EmbeddedContent(kind, embedded), token, at))
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
        # HTML 7.4.6.4: "a elements ... that have a name attribute"; only `usemap` refers to maps.
        if tag.name == "a":
            page.anchors.add(name)
        elif tag.name == "map":
            page.maps.add(name)


def sheet_references(sheet: Sheet) -> Iterator[PlacedReference]:
    """Yield the references in a style sheet."""
    if _URL_HINT.search(sheet.text):
        for css_place, url, (start, end) in css.with_places(sheet.text):
            yield PlacedReference(Found(f"style {css_place}", url), None, sheet.at + start, sheet.at + end)


def references(
    tag: str, attributes: Mapping[str, str | None], is_svg: bool = False
) -> Iterator[Found | EmbeddedContent]:
    """Yield the references in the attributes of an element, and the attributes of `CHOSEN`."""
    if attributes.keys().isdisjoint(_RULES) and tag != "meta":
        return
    place = tag[:_MAX_NAME_LENGTH]
    codebase_attributes = CODEBASE.get(tag, ())
    codebase = (attributes.get("codebase") or "").strip(_SPACE) or None if codebase_attributes else None
    for name, value in attributes.items():
        syntax = next((syntax for elements, syntax in _RULES.get(name, ()) if not elements or tag in elements), None)
        if syntax == "attribute":
            yield EmbeddedContent(f"{place} {name}", value or "")
        elif syntax == "style":
            yield from _style_references(place, value or "")
        elif syntax in _PARSERS and (syntax != "paint" or is_svg):
            for url in _PARSERS[syntax](value or ""):
                yield Found(f"{place} {name}", url, codebase=codebase if name in codebase_attributes else None)
    if tag == "meta" and (attributes.get("http-equiv") or "").strip(_SPACE).lower() == "refresh":
        for url in _parse_refresh(attributes.get("content") or ""):
            yield Found("meta refresh", url)
    if tag == "param" and "value" in attributes and (attributes.get("valuetype") or "").strip(_SPACE).lower() == "ref":
        yield Found("param value", (attributes["value"] or "").strip(_SPACE))


def embedded_kind(tag: str, attributes: Mapping[str, str | None]) -> str | None:
    """Return the name in `EMBEDDED` of an HTML element's content (iframe, meta, script), or None.

    The first of several attributes that have such a name counts.
    """
    if tag == "iframe":
        return "srcdoc" if "srcdoc" in attributes else None
    if tag == "script":
        script_type = (attributes.get("type") or "").strip(_SPACE).lower()
        # Only a media type can have parameters; another type is compared as a whole.
        script_type = script_type.partition(";")[0].strip(_SPACE) if "/" in script_type else script_type
        return script_type if script_type in EMBEDDED["type"] else None
    if tag != "meta" or "content" not in attributes:
        return None
    names = (attributes[name] or "" for name in attributes if name in ("property", "name"))
    return next((name for value in names for name in _parse_list(value.lower()) if name in EMBEDDED["property"]), None)


def _style_references(tag: str, text: str) -> Iterator[Found]:
    if _URL_HINT.search(text):
        for css_place, url in css.inline(text):
            yield Found(f"{tag} {css_place}", url)
