"""Guards of HTTP clients, directly, by a forwarding proxy and through tunnels: redirects and trusted certificates."""

from __future__ import annotations

import ssl
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote

import pytest
from guarded import CLIENTS, INNER, OUTER, Servers, allow_outer, servers
from proxied import Proxy, proxy

from overthere import Policy
from servers.nginx import certificate, trusting

NAMES = {"outer.test": OUTER, "inner.test": INNER}
ROUTES = ("http", "https", "http by a proxy", "https by a proxy")
FORBIDDEN = (
    "{scheme}://127.0.0.1:{port}", "{scheme}://inner.test:{port}", "//inner.test:{port}", "//127.1:{port}",
    "//x@inner.test:{port}", "//[::ffff:127.0.0.1]:{port}", "//outer.test:22", "//outer.test:x@inner.test:{port}",
    "{other}://127.0.0.1:{other_port}", "{other}://inner.test:{other_port}", "//inner%2etest:{port}",
    "//outer.test.:25", "gopher://inner.test:{port}",
)  # fmt: skip


class World(NamedTuple):
    plain: Servers
    secure: Servers
    proxy: Proxy
    trust: Path
    """The folder of the servers' certificate."""


@pytest.fixture(scope="module")
def trust(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("trust")
    certificate(folder, "DNS:outer.test,DNS:inner.test,IP:127.0.0.1,IP:127.0.0.2")
    return folder


@pytest.fixture
def world(monkeypatch: pytest.MonkeyPatch, trust: Path) -> Iterator[World]:
    allow_outer(monkeypatch)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(trust / "certificate.pem", trust / "key.pem")
    with servers() as plain, servers(context) as secure, proxy(NAMES) as between:
        yield World(plain, secure, between, trust)


def look_up(host: str, port: int) -> list[str]:
    if (addresses := NAMES.get(host.lower().removesuffix("."))) is None:
        raise OSError("no such name")
    return [addresses]


def policy_of(world: World, route: str, trust: Path | None = None, **changes: object) -> Policy:
    proxies = dict.fromkeys(("http", "https"), world.proxy.uri) if "proxy" in route else {}
    policy = Policy(hosts=frozenset({"outer.test"}), proxy=proxies, tls=trusting(trust or world.trust))
    return policy.with_(**changes)


@pytest.mark.parametrize("route", ROUTES)
@pytest.mark.parametrize("name", CLIENTS)
def test_no_redirect_reaches_a_forbidden_server_or_asks_a_proxy_for_it(name: str, route: str, world: World) -> None:
    fetch, _ = CLIENTS[name]
    scheme = route.partition(" ")[0]
    own, second = (world.plain, world.secure) if scheme == "http" else (world.secure, world.plain)
    allowed = {f"outer.test:{own.port}", f"outer.test:{second.port}"}
    for target in FORBIDDEN:
        other = "https" if scheme == "http" else "http"
        target_uri = target.format(scheme=scheme, other=other, port=own.port, other_port=second.port)
        for path in ("to?" + quote(f"{target_uri}/", safe=""), "same?" + quote(target_uri, safe="")):
            before = len(own.outer)
            with pytest.raises(Exception):  # noqa: B017, PT011 - of the guard or of the client
                fetch(f"{scheme}://outer.test:{own.port}/{path}", policy_of(world, route), look_up)
            assert len(own.outer) == before + 1, path
            assert world.plain.inner == [] == world.secure.inner, path
            assert {server for _, server, _ in world.proxy.asked} <= allowed, path
    assert bool(world.proxy.asked) == ("proxy" in route)


@pytest.mark.parametrize("route", ROUTES)
@pytest.mark.parametrize("name", CLIENTS)
def test_allowed_redirects_are_followed_with_their_own_host(name: str, route: str, world: World) -> None:
    """Also from http to https; back only if `Policy.downgrade` allows it."""
    fetch, refused = CLIENTS[name]
    scheme = route.partition(" ")[0]
    server, second = (world.plain, world.secure) if scheme == "http" else (world.secure, world.plain)
    other = "https" if scheme == "http" else "http"
    start = f"{scheme}://outer.test:{server.port}/to?"
    assert fetch(start + quote("/end", safe=""), policy_of(world, route), look_up) == 200
    assert server.outer[-1] == ("/end", f"outer.test:{server.port}")
    away = start + quote(f"{other}://outer.test:{second.port}/end", safe="")
    if scheme == "https":
        with pytest.raises(refused, match="leaves https"):
            fetch(away, policy_of(world, route), look_up)
        assert second.outer == []
    assert fetch(away, policy_of(world, route, downgrade=True), look_up) == 200
    assert second.outer == [("/end", f"outer.test:{second.port}")]


@pytest.mark.parametrize("route", ["https", "https by a proxy"])
@pytest.mark.parametrize("name", CLIENTS)
def test_only_the_authorities_of_the_policy_are_trusted(name: str, route: str, world: World, tmp_path: Path) -> None:
    fetch, _ = CLIENTS[name]
    uri = f"https://outer.test:{world.secure.port}/"
    policy = policy_of(world, route)
    assert fetch(uri, policy, look_up) == 200
    assert policy.tls is not None
    assert policy.tls.cert_store_stats()["x509"] == 1
    certificate(tmp_path, "DNS:outer.test")
    stranger = policy_of(world, route, tmp_path)
    with pytest.raises(Exception, match=r"(?i)certificate"):
        fetch(uri, stranger, look_up)
    assert stranger.tls is not None
    assert (stranger.tls.cert_store_stats()["x509"], stranger.tls.verify_mode) == (1, ssl.CERT_REQUIRED)
    assert len(world.secure.outer) == 1


@pytest.mark.parametrize("verify", [False, "bundle"])
@pytest.mark.parametrize("route", ["https", "https by a proxy"])
def test_no_setting_of_a_session_trusts_more(route: str, verify: bool | str, world: World, tmp_path: Path) -> None:
    from overthere.integrations.requests import guarded_session

    certificate(tmp_path, "DNS:outer.test")
    policy = policy_of(world, route, tmp_path)
    with guarded_session(policy, resolve=look_up) as session:
        session.verify = str(world.trust / "certificate.pem") if verify else False
        with pytest.raises(Exception, match=r"(?i)certificate"):
            session.get(f"https://outer.test:{world.secure.port}/")
    assert policy.tls is not None
    assert (policy.tls.cert_store_stats()["x509"], policy.tls.verify_mode) == (1, ssl.CERT_REQUIRED)
    assert world.secure.outer == []


def test_closing_a_client_closes_its_proxy_connections(world: World) -> None:
    """`PoolManager` closes them in `clear`, which the end of a `with` calls too."""
    from overthere.integrations.urllib3 import Guard

    with Guard(policy_of(world, "http by a proxy"), resolve=look_up) as guard:
        assert guard.request("GET", f"http://outer.test:{world.plain.port}/").status == 200
        (pools,) = (manager.pools for manager in guard._proxy_managers.values() if len(manager.pools))
    assert len(pools) == 0
