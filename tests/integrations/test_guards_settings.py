"""Settings of guarded clients: hooks, logins, retries, proxies, and TLS settings in addition to the policy."""

from __future__ import annotations

import asyncio
import io
import pickle
import ssl
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib import import_module
from pathlib import Path
from threading import Thread
from typing import Any, NamedTuple
from urllib.parse import quote, unquote

import aiohttp
import pytest
import requests
import urllib3
from guarded import CLIENTS, INNER, OUTER, allow_outer, servers
from proxied import proxy

from overthere import AccessRefused, Policy
from overthere.integrations import aiohttp as aiohttp_guard
from overthere.integrations import requests as requests_guard
from overthere.integrations import urllib3 as urllib3_guard
from servers.nginx import certificate, trusting

NAMES = {"outer.test": [OUTER], "third.test": [OUTER], "inner.test": [INNER]}
HTTPX = ("httpx", "httpx2")


class Recorded(NamedTuple):
    """The requests to the inner and the outer server."""

    port: int
    inner: list[tuple[str, dict[str, str], bytes]]
    outer: list[tuple[str, dict[str, str], bytes]]

    def uri(self, name: str, path: str = "/") -> str:
        return f"http://{name}.test:{self.port}{path}"

    def redirect(self, name: str, code: int = 302) -> str:
        return self.uri("outer", f"/to{code}?{quote(self.uri(name), safe='')}")


def _answering(requests: list[tuple[str, dict[str, str], bytes]]) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            chunked = self.headers.get("Transfer-Encoding") == "chunked"
            while chunked and (size := int(self.rfile.readline(), 16)):
                body += self.rfile.read(size + 2)[:-2]
            if chunked:
                self.rfile.readline()
            requests.append((self.path, dict(self.headers.items()), body))
            busy = self.path.startswith("/busy") and len(requests) < 4
            if busy or self.path.startswith(("/to", "/busy")):
                self.send_response(503 if busy else 302 if self.path.startswith("/busy") else int(self.path[3:6]))
                self.send_header("Location", "/end" if self.path == "/busy" else unquote(self.path.partition("?")[2]))
            else:
                self.send_response(200)
            self.send_header("Content-Length", "2")
            self.end_headers()
            self.wfile.write(b"ok")

        do_POST = do_GET  # noqa: N815 - a name of http.server

        def log_message(self, *args: Any) -> None:
            pass

    return Handler


@pytest.fixture
def both(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Recorded]:
    """Two servers, a .netrc with a login for each, and proxies in the environment."""
    allow_outer(monkeypatch)
    logins = tmp_path / "netrc"
    logins.write_text("".join(f"machine {name} login u password of-{name}\n" for name in NAMES))
    logins.chmod(0o600)
    monkeypatch.setenv("NETRC", str(logins))
    inner: list[tuple[str, dict[str, str], bytes]] = []
    outer: list[tuple[str, dict[str, str], bytes]] = []
    first = ThreadingHTTPServer((INNER, 0), _answering(inner))
    second = ThreadingHTTPServer((OUTER, first.server_port), _answering(outer))
    for server in (first, second):
        server.handle_error = lambda *args: None  # type: ignore[method-assign]  # a client that leaves
        Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
    for name in ("http_proxy", "https_proxy", "all_proxy"):
        monkeypatch.setenv(name, f"http://{INNER}:{first.server_port}")
        monkeypatch.setenv(name.upper(), f"http://{INNER}:{first.server_port}")
    try:
        yield Recorded(first.server_port, inner, outer)
    finally:
        for server in (first, second):
            server.shutdown()
            server.server_close()


def look_up(host: str, port: int) -> list[str]:
    return NAMES[host.lower().removesuffix(".")]


async def look_up_async(host: str, port: int) -> list[str]:
    return look_up(host, port)


def pieces() -> Iterator[bytes]:
    for _ in range(10):
        yield b"x" * 1000


@pytest.mark.parametrize("library", HTTPX)
def test_no_hook_of_httpx_bypasses_the_guard(library: str, both: Recorded) -> None:
    """Hooks that change the URL, host, target or Location, follow a redirect, or log in elsewhere."""
    httpx, guard = import_module(library), import_module(f"overthere.integrations.{library}")
    inner = both.uri("inner")

    def client(**settings: Any) -> Any:
        return httpx.Client(transport=guard.Guard(resolve=look_up), follow_redirects=True, **settings)

    def change_url(request: Any) -> None:
        request.url = httpx.URL(inner)

    def change_host(request: Any) -> None:
        request.url = request.url.copy_with(host="inner.test")

    def change_target(request: Any) -> None:
        request.extensions["target"] = inner.encode()

    def change_location(answer: Any) -> None:
        answer.headers["location"] = inner

    def follow(answer: Any) -> None:
        if answer.has_redirect_location:
            with client() as other:
                other.get(answer.headers["location"])

    class Login(httpx.Auth):  # type: ignore[name-defined,misc]
        def auth_flow(self, request: Any) -> Iterator[Any]:
            yield request
            yield httpx.Request("GET", inner)

    hooks: list[tuple[str, Callable[[Any], None]]] = [
        ("request", change_url), ("request", change_host), ("request", change_target), ("response", change_location),
        ("response", follow),
    ]  # fmt: skip
    for kind, hook in hooks:
        to = both.redirect("third" if hook is change_location else "inner")
        with client(event_hooks={kind: [hook]}) as session, pytest.raises(guard.Refused):
            session.get(to)
    with client() as session, pytest.raises(guard.Refused):
        session.get(both.uri("outer"), auth=Login())
    with client() as session:
        answer = session.get(both.redirect("inner"), follow_redirects=False)
        with pytest.raises(guard.Refused):
            session.send(answer.next_request)
        for code in (301, 302, 303, 307, 308):
            with pytest.raises(guard.Refused):
                session.post(both.redirect("inner", code), content=pieces())
            assert session.post(both.redirect("third", code), content=b"x" * 999, auth=("u", "p")).status_code == 200
            assert "Authorization" not in both.outer[-1][1]
            assert len(both.outer[-1][2]) == (999 if code > 303 else 0)
    assert both.inner == []


@pytest.mark.parametrize("mounted", [False, True])
def test_no_hook_of_requests_bypasses_the_guard(mounted: bool, both: Recorded) -> None:
    """Nor streamed bodies, proxies of a request, a login from .netrc, or an unpickled copy."""
    inner = both.uri("inner")

    def session() -> requests.Session:
        if not mounted:
            return requests_guard.guarded_session(resolve=look_up)
        session = requests.Session()
        for prefix in ("http://", "https://"):
            session.mount(prefix, requests_guard.adapter(resolve=look_up))
        return session

    def change_location(answer: Any, **kwargs: Any) -> None:
        answer.headers["location"] = inner

    def send_again(answer: Any, **kwargs: Any) -> Any:
        request = answer.request.copy()
        request.url = inner
        answer.close()
        return answer.connection.send(request)

    for hook in (change_location, send_again):
        with session() as one, pytest.raises(requests_guard.Refused):
            one.get(both.redirect("third"), hooks={"response": hook})
    with session() as one:
        for code in (301, 302, 303, 307, 308):
            with pytest.raises(requests_guard.Refused):
                one.post(both.redirect("inner", code), data=pieces())
            settings: Any = {"proxies": {"http": f"http://{INNER}:{both.port}"}, "headers": {"Authorization": "A"}}
            assert one.post(both.redirect("third", code), data=b"x" * 999, **settings).status_code == 200
            sent = both.outer[-1][1].get("Authorization")  # from .netrc, which Requests reads for each host
            assert sent is None if not mounted else sent not in ("A", both.outer[-2][1]["Authorization"])
        with pytest.raises(urllib3_guard.Refused, match="was not judged"):
            one.get_adapter("http://").poolmanager.request("GET", inner)  # type: ignore[attr-defined]
        with pickle.loads(pickle.dumps(one)) as copied:
            assert copied.get(both.uri("outer")).status_code == 200
            with pytest.raises(requests_guard.Refused):
                copied.get(inner)
    assert both.inner == []


def test_retries_of_urllib3_cannot_bypass_the_guard(both: Recorded) -> None:
    """Each redirect is checked whatever a `Retry` keeps; a retry is not a redirect; no login is sent along."""

    class Forgetful(urllib3.Retry):
        def increment(self, *args: Any, **settings: Any) -> Any:
            retry = super().increment(*args, **settings)
            retry.history = ()
            return retry

    for retries in (Forgetful(20), urllib3.Retry(20), 20):
        with urllib3_guard.Guard(resolve=look_up, retries=retries) as pool:
            for code in (303, 307):
                with pytest.raises(urllib3_guard.Refused):
                    pool.request("POST", both.redirect("inner", code), body=io.BytesIO(b"x" * 999))
            pool.request("GET", both.redirect("third"), headers={"Authorization": "A", "Cookie": "c"})
            assert not {"Authorization", "Cookie"} & set(both.outer[-1][1])
    both.outer.clear()
    several = urllib3.Retry(20, status_forcelist=[503], respect_retry_after_header=False)
    with urllib3_guard.Guard(Policy(max_redirects=1), resolve=look_up, retries=several) as pool:
        assert pool.request("GET", both.uri("outer", "/busy")).status == 200
    assert [path for path, _, _ in both.outer] == ["/busy"] * 4 + ["/end"]
    assert both.inner == []


def test_no_middleware_of_aiohttp_bypasses_the_guard(both: Recorded, monkeypatch: pytest.MonkeyPatch) -> None:
    async def fetch(uri: str, method: str = "GET", **settings: Any) -> int:
        options = settings.pop("session", {})
        async with (
            aiohttp_guard.guarded_session(resolve=look_up_async, **options) as session,
            session.request(method, uri, **settings) as answer,
        ):
            return answer.status

    async def change_url(request: Any, handler: Any) -> Any:
        request.url = aiohttp_guard.exact(both.uri("inner"))
        return await handler(request)

    async def stream() -> Any:
        for piece in pieces():
            yield piece

    inner = f"http://{INNER}:{both.port}"
    for settings in (
        {"proxy": inner},
        {"session": {"proxy": inner}},
        {"session": {"trust_env": True}},
        *([{"middlewares": (change_url,)}] if hasattr(aiohttp, "ClientHandlerType") else ()),
    ):
        with pytest.raises(aiohttp_guard.Refused):
            asyncio.run(fetch(both.uri("outer"), **settings))
    for code in (301, 302, 303, 307, 308):
        with pytest.raises((aiohttp_guard.Refused, aiohttp.ClientPayloadError)):
            asyncio.run(fetch(both.redirect("inner", code), "POST", data=stream()))
    for name in ("http_proxy", "https_proxy", "all_proxy"):
        monkeypatch.delenv(name)
        monkeypatch.delenv(name.upper())
    with pytest.raises(aiohttp_guard.Refused):
        asyncio.run(fetch(both.redirect("inner"), session={"trust_env": True}))
    asyncio.run(fetch(both.redirect("third"), headers={"Authorization": "A"}))
    assert "Authorization" not in both.outer[-1][1]
    assert both.inner == []


def _tls_settings(folder: Path, stranger: Path) -> Iterator[tuple[str, Callable[[str, Policy], Any]]]:
    """Settings that trust more than the policy or send a client certificate; each function requests a URI."""
    bundle, certificate, key = (
        str(name) for name in (folder / "certificate.pem", stranger / "certificate.pem", stranger / "key.pem")
    )
    anybody = ssl._create_unverified_context()

    def by_httpx(uri: str, policy: Policy, *, library: str, **settings: Any) -> Any:
        guard = import_module(f"overthere.integrations.{library}").Guard(policy, resolve=look_up, **settings)
        with import_module(library).Client(transport=guard) as client:
            return client.get(uri)

    more: dict[str, Any]
    for library in HTTPX:
        for more in ({"verify": False}, {"verify": anybody}, {"verify": bundle}, {"cert": (certificate, key)}):
            yield f"{library} {[*more]}", partial(by_httpx, library=library, **more)

    def by_urllib3(uri: str, policy: Policy, **settings: Any) -> Any:
        with urllib3_guard.Guard(policy, resolve=look_up, retries=False, **settings) as pool:
            return pool.request("GET", uri)

    for more in (
        {"cert_reqs": "CERT_NONE"}, {"cert_reqs": "CERT_OPTIONAL"}, {"ca_certs": bundle},
        {"ca_cert_data": Path(bundle).read_text()}, {"ca_cert_dir": str(folder)}, {"ssl_context": anybody},
        {"assert_hostname": False}, {"assert_hostname": "x.test"}, {"assert_fingerprint": "00" * 32},
        {"cert_file": certificate, "key_file": key},
    ):  # fmt: skip
        yield f"urllib3 {[*more]}", partial(by_urllib3, **more)

    def by_requests(uri: str, policy: Policy, **settings: Any) -> Any:
        with requests_guard.guarded_session(policy, resolve=look_up) as session:
            return session.get(uri, **settings)

    for more in ({"verify": False}, {"verify": bundle}, {"cert": (certificate, key)}):
        yield f"requests {[*more]}", partial(by_requests, **more)

    def by_aiohttp(uri: str, policy: Policy, *, own: Any, **settings: Any) -> Any:
        async def fetch() -> int:
            connector = aiohttp_guard.Connector(policy, resolve=look_up_async, **own)
            async with aiohttp.ClientSession(connector=connector) as session, session.get(uri, **settings) as answer:
                return answer.status

        return asyncio.run(fetch())

    for more in ({"ssl": False}, {"ssl": anybody}, {"ssl": aiohttp.Fingerprint(b"0" * 32)}, {"verify_ssl": False}):
        for in_session, each in (({}, more), (more, {})):
            yield f"aiohttp {in_session} {each}", partial(by_aiohttp, own=in_session, **each)


def test_tls_settings_that_contradict_the_policy_are_rejected(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is requested, and the shared context of the policy is unchanged."""
    allow_outer(monkeypatch)
    folder, stranger = tmp_path / "known", tmp_path / "stranger"
    for place in (folder, stranger):
        place.mkdir()
        certificate(place, "DNS:outer.test")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(folder / "certificate.pem", folder / "key.pem")
    context.verify_mode = ssl.CERT_OPTIONAL
    context.load_verify_locations(stranger / "certificate.pem")
    count = 0
    with servers(context) as secure, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name, fetch in _tls_settings(folder, stranger):
            tls = trusting(stranger)
            policy = Policy(hosts=frozenset({"outer.test"}), tls=tls)
            with pytest.raises((TypeError, AccessRefused, ssl.SSLError, requests.exceptions.SSLError)):
                fetch(f"https://outer.test:{secure.port}/", policy)
            state = tls.verify_mode, tls.check_hostname, tls.cert_store_stats()["x509"]
            assert state == (ssl.CERT_REQUIRED, True, 1), name
            count += 1
    assert (count, secure.outer) == (29, [])


@pytest.mark.parametrize("scheme", ["http", "https"])
@pytest.mark.parametrize("name", CLIENTS)
def test_only_the_policy_decides_whether_a_tls_proxy_is_trusted(
    name: str, scheme: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    allow_outer(monkeypatch)
    of_policy, of_system = tmp_path / "policy", tmp_path / "system"
    for place in (of_policy, of_system):
        place.mkdir()
        certificate(place, "DNS:outer.test,IP:127.0.0.1")
    monkeypatch.setenv("SSL_CERT_FILE", str(of_system / "certificate.pem"))
    monkeypatch.setattr("certifi.where", lambda: str(of_system / "certificate.pem"))
    contexts = {place: ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER) for place in (of_policy, of_system)}
    for place, context in contexts.items():
        context.load_cert_chain(place / "certificate.pem", place / "key.pem")
    with servers(contexts[of_policy] if scheme == "https" else None) as server:
        for place in (of_system, of_policy):
            with proxy({"outer.test": OUTER}, contexts[place]) as between:
                policy = Policy(hosts=frozenset({"outer.test"}), tls=trusting(of_policy))
                policy = policy.with_(proxy=dict.fromkeys(("http", "https"), between.uri))
                uri = f"{scheme}://outer.test:{server.port}/"
                if place == of_policy:
                    assert CLIENTS[name][0](uri, policy, look_up) == 200
                else:
                    with pytest.raises(Exception, match=r"(?i)certificate"):
                        CLIENTS[name][0](uri, policy, look_up)
                assert len(between.asked) == len(server.outer) == (place == of_policy)


def test_a_copy_of_a_request_is_not_a_redirect(both: Recorded) -> None:
    """A login of Requests sends a copy after a status of 401; a redirect to the same URI is one, before it or after."""

    def log_in(answer: Any, **kwargs: Any) -> Any:
        if "X-Login" in answer.request.headers or answer.is_redirect:
            return answer
        request = answer.request.copy()
        request.headers["X-Login"] = "1"
        answer.close()
        return answer.connection.send(request)

    policy = Policy(max_redirects=0, redirects=frozenset())
    with requests_guard.guarded_session(policy, resolve=look_up) as session:
        answer = session.get(both.uri("outer"), hooks={"response": log_in})
        assert (answer.status_code, len(both.outer)) == (200, 2)
        with pytest.raises(requests_guard.Refused):
            session.get(both.redirect("third"), hooks={"response": log_in})
    for hooks in ({}, {"response": log_in}):
        both.outer.clear()
        with (
            requests_guard.guarded_session(Policy(max_redirects=3), resolve=look_up) as session,
            pytest.raises(requests_guard.Refused, match="more than 3 redirects"),
        ):
            session.get(both.uri("outer", "/to302?%23"), hooks=hooks)  # "#" is the same URI
        assert len(both.outer) == 4


def test_requests_sends_no_login_of_another_proxy(both: Recorded) -> None:
    """Requests adds the login of the proxy that it would use for the redirect."""
    foreign = {"http": "http://corp:s3cret@proxy.invalid:3128"}
    for mounted in (False, True):
        made = requests.Session() if mounted else requests_guard.guarded_session(resolve=look_up)
        with made as session:
            if mounted:
                session.mount("http://", requests_guard.adapter(resolve=look_up))
            session.proxies.update(foreign)
            assert session.get(both.redirect("third"), proxies=foreign).status_code == 200
        assert "Proxy-Authorization" not in both.outer[-1][1]


def test_requests_keeps_parameters_of_a_session_and_what_a_login_signs(both: Recorded) -> None:
    def sign(request: requests.PreparedRequest) -> requests.PreparedRequest:
        request.url = f"{request.url}?sig=1"
        return request

    with requests_guard.guarded_session(resolve=look_up) as session:
        session.get(both.uri("outer", "/%7Ea"), auth=("u", "p"))
        assert both.outer[-1][0] == "/%7Ea"
        session.get(both.uri("outer"), auth=sign)
        assert both.outer[-1][0] == "/?sig=1"
        session.params = {"tenant": "7"}
        session.get(both.uri("outer"))
        assert both.outer[-1][0] == "/?tenant=7"


def test_aiohttp_follows_no_more_redirects_than_the_policy_allows(both: Recorded) -> None:
    async def ask() -> None:
        policy = Policy(max_redirects=0)
        async with aiohttp_guard.guarded_session(policy, resolve=look_up_async) as session:
            async with session.get(both.uri("outer")) as answer:
                assert answer.status == 200
            with pytest.raises(aiohttp_guard.Refused, match="more than 0 redirects"):
                await session.get(both.redirect("third"))

    asyncio.run(ask())


@pytest.mark.parametrize("library", HTTPX)
def test_silent_addresses_share_the_connection_timeout(library: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The owner of a name chooses how many addresses it has."""
    backend = import_module(f"overthere.integrations.{library}").AsyncGuard()._pool._network_backend
    timeouts: list[float] = []

    class Silent:
        async def connect_tcp(self, host: str, port: int, timeout: float, **settings: Any) -> None:
            timeouts.append(timeout)
            raise backend.core.ConnectTimeout

    monkeypatch.setattr(backend, "backend", Silent())
    monkeypatch.setattr(backend, "resolve", many)
    with pytest.raises(backend.core.ConnectTimeout):
        asyncio.run(backend.connect_tcp("many.test", 80, timeout=5.0))
    assert len(timeouts) == 20
    assert timeouts[0] <= 5.0 / 20


@pytest.mark.parametrize("library", HTTPX)
def test_silent_addresses_share_the_connection_timeout_without_an_event_loop(
    library: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    backend = import_module(f"overthere.integrations.{library}").Guard()._pool._network_backend
    timeouts: list[float] = []

    class Silent:
        def connect_tcp(self, host: str, port: int, timeout: float, **settings: Any) -> None:
            timeouts.append(timeout)
            raise backend.core.ConnectTimeout

    monkeypatch.setattr(backend, "backend", Silent())
    monkeypatch.setattr(backend, "resolve", lambda host, port: asyncio.run(many(host, port)))
    with pytest.raises(backend.core.ConnectTimeout):
        backend.connect_tcp("many.test", 80, timeout=5.0)
    assert len(timeouts) == 20
    assert 0 < timeouts[0] <= 5.0 / 20


async def many(host: str, port: int) -> list[str]:
    return [f"93.184.215.{number}" for number in range(1, 21)]


async def _connector(policy: Policy) -> aiohttp_guard.Connector:
    return aiohttp_guard.Connector(policy)


GUARDS = [
    *(
        getattr(import_module(f"overthere.integrations.{name}"), one)
        for name in HTTPX
        for one in ("Guard", "AsyncGuard")
    ),
    requests_guard.Adapter,
    urllib3_guard.Guard,
    lambda policy: asyncio.run(_connector(policy)),
]


@pytest.mark.parametrize("make", GUARDS)
def test_the_policy_of_a_guard_cannot_be_replaced(make: Callable[[Policy], Any]) -> None:
    """Its resolver and open connections would keep the first policy, so that a stricter one would not apply."""
    guard, policy = make(local := Policy.local()), Policy()
    with pytest.raises(AttributeError):
        guard.policy = policy
    assert guard.policy is local
