"""The open elements of an HTML document: the part of its tree that tokenizing needs (HTML 13.2.6).

Beside that: whether a `frameset` takes the place of the body (13.2.6.4.7), whose `base` elements are in no tree then.

In SVG and MathML a `title` or `style` is an element like others, and `<![CDATA[` begins text.  What lies in which
namespace follows from the rules for foreign content (13.2.6.5), and from the end tags of what is open around it
(13.2.6.4.7).  Tags that may be left out and the places of tables change nothing of this, and are not looked at.

`rust/html/src/tree.rs` is the same.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from enum import Enum

__all__ = ["BREAKOUT", "DEPTH", "NO_END", "POINTS", "SCOPES", "SPECIAL", "Namespace", "Tree"]

DEPTH = 512
"""Elements that are kept: of more, the outer half is forgotten."""

NO_END = frozenset(
    (
        "area", "base", "basefont", "bgsound", "br", "col", "embed", "frame", "hr", "image", "img", "input", "keygen",
        "link", "meta", "param", "source", "track", "wbr", "body", "form", "head", "html",
    )
)  # fmt: skip
"""Start tags of HTML whose end tags close nothing else: void elements (13.1.2), and those of which there is one."""

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
"""The elements of which an end tag of another name is no business (13.2.4.2, "special")."""

SCOPES = frozenset(("applet", "caption", "table", "td", "th", "marquee", "object", "template"))
"""Where "has an element in scope" ends (13.2.4.2)."""


_OF_HEAD = frozenset(
    (
        "html", "head", "base", "basefont", "bgsound", "link", "meta", "title", "noscript", "noframes", "style",
        "script", "template",
    )
)  # fmt: skip
"""Start tags that begin no body (13.2.6.4.4, 13.2.6.4.6)."""
_NO_FRAMESET = frozenset(
    (
        "applet", "area", "body", "br", "button", "dd", "dt", "embed", "hr", "iframe", "image", "img", "input",
        "keygen", "li", "listing", "marquee", "object", "pre", "select", "table", "textarea", "wbr", "xmp",
    )
)  # fmt: skip
"""Start tags after which no frameset comes: they set the frameset-ok flag to "not ok" (13.2.6.4.7)."""


_SOLID = re.compile(r"[^\t\n\f\r \0]")


class Namespace(Enum):
    """Where an element belongs."""

    HTML = 1
    SVG = 2
    MATHML = 3


class _Kind(Enum):
    """What the rules tell apart."""

    HTML = 1
    SVG = 2
    MATHML = 3
    SVG_POINT = 4
    """HTML integration points of SVG."""
    MATHML_POINT = 5
    """`annotation-xml`, if it is said to be HTML."""
    TEXT_POINT = 6
    """MathML text integration points."""
    ANNOTATION = 7
    """`annotation-xml` otherwise."""


POINTS = {
    Namespace.SVG: dict.fromkeys(("foreignobject", "desc", "title"), _Kind.SVG_POINT),
    Namespace.MATHML: dict.fromkeys(("mi", "mo", "mn", "ms", "mtext"), _Kind.TEXT_POINT),
}
"""Elements in which HTML may stand (13.2.6)."""
_IN_HTML = {"svg": Namespace.SVG, "math": Namespace.MATHML}
_KINDS = {Namespace.HTML: _Kind.HTML, Namespace.SVG: _Kind.SVG, Namespace.MATHML: _Kind.MATHML}
_IS_POINT = frozenset((_Kind.SVG_POINT, _Kind.MATHML_POINT, _Kind.TEXT_POINT))
# Neither "in scope" nor "any other end tag" looks beyond these.
_IS_BORDER = _IS_POINT | {_Kind.ANNOTATION}
_TEMPLATE = ("template", _Kind.HTML)
_TAKES_HTML = frozenset((_Kind.HTML, _Kind.SVG_POINT, _Kind.MATHML_POINT))


class Tree:
    """The open elements."""

    def __init__(self) -> None:
        self.open: list[tuple[str, _Kind]] = []
        self.counts: dict[str, int] = {}
        self.current: _Kind = _Kind.HTML
        self.templates: int = 0
        """How many of them are `template` elements of HTML."""
        self.is_lossy: bool = False
        """An element of SVG or MathML was forgotten, so that what is outside may be taken for HTML; or a template."""
        self.is_body: bool = False
        """The body has begun; not kept up once it is settled."""
        self.is_settled: bool = False
        """Whether there is a frameset: the frameset-ok flag is "not ok" (13.2.4.5), or one was taken."""
        self.is_dropped: bool = False
        """A frameset was taken: what is no frame is in no tree."""
        self.base_in_body: bool | None = None
        """Whether the base that counts is in the body; None before there is one."""

    @property
    def is_foreign(self) -> bool:
        """Whether the current node is an element of SVG or MathML."""
        return self.current is not _Kind.HTML

    def start(self, name: str, attributes: Mapping[str, str | None], is_self_closing: bool) -> Namespace:
        """A start tag.  Returns: the namespace of its element."""
        current = self.current
        if (
            current in _TAKES_HTML
            or (current is _Kind.TEXT_POINT and name not in ("mglyph", "malignmark"))
            or (current is _Kind.ANNOTATION and name == "svg")
        ):
            namespace = _IN_HTML.get(name, Namespace.HTML)
        elif name in BREAKOUT or (name == "font" and not attributes.keys().isdisjoint(("color", "face", "size"))):
            self._leave()
            namespace = Namespace.HTML
        else:
            namespace = Namespace.SVG if current is _Kind.SVG else Namespace.MATHML
        if not self.is_settled and (namespace is Namespace.HTML or name in _IN_HTML):
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
        """What a start tag of HTML says of a frameset (13.2.6.4.6, 13.2.6.4.7)."""
        if name == "frameset":
            # In a template of the head the second open element is no body.
            self.is_settled = self.is_dropped = self.is_body or not self.templates
        elif name not in _OF_HEAD:
            is_hidden = name == "input" and (attributes.get("type") or "").lower() == "hidden"
            self.is_settled = name in _NO_FRAMESET and not is_hidden
            self.is_body |= not self.templates

    def characters(self, text: str, start: int, end: int) -> None:
        """What stands between two tags: after any but white space no frameset comes."""
        if not self.is_settled and _SOLID.search(text, start, end):
            self.is_settled = True

    def is_base(self, name: str, namespace: Namespace, attributes: Mapping[str, str | None]) -> bool:
        """Whether the start tag that came last is the `base` element that counts (4.2.3)."""
        is_one = name == "base" and namespace is Namespace.HTML and "href" in attributes and self.base_in_body is None
        if not is_one or self.templates or self.is_dropped:
            return False
        self.base_in_body = self.is_body
        return True

    def loses_base(self) -> bool:
        """Whether it stood in a body that a frameset has just taken the place of."""
        if not (self.is_dropped and self.base_in_body):
            return False
        self.base_in_body = False
        return True

    def end(self, name: str) -> None:
        """An end tag."""
        if not self.is_settled and name in ("body", "br", "html"):
            self.is_settled = name == "br"
            self.is_body |= not self.templates
        if self.open and self.open[-1] == (name, _Kind.HTML):  # as most are
            return self._close_from(len(self.open) - 1)
        if name in ("br", "p"):
            self._leave()
        if name not in self.counts:
            return None
        at = len(self.open)
        while at and self.open[at - 1][1] is not _Kind.HTML:
            at -= 1
            if self.open[at][0] == name:
                return self._close_from(at)
        if name == "template" and self.templates:
            # Whatever is open in it (13.2.6.4.4).
            while self.open[at - 1] != _TEMPLATE:
                at -= 1
            return self._close_from(at - 1)
        borders = SCOPES if name in SPECIAL else SPECIAL
        for at in range(len(self.open) - 1, -1, -1):
            opened, kind = self.open[at]
            if kind is _Kind.HTML:
                if opened == name:
                    return self._close_from(at)
                if opened in borders:
                    return None
            elif kind in _IS_BORDER:
                return None
        return None

    def _leave(self) -> None:
        """To the nearest place where HTML may stand."""
        while self.is_foreign and self.current not in _IS_POINT:
            self._close_from(len(self.open) - 1)

    def _push(self, name: str, kind: _Kind) -> None:
        if len(self.open) == DEPTH:
            forgotten = self.open[: DEPTH // 2]
            del self.open[: DEPTH // 2]
            self.is_lossy |= any(kind is not _Kind.HTML for _, kind in forgotten) or _TEMPLATE in forgotten
            self._uncount(forgotten)
        self.open.append((name, kind))
        self.counts[name] = self.counts.get(name, 0) + 1
        self.templates += (name, kind) == _TEMPLATE
        self.current = kind

    def _close_from(self, at: int) -> None:
        self._uncount(self.open[at:])
        del self.open[at:]
        self.current = self.open[-1][1] if self.open else _Kind.HTML

    def _uncount(self, closed: list[tuple[str, _Kind]]) -> None:
        for name, kind in closed:
            self.templates -= (name, kind) == _TEMPLATE
            if self.counts[name] == 1:
                del self.counts[name]
            else:
                self.counts[name] -= 1
