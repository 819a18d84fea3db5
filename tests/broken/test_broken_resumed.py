"""A crawl that is stopped at any point and resumed gives the findings and summary of an undisturbed one."""

from __future__ import annotations

import random
import socket
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from overthere import Policy
from overthere.broken import Broken, Summary, check
from overthere.broken.cache import Cache
from overthere.broken.model import Checker
from overthere.broken.records import Records
from servers.faults import faulty, simple

PAGES = 40
ROUNDS = 30


def page(number: int) -> bytes:
    """A page with links to pages, redirects, anchors and missing targets; an image is a page too."""
    chosen = random.Random(number)
    links = [f"/{chosen.randrange(PAGES)}.html#a{chosen.randrange(6)}" for _ in range(3)]
    links += [f"/to/{chosen.randrange(PAGES)}", f"/for-now/{chosen.randrange(PAGES)}", f"/lost/{chosen.randrange(9)}"]
    links += [f"/{number + 1}.html", "/robots.txt", "/closed/x.html"]
    chosen.shuffle(links)
    image = f'<img src="/{chosen.randrange(PAGES)}.html">'
    named = "".join(f'<p id="a{index}">' for index in range(4))
    return (image + named + "".join(f'<a href="{link}">x</a>' for link in links)).encode()


def serve(client: socket.socket) -> None:
    while data := client.recv(65_536):
        method, path = data.decode().split(" ")[:2]
        status, fields, content = "200 OK", "Content-Type: text/html\r\n", b""
        folder, _, name = path[1:].rpartition("/")
        if path == "/robots.txt":
            content = b"User-agent: *\nDisallow: /closed/\n"
        elif folder in ("to", "for-now"):
            status = "301 Moved" if folder == "to" else "302 Found"
            fields = f"Location: /{name}.html\r\n"
        elif not folder and int((name or "0").removesuffix(".html")) < PAGES:
            content = page(int((name or "0").removesuffix(".html")))
        else:
            status = "404 Not Found"
        head = f"HTTP/1.1 {status}\r\n{fields}Content-Length: {len(content)}\r\n\r\n".encode()
        client.sendall(head + (b"" if method == "HEAD" else content))


@pytest.fixture(scope="module")
def site() -> Iterator[str]:
    with faulty(simple(serve)) as server:
        yield f"http://127.0.0.1:{server.port}/"


class Stop(BaseException):
    """An interruption by Ctrl-C, or the end of the process."""


class Stopper:
    """Stop a check when it reaches a point for the nth time; a killed one loses what the cache has not saved.

    point: "reply" before an outcome is stored, "record" before a document is written, "cut" during that, "written"
    after it, or a phase of the check.
    """

    def __init__(self, monkeypatch: pytest.MonkeyPatch, point: str, count: int, *, is_killed: bool) -> None:
        self.point, self.left, self.is_killed = point, count, is_killed
        self.caches: list[Cache] = []
        keep, add, put = Cache.keep, Records.add, Records._put

        def store_outcome(cache: Cache, *args: Any) -> None:
            self.caches.append(cache)
            self.pass_by("reply")
            keep(cache, *args)

        def written(records: Records, *args: Any) -> None:
            self.pass_by("record")
            add(records, *args)
            self.pass_by("written")

        def put_part(records: Records, record: bytes) -> None:
            if self.point == "cut" and self.left == 1:
                put(records, record[: len(record) // 2])
            self.pass_by("cut")
            put(records, record)

        monkeypatch.setattr(Cache, "keep", store_outcome)
        monkeypatch.setattr(Records, "add", written)
        monkeypatch.setattr(Records, "_put", put_part)

    def pass_by(self, point: str) -> None:
        if point != self.point:
            return
        self.left -= 1
        if self.left == 0:
            if self.is_killed and self.caches:
                self.caches[-1]._rows.clear()
            raise Stop

    def step(self, phase: str, steps: int, total: int) -> None:
        self.pass_by(phase)


Answer = tuple[Counter[Broken], dict[str, object]]


def checked(site: str, step: Any = lambda *_: None, **settings: Any) -> Answer:
    summary = Summary()
    counts = Counter(check([site], Checker(**settings), summary, step, Policy.local()))
    names = ("documents", "octets", "references", "within", "outside", "distinct", "passed", "files", "kinds")
    return counts, {name: getattr(summary, name) for name in names}


def test_a_resumed_crawl_equals_an_undisturbed_one(site: str, tmp_path: Path) -> None:
    complete = checked(site)
    assert complete[1]["documents"] == PAGES + 2, "the start is also /0.html, and robots.txt is HTML to its server"
    chosen = random.Random("resumed")
    stops = 0
    for number in range(ROUNDS):
        settings: dict[str, Any] = {"cache": str(tmp_path / str(number)), "jobs": chosen.choice((1, 2, 8))}
        steps = []
        for attempt in range(chosen.choice((1, 1, 2, 3))):
            point = chosen.choice(("reply", "record", "cut", "written", "crawled", "read"))
            count = 1 if point == "read" else chosen.randrange(1, 60)
            with pytest.MonkeyPatch.context() as monkeypatch:
                stopper = Stopper(monkeypatch, point, count, is_killed=chosen.random() < 0.5)
                steps.append((point, count, stopper.is_killed))
                try:
                    checked(site, stopper.step, resume=bool(attempt), **settings)
                except Stop:
                    stops += 1
                else:
                    break  # it ended before that point
        assert checked(site, resume=True, **settings) == complete, (number, settings["jobs"], steps)
    assert stops > ROUNDS / 2


def test_a_crawl_requests_lost_documents_again(site: str, tmp_path: Path) -> None:
    complete = checked(site)
    with pytest.MonkeyPatch.context() as monkeypatch, pytest.raises(Stop):
        checked(site, Stopper(monkeypatch, "crawled", 30, is_killed=False).step, cache=str(tmp_path / "c"))
    (tmp_path / "c.warc").unlink()
    assert checked(site, cache=str(tmp_path / "c"), resume=True) == complete


def test_each_document_is_recorded_once(tmp_path: Path) -> None:
    records = Records(str(tmp_path / "w"))
    records.add("http://h.example/", "text/html", b"first")
    records.add("http://h.example/", "text/html", b"second")
    assert len(records.names) == 1
    assert records.read("http://h.example/") == ("text/html", b"first")
    records.close()


def test_a_long_media_type_loses_no_document(tmp_path: Path) -> None:
    """The heads of records are parsed by their length."""
    path = str(tmp_path / "w")
    records = Records(path)
    records.add("http://h.example/a", f"text/html; x={'a' * 100_000}", b"first")
    records.add("http://h.example/b", "text/html", b"second")
    records.close()
    records = Records(path, resumed=True)
    assert [records.read(f"http://h.example/{name}")[1] for name in "ab"] == [b"first", b"second"]
    records.close()
