"""The peers of the main job: each extracts links from the responses of a WARC as its manual shows.

All read the WARC with FastWARC, which decodes transfer and content codings; results are counted and discarded.

python bench/extractors.py PEER FILE [--start N] [--end N] [--answers FILE]     as `links.py` starts it
"""

from __future__ import annotations

import argparse
import json
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urljoin


class Response(NamedTuple):
    """A response with HTML: the offset of its record, its URI, its fields and its content."""

    at: int
    uri: str
    media_type: str
    charset: str | None
    content: bytes


Extract = Callable[[Response], list[str]]


def responses(path: Path, start: int = 0, end: int | None = None) -> Iterator[Response]:
    """The responses of the records that begin at an offset from `start` on and before `end`."""
    from fastwarc.warc import ArchiveIterator, WarcRecordType

    with path.open("rb") as file:
        file.seek(start)
        records = ArchiveIterator(file, record_types=WarcRecordType.response, parse_http=True, auto_decode="all")
        for record in records:
            at = record.stream_pos
            if end is not None and at >= end:
                return
            if record.http_content_type == "text/html":
                media_type = record.http_headers.get("Content-Type") or ""
                uri = record.headers.get("WARC-Target-URI") or ""
                yield Response(at, uri, media_type, record.http_charset, record.reader.read())


# -- resiliparse


def _resiliparse() -> Extract:
    """The references of every `a`.

    `values()`, because an iteration over what a query finds takes time by the square of its length in 2.0.1.
    """
    from resiliparse.parse.encoding import detect_encoding
    from resiliparse.parse.html import HTMLTree

    def extract(response: Response) -> list[str]:
        charset = response.charset or detect_encoding(response.content, from_html_meta=True) or "utf-8"
        document = HTMLTree.parse_from_bytes(response.content, charset).document
        assert document is not None
        anchors = document.get_elements_by_tag_name("a").values()
        return [href for element in anchors if (href := element.get_attribute("href")) is not None]

    return extract


# Attributes that hold URLs: those of HTML, of HTML 4.01, and of SVG as HTML parsers name them, without a look at the
# element; values with more than a URL (srcset, style, ping) are returned unchanged.
_ATTRIBUTES = frozenset(
    (
        "href", "xlink:href", "src", "srcset", "imagesrcset", "action", "formaction", "cite", "data", "poster", "ping",
        "itemid", "itemtype", "manifest", "style", "background", "classid", "codebase", "archive", "longdesc", "lowsrc",
        "profile", "usemap", "fill", "stroke", "filter", "mask", "clip-path", "marker", "marker-start", "marker-mid",
        "marker-end", "cursor",
    )
)  # fmt: skip


def _query_all() -> Extract:
    """The values of every attribute that holds URLs, of all elements that one query finds."""
    from resiliparse.parse.encoding import detect_encoding
    from resiliparse.parse.html import HTMLTree

    query = ",".join(f"[{name}]" for name in _ATTRIBUTES if ":" not in name)

    def extract(response: Response) -> list[str]:
        charset = response.charset or detect_encoding(response.content, from_html_meta=True) or "utf-8"
        document = HTMLTree.parse_from_bytes(response.content, charset).document
        assert document is not None
        return [
            value
            for element in document.query_selector_all(query).values()
            for name in element.attribute_names
            if name in _ATTRIBUTES and (value := element.get_attribute(name)) is not None
        ]

    return extract


def _join_hrefs(hrefs: Extract) -> Extract:
    def extract(response: Response) -> list[str]:
        links = []
        for href in hrefs(response):
            try:
                links.append(urljoin(response.uri, href.strip()))
            except ValueError:  # rejected by urllib.parse
                continue
        return links

    return extract


# -- selectolax


def _selectolax() -> Extract:
    from resiliparse.parse.encoding import bytes_to_str, detect_encoding
    from selectolax.lexbor import LexborHTMLParser

    def extract(response: Response) -> list[str]:
        charset = response.charset or detect_encoding(response.content, from_html_meta=True) or "utf-8"
        tree = LexborHTMLParser(bytes_to_str(response.content, charset))
        # An attribute without a value is None there, and "xlink:href" is also matched by `[href]`.
        every = [element.attributes for element in tree.css("a[href]")]
        return [attributes["href"] or "" for attributes in every if "href" in attributes]

    return extract


# -- Scrapy


def _scrapy() -> Extract:
    from scrapy.http import HtmlResponse
    from scrapy.linkextractors import LinkExtractor

    extractor = LinkExtractor(canonicalize=True)

    def extract(response: Response) -> list[str]:
        page = HtmlResponse(response.uri, body=response.content, headers={"Content-Type": response.media_type})
        return [link.url for link in extractor.extract_links(page)]

    return extract


# -- lxml


def _lxml() -> Extract:
    import lxml.html

    def extract(response: Response) -> list[str]:
        parser = lxml.html.HTMLParser(encoding=response.charset)
        tree = lxml.html.document_fromstring(response.content, parser=parser)
        tree.make_links_absolute(response.uri, handle_failures="discard")
        return [link for _, _, link, _ in tree.iterlinks()]

    return extract


PEERS: dict[str, Callable[[], Extract]] = {
    "resiliparse, references only": _resiliparse,
    "resiliparse, every attribute": _query_all,
    "resiliparse + urljoin": lambda: _join_hrefs(_resiliparse()),
    "selectolax, references only": _selectolax,
    "selectolax + urljoin": lambda: _join_hrefs(_selectolax()),
    "lxml": _lxml,
    "Scrapy": _scrapy,
}
"""Who makes an extractor, by name."""

DOES = {
    "overthere": "every attribute that is a URL; base by layer; validity; target; normal form; table in Parquet",
    "resiliparse, references only": "`a[href]` as written",
    "resiliparse, every attribute": "attributes that hold URLs, as written",
    "resiliparse + urljoin": "`a[href]`; joined to the URI of the page",
    "selectolax, references only": "`a[href]` as written",
    "selectolax + urljoin": "`a[href]`; joined to the URI of the page",
    "lxml": "many attributes, `url()` in styles; base element; joined",
    "Scrapy": "`a[href]`, `area[href]`; base element; joined; canonical; once a page; by scheme and file name",
}
"""The results of each."""


def _worker(name: str, path: Path, start: int, end: int | None, answers: Path | None) -> dict[str, int]:
    """The number of pages and links, and of pages that ended in an exception."""
    extract = PEERS[name]()
    pages = links = failed = 0
    file = None if answers is None else answers.open("w", encoding="utf-8", errors="replace")
    for response in responses(path, start, end):
        pages += 1
        try:
            found = extract(response)
        except Exception:  # any exception of a peer: the crawl goes on
            failed += 1
            found = []
        links += len(found)
        if file is not None:
            row: dict[str, Any] = {"at": response.at, "uri": response.uri, "targets": found}
            file.write(json.dumps(row) + "\n")
    if file is not None:
        file.close()
    return {"pages": pages, "links": links, "failed": failed}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("peer", choices=PEERS)
    parser.add_argument("file", type=Path)
    parser.add_argument("--start", type=int, default=0)
    parser.add_argument("--end", type=int)
    parser.add_argument("--answers", type=Path)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    print(json.dumps(_worker(options.peer, options.file, options.start, options.end, options.answers)))


if __name__ == "__main__":
    main()
