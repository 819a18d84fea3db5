"""The links of a pasted document (HTML, Markdown, mail and others), as rows of the table of links."""

from __future__ import annotations

from itertools import islice
from typing import Any, NamedTuple

from overthere.ground.errors import InvalidURI
from overthere.ground.extras import need
from overthere.ground.redact import mask
from overthere.links.model import Link, Options
from overthere.links.report.summary import Summary
from overthere.values.known_secrets import Secrets
from overthere.values.uri import URI
from overthere.web.model import DOCUMENT, BadInput, Example, Input, View

_MAX_ROWS = 500
_KINDS = {
    "html": ("HTML", "text/html"),
    "markdown": ("Markdown", "text/markdown"),
    "message": ("Mail (a message with its header)", "message/rfc822"),
    "xml": ("XML: Atom, RSS, sitemap, SVG", "application/xml"),
    "css": ("CSS", "text/css"),
    "jsonld": ("JSON-LD", "application/ld+json"),
    "text": ("Plain text", "text/plain"),
}


class Table(NamedTuple):
    """The link table of a document; passwords are masked."""

    rows: list[Link]
    """The first rows of `total`."""
    total: int
    summary: Summary


def table(document: str, kind: str, base: str) -> Table:
    """Return the value of the view.

    Raises: BadInput if the base is not a valid URI; ModuleNotFoundError without the extra `links`.
    """
    need("links", "brotli", "markdown_it", "webencodings")
    from overthere.links.job.contents import read
    from overthere.links.report.batch import links

    try:
        base_uri = str(URI(base)) if base else None
    except InvalidURI as error:
        raise BadInput(f"the base is not a valid URI: {error}") from None
    source = {
        "content": document.encode("utf-8", "replace"),
        "media_type": f"{_KINDS[kind][1]}; charset=utf-8" if kind != "message" else _KINDS[kind][1],
        "url": base_uri,
    }
    options = Options(audit=True, metadata=True, json=kind == "jsonld", limit=4 * DOCUMENT, depth=4)
    rows: list[Link] = []
    total, summary = 0, Summary()
    for batch in read([source], None, options):
        summary.add(batch)
        total += batch.num_rows
        rows += [_mask(link) for link in islice(links(batch), _MAX_ROWS - len(rows))]
    return Table(rows, total, summary)


def _mask(link: Link) -> Link:
    """Return the row with the passwords of its own reference and target masked."""
    secrets = Secrets.from_texts(link.reference or "", link.target or "")
    texts = ("source", "base", "reference", "where", "target", "fragment", "normal", "part", "browser")
    masked: dict[str, Any] = {
        name: secrets.mask(mask(value)) for name in texts if (value := getattr(link, name)) is not None
    }
    return link._replace(**masked)


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
    "Paste HTML, Markdown or a mail to see each reference with its base, target and faults, as in the link table.",
    (
        Input("document", "Document", "", kind="area", limit=DOCUMENT),
        Input("kind", "Kind", default="html", kind="choice", choices=[(name, one[0]) for name, one in _KINDS.items()]),
        Input("base", "Where it was found", "The document's own URI, the base of its references.", default=""),
    ),
    table,
    (
        Example("HTML", {"document": _HTML, "kind": "html"}),
        Example("Markdown", {"document": _MARKDOWN, "kind": "markdown", "base": "http://h/docs/"}),
        Example("A mail", {"document": _MAIL, "kind": "message"}),
    ),
    masked=False,
)
