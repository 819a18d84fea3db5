"""Pages built from documents on this machine, as servers send them.

The documents are the HTML that toolchains, packages and manuals have installed, in an order by chance from a fixed
seed, under many hosts.  Most are served as they are; some in other charsets, with a base element, compressed, in
chunks, behind redirects, broken off, or spoiled (`_KINDS`).
"""

from __future__ import annotations

import gzip
import itertools
import os
import random
import re
import site
import sysconfig
import urllib.parse
import zlib
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

_SEED = 3986
_LONGEST = 5 << 20
"""Where crawlers cut a page; its record says so (WARC-Truncated)."""
_SAME_FOLDER = 500
"""The maximum number of documents of one folder: the pages of one generator must not fill the crawl."""
_REDIRECTIONS = 0.1
"""The share taken of documents that only redirect to another one; served as redirect answers."""
_REDIRECTION = re.compile(rb'http-equiv="refresh" content="0;\s*URL=([^"]+)"', re.IGNORECASE)


class Root(NamedTuple):
    """A folder of documents, and the domain below which each folder in it is a host."""

    folder: Path
    domain: str


class Page(NamedTuple):
    """A page as it was fetched."""

    uri: str
    kind: str
    charset: str
    """In which the body is."""
    status: str
    headers: tuple[tuple[str, str], ...]
    body: bytes
    """The octets of the HTTP message after its header section."""
    payload: bytes
    """The same without the chunks."""
    truncated: bool = False


# -- documents


def roots() -> list[Root]:
    """The folders of this machine that hold documentation in HTML."""
    home, share = Path.home(), Path("/usr/share")
    docs = sorted((home / ".rustup" / "toolchains").glob("*/share/doc/rust/html"))
    stable = [path for path in docs if "stable" in str(path)] or docs[:1]
    nightly = [path for path in docs if "nightly" in str(path)]
    roots = [Root(path, "rust.example") for path in stable[:1]] + [Root(path, "nightly.example") for path in nightly]
    roots += [Root(share / "doc", "packages.example"), Root(share / "gtk-doc" / "html", "manuals.example")]
    roots += [Root(Path("/usr/lib/node_modules"), "modules.example")]
    python = dict.fromkeys((*site.getsitepackages(), sysconfig.get_path("stdlib")))
    return roots + [Root(Path(path), "python.example") for path in python]


def _documents(roots: Sequence[Root]) -> list[tuple[Root, Path]]:
    """The HTML files below the roots, in an order by chance that is the same for the same files."""
    documents: list[tuple[Root, Path]] = []
    for root in roots:
        for folder, folders, names in os.walk(root.folder):
            folders.sort()
            html = [name for name in sorted(names) if name.lower().endswith((".html", ".htm", ".xhtml"))]
            paths = [Path(folder, name) for name in html]
            documents += [(root, path) for path in paths if not path.is_symlink()][:_SAME_FOLDER]
    random.Random(_SEED).shuffle(documents)
    return documents


def _uri(root: Root, path: Path, round_number: int) -> str:
    parts = path.relative_to(root.folder).parts
    label = re.sub(r"[^a-z0-9]+", "-", parts[0].lower() if len(parts) > 1 else "www").strip("-") or "www"
    host = f"{label}{round_number if round_number > 1 else ''}.{root.domain}"
    chance = zlib.crc32(host.encode())
    scheme = "https" if chance % 5 else "http"
    port = ":8080" if chance % 11 == 0 else ""
    name = "/".join(urllib.parse.quote(os.fsencode(part)) for part in parts[1:] or parts)
    return f"{scheme}://{host}{port}/{name}"


# -- pages


class _Raw(NamedTuple):
    uri: str
    content: bytes
    chance: random.Random


def _page(raw: _Raw, kind: str, content: bytes, charset: str = "utf-8", media_type: str = "", **fields: str) -> Page:
    kind_of = f"text/html; charset={media_type}" if media_type else "text/html"
    parts = content[:_LONGEST]
    headers = _headers(raw.chance, kind_of, fields.pop("length", str(len(parts))))
    extra = tuple((name.replace("_", "-"), value) for name, value in fields.items())
    return Page(raw.uri, kind, charset, "200 OK", headers + extra, parts, parts, len(parts) < len(content))


def _headers(chance: random.Random, media: str, length: str) -> tuple[tuple[str, str], ...]:
    server = chance.choice(("nginx", "Apache/2.4.62 (Unix)", "cloudflare", "Microsoft-IIS/10.0"))
    return (
        ("Date", "Thu, 01 Jan 2026 00:00:00 GMT"), ("Server", server), ("Content-Type", media),
        ("Content-Length", length), ("Last-Modified", "Mon, 01 Dec 2025 08:00:00 GMT"),
        ("ETag", f'"{chance.getrandbits(64):x}"'), ("Cache-Control", "max-age=3600"), ("Vary", "Accept-Encoding"),
    )  # fmt: skip


def _plain_page(raw: _Raw) -> Iterator[Page]:
    yield _page(raw, "as it is", raw.content, media_type=raw.chance.choice(("utf-8", "utf-8", "UTF-8", "")))


_META = re.compile(r"(<meta[^>]{0,200}?charset=[\"']?)[\w-]+", re.IGNORECASE)


def _charset(raw: _Raw) -> Iterator[Page]:
    """In another charset; the header tells it, or the document itself, or one of them lies."""
    name = raw.chance.choice(("windows-1252", "windows-1252", "iso-8859-1", "shift_jis", "koi8-r", "utf-16"))
    text = raw.content.decode("utf-8", "replace")
    teller = raw.chance.choice(("header", "header", "meta", "both", "nobody"))
    if teller in ("meta", "both"):
        text = _META.sub(rf"\g<1>{name}", text, count=1)
    content = text.encode(name, "xmlcharrefreplace")
    kind = f"other charset, told by {teller}" if name != "utf-16" else "other charset, told by byte order mark"
    yield _page(raw, kind, content, name, media_type=name if teller in ("header", "both") else "")


def _mislabelled_page(raw: _Raw) -> Iterator[Page]:
    text = raw.content.decode("utf-8", "replace")
    yield _page(raw, "charset is a lie", text.encode("cp1252", "xmlcharrefreplace"), "windows-1252", media_type="utf-8")


_HEAD = re.compile(rb"<head[^>]{0,200}>", re.IGNORECASE)


def _base(raw: _Raw) -> Iterator[Page]:
    """With a base element: absolute, relative, with a fragment, the second of two."""
    folder = raw.uri.rpartition("/")[0]
    bases = (f"{folder}/", "./", "../", f"{folder}/index.html#top", "/", "//cdn.example/mirror/")
    element = f'<base href="{raw.chance.choice(bases)}">'.encode()
    if raw.chance.random() < 0.2:
        element = b"<base target=_top>" + element + b'<base href="http://ignored.example/">'
    yield _page(raw, "base element", _HEAD.sub(lambda m: m[0] + element, raw.content, count=1), media_type="utf-8")


def _redirected_page(raw: _Raw) -> Iterator[Page]:
    """Another URI leads to the page."""
    older = raw._replace(uri=raw.uri.replace("https:", "http:") + raw.chance.choice(("?old", "?ref=nav", "?x=1&y=2")))
    yield _redirection(older, raw.uri)
    yield from _plain_page(raw)


def _redirection(raw: _Raw, location: str) -> Page:
    body = f'<html><body>Moved to <a href="{location}">here</a>.</body></html>\n'.encode()
    status = raw.chance.choice(("301 Moved Permanently", "302 Found", "308 Permanent Redirect"))
    headers = (("Location", location), *_headers(raw.chance, "text/html", str(len(body))))
    return Page(raw.uri, "redirection", "utf-8", status, headers, body, body)


def _truncated_page(raw: _Raw) -> Iterator[Page]:
    """Broken off: the header tells the length that it should have."""
    end = raw.chance.randrange(len(raw.content) // 2, len(raw.content) + 1)
    yield _page(raw, "broken off", raw.content[:end], media_type="utf-8", length=str(len(raw.content)))


_DIRT = (
    b'<a href="http://[::1">', b"<a href='http://h/%zz'>", b'<a href="http://h:port/">', b"<a href=http://h/a|b>",
    b'<a href=" \xff\xfe ">', b"<a href=\"\0javascript:0\">", b"<a href='", b"<!-- ", b"</div></table>", b"<p><b><a>",
    b'<a href="http://user:password@h/">', b"<a href=\\\\server\\share>",
)  # fmt: skip


def _damaged_page(raw: _Raw) -> Iterator[Page]:
    """With invalid references, invalid octets, and end tags without a start."""
    content = raw.content
    for _ in range(raw.chance.randint(1, 8)):
        at = content.find(b"<", raw.chance.randrange(len(content)))
        content = content[:at] + raw.chance.choice(_DIRT) + content[at:]
    yield _page(raw, "spoiled", content, media_type="utf-8")


def _gzip(raw: _Raw) -> Iterator[Page]:
    packed = gzip.compress(raw.content[:_LONGEST], 6, mtime=0)
    yield _page(raw, "content coding gzip", packed, media_type="utf-8", Content_Encoding="gzip")


def _chunked_page(raw: _Raw) -> Iterator[Page]:
    page = _page(raw, "chunked", raw.content, media_type="utf-8", Transfer_Encoding="chunked")
    pieces = [page.body[at : at + 16384] for at in range(0, len(page.body), 16384)]
    body = b"".join(b"%x\r\n%b\r\n" % (len(piece), piece) for piece in pieces) + b"0\r\n\r\n"
    headers = tuple(header for header in page.headers if header[0] != "Content-Length")
    yield page._replace(body=body, headers=headers)


def _located_page(raw: _Raw) -> Iterator[Page]:
    name = raw.uri.rpartition("/")[2]
    yield _page(raw, "Content-Location", raw.content, media_type="utf-8", Content_Location=f"./{name}?lang=en")


def _missing_page(raw: _Raw) -> Iterator[Page]:
    body = b'<!DOCTYPE html><title>404</title><p>Not here. <a href="/">To the <b>start</b></a>\n'
    page = _page(raw._replace(uri=raw.uri + ".old"), "not found", body, media_type="utf-8")
    yield page._replace(status="404 Not Found")


# The number in a hundred documents that are served so.
_KINDS: tuple[tuple[Callable[[_Raw], Iterator[Page]], int], ...] = (
    (_plain_page, 76), (_charset, 7), (_mislabelled_page, 1), (_base, 4), (_redirected_page, 3), (_truncated_page, 2),
    (_damaged_page, 2), (_gzip, 1), (_chunked_page, 2), (_located_page, 1), (_missing_page, 1),
)  # fmt: skip


def plain_pages(roots: Sequence[Root], octets: int) -> Iterator[Page]:
    """This many octets of the unchanged documents, each once.

    Raises: LookupError if there is no document.
    """
    documents = _documents(roots)
    if not documents:
        raise LookupError("no documents in HTML: " + ", ".join(str(root.folder) for root in roots))
    for root, path in documents:
        uri, content = _uri(root, path, 1), path.read_bytes()
        if len(content) >= 1000 or not _REDIRECTION.search(content):
            yield from _plain_page(_Raw(uri, content, random.Random(f"{_SEED} {uri}")))
            octets -= len(content)
        if octets <= 0:
            return


def pages(roots: Sequence[Root]) -> Iterator[Page]:
    """The pages without an end: all documents, and then all of them again under other hosts.

    Raises: LookupError if there is no document.
    """
    documents = _documents(roots)
    if not documents:
        raise LookupError("no documents in HTML: " + ", ".join(str(root.folder) for root in roots))
    kinds, weights = zip(*_KINDS, strict=True)
    for round_number in itertools.count(1):
        for root, path in documents:
            uri = _uri(root, path, round_number)
            content = path.read_bytes()
            raw = _Raw(uri, content, random.Random(f"{_SEED} {uri}"))
            if len(content) < 1000 and (moved := _REDIRECTION.search(content)):
                if raw.chance.random() < _REDIRECTIONS:
                    yield _redirection(raw, moved[1].decode("ascii", "replace"))
            elif content:
                yield from raw.chance.choices(kinds, weights)[0](raw)
