"""What a caller sets at a guarded client: hooks, logins, retries, proxies, and TLS beside that of the policy."""

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


class Asked(NamedTuple):
    """What a server was asked: of inner and outer."""

    port: int
    inner: list[tuple[str, dict[str, str], bytes]]
    outer: list[tuple[str, dict[str, str], bytes]]

    def uri(self, name: str, path: str = "/") -> str:
        return f"http://{name}.test:{self.port}{path}"

    def redirect(self, name: str, code: int = 302) -> str:
        return self.uri("outer", f"/to{code}?{quote(self.uri(name), safe='')}")


def _answering(asked: list[tuple[str, dict[str, str], bytes]]) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            chunked = self.headers.get("Transfer-Encoding") == "chunked"
            while chunked and (size := int(self.rfile.readline(), 16)):
                body += self.rfile.read(size + 2)[:-2]
            if chunked:
                self.rfile.readline()
            asked.append((self.path, dict(self.headers.items()), body))
            busy = self.path.startswith("/busy") and len(asked) < 4
            if busy or self.path.startswith(("/to", "/busy")):
                self.send_response(503 if busy else 302 if self.path.startswith("/busy") else int(self.path[3:6]))
                self.send_header("Location", "/end" if self.path == "/busy" else unquote(self.path.partition("?")[2]))
            else:
                self.send_response(200)
            self.send_header("Content-Length", "2")
            self.end_headers()
            self.wfile.write(b"ok")

        do_POST = do_GET  # noqa: N815 - a name of http.server

        def log_message(self, *given: Any) -> None:
            pass

    return Handler


@pytest.fixture
def both(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Asked]:
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
    for one in (first, second):
        one.handle_error = lambda *given: None  # type: ignore[method-assign]  # a client that leaves
        Thread(target=one.serve_forever, args=(0.05,), daemon=True).start()
    for name in ("http_proxy", "https_proxy", "all_proxy"):
        monkeypatch.setenv(name, f"http://{INNER}:{first.server_port}")
        monkeypatch.setenv(name.upper(), f"http://{INNER}:{first.server_port}")
    try:
        yield Asked(first.server_port, inner, outer)
    finally:
        for one in (first, second):
            one.shutdown()
            one.server_close()


def look_up(host: str, port: int) -> list[str]:
    return NAMES[host.lower().removesuffix(".")]


async def look_up_async(host: str, port: int) -> list[str]:
    return look_up(host, port)


def pieces() -> Iterator[bytes]:
    for _ in range(10):
        yield b"x" * 1000


@pytest.mark.parametrize("library", HTTPX)
def test_no_hook_of_httpx_leads_around(library: str, both: Asked) -> None:
    """Hooks that change the URL, its host, the target or a Location, follow a redirect, or log in elsewhere."""
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
        with client(event_hooks={kind: [hook]}) as one, pytest.raises(guard.Refused):
            one.get(to)
    with client() as one, pytest.raises(guard.Refused):
        one.get(both.uri("outer"), auth=Login())
    with client() as one:
        answer = one.get(both.redirect("inner"), follow_redirects=False)
        with pytest.raises(guard.Refused):
            one.send(answer.next_request)
        for code in (301, 302, 303, 307, 308):
            with pytest.raises(guard.Refused):
                one.post(both.redirect("inner", code), content=pieces())
            assert one.post(both.redirect("third", code), content=b"x" * 999, auth=("u", "p")).status_code == 200
            assert "Authorization" not in both.outer[-1][1]
            assert len(both.outer[-1][2]) == (999 if code > 303 else 0)
    assert both.inner == []


@pytest.mark.parametrize("mounted", [False, True])
def test_no_hook_of_requests_leads_around(mounted: bool, both: Asked) -> None:
    """Nor bodies that are streams, proxies of a request, a login of .netrc, or a copy that was pickled."""
    inner = both.uri("inner")

    def session() -> requests.Session:
        if not mounted:
            return requests_guard.guarded_session(resolve=look_up)
        made = requests.Session()
        for prefix in ("http://", "https://"):
            made.mount(prefix, requests_guard.adapter(resolve=look_up))
        return made

    def change_location(answer: Any, **given: Any) -> None:
        answer.headers["location"] = inner

    def send_again(answer: Any, **given: Any) -> Any:
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
            sent = both.outer[-1][1].get("Authorization")  # of .netrc, which Requests reads for each host
            assert sent is None if not mounted else sent not in ("A", both.outer[-2][1]["Authorization"])
        with pytest.raises(urllib3_guard.Refused, match="was not judged"):
            one.get_adapter("http://").poolmanager.request("GET", inner)  # type: ignore[attr-defined]
        with pickle.loads(pickle.dumps(one)) as copied:
            assert copied.get(both.uri("outer")).status_code == 200
            with pytest.raises(requests_guard.Refused):
                copied.get(inner)
    assert both.inner == []


def test_retries_of_urllib3(both: Asked) -> None:
    """Each redirect is judged whatever a `Retry` keeps; a retry is no redirect; no login goes along."""

    class Forgetful(urllib3.Retry):
        def increment(self, *given: Any, **settings: Any) -> Any:
            made = super().increment(*given, **settings)
            made.history = ()
            return made

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


def test_no_middleware_of_aiohttp_leads_around(both: Asked, monkeypatch: pytest.MonkeyPatch) -> None:
    async def fetch(uri: str, method: str = "GET", **settings: Any) -> int:
        own = settings.pop("session", {})
        async with (
            aiohttp_guard.guarded_session(resolve=look_up_async, **own) as session,
            session.request(method, uri, **settings) as answer,
        ):
            return answer.status

    async def change_url(request: Any, handler: Any) -> Any:
        request.url = aiohttp_guard.exact(both.uri("inner"))
        return await handler(request)

    async def stream() -> Any:
        for piece in pieces():
            yield piece

    own = f"http://{INNER}:{both.port}"
    for settings in (
        {"proxy": own},
        {"session": {"proxy": own}},
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
    """Ways to trust more than the policy, or to show a certificate; each requests a URI."""
    bundle, shown, key = (
        str(one) for one in (folder / "certificate.pem", stranger / "certificate.pem", stranger / "key.pem")
    )
    anybody = ssl._create_unverified_context()

    def by_httpx(uri: str, policy: Policy, *, library: str, **settings: Any) -> Any:
        guard = import_module(f"overthere.integrations.{library}").Guard(policy, resolve=look_up, **settings)
        with import_module(library).Client(transport=guard) as client:
            return client.get(uri)

    more: dict[str, Any]
    for library in HTTPX:
        for more in ({"verify": False}, {"verify": anybody}, {"verify": bundle}, {"cert": (shown, key)}):
            yield f"{library} {[*more]}", partial(by_httpx, library=library, **more)

    def by_urllib3(uri: str, policy: Policy, **settings: Any) -> Any:
        with urllib3_guard.Guard(policy, resolve=look_up, retries=False, **settings) as pool:
            return pool.request("GET", uri)

    for more in (
        {"cert_reqs": "CERT_NONE"}, {"cert_reqs": "CERT_OPTIONAL"}, {"ca_certs": bundle},
        {"ca_cert_data": Path(bundle).read_text()}, {"ca_cert_dir": str(folder)}, {"ssl_context": anybody},
        {"assert_hostname": False}, {"assert_hostname": "x.test"}, {"assert_fingerprint": "00" * 32},
        {"cert_file": shown, "key_file": key},
    ):  # fmt: skip
        yield f"urllib3 {[*more]}", partial(by_urllib3, **more)

    def by_requests(uri: str, policy: Policy, **settings: Any) -> Any:
        with requests_guard.guarded_session(policy, resolve=look_up) as session:
            return session.get(uri, **settings)

    for more in ({"verify": False}, {"verify": bundle}, {"cert": (shown, key)}):
        yield f"requests {[*more]}", partial(by_requests, **more)

    def by_aiohttp(uri: str, policy: Policy, *, own: Any, **settings: Any) -> Any:
        async def fetch() -> int:
            connector = aiohttp_guard.Connector(policy, resolve=look_up_async, **own)
            async with aiohttp.ClientSession(connector=connector) as session, session.get(uri, **settings) as answer:
                return answer.status

        return asyncio.run(fetch())

    for more in ({"ssl": False}, {"ssl": anybody}, {"ssl": aiohttp.Fingerprint(b"0" * 32)}, {"verify_ssl": False}):
        for own, each in (({}, more), (more, {})):
            yield f"aiohttp {own} {each}", partial(by_aiohttp, own=own, **each)


def test_no_setting_of_tls_stands_beside_that_of_the_policy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is requested, and the context of the policy, which others have too, stays as it was."""
    allow_outer(monkeypatch)
    folder, stranger = tmp_path / "known", tmp_path / "stranger"
    for one in (folder, stranger):
        one.mkdir()
        certificate(one, "DNS:outer.test")
    shown = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    shown.load_cert_chain(folder / "certificate.pem", folder / "key.pem")
    shown.verify_mode = ssl.CERT_OPTIONAL
    shown.load_verify_locations(stranger / "certificate.pem")
    ways = 0
    with servers(shown) as secure, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for way, fetch in _tls_settings(folder, stranger):
            tls = trusting(stranger)
            policy = Policy(hosts=frozenset({"outer.test"}), tls=tls)
            with pytest.raises((TypeError, AccessRefused, ssl.SSLError, requests.exceptions.SSLError)):
                fetch(f"https://outer.test:{secure.port}/", policy)
            state = tls.verify_mode, tls.check_hostname, tls.cert_store_stats()["x509"]
            assert state == (ssl.CERT_REQUIRED, True, 1), way
            ways += 1
    assert (ways, secure.outer) == (29, [])


@pytest.mark.parametrize("scheme", ["http", "https"])
@pytest.mark.parametrize("name", CLIENTS)
def test_a_proxy_with_tls_is_trusted_by_the_policy_alone(
    name: str, scheme: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    allow_outer(monkeypatch)
    of_policy, of_system = tmp_path / "policy", tmp_path / "system"
    for one in (of_policy, of_system):
        one.mkdir()
        certificate(one, "DNS:outer.test,IP:127.0.0.1")
    monkeypatch.setenv("SSL_CERT_FILE", str(of_system / "certificate.pem"))
    monkeypatch.setattr("certifi.where", lambda: str(of_system / "certificate.pem"))
    shown = {one: ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER) for one in (of_policy, of_system)}
    for one, context in shown.items():
        context.load_cert_chain(one / "certificate.pem", one / "key.pem")
    with servers(shown[of_policy] if scheme == "https" else None) as own:
        for one in (of_system, of_policy):
            with proxy({"outer.test": OUTER}, shown[one]) as between:
                policy = Policy(hosts=frozenset({"outer.test"}), tls=trusting(of_policy))
                policy = policy.with_(proxy=dict.fromkeys(("http", "https"), between.uri))
                uri = f"{scheme}://outer.test:{own.port}/"
                if one == of_policy:
                    assert CLIENTS[name][0](uri, policy, look_up) == 200
                else:
                    with pytest.raises(Exception, match=r"(?i)certificate"):
                        CLIENTS[name][0](uri, policy, look_up)
                assert len(between.asked) == len(own.outer) == (one == of_policy)


def test_requests_sends_no_login_of_another_proxy(both: Asked) -> None:
    """Requests writes it for a redirect, for the proxy that it would ask."""
    foreign = {"http": "http://corp:s3cret@proxy.invalid:3128"}
    for mounted in (False, True):
        made = requests.Session() if mounted else requests_guard.guarded_session(resolve=look_up)
        with made as session:
            if mounted:
                session.mount("http://", requests_guard.adapter(resolve=look_up))
            session.proxies.update(foreign)
            assert session.get(both.redirect("third"), proxies=foreign).status_code == 200
        assert "Proxy-Authorization" not in both.outer[-1][1]


def test_requests_keeps_parameters_of_a_session_and_what_a_login_signs(both: Asked) -> None:
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


def test_aiohttp_follows_no_more_redirects_than_the_policy_allows(both: Asked) -> None:
    async def ask() -> None:
        policy = Policy(max_redirects=0)
        async with aiohttp_guard.guarded_session(policy, resolve=look_up_async) as session:
            async with session.get(both.uri("outer")) as answer:
                assert answer.status == 200
            with pytest.raises(aiohttp_guard.Refused, match="more than 0 redirects"):
                await session.get(both.redirect("third"))

    asyncio.run(ask())


@pytest.mark.parametrize("library", HTTPX)
def test_silent_addresses_share_the_time_of_a_connection(library: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Who owns a name chooses how many addresses it has."""
    backend = import_module(f"overthere.integrations.{library}").AsyncGuard()._pool._network_backend
    given: list[float] = []

    class Silent:
        async def connect_tcp(self, host: str, port: int, timeout: float, **settings: Any) -> None:
            given.append(timeout)
            raise backend.core.ConnectTimeout

    monkeypatch.setattr(backend, "backend", Silent())
    monkeypatch.setattr(backend, "resolve", many)
    with pytest.raises(backend.core.ConnectTimeout):
        asyncio.run(backend.connect_tcp("many.test", 80, timeout=5.0))
    assert len(given) == 20
    assert given[0] <= 5.0 / 20


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
def test_the_policy_of_a_guard_is_not_replaced(make: Callable[[Policy], Any]) -> None:
    """Its resolver and its open connections would keep the first one: a stricter one would not hold."""
    guard, policy = make(local := Policy.local()), Policy()
    with pytest.raises(AttributeError):
        guard.policy = policy
    assert guard.policy is local
