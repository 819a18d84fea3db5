"""http, https, ws, wss with nginx, tinyproxy and websocketd, and with invalid answers."""

from __future__ import annotations

import gzip
import itertools
import os
import random
import socket
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import anyio
import pytest

import overthere
from overthere import AccessError, AccessRefused, Credentials, NotSpecified, PlanRefused, Policy, plan
from overthere.access.errors import (
    AccessFailed,
    AccessTimeout,
    LimitExceeded,
    ProtocolError,
    ResourceMissing,
    ResourceUnavailable,
)
from overthere.access.gateways import Gateways
from overthere.access.steps import Send
from overthere.access.wire import Data, Head, Read, Write
from overthere.protocols.http import dialogue as http
from overthere.protocols.http.answer import retry_after
from overthere.protocols.http.keep_alive import Request, RequestState, keep_alive
from overthere.protocols.http.proxy import through_proxy
from overthere.protocols.websocket import dialogue as websocket
from overthere.values.uri import URI
from servers import wait_until
from servers.nginx import Nginx, certificate, nginx, tinyproxy, trusting, websocketd
from servers.replay import Served, serve
from support import linear, processor

LOCAL = Policy.local().with_(read_timeout=60)
PAGE = b"<p>caf\xc3\xa9</p>\n"
# The same in every run, and without directives of nginx's include filter, which makes chunks.
LARGE = random.Random(1).randbytes(1 << 20).replace(b"<", b"=") * 8


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Nginx]:
    folder = tmp_path_factory.mktemp("http") / "nginx"
    (folder / "root").mkdir(parents=True)
    (folder / "root/page.html").write_bytes(PAGE)
    (folder / "root/large").write_bytes(LARGE)
    (folder / "root/empty.txt").touch()
    with nginx(folder) as web:
        yield web


@pytest.fixture(scope="module")
def policy(server: Nginx) -> Policy:
    return LOCAL.with_(tls=trusting(server.folder))


def last_requests(server: Nginx, count: int) -> list[list[str]]:
    """The last requests, once nginx has logged that many: it logs after the answer."""
    return wait_until(lambda: lines if len(lines := server.requests()) >= count else None, f"not {count} requests")


def open_all(uri: str, policy: Policy, **kwargs: Any) -> tuple[bytes, str, str | None, int | None]:
    """Open with blocking sockets and in both event loops, which must agree."""
    with overthere.open(uri, policy, **kwargs) as resource:
        result = (resource.read(), str(resource.uri), resource.media_type, resource.length)

    async def work() -> tuple[bytes, str, str | None, int | None]:
        async with await overthere.aopen(uri, policy, **kwargs) as resource:
            return await resource.read(), str(resource.uri), resource.media_type, resource.length

    for backend in ("asyncio", "trio"):
        assert anyio.run(work, backend=backend) == result
    return result


def aopened(uri: str, policy: Policy) -> None:
    async def work() -> None:
        await overthere.aopen(uri, policy)

    anyio.run(work)


# -- nginx


@pytest.mark.parametrize("scheme", ["http", "https"])
@pytest.mark.parametrize(
    ("path", "body", "media_type", "length"),
    [
        ("/page.html", PAGE, "text/html", len(PAGE)),
        ("/large", LARGE, "application/octet-stream", len(LARGE)),
        ("/chunked/page.html", PAGE, "text/html", None),
        ("/chunked/large", LARGE, "application/octet-stream", None),
        ("/closing/large", LARGE, "application/octet-stream", None),
        ("/empty.txt", b"", "text/plain", 0),
        ("/nothing", b"", None, 0),
        ("/latin/page.html", PAGE, "text/html; charset=iso-8859-1", len(PAGE)),
        ("/page.html?q=%2F#there", PAGE, "text/html", len(PAGE)),
    ],
)
def test_content(
    server: Nginx, policy: Policy, scheme: str, path: str, body: bytes, media_type: str | None, length: int | None
) -> None:
    uri = server.uri(path, scheme)
    before = len(server.requests())
    assert open_all(uri, policy) == (body, uri, media_type, length)
    lines = last_requests(server, before + 3)[before:]
    target, _, _ = path.partition("#")
    assert {line[0] for line in lines} == {f"GET {target} HTTP/1.1"}
    assert {line[1] for line in lines} == {uri.split("/")[2]}


def test_details_of_a_page(server: Nginx) -> None:
    with overthere.open(server.uri("/latin/page.html"), LOCAL) as resource:
        assert resource.how == "server"
        assert resource.details["status"] == 200
        assert ("Content-Length", str(len(PAGE))) in resource.details["headers"]
        assert resource.charset() == "iso-8859-1"
        assert resource.text() == "<p>caf\u00c3\u00a9</p>\n"
        assert resource.plan.steps == plan(server.uri("/latin/page.html")).steps


def test_content_location_is_not_the_base(server: Nginx) -> None:
    """RFC 9110 8.7: its claim cannot be trusted."""
    with overthere.open(server.uri("/located/page.html"), LOCAL) as resource:
        assert ("Content-Location", "/elsewhere/x.html") in resource.details["headers"]
        assert str(resource.base) == server.uri("/located/page.html")


def test_a_content_coding_is_decoded(server: Nginx) -> None:
    """RFC 9110 8.4; test_access_coding has the others."""
    (server.root / "packed.html").write_bytes(gzip.compress(PAGE))
    with overthere.open(server.uri("/packed/packed.html"), LOCAL) as resource:
        assert ("Content-Encoding", "gzip") in resource.details["headers"]
        assert resource.read() == PAGE


@pytest.mark.parametrize(
    ("path", "code"), [("/nowhere", "404"), ("/busy", "503"), ("/gone", "410"), ("/chunked/nowhere", "404")]
)
def test_missing_pages(server: Nginx, policy: Policy, path: str, code: str) -> None:
    before = len(server.requests())
    for scheme in ("http", "https"):
        kind = ResourceUnavailable if code == "503" else ResourceMissing
        with pytest.raises(kind, match=code) as caught:
            overthere.open(server.uri(path, scheme), policy)
        assert caught.value.code == code
        assert str(caught.value.uri) == server.uri(path, scheme)
    time.sleep(0.05)
    assert len(last_requests(server, before + 2)) == before + 2  # with or without Retry-After: one request


# -- redirects


@pytest.mark.parametrize("scheme", ["http", "https"])
@pytest.mark.parametrize(
    ("path", "to", "steps"),
    [
        ("/moved/", "/page.html", 1),
        ("/moved/#mine", "/page.html#mine", 1),
        ("/found/", "/page.html#there", 1),
        ("/found/#mine", "/page.html#there", 1),
        ("/other/way", "/page.html", 1),
        ("/temporary/", "/page.html", 1),
        ("/permanent/", "/page.html", 1),
        ("/chain/1#mine", "/page.html#mine", 2),
    ],
)
def test_redirects_are_followed(server: Nginx, policy: Policy, scheme: str, path: str, to: str, steps: int) -> None:
    uri = server.uri(path, scheme)
    assert open_all(uri, policy)[:2] == (PAGE, server.uri(to, scheme))
    with overthere.open(uri, policy) as resource:
        assert len(resource.history) == steps
        assert str(resource.history[0]) == uri
        assert str(resource.base) == server.uri(to, scheme)


@pytest.mark.parametrize(
    ("scheme", "path", "rule", "message"),
    [
        ("http", "/circle/1", "redirect", "cycle"),
        ("http", "/bare", "redirect", "cycle"),
        ("http", "/endless/x", "redirect", "more than 10"),
        ("https", "/plain", "redirect", "leaves https"),
        ("https", "/file", "redirect", "a file of this machine"),
        ("http", "/file", "redirect", "a file of this machine"),
    ],
)
def test_rejected_redirects(server: Nginx, policy: Policy, scheme: str, path: str, rule: str, message: str) -> None:
    with pytest.raises(AccessRefused, match=message) as caught:
        overthere.open(server.uri(path, scheme), policy)
    assert caught.value.rule == rule


def test_the_policy_applies_to_redirects(server: Nginx, policy: Policy) -> None:
    for narrower, rule in [
        (policy.with_(ports=frozenset()), "port"),
        (policy.with_(hosts=frozenset({"h.example"})), "host"),
    ]:
        with pytest.raises(AccessRefused) as caught:
            overthere.open(server.uri("/inside"), narrower)
        assert caught.value.rule == rule
    with pytest.raises(AccessRefused) as caught:
        overthere.open(server.uri("/secure"), policy.with_(schemes=frozenset({"http"})))
    assert caught.value.rule == "scheme"
    assert open_all(server.uri("/secure"), policy)[:2] == (PAGE, server.uri("/page.html", "https"))
    assert open_all(server.uri("/plain", "https"), policy.with_(downgrade=True))[:2] == (PAGE, server.uri("/page.html"))
    with pytest.raises(AccessRefused, match="more than 0"):
        overthere.open(server.uri("/moved/"), policy.with_(max_redirects=0))


def test_a_redirect_to_an_unreachable_server(server: Nginx) -> None:
    with pytest.raises(ProtocolError, match="has no valid target"):
        overthere.open(server.uri("/wrong"), LOCAL)


def test_credentials_are_sent_to_their_origin_only(server: Nginx) -> None:
    """RFC 7617 2; localhost and 127.0.0.1 are different origins."""
    me = Credentials("Aladdin", "open sesame")
    before = len(server.requests())
    for path in ("/chain/1", "/elsewhere"):
        with overthere.open(server.uri(path), LOCAL, credentials=me) as found:
            assert found.read() == PAGE
            assert "QWxhZGRpbjpvcGVuIHNlc2FtZQ==" not in f"{found.plan} {found.plan.to_dict()} {found.plan.steps!r}"
    lines = [(line[0].split()[1], line[3]) for line in last_requests(server, before + 5)[before:]]
    basic = "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ=="
    assert lines == [
        ("/chain/1", basic),
        ("/chain/2", basic),
        ("/page.html", basic),
        ("/elsewhere", basic),
        ("/page.html", "-"),
    ]
    with pytest.raises(PlanRefused, match="user"):
        plan(server.uri("/"), Credentials("a:b", "c"))


def test_redirects_of_a_gateway_are_relative_to_it(server: Nginx) -> None:
    gateways = Gateways({"x-none": server.uri("/chain/{scheme}").replace("{scheme}", "1") + "?{uri}"})
    with overthere.open("x-none:a", LOCAL, gateways=gateways) as resource:
        assert (resource.read(), str(resource.uri)) == (PAGE, server.uri("/page.html"))


def test_a_self_signed_certificate(server: Nginx, tmp_path: Path) -> None:
    certificate(tmp_path)
    for context in (None, trusting(tmp_path)):
        for opened in (overthere.open, aopened):
            with pytest.raises(AccessFailed, match="CERTIFICATE_VERIFY_FAILED"):
                opened(server.uri("/page.html", "https"), LOCAL.with_(tls=context))


def test_the_limit_of_size(server: Nginx) -> None:
    with pytest.raises(LimitExceeded, match="are announced"):
        overthere.open(server.uri("/large"), LOCAL.with_(max_bytes=1 << 20))
    for path in ("/chunked/large", "/closing/large"):
        with overthere.open(server.uri(path), LOCAL.with_(max_bytes=1 << 20)) as resource, pytest.raises(LimitExceeded):
            resource.read()


# -- proxies


def test_through_a_proxy(server: Nginx, policy: Policy, tmp_path: Path) -> None:
    """RFC 7230 5.3.2: absolute-form; RFC 9110 9.3.6: CONNECT. tinyproxy logs its requests."""
    with tinyproxy(tmp_path / "proxy", "me secret") as port:
        by = f"http://me:secret@127.0.0.1:{port}"
        through = policy.with_(proxy={"http": by, "https": by})
        before = len(server.requests())
        assert open_all(server.uri("/chain/1"), through)[:2] == (PAGE, server.uri("/page.html"))
        assert open_all(server.uri("/chain/1", "https"), through)[:2] == (PAGE, server.uri("/page.html", "https"))
        assert open_all(server.uri("/secure"), through)[:2] == (PAGE, server.uri("/page.html", "https"))
        log = (tmp_path / "proxy/asked").read_text()
        assert f"GET {server.uri('/chain/1')} HTTP/1.1" in log
        assert f"CONNECT 127.0.0.1:{server.tls_port} HTTP/1.1" in log
        assert {line[4] for line in last_requests(server, before + 24)[before:]} == {"-"}  # no origin is sent
        with overthere.open(server.uri("/page.html", "https"), through) as resource:
            assert "CONNECT" in str(resource.plan)
            assert "bWU6c2VjcmV0" not in str(resource.plan)
        for path in ("/page.html", "/moved/"):  # the proxy requires a password
            with pytest.raises(ResourceMissing, match="407"):
                overthere.open(server.uri(path), policy.with_(proxy={"http": f"http://127.0.0.1:{port}"}))
            with pytest.raises(AccessFailed, match="does not open a tunnel: 407"):
                overthere.open(server.uri(path, "https"), policy.with_(proxy={"https": f"http://127.0.0.1:{port}"}))
    with pytest.raises(AccessFailed, match="no connection"):
        overthere.open(server.uri("/page.html"), through)


def test_the_policy_applies_to_the_target_of_a_proxy(server: Nginx) -> None:
    """The proxy itself is chosen by the policy, whatever its address."""
    by = {"http": f"http://127.0.0.1:{server.port}", "https": f"http://127.0.0.1:{server.port}"}
    with overthere.open("http://192.0.43.8/page.html", Policy(proxy=by)) as resource:
        assert resource.read() == PAGE
    for scheme in ("http", "https"):
        with pytest.raises(AccessRefused) as caught:  # the address of the URI
            overthere.open(f"{scheme}://192.88.99.2/", Policy(proxy=by))
        assert caught.value.rule == "address"
        for host, rule in (("127.1", "address"), ("h.example:22", "port"), ("[::1]", "address")):  # the URI's own
            with pytest.raises(AccessRefused) as caught:
                overthere.open(f"{scheme}://{host}/", Policy(proxy=by))
            assert caught.value.rule == rule
        with pytest.raises(AccessRefused) as caught:
            overthere.open(f"{scheme}://h.example/", LOCAL.with_(proxy=by, hosts=frozenset({"i.example"})))
        assert caught.value.rule == "host"


def test_no_proxy_comes_from_the_environment(server: Nginx, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    assert open_all(server.uri("/page.html"), LOCAL)[0] == PAGE


@pytest.mark.parametrize(
    ("uri", "proxy"), [("http://h/", "socks5://p:1"), ("http://h/", "https://p/"), ("ftp://h/", "http://p/")]
)
def test_invalid_proxies(uri: str, proxy: str) -> None:
    with pytest.raises(NotSpecified):
        overthere.open(uri, LOCAL.with_(proxy={URI(uri).scheme: proxy}))


def test_secrets_are_not_sent_to_a_proxy() -> None:
    uri = URI("http://h.example:8080/a?b")
    for me, by in itertools.product((None, Credentials("u", "pass")), ("http://p", "http://v:word@p:3128")):
        through = through_proxy(plan(uri, me), Policy(proxy={"http": by}), uri)
        [send] = [step for step in through.steps if isinstance(step, Send)]
        assert send.data.startswith(b"GET http://h.example:8080/a?b HTTP/1.1\r\nHost: h.example:8080\r\n")
        for step in through.steps:
            assert b"dTpwYXNz" not in str(step.to_dict()).encode()
            assert b"djp3b3Jk" not in repr(step).encode()
        assert (b"Authorization: Basic dTpwYXNz\r\n" in send.data) == (me is not None)
        assert (b"Proxy-Authorization: Basic djp3b3Jk\r\n" in send.data) == ("@" in by)
        assert send.data.count(b"\r\n\r\n") == 1
        assert send.data.endswith(b"\r\n\r\n")


@pytest.mark.parametrize(
    ("answer", "error"),
    [
        (b"HTTP/1.1 200 OK\r\n\r\nHTTP/1.1 200 OK\r\n\r\n", ProtocolError),  # before TLS
        (b"HTTP/1.1 200 OK\r\n\r\n", AccessFailed),
        (b"HTTP/1.1 200 OK\r\n", AccessFailed),
        (b"HTTP/1.1 502 Bad Gateway\r\nContent-Length: 5\r\n\r\nhello", AccessFailed),
        (b"hello\r\n\r\n", ProtocolError),
        (b"", AccessFailed),
    ],
)
def test_a_proxy_that_rejects_a_tunnel(answer: bytes, error: type[AccessError]) -> None:
    def handler(client: socket.socket, served: Served) -> None:
        served.requests.append(client.recv(1000))
        client.sendall(answer)
        client.shutdown(socket.SHUT_WR)
        while client.recv(1000):
            pass

    with serve(handler) as served:
        policy = LOCAL.with_(
            proxy={"https": f"http://127.0.0.1:{served.port}", "wss": f"http://127.0.0.1:{served.port}"}
        )
        for scheme in ("https", "wss"):
            for opened in (overthere.open, aopened):
                with pytest.raises(error):
                    opened(f"{scheme}://h.example/", policy)
        assert set(served.requests) == {b"CONNECT h.example:443 HTTP/1.1\r\nHost: h.example:443\r\n\r\n"}


# -- raw answers


def run(answer: bytes, uri: str = "http://h/", piece: int = 1 << 16, policy: Policy = LOCAL) -> list[Head | bytes]:
    """The effects of the dialogue for an answer: its head, then its joined content."""
    dialogue = (http if uri.startswith("http") else websocket).dialogue(plan(uri), policy)
    head: list[Head | bytes] = []
    at, reply, body = 0, None, bytearray()
    while True:
        try:
            effect = dialogue.send(reply)
        except StopIteration:
            return [*head, bytes(body)]
        reply = None
        if isinstance(effect, Read):
            reply = answer[at : at + min(piece, effect.size)]
            at += len(reply)
        elif isinstance(effect, Head):
            head.append(effect)
        elif isinstance(effect, Data):
            body += effect.octets


COUNTED = b"HTTP/1.1 200 OK\r\nServer: x\r\nContent-Type: text/plain\r\nContent-Length: 5\r\n\r\nhello"
CHUNKED = (
    b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
    b"5;a=b\r\nhello\r\n1\r\n!\r\n0\r\nX: y\r\n\r\n"
)
CLOSED = b"HTTP/1.0 200 OK\r\n\r\nhello"
MOVED = b"HTTP/1.1 302 Found\r\nLocation: /there\r\nContent-Length: 0\r\n\r\n"


@pytest.mark.skipif(not hasattr(time, "tzset"), reason="the zone of a process cannot be changed")
def test_dates_of_retry_after_are_in_utc(monkeypatch: pytest.MonkeyPatch) -> None:
    """RFC 9110 5.6.7: the form of asctime has no zone."""
    try:
        monkeypatch.setenv("TZ", "EST5")
        time.tzset()
        for date in ("Thu, 01 Jan 1970 00:01:00 GMT", "Thursday, 01-Jan-70 00:01:00 GMT", "Thu Jan  1 00:01:00 1970"):
            assert retry_after(date, 0.0) == 60.0
    finally:
        monkeypatch.undo()
        time.tzset()


@pytest.mark.parametrize("login", [("a\x01", "b"), ("a", "b\x7f"), ("a\x1b", ""), ("a:b", "c")])
def test_credentials_with_controls_are_rejected(login: tuple[str, str]) -> None:
    """RFC 7617 2: neither part has controls, and the name has no colon."""
    with pytest.raises(PlanRefused, match="RFC 7617 2"):
        plan("http://h.example/", Credentials(*login))


@pytest.mark.parametrize(
    "fields", [b"Connection: close", b"Connection: x, close", b"Connection: x\r\nConnection: close"]
)
def test_a_server_that_closes_after_an_answer_to_head(fields: bytes) -> None:
    """RFC 9110 5.3: a field on several lines is one list."""
    state = RequestState()
    state.request = Request(b"HEAD / HTTP/1.1\r\n\r\n", "HEAD", 0)
    work = keep_alive((), LOCAL, state)
    assert isinstance(next(work), Write)
    assert isinstance(next(work), Read)
    assert isinstance(work.send(b"HTTP/1.1 200 OK\r\n" + fields + b"\r\n\r\n"), Head)
    assert not state.is_open


@pytest.mark.parametrize("piece", [1, 2, 7, 1 << 16])
def test_the_size_of_pieces_does_not_matter(piece: int) -> None:
    assert run(COUNTED, piece=piece)[1] == b"hello"
    assert run(CHUNKED, piece=piece)[1] == b"hello!"
    assert run(CLOSED, piece=piece)[1] == b"hello"
    [head, body] = run(MOVED, piece=piece)
    assert isinstance(head, Head)
    assert head.location == "/there"
    assert body == b""


@pytest.mark.parametrize("answer", [COUNTED, CHUNKED])
def test_an_end_at_every_byte(answer: bytes) -> None:
    for end in range(len(answer)):
        with pytest.raises(AccessError):
            run(answer[:end])


@pytest.mark.parametrize(
    ("head", "body"),
    [
        (b"204 No Content\r\nContent-Length: 100", b""),
        (b"204 No Content\r\nTransfer-Encoding: chunked", b""),
        (b"200 OK\r\nContent-Length: 2", b"he"),  # bytes after the announced length are another answer
        (b"200 OK\r\nContent-Length: 5, 5", b"hello"),
        (b"200 OK\r\nContent-Length: 5\r\ncontent-length: 5", b"hello"),
        (b"205 Reset Content\r\nContent-Length: 0", b""),
        (b"200 OK\r\nContent-Length: 0", b""),
        (b"200 OK", b"hello"),
        (b"200", b"hello"),
    ],
)
def test_the_length_of_a_body(head: bytes, body: bytes) -> None:
    """RFC 7230 3.3.3."""
    assert run(b"HTTP/1.1 %b\r\n\r\nhello" % head)[1] == body


@pytest.mark.parametrize(
    ("answer", "error"),
    [
        (b"", AccessFailed),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nhello", AccessFailed),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999\r\n\r\nhello", LimitExceeded),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 999999999999999999999\r\n\r\nhello", ProtocolError),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 5, 6\r\n\r\nhello", ProtocolError),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello", ProtocolError),
        (b"HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\nhello", ProtocolError),
        (b"HTTP/1.1 200 OK\r\nContent-Length: +5\r\n\r\nhello", ProtocolError),
        (b"HTTP/1.1 200 OK\r\nContent-Length:\r\n\r\nhello", ProtocolError),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n", ProtocolError),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nx\r\n", ProtocolError),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n-5\r\nhello\r\n", ProtocolError),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhelloX\r\n", ProtocolError),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + b"F" * 30 + b"\r\n", ProtocolError),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nFFFFFFFFFFFFFFFF\r\nhello", AccessFailed),
        (b"HTTP/1.1 200 OK\r\n: x\r\n\r\n", ProtocolError),
        (b"HTTP/1.1 200 OK\r\n folded\r\n\r\n", ProtocolError),
        (b"HTTP/1.1 200 OK\r\nA: \0\r\n\r\n", ProtocolError),
        (b"HTTP/1.1 2000 OK\r\n\r\n", ProtocolError),
        (b"HTTP/1.1 099 OK\r\n\r\n", ProtocolError),
        (b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n", ProtocolError),
        (b"HTTP/1.1 206 Partial Content\r\nContent-Length: 5\r\n\r\nhello", ProtocolError),
        (b"HTTP/1.1 304 Not Modified\r\n\r\n", ResourceMissing),
        (b"HTTP/1.1 300 Multiple Choices\r\nLocation: /a\r\n\r\n", ResourceMissing),
        (b"HTTP/1.1 302 Found\r\n\r\n", ResourceMissing),
        (b"HTTP/1.1 999 x\r\n\r\n", ResourceUnavailable),
        (b"HTTP/1.1 429 x\r\n\r\n", ResourceUnavailable),
        (b"HTTP/1.1 100 Continue\r\n\r\n" * 100 + COUNTED, ProtocolError),
        (b"SSH-2.0-OpenSSH_9.2\r\n", AccessError),
        (b"220 ftp.example ready\r\n", AccessError),
        (b"\x16\x03\x01\x00\xa5", AccessError),
        (b"<html>", AccessError),
        (b"\r\n\r\n", AccessError),
        (b"\0" * 10_000_000, AccessError),
        (b"HTTP/1.1 200 " + b"x" * 10_000_000, LimitExceeded),
        (b"HTTP/1.1 200 OK\r\nA: " + b"x" * 10_000_000, LimitExceeded),
        (b"HTTP/1.1 200 OK\r\n" + b"A: b\r\n" * 2_000_000, LimitExceeded),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5;" + b"x" * 10_000_000, LimitExceeded),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n" + b"A: b\r\n" * 2_000_000, LimitExceeded),
    ],
    ids=lambda value: value[-30:] if isinstance(value, bytes) else value.__name__,
)
def test_invalid_answers(answer: bytes, error: type[AccessError]) -> None:
    with pytest.raises(error), processor(20):
        run(answer)


def test_chunks_of_one_byte_are_linear() -> None:
    def use(count: int) -> None:
        result = run(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + b"1\r\nx\r\n" * count + b"0\r\n\r\n")
        assert result[1] == b"x" * count

    linear(use, 40_000)


@pytest.mark.parametrize(
    ("field", "media_type", "charset"),
    [
        ("text/html", "text/html", "utf-8"),
        ('text/html;charset="ISO-8859-1"', 'text/html;charset="ISO-8859-1"', "ISO-8859-1"),
        ('text/html; a="; charset=x"; Charset=koi8-r', 'text/html; a="; charset=x"; Charset=koi8-r', "koi8-r"),
        ('text/html; charset="ko\\i8-r"', 'text/html; charset="ko\\i8-r"', "koi8-r"),
        ("text", None, "utf-8"),
        ("te xt/html", None, "utf-8"),
        ("text/html, text/plain", None, "utf-8"),
        ("", None, "utf-8"),
    ],
)
def test_content_type(field: str, media_type: str | None, charset: str) -> None:
    """RFC 9110 8.3.1, 5.6.6."""
    answer = f"HTTP/1.1 200 OK\r\nContent-Type: {field}\r\nContent-Length: 0\r\n\r\n".encode()
    head = run(answer)[0]
    assert isinstance(head, Head)
    assert (head.media_type, head.how) == (media_type, "server" if media_type else "")

    def handler(client: socket.socket, served: Served) -> None:
        client.recv(1000)
        client.sendall(answer)

    with serve(handler) as served, overthere.open(f"http://127.0.0.1:{served.port}/", LOCAL) as resource:
        assert resource.charset() == charset


def test_a_silent_server() -> None:
    def handler(client: socket.socket, served: Served) -> None:
        client.recv(1000)
        client.sendall(b"HTTP/1.1 200 OK\r\n")
        client.recv(1000)

    policy = LOCAL.with_(read_timeout=0.3)
    with serve(handler) as served:
        for scheme in ("http", "ws"):
            for opened in (overthere.open, aopened):
                with pytest.raises(AccessTimeout, match=r"no data for 0\.3 s"):
                    opened(f"{scheme}://127.0.0.1:{served.port}/", policy)


# -- WebSocket


def test_websocket_messages(tmp_path: Path) -> None:
    """The lines of a program, with its query to show that the target was sent."""
    folder = tmp_path / "ws"
    folder.mkdir()
    script = 'echo "$QUERY_STRING"; echo caf\u00e9; head -c 70000 /dev/zero | tr "\\0" x; echo; sleep 0.1'
    with websocketd(folder, script) as port:
        uri = f"ws://127.0.0.1:{port}/chat?room=1"
        with overthere.open(uri, LOCAL) as resource:
            assert [piece.decode() for piece in resource] == ["room=1", "caf\u00e9", "x" * 70_000]
            assert resource.details["status"] == 101

        async def work() -> list[bytes]:
            async with await overthere.aopen(uri, LOCAL) as resource:
                return [piece async for piece in resource]

        assert [len(piece) for piece in anyio.run(work)] == [6, 5, 70_000]


def test_websocket_messages_through_tls_and_a_proxy(tmp_path: Path) -> None:
    folder = tmp_path / "wss"
    folder.mkdir()
    certificate(folder)
    tls = ["--ssl", f"--sslcert={folder}/certificate.pem", f"--sslkey={folder}/key.pem"]
    with websocketd(folder, "echo one; echo two; sleep 0.1", *tls) as port, tinyproxy(tmp_path / "proxy") as by:
        policy = LOCAL.with_(tls=trusting(folder))
        for allowed in (policy, policy.with_(proxy={"wss": f"http://127.0.0.1:{by}"})):
            with overthere.open(f"wss://127.0.0.1:{port}/", allowed) as resource:
                assert list(resource) == [b"one", b"two"]
        assert f"CONNECT 127.0.0.1:{port}" in (tmp_path / "proxy/asked").read_text()


def test_servers_without_websockets(server: Nginx, policy: Policy) -> None:
    for path, code in (("/page.html", "200"), ("/moved/", "301"), ("/gone", "410")):
        with pytest.raises(ResourceMissing) as caught:
            overthere.open(server.uri(path).replace("http", "ws", 1), policy)
        assert caught.value.code == code


@pytest.mark.parametrize("status", ["429 Too Many Requests", "503 Service Unavailable"])
def test_a_websocket_that_is_unavailable_now(status: str) -> None:
    with pytest.raises(ResourceUnavailable, match=status) as caught:
        run(f"HTTP/1.1 {status}\r\nContent-Length: 0\r\n\r\n".encode(), "ws://h/chat")
    assert caught.value.code == status[:3]


@pytest.mark.parametrize("fields", [b"Connection: keep-alive\r\nConnection: Upgrade", b"Connection: Upgrade, x"])
def test_fields_of_a_handshake_on_several_lines(fields: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    """RFC 9110 5.3: they are one list."""
    accept = b"\r\nSec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo="
    assert talk(frame(1, b"x"), monkeypatch, fields + accept, connection=b"") == ([b"x"], b"")


def frame(opcode: int, payload: bytes = b"", final: bool = True) -> bytes:
    """RFC 6455 5.2, as a server sends it."""
    size = len(payload)
    length = bytes([size]) if size < 126 else b"\x7e" + size.to_bytes(2, "big")
    return bytes([opcode | 128 * final]) + length + payload


def talk(
    frames: bytes,
    monkeypatch: pytest.MonkeyPatch,
    head: bytes = b"",
    connection: bytes = b"Connection: keep-alive, Upgrade\r\n",
) -> tuple[list[bytes], bytes]:
    """The messages, and the bytes sent after the handshake, with a server that answers the key of RFC 6455 1.3."""
    monkeypatch.setattr(os, "urandom", lambda count: b"the sample nonce"[:count])
    answer = (
        b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: WebSocket\r\n"
        + connection
        + (head or b"Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=")
        + b"\r\n\r\n"
        + frames
    )
    dialogue = websocket.dialogue(plan("ws://h/chat"), LOCAL)
    messages, sent, reply, at = [], [], None, 0
    while True:
        try:
            effect = dialogue.send(reply)
        except StopIteration:
            break
        reply = None
        if isinstance(effect, Read):
            reply = answer[at : at + min(3000, effect.size)]
            at += len(reply)
        elif isinstance(effect, Data):
            messages.append(effect.octets)
        elif isinstance(effect, Write):
            sent.append(effect.data)
    assert b"\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n" in sent[0]
    return messages, b"".join(sent[1:])


def test_websocket_frames(monkeypatch: pytest.MonkeyPatch) -> None:
    """RFC 6455 5.7: whole, fragmented, with a Ping in between; then Close, whose answer is masked (5.1)."""
    frames = frame(1, b"Hello") + frame(1, b"Hel", False) + frame(9, b"Hello") + frame(0, b"lo") + frame(10)
    frames += frame(2, bytes(256)) + frame(1, b"\xc3", False) + frame(0, b"\xa9") + frame(2)
    messages, sent = talk(frames + frame(8, b"\x03\xe8bye") + b"rest", monkeypatch)
    assert messages == [b"Hello", b"Hello", bytes(256), b"\xc3\xa9", b""]
    mask = b"the "
    pong, close = (bytes(o ^ mask[i % 4] for i, o in enumerate(text)) for text in (b"Hello", b"\x03\xe8"))
    assert sent == b"\x8a\x85the " + pong + b"\x88\x82the " + close


@pytest.mark.parametrize(
    ("frames", "error"),
    [
        (b"\x81", AccessFailed),
        (frame(1, b"Hel", False), AccessFailed),
        (frame(0, b"x"), ProtocolError),
        (frame(1, b"x", False) + frame(1, b"x"), ProtocolError),
        (frame(3), ProtocolError),
        (frame(11), ProtocolError),
        (b"\xc1\x00", ProtocolError),
        (b"\x81\x80abcd", ProtocolError),
        (frame(9, b"x", False), ProtocolError),
        (b"\x89\x7e\x00\x80" + bytes(128), ProtocolError),
        (b"\x81\x7e\x00\x05hello", ProtocolError),
        (b"\x81\x7f" + (5).to_bytes(8, "big"), ProtocolError),
        (b"\x81\x7f" + b"\xff" * 8, ProtocolError),
        (b"\x81\x7f" + b"\x7f" * 8, LimitExceeded),
        (frame(2, bytes(65_535), False) + frame(0, bytes(65_535), False) * 300, LimitExceeded),
        (
            frame(2, bytes(65_535), False) + frame(0, bytes(65_535), False) * 255 + frame(0, bytes(125), False) * 3,
            LimitExceeded,
        ),
        (frame(1, b"\xff"), ProtocolError),
        (frame(8, b"\x03"), ProtocolError),
        (frame(8, b"\x03\xf3broken"), AccessFailed),
        (frame(8, b"\x03\xe8\xff"), ProtocolError),
    ],
)
def test_invalid_frames(frames: bytes, error: type[AccessError], monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(error):
        talk(frames, monkeypatch)


@pytest.mark.parametrize(
    "head",
    [
        b"Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOO=",
        b"X: y",
        b"Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\nSec-WebSocket-Protocol: chat",
        b"Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\nSec-WebSocket-Extensions: permessage-deflate",
        b"Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\nSec-WebSocket-Protocol:\r\nSec-WebSocket-Protocol: a",
    ],
)
def test_invalid_handshakes(head: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ProtocolError):
        talk(frame(1, b"x"), monkeypatch, head)


def test_an_end_at_every_byte_of_frames(monkeypatch: pytest.MonkeyPatch) -> None:
    frames = frame(1, b"Hel", False) + frame(9, b"a") + frame(0, b"lo") + frame(8, b"\x03\xe8")
    for end in range(len(frames)):
        try:
            messages, _ = talk(frames[:end], monkeypatch)
        except AccessFailed:
            continue
        assert end == 0 or messages == [b"Hello"]  # between two messages a server may close the connection
