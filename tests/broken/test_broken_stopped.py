"""Runs stopped by Ctrl-C or by a dying server: messages, stored outcomes, resuming; and the progress bar."""

from __future__ import annotations

import json
import os
import pty
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from overthere import Policy
from overthere.broken.external import Asker
from overthere.broken.model import Checker
from servers import NET
from servers.faults import faulty, simple
from servers.nginx import Nginx, nginx

pytestmark = pytest.mark.skipif(os.name == "nt", reason="signals and terminals of POSIX")

# Ctrl-C arrives after a given number of stored outcomes, however fast the machine is.
STOPPED = """
import os, signal
from overthere.cli import main
from overthere.broken.cache import Cache

keep, kept = Cache.keep, []

def then_stop(self, outcome, fragments):
    keep(self, outcome, fragments)
    kept.append(outcome)
    if len(kept) == int(os.environ["KEPT"]):
        os.kill(os.getpid(), signal.SIGINT)

signal.signal(signal.SIGINT, signal.default_int_handler)
Cache.keep = then_stop
main()
"""
OPTIONS = ("broken", "--private", "--jobs", "1", "--format", "jsonl")


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Nginx]:
    folder = tmp_path / "nginx"
    root = folder / "root"
    root.mkdir(parents=True)
    (root / "index.html").write_text(
        '<title>t</title><a href="a.html">a</a> <a href="found/">f</a> <img src="i.gif"> <a href="lost.html">l</a>'
        '<a href="page.html">p</a>'
    )
    (root / "a.html").write_text('<title>t</title><a href="b.html">b</a> <a href="lost2.html">l</a>')
    (root / "b.html").write_text('<title>t</title><h1>b</h1><a href="a.html#no">a</a>')
    (root / "page.html").write_text('<title>t</title><a href="c.html">c</a>')
    (root / "c.html").write_text("<title>t</title>")
    (root / "i.gif").write_bytes(b"GIF89a")
    with nginx(folder) as running:
        yield running


def run(*command: str | Path, stored: int = 0) -> tuple[int, str, str]:
    """stored: the number of stored outcomes at which the run is stopped."""
    environment = {**os.environ, "KEPT": str(stored)}
    result = subprocess.run([sys.executable, *command], capture_output=True, text=True, timeout=NET, env=environment)
    return result.returncode, result.stdout, result.stderr


def paths(server: Nginx) -> list[str]:
    return [line[0].split()[1] for line in server.requests()]


def rows(text: str) -> list[tuple[str, str, str]]:
    return [(row["source"], row["reference"], row["kind"]) for row in map(json.loads, text.splitlines())]


def test_outcomes_before_ctrl_c_are_not_requested_again(server: Nginx, tmp_path: Path) -> None:
    page, cache = tmp_path / "page.html", tmp_path / "cache"
    names = ["a.html", "b.html", "lost.html", "gone", "c.html", "page.html", "broken", "private"]
    page.write_text("".join(f'<a href="{server.uri("/" + name)}">x</a>\n' for name in names))
    verb: list[str | Path] = [*OPTIONS, "--online", "--cache", str(cache), page]
    code, output, errors = run("-c", STOPPED, *verb, stored=3)
    assert (code, output) == (130, "")
    line = f"stopped: 2 of 8 URIs were requested, and the rest is not in these figures; {cache} has the answers so far"
    assert f"{line}; continue with --resume" in errors.splitlines()
    assert len(set(paths(server))) == 3
    code, output, errors = run("-m", "overthere", *verb, "--resume")
    assert code == 1
    assert [row[2] for row in rows(output)] == ["not-found", "gone", "server-error", "programs-refused"]
    assert "8 point outside, to 8 URIs: 5 asked, 3 known from the cache" in errors
    # Three reject HEAD, and are requested by GET too.
    assert Counter(paths(server)) == Counter(f"/{name}" for name in [*names, "lost.html", "broken", "private"])


@pytest.mark.parametrize("stored", [1, 2, 4, 5, 7])
def test_a_stopped_crawl_continues(server: Nginx, tmp_path: Path, stored: int) -> None:
    """At 3 the redirect of /found/ was followed, but its outcome is not stored yet: it would be requested again."""
    cache = tmp_path / "cache"
    verb = [*OPTIONS, "--cache", str(cache), server.uri("/index.html")]
    undisturbed = run("-m", "overthere", *OPTIONS, server.uri("/index.html"))
    once = Counter(paths(server))
    assert set(once.values()) == {1}
    assert not (tmp_path / "cache.warc").exists()
    code, _, errors = run("-c", STOPPED, *verb, stored=stored)
    assert code == 130
    assert f"stopped: {stored - 1} of the " in errors
    documents = (tmp_path / "cache.warc").read_bytes()
    assert 1 <= documents.count(b"WARC-Target-URI") <= stored
    # A killed process may leave half a record.
    (tmp_path / "cache.warc").write_bytes(documents + documents[:150])
    code, output, errors = run("-m", "overthere", *verb, "--resume")
    assert (code, sorted(rows(output))) == (1, sorted(rows(undisturbed[1])))
    assert {kind for _, _, kind in rows(output)} == {"not-found", "no-fragment"}
    assert Counter(paths(server)) == once + once + Counter(["/robots.txt"]), "its rules are asked for each time"
    assert not (tmp_path / "cache.warc").exists()


def test_a_crawl_starts_again_without_resume(server: Nginx, tmp_path: Path) -> None:
    verb = [*OPTIONS, "--cache", str(tmp_path / "cache"), server.uri("/index.html")]
    run("-c", STOPPED, *verb, stored=3)
    before = len(paths(server))
    assert run("-m", "overthere", *verb)[0] == 1
    paths_after = paths(server)[before:]
    assert {"/index.html", "/a.html", "/b.html", "/c.html"} <= set(paths_after)
    assert len(paths_after) == len(set(paths_after))


def test_each_uri_has_an_outcome_when_its_server_dies(server: Nginx) -> None:
    """The server answers a hundred requests, then none."""
    count = 0

    def fault(args: object) -> None:
        nonlocal count
        while data := args.recv(65_536):  # type: ignore[attr-defined]
            assert data.startswith((b"HEAD /", b"GET /"))
            count += 1
            if count > 100:
                return
            args.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")  # type: ignore[attr-defined]

    with faulty(simple(fault)) as dying:
        dead = [f"http://127.0.0.1:{dying.port}/{number}" for number in range(300)]
        alive = [server.uri(f"/a.html?{number}") for number in range(50)]
        with Asker(Checker(online=True, jobs=8, per_host=4), Policy.local()) as asker:
            outcomes = Counter((outcome.uri, outcome.kind) for outcome in asker.ask([*dead, *alive]))
    assert {uri for uri, _ in outcomes} == {*dead, *alive}
    assert set(outcomes.values()) == {1}
    kinds = Counter(kind for uri, kind in outcomes if uri in set(dead))
    # It stops answering, and then gets no more requests.
    assert kinds[None] == 100
    assert kinds["protocol"] + kinds["connect"] == 200
    assert kinds["connect"] > 150
    assert Counter(kind for uri, kind in outcomes if uri in set(alive)) == {None: 50}


def test_each_uri_has_an_outcome_when_nginx_is_killed(tmp_path: Path) -> None:
    folder = tmp_path / "dying"
    (folder / "root").mkdir(parents=True)
    (folder / "root" / "a.html").write_text("<title>t</title>")
    with nginx(folder) as dying:
        uris = [dying.uri(f"/a.html?{number}") for number in range(400)]
        outcomes = []
        with Asker(Checker(online=True, jobs=8, per_host=8), Policy.local()) as asker:
            for outcome in asker.ask(uris):
                outcomes.append(outcome)
                if len(outcomes) == 100:
                    os.killpg(int((folder / "pid").read_text()), signal.SIGKILL)
    assert sorted(outcome.uri for outcome in outcomes) == sorted(uris)
    kinds = Counter(outcome.kind for outcome in outcomes)
    assert kinds.keys() == {None, "connect"}
    assert 100 <= kinds[None] <= 116, "and those whose answers were on the way"


def test_a_terminal_shows_progress_and_speed(server: Nginx, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    page.write_text("".join(f'<a href="{server.uri(f"/a.html?{number}")}">x</a>\n' for number in range(30)))
    command: list[str | Path] = [sys.executable, "-m", "overthere", *OPTIONS, "--online", page]
    terminal, theirs = pty.openpty()
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=theirs) as job:
        os.close(theirs)
        output = b""
        while True:
            try:
                piece = os.read(terminal, 65_536)
            except OSError:  # the end on Linux
                break
            if not piece:
                break
            output += piece
        assert job.stdout is not None
        assert job.stdout.read() == b""
    os.close(terminal)
    assert job.returncode == 0
    assert b"asked" in output
    assert b"30 of 30 URIs" in output
    assert b"/s" in output
