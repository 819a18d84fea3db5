"""`overthere get` with loopback servers, standard output, files and terminals."""

from __future__ import annotations

import json
import os
import select
import signal
import socketserver
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import fields
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from overthere.access.policy import Policy
from overthere.cli.app import app
from overthere.cli.policies import _FIELDS
from servers import NET, free_port, is_idle, running, wait_until
from servers.slapd import PHOTO, slapd
from support import ROOT

pty = pytest.importorskip("pty", reason="pseudo-terminals exist on POSIX only")

COMMAND = [sys.executable, "-m", "overthere", "get"]
ENVIRONMENT = {**os.environ, "COLUMNS": "100", "PYTHONPATH": str(ROOT / "src"), "PYTHONIOENCODING": "utf-8"}
ENVIRONMENT.pop("NNTPSERVER", None)

CONTROLS = b"one \x1b[31mred\x1b]0;title\x07\r\ntwo\rthree \xe2\x80\xae tail\ttab"
BINARY = bytes(range(256)) * 40


class Answers(BaseHTTPRequestHandler):
    """The server's answers."""

    asked: list[tuple[str, str | None]]
    over: threading.Event
    """Set at the end of the test."""

    def do_GET(self) -> None:
        self.asked.append((self.path, self.headers["Authorization"]))
        path = self.path.partition("?")[0]
        if path == "/to":
            self.send_response(302)
            self.send_header("Location", "/pub/there.txt")
            self.send_header("Content-Length", "0")
            self.end_headers()
        elif path == "/stolen":
            self.send_response(302)
            self.send_header("Location", "/..%2F..%2Fevil.sh")
            self.end_headers()
        elif path == "/file":
            self.send_response(302)
            self.send_header("Location", "file:///etc/hostname")
            self.end_headers()
        elif path == "/broken":
            self._give(b"only this", 1000)
        elif path == "/slow":
            self._give(b"begun", 1000)
            self.wfile.flush()
            self.over.wait(NET)
        elif path == "/large":
            self._give(b"x" * 3_000_000, 6_000_000)
            self.wfile.flush()
            time.sleep(0.6)
            self.wfile.write(b"y" * 3_000_000)
        elif path == "/none":
            self.send_error(404)
        else:
            contents = {"/binary": BINARY, "/controls": CONTROLS, "/latin": "Gr\u00fc\u00dfe\n".encode("latin-1")}
            self._give(contents.get(path, b"hello there\n"))

    def _give(self, body: bytes, length: int | None = None) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/plain")
        self.send_header("Content-Length", str(len(body) if length is None else length))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        pass


class Web:
    def __init__(self, port: int, requests: list[tuple[str, str | None]]) -> None:
        self.base = f"http://127.0.0.1:{port}"
        self.asked = requests


@pytest.fixture
def web() -> Iterator[Web]:
    requests: list[tuple[str, str | None]] = []
    over = threading.Event()
    with ThreadingHTTPServer(("127.0.0.1", 0), type("Mine", (Answers,), {"asked": requests, "over": over})) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        try:
            yield Web(server.server_port, requests)
        finally:
            over.set()
            server.shutdown()
            thread.join()


@pytest.fixture
def ftp(tmp_path: Path) -> Iterator[tuple[str, Path]]:
    """pyftpdlib with a user and a password: the URI of its root, and its log."""
    root = tmp_path / "pub"
    (root / "folder").mkdir(parents=True)
    (root / "a b.bin").write_bytes(b"a file\n")
    (root / "odd\x1b[31m").write_bytes(b"")
    port, log = free_port(), tmp_path / "ftp.log"
    command = [sys.executable, "-m", "pyftpdlib", "-i", "127.0.0.1", "-p", str(port), "-d", str(root), "-D"]
    with running([*command, "-u", "joe", "-P", "s3cret"], port, log):
        yield f"127.0.0.1:{port}", log


def process(*arguments: str | Path, stdin: bytes = b"", **environment: str) -> subprocess.CompletedProcess[bytes]:
    """The command in a process, without a terminal."""
    return subprocess.run(
        [*COMMAND, *map(str, arguments)],
        input=stdin,
        capture_output=True,
        env={**ENVIRONMENT, **environment},
        timeout=NET,
        check=False,
        start_new_session=True,
    )


def get(
    *arguments: str | Path, stdin: bytes = b"", columns: int = 100, **environment: str
) -> subprocess.CompletedProcess[bytes]:
    """The command in this process; exceptions are raised here."""
    runner = CliRunner(env={"COLUMNS": str(columns), "NNTPSERVER": None, **environment}, catch_exceptions=False)
    result = runner.invoke(app, ["get", *map(str, arguments)], stdin, prog_name="overthere")
    return subprocess.CompletedProcess(arguments, result.exit_code, result.stdout_bytes, result.stderr_bytes)


def on_terminal(
    *arguments: str | Path, out: Path | None = None, typed: bytes = b"", prompt: bytes = b"Password"
) -> tuple[int, bytes]:
    """Run with a pseudo-terminal as standard input and error, and output unless `out`; return what the terminal got."""
    controller, terminal = pty.openpty()
    with open(out, "wb") if out else os.fdopen(os.dup(terminal), "wb") as stdout:
        work = subprocess.Popen(
            [*COMMAND, *map(str, arguments)],
            stdin=terminal,
            stdout=stdout,
            stderr=terminal,
            env={**ENVIRONMENT, "TERM": "xterm"},
            start_new_session=True,
        )
    os.close(terminal)
    output, until = b"", time.monotonic() + NET
    try:
        while time.monotonic() < until:
            if not select.select([controller], [], [], 0.5)[0]:
                continue
            try:
                piece = os.read(controller, 65536)
            except OSError:  # Linux: the other side is closed
                break
            if not piece:
                break
            output += piece
            if typed and prompt in output:
                os.write(controller, typed)
                typed = b""
        return work.wait(NET), output
    finally:
        os.close(controller)
        if work.poll() is None:
            work.kill()
            work.wait()


# -- to standard output


def test_content_is_printed_unchanged(web: Web) -> None:
    for path, content in (("/a", b"hello there\n"), ("/binary", BINARY), ("/controls", CONTROLS)):
        result = process(web.base + path)
        assert (result.returncode, result.stdout, result.stderr) == (0, content, b"")


def test_several_uris_and_standard_input(web: Web) -> None:
    result = get("data:,a%0A", web.base + "/a", "data:,b")
    assert (result.returncode, result.stdout) == (0, b"a\nhello there\nb")
    assert process(stdin=b"data:,a\r\ndata:,b\n").stdout == b"ab"


def test_an_error_does_not_stop_the_next_uri(web: Web) -> None:
    result = process("http://h:x/", web.base + "/none", "data:,end")
    assert (result.returncode, result.stdout) == (1, b"end")
    assert b"http://h:x/\n" in result.stderr
    assert b"404 Not Found" in result.stderr


# arguments; exit status; a part of standard error
REFUSED = [
    (["http://h:8o/"], 1, "^"),
    (["urn:example:a"], 1, "urn:example:a"),
    (["nosuch://h/"], 1, "nosuch"),
    (["gopher://h/0a%0Db"], 1, "selector holds a carriage return"),
    (["ftp://joe:s3cret@127.0.0.1:1/"], 2, "Connection refused"),
    (["--safe", "http://127.0.0.1:8000/"], 1, "127.0.0.1 is loopback (RFC 3986 7.4; http://127.0.0.1:8000/)"),
    (["--safe", "file:///etc/hostname"], 1, "RFC 3986 7.4; file:///etc/hostname"),
    (["--safe", "ftp://192.0.2.1:80/"], 1, "port 80 is reserved"),
    (["--policy", str(ROOT / "no such file"), "data:,a"], 2, "no such file: No such file or directory"),
    (["--gateways", str(ROOT / "README.md"), "data:,a"], 2, "--gateways"),
    (["--gateways", "no such file", "data:,a"], 2, "no such file"),
    (["--timeout", "0", "data:,a"], 2, "--timeout"),
    (["--password", "s3cret", "data:,a"], 2, "No such option"),
    (["--user", "joe", "http://h1/", "http://h2/"], 2, "one server"),
    (["-o", "no-folder", "data:,a", "data:,b"], 2, "not a folder"),
    (["-o", "no-folder/a", "data:,a"], 2, "No such file or directory"),
]


@pytest.mark.parametrize(("arguments", "status", "message"), REFUSED, ids=[" ".join(row[0]) for row in REFUSED])
def test_rejected_arguments(arguments: list[str], status: int, message: str) -> None:
    result = get(*arguments)
    assert (result.returncode, result.stdout) == (status, b""), result.stderr
    assert message in result.stderr.decode()
    assert b"s3cret" not in result.stderr or arguments[0] == "--password"


def test_errors_are_lines_or_json_objects(web: Web) -> None:
    result = get(web.base + "/none")
    assert result.stderr.decode() == f"404 Not Found (RFC 9110 15; {web.base}/none)\n"
    result = get("--format", "jsonl", "ftp://joe:s3cret@127.0.0.1:1/")
    row = json.loads(result.stdout)
    assert row["uri"] == "ftp://joe:***@127.0.0.1:1/"
    assert row["error"]["kind"] == "AccessFailed"
    assert row["error"]["where"] == "connect 127.0.0.1 1"
    assert b"s3cret" not in result.stdout + result.stderr


def test_limits_of_size_and_time(web: Web) -> None:
    assert get("--max-bytes", "5000", web.base + "/binary").returncode == 2
    assert get("--max-bytes", "50000", web.base + "/binary").stdout == BINARY
    result = get("--max-bytes", "5000", web.base + "/binary")
    # From the head, or from the content that came with it: the server may send both at once.
    assert b"more than 5,000" in result.stderr
    assert b"; set Policy.max_bytes or --max-bytes" in result.stderr
    result = get("--max-time", "0.3", web.base + "/slow")
    assert result.returncode == 2
    assert b"not finished within 0.3 s; set Policy.total_timeout or --max-time" in result.stderr
    for unbounded in ("0", "none"):
        assert get("--max-bytes", unbounded, "--max-time", unbounded, web.base + "/binary").stdout == BINARY
    for option, value in (("--max-time", "-1"), ("--max-time", "nan"), ("--max-bytes", "1.5"), ("--max-bytes", "much")):
        result = get(option, value, web.base + "/binary")
        assert result.returncode == 2
        assert f"{value!r} is not a valid limit" in result.stderr.decode()
    result = get("--timeout", "3", web.base + "/slow")
    assert (result.returncode, result.stdout) == (2, b"begun")
    assert b"no data for 3.0 s" in result.stderr


def fetch(folder: Path, policy: str, *arguments: str) -> Any:
    (folder / "policy.toml").write_text(policy, "utf-8")
    return get("--policy", folder / "policy.toml", *arguments)


def test_a_policy_file(web: Web, tmp_path: Path) -> None:
    assert fetch(tmp_path, "max_redirects = 0", web.base + "/to").returncode == 1
    assert fetch(tmp_path, "max_redirects = 1", web.base + "/to").stdout == b"hello there\n"
    response = fetch(tmp_path, 'redirects = ["https"]', web.base + "/to")
    assert response.returncode == 1
    assert b"add 'http' to Policy.redirects" in response.stderr
    assert fetch(tmp_path, 'redirects = ["HTTP"]', web.base + "/to").stdout == b"hello there\n"
    assert fetch(tmp_path, "max_bytes = 5000", web.base + "/binary").returncode == 2
    assert fetch(tmp_path, "max_bytes = 5000", "--max-bytes", "none", web.base + "/binary").stdout == BINARY
    assert fetch(tmp_path, "max_bytes = 0", web.base + "/binary").stdout == BINARY
    assert b"192.0.2.1 is" in fetch(tmp_path, "ports = [80]", "--safe", "ftp://192.0.2.1:80/").stderr
    assert fetch(tmp_path, "private = true", "--safe", web.base + "/to").returncode == 0
    proxied = f'proxy = {{ http = "{web.base}" }}'
    assert fetch(tmp_path, proxied, "http://nowhere.example/a?b").stdout == b"hello there\n"


WRONG = {
    "a = 1": "line 1: unknown field 'a'; known: schemes, hosts, ",
    "'' = 1": "unknown field ''; known: schemes, hosts, ",
    "\n[hosts]": "line 2: hosts must be a list of strings, not {}",
    "ports = ['80']": "line 1: ports must be a list of numbers, not ['80']",
    "private = 1": "line 1: private must be true or false, not 1",
    "max_redirects = true": "line 1: max_redirects must be a number, not True",
    "read_timeout = nan": "line 1: read_timeout must be a number of seconds, not nan",
    "max_bytes = -1": "line 1: max_bytes must be a number of octets, not -1",
    "nat64 = ['192.0.2.0/24']": "line 1: nat64: ",
    "tls = 'policy.toml'": "line 1: tls: ",
    "spoken = [['ldap', 1]]": "line 1: spoken must be a table of scheme = port",
    "private =": "Invalid value (at end of document)",
}


@pytest.mark.parametrize("text", WRONG)
def test_an_invalid_policy_file(text: str, tmp_path: Path) -> None:
    response = fetch(tmp_path, text, "data:,a")
    assert (response.returncode, response.stdout) == (2, b"")
    assert f"policy.toml: {WRONG[text]}" in response.stderr.decode()


def test_every_field_of_a_policy_can_be_in_a_file() -> None:
    assert set(_FIELDS) == {field.name for field in fields(Policy)}


def test_the_help_shows_the_limits() -> None:
    text = " ".join(get("--help").stdout.decode().split())
    assert (
        "Overall time limit in seconds, redirects and download included (default: 3,600); 0 or none: unlimited." in text
    )
    assert "Receive at most this many octets (default: 17,179,869,184); 0 or none: unlimited." in text


def test_a_server_cannot_redirect_to_files(web: Web) -> None:
    result = get(web.base + "/file")
    assert (result.returncode, result.stdout) == (1, b"")


# -- metadata


def test_plan_only_shows_the_plan(web: Web, tmp_path: Path) -> None:
    result = get("--plan", "-o", tmp_path / "a", web.base + "/a")
    assert b"  2  send GET /a HTTP/1.1" in result.stdout
    assert not web.asked
    assert not list(tmp_path.iterdir())
    assert json.loads(get("--plan", "--format", "jsonl", "--user", "joe", "ftp://h/a").stdout)["steps"]


def test_the_option_head(web: Web) -> None:
    lines = get("--head", web.base + "/to").stdout.decode().splitlines()
    assert lines[:4] == [
        f"{web.base}/pub/there.txt",
        f"  from        {web.base}/to",
        "  media type  text/plain (server)",
        "  length      12 octets",
    ]


def test_metadata_as_json(web: Web) -> None:
    for arguments in (["--format", "jsonl"], ["--format", "jsonl", "--head"]):
        row = json.loads(get(*arguments, web.base + "/to#x").stdout)
        assert row["uri"] == web.base + "/to#x"
        assert (row["final"], row["history"]) == (web.base + "/pub/there.txt#x", [web.base + "/to#x"])
        assert (row["media_type"], row["how"], row["length"], row["listing"]) == ("text/plain", "server", 12, False)
        assert row["details"]["status"] == 200
        assert ["Content-Length", "12"] in row["details"]["headers"]


def test_the_option_edition() -> None:
    assert get("--edition", "url-1994", "URL:data:,a").returncode in (0, 1)


def test_the_edition_does_not_change_the_content(web: Web) -> None:
    row = json.loads(get("--edition", "url-1994", "--format", "jsonl", "URL:" + web.base + "/to").stdout)
    assert row["final"] == web.base + "/pub/there.txt"


def test_the_option_news_server(tmp_path: Path) -> None:
    options = ["--plan", "--format", "jsonl"]
    for result in (
        fetch(tmp_path, 'news_server = "n.example:8119"', *options, "news:a.b"),
        get(*options, "news:a.b", NNTPSERVER="n.example:8119"),
    ):
        steps = json.loads(result.stdout)["steps"]
        assert (steps[0]["host"], steps[0]["port"]) == ("n.example", 8119)


def test_the_option_proxy(web: Web) -> None:
    result = get("--proxy", web.base, "http://nowhere.example/a?b")
    assert (result.returncode, result.stdout) == (0, b"hello there\n")
    assert [path for path, _ in web.asked] == ["http://nowhere.example/a?b"]
    assert get("http://nowhere.example/", http_proxy=web.base).returncode == 2  # not from the environment


# -- to a file


def test_to_a_file(web: Web, tmp_path: Path) -> None:
    target = tmp_path / "a.bin"
    result = get("-o", target, web.base + "/binary")
    assert (result.returncode, result.stdout, target.read_bytes()) == (0, b"", BINARY)
    assert result.stderr.decode() == f"{target}: {len(BINARY):,} octets, text/plain\n"
    assert [p.name for p in tmp_path.iterdir()] == ["a.bin"]
    result = get("-o", target, web.base + "/a")
    assert (result.returncode, target.read_bytes()) == (2, BINARY)
    assert result.stderr.decode() == f"{target}: File exists; --force replaces it\n"
    result = get("-o", target, "--force", "--format", "jsonl", web.base + "/a")
    assert (result.returncode, target.read_bytes()) == (0, b"hello there\n")
    row = json.loads(result.stdout)
    assert (row["saved"], row["octets"], row["media_type"]) == (str(target), 12, "text/plain")
    assert get("-o", "/dev/null", web.base + "/a").returncode == 0
    assert Path("/dev/null").is_char_device()


def test_to_a_folder_with_safe_names(web: Web, tmp_path: Path) -> None:
    paths = ["/x/a%20b.bin?q=/..", "/", "/..%2F..%2Fup", "/%2e%2e", "/.hidden", "/-rf", "/C%3A%5Ccon", "/nul.txt"]
    folder = tmp_path / "folder"
    folder.mkdir()
    result = get("-o", folder, *(web.base + path for path in [*paths, "/stolen", "/e%00%0A%1B%E2%80%AEe"]))
    names = {"a b.bin", "index", "_.._up", "hidden", "rf", "C__con", "_nul.txt", "stolen", "e____e"}
    assert {p.name for p in folder.iterdir()} == names
    # "/" and "/%2e%2e" give no name: the second does not overwrite the first.
    assert result.returncode == 2
    assert b"another of these URIs has the same file name" in result.stderr
    assert list(tmp_path.iterdir()) == [folder]


def test_a_broken_transfer_leaves_no_file(web: Web, tmp_path: Path) -> None:
    target = tmp_path / "a"
    target.write_bytes(b"before")
    for arguments in ([], ["--force"]):
        result = get(*arguments, "-o", target, web.base + "/broken")
        assert result.returncode == 2
        assert [(p.name, p.read_bytes()) for p in tmp_path.iterdir()] == [("a", b"before")]
    assert b"9 of 1,000 octets arrived before the end" in result.stderr
    result = get("--force", "--keep-partial", "-o", target, web.base + "/broken")
    (part,) = tmp_path.glob("a.*.part")
    assert (result.returncode, part.read_bytes(), target.read_bytes()) == (2, b"only this", b"before")
    assert str(part) in result.stderr.decode()


def test_ctrl_c(web: Web, tmp_path: Path) -> None:
    work = subprocess.Popen(
        [*COMMAND, "-o", str(tmp_path / "a"), web.base + "/slow"], stderr=subprocess.PIPE, env=ENVIRONMENT
    )
    wait_until(
        lambda: list(tmp_path.glob("*.part")) and is_idle(work.pid), "no part of the file, whose rest it waits for"
    )
    work.send_signal(signal.SIGINT)
    _, errors = work.communicate(timeout=NET)
    assert (work.returncode, errors) == (130, b"Stopped\n")
    assert not list(tmp_path.iterdir())


def test_a_closed_pipe(web: Web) -> None:
    work = subprocess.Popen(
        [*COMMAND, web.base + "/large"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=ENVIRONMENT
    )
    assert work.stdout is not None
    work.stdout.close()
    assert work.stderr is not None
    assert b"Traceback" not in work.stderr.read()
    work.stderr.close()
    assert work.wait(NET) == 1


# -- listings


def test_a_listing_for_people_and_programs(ftp: tuple[str, Path]) -> None:
    server, _ = ftp
    result = get(f"ftp://joe:s3cret@{server}/", columns=60)
    text = result.stdout.decode()
    lines = text.splitlines()
    assert result.returncode == 0, result.stderr
    assert any(line.endswith(f"a b.bin   ftp://joe@{server}/a%20b.bin") for line in lines), text
    assert any(f"odd\ufffd[31m  ftp://joe@{server}/odd%1B%5B31m" in line for line in lines), text
    assert len({line.index("ftp://") for line in lines}) == 1
    result = get("--format", "jsonl", f"ftp://joe:s3cret@{server}/")
    rows = {row["name"]: row for row in map(json.loads, result.stdout.splitlines())}
    assert set(rows) == {"folder", "a b.bin", "odd\x1b[31m"}
    assert rows["a b.bin"]["listing"] == f"ftp://joe:***@{server}/"
    assert b"s3cret" not in result.stdout


def test_a_listing_to_a_file(ftp: tuple[str, Path], tmp_path: Path) -> None:
    server, _ = ftp
    path = tmp_path / "list.jsonl"
    result = get("--format", "jsonl", "-o", path, f"ftp://joe:s3cret@{server}/")
    assert {json.loads(line)["name"] for line in path.read_text().splitlines()} == {"folder", "a b.bin", "odd\x1b[31m"}
    assert json.loads(result.stdout)["listing"] is True


MENU = """\
iWelcome to the harbour, whose text is longer than a column for names may be\tx\tx\t0
0A doc   \t/doc.txt\t{host}\t{port}
1An\x1b[2J else\t/x\telse.example\t7071
7Words of the harbour master and of all who came after him\t/s\t{host}\t{port}
.
"""


class Menu(socketserver.StreamRequestHandler):
    """A server of Gopher with one menu."""

    def handle(self) -> None:
        self.rfile.readline()
        port = self.connection.getsockname()[1]
        self.wfile.write(MENU.format(host="127.0.0.1", port=port).replace("\n", "\r\n").encode())


def test_a_menu_for_people() -> None:
    with socketserver.TCPServer(("127.0.0.1", 0), Menu) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        base = f"gopher://127.0.0.1:{server.server_address[1]}/"
        try:
            text = get(base, columns=60).stdout.decode()
        finally:
            server.shutdown()
            thread.join()
    assert text.splitlines() == [
        "info       Welcome to the harbour, whose text is longer than a column for names may be",
        f"file       A doc                  {base}0/doc.txt",
        "directory  An\ufffd[2J else            gopher://else.example:7071/1/x",
        f"search     Words of the harbour…  {base}7/s",
    ]


def test_attributes_for_people(tmp_path: Path) -> None:
    with slapd(tmp_path / "ldap") as server:
        lines = get(f"{server.uri}/o=Example,c=GB??one").stdout.decode().splitlines()
        assert lines[0].split()[0] == "inetOrgPerson"
        assert "  ldap://" in lines[0]
        assert {"    cn: 中文", f"    jpegPhoto: ({len(PHOTO)} octets)", "    sn: a,b?c#d/e"} <= set(lines)
        row = json.loads(get("--format", "jsonl", f"{server.uri}/o=Example,c=GB??one").stdout)
        assert row["details"]["attributes"]["jpegPhoto"] == [PHOTO.decode("latin-1")]


def test_local_files(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "a.txt").write_text("one\n")
    result = get(tmp_path.as_uri() + "/", (tmp_path / "a.txt").as_uri())
    assert result.stdout.decode() == (
        f"file       a.txt  {tmp_path.as_uri()}/a.txt\ndirectory  sub    {tmp_path.as_uri()}/sub/\none\n"
    )
    result = get("--safe", (tmp_path / "a.txt").as_uri())
    assert (result.returncode, result.stdout) == (1, b"")
    assert get((tmp_path / "none").as_uri()).returncode == 1


def test_local_messages(tmp_path: Path) -> None:
    message = b"Message-ID: <m@h.example>\r\nSubject: hi\r\n\r\nbody\r\n"
    (tmp_path / "a.eml").write_bytes(message)
    policy = 'messages = ["."]'
    assert fetch(tmp_path, policy, "mid:m@h.example").stdout == message
    assert fetch(tmp_path, policy, "mid:other@h.example").returncode == 1
    assert fetch(tmp_path, policy, "--safe", "mid:m@h.example").returncode == 1


# -- for people


def test_a_session_is_described(tmp_path: Path) -> None:
    result = get("telnet://guest:s3cret@127.0.0.1:2323/")
    assert result.stdout == b"telnet 127.0.0.1 2323: log in as guest; a password is suggested\n"
    row = json.loads(get("--format", "jsonl", "telnet://guest:s3cret@127.0.0.1:2323/").stdout)
    assert row["details"]["session"]["user"] == "guest"
    assert "s3cret" not in json.dumps(row)
    result = get("--format", "jsonl", "-o", tmp_path / "a", "telnet://guest@127.0.0.1:2323/")
    assert json.loads(result.stdout)["details"]["session"]["user"] == "guest"
    assert not list(tmp_path.iterdir())


def test_a_session_is_passed_to_a_client(tmp_path: Path) -> None:
    """A test program, first in PATH, gets address and port, but nothing of the login."""
    client = tmp_path / "telnet"
    client.write_text('#!/bin/sh\necho "client: $*"\nexit 7\n')
    client.chmod(0o755)
    path = f"{tmp_path}:{os.environ['PATH']}"
    result = process("--connect", "telnet://guest:s3cret@127.0.0.1:2323/", PATH=path)
    assert (result.returncode, result.stdout) == (7, b"client: 127.0.0.1 2323\n")
    assert result.stderr == b"telnet 127.0.0.1 2323: log in as guest; a password is suggested\n"
    result = process("--connect", "--safe", "telnet://guest@127.0.0.1:2323/", PATH=path)
    assert (result.returncode, result.stdout) == (1, b"")


def test_a_draft_is_shown() -> None:
    result = get("mailto:joe@example.com?subject=tide%20tables&x-evil=1%1B&body=Dear%20Joe")
    lines = result.stdout.decode().splitlines()
    assert lines[:2] == ["To: joe@example.com", "Subject: tide tables"]
    assert lines[-2:] == ["", "Dear Joe"]
    assert result.stderr.decode() == "left out of the draft as unsafe: x-evil: 1\ufffd\n"


# -- passwords


def test_a_password_from_a_file(ftp: tuple[str, Path], tmp_path: Path) -> None:
    server, _ = ftp
    file = tmp_path / "password"
    file.write_bytes(b"s3cret\r\nmore\n")
    result = get("--user", "joe", "--password-file", file, f"ftp://{server}/a%20b.bin", f"ftp://{server}/a%20b.bin")
    assert (result.returncode, result.stdout) == (0, b"a file\n" * 2), result.stderr
    result = get("--password-file", file, f"ftp://joe@{server}/a%20b.bin")
    assert (result.returncode, result.stdout) == (0, b"a file\n"), result.stderr


def test_a_password_is_requested_once(ftp: tuple[str, Path]) -> None:
    server, _ = ftp
    uri = f"ftp://joe@{server}/a%20b.bin"
    status, output = on_terminal(uri, uri, typed=b"s3cret\n")
    assert (status, output.count(b"a file\r\n"), output.count(b"Password of joe at 127.0.0.1: ")) == (0, 2, 1), output
    assert b"s3cret" not in output
    status, output = on_terminal("--user", "joe", f"ftp://{server}/a%20b.bin", typed=b"wrong\n")
    assert status == 1
    assert b"530 " in output


def test_without_a_terminal_no_password_is_requested(ftp: tuple[str, Path]) -> None:
    result = process(f"ftp://joe@{ftp[0]}/a%20b.bin")
    assert result.returncode == 1
    assert b"requires a password" in result.stderr


# -- on a terminal


def test_no_control_character_reaches_the_terminal(web: Web) -> None:
    status, output = on_terminal(web.base + "/controls")
    assert status == 0
    assert output.decode() == ("one \ufffd[31mred\ufffd]0;title\ufffd\r\ntwo\r\nthree \ufffd tail\ttab\r\n").replace(
        "\t", output.decode()[output.decode().index("tail") + 4 : output.decode().index("tab")]
    )
    assert b"\x1b" not in output
    assert on_terminal("--raw", web.base + "/controls")[1].count(b"\x1b") == 2
    assert on_terminal(web.base + "/latin")[1].decode() == "Gr\u00fc\u00dfe\r\n"


def test_binary_content_is_not_printed_on_a_terminal(web: Web) -> None:
    status, output = on_terminal(web.base + "/binary")
    assert (status, output.count(b"\n")) == (2, 1)
    assert b"is not text: use -o to write a file" in output


def test_the_progress_bar(web: Web, tmp_path: Path) -> None:
    target = tmp_path / "large.bin"
    status, output = on_terminal("-o", target, web.base + "/large")
    assert (status, target.stat().st_size) == (0, 6_000_000)
    assert b"/6.0 MB" in output
    assert b"/s" in output
    assert b"large.bin: 6,000,000 octets" in output
    piped = tmp_path / "piped.bin"
    status, output = on_terminal(web.base + "/large", out=piped)
    assert (status, piped.stat().st_size) == (0, 6_000_000)
    assert b"/6.0 MB" in output
    # Without a bar if the content goes to the terminal.
    assert b"MB" not in on_terminal(web.base + "/large")[1]
