"""A site crawled within its origin: nginx, robots.txt, traps, redirects; what of it leads nowhere."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner

from overthere import Policy
from overthere.broken import Summary, check
from overthere.broken.crawl import REPEATED, Crawl
from overthere.broken.model import Checker
from overthere.broken.outside import Asker
from overthere.cli.app import app
from servers import free_port
from servers.nginx import Nginx, nginx

LOCAL = Policy.local()
SITE = {
    "index.html": '<title>t</title><a href="a.html">a</a> <a href="sub/">s</a> <a href="lost.html">g</a>'
    '<img src="lost.gif"> <a href="a.html#there">t</a> <a href="a.html#nowhere">n</a> <a href="found/">f</a>'
    '<a href="found/#here">f</a> <a href="found/#no">f</a> <a href="moved/">m</a>'
    '<a href="http://elsewhere.example/x">e</a>',
    "a.html": '<title>t</title><p id="there">t</p><a href="index.html">up</a><a href="closed/x.html">p</a>',
    "page.html": '<title>t</title><h1 id="here">h</h1>',
    "sub/index.html": '<title>t</title><base href="/"><a href="b.html">b</a>'
    "<style>p { background: url(lost.png) }</style>",
    "b.html": '<title>t</title><a href="b.html?page=2">next</a>',
    "robots.txt": "User-agent: *\nDisallow: /closed/\n",
}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Nginx]:
    folder = tmp_path_factory.mktemp("nginx")
    for name, text in SITE.items():
        (folder / "root" / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / "root" / name).write_text(text)
    with nginx(folder) as running:
        yield running


def test_a_site_is_crawled_and_what_leads_nowhere_is_told(server: Nginx) -> None:
    start = server.uri("/index.html")
    summary = Summary()
    told = {
        (found.source.removeprefix(server.uri("/")), found.reference, found.kind)
        for found in check([start], Checker(), summary, policy=LOCAL)
    }
    assert told == {
        ("index.html", "lost.html", "not-found"),
        ("index.html", "lost.gif", "not-found"),
        ("index.html", "a.html#nowhere", "no-fragment"),
        ("index.html", "found/#no", "no-fragment"),
        ("index.html", "moved/", "moved-permanently"),
        ("a.html", "closed/x.html", "robots"),
        ("sub/", "lost.png", "not-found"),
    }
    asked = [line[0].split()[1] for line in server.asked()]
    assert len(asked) == len(set(asked)), "each was asked for once, also that to which two redirects lead"
    assert "/closed/x.html" not in asked
    assert "/robots.txt" in asked


def test_the_verb(server: Nginx, tmp_path: Path) -> None:
    options = ["broken", server.uri("/index.html"), "--private", "--format", "jsonl", "--cache", str(tmp_path / "c")]
    done = CliRunner().invoke(app, options)
    assert done.exit_code == 1
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    assert {row["kind"] for row in rows} >= {"not-found", "no-fragment"}
    assert CliRunner().invoke(app, ["broken", server.uri("/index.html")]).exit_code == 1
    for bad in (["--resume"], ["--header", "h:x"], ["--max-age", "ok=soon"], ["--cache", str(tmp_path)]):
        assert CliRunner().invoke(app, [*options[:3], *bad]).exit_code == 2, bad
    assert CliRunner().invoke(app, ["broken", "ftp://h.example/"]).exit_code == 2


def crawled(server: Nginx, **settings: object) -> Crawl:
    checker = Checker(**settings)  # type: ignore[arg-type]
    with Asker(checker, LOCAL) as asker:
        crawl = Crawl([server.uri("/index.html")], asker)
        crawl.run(lambda *_: None)
    return crawl


def test_no_more_pages_than_wanted(server: Nginx) -> None:
    crawl = crawled(server, pages=3, jobs=1)
    assert len(crawl.outcomes) <= 4
    assert crawl.passed["page-limit"]


def test_a_trap_is_left(server: Nginx, tmp_path: Path) -> None:
    crawl = crawled(server, pages=1000)
    uri = server.uri("/" + "again/" * (REPEATED + 1))
    assert crawl._reason(uri, 1) == "trap"
    assert crawl._reason(server.uri("/" + "x" * 3000), 1) == "long"
    assert crawl._reason(server.uri("/y"), 1000) == "deep"


def test_a_site_that_cannot_be_reached_is_told_as_that() -> None:
    """robots.txt is asked for first; that it could not be read is no word of its own (RFC 9309 2.3.1.4)."""
    start = f"http://127.0.0.1:{free_port()}/"
    told = [(one.source, one.kind, one.level) for one in check([start], Checker(), Summary(), policy=LOCAL)]
    assert told == [(start, "connect", "error")]
