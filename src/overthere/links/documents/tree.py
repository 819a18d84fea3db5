"""The open elements of an HTML document: the part of its tree that tokenizing needs (HTML 13.2.6).

It also tracks whether a `frameset` replaces the body (13.2.6.4.7); the tree then lacks the `base` elements of the body.

In SVG and MathML a `title` or `style` is an ordinary element, and `<![CDATA[` begins text.  The namespace of an element
follows from the rules for foreign content (13.2.6.5), and from the end tags of the elements around it (13.2.6.4.7).
Optional tags and the places of tables do not affect this, and are ignored.

`rust/html/src/tree.rs` does the same.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from enum import Enum

DEPTH = 512
"""The maximum number of open elements; when one more is opened, the outer half is forgotten."""

NO_END = frozenset(
    (
        "area", "base", "basefont", "bgsound", "br", "col", "embed", "frame", "hr", "image", "img", "input", "keygen",
        "link", "meta", "param", "source", "track", "wbr", "body", "form", "head", "html",
    )
)  # fmt: skip
"""Start tags of HTML that are not tracked: void elements (13.1.2), and elements that occur once or do not nest."""

BREAKOUT = frozenset(
    (
        "b", "big", "blockquote", "body", "br", "center", "code", "dd", "div", "dl", "dt", "em", "embed", "h1", "h2",
        "h3", "h4", "h5", "h6", "head", "hr", "i", "img", "li", "listing", "menu", "meta", "nobr", "ol", "p", "pre",
        "ruby", "s", "small", "span", "strong", "strike", "sub", "sup", "table", "tt", "u", "ul", "var",
    )
)  # fmt: skip
"""Start tags that end foreign content (13.2.6.5)."""

SPECIAL = frozenset(
    (
        "address", "applet", "article", "aside", "blockquote", "button", "caption", "center", "colgroup", "dd",
        "details", "dir", "div", "dl", "dt", "fieldset", "figcaption", "figure", "footer", "frameset", "h1",
        "h2", "h3", "h4", "h5", "h6", "header", "hgroup", "iframe", "li", "listing", "main", "marquee", "menu", "nav",
        "noembed", "noframes", "noscript", "object", "ol", "p", "plaintext", "pre", "script", "search", "section",
        "select", "style", "summary", "table", "tbody", "td", "template", "textarea", "tfoot", "th", "thead", "title",
        "tr", "ul", "xmp",
    )
)  # fmt: skip
"""Elements that an end tag of another, ordinary element does not close (13.2.4.2, "special")."""

SCOPES = frozenset(("applet", "caption", "table", "td", "th", "marquee", "object", "template"))
"""Elements that limit "has an element in scope" (13.2.4.2)."""


_HEAD_TAGS = frozenset(
    (
        "html", "head", "base", "basefont", "bgsound", "link", "meta", "title", "noscript", "noframes", "style",
        "script", "template",
    )
)  # fmt: skip
"""Start tags that do not begin the body (13.2.6.4.4, 13.2.6.4.6)."""
_NOT_OK_TAGS = frozenset(
    (
        "applet", "area", "body", "br", "button", "dd", "dt", "embed", "hr", "iframe", "image", "img", "input",
        "keygen", "li", "listing", "marquee", "object", "pre", "select", "table", "textarea", "wbr", "xmp",
    )
)  # fmt: skip
"""Start tags that set the frameset-ok flag to "not ok", so that a later frameset is ignored (13.2.6.4.7)."""


_NON_SPACE = re.compile(r"[^\t\n\f\r \0]")


class Namespace(Enum):
    """The namespace of an element."""

    HTML = 1
    SVG = 2
    MATHML = 3


class _Kind(Enum):
    """The kinds of elements that the rules distinguish."""

    HTML = 1
    SVG = 2
    MATHML = 3
    SVG_POINT = 4
    """An HTML integration point in SVG."""
    MATHML_POINT = 5
    """`annotation-xml` with an encoding of HTML or XHTML."""
    TEXT_POINT = 6
    """A MathML text integration point."""
    ANNOTATION = 7
    """`annotation-xml` with another encoding, or none."""


POINTS = {
    Namespace.SVG: dict.fromkeys(("foreignobject", "desc", "title"), _Kind.SVG_POINT),
    Namespace.MATHML: dict.fromkeys(("mi", "mo", "mn", "ms", "mtext"), _Kind.TEXT_POINT),
}
"""Elements of SVG and MathML that may contain HTML (13.2.6)."""
_FOREIGN_ROOTS = {"svg": Namespace.SVG, "math": Namespace.MATHML}
_KINDS = {Namespace.HTML: _Kind.HTML, Namespace.SVG: _Kind.SVG, Namespace.MATHML: _Kind.MATHML}
_INTEGRATION_POINTS = frozenset((_Kind.SVG_POINT, _Kind.MATHML_POINT, _Kind.TEXT_POINT))
# Elements that stop the search of "in scope" and of "any other end tag".
_SCOPE_BORDERS = _INTEGRATION_POINTS | {_Kind.ANNOTATION}
_TEMPLATE = ("template", _Kind.HTML)
_HTML_PARENTS = frozenset((_Kind.HTML, _Kind.SVG_POINT, _Kind.MATHML_POINT))


class Tree:
    """The stack of open elements."""

    def __init__(self) -> None:
        self.open: list[tuple[str, _Kind]] = []
        self.counts: dict[str, int] = {}
        self.current: _Kind = _Kind.HTML
        self.templates: int = 0
        """The number of open `template` elements of HTML."""
        self.is_lossy: bool = False
        """Whether an element of SVG or MathML, or a template, was forgotten, so that later answers may be wrong."""
        self.has_body: bool = False
        """Whether the body has begun; not updated once `is_frameset_settled`."""
        self.is_frameset_settled: bool = False
        """Whether `has_frameset` is final: the frameset-ok flag is "not ok" (13.2.4.5), or there is a frameset."""
        self.has_frameset: bool = False
        """Whether a frameset replaces the body: later elements other than frames are not in the tree."""
        self.base_in_body: bool | None = None
        """Whether the base that counts is in the body; None before there is one."""

    @property
    def is_foreign(self) -> bool:
        """Whether the current node is an element of SVG or MathML."""
        return self.current is not _Kind.HTML

    def start(self, name: str, attributes: Mapping[str, str | None], is_self_closing: bool) -> Namespace:
        """Handle a start tag; return the namespace of its element."""
        current = self.current
        if (
            current in _HTML_PARENTS
            or (current is _Kind.TEXT_POINT and name not in ("mglyph", "malignmark"))
            or (current is _Kind.ANNOTATION and name == "svg")
        ):
            namespace = _FOREIGN_ROOTS.get(name, Namespace.HTML)
        elif name in BREAKOUT or (name == "font" and not attributes.keys().isdisjoint(("color", "face", "size"))):
            self._leave_foreign()
            namespace = Namespace.HTML
        else:
            namespace = Namespace.SVG if current is _Kind.SVG else Namespace.MATHML
        if not self.is_frameset_settled and (namespace is Namespace.HTML or name in _FOREIGN_ROOTS):
            self._check_frameset(name, attributes)
        if namespace is Namespace.HTML:
            if name not in NO_END:
                self._push(name, _Kind.HTML)
        elif not is_self_closing:
            kind = POINTS[namespace].get(name, _KINDS[namespace])
            if name == "annotation-xml" and namespace is Namespace.MATHML:
                encoding = (attributes.get("encoding") or "").lower()
                is_html = encoding in ("text/html", "application/xhtml+xml")
                kind = _Kind.MATHML_POINT if is_html else _Kind.ANNOTATION
            self._push(name, kind)
        return namespace

    def _check_frameset(self, name: str, attributes: Mapping[str, str | None]) -> None:
        """Update the state of body and frameset for a start tag (13.2.6.4.6, 13.2.6.4.7)."""
        if name == "frameset":
            # In a template of the head the second open element is not the body.
            self.is_frameset_settled = self.has_frameset = self.has_body or not self.templates
        elif name not in _HEAD_TAGS:
            is_hidden = name == "input" and (attributes.get("type") or "").lower() == "hidden"
            self.is_frameset_settled = name in _NOT_OK_TAGS and not is_hidden
            self.has_body |= not self.templates

    def handle_text(self, text: str, start: int, end: int) -> None:
        """Handle the text between two tags: after any but white space a frameset is ignored."""
        if not self.is_frameset_settled and _NON_SPACE.search(text, start, end):
            self.is_frameset_settled = True

    def is_base(self, name: str, namespace: Namespace, attributes: Mapping[str, str | None]) -> bool:
        """Whether the latest start tag is the `base` element that counts (4.2.3); called once per start tag."""
        is_valid = name == "base" and namespace is Namespace.HTML and "href" in attributes and self.base_in_body is None
        if not is_valid or self.templates or self.has_frameset:
            return False
        self.base_in_body = self.has_body
        return True

    def loses_base(self) -> bool:
        """Whether a frameset has replaced the body with the `base` that counted; true only once."""
        if not (self.has_frameset and self.base_in_body):
            return False
        self.base_in_body = False
        return True

    def end(self, name: str) -> None:
        """Handle an end tag."""
        if not self.is_frameset_settled and name in ("body", "br", "html"):
            self.is_frameset_settled = name == "br"
            self.has_body |= not self.templates
        if self.open and self.open[-1] == (name, _Kind.HTML):  # as most are
            return self._close_from(len(self.open) - 1)
        if name in ("br", "p"):
            self._leave_foreign()
        if name not in self.counts:
            return None
        at = len(self.open)
        while at and self.open[at - 1][1] is not _Kind.HTML:
            at -= 1
            if self.open[at][0] == name:
                return self._close_from(at)
        if name == "template" and self.templates:
            # It closes all elements in the template (13.2.6.4.4).
            while self.open[at - 1] != _TEMPLATE:
                at -= 1
            return self._close_from(at - 1)
        borders = SCOPES if name in SPECIAL else SPECIAL
        for at in range(len(self.open) - 1, -1, -1):
            open_name, kind = self.open[at]
            if kind is _Kind.HTML:
                if open_name == name:
                    return self._close_from(at)
                if open_name in borders:
                    return None
            elif kind in _SCOPE_BORDERS:
                return None
        return None

    def _leave_foreign(self) -> None:
        """Close elements up to the nearest one that may contain HTML."""
        while self.is_foreign and self.current not in _INTEGRATION_POINTS:
            self._close_from(len(self.open) - 1)

    def _push(self, name: str, kind: _Kind) -> None:
        if len(self.open) == DEPTH:
            forgotten = self.open[: DEPTH // 2]
            del self.open[: DEPTH // 2]
            self.is_lossy |= any(kind is not _Kind.HTML for _, kind in forgotten) or _TEMPLATE in forgotten
            self._decrement_counts(forgotten)
        self.open.append((name, kind))
        self.counts[name] = self.counts.get(name, 0) + 1
        self.templates += (name, kind) == _TEMPLATE
        self.current = kind

    def _close_from(self, at: int) -> None:
        self._decrement_counts(self.open[at:])
        del self.open[at:]
        self.current = self.open[-1][1] if self.open else _Kind.HTML

    def _decrement_counts(self, closed: list[tuple[str, _Kind]]) -> None:
        for name, kind in closed:
            self.templates -= (name, kind) == _TEMPLATE
            if self.counts[name] == 1:
                del self.counts[name]
            else:
                self.counts[name] -= 1
