"""A link preview service: what a chat shows below a link that somebody typed.

python preview.py [PORT [--local]]
"""

from __future__ import annotations

import sys
from contextlib import suppress
from html import escape
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import NamedTuple

import lxml.html
from lxml.etree import ParserError

import overthere
from overthere import URI, InvalidURI, OverthereError, Policy, URIReference, repair, typed, web_address


def read(text: str) -> URI:
    """The web address that a person meant.  Raises: ValueError, which says what is wrong."""
    with suppress(InvalidURI):  # brackets, line breaks, a missing scheme
        text = typed(text, scheme="https").uri
    address = web_address(str(repair(text, scheme="https", idna=True).uri))
    if not address or address.uri is None:
        raise ValueError(str(address.problems[0]))
    return address.uri


PUBLIC = Policy(schemes=frozenset({"http", "https"}), max_bytes=1 << 20, max_redirects=5, total_timeout=10.0)


def fetch(uri: URI, policy: Policy = PUBLIC) -> tuple[str, URI]:
    """The HTML of a page, and the base of its references.  Raises: ValueError for another kind; AccessError."""
    with overthere.open(uri, policy) as resource:
        kind = (resource.media_type or "").partition(";")[0].strip().lower()
        if kind != "text/html":
            raise ValueError(f"it is not a page but {kind or 'of an unknown type'}")
        return resource.text(errors="replace"), resource.base


class Preview(NamedTuple):
    uri: URI
    title: str
    image: URI | None

    def html(self) -> str:
        """A card; the text of a stranger stays text."""
        site = self.uri.registrable_domain or self.uri.host or ""
        picture = escape(str(self.image or ""))
        return (
            (f'<article><img src="{picture}" alt="" referrerpolicy="no-referrer">' if picture else "<article>")
            + f'<a href="{escape(str(self.uri))}" rel="noopener nofollow">'
            + f"{escape(self.title)}</a>"
            + f"<p>{escape(site)}: {escape(self.uri.display(60))}</article>"
        )


def parse(html: str, base: URI) -> Preview:
    """The title, picture and address that a page names."""
    try:
        page = lxml.html.document_fromstring(html.encode(), parser=lxml.html.HTMLParser(encoding="utf-8"))
    except ParserError:  # it is empty
        return Preview(base, str(base.host), None)

    def first(path: str) -> str:
        matches = page.xpath(path)
        return " ".join(str(matches[0]).split()) if matches else ""

    page_base = resolve(first("//base/@href"), base) or base
    canonical = resolve(first("//link[@rel='canonical']/@href"), page_base)
    return Preview(
        canonical if canonical is not None and canonical.same_origin(base) else base,
        first("//title/text()")[:200] or str(base.host),
        resolve(first("//meta[@property='og:image']/@content"), page_base),
    )


def resolve(reference: str, base: URI) -> URI | None:
    """Where a reference leads, if a browser may be sent there."""
    try:
        address = web_address(str(base.join(reference, errors="repair")))
    except OverthereError:
        return None
    return address.uri if reference and address else None


def preview(text: str, policy: Policy = PUBLIC) -> Preview:
    """Raises: ValueError for what is no web address or no page; AccessError if it cannot be fetched."""
    return parse(*fetch(read(text), policy))


FORM = """<!doctype html><meta charset="utf-8"><title>Preview</title>
<form><input name="url"><button>Show</button></form>
"""


class Service(BaseHTTPRequestHandler):
    policy = PUBLIC

    def do_GET(self) -> None:
        target = URIReference.parse(self.path)
        text = None if target is None else target.parameters.get("url")
        status, body = 200, ""
        if text is not None:
            try:
                body = preview(str(text), self.policy).html()
            except (ValueError, OverthereError) as error:
                status, body = 422, f"<p>{escape(str(error))}"
        octets = (FORM + body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(octets)))
        self.send_header("Content-Security-Policy", "default-src 'none'; img-src http: https:; form-action 'self'")
        self.end_headers()
        self.wfile.write(octets)


if __name__ == "__main__":
    port = int(sys.argv[1]) if len(sys.argv) > 1 else 8000
    if "--local" in sys.argv:  # to try it: pages of this machine alone
        Service.policy = PUBLIC.with_(private=True, hosts=frozenset({"127.0.0.1"}))
    print(f"http://127.0.0.1:{port}/")
    ThreadingHTTPServer(("127.0.0.1", port), Service).serve_forever()
