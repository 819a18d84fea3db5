"""The program of the tutorial: its pieces make up the file, and it withstands hostile pages and addresses."""

from __future__ import annotations

import re
import subprocess
import sys
import threading
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import BaseHTTPRequestHandler, SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import quote

import preview
import pytest

from overthere.access.errors import LimitExceeded
from servers import NET
from support import ROOT

LOCAL = preview.PUBLIC.with_(private=True, hosts=frozenset({"127.0.0.1"}))


BLOCKS = re.findall(r"^```python\n(.*?)^```$", (ROOT / "docs" / "tutorial.md").read_text(), re.DOTALL | re.MULTILINE)


def test_the_pieces_make_up_the_program() -> None:
    pieces = [block.strip("\n") for block in BLOCKS if not block.startswith(">>> ")]
    assert "\n\n\n".join(pieces) + "\n" == (ROOT / "examples" / "preview" / "preview.py").read_text()


def test_each_session_runs_with_the_pieces_before_it(tmp_path: Path) -> None:
    """As a reader types them: nothing is used before it is defined."""
    program, sessions = "", 0
    for block in BLOCKS:
        if not block.startswith(">>> "):
            program += block + "\n\n"
            continue
        sessions += 1
        (tmp_path / "preview.py").write_text(program)
        (tmp_path / "session.txt").write_text(block)
        command = [sys.executable, "-m", "doctest", "-o", "NORMALIZE_WHITESPACE", "session.txt"]
        result = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=5 * NET, check=False)
        assert result.returncode == 0, result.stdout
    assert sessions == 4


@contextmanager
def served(handler: object) -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)  # type: ignore[arg-type]
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


class Quiet(preview.Service):
    policy = LOCAL

    def log_message(self, *args: object) -> None:
        """No line for each request."""


class QuietFiles(SimpleHTTPRequestHandler):
    def log_message(self, *args: object) -> None:
        """No line for each request."""


def fetch(uri: str) -> tuple[int, str]:
    try:
        with urllib.request.urlopen(uri, timeout=5 * NET) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.read().decode()


def test_a_page_of_a_real_site_is_shown() -> None:
    with served(partial(QuietFiles, directory=ROOT / "examples" / "site")) as site, served(Quiet) as service:
        assert fetch(service) == (200, preview.FORM)
        status, page = fetch(f"{service}/?url={quote(site)}/")
        assert status == 200
        assert f'<a href="{site}/" rel="noopener nofollow">Harbour Museum</a><p>127.0.0.1: {site}/</article>' in page
        assert fetch(f"{service}/?url={quote(site)}/gone.html")[0] == 422
        with served(partial(QuietFiles, directory=ROOT / "examples" / "post")) as post:
            assert "it is not a page but text/plain" in fetch(f"{service}/?url={quote(post)}/letter.txt")[1]


@pytest.mark.parametrize(
    "text",
    ["127.0.0.1", "http://[::1]/", "http://2130706433/", "localhost", "file:///etc/passwd", "", "\0", "a" * 9000],
)
def test_untrusted_addresses_are_rejected(text: str) -> None:
    with served(type("Public", (Quiet,), {"policy": preview.PUBLIC})) as service:
        status, page = fetch(f"{service}/?url={quote(text)}")
    assert (status, "<article>" in page) == (422, False)


PICTURE = b"<meta property='og:image' content='%s'>"


class HostilePages(BaseHTTPRequestHandler):
    """Hostile pages, selected by the path."""

    def do_GET(self) -> None:
        pages = {
            "script": b"<title><script>alert(1)</script></title>" + PICTURE % b"javascript:alert(1)",
            "claims": b"<title>Bank</title><link rel=canonical href='https://bank.example/'>",
            "quotes": b"<title>'\"><img src=x onerror=alert(1)></title>" + PICTURE % b'/"onerror=x',
            "large": b"<title>" + b"<a " * (1 << 20),
            "hard": b"<a " * 300_000,
            "empty": b"",
            "octets": bytes(range(256)),
        }
        content = pages[self.path[1:]]
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *args: object) -> None:
        """No line for each request."""


def test_hostile_pages_are_handled() -> None:
    with served(HostilePages) as site:
        cards = {
            name: preview.preview(f"{site}/{name}", LOCAL).html()
            for name in ("script", "claims", "quotes", "hard", "empty", "octets")
        }
        with pytest.raises(LimitExceeded):
            preview.preview(f"{site}/large", LOCAL)
    assert "<script" not in cards["script"]
    assert "javascript:" not in cards["script"]
    assert "bank.example" not in cards["claims"]
    assert cards["quotes"].count("<img") == 1
    assert "onerror=x" not in re.sub(r'"[^"]*"', "", cards["quotes"])
    assert all(card.startswith("<article>") for card in cards.values())
