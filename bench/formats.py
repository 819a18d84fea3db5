"""WAT and WET files of a crawl, as Common Crawl publishes them beside its WARC files.

A WAT file describes each request and each response in a metadata record of JSON: its header, the HTTP header, and the
title, metas and links of the page.  A WET file has the text of each page in a conversion record.  Each record is a gzip
member.  The files are made once from the WARC file and kept next to it.

python bench/formats.py [--size MB]
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import json
import sys
import zlib
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from typing import Any, NamedTuple

from crawl import RecordWriter, crawl

_MADE_BY = Path(__file__).read_bytes()
_PIECE = 1 << 16


@dataclass
class Format:
    """A file of the crawl in one of the formats."""

    name: str
    path: str
    file_octets: int = 0
    octets: int = 0
    """Without compression."""
    records: int = 0
    links: int = 0
    """That its pages hold, as the generator counts them (WAT)."""


# -- pages

_PLACES = {
    "a": ("href",), "area": ("href",), "img": ("src",), "iframe": ("src",), "frame": ("src",), "embed": ("src",),
    "input": ("src",), "form": ("action",), "video": ("src", "poster"), "audio": ("src",), "source": ("src",),
    "object": ("data", "codebase"), "q": ("cite",), "blockquote": ("cite",), "ins": ("cite",), "del": ("cite",),
    "body": ("background",), "table": ("background",), "td": ("background",), "script": ("src",), "link": ("href",),
}  # fmt: skip
_SKIPPED = ("title", "alt", "target", "rel", "type", "method")
_INLINE = frozenset(
    (
        "a", "abbr", "b", "bdi", "bdo", "cite", "code", "em", "font", "i", "kbd", "mark", "q", "s", "samp", "small",
        "span", "strong", "sub", "sup", "tt", "u", "var",
    )
)  # fmt: skip
_HIDDEN = frozenset(("script", "style", "noscript", "template"))


class PageReader(HTMLParser):
    """The data of a page that WAT and WET keep."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.head: dict[str, Any] = {}
        self.links: list[dict[str, str]] = []
        self.text: list[str] = []
        self.count = 0
        self._anchor: dict[str, str] | None = None
        self._hidden = ""
        self._title = False

    @classmethod
    def read(cls, content: str) -> PageReader:
        page = cls()
        try:
            page.feed(content)
            page.close()
        except AssertionError:  # HTMLParser fails on some invalid markup; links before it count
            pass
        return page

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = {name: value or "" for name, value in reversed(attrs)}
        if tag == "base" and "href" in values:
            self.head.setdefault("Base", values["href"])
        elif tag == "meta":
            self.head.setdefault("Metas", []).append(values)
        self._title = tag == "title"
        if tag in _HIDDEN:
            self._hidden = tag
        if tag not in _INLINE:
            self.text.append("\n")
        for name in _PLACES.get(tag, ()):
            if name in values:
                self._add(tag, name, values)

    def _add(self, tag: str, name: str, values: dict[str, str]) -> None:
        link = {"path": f"{tag.upper()}@/{name}", "url": values[name]}
        link |= {name: values[name] for name in _SKIPPED if name in values}
        self.count += 1
        place = {"link": "Link", "script": "Scripts"}.get(tag)
        if place:
            self.head.setdefault(place, []).append(link)
        else:
            self.links.append(link)
        if tag == "a":
            self._anchor = link

    def handle_endtag(self, tag: str) -> None:
        if tag == self._hidden:
            self._hidden = ""
        if tag == "a":
            self._anchor = None
        if tag not in _INLINE:
            self.text.append("\n")
        self._title = False

    def handle_data(self, data: str) -> None:
        if self._title:
            self.head.setdefault("Title", data.strip())
        if self._hidden:
            return
        if self._anchor is not None and (text := " ".join(data.split())):
            self._anchor["text"] = f"{self._anchor.get('text', '')} {text}".strip()
        self.text.append(data)

    def plain(self) -> str:
        """The text, a line for each block."""
        lines = (" ".join(line.split()) for line in "".join(self.text).split("\n"))
        return "\n".join(line for line in lines if line)

    def metadata(self) -> dict[str, Any]:
        return {"Head": self.head} | ({"Links": self.links} if self.links else {})


# -- records


class _Record(NamedTuple):
    """A record of the WARC file, which is a gzip member."""

    offset: int
    packed: int
    """Octets of the member."""
    data: bytes
    head: dict[str, str]
    block: bytes


def members(path: Path) -> Iterator[_Record]:
    """The records of a file whose records are gzip members."""
    at = 0
    with path.open("rb") as file:
        data = file.read(_PIECE)
        while data:
            unpacker = zlib.decompressobj(31)
            texts, packed = [unpacker.decompress(data)], len(data)
            while not unpacker.eof and (data := file.read(_PIECE)):
                texts.append(unpacker.decompress(data))
                packed += len(data)
            data = unpacker.unused_data
            packed -= len(data)
            text = b"".join(texts)
            head, _, block = text.partition(b"\r\n\r\n")
            yield _Record(at, packed, text, _fields(head), block.removesuffix(b"\r\n\r\n"))
            at += packed
            data = data or file.read(_PIECE)


def _fields(head: bytes) -> dict[str, str]:
    lines = (line.partition(b":") for line in head.split(b"\r\n")[1:])
    return {name.decode("latin-1"): value.strip().decode("utf-8", "replace") for name, _, value in lines}


def _body(fields: dict[str, str], body: bytes) -> bytes:
    """Without transfer and content coding."""
    if fields.get("Transfer-Encoding") == "chunked":
        pieces = []
        while (line := body.partition(b"\r\n"))[0] not in (b"", b"0"):
            size = int(line[0], 16)
            pieces.append(line[2][:size])
            body = line[2][size + 2 :]
        body = b"".join(pieces)
    return gzip.decompress(body) if fields.get("Content-Encoding") == "gzip" else body


def _decode(content_type: str, content: bytes) -> str:
    if content.startswith((b"\xff\xfe", b"\xfe\xff")):
        return content.decode("utf-16", "replace")
    charset = content_type.partition("charset=")[2].strip() or "utf-8"
    return content.decode(charset, "replace")


def _envelope(record: _Record, payload: dict[str, Any], name: str) -> bytes:
    crc = zlib.crc32(record.data)
    envelope = {
        "Container": {
            "Filename": name, "Compressed": True, "Offset": str(record.offset),
            "Gzip-Metadata": {
                "Deflate-Length": str(record.packed), "Header-Length": "10", "Footer-Length": "8",
                "Inflated-CRC": str(crc - (crc >> 31 << 32)), "Inflated-Length": str(len(record.data)),
            },
        },
        "Envelope": {
            "Format": "WARC", "WARC-Header-Length": str(len(record.data) - len(record.block) - 4),
            "Block-Digest": record.head.get("WARC-Block-Digest", ""), "Actual-Content-Length": str(len(record.block)),
            "WARC-Header-Metadata": record.head, "Payload-Metadata": payload,
        },
    }  # fmt: skip
    return json.dumps(envelope, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")


def _message(record: _Record) -> tuple[list[str], dict[str, str], int, bytes]:
    """The words of the first line, the fields, octets of the header, and the body of an HTTP message."""
    head, _, body = record.block.partition(b"\r\n\r\n")
    first = head.partition(b"\r\n")[0].decode("latin-1").split(" ", 2)
    return first, _fields(head), len(head) + 4, body


def _request(record: _Record) -> dict[str, Any]:
    (method, path, version), fields, length, _ = _message(record)
    line = {"Method": method, "Path": path, "Version": version}
    request = {"Request-Message": line, "Headers-Length": str(length), "Headers": fields, "Entity-Length": "0"}
    return {"Actual-Content-Type": record.head["Content-Type"], "HTTP-Request-Metadata": request}


def _response(record: _Record) -> tuple[dict[str, Any], PageReader]:
    (version, status, reason), fields, length, body = _message(record)
    page = PageReader.read(_decode(fields.get("Content-Type", ""), _body(fields, body)))
    response = {
        "Response-Message": {"Version": version, "Status": status, "Reason": reason},
        "Headers-Length": str(length), "Headers": fields, "Entity-Length": str(len(body)),
        "Entity-Digest": record.head.get("WARC-Payload-Digest", ""), "Entity-Trailing-Slop-Length": "0",
        "HTML-Metadata": page.metadata(),
    }  # fmt: skip
    return {"Actual-Content-Type": record.head["Content-Type"], "HTTP-Response-Metadata": response}, page


def make(warc: Path, wat: Path, wet: Path) -> list[Format]:
    """Write the WAT and the WET of a WARC."""
    links = 0
    with wat.open("wb") as first, wet.open("wb") as second:
        envelopes, texts = RecordWriter(first), RecordWriter(second)
        for writer, path in ((envelopes, wat), (texts, wet)):
            writer.record("warcinfo", "", b"software: bench/formats.py\r\n", "application/warc-fields",
                          WARC_Filename=path.name)  # fmt: skip
        for record in members(warc):
            kind, uri = record.head["WARC-Type"], record.head.get("WARC-Target-URI", "")
            if kind not in ("request", "response"):
                continue
            about = {"WARC_Target_URI": uri, "WARC_Refers_To": record.head["WARC-Record-ID"]}
            page = None
            if kind == "request":
                payload = _request(record)
            else:
                payload, page = _response(record)
                links += page.count
            envelopes.record("metadata", uri, _envelope(record, payload, warc.name), "application/json", **about)
            if page is not None and (text := page.plain()):
                texts.record("conversion", uri, text.encode("utf-8", "replace"), "text/plain", **about)
    return [
        Format("WAT", str(wat), envelopes.at, envelopes.octets, envelopes.records, links),
        Format("WET", str(wet), texts.at, texts.octets, texts.records),
    ]


@dataclass
class _Kept:
    """The description that is kept beside the files."""

    made_by: str
    formats: list[dict[str, Any]] = field(default_factory=list)


def formats(octets: int, times: int = 1) -> list[Format]:
    """The WARC, WAT and WET of the crawl of this many octets (`crawl()`), made if they do not exist yet."""
    about = crawl(octets, times)
    warc = Path(about.path)
    wat, wet = (warc.with_suffix(f".{name}.gz") for name in ("wat", "wet"))
    stored = warc.with_suffix(".formats.json")
    made_by = hashlib.sha256(_MADE_BY).hexdigest()[:8]
    if not stored.exists() or json.loads(stored.read_text())["made_by"] != made_by:
        formats_made = make(warc, wat, wet)
        stored.write_text(json.dumps(asdict(_Kept(made_by, [asdict(item) for item in formats_made])), indent=1))
    stored_formats = [Format(**row) for row in json.loads(stored.read_text())["formats"]]
    return [Format("WARC", about.path, about.file_octets, about.octets, about.records), *stored_formats]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--size", type=int, default=20, help="MB of the WARC file (20)")
    options = parser.parse_args()
    for item in formats(options.size * 1_000_000):
        json.dump(asdict(item), sys.stdout)
        print()


if __name__ == "__main__":
    main()
