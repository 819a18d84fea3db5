"""Names of archive files in an index cannot leave the folder of the archives, in any encoding."""

from __future__ import annotations

import functools
import http.server
import json
import posixpath
import random
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import quote, unquote, unquote_to_bytes

import pytest

from overthere.access.policy import Policy
from overthere.links import extract
from overthere.links.job.ranged_sources import Index, _ArchiveFiles
from overthere.links.job.task_builder import TaskBuilder
from range_server import RangeHandler

DOTS = (
    "..", "%2e%2e", "%2E.", ".%2e", "..;", "..;a=b", "%2e%2e%3b", "%c0%ae%c0%ae", "%e0%80%ae.", "%u002e%u002e",
    "\uff0e\uff0e", "%ef%bc%8e.", "\u2025", "..%20", ".%09.", "%00..", "..%00", ". .", "...",
)  # fmt: skip
SLASHES = ("/", "%2f", "%2F", "%5c", "\\", "%c0%af", "%u2215", "\uff0f", "%ef%bc%8f", "//", "/./", ";/")
GOOD = (
    "a.warc.gz", "crawl/2026-01/a..b.warc.gz", "%41.warc.gz", "a%20b.gz", "a%2520b.gz", "x/.hidden/a.gz", "a+b=c&d.gz",
    "\u00fc/\u65e5\u672c.gz", "%C3%BC.gz", "100%25.gz", "a..", "..a/b", "a;v=1.2/b.gz",
)  # fmt: skip
ROOTS = ("http://h/archives/", "https://h:8443/a/b", "http://h/a%20b/", "s3://bucket/archives/")


def names() -> Iterator[str]:
    """Each form of dots with each form of a slash, encoded up to six times, and random ones between valid segments."""
    for dots in DOTS:
        for slash in SLASHES:
            name = f"{dots}{slash}secret"
            for _ in range(7):
                yield name
                yield f"good/{name}"
                yield f"{dots}{slash}{dots}{slash}secret"
                name = quote(name, safe="/;" if slash in ("/", "//", "/./", ";/") else "")
    noise = random.Random(17)
    pieces = (*DOTS, *SLASHES, "a", "b.gz", "%25", "%252e", "%", "?", "#", ":", "@", "http:", "file:///etc", "%0d%0a")
    for _ in range(20_000):
        yield "".join(noise.choices(pieces, k=noise.randint(1, 8)))


def decodings(uri: str) -> Iterator[str]:
    """Readings of a path by servers: decoded repeatedly, with backslashes, without parameters or spaces."""
    path = uri
    for _ in range(20):
        for text in (path, path.replace("\\", "/")):
            yield text
            yield "/".join(part.partition(";")[0].strip() for part in text.split("/"))
        if (decoded := unquote(path, errors="replace")) == path:
            return
        path = decoded


def archive_files(root: str) -> _ArchiveFiles:
    index = Index("index.cdxj", (), root)
    return _ArchiveFiles(index, "index.cdxj", TaskBuilder(None, 1), Policy.local())


@pytest.mark.parametrize("root", ROOTS)
def test_no_name_leaves_the_folder(root: str) -> None:
    files = archive_files(root)
    folder = f"{root.rstrip('/')}/"
    find_file = Judged(files.find)
    for name in names():
        if (uri := find_file(name)) is None:
            continue
        assert uri.startswith(folder)
        for path in decodings(uri[len(folder) :]):
            assert not posixpath.normpath(path.partition("?")[0]).startswith(("../", "/")), (name, uri)
            assert posixpath.normpath(path) != "..", (name, uri)
    assert find_file.refused > 1500


class Judged:
    def __init__(self, find: Callable[[str], tuple[str, str] | None]) -> None:
        self.find, self.refused = find, 0

    def __call__(self, name: str) -> str | None:
        path = self.find(name)
        self.refused += path is None
        return path and path[1]


@pytest.mark.parametrize("root", ROOTS)
@pytest.mark.parametrize("name", GOOD)
def test_names_of_archives_are_found(root: str, name: str) -> None:
    path = archive_files(root).find(quote(name, safe="/%+=&;?"))
    assert path is not None
    assert unquote_to_bytes(path[1]).endswith(unquote_to_bytes(name.encode()))


def test_long_names_are_linear() -> None:
    files = archive_files(ROOTS[0])
    for name in (
        "%25" * 200_000,
        "%2525" * 1600,
        "../" * 300_000,
        "a/" * 4000 + "b",
        "\u0300" * 8000,
        "%" + "25" * 4000,
    ):
        files.find(name)


def test_no_request_leaves_the_folder(tmp_path: Path) -> None:
    """A server that decodes a path twice would send the secret next to the folder of the archives."""
    requests: list[str] = []

    class Handler(RangeHandler):
        def do_GET(self) -> None:  # noqa: N802 - the name of the standard library
            requests.append(self.path)
            super().do_GET()

    (tmp_path / "archives").mkdir()
    (tmp_path / "secret").write_text("<a href=secret>")
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Handler, tmp_path))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        lines = [
            f"x)/ 20260101000000 {json.dumps({'filename': name, 'offset': '0', 'length': '9', 'url': 'http://x/'})}\n"
            for name in list(names())[:1000]
        ]
        (tmp_path / "index.cdxj").write_text("".join(lines))
        root = f"http://127.0.0.1:{server.server_port}/archives/"
        rows = list(extract(Index(tmp_path / "index.cdxj", (), root), policy=Policy.local()))
    finally:
        server.shutdown()
        server.server_close()
    assert any(row.error == "refused" for row in rows)
    for path in requests:
        assert path.startswith("/archives/")
        for text in decodings(path.removeprefix("/archives/")):
            assert not posixpath.normpath(text).startswith(".."), path
    assert not any(row.reference for row in rows)
