"""Project settings: for files and hosts, remapped targets, exclusions, services."""

from __future__ import annotations

import json
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from click.testing import CliRunner, Result

from overthere import Policy, kernel
from overthere.broken import Broken, Checker, Summary, check
from overthere.broken.cache import Cache
from overthere.broken.external import Asker
from overthere.broken.hosts import Hosts
from overthere.broken.model import FileSettings, HostSettings, Outcome
from overthere.broken.report import advice
from overthere.broken.services import ask_archive, ask_github
from overthere.cli.app import app
from servers.faults import faulty, simple

Request = tuple[str, str, dict[str, str]]
"""Method, path and header fields."""


class Server:
    """A server that answers by path, and records its requests."""

    def __init__(self, answer: Callable[[str], tuple[str, str]]) -> None:
        self.answer = answer
        self.seen: list[Request] = []

    def __call__(self, client: socket.socket) -> None:
        while data := client.recv(65_536):
            first, *lines = data.decode("latin-1").split("\r\n")
            method, path, _ = first.split(" ")
            fields = {line.partition(":")[0].lower(): line.partition(":")[2].strip() for line in lines if line}
            self.seen.append((method, path, fields))
            status, body = self.answer(path)
            head, _, content = body.rpartition("\n\n")
            head = "".join(f"{line}\r\n" for line in head.split("\n") if line)
            octets = content.encode()
            text = f"HTTP/1.1 {status}\r\n{head}Content-Length: {len(octets)}\r\n\r\n".encode()
            client.sendall(text + (b"" if method == "HEAD" else octets))


HTML = "Content-Type: text/html\n\n<p id=here>"


def answer(path: str) -> tuple[str, str]:
    if path.startswith("/moved"):
        return "301 Moved", f"Location: /page{path.removeprefix('/moved')}\n\n"
    return ("404 Not Found", "\n\n") if path.startswith("/gone") else ("200 OK", HTML)


@pytest.fixture
def server() -> Iterator[tuple[Server, str]]:
    site_server = Server(answer)
    with faulty(simple(site_server)) as running:
        yield site_server, f"http://127.0.0.1:{running.port}"


@pytest.fixture(params=["native", "reference"])
def kernels(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if request.param == "reference":
        monkeypatch.setattr(kernel, "name", "reference")


def findings(sources: list[Path], policy: Policy | None = None, **settings: Any) -> tuple[list[Broken], Summary]:
    summary = Summary()
    return list(check(list(map(str, sources)), Checker(**settings), summary, policy=policy)), summary


def run(*arguments: str | Path, text: str | None = None, env: dict[str, str] | None = None) -> Result:
    return CliRunner().invoke(app, ["broken", *map(str, arguments)], input=text, env=env)


def write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


# Files


def test_the_anchor_style_of_some_files(tmp_path: Path, kernels: None) -> None:
    for name, anchor in (("mk", "a_1"), ("gh", "a-1")):
        write(tmp_path / name / "x.md", f"## A\n\n## A\n\n[b](#{anchor}) [c](#neither)\n")
    results, _ = findings([tmp_path], anchors="github")
    assert {finding.reference for finding in results} == {"#a_1", "#neither"}
    results, _ = findings([tmp_path], anchors="github", files=(FileSettings("*/mk/*", "mkdocs"),))
    assert [finding.reference for finding in results] == ["#neither", "#neither"]


def test_the_extensions_of_some_files(tmp_path: Path, kernels: None) -> None:
    for folder in ("pretty", "plain"):
        write(tmp_path / folder / "index.html", '<!doctype html><a href="guide"> <a href="nothing">')
        write(tmp_path / folder / "guide.html", "<!doctype html>")
    results, _ = findings([tmp_path], base=("https://h/",), files=(FileSettings("*/pretty/*", None, ("html",)),))
    assert [finding.target for finding in results] == [
        "https://h/plain/guide",
        "https://h/plain/nothing",
        "https://h/pretty/nothing",
    ]


def test_tables_of_files_and_hosts(tmp_path: Path, server: tuple[Server, str]) -> None:
    requests, root = server
    write(tmp_path / "mk" / "x.md", f"## A\n\n## A\n\n[b](#a_1) <{root}/gone>\n")
    config = write(
        tmp_path / "overthere.toml",
        f"""
        [broken]
        anchors = "github"
        [[broken.files]]
        path = "*/mk/*"
        anchors = "mkdocs"
        extension = "html"
        [[broken.host]]
        name = "127.0.0.1"
        accept = [404, "410..411"]
        rate = 100
        per-host = 1
        [[broken.host]]
        name = "{root}"
        header = ["X-Token: ${{TOKEN_OF_TEST}}"]
        [[broken.host]]
        name = "127.*"
        agent = "for these"
        """,
    )
    result = run(tmp_path, "--online", "--private")
    assert (result.exit_code, "name the file with --config" in result.stderr) == (2, True), result.output
    done = run(tmp_path, "--online", "--private", "--config", config, env={"TOKEN_OF_TEST": "abc"})
    assert done.exit_code == 0, done.output
    assert {(fields["x-token"], fields["user-agent"]) for _, _, fields in requests.seen} == {("abc", "for these")}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("files = 1", "each must be a table, which begins with [[broken.files]]"),
        ("[[broken.files]]\nanchors = 'github'", "path is missing"),
        ("[[broken.files]]\npath = 'x'\nanchors = 'none'", "unknown value of anchors"),
        ("[[broken.files]]\npath = 'x'\nextension = [1.5]", "extension must be text"),
        ("[[broken.host]]\nname = 'h'\nspeed = 1", "unknown key speed"),
        ("[[broken.host]]\nname = 'h'\nrate = 0", "rate: 0 is not a valid value"),
        ("[[broken.host]]\nname = 'h'\nrate = nan", "rate: nan is not"),
        ("[[broken.host]]\nname = 'h'\nrate = true", "rate: True is not"),
        ("[[broken.host]]\nname = 'h'\nper-host = 1.5", "per-host: 1.5 is not"),
        ("[[broken.host]]\nname = 'h'\nagent = ['x']", "agent: ['x'] is not"),
        ("[[broken.host]]\nname = 'h'\naccept = 'x'", "--accept x"),
        ("[[broken.host]]\nname = 7", "name is missing, or is not text"),
        ("[[broken.host]]\nname = 'h'\nheader = 'nothing'", "--header"),
    ],
)
def test_invalid_tables(tmp_path: Path, text: str, message: str) -> None:
    config = write(tmp_path / "other.toml", f"[broken]\n{text}")
    result = run(tmp_path, "--config", config)
    assert (result.exit_code, message in result.stderr) == (2, True), result.output


def test_limits_of_hosts() -> None:
    """With a clock that stands still."""
    limits = {"slow": (1, 2.0), "quick": (3, None)}
    hosts: Hosts[int] = Hosts(clock=lambda: 100.0, limits=lambda host: limits[str(host)])
    for number in range(4):
        for name in limits:
            hosts.add(name, number)
    hosts_taken = [host for host, _ in iter(hosts.take, None)]
    assert (hosts_taken.count("slow"), hosts_taken.count("quick")) == (1, 3)
    hosts.release("slow")
    assert (hosts.take(), hosts.pause()) == (None, 0.5)


# Remapped targets


def test_remapped_targets_are_looked_up_at_the_new_place(tmp_path: Path, kernels: None) -> None:
    page = '<!doctype html><a href="https://h.example/v2/b.html"><a href="https://h.example/v2/c.html#x"><a href="https://h.example.evil/">'
    write(tmp_path / "a.html", page)
    write(tmp_path / "b.html", "<!doctype html>")
    results, summary = findings([tmp_path], base=("https://here/",), remap=(("https://h.example/v2", "https://here"),))
    assert [(finding.kind, finding.target) for finding in results] == [("no-document", "https://here/c.html#x")]
    assert (summary.within, summary.outside) == (2, 1)


def test_remapped_to_a_server(tmp_path: Path, server: tuple[Server, str]) -> None:
    requests, root = server
    write(tmp_path / "a.md", "<https://docs.example/gone> <https://docs.example/here>")
    result = run(tmp_path, "--online", "--private", "--remap", f"https://docs.example/ {root}/", "--format", "jsonl")
    assert [json.loads(line)["target"] for line in result.stdout.splitlines()] == [f"{root}/gone"]
    assert {path for _, path, _ in requests.seen} == {"/gone", "/here"}


def test_a_permanent_redirect_has_its_target_as_suggestion(tmp_path: Path, server: tuple[Server, str]) -> None:
    """Not if the reference was remapped: the target would name the server of the check."""
    _, root = server
    write(tmp_path / "a.md", f"<{root}/moved/x#here> <https://docs.example/moved>")
    results, _ = findings([tmp_path], Policy.local(), online=True, remap=(("https://docs.example", root),))
    assert [(finding.kind, finding.suggestion, finding.certainty) for finding in results] == [
        ("moved-permanently", f"{root}/page/x#here", "certain"), ("moved-permanently", None, None),
    ]  # fmt: skip


@pytest.mark.parametrize("text", ["", "http://a/", "http://a/ http://b/ http://c/", "a b", "http://a/ b"])
def test_invalid_pairs(tmp_path: Path, text: str) -> None:
    assert run(tmp_path, "--remap", text).exit_code == 2


def test_the_root_of_references_that_begin_with_a_slash(
    tmp_path: Path, kernels: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path / "site" / "css" / "a.css", "")
    write(
        tmp_path / "site" / "docs" / "x.html",
        '<!doctype html><a href="/css/a.css"><a href="/css/../../../etc/passwd"><a href="/no#x">'
        '<a href="//h/css/a.css"><a href="/docs/x.html?q#n">',
    )
    monkeypatch.chdir(tmp_path)
    root = str(tmp_path / "site")
    results, summary = findings([tmp_path / "site" / "docs"], root=root)
    assert [(finding.kind, finding.reference) for finding in results] == [
        ("no-document", "/css/../../../etc/passwd"), ("no-document", "/no#x"), ("no-fragment", "/docs/x.html?q#n"),
    ]  # fmt: skip
    assert results[0].target is not None
    assert results[0].target.endswith("/site/etc/passwd")
    assert (summary.within, summary.outside) == (4, 1)
    results, summary = findings([tmp_path / "site" / "docs"])
    notes = [finding.why for finding in results if finding.kind == "base-missing"]
    assert notes == ["4 references with / at the beginning; the root is unknown: name it by --base or --root-dir"]
    assert summary.passed["root"] == 4
    monkeypatch.chdir(tmp_path / "site" / "docs")
    assert len(findings([tmp_path / "site" / "docs"], root=root)[0]) == 3
    assert run("x.html", "--root-dir", "..").exit_code == 1
    assert run("x.html", "--root-dir", "..", "--base", "https://h/").exit_code == 2


# Sources


def test_a_list_of_uris_on_standard_input(server: tuple[Server, str]) -> None:
    _, root = server
    text = f"# a comment\r\n{root}/here\r\n\r\n  {root}/gone  \nhttp://h/a b\nhttp://[x/\n{root}/here#here\n{root}/here#no\n"
    result = run("-", "--online", "--private", "--format", "jsonl", text=text)
    rows = [json.loads(line) for line in result.stdout.splitlines()]
    assert [(row["source"], row["line"], row["kind"]) for row in rows if "h/a" not in row["reference"]] == [
        ("-", 4, "not-found"), ("-", 6, "invalid"), ("-", 8, "no-fragment"),
    ]  # fmt: skip
    assert "6 references" in result.stderr
    assert result.exit_code == 1


def test_a_list_may_name_documents_of_the_sources(tmp_path: Path) -> None:
    write(tmp_path / "a.html", '<!doctype html><p id="x">')
    text = "https://h/a.html#x\nhttps://h/a.html#y\nhttps://h/b.html\n"
    result = run(tmp_path, "-", "--base", "https://h/", "--format", "jsonl", text=text)
    assert [json.loads(line)["kind"] for line in result.stdout.splitlines()] == ["no-fragment", "no-document"]


def test_only_line_ends_end_a_uri_of_a_list() -> None:
    """Not the other characters that `str.splitlines` splits at: each is a fault with its place."""
    chars = "\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029"
    result = run("-", "--format", "jsonl", text="".join(f"http://h/{char}x\r\n" for char in chars))
    rows = [json.loads(line) for line in result.stdout.splitlines()]
    invalid = [row["line"] for row in rows if row["kind"] == "invalid"]
    assert invalid == [1, 2, 3, 4, 5, 6]
    assert f"{len(chars)} references" in result.stderr


def test_a_long_reference_is_shortened(tmp_path: Path) -> None:
    result = run("-", text="x" * 100_000)
    assert (result.exit_code, len(result.stdout) < 2000) == (1, True)
    rows = run("-", "--format", "jsonl", text="x" * 100_000)
    assert json.loads(rows.stdout)["reference"] == "x" * 100_000


@pytest.mark.parametrize("text", ["", "\n\n#\n", "\0\0\0", "x" * 100_000, "<html><a href=x>"])
def test_invalid_lists(text: str) -> None:
    result = run("-", text=text)
    assert result.exit_code in (0, 1, 2), result.output
    assert result.exception is None or isinstance(result.exception, SystemExit)


def test_patterns_of_files(tmp_path: Path) -> None:
    for name in ("a.html", "sub/b.html", "sub/deep/c.html", "sub/d.txt", "[x].html"):
        write(tmp_path / name, '<!doctype html><a href="no.html">')
    result = run(f"{tmp_path}/**/*.html", "--format", "jsonl")
    assert [Path(json.loads(line)["source"]).name for line in result.stdout.splitlines()] == [
        "[x].html",
        "a.html",
        "b.html",
        "c.html",
    ]
    assert "[x].html" in run(f"{tmp_path}/[x].html", "--format", "jsonl").stdout
    for name in ("*.nothing", "a**b", "***", "[", "?/**/["):
        result = run(f"{tmp_path}/{name}")
        assert (result.exit_code, f"{name}: there is no such file" in result.stderr) == (2, True), name


def test_a_missing_anchor_of_another_site_has_no_local_suggestion(tmp_path: Path, server: tuple[Server, str]) -> None:
    _, root = server
    write(tmp_path / "a.md", f"<{root}/page#Start>")
    write(tmp_path / "z.html", '<!doctype html><p id="start">')
    results, _ = findings([tmp_path], Policy.local(), online=True)
    assert [(finding.kind, finding.suggestion) for finding in results] == [("no-fragment", None)]


def test_suggestions_have_the_form_of_the_reference(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "site" / "guide.html", "<!doctype html>")
    write(
        tmp_path / "site" / "a" / "x.html",
        '<!doctype html><a href="/Guide.html"><a href="https://w.example/Guide.html">',
    )
    site = str(tmp_path / "site")
    results, _ = findings([tmp_path / "site"], root=site, remap=(("https://w.example", f"file://{site}"),))
    assert [(one.kind, one.suggestion) for one in results] == [("wrong-case", "/guide.html"), ("wrong-case", None)]


# Exclusions


def test_the_option_external_only(tmp_path: Path, server: tuple[Server, str]) -> None:
    _, root = server
    write(tmp_path / "a.html", f'<!doctype html><a href="no.html"><a href="{root}/gone"><a href="{root}/here#no">')
    result = run(tmp_path, "--online", "--private", "--external-only", "--format", "jsonl")
    assert [json.loads(line)["kind"] for line in result.stdout.splitlines()] == ["not-found", "no-fragment"]
    assert "1  findings within the sources (--external-only)" in result.stderr
    assert run(tmp_path, "--external-only").exit_code == 2


def test_nofollow_links_can_be_skipped(tmp_path: Path, kernels: None) -> None:
    page = '<!doctype html><a rel="external NoFollow" href="x"><a rel="nofollower" href="x">'
    page += '<a href="x"><link rel="nofollow" href="x">'
    write(tmp_path / "a.html", page)
    assert len(findings([tmp_path])[0]) == 4
    results, summary = findings([tmp_path], skip_nofollow=True)
    assert (len(results), summary.passed["nofollow"]) == (3, 1)


def test_allowed_redirects(tmp_path: Path, server: tuple[Server, str]) -> None:
    _, root = server
    write(tmp_path / "a.md", f"<{root}/moved/x> <{root}/moved/y>")
    result = run(tmp_path, "--online", "--private", "--format", "jsonl")
    assert result.stdout.count("moved-permanently") == 2
    done = run(tmp_path, "--online", "--private", "--format", "jsonl", "--allow-redirect", "*/moved/x */page/*")
    assert [json.loads(line)["reference"] for line in done.stdout.splitlines()] == [f"{root}/moved/y"]


def test_excluded_fragments_are_not_checked(tmp_path: Path, server: tuple[Server, str]) -> None:
    requests, root = server
    write(tmp_path / "a.md", f"<{root}/page#L10>")
    result = run(tmp_path, "--online", "--private", "--exclude", "*#L*", "--format", "jsonl")
    assert (result.exit_code, result.stdout, [method for method, *_ in requests.seen]) == (0, "", ["HEAD"])


# Services


def failed(uri: str, kind: str | None, status: int | None = None) -> Outcome:
    return Outcome(uri, kind, status, "", None, False, (), 0.0, False)


def test_repositories_are_looked_up_by_the_api() -> None:
    replies = {"/repos/o/there": "200 OK", "/repos/o/renamed": "301 Moved", "/repos/o/private.x": "200 OK"}

    def api(path: str) -> tuple[str, str]:
        return replies.get(path, "404 Not Found"), "Content-Type: application/json\nLocation: /repositories/1\n\n{}"

    site_server = Server(api)
    with faulty(simple(site_server)) as running:
        root = f"http://127.0.0.1:{running.port}"
        outcomes = [
            failed("https://github.com/o/there", "rate-limited", 429), failed("http://github.com/o/there/", "dns"),
            failed("https://github.com/o/renamed/", "dns"),
            failed("http://www.github.com/o/private.x.git", "not-found", 404),
            failed("https://github.com/o/lost", "programs-refused", 403),
            failed("https://github.com/o/there/issues", "rate-limited", 429), failed("https://github.com/o/ok", None),
            failed("https://github.com.evil/o/there", "dns"),
            *(failed(f"https://github.com/{page}/o", "rate-limited", 429) for page in ("Sponsors", "orgs", "topics")),
        ]  # fmt: skip
        checker = Checker(online=True, github=("s3cret", root))
        with Asker(checker, Policy.local()) as asker:
            outcomes_by_uri = {outcome.uri: outcome.kind for outcome in ask_github(outcomes, root, asker.asking)}
    assert outcomes_by_uri == {
        "https://github.com/o/there": None, "http://github.com/o/there/": None,
        "https://github.com/o/renamed/": None,
        "http://www.github.com/o/private.x.git": None, "https://github.com/o/lost": "not-found",
    }  # fmt: skip
    assert {fields.get("authorization") for _, _, fields in site_server.seen} == {"Bearer s3cret"}
    assert {method for method, *_ in site_server.seen} == {"GET"}


def test_the_token_is_sent_to_the_api_only(tmp_path: Path, server: tuple[Server, str]) -> None:
    requests, root = server
    write(tmp_path / "a.md", f"<{root}/gone>")
    result = run(tmp_path, "--online", "--private", env={"GITHUB_TOKEN": "s3cret"})
    assert result.exit_code == 1
    assert "s3cret" not in result.output
    assert all("authorization" not in fields for _, _, fields in requests.seen)
    write(tmp_path / "overthere.toml", '[broken]\ngithub-api = "http://127.0.0.1/"\n')
    assert run(tmp_path).exit_code == 2


COPY = {"available": True, "url": "http://web.archive.org/web/2019/http://h.example/x", "status": "200"}
ARCHIVE: dict[str, tuple[str, str | None]] = {
    "copy": (
        json.dumps({"archived_snapshots": {"closest": COPY}}),
        "https://web.archive.org/web/2019/http://h.example/x",
    ),
    "none": ('{"archived_snapshots": {}}', None),
    "not": (json.dumps({"archived_snapshots": {"closest": {**COPY, "available": "yes"}}}), None),
    "script": (json.dumps({"archived_snapshots": {"closest": {**COPY, "url": "javascript:alert(1)"}}}), None),
    "number": (json.dumps({"archived_snapshots": {"closest": {**COPY, "url": 7}}}), None),
    "login": (json.dumps({"archived_snapshots": {"closest": {**COPY, "url": "http://u:p@web.archive.org/"}}}), None),
    "long": (json.dumps({"archived_snapshots": {"closest": {**COPY, "url": f"http://h/{'a' * 100_000}"}}}), None),
    "list": ("[]", None),
    "deep": ("[" * 100_000, None),
    "empty": ("", None),
    "octets": ("\x00\xff", None),
}


def test_copies_in_a_web_archive() -> None:
    def archive(path: str) -> tuple[str, str]:
        uri = parse_qs(urlsplit(path).query)["url"][0]
        return "200 OK", f"Content-Type: application/json\n\n{ARCHIVE[uri.rpartition('/')[2]][0]}"

    site_server = Server(archive)
    with faulty(simple(site_server)) as running:
        root = f"http://127.0.0.1:{running.port}/wayback/available"
        outcomes = [failed(f"http://h.example/{name}", "not-found", 404) for name in ARCHIVE]
        outcomes += [
            failed("http://h.example/well", None), failed("http://h.example/busy", "rate-limited"),
            failed("http://user:pass@h.example/", "gone"), failed("ftp://h.example/", "not-found"),
        ]  # fmt: skip
        with Asker(Checker(online=True), Policy.local()) as asker:
            copies = {outcome.uri: outcome.archived for outcome in ask_archive(outcomes, root, asker.asking)}
    assert copies == {f"http://h.example/{name}": copy for name, (_, copy) in ARCHIVE.items() if copy is not None}
    assert len(site_server.seen) == len(ARCHIVE)


def test_a_copy_is_suggested_and_never_written(tmp_path: Path, server: tuple[Server, str]) -> None:
    _, root = server
    write(tmp_path / "a.md", f"<{root}/gone>")
    archive = Server(lambda path: ("200 OK", f"Content-Type: application/json\n\n{ARCHIVE['copy'][0]}"))
    with faulty(simple(archive)) as running:
        api = f"http://127.0.0.1:{running.port}/"
        results, summary = findings([tmp_path], Policy.local(), online=True, wayback=api)
    assert [(finding.kind, finding.certainty) for finding in results] == [("not-found", "archived")]
    assert advice(results[0]) == f"Archived copy: {ARCHIVE['copy'][1]}"
    assert summary.asked == 2
    assert run(tmp_path, "--wayback").exit_code == 2


# The cache


def test_outcomes_with_a_login_are_cached_separately(tmp_path: Path) -> None:
    def asker(token: str | None) -> Asker:
        headers = () if token is None else (("https://h.example", "Authorization", token),)
        return Asker(Checker(online=True, cache=str(tmp_path / "cache"), headers=headers), Policy.local())

    def known(token: str | None, uri: str) -> list[str | None]:
        with asker(token) as client:
            return [outcome.kind for outcome in client.cache.valid_outcomes({uri: ()})]

    with asker("a") as client, closing(client.cache) as cache:
        assert isinstance(cache, Cache)
        for uri in ("https://h.example/x", "https://other.example/"):
            cache.keep(failed(uri, None, 200)._replace(checked=time.time()), ())
    assert [known(token, "https://h.example/x") for token in ("a", "b", None)] == [[None], [], []]
    assert [known(token, "https://other.example/") for token in ("a", "b", None)] == [[None]] * 3
    assert b"Authorization" not in (tmp_path / "cache").read_bytes()


def test_several_matching_settings_of_a_host() -> None:
    from overthere.broken.filters import host_settings

    tables = (HostSettings("*.example", rate=1.0), HostSettings("*", ((404, 404),), rate=5.0, agent="x"))
    assert host_settings(Checker(hosts=tables, per_host=4), "a.example") == ("", ((404, 404),), 1.0, 4, "x")
    assert host_settings(Checker(rate=3.0), "a.example") == ("", (), 3.0, 2, None)
