"""A small crawl with its indexes, as Common Crawl lays them out."""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
from pathlib import Path
from typing import Any, NamedTuple

from overthere import URI
from overthere.links.model import Link


class Crawl(NamedTuple):
    folder: Path
    files: tuple[str, ...]
    """Names of the archive files, as the indexes have them."""
    entries: tuple[dict[str, Any], ...]
    """The lines of the index, in the order of the records."""

    def octets(self, name: str) -> bytes:
        return (self.folder / name).read_bytes()


def page(number: int, file: int) -> bytes:
    links = f'<a href="/a{number}">a</a><a href="http://o{number % 9}.example/{file}">b</a><a href="http://[">bad</a>'
    return f"<html><title>{number}</title>{links}{'x' * (number * 37 % 4000)}</html>".encode()


def make_crawl(folder: Path, files: int = 2, pages: int = 120) -> Crawl:
    """WARC files with a gzip member for each record: pages, redirects, robots.txt and requests between them."""
    names = tuple(f"crawl-data/CC-TEST/warc/{number:05}.warc.gz" for number in range(files))
    entries: list[dict[str, Any]] = []
    for number, name in enumerate(names):
        octets = bytearray(_member("warcinfo", None, b"software: test\r\n", "application/warc-fields"))
        for at in range(pages):
            uri = f"http://h{at % 7}.example/{number}/{at}"
            octets += _member("request", uri, b"GET / HTTP/1.1\r\nHost: h\r\n\r\n", "application/http; msgtype=request")
            head, body = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n", page(at, number)
            status = "200"
            if at % 10 == 3:
                head, body, status = b"HTTP/1.1 301 Moved\r\nLocation: /moved\r\n\r\n", b"", "301"
            digest = base64.b32encode(hashlib.sha1(body).digest()).decode()
            record = _member("response", uri, head + body, "application/http; msgtype=response", digest)
            entries.append({
                "url": uri, "mime": "text/html", "mime-detected": "text/html", "status": status, "digest": digest,
                "length": str(len(record)), "offset": str(len(octets)), "filename": name,
            })  # fmt: skip
            octets += record
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(bytes(octets))
    lines = sorted(f"{_key(entry['url'])} 20260101000000 {json.dumps(entry)}\n" for entry in entries)
    (folder / "index.cdxj").write_text("".join(lines))
    (folder / "warc.paths.gz").write_bytes(gzip.compress("".join(f"{name}\n" for name in names).encode()))
    return Crawl(folder, names, tuple(entries))


def _key(uri: str) -> str:
    parsed = URI(uri)
    return f"{','.join(reversed((parsed.host or '').split('.')))}){parsed.path}"


def _member(kind: str, uri: str | None, content: bytes, media_type: str, digest: str = "") -> bytes:
    fields = [f"WARC-Type: {kind}", f"WARC-Record-ID: <urn:x:{kind}>", f"Content-Type: {media_type}"]
    if uri is not None:
        fields.append(f"WARC-Target-URI: {uri}")
    if digest:
        fields.append(f"WARC-Payload-Digest: sha1:{digest}")
    head = "\r\n".join(("WARC/1.0", *fields, f"Content-Length: {len(content)}", "", "")).encode()
    return gzip.compress(head + content + b"\r\n\r\n", 6, mtime=0)


def pages(rows: list[Link], host: str) -> list[Link]:
    """The rows whose base has this host."""
    return [row for row in rows if row.base is not None and URI(row.base).host == host]


def strip(rows: list[Link]) -> list[tuple[object, ...]]:
    """Rows in an order of their own, with the name of the archive file alone."""
    short = [row._replace(source=row.source.rpartition("/")[2]) for row in rows]
    return sorted((tuple(row) for row in short), key=repr)
