"""URIs as sources: with nginx, an FTP server, a gopher menu, data and file URIs."""

from __future__ import annotations

import gzip
import io
import os
import socket
import subprocess
import threading
import zipfile
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from overthere import URI
from overthere.access.planning import Plan
from overthere.access.policy import Policy
from overthere.access.steps import Content, Step
from overthere.access.wire import Data, Dialogue, Entry, Head, Item
from overthere.base import file_uri
from overthere.links import Link, Options, batches, extract
from overthere.links.containers.temporary import remove_files
from overthere.links.job import part_files as job_parts
from overthere.links.job import prefetch
from overthere.links.job.prefetch import PER_HOST
from overthere.links.job.retrieval import is_uri
from overthere.links.job.sources import tasks
from overthere.links.job.task_rows import TaskEnd
from overthere.schemes.model import Access, Scheme
from overthere.schemes.registry import Registry
from servers import NET, wait_until
from servers.ftpd import Server, anonymous
from servers.nginx import Nginx, nginx
from servers.replay import Served, serve
from test_cli import process, run

LOCAL = Policy.local()
MAIL = (
    b"MIME-Version: 1.0\r\nContent-Type: multipart/related; boundary=b; type=text/html\r\n\r\n"
    b"--b\r\nContent-Type: text/html\r\nContent-Location: http://o.example/a/\r\n\r\n<img src=i.png>\r\n"
    b"--b\r\nContent-Type: image/png\r\nContent-Location: http://o.example/a/i.png\r\n\r\n\x89PNG\r\n\x1a\n\r\n--b--\r\n"
)


def zipped() -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr("a/b.html", "<a href=c>")
    return out.getvalue()


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Nginx]:
    folder = tmp_path_factory.mktemp("retrieved") / "nginx"
    (folder / "root/d").mkdir(parents=True)
    page = b"<a href=x>"
    for name, content in {
        "page.html": page,
        "d/page.html.gz": gzip.compress(page),
        "d/a.mhtml": MAIL,
        "d/a.zip": zipped(),
        "d/latin.html": '<a href="é">'.encode("latin-1"),
        "d/style": b"a { background: url(i.png) }",
        "d/empty.html": b"",
    }.items():
        (folder / "root" / name).write_bytes(content)
    with nginx(folder) as web:
        yield web


def rows(*sources: str | URI, policy: Policy = LOCAL, **kwargs: object) -> list[Link]:
    return list(extract(sources, policy=policy, **kwargs))  # type: ignore[arg-type]


def short(server: Nginx, link_rows: list[Link]) -> list[tuple[str | None, ...]]:
    root = server.uri("")
    return [
        tuple(None if text is None else text.replace(root, "") for text in (row.base, row.where, row.target, row.error))
        for row in link_rows
    ]


def test_sources_that_are_uris(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert is_uri("ab:c")
    Path("ab:c").write_text("<a href=x>")
    assert not is_uri("ab:c")
    assert not is_uri(Path("http://h/"))
    (row,) = rows("ab:c")
    assert (row.reference, row.base) == ("x", str(file_uri(tmp_path / "ab:c")))


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("/page.html", [("/page.html", "a href", "/x", None)]),
        ("/page.html?q=a.css#f", [("/page.html?q=a.css", "a href", "/x", None)]),
        ("/moved/", [("/moved/", "Location", "/page.html", None), ("/page.html", "a href", "/x", None)]),
        (
            "/chain/1",
            [
                ("/chain/1", "Location", "/chain/2", None),
                ("/chain/2", "Location", "/page.html", None),
                ("/page.html", "a href", "/x", None),
            ],
        ),
        ("/found/", [("/found/", "Location", "/page.html#there", None), ("/page.html", "a href", "/x", None)]),
        ("/latin/d/latin.html", [("/latin/d/latin.html", "a href", "/latin/d/%C3%A9", "non-ascii")]),
        ("/d/page.html.gz", [("/d/page.html.gz", "a href", "/d/x", None)]),
        ("/packed/d/page.html.gz", [("/packed/d/page.html.gz", "a href", "/packed/d/x", None)]),
        ("/d/a.zip", [("/d/a.zip", "a href", "/d/c", None)]),
        ("/d/a.mhtml", [("http://o.example/a/", "img src", "http://o.example/a/i.png", None)]),
        ("/d/empty.html", [("/d/empty.html", None, None, "empty")]),
        ("/nothing", [("/nothing", None, None, "empty")]),
        ("/none", [("/none", None, None, "missing")]),
        (
            "/circle/1",
            [
                ("/circle/1", "Location", "/circle/2", None),
                ("/circle/2", "Location", "/circle/1#more", None),
                ("/circle/1", None, None, "refused"),
            ],
        ),
        ("/file", [("/file", "Location", "file:///etc/hostname", None), ("/file", None, None, "refused")]),
        ("/wrong", [("/wrong", "Location", None, "ip-literal-open"), ("/wrong", None, None, "not-opened")]),
        ("/bare", [("/bare", "Location", "/bare", None), ("/bare", None, None, "refused")]),
        (
            "/linked/page.html",
            [
                ("/linked/page.html", "Link", "/style.css", None),
                ("/linked/page.html", "a href", "/linked/x", None),
            ],
        ),
    ],
)
def test_over_http(server: Nginx, path: str, expected: list[tuple[str | None, ...]]) -> None:
    link_rows = rows(server.uri(path))
    assert short(server, link_rows) == expected
    assert {row.source.partition("!")[0] for row in link_rows} == {server.uri(path)}
    layers = {row.base_from for row in link_rows if row.reference is not None}
    assert layers <= ({"entity"} if path in ("/d/a.zip", "/d/a.mhtml") else {"retrieval"})


def test_a_redirect_has_the_rows_of_an_archive(server: Nginx, tmp_path: Path) -> None:
    """The rows of the same answer in a WARC file, except for the source."""
    from test_warc import record

    answer = b"HTTP/1.1 301 Moved\r\nLocation: ../\xc3\xa9\r\nLink: <s.css>; rel=x\r\nContent-Length: 0\r\n\r\n"
    with serve(answering(answer)) as served:
        uri = f"http://127.0.0.1:{served.port}/a/b"
        over_http = rows(uri)
    (tmp_path / "a.warc").write_bytes(record(answer, target=uri.encode()))
    from_archive = rows(str(tmp_path / "a.warc"))
    assert [row.where for row in from_archive] == ["Location", "Link"]
    assert [row[1:] for row in over_http[:2]] == [row[1:] for row in from_archive]
    assert [(row.source, row.error) for row in over_http[2:]] == [(uri, "not-opened")]


def test_content_location_depends_on_the_edition(server: Nginx) -> None:
    (row,) = rows(server.uri("/located/page.html"))
    assert (row.base, row.base_from) == (server.uri("/located/page.html"), "retrieval")
    (row,) = rows(server.uri("/located/page.html"), edition="uri-2003")
    assert (row.base, row.base_from) == (server.uri("/elsewhere/x.html"), "content")


def test_reasons_are_logged(server: Nginx, caplog: pytest.LogCaptureFixture) -> None:
    rows(server.uri("/none"), server.uri("/page.html").replace("http://", "http://joe:secret@"))
    assert f"{server.uri('/none')}: 404 Not Found" in caplog.text
    assert "there is userinfo before the host" in caplog.text
    assert "secret" not in caplog.text


def test_the_default_policy_is_the_safe_one(server: Nginx, tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text("<a href=x>")
    uris = [server.uri("/page.html"), (tmp_path / "a.html").as_uri()]
    assert [row.error for row in extract(uris)] == ["refused", "refused"]
    assert [row.target for row in rows(*uris)] == [server.uri("/x"), (tmp_path / "x").as_uri()]
    assert [row.error for row in rows(uris[0], policy=LOCAL.with_(max_bytes=3))] == ["not-opened"]


def test_invalid_uris_and_schemes_without_content(tmp_path: Path) -> None:
    errors = {text: [row.error for row in rows(text)] for text in ("http://[", "nobody:x", "telnet://h/", "urn:isbn:1")}
    assert errors == {key: ["not-opened"] for key in errors}


def answering(answer: bytes) -> Callable[[socket.socket, Served], None]:
    def handler(client: socket.socket, served: Served) -> None:
        client.recv(1 << 12)
        client.sendall(answer)

    return handler


def test_truncated_content() -> None:
    answer = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 99\r\n\r\n<a href=x>"
    with serve(answering(answer)) as served:
        link_rows = rows(f"http://127.0.0.1:{served.port}/")
    assert [(row.reference, row.error) for row in link_rows] == [(None, "truncated"), ("x", None)]


def test_a_gopher_menu() -> None:
    menu = b"iWelcome\tx\tx\t0\r\n0A doc\t/doc.txt\tlocalhost\t70\r\n1Else\t/x\telse.example\t7071\r\n.\r\n"
    with serve(answering(menu)) as served:
        link_rows = rows(uri := f"gopher://127.0.0.1:{served.port}/1/menu")
    assert [(row.where, row.target, row.base) for row in link_rows] == [
        ("file", "gopher://localhost/0/doc.txt", uri),
        ("directory", "gopher://else.example:7071/1/x", uri),
    ]


def test_a_uri_as_a_value_and_with_files(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text("<a href=a>")
    link_rows = rows(str(tmp_path / "a.html"), URI("data:text/html,%3Ca%20href=x:y%3E"))
    assert [row.reference for row in link_rows] == ["a", "x:y"]


def test_sources_contain_no_password(server: Nginx) -> None:
    (row,) = rows(server.uri("/page.html").replace("http://", "http://joe:secret@"))
    assert "secret" not in row.source


def test_directories(tmp_path: Path) -> None:
    (tmp_path / "d").mkdir()
    (tmp_path / "a b.html").touch()
    link_rows = rows(f"{tmp_path.as_uri()}/")
    assert sorted((row.where, row.target) for row in link_rows) == [
        ("directory", f"{tmp_path.as_uri()}/d/"),
        ("file", f"{tmp_path.as_uri()}/a%20b.html"),
    ]


@pytest.fixture(scope="module")
def ftp(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    root = tmp_path_factory.mktemp("root")
    (root / "page.html").write_bytes(b"<a href=x>")
    (root / "d").mkdir()
    with anonymous(tmp_path_factory.mktemp("ftp"), root) as server:
        yield server


def test_over_ftp(ftp: Server) -> None:
    link_rows = rows(ftp.url("page.html"), ftp.url(""))
    assert [row.target for row in link_rows if row.where == "a href"] == [ftp.url("x")]
    assert {row.target for row in link_rows if row.where != "a href"} >= {ftp.url("page.html")}
    assert all(row.base_from == "retrieval" for row in link_rows)


def test_temporary_files_are_removed(server: Nginx, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    uris = [server.uri("/page.html"), server.uri("/d/a.zip"), server.uri("/page.html"), server.uri("/none")]
    for jobs, most in ((1, 1), (8, 4)):
        running = iter(extract(uris, policy=LOCAL, jobs=jobs))
        next(running)
        assert 1 <= len(list(tmp_path.glob("overthere-*"))) <= most
        assert len(list(running)) == 3
        assert not list(tmp_path.iterdir())
        running = iter(extract(uris, policy=LOCAL, jobs=jobs))
        next(running)
        running.close()  # type: ignore[attr-defined]
        wait_until(lambda: not list(tmp_path.iterdir()), "an empty folder")


@dataclass
class Meeting:
    """A server that delays answers until a number of requests are waiting, or until the last one is."""

    together: int
    there: Counter[str] = field(default_factory=Counter[str])
    most: Counter[str] = field(default_factory=Counter[str])
    changed: threading.Condition = field(default_factory=threading.Condition)
    met: bool = False

    def __call__(self, client: socket.socket, served: Served) -> None:
        head = client.recv(1 << 12).decode()
        host = head.partition("Host: ")[2].partition(":")[0]
        with self.changed:
            self.there[host] += 1
            self.most |= self.there
            self.met = self.met or self.there.total() == self.together
            self.changed.notify_all()
            self.changed.wait_for(lambda: self.met, NET)
            # The first request is answered last.
            if head.startswith("GET /0 "):
                self.changed.wait_for(lambda: self.there.total() == 1, NET)
            self.there[host] -= 1
            self.changed.notify_all()
        client.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<a href=x>")


@pytest.mark.parametrize(("jobs", "together"), [(8, 4), (3, 3), (1, 1)])
def test_several_sources_are_fetched_at_once(jobs: int, together: int, tmp_path: Path) -> None:
    """As many as allowed, two per host, in order; otherwise two requests to two hosts would never meet."""
    (tmp_path / "a.html").write_text("<a href=y>")
    meeting = Meeting(together)
    with serve(meeting) as served:
        hosts = [f"http://{host}:{served.port}" for host in ("127.0.0.1", "localhost")]
        sources = [f"{hosts[number // 2 % 2]}/{number}" for number in range(8)]
        sources[3:3] = [str(tmp_path / "a.html")]
        link_rows = rows(*sources, jobs=jobs)
    assert meeting.met
    assert max(meeting.most.values()) == min(jobs, PER_HOST)
    assert [(row.source, row.error) for row in link_rows] == [(source, None) for source in sources]


def test_nothing_is_prefetched_with_one_job(tmp_path: Path) -> None:
    def sources(requests: list[int]) -> Iterator[str]:
        for number in range(20):
            requests.append(number)
            yield f"data:text/html,%3Ca%20href={number}:%3E"

    for jobs, most in ((1, 1), (2, 8)):
        requests: list[int] = []
        running = iter(extract(sources(requests), policy=LOCAL, jobs=jobs))
        assert next(running).reference == "0:"
        assert len(requests) == most
        assert [row.reference for row in running] == [f"{number}:" for number in range(1, 20)]


def test_prefetched_bytes_are_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    """Above the limit only the next source is fetched."""
    monkeypatch.setattr(prefetch, "_MAX_WAITING", 100)
    prefetcher = prefetch._Prefetcher(LOCAL, "rfc3986", 2)
    every = [prefetch._Retrieval(f"data:,{'x' * 90}") for _ in range(8)]
    for source in every:
        prefetcher.add(source)
    wait_until(lambda: prefetcher.waiting_bytes > 100 and not prefetcher.running.total(), "two that wait")
    assert 2 <= sum(source.is_started for source in every) <= 3
    for _ in every:
        laid = prefetcher.next_source()
        assert isinstance(laid, prefetch.RetrievedFile)
        remove_files([laid.path])
        assert prefetcher.waiting_bytes <= 100 + 2 * 90
    prefetcher.close()


def test_a_thread_that_cannot_be_started(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(self: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", refuse)
    with pytest.raises(RuntimeError, match="can't start"):
        rows("data:text/html,x")


def test_a_file_that_cannot_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "none"))
    with pytest.raises(FileNotFoundError):
        rows("data:text/html,x", "data:text/html,y")


def test_marks_depend_on_the_content(tmp_path: Path) -> None:
    page = tmp_path / "a.html"
    page.write_text("<a href=a>")
    sources = [page.as_uri(), "data:text/html,x:y"]

    def run(skip: int = 0, mark: str = "") -> list[TaskEnd]:
        results = batches(sources, options=Options(), skip=skip, mark=mark, policy=LOCAL)
        return [batch for batch in results if isinstance(batch, TaskEnd)]

    first, second = run()
    os.utime(page, (1, 1))
    assert run(1, first.mark) == [second]
    page.write_text("<a href=b>")
    with pytest.raises(ValueError, match="sources have changed"):
        run(1, first.mark)


def test_without_a_policy_uris_are_rejected(tmp_path: Path) -> None:
    (task,) = tasks(["http://h/"], None, Options())
    assert (task.paths, task.retrieved) == (("http://h/",), None)
    with pytest.raises(ValueError, match=r"http://h/: a part of a job can have files only"):
        list(job_parts.parts(["http://h/"]))


def command(*arguments: str) -> subprocess.CompletedProcess[str]:
    return run("links", *arguments)


def test_the_command(server: Nginx, tmp_path: Path) -> None:
    table = tmp_path / "t.jsonl"
    # As a process: the package's log is on its standard error.
    result = process("links", server.uri("/moved/"), server.uri("/none"), "-o", str(table))
    assert (result.returncode, len(table.read_text().splitlines())) == (1, 3)
    assert "404 Not Found" in result.stderr
    assert "missing" in result.stderr
    safe = command("--safe", server.uri("/page.html"), "--format", "jsonl")
    assert (safe.returncode, '"refused"' in safe.stdout) == (1, True)
    small = command("--max-bytes", "3", server.uri("/page.html"), "--format", "jsonl")
    assert (small.returncode, '"not-opened"' in small.stdout) == (1, True)
    repeated = command(server.uri("/moved/"), server.uri("/none"), "-o", str(table), "--resume")
    assert "is complete" in repeated.stderr or repeated.returncode == 0


def test_limits_and_strictness(tmp_path: Path) -> None:
    page = tmp_path / "a.html"
    page.write_bytes(b"<meta charset=nobody><a href=x><a href=y>")
    message = command(str(page), "--format", "jsonl")
    assert (message.returncode, message.stdout.count("\n"), "wrong-charset" in message.stdout) == (0, 3, True)
    assert command(str(page), "--strict", "--format", "jsonl").returncode == 1
    truncated = command(str(page), "--max-text", "31", "--format", "jsonl")
    assert (truncated.returncode, truncated.stdout.count("\n"), "too-large" in truncated.stdout) == (1, 3, True)
    page.write_bytes(b"<a href=x>")
    assert command(str(page), "--strict", "--format", "jsonl").returncode == 0


def test_a_scheme_of_another_package_is_a_source(monkeypatch: pytest.MonkeyPatch) -> None:
    """As one for an object store would be: the job needs only its dialogue."""
    objects = {"/b/a.html": b"<a href=x>", "/b/c.css": b"@import 'd';"}

    def steps(locator: object, credentials: object) -> Iterator[Step]:
        yield Content(source="x", media_type="x/x", data=b"")

    def dialogue(plan: Plan, policy: Policy) -> Dialogue:
        path = URI(plan.uri).path
        if path.endswith("/"):
            yield Head(listing=True)
            yield from (Item(Entry(name, f"x-store:{name}", "object")) for name in objects if name.startswith(path))
        else:
            yield Head(base=None, length=len(objects[path]))
            yield Data(objects[path])

    store = Scheme(name="x-store", title="x", documents={"rfc3986": "x"}, access=Access(steps, dialogue))
    registry = Registry.default().with_(store)
    monkeypatch.setattr(Registry, "default", staticmethod(lambda: registry))
    listed = [row.target for row in rows("x-store:/b/")]
    assert listed == ["x-store:/b/a.html", "x-store:/b/c.css"]
    link_rows = rows(*(target for target in listed if target is not None))
    assert [(row.where, row.target, row.base_from) for row in link_rows] == [
        ("a href", "x-store:/b/x", "retrieval"),
        ("@import", "x-store:/b/d", "retrieval"),
    ]


@pytest.mark.parametrize("jobs", [0, -1])
def test_an_idle_job_does_not_block(jobs: int) -> None:
    """It waited for a source that nobody fetched."""
    with pytest.raises(ValueError, match=f"jobs must be at least 1, not {jobs}"):
        batches(["data:text/html,x"], policy=LOCAL, jobs=jobs)
