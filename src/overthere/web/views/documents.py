"""The links of a pasted document (HTML, Markdown, mail and others), as rows of the table of links."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from itertools import islice

from overthere.ground.display import printable
from overthere.ground.errors import InvalidURI
from overthere.ground.extras import need
from overthere.ground.redact import mask
from overthere.values.known_secrets import Secrets
from overthere.values.uri import URI
from overthere.web.model import DOCUMENT, BadInput, Example, Input, View

__all__ = ["VIEW", "Table"]

_ROWS = 500
_KINDS = {
    "html": ("HTML", "text/html"),
    "markdown": ("Markdown", "text/markdown"),
    "message": ("Mail (a message with its header)", "message/rfc822"),
    "xml": ("XML: Atom, RSS, sitemap, SVG", "application/xml"),
    "css": ("CSS", "text/css"),
    "jsonld": ("JSON-LD", "application/ld+json"),
    "text": ("Plain text", "text/plain"),
}


@dataclass(frozen=True)
class Row:
    """A reference of the document; without a reference, something that is the matter with the document."""

    where: str | None
    reference: str | None
    target: str | None
    base: str | None
    base_from: str | None
    """The layer that gave the base (RFC 3986 5.1)."""
    same_document: bool | None
    error: str | None
    error_at: int | None
    audit: str | None


@dataclass(frozen=True)
class Count:
    """How often something is there."""

    what: str
    times: int


@dataclass(frozen=True)
class Table:
    """The link table of the document; passwords are masked."""

    kind: str
    base: str | None
    rows: list[Row]
    total: int
    """How many rows there are, of which `rows` has the first."""
    errors: list[Count]
    hosts: list[Count]


def table(document: str, kind: str, base: str) -> Table:
    """The data of the view.

    Raises: BadInput if the base is no URI; ModuleNotFoundError without the extra `links`.
    """
    need("links", "pyarrow", "brotli", "lz4", "markdown_it", "webencodings")
    from overthere.links.job import links
    from overthere.links.job.contents import read
    from overthere.links.model import Options

    try:
        own = None if not base else URI(base)
    except InvalidURI as error:
        raise BadInput(f"the base is no URI: {printable(str(error))}") from None
    given = {
        "content": document.encode("utf-8", "replace"),
        "media_type": f"{_KINDS[kind][1]}; charset=utf-8" if kind != "message" else _KINDS[kind][1],
        "url": None if own is None else str(own),
    }
    options = Options(audit=True, metadata=True, json=kind == "jsonld", limit=4 * DOCUMENT, depth=4)
    rows: list[Row] = []
    errors: Counter[str] = Counter()
    hosts: Counter[str] = Counter()
    total = 0
    for batch in read([given], None, options):
        for link in links(batch):
            total += 1
            if link.error is not None:
                errors[link.error] += 1
            if link.target is not None and (host := _host(link.target)):
                hosts[host] += 1
            if len(rows) < _ROWS:
                rows.append(_row(link.where, link.reference, link.target, link.base, link.base_from,
                                 link.same_document, link.error, link.error_at, link.audit))  # fmt: skip
    return Table(kind, None if own is None else _make_visible(str(own)), rows, total, _counts(errors), _counts(hosts))


def _row(where: str | None, reference: str | None, target: str | None, base: str | None, base_from: str | None,
         same_document: bool | None, error: str | None, error_at: int | None, audit: str | None) -> Row:  # fmt: skip
    secrets = Secrets.from_texts(reference or "", target or "")

    def mask_password(text: str | None) -> str | None:
        return None if text is None else printable(secrets.mask(mask(text)))

    return Row(_make_visible(where), mask_password(reference), mask_password(target), _make_visible(base), base_from,
               same_document, error, error_at, audit)  # fmt: skip


def _make_visible(text: str | None) -> str | None:
    return None if text is None else printable(mask(text))


def _host(target: str) -> str | None:
    try:
        return URI(target, zone=True).host
    except InvalidURI:
        return None


def _counts(counted: Counter[str]) -> list[Count]:
    return [Count(printable(what), times) for what, times in islice(counted.most_common(), 10)]


_HTML = """<base href="https://museum.example/harbour/">
<a href="../boats?from=1880#list">Boats</a>
<a href="http://h:8o/a b">a bad port and a space</a>
<img srcset="ship.jpg 1x, ship-2.jpg 2x" src="ship.jpg">
<form action="?search"><input formaction="//joe:secret@shop.example/"></form>"""
_MARKDOWN = """See [the boats](../boats "list"), <https://museum.example/> and www.example.org.

[a reference]: http://h/%zz
![a picture][a reference]"""
_MAIL = """From: keeper@museum.example
To: joe@example.com
Subject: the opening
List-Archive: <https://lists.museum.example/keepers>
Content-Type: text/plain

The programme is at <https://museum.example/opening>, answers to mailto:keeper@museum.example."""

VIEW = View(
    "links",
    "Links",
    "Paste HTML, Markdown or a mail: each reference in it, its base, its target and its faults, as the table of links "
    "has them.",
    (
        Input("document", "Document", "", kind="area", limit=DOCUMENT),
        Input(
            "kind",
            "Kind",
            default="html",
            kind="choice",
            choices=[(name, title) for name, (title, _) in _KINDS.items()],
        ),
        Input("base", "Where it was found", "Its own URI, against which references are resolved.", default=""),
    ),
    table,
    (
        Example("HTML", {"document": _HTML, "kind": "html"}),
        Example("Markdown", {"document": _MARKDOWN, "kind": "markdown", "base": "http://h/docs/"}),
        Example("A mail", {"document": _MAIL, "kind": "message"}),
    ),
)
