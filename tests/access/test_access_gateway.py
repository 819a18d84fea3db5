"""Gateways in use: a scheme without its own access, through an HTTP server."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import anyio
import pytest

from overthere import URI, Credentials, Gateways, NotSpecified, PlanRefused
from overthere.access.errors import AccessRefused
from overthere.access.opening import aopen
from overthere.access.opening import open as open_
from overthere.access.policy import Policy
from servers.faults import assert_no_leaks

LOCAL_POLICY = Policy.local().with_(read_timeout=60)


class Handler(BaseHTTPRequestHandler):
    """Records the request and answers with it; `/moved` redirects."""

    asked: list[tuple[str, str]]

    def do_GET(self) -> None:
        self.asked.append((self.path, self.headers["Host"]))
        self.server.authorizations.append(self.headers["Authorization"])  # type: ignore[attr-defined]
        body = self.path.encode()
        if self.path.startswith("/moved"):
            self.send_response(303)
            self.send_header("Location", self.path.partition("?to=")[2].replace("%3A", ":").replace("%2F", "/"))
            body = b""
        else:
            self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        pass


class Server:
    def __init__(self, work: ThreadingHTTPServer) -> None:
        self.work = work
        self.asked = Handler.asked
        self.at = f"127.0.0.1:{work.server_address[1]}"


@pytest.fixture
def server() -> Iterator[Server]:
    Handler.asked = []
    with assert_no_leaks(), ThreadingHTTPServer(("127.0.0.1", 0), Handler) as work:
        work.authorizations = []  # type: ignore[attr-defined]
        thread = threading.Thread(target=work.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        yield Server(work)
        work.shutdown()
        thread.join(5)


def sync(*args: Any, **kwargs: Any) -> tuple[Any, bytes]:
    with open_(*args, **kwargs) as resource:
        return resource, resource.read()


def on(backend: str) -> Callable[..., tuple[Any, bytes]]:
    async def run(args: Any, kwargs: Any) -> tuple[Any, bytes]:
        async with await aopen(*args, **kwargs) as resource:
            return resource, await resource.read()

    return lambda *args, **kwargs: anyio.run(run, args, kwargs, backend=backend)


@pytest.fixture(params=["sync", "asyncio", "trio"])
def fetch(request: pytest.FixtureRequest) -> Callable[..., tuple[Any, bytes]]:
    return sync if request.param == "sync" else on(request.param)


Fetch = Callable[..., tuple[Any, bytes]]


def test_a_scheme_without_access(fetch: Fetch, server: Server) -> None:
    gateways = Gateways({"xmpp": f"http://{server.at}/?{{uri}}"})
    with pytest.raises(NotSpecified):
        fetch("xmpp://h.example/x", LOCAL_POLICY)
    resource, content = fetch("xmpp://h.example/x?y=1#z", LOCAL_POLICY, gateways=gateways)
    assert content == b"/?xmpp%3A%2F%2Fh.example%2Fx%3Fy%3D1"
    assert server.asked == [(content.decode(), server.at)]
    assert resource.gateway == URI(f"http://{server.at}{content.decode()}")
    assert resource.uri == URI("xmpp://h.example/x?y=1#z")
    assert resource.history == ()
    assert fetch(f"http://{server.at}/", LOCAL_POLICY, gateways=gateways)[0].gateway is None


def test_through_two_gateways(fetch: Fetch, server: Server) -> None:
    gateways = Gateways({"xmpp": "x-gw://gw.example/{scheme}{+path}", "x-gw": f"http://{server.at}/two{{+path}}"})
    resource, content = fetch("xmpp://h.example/x", LOCAL_POLICY, gateways=gateways)
    assert content == b"/two/xmpp/x"
    assert resource.gateway == URI("x-gw://gw.example/xmpp/x")
    assert resource.plan.done.uri == f"http://{server.at}/two/xmpp/x"


def test_the_policy_applies_to_the_gateway(fetch: Fetch, server: Server) -> None:
    gateways = Gateways({"xmpp": f"http://{server.at}/?{{uri}}"})
    for policy, rule in (
        (Policy(), "address"),
        (LOCAL_POLICY.with_(hosts=frozenset(("h.example",))), "host"),
        (LOCAL_POLICY.with_(schemes=frozenset(("xmpp",))), "scheme"),
        (LOCAL_POLICY.with_(schemes=frozenset(("http",))), "scheme"),
    ):
        with pytest.raises(AccessRefused) as caught:
            fetch("xmpp://h.example/x", policy, gateways=gateways)
        assert caught.value.rule == rule
        assert "xmpp://h.example/x" in str(caught.value)
    with pytest.raises(AccessRefused, match="port 25"):
        fetch("xmpp://h/x", Policy(private=True), gateways=Gateways({"xmpp": "http://127.0.0.1:25/{host}"}))
    assert not server.asked
    policy = LOCAL_POLICY.with_(schemes=frozenset(("xmpp", "http")), hosts=frozenset(("127.0.0.1",)))
    assert fetch("xmpp://h.example/x", policy, gateways=gateways)[1]


def test_a_redirect_of_the_gateway_is_relative_to_it(fetch: Fetch, server: Server) -> None:
    resource, content = fetch(
        "urn:example:..%2Fthere", LOCAL_POLICY, gateways=Gateways({"urn": f"http://{server.at}/moved?to=there"})
    )
    assert content == b"/there"
    assert resource.uri == URI(f"http://{server.at}/there")
    assert resource.history == (URI("urn:example:..%2Fthere"),)
    assert resource.gateway == URI(f"http://{server.at}/moved?to=there"), "it stays known that a gateway stood in"
    for location in ("file:///etc/passwd", "//h.example:25/"):
        with pytest.raises((AccessRefused, PlanRefused)):
            fetch(
                "urn:example:a",
                LOCAL_POLICY.with_(ports=frozenset()),
                gateways=Gateways({"urn": f"http://{server.at}/moved?to={location}"}),
            )


def test_no_password_is_sent_to_a_gateway(fetch: Fetch, server: Server) -> None:
    gateways = Gateways({"xmpp": f"http://{server.at}/?{{uri}}"})
    fetch("xmpp://h.example/x", LOCAL_POLICY, gateways=gateways, credentials=Credentials("joe", "s3cr3t"))
    assert server.work.authorizations == [None]  # type: ignore[attr-defined]
    with pytest.raises(PlanRefused):
        fetch("xmpp://joe:s3cr3t@h.example/x", LOCAL_POLICY, gateways=gateways)
    assert "s3cr3t" not in str(server.asked)
