"""The peer of the links of WAT files: the loop of cc-pyspark's ExtractLinksJob, rewritten here with its libraries.

github.com/commoncrawl/cc-pyspark (MIT) is in no package index and needs Spark to run.  This loop takes the same fields
of the same records and does the same work for each link, with warcio or FastWARC, ujson, idna and urllib.parse; none of
its code is copied.  Its two jobs:

- links: pairs of the page and the link, joined by urljoin.
- hosts: pairs of hosts, with the names reversed, once for each page and list of links.

Links are counted and discarded: the table that Spark would write is not in its time.

python bench/wat_links.py {warcio,fastwarc} {links,hosts} FILE     as `cluster.py` starts it
"""

from __future__ import annotations

import argparse
import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urljoin, urlparse

Pairs = Iterator[tuple[str, str, str]]
"""The field, the page and the link, or their hosts."""
Envelope = dict[str, Any]

_LINK_FIELD = re.compile(r"<([^>]*)>")
_META_PROPERTIES = frozenset(
    (
        "og:url", "og:image", "og:image:secure_url", "og:video", "og:video:url", "og:video:secure_url", "twitter:url",
        "twitter:image:src",
    )
)  # fmt: skip
_META_NAMES = frozenset(
    (
        "twitter:image", "thumbnail", "application-url", "msapplication-starturl", "msapplication-TileImage",
        "vb_meta_bburl",
    )
)  # fmt: skip
_ABSOLUTE = ("http://", "https://")


# -- records


def _with_warcio(path: Path) -> Iterator[bytes]:
    from warcio.archiveiterator import ArchiveIterator

    with path.open("rb") as file:
        for record in ArchiveIterator(file, no_record_parse=True, arc2warc=True):
            if record.rec_type == "metadata" and record.content_type == "application/json":
                yield record.content_stream().read()


def _with_fastwarc(path: Path) -> Iterator[bytes]:
    from fastwarc.warc import ArchiveIterator, WarcRecordType

    with path.open("rb") as file:
        for record in ArchiveIterator(file, record_types=WarcRecordType.metadata, parse_http=False):
            if record.headers.get("Content-Type") == "application/json":
                yield record.reader.read()


READERS = {"warcio": _with_warcio, "fastwarc": _with_fastwarc}


def envelopes(contents: Iterable[bytes]) -> Iterator[tuple[str, Envelope]]:
    """The URI and the description of each response."""
    import ujson

    for content in contents:
        header = (envelope := ujson.loads(content))["Envelope"]["WARC-Header-Metadata"]
        if header["WARC-Type"] == "response":
            payload = envelope["Envelope"]["Payload-Metadata"]
            yield header["WARC-Target-URI"], payload.get("HTTP-Response-Metadata", {})


def _is_link(meta: dict[str, str]) -> bool:
    if meta.get("property") in _META_PROPERTIES or meta.get("name") in _META_NAMES:
        return True
    return meta.get("content", "").startswith(_ABSOLUTE)


def _lists(html: Envelope) -> Iterator[tuple[str, list[str]]]:
    """Field by field, the links."""
    head = html.get("Head", {})
    yield "Link", [item["url"] for item in head.get("Link", ()) if "url" in item]
    yield "Metas", [item["content"] for item in head.get("Metas", ()) if "content" in item and _is_link(item)]
    yield "Scripts", [item["url"] for item in head.get("Scripts", ()) if "url" in item]
    links = []
    for item in html.get("Links", ()):
        if "url" in item:
            links.append(item["url"])
        elif item.get("href", "").startswith(_ABSOLUTE):
            links.append(item["href"])
    yield "Links", links


def _header_links(response: Envelope) -> Iterator[str]:
    fields = response.get("Headers", {})
    if "Content-Location" in fields:
        yield fields["Content-Location"]
    for value in [fields["Link"]] if isinstance(fields.get("Link"), str) else fields.get("Link", ()):
        yield from _LINK_FIELD.findall(value)


def _base(html: Envelope, uri: str) -> str | None:
    href: str | None = html.get("Head", {}).get("Base")
    try:
        return None if href is None else urljoin(uri, href)
    except ValueError:
        return None


# -- the two jobs


def link_pairs(contents: Iterable[bytes]) -> Pairs:
    """Links that urljoin rejects are left out; the original repeats the link before it."""
    for uri, response in envelopes(contents):
        yield from (("Headers", uri, link) for link in _header_links(response))
        html = response.get("HTML-Metadata", {})
        base = _base(html, uri) or uri
        for name, links in _lists(html):
            for link in links:
                try:
                    yield name, uri, urljoin(base, link)
                except ValueError:
                    continue


_GLOBAL = re.compile(r"(?:[a-z][a-z0-9]{1,5}:)?//", re.IGNORECASE)
_SIMPLE_HOST = re.compile(r"https?://([a-z0-9_.-]{2,253})(?:[/?#]|\Z)", re.IGNORECASE)
_ADDRESS = re.compile(r"(?:www\.)?(?:\d{1,3}\.){3}\d{1,3}\Z")
_LABEL = re.compile(r"[a-z0-9](?:[a-z0-9_-]{0,61}[a-z0-9])?\Z", re.IGNORECASE)


def reversed_host(uri: str) -> str | None:
    """The labels of the host from the last to the first, without www; None if it is no name of two labels or more.

    >>> reversed_host("http://www.Example.com/a"), reversed_host("http://127.0.0.1/"), reversed_host("mailto:a@h")
    ('com.example', None, None)
    """
    if simple := _SIMPLE_HOST.match(uri):
        host: str | None = simple[1]
    else:
        try:
            host = urlparse(uri).hostname
        except ValueError:
            return None
    host = (host or "").strip().lower()
    if not 0 < len(host) <= 253 or _ADDRESS.match(host):
        return None
    labels = host.removesuffix(".").split(".")
    if len(labels) < 2:
        return None
    if len(labels) > 2 and labels[0] == "www":
        del labels[0]
    for at, label in enumerate(labels):
        if len(label) > 63:
            return None
        if not _LABEL.match(label):
            if (coded := _to_ascii(label)) is None:
                return None
            labels[at] = coded
    return ".".join(reversed(labels))


def _to_ascii(label: str) -> str | None:
    import idna

    try:
        coded = idna.encode(label).decode("ascii")
    except (UnicodeError, IndexError):
        return None
    return coded if _LABEL.match(coded) else None


def host_pairs(contents: Iterable[bytes]) -> Pairs:
    for uri, response in envelopes(contents):
        if (page := reversed_host(uri)) is None:
            continue
        headers = {host for link in _header_links(response) if (host := reversed_host(link)) not in (None, page)}
        yield from (("Headers", page, host) for host in headers if host)
        html = response.get("HTML-Metadata", {})
        base = _base(html, uri)
        for name, links in _lists(html):
            hosts = {reversed_host(link) for link in links if _GLOBAL.match(link)}
            if base is not None and not all(_GLOBAL.match(link) for link in links):
                hosts.add(reversed_host(base))
            yield from ((name, page, host) for host in hosts if host not in (None, page) and host)


JOBS: dict[str, Callable[[Iterable[bytes]], Pairs]] = {"links": link_pairs, "hosts": host_pairs}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("reader", choices=READERS)
    parser.add_argument("job", choices=JOBS)
    parser.add_argument("file", type=Path)
    options = parser.parse_args()
    fields = Counter(name for name, _, _ in JOBS[options.job](READERS[options.reader](options.file)))
    print(json.dumps({"links": fields.total(), "fields": dict(fields)}))


if __name__ == "__main__":
    main()
