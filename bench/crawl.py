"""A crawl built from documents on this machine (`pages.py`): a WARC with a request and a response for each page.

When the documents end before the size is reached, they come again under other hosts.  The file is made once and kept
in the temporary folder of the system; delete it there to search the machine again.

python bench/crawl.py [--size MB] [--times N]
"""

from __future__ import annotations

import argparse
import base64
import hashlib
import json
import sys
import tempfile
import urllib.parse
import uuid
import zlib
from collections import Counter
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, BinaryIO

from pages import Page, pages, plain_pages, roots

SIZE = 40_000_000
"""Octets of the file."""
PLAIN = 60_000_000
"""Octets of the plain pages, without compression."""
CACHE = Path(tempfile.gettempdir()) / "overthere-bench"
_MADE_BY = b"".join(Path(__file__).with_name(f"{name}.py").read_bytes() for name in ("crawl", "pages"))


@dataclass
class Crawl:
    """The contents of the file."""

    path: str
    digest: str = ""
    """The SHA-256 of the file."""
    file_octets: int = 0
    octets: int = 0
    """Without compression."""
    payload_octets: int = 0
    """The octets of the responses, as transferred."""
    records: int = 0
    responses: int = 0
    """All with HTML."""
    pages: int = 0
    """Those that are no redirections."""
    documents: int = 0
    """Different ones."""
    hosts: int = 0
    middle: int = 0
    """Offset of the record that half of the file stands before; a page begins there."""
    kinds: dict[str, int] = field(default_factory=dict)
    charsets: dict[str, int] = field(default_factory=dict)

    def describe(self) -> dict[str, Any]:
        """All but its place."""
        return {name: value for name, value in asdict(self).items() if name != "path"}


class RecordWriter:
    """Records, each a gzip member of its own (WARC 1.1 Annex D)."""

    def __init__(self, file: BinaryIO) -> None:
        self.file = file
        self.at = self.octets = self.records = 0
        self.date = datetime(2026, 1, 1, tzinfo=UTC)

    def record(self, kind: str, name: str, block: bytes, media: str, **fields: str | None) -> str:
        """Write a record; its identifier."""
        self.records += 1
        identifier = f"<urn:uuid:{uuid.uuid5(uuid.NAMESPACE_URL, f'{self.records} {kind} {name}')}>"
        head = {"WARC-Type": kind, "WARC-Record-ID": identifier, "WARC-Date": f"{self.date:%Y-%m-%dT%H:%M:%SZ}"}
        head |= {name.replace("_", "-"): value for name, value in fields.items() if value is not None}
        head |= {"WARC-Block-Digest": _digest(block), "Content-Type": media, "Content-Length": str(len(block))}
        text = "WARC/1.1\r\n" + "".join(f"{name}: {value}\r\n" for name, value in head.items()) + "\r\n"
        data = text.encode() + block + b"\r\n\r\n"
        packer = zlib.compressobj(6, zlib.DEFLATED, 31)
        packed = packer.compress(data) + packer.flush()
        self.file.write(packed)
        self.at += len(packed)
        self.octets += len(data)
        return identifier

    def page(self, page: Page) -> None:
        """A request, and the response to it."""
        self.date += timedelta(seconds=1)
        parts = urllib.parse.urlsplit(page.uri)
        target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        lines = f"GET {target} HTTP/1.1\r\nHost: {parts.netloc}\r\nUser-Agent: crawl\r\nAccept: text/html\r\n\r\n"
        extra = {"WARC_Target_URI": page.uri, "WARC_IP_Address": "192.0.2.1"}
        request_id = self.record("request", page.uri, lines.encode(), "application/http; msgtype=request", **extra)
        head = f"HTTP/1.1 {page.status}\r\n" + "".join(f"{name}: {value}\r\n" for name, value in page.headers)
        self.record(
            "response", page.uri, head.encode() + b"\r\n" + page.body, "application/http; msgtype=response", **extra,
            WARC_Concurrent_To=request_id, WARC_Payload_Digest=_digest(page.payload),
            WARC_Truncated="length" if page.truncated else None,
        )  # fmt: skip


def _digest(data: bytes) -> str:
    return "sha1:" + base64.b32encode(hashlib.sha1(data, usedforsecurity=False).digest()).decode()


def write(path: Path, pages: Iterable[Page], octets: int) -> Crawl:
    """Write pages to a .warc.gz until it has this many octets, or no more pages exist."""
    about = Crawl(str(path))
    kinds: Counter[str] = Counter()
    charsets: Counter[str] = Counter()
    starts, hosts, payloads = [], set(), set()
    with path.open("wb") as file:
        writer = RecordWriter(file)
        info = b"software: bench/crawl.py\r\nformat: WARC File Format 1.1\r\n"
        writer.record("warcinfo", "", info, "application/warc-fields", WARC_Filename=path.name)
        for page in pages:
            starts.append(writer.at)
            writer.page(page)
            kinds[page.kind] += 1
            hosts.add(urllib.parse.urlsplit(page.uri).netloc)
            charsets[page.charset] += 1
            payloads.add(hash(page.payload))
            about.responses += 1
            about.pages += page.kind != "redirection"
            about.payload_octets += len(page.body)
            if writer.at >= octets:
                break
        about.file_octets, about.octets, about.records = writer.at, writer.octets, writer.records
    about.middle = min(starts, key=lambda at: abs(at - about.file_octets // 2), default=0)
    about.documents, about.hosts = len(payloads), len(hosts)
    about.kinds, about.charsets = dict(kinds.most_common()), dict(charsets.most_common())
    with path.open("rb") as file:
        about.digest = hashlib.file_digest(file, "sha256").hexdigest()[:16]
    return about


def make(path: Path, octets: int, pages: Iterable[Page]) -> Crawl:
    """Make a WARC of this many octets, compressed, or of all pages, and FILE.json that describes it.

    Raises: LookupError if there are no documents.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    new = path.with_suffix(".new")
    about = write(new, pages, octets)
    about.path = str(path)
    new.replace(path)
    path.with_suffix(".json").write_text(json.dumps(asdict(about), indent=1))
    return about


def crawl(octets: int = SIZE, times: int = 1) -> Crawl:
    """The crawl of at least this many octets, made if it does not exist yet."""
    return _kept(f"crawl-{octets // 1_000_000}x{times}", pages(roots()), octets * times)


def plain(octets: int = PLAIN) -> Crawl:
    """This many octets of unchanged documents, each once, in a WARC file."""
    return _kept(f"plain-{octets // 1_000_000}", plain_pages(roots(), octets), sys.maxsize)


def _kept(name: str, pages: Iterable[Page], octets: int) -> Crawl:
    path = CACHE / f"{name}-{hashlib.sha256(_MADE_BY).hexdigest()[:8]}.warc.gz"
    if path.exists() and (stored := path.with_suffix(".json")).exists():
        return Crawl(**json.loads(stored.read_text()))
    return make(path, octets, pages)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--size", type=int, default=SIZE // 1_000_000, help="MB of the file (40)")
    parser.add_argument("--times", type=int, default=1, help="so many times as large")
    arguments = parser.parse_args()
    print(json.dumps(asdict(crawl(arguments.size * 1_000_000, arguments.times)), indent=1))


if __name__ == "__main__":
    main()
