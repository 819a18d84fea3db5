"""Faults of servers, and mistakes of callers: a documented error in time, and no leaks."""

from __future__ import annotations

import asyncio
import errno
import gc
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest

from overthere import Registry, Scheme
from overthere.access import Connect, Receive, Send, blocking, resolver
from overthere.access.aio import AsyncTransport
from overthere.access.errors import (
    AccessError,
    AccessFailed,
    AccessRefused,
    AccessTimeout,
    LimitExceeded,
    ProtocolError,
)
from overthere.access.opening import aopen
from overthere.access.opening import open as open_
from overthere.access.policy import Policy
from overthere.access.resolver import MOST
from overthere.access.transport import Carrier
from overthere.access.wire import Data, Dialogue, Head
from overthere.schemes import Access
from overthere.schemes.locator import GenericLocator
from overthere.values.uri import URI
from servers import NET, need, wait_until
from servers.faults import assert_no_leaks, close_at, dripped, endless, faulty, full_queue, reset_at, simple, stalled
from support import ROOT

BODY = b"0123456789abcdef"
COUNTED = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 16\r\n\r\n" + BODY
CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n8\r\n01234567\r\n8\r\n89abcdef\r\n0\r\n\r\n"
POLICY = Policy.local().with_(connect_timeout=60, read_timeout=60)
HASTY = POLICY.with_(read_timeout=0.3)
BRIEF = POLICY.with_(connect_timeout=0.3)


# A scheme without a dialogue: the steps of its plan are sent, and everything until the end is the content.
SENT = b"x" * 10


def _raw(locator: GenericLocator, credentials: object) -> Iterator[Any]:
    uri = URI(str(locator.uri(registry=REGISTRY)))
    transport = "udp" if uri.path == "/udp" else "tcp"
    yield Connect(
        source="x", host=(uri.host or "").strip("[]"), port=uri.port or 0, tls=uri.path == "/tls", transport=transport
    )
    yield Send(source="x", data=SENT if uri.path != "/much" else b"x" * 50_000_000)
    yield Receive(source="x", what="the answer", until="dot" if uri.path == "/dot" else "close")


REGISTRY = Registry.default().with_(
    Scheme(name="x-raw", title="octets", documents={"rfc3986": "none"}, access=Access(_raw), known=True)
)


def sync(uri: str, policy: Policy, size: int = -1) -> bytes:
    with open_(uri, policy, registry=REGISTRY) as resource:
        return resource.read(size)


async def read(uri: str, policy: Policy, size: int = -1) -> bytes:
    async with await aopen(uri, policy, registry=REGISTRY) as resource:
        return await resource.read(size)


def on(backend: str) -> Callable[..., bytes]:
    return lambda *args: anyio.run(read, *args, backend=backend)


Fetch = Callable[..., bytes]
FETCHES: dict[str, Fetch] = {"sync": sync, "asyncio": on("asyncio"), "trio": on("trio")}


@pytest.fixture(params=FETCHES)
def fetch(request: pytest.FixtureRequest) -> Iterator[Fetch]:
    with assert_no_leaks():
        yield FETCHES[request.param]
        gc.collect()


def fails(fetch: Fetch, error: type[Exception], *args: Any) -> Exception:
    """Exactly this type: a wait longer than the policy allows would meet the end of the server instead."""
    with pytest.raises(error) as caught:
        fetch(*args)
    return caught.value


# -- ends


@pytest.mark.parametrize("answer", [COUNTED, CHUNKED], ids=["counted", "chunked"])
def test_an_end_at_every_offset(fetch: Fetch, answer: bytes) -> None:
    offsets = iter(range(len(answer) + 1))
    with faulty(lambda client, running: close_at(answer, next(offsets))(client)) as server:
        for offset in range(len(answer)):
            with pytest.raises(AccessError) as caught:
                fetch(f"http://127.0.0.1:{server.port}/{offset}", POLICY)
            assert type(caught.value) in (AccessFailed, ProtocolError), offset
            assert f"/{offset}" in str(caught.value)
        assert fetch(f"http://127.0.0.1:{server.port}/", POLICY) == BODY


def test_a_reset_at_many_offsets(fetch: Fetch) -> None:
    offsets = range(0, len(COUNTED), 5)
    rest_offsets = iter(offsets)
    with faulty(lambda client, running: reset_at(COUNTED, next(rest_offsets))(client)) as server:
        for _ in offsets:
            with pytest.raises((AccessFailed, ProtocolError)):
                fetch(f"http://127.0.0.1:{server.port}/", POLICY)


def test_content_ends_when_the_connection_closes(fetch: Fetch) -> None:
    for offset in range(len(BODY) + 1):
        with faulty(simple(close_at(BODY, offset))) as server:
            assert fetch(f"x-raw://127.0.0.1:{server.port}", POLICY) == BODY[:offset]


def test_a_byte_at_a_time(fetch: Fetch) -> None:
    with faulty(dripped(COUNTED, 0)) as server:
        assert fetch(f"http://127.0.0.1:{server.port}/", POLICY) == BODY
    with faulty(dripped(CHUNKED, 0)) as server:
        assert fetch(f"http://127.0.0.1:{server.port}/", POLICY) == BODY


# -- silence


@pytest.mark.parametrize("offset", [0, 5, 20, len(COUNTED) - len(BODY), len(COUNTED) - 1])
def test_silence_is_a_timeout(fetch: Fetch, offset: int) -> None:
    with faulty(stalled(COUNTED[:offset])) as server:
        uri = f"http://127.0.0.1:{server.port}/"
        assert "no data for 0.3 s" in str(fails(fetch, AccessTimeout, uri, HASTY))


def test_a_resource_that_another_thread_closes(monkeypatch: pytest.MonkeyPatch) -> None:
    """The other thread may close it just before the wait."""
    with faulty(stalled(COUNTED[:-5])) as server, open_(f"http://127.0.0.1:{server.port}/", POLICY) as resource:
        resource.read(11)
        wait = blocking._wait_for

        def close_and_wait(waiting: Any) -> Any:
            thread = threading.Thread(target=resource.close)
            thread.start()
            thread.join()
            return wait(waiting)

        monkeypatch.setattr(blocking, "_wait_for", close_and_wait)
        with pytest.raises(AccessFailed, match="closed"):
            resource.read()


@pytest.mark.parametrize("call", ["connect", "recv"])
def test_a_timeout_of_the_system_is_no_silence(fetch: Fetch, call: str, monkeypatch: pytest.MonkeyPatch) -> None:
    genuine = getattr(socket.socket, call)

    def fail(sock: socket.socket, *args: object) -> object:
        if sock.family != socket.AF_INET:  # those of event loops
            return genuine(sock, *args)
        raise TimeoutError(errno.ETIMEDOUT, "the system gave up")

    with faulty(simple(close_at(BODY, 5))) as server, monkeypatch.context() as patch:
        patch.setattr(socket.socket, call, fail)
        uri = f"x-raw://127.0.0.1:{server.port}"
        assert "the system gave up" in str(fails(fetch, AccessFailed, uri, POLICY))


def test_the_total_timeout(fetch: Fetch) -> None:
    """With a server that is never silent for long."""
    policy = POLICY.with_(total_timeout=0.5)
    with faulty(dripped(COUNTED, 0.05)) as server:
        error = fails(fetch, AccessTimeout, f"http://127.0.0.1:{server.port}/", policy)
        assert "not finished within 0.5 s" in str(error)
    # All redirects share the total timeout.
    moved = b"HTTP/1.1 302 Found\r\nLocation: %d\r\n\r\n"
    numbers = iter(range(100))

    def redirecting(client: socket.socket, running: Any) -> None:
        running.over.wait(0.2)
        close_at(moved % next(numbers))(client)

    with faulty(redirecting) as server:
        fails(fetch, AccessTimeout, f"http://127.0.0.1:{server.port}/", policy)
        assert server.accepted <= 4


@contextmanager
def silent() -> Iterator[int]:
    """A UDP port without answers."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as client:
        client.bind(("127.0.0.1", 0))
        yield client.getsockname()[1]


@contextmanager
def at(fault: Callable[[socket.socket, Any], None]) -> Iterator[int]:
    with faulty(fault) as server:
        yield server.port


def waiting(client: socket.socket, running: Any) -> None:
    running.over.wait(20)


PATIENT = Policy.local().with_(connect_timeout=30, read_timeout=30, total_timeout=0.3)


@pytest.mark.parametrize(
    ("_", "uri"),
    [
        (full_queue, "http://127.0.0.1:{}/"),
        (lambda: at(waiting), "https://127.0.0.1:{}/"),
        (lambda: at(waiting), "http://127.0.0.1:{}/"),
        (lambda: at(waiting), "x-raw://127.0.0.1:{}/much"),
        (lambda: at(stalled(COUNTED[:-5])), "http://127.0.0.1:{}/"),
        (lambda: at(dripped(COUNTED, 0.05)), "http://127.0.0.1:{}/"),
        (lambda: at(endless(b"HTTP/1.1 200 OK\r\n\r\n", b"x")), "http://127.0.0.1:{}/"),
        (silent, "x-raw://127.0.0.1:{}/udp"),
        (silent, "prospero://127.0.0.1:{}/x"),
    ],
    ids=["connecting", "TLS", "answer", "sending", "content", "drip", "endless", "datagram", "ARDP"],
)
def test_the_total_timeout_applies_to_every_wait(fetch: Fetch, _: Any, uri: str) -> None:
    with _() as port, pytest.raises(AccessTimeout) as caught:
        fetch(uri.format(port), PATIENT)
    message = "not finished within 0.3 s; set Policy.total_timeout or --max-time"
    assert caught.value.message == message


def test_the_total_timeout_applies_to_the_resolver(fetch: Fetch, monkeypatch: pytest.MonkeyPatch) -> None:
    over = threading.Event()

    def ask(*args: Any, **kwargs: Any) -> list[Any]:
        over.wait(20)
        raise socket.gaierror(socket.EAI_AGAIN, "too late")

    monkeypatch.setattr(socket, "getaddrinfo", ask)
    try:
        with pytest.raises(AccessTimeout, match=r"not finished within 0\.3 s"):
            fetch("http://h.example/", PATIENT)
    finally:
        over.set()


@pytest.mark.parametrize("reading", [sync, on("asyncio"), on("trio")], ids=["sync", "asyncio", "trio"])
def test_the_total_timeout_applies_to_files(reading: Fetch, tmp_path: Path) -> None:
    """A file is always ready; the time is checked before each piece.  Not by `fetch`: trio keeps its thread a while."""
    (tmp_path / "a").write_bytes(b"x" * 10_000_000)
    with pytest.raises(AccessTimeout, match="not finished within 1e-06 s"):
        reading((tmp_path / "a").as_uri(), Policy.local().with_(total_timeout=1e-6))


def test_the_limits_of_every_policy(fetch: Fetch) -> None:
    for policy in (Policy(), Policy.local()):
        assert (policy.total_timeout, policy.max_bytes) == (3600.0, 1 << 34)
    with faulty(simple(close_at(COUNTED))) as server:
        unbounded = POLICY.with_(total_timeout=None, max_bytes=None)
        assert fetch(f"http://127.0.0.1:{server.port}/", unbounded) == BODY
    head = b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n"
    with faulty(simple(close_at(head % ((1 << 34) + 1)))) as server:
        with pytest.raises(LimitExceeded) as caught:
            fetch(f"http://127.0.0.1:{server.port}/", POLICY)
        assert caught.value.message == (
            "17,179,869,185 octets are announced: more than 17,179,869,184; set Policy.max_bytes or --max-bytes"
        )


def test_a_server_that_reads_nothing(fetch: Fetch) -> None:
    def deaf(client: socket.socket, running: Any) -> None:
        running.over.wait(NET)

    with faulty(deaf) as server:
        error = fails(fetch, AccessTimeout, f"x-raw://127.0.0.1:{server.port}/much", HASTY)
    assert "does not accept data" in str(error)


# -- connections


def test_a_refused_connection(fetch: Fetch) -> None:
    with socket.socket() as client:
        client.bind(("127.0.0.1", 0))
        error = fails(fetch, AccessFailed, f"http://127.0.0.1:{client.getsockname()[1]}/", POLICY)
    assert "no connection" in str(error)


def test_a_connection_that_is_not_accepted(fetch: Fetch) -> None:
    with full_queue() as port:
        error = fails(fetch, AccessTimeout, f"http://127.0.0.1:{port}/", BRIEF)
    assert "no connection in time" in str(error)


def test_addresses_share_the_connection_timeout(fetch: Fetch, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each silent address gets its share; the last one that answers is reached."""
    shares: list[float] = []
    connect = Carrier._connect

    def shared(self: Any, dial: Any, family: int, address: Any, until: float) -> Any:
        shares.append(until - time.monotonic())
        return connect(self, dial, family, address, until)

    with full_queue("0.0.0.0") as port, monkeypatch.context() as looking:
        hosts = [f"127.1.{number // 200}.{number % 200 + 1}" for number in range(400)]
        addresses = [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (host, port)) for host in hosts]
        looking.setattr(socket, "getaddrinfo", lambda *args, **kwargs: addresses)
        looking.setattr(Carrier, "_connect", shared)
        fails(fetch, AccessTimeout, f"http://h.example:{port}/", BRIEF)
    assert len(shares) == 400
    # With 0.3 s each they would take two minutes.
    assert all(share <= 0.3 / (400 - number) for number, share in enumerate(shares))
    with full_queue() as port, socket.create_server(("127.0.0.2", port)) as listening:
        silent = (socket.AF_INET, socket.SOCK_STREAM, 6, "", ("127.0.0.1", port))
        good = (socket.AF_INET, socket.SOCK_STREAM, 6, "", ("127.0.0.2", port))
        monkeypatch.setattr(socket, "getaddrinfo", lambda *args, **kwargs: [silent, good])
        # The share of the silent one is short, that of the other as long as needed.
        monkeypatch.setattr(
            Carrier,
            "_connect",
            lambda self, dial, family, address, until: connect(
                self, dial, family, address, time.monotonic() + 0.2 if address == silent[4] else until
            ),
        )

        def answer() -> None:
            client, _ = listening.accept()
            with client:
                close_at(COUNTED)(client)

        thread = threading.Thread(target=answer)
        thread.start()
        assert fetch(f"http://h.example:{port}/", POLICY) == BODY
        thread.join(NET)


def test_datagrams(fetch: Fetch) -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as client:
        client.bind(("127.0.0.1", 0))
        port = client.getsockname()[1]
        fails(fetch, AccessTimeout, f"x-raw://127.0.0.1:{port}/udp", HASTY)
        assert client.recv(100) == SENT
    error = fails(fetch, AccessFailed, f"x-raw://127.0.0.1:{port}/udp", POLICY)
    assert "refused" in str(error)


# -- TLS


def test_tls_with_a_server_without_tls(fetch: Fetch) -> None:
    with faulty(stalled(b"")) as server:
        fails(fetch, AccessTimeout, f"https://127.0.0.1:{server.port}/", BRIEF.with_(read_timeout=0.3))
    for answer in (b"HTTP/1.1 400 Bad\r\n\r\n", b"\x16\x03\x01\xff\xff", b"\x15\x03\x03\x00\x02\x02\x28", b""):
        with faulty(simple(close_at(answer))) as server:
            fails(fetch, AccessFailed, f"https://127.0.0.1:{server.port}/", POLICY)


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    need("openssl")
    folder = tmp_path_factory.mktemp("tls")
    command = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost"]
    command += [
        "-addext",
        "subjectAltName=DNS:localhost,IP:127.0.0.1",
        "-keyout",
        f"{folder}/key",
        "-out",
        f"{folder}/cert",
    ]
    subprocess.run(command, check=True, capture_output=True, timeout=NET)
    return folder / "cert", folder / "key"


def test_tls(fetch: Fetch, certificate: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    import ssl

    cert, key = certificate
    family = (socket.AF_INET, socket.SOCK_STREAM, 6, "")
    monkeypatch.setattr(socket, "getaddrinfo", lambda host, port, **kwargs: [(*family, ("127.0.0.1", port))])
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(cert, key)
    trusting = ssl.create_default_context(cafile=str(cert))
    policy = POLICY.with_(tls=trusting)

    def serve(answer: bytes, alert: bool) -> Callable[..., None]:
        def fault(client: socket.socket, running: Any) -> None:
            with context.wrap_socket(client, server_side=True) as safe:
                close_at(answer)(safe)
                if alert:
                    safe.unwrap()

        return fault

    large = b"HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n" + b"x" * 1_000_000
    with faulty(serve(large, True)) as server:
        uri = f"https://127.0.0.1:{server.port}/"
        assert fetch(uri, policy) == b"x" * 1_000_000
        assert fetch(f"https://localhost.:{server.port}/", policy, 1) == b"x"
        fails(fetch, AccessFailed, uri, POLICY)  # an untrusted issuer
        fails(fetch, AccessFailed, f"https://127.0.0.2:{server.port}/", policy)  # another host's certificate
    with faulty(serve(BODY, True)) as server:
        assert fetch(f"x-raw://127.0.0.1:{server.port}/tls", policy) == BODY
    # Without a closure alert the end may be forged (RFC 8446 6.1).
    with faulty(serve(BODY, False)) as server:
        fails(fetch, AccessFailed, f"x-raw://127.0.0.1:{server.port}/tls", policy)


# -- too much


def test_an_endless_line(fetch: Fetch) -> None:
    for start, uri in (
        (b"HTTP/1.1 200 OK\r\nX: ", "http://127.0.0.1:{}/"),
        (b"HTTP/1.1 200 ", "http://127.0.0.1:{}/"),
        (b"", "http://127.0.0.1:{}/"),
        (b"220 ", "ftp://127.0.0.1:{}/x"),
        (b"x\r\n", "x-raw://127.0.0.1:{}/dot"),
    ):
        with faulty(endless(start, b"x" * 65_536, first=uri.startswith("ftp"))) as server:
            fails(fetch, AccessError, uri.format(server.port), POLICY)
            assert server.sent < 20_000_000


def test_endless_heads_and_replies(fetch: Fetch) -> None:
    for start, repeat, uri in (
        (b"HTTP/1.1 200 OK\r\n", b"X: y\r\n" * 1000, "http://127.0.0.1:{}/"),
        (b"", b"HTTP/1.1 100 Continue\r\n\r\n" * 1000, "http://127.0.0.1:{}/"),
        (b"", b"220-x\r\n" * 1000, "ftp://127.0.0.1:{}/x"),
    ):
        with faulty(endless(start, repeat, first=uri.startswith("ftp"))) as server:
            fails(fetch, AccessError, uri.format(server.port), POLICY)
            assert server.sent < 20_000_000


def test_max_bytes(fetch: Fetch) -> None:
    policy = POLICY.with_(max_bytes=100_000)
    with faulty(endless(b"HTTP/1.1 200 OK\r\n\r\n", b"x" * 65_536)) as server:
        uri = f"http://127.0.0.1:{server.port}/"
        assert "more than 100,000 octets" in str(fails(fetch, LimitExceeded, uri, policy))
        assert fetch(uri, policy, 1000) == b"x" * 1000
    with faulty(simple(close_at(COUNTED))) as server:
        uri = f"http://127.0.0.1:{server.port}/"
        assert fetch(uri, POLICY.with_(max_bytes=len(COUNTED))) == BODY
        fails(fetch, LimitExceeded, uri, POLICY.with_(max_bytes=len(COUNTED) - 1))
        assert fetch(uri, POLICY.with_(max_bytes=len(COUNTED) - 1), 4) == BODY[:4], "what is allowed comes first"


# -- what callers do


HALF = b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n" + BODY


def drop(resources: list[Any]) -> None:
    resources.clear()
    gc.collect()  # PyPy finalizes at that point


def test_a_resource_is_shown_without_control_characters() -> None:
    """Also in the warning of one that is not closed."""
    answer = HALF.replace(b"\r\n", b"\r\nContent-Type: text/plain; x=\x9b31m\x85\xad\r\n", 1)
    with faulty(stalled(answer)) as server, open_(f"http://127.0.0.1:{server.port}/", POLICY) as resource:
        assert resource.media_type == "text/plain; x=\x9b31m\x85\xad"
        assert repr(resource).isprintable()


def test_a_resource_that_is_not_closed() -> None:
    with assert_no_leaks(), faulty(stalled(HALF)) as server:
        uri = f"http://127.0.0.1:{server.port}/"
        resources = [open_(uri, POLICY)]
        assert resources[0].read(4) == BODY[:4]
        with pytest.warns(ResourceWarning, match="never closed"):
            drop(resources)

        async def forget() -> None:
            resources = [await aopen(uri, POLICY)]
            assert await resources[0].read(4) == BODY[:4]
            with pytest.warns(ResourceWarning, match="never closed"):
                drop(resources)

        asyncio.run(forget())
        anyio.run(forget, backend="trio")


def test_a_resource_that_was_read_needs_no_close() -> None:
    with assert_no_leaks(), faulty(simple(close_at(COUNTED))) as server:
        assert open_(f"http://127.0.0.1:{server.port}/", POLICY).read() == BODY
        gc.collect()


def test_an_exception_within_the_block() -> None:
    with assert_no_leaks(), faulty(stalled(HALF)) as server:
        uri = f"http://127.0.0.1:{server.port}/"

        def fail_at_once() -> None:
            with open_(uri, POLICY) as resource:
                resource.read(4)
                raise KeyError

        async def fail() -> None:
            async with await aopen(uri, POLICY) as resource:
                await resource.read(4)
                raise KeyError

        with pytest.raises(KeyError):
            fail_at_once()
        for backend in ("asyncio", "trio"):
            with pytest.raises(KeyError):
                anyio.run(fail, backend=backend)


def test_errors_are_repeated_and_a_closed_resource_has_no_end() -> None:
    with faulty(simple(close_at(HALF))) as server, open_(f"http://127.0.0.1:{server.port}/", POLICY) as resource:
        with pytest.raises(AccessFailed) as first:
            resource.read()
        with pytest.raises(AccessFailed) as second:
            resource.read()
        assert first.value is second.value
        with pytest.raises(AccessFailed):
            list(resource)
    with faulty(stalled(HALF)) as server:
        resource = open_(f"http://127.0.0.1:{server.port}/", POLICY)
        resource.close()
        resource.close()
        with pytest.raises(AccessFailed, match="closed before the end"):
            resource.read()


@pytest.mark.parametrize("backend", ["asyncio", "trio"])
@pytest.mark.parametrize("offset", [0, 10, len(HALF)])
def test_cancelling_a_read(backend: str, offset: int) -> None:
    async def cancel(uri: str) -> None:
        with anyio.move_on_after(0.1) as scope:
            await read(uri, POLICY)
        assert scope.cancelled_caught

    with assert_no_leaks(), faulty(stalled(HALF[:offset])) as server:
        anyio.run(cancel, f"http://127.0.0.1:{server.port}/", backend=backend)
    with assert_no_leaks(), full_queue() as port:
        anyio.run(cancel, f"http://127.0.0.1:{port}/", backend=backend)


@pytest.mark.parametrize("backend", ["asyncio", "trio"])
def test_closing_during_a_read(backend: str) -> None:
    async def run(uri: str) -> None:
        async with await aopen(uri, POLICY) as resource, anyio.create_task_group() as group:

            async def reading() -> None:
                with pytest.raises(AccessFailed, match="closed"):
                    await resource.read()

            group.start_soon(reading)
            await anyio.sleep(0.05)
            await resource.close()

    with assert_no_leaks(), faulty(stalled(HALF)) as server:
        anyio.run(run, f"http://127.0.0.1:{server.port}/", backend=backend)


@pytest.mark.parametrize("backend", ["asyncio", "trio"])
def test_many_simultaneous_resources(backend: str) -> None:
    async def run(uri: str) -> None:
        async def one() -> None:
            assert await read(uri, POLICY) == BODY

        async with anyio.create_task_group() as group:
            for _ in range(60):
                group.start_soon(one)

    with assert_no_leaks(), faulty(dripped(COUNTED, 0)) as server:
        anyio.run(run, f"http://localhost:{server.port}/", backend=backend)


@pytest.mark.parametrize("backend", ["asyncio", "trio"])
def test_other_tasks_run_meanwhile(backend: str) -> None:
    """Data that is always available does not block the event loop."""
    turns = 0

    def dialogue() -> Dialogue:
        yield Head()
        for _ in range(100):
            yield Data(b"x")

    async def run() -> None:
        nonlocal turns
        async with anyio.create_task_group() as group:

            async def other() -> None:
                nonlocal turns
                while True:
                    turns += 1
                    await anyio.sleep(0)

            group.start_soon(other)
            transport = AsyncTransport(dialogue(), POLICY, URI("x-raw://h"), None)
            while await transport.advance() is not None:
                pass
            group.cancel_scope.cancel()

    anyio.run(run, backend=backend)
    assert turns > 50


# -- the resolver


class Hung:
    """A resolver that hangs until it is released."""

    def __init__(self) -> None:
        self.go = threading.Event()
        self.asked = 0

    def __call__(self, *args: Any, **kwargs: Any) -> list[Any]:
        self.asked += 1
        self.go.wait(NET)
        return []


def test_a_hung_resolver(fetch: Fetch, monkeypatch: pytest.MonkeyPatch) -> None:
    hung = Hung()
    monkeypatch.setattr(socket, "getaddrinfo", hung)
    error = fails(fetch, AccessTimeout, "http://h.example/", BRIEF)
    assert "not resolved in time" in str(error)
    hung.go.set()


def test_hung_lookups_are_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    hung = Hung()
    monkeypatch.setattr(socket, "getaddrinfo", hung)
    policy = POLICY.with_(connect_timeout=0.01)

    def ask() -> int:
        with pytest.raises(AccessTimeout):
            sync("http://h.example/", policy)
        return hung.asked

    with assert_no_leaks():
        wait_until(lambda: ask() == MOST, "not all threads are taken")  # some give up before a thread runs them
        for _ in range(MOST):
            assert ask() == MOST
        assert sum("resolver" in thread.name for thread in threading.enumerate()) == MOST
        hung.go.set()
    assert hung.asked == MOST  # lookups that nobody waits for are not started


def test_lookups_are_queued(monkeypatch: pytest.MonkeyPatch) -> None:
    """More than there are threads, each in its turn."""
    answers = [(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("127.0.0.1", 1))]

    def slow(*args: Any, **kwargs: Any) -> list[Any]:
        time.sleep(0.01)
        return answers

    monkeypatch.setattr(socket, "getaddrinfo", slow)

    async def run() -> None:
        async def one() -> None:
            with pytest.raises(AccessRefused, match="loopback"):
                await read("http://h.example/", Policy())

        async with anyio.create_task_group() as group:
            for _ in range(3 * MOST):
                group.start_soon(one)

    with assert_no_leaks():
        asyncio.run(run())


HANGING = """
import asyncio, socket, sys, time
from overthere.access.errors import AccessTimeout
from overthere.access.opening import aopen, open
from overthere.access.policy import Policy
socket.getaddrinfo = lambda *rest, **more: time.sleep(600)
policy = Policy(connect_timeout=0.2)
try:
    asyncio.run(aopen("http://h.example/", policy)) if sys.argv[1] == "async" else open("http://h.example/", policy)
except AccessTimeout:
    print("in time")
"""


@pytest.mark.parametrize("kind", ["sync", "async"])
def test_a_hung_resolver_keeps_no_process_alive(kind: str) -> None:
    run = [sys.executable, "-c", HANGING, kind]
    result = subprocess.run(run, capture_output=True, text=True, timeout=NET, cwd=ROOT / "src")
    assert (result.stdout, result.stderr, result.returncode) == ("in time\n", "", 0)


def test_a_resolver_without_threads_recovers(monkeypatch: pytest.MonkeyPatch) -> None:
    class Unstarted(threading.Thread):
        def start(self) -> None:
            raise RuntimeError("can't start new thread")

    monkeypatch.setattr(resolver, "_pool_of_process", resolver.ThreadPool())
    with monkeypatch.context() as patch:
        patch.setattr(resolver, "Thread", Unstarted)
        for _ in range(2 * MOST):
            with pytest.raises(AccessFailed, match="can't start new thread"):
                Policy.local().addresses("localhost", 80)
            with pytest.raises(AccessFailed, match="can't start new thread"):
                open_("http://localhost:9/", Policy.local())
    assert resolver._pool_of_process.running == 0
    assert not resolver._pool_of_process.waiting
    assert Policy.local().addresses("localhost", 80)
