"""Cookies within a chain of redirects, and login cookies (RFC 6265): to which servers they are sent."""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner

from overthere import Policy
from overthere.broken.cookies import Cookies, load_cookies
from overthere.broken.external import Asker
from overthere.broken.model import Checker, Outcome
from overthere.cli.app import app
from servers.faults import faulty, simple

Answer = tuple[str, dict[str, list[str]]]
LOGIN = "# Netscape HTTP Cookie File\n127.0.0.1\tFALSE\t/\tFALSE\t0\tsession\ts3cret\n"


class Site:
    """A server that answers by path and cookie, and records both."""

    def __init__(self, answer: Callable[[str, str], Answer]) -> None:
        self.answer = answer
        self.seen: list[tuple[str, str]] = []

    def __call__(self, client: socket.socket) -> None:
        while data := client.recv(65_536):
            head = data.decode("latin-1").split("\r\n")
            path = head[0].split(" ")[1]
            cookie = next((line[8:] for line in head if line.lower().startswith("cookie: ")), "")
            self.seen.append((path, cookie))
            status, fields = self.answer(path, cookie)
            lines = [f"{name}: {value}\r\n" for name, values in fields.items() for value in values]
            client.sendall(f"HTTP/1.1 {status}\r\n{''.join(lines)}Content-Length: 0\r\n\r\n".encode("latin-1"))


def consent(path: str, cookie: str) -> Answer:
    """Sets a cookie and redirects to itself until it comes back."""
    if path.startswith("/endless"):
        return "302 Found", {"Location": [path], "Set-Cookie": [f"n={len(cookie) + 1}{'x' * len(cookie)}"]}
    if path.startswith("/loop"):
        return "302 Found", {"Location": [path], "Set-Cookie": ["same=1"]}
    if path.startswith("/private") and "session=s3cret" not in cookie:
        return "401 Unauthorized", {}
    if path.startswith("/page") and "seen=1" not in cookie:
        return "302 Found", {"Location": [path], "Set-Cookie": ["seen=1; Path=/page", "secure=1; Secure"]}
    return "200 OK", {}


@pytest.fixture
def site() -> Iterator[tuple[Site, str]]:
    site = Site(consent)
    with faulty(simple(site)) as server:
        yield site, f"http://127.0.0.1:{server.port}"


def ask(*uris: str, cookies: str | None = None) -> dict[str, Outcome]:
    with Asker(Checker(online=True, jobs=2, cookies=cookies), Policy.local()) as asker:
        return {outcome.uri: outcome for outcome in asker.ask(uris)}


def test_a_site_that_sets_a_cookie_and_redirects_to_itself_is_followed(site: tuple[Site, str]) -> None:
    server, root = site
    outcomes = ask(f"{root}/page", f"{root}/page/b", f"{root}/other")
    assert {outcome.kind for outcome in outcomes.values()} == {None}
    assert {outcome.final for outcome in outcomes.values()} == {None}
    assert sorted(server.seen) == [
        ("/other", ""), ("/page", ""), ("/page", "seen=1"), ("/page/b", ""), ("/page/b", "seen=1"),
    ]  # fmt: skip


def test_cookies_do_not_bypass_the_limit_of_redirects(site: tuple[Site, str]) -> None:
    """The same cookie again is a cycle; new ones end at the limit of redirects."""
    server, root = site
    assert {value.kind for value in ask(f"{root}/loop", f"{root}/endless").values()} == {"redirect-loop"}
    assert len([path for path, _ in server.seen if path == "/loop"]) == 4, "twice by HEAD, twice by GET"
    assert len(server.seen) < 60


def test_cookies_are_not_sent_to_other_sites() -> None:
    other = Site(lambda path, cookie: ("200 OK", {}))
    with faulty(simple(other), "127.0.0.2") as far:
        away = [f"http://127.0.0.2:{far.port}/x"]
        near = Site(
            lambda path, cookie: ("302 Found", {"Location": away, "Set-Cookie": ["a=1", "b=2; Domain=127.0.0.2"]})
        )
        with faulty(simple(near)) as server:
            assert ask(f"http://127.0.0.1:{server.port}/")[f"http://127.0.0.1:{server.port}/"].kind is None
    assert other.seen == [("/x", "")]


@pytest.mark.parametrize(
    ("field", "uri", "message"),
    [
        ("a=1", "https://www.example.org/x", "a=1"),
        ("a=1", "https://example.org/", ""),
        ("a=1", "https://x.www.example.org/", ""),
        ("a=1; Domain=www.example.org", "https://x.www.example.org/", "a=1"),
        ("a=1; Path=docs; Max-Age=-", "https://www.example.org/y", "a=1"),
        ("a=1; max-age = undefined; path=.", "https://www.example.org/y", "a=1"),
        ("a=1; Domain=example.org", "https://other.example.org/", "a=1"),
        ("a=1; Domain=example.org", "https://example.com/", ""),
        ("a=1; Domain=example.com", "https://example.com/", ""),
        ("a=1; Domain=org", "https://museum.org/", ""),
        ("a=1; Secure", "http://www.example.org/", ""),
        ("a=1; Path=/docs", "https://www.example.org/docs/x", "a=1"),
        ("a=1; Path=/docs", "https://www.example.org/other", ""),
        ("a=1; Max-Age=0", "https://www.example.org/", ""),
        ("a=1; Expires=Thu, 01 Jan 1970 00:00:00 GMT", "https://www.example.org/", ""),
        (f"a={'1' * 5000}", "https://www.example.org/", ""),
        ("", "https://www.example.org/", ""),
        (";;;=;", "https://www.example.org/", ""),
        ("a=\x01", "https://www.example.org/", ""),
    ],
)
def test_cookies_respect_domain_path_and_secure(field: str, uri: str, message: str) -> None:
    cookies = Cookies()
    cookies.take("https://www.example.org/x", [("Set-Cookie", field)])
    assert cookies.field(uri) == message


def test_cookies_for_public_suffixes_and_too_many_are_rejected() -> None:
    cookies = Cookies()
    cookies.take("https://a.co.uk/", [("set-cookie", "a=1; Domain=co.uk")])
    assert cookies.field("https://b.co.uk/") == ""
    cookies.take("https://a.co.uk/", [("set-cookie", f"n{number}=1") for number in range(1000)])
    assert cookies.field("https://a.co.uk/").count("=") == 50


def test_login_cookies_leave_room_for_those_of_a_chain(tmp_path: Path) -> None:
    """A file of a browser has hundreds; one without a Domain is for its host alone (RFC 6265 5.3, 6)."""
    lines = [f"h{number}.example\tFALSE\t/\tFALSE\t0\tn\t{number}\n" for number in range(100)]
    (jar := tmp_path / "cookies.txt").write_text(f"# Netscape HTTP Cookie File\n{''.join(lines)}")
    cookies = Cookies(load_cookies(str(jar)))
    cookies.take("https://h7.example/", [("set-cookie", f"c{number}=1") for number in range(1000)])
    assert cookies.field("https://h7.example/").count("=") == 1 + 50
    assert (cookies.field("https://h8.example/"), cookies.field("https://x.h8.example/")) == ("n=8", "")


@pytest.mark.parametrize(
    ("line", "sent", "unsent"),
    [
        ("h.example\tTRUE\t/\tFALSE\t0\ta\tb", "h.example x.h.example", "other.example"),
        (".h.example\tTRUE\t/\tFALSE\t\ta\tb", "h.example x.h.example", "xh.example"),
        (".h.example\tFALSE\t/\tFALSE\t-1\ta\tb", "h.example", "x.h.example"),
        ("#HttpOnly_H.example\tFALSE\t/\tFALSE\t4102444800.25\ta\tb\r", "h.example", "x.h.example"),
        ("localhost\tFALSE\t/\tFALSE\t0\ta\tb", "localhost localhost:8000", "example"),
        ("::1\tFALSE\t/\tFALSE\t0\ta\tb", "[::1] [::1]:8000", "[::2]"),
        ("h.example\ttrue\t/\tFALSE\t0\ta\tb", "h.example x.h.example", "other.example"),
        ("h.example\tFALSE\t/\tTRUE\t0\ta\tb", "", "h.example"),
        ("h.example\tFALSE\t/\ttrue\t0\ta\tb", "", "h.example"),
        ("h.example\tFALSE\t/x\tFALSE\t0\ta\tb", "h.example/x h.example/x/y", "h.example/y"),
        ("h.example\tFALSE\t/\tFALSE\t1\ta\tb", "", "h.example"),
    ],
)
def test_lines_of_a_cookie_file(tmp_path: Path, line: str, sent: str, unsent: str) -> None:
    """`http.cookiejar` rejected whole files for a domain without a dot, and never sent the cookies of `localhost`."""
    for number, head in enumerate(("# Netscape HTTP Cookie File\n\n", "", "# $x\n")):
        (jar := tmp_path / str(number)).write_text(f"{head}{line}\n", newline="")
        cookies = Cookies(load_cookies(str(jar)))
        assert {cookies.field(f"http://{host}") for host in sent.split()} <= {"a=b"}
        assert {cookies.field(f"http://{host}") for host in unsent.split()} == {""}


def test_cookies_of_a_file_without_a_value_or_a_name(tmp_path: Path) -> None:
    fields = "h.example\tFALSE\t/\tFALSE\t0\t"
    (jar := tmp_path / "jar").write_text(f"{fields}a\n{fields}b\t\n{fields}\tc\n")
    assert Cookies(load_cookies(str(jar))).field("http://h.example/") == "a=; b=; c"


def test_login_cookies_from_a_file(site: tuple[Site, str], tmp_path: Path) -> None:
    server, root = site
    jar = tmp_path / "cookies.txt"
    jar.write_text(LOGIN)
    assert ask(f"{root}/private")[f"{root}/private"].status == 401
    outcomes = ask(f"{root}/private", f"{root}/page", f"{root}/private/b", cookies=str(jar))
    assert {outcome.kind for outcome in outcomes.values()} == {None}
    assert ("/page", "session=s3cret; seen=1") in server.seen or ("/page", "seen=1; session=s3cret") in server.seen
    with faulty(simple(other := Site(consent)), "127.0.0.2") as far:
        ask(f"http://127.0.0.2:{far.port}/", cookies=str(jar))
    assert other.seen == [("/", "")]


@pytest.mark.parametrize("text", ["", "a=1", '{"a": 1}', "# Netscape HTTP Cookie File\nx\ty\n", "\xff"])
def test_invalid_cookie_files(tmp_path: Path, text: str) -> None:
    jar = tmp_path / "cookies.txt"
    jar.write_bytes(text.encode("latin-1"))
    with pytest.raises(ValueError, match=r"Netscape|UTF-8"):
        load_cookies(str(jar))
    page = tmp_path / "a.html"
    page.write_text("<a href=b>")
    result = CliRunner().invoke(app, ["broken", str(page), "--online", "--cookies", str(jar)])
    assert result.exit_code == 2
