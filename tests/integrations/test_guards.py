"""The guards of HTTP clients with servers on loopback: the inner one is never reached."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from importlib import import_module
from itertools import cycle
from types import SimpleNamespace
from typing import Any
from urllib.parse import quote

import pytest
import requests
from guarded import CLIENTS, INNER, OUTER, Servers, allow_outer, servers
from hostile import REDIRECTS, hostile
from hostile_names import HOSTILE_NAMES

from growth import outgrows
from overthere import AccessRefused, OverthereError, Policy
from overthere.integrations import transports
from overthere.integrations.guarding import judge_request

NAMES = {"outer.test": [OUTER], "inner.test": [INNER], "mixed.test": [INNER, OUTER], "six.test": ["::1"]}


def look_up(host: str, port: int) -> list[str]:
    if (addresses := NAMES.get(host.lower().removesuffix("."))) is None:
        raise OSError("no such name")
    return addresses


@pytest.fixture
def both(monkeypatch: pytest.MonkeyPatch) -> Iterator[Servers]:
    allow_outer(monkeypatch)
    with servers() as running:
        yield running


def is_client_error(error: Exception, name: str) -> bool:
    """Whether an exception is one of the client library's."""
    return type(error).__module__.split(".")[0] == name.split(" ")[0]


@pytest.mark.parametrize("name", CLIENTS)
def test_no_hostile_target_is_reached(name: str, both: Servers) -> None:
    """Each is rejected or unreachable, with an exception of the client library or of the guard."""
    fetch, refused = CLIENTS[name]
    counted = 0
    for uri in hostile(both.port):
        with pytest.raises(Exception) as caught:  # noqa: PT011 - of the client, which may refuse the text itself
            fetch(uri, Policy(), look_up)
        counted += isinstance(caught.value, refused)
        assert isinstance(caught.value, refused) or is_client_error(caught.value, name), (uri, caught.value)
    assert both.inner == [] == both.outer
    assert counted > 80


@pytest.mark.parametrize("name", CLIENTS)
def test_no_redirect_reaches_the_inner_server(name: str, both: Servers) -> None:
    fetch, refused = CLIENTS[name]
    for target in REDIRECTS:
        encoded = quote(target.format(port=both.port), safe="")
        uri = f"http://outer.test:{both.port}/to?{encoded}"
        try:
            status = fetch(uri, Policy(), look_up)
        except Exception as error:
            if not isinstance(error, refused) and not is_client_error(error, name):
                raise
        else:
            assert status in (200, 302), target  # clients follow them on the same host or not at all
    assert both.inner == []
    assert len(both.outer) >= len(REDIRECTS)
    with pytest.raises(refused, match="loopback"):
        fetch(f"http://outer.test:{both.port}/to?http%3A%2F%2Finner.test%3A{both.port}%2F", Policy(), look_up)


@pytest.mark.parametrize("name", [name for name in CLIENTS if name != "requests mounted"])
@pytest.mark.parametrize(
    "location", ["/\xe9", "\xff\xfe", "?\xff", "#\x9b31m", "//h\x85/", "\xa0", "//outer.test\xe9/"]
)
def test_any_octets_in_a_location_are_an_error_of_the_client(name: str, location: str, both: Servers) -> None:
    """Without the session of the guard, Requests raises UnicodeDecodeError for what is not UTF-8."""
    fetch, refused = CLIENTS[name]
    uri = f"http://outer.test:{both.port}/to?{quote(location, encoding='latin-1')}"
    try:
        status = fetch(uri, Policy(max_redirects=3), look_up)
    except Exception as error:
        if not isinstance(error, refused) and not is_client_error(error, name):
            raise
    else:
        assert status in (200, 302)
    assert both.inner == []


@pytest.mark.parametrize("name", CLIENTS)
def test_redirects_obey_the_policy(name: str, both: Servers) -> None:
    """From TLS to plain text, and too many: `Policy.downgrade`, `Policy.max_redirects`."""
    fetch, refused = CLIENTS[name]
    redirect = f"http://outer.test:{both.port}/to?"
    twice = redirect + quote(redirect + quote(f"http://outer.test:{both.port}/end", safe=""), safe="")
    assert fetch(twice, Policy(max_redirects=2), look_up) == 200
    assert both.outer[-1][0] == "/end"
    only = Policy(redirects=frozenset({"ftp"}))
    with pytest.raises(refused, match="redirect leads from http to http"):
        fetch(twice, only, look_up)
    assert fetch(f"http://outer.test:{both.port}/end", only, look_up) == 200
    if name != "aiohttp":  # which has its own limit: max_redirects of a request
        with pytest.raises(refused, match="more than 1 redirects"):
            fetch(twice, Policy(max_redirects=1), look_up)


@pytest.mark.parametrize("name", [name for name in CLIENTS if name != "requests mounted"])
def test_an_allowed_uri_is_requested_unchanged(name: str, both: Servers) -> None:
    """With the name as Host; two that urllib3 would change are rejected."""
    fetch, refused = CLIENTS[name]
    texts = (
        "/", "/a/b?c=d", "/a;b=1?x=%7E&y=%2F", "/a//b", "/?q=a+b%20c", "/a?signature=abc%2Bdef%3D&x=",
        "/%E2%82%AC?%C3%A9",
        "/a?b?c/d", "/a/%2e%2e/b", "/%7Euser", "/a?x='y'", "/a?x=!*()", "/a?=&&", "/a?x=%2f%2F",
    )  # fmt: skip
    sent = 0
    for text in texts:
        both.outer.clear()
        try:
            assert fetch(f"http://outer.test:{both.port}{text}", Policy(), look_up) == 200
        except refused:
            assert both.outer == []
        else:
            assert both.outer == [(text, f"outer.test:{both.port}")]
            sent += 1
    assert sent == len(texts) - (2 if name in ("requests", "urllib3") else 0)
    both.outer.clear()
    assert fetch(f"http://mixed.test:{both.port}/", Policy(), look_up) == 200
    assert both.outer
    assert both.inner == []


@pytest.mark.parametrize("name", CLIENTS)
def test_dns_rebinding_has_no_effect(name: str, both: Servers) -> None:
    """The connection uses the address that was checked."""
    fetch, _ = CLIENTS[name]
    answers = cycle([[OUTER], [INNER], [INNER, OUTER]])
    given: list[list[str]] = []

    def changing(host: str, port: int) -> list[str]:
        given.append(next(answers))
        return given[-1]

    for _ in range(6):
        try:
            fetch(f"http://changing.test:{both.port}/", Policy(), changing)
        except AccessRefused:
            assert given[-1] == [INNER]
    assert both.inner == []
    assert len(both.outer) == 4
    assert len(given) == 6, "a name was looked up twice"


@pytest.mark.parametrize("name", CLIENTS)
def test_proxies_of_the_environment_are_ignored(name: str, both: Servers, monkeypatch: pytest.MonkeyPatch) -> None:
    fetch, refused = CLIENTS[name]
    for variable in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(variable, f"http://127.0.0.1:{both.port}")
    if name == "aiohttp":  # which was told to use one
        with pytest.raises(refused, match="proxy"):
            fetch(f"http://outer.test:{both.port}/", Policy(), look_up)
    else:
        assert fetch(f"http://outer.test:{both.port}/", Policy(), look_up) == 200
    assert both.inner == []


@pytest.mark.parametrize("name", CLIENTS)
def test_the_proxy_of_the_policy_is_used(name: str, both: Servers) -> None:
    """It may have any address, and gets requests in absolute form; their targets are checked."""
    fetch, refused = CLIENTS[name]
    policy = Policy(proxy={"http": f"http://127.0.0.1:{both.port}"})
    assert fetch("http://anywhere.test/a?b", policy, look_up) == 200
    assert both.inner == [("http://anywhere.test/a?b", "anywhere.test")]
    with pytest.raises(refused):
        fetch("http://10.0.0.1/", policy, look_up)
    assert len(both.inner) == 1
    if name.startswith("requests"):  # http.client cannot request it from a proxy, and raises AssertionError
        with pytest.raises(refused):
            fetch("http://%C3%A9.test/", policy, look_up)
    assert both.outer == []


@pytest.mark.parametrize("name", CLIENTS)
def test_a_rejection_names_its_rule(name: str, both: Servers) -> None:
    fetch, refused = CLIENTS[name]
    for uri, policy, rule in (
        ("http://127.0.0.1/", Policy(), "address"),
        ("http://outer.test:25/", Policy(), "port"),
        ("http://outer.test/", Policy(hosts=frozenset({"other.test"})), "host"),
        ("http://outer.test/", Policy(schemes=frozenset({"https"})), "scheme"),
    ):
        with pytest.raises(refused) as caught:
            fetch(uri, policy, look_up)
        assert isinstance(caught.value, AccessRefused)
        assert caught.value.rule == rule
        assert caught.value.source.startswith("RFC 3986 7")
    with pytest.raises(refused) as caught:
        fetch("http://joe:secret@127.0.0.1/", Policy(), look_up)
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize("name", CLIENTS)
def test_an_unknown_name_is_an_error_of_the_client(name: str, both: Servers) -> None:
    fetch, _ = CLIENTS[name]
    with pytest.raises(Exception) as caught:  # noqa: PT011
        fetch("http://nowhere.test/", Policy(), look_up)
    assert is_client_error(caught.value, name)


def test_a_guard_needs_a_network_backend() -> None:
    with pytest.raises(RuntimeError, match="no guard"):
        transports.put_backend(SimpleNamespace(_pool=SimpleNamespace()), lambda own: own)


@pytest.mark.parametrize("setting", ["proxy", "uds"])
def test_settings_that_bypass_the_guard_are_rejected(setting: str) -> None:
    from overthere.integrations.httpx import AsyncGuard, Guard

    settings: dict[str, Any] = {setting: "x"}
    for guard in (Guard, AsyncGuard):
        with pytest.raises(TypeError, match=setting):
            guard(**settings)


@pytest.mark.parametrize("text", ["http://h/{}", "http://{}/", "http://h/?{}", "{}"])
@pytest.mark.parametrize("unit", ["a", "/", "%41", ".", "@", "\u0301", ":", "[", "\\"])
def test_checking_a_target_is_linear(text: str, unit: str) -> None:
    def judge(value: str) -> None:
        with suppress(OverthereError):
            judge_request(Policy(), value)

    assert outgrows(judge, lambda length: text.format(unit * length), (2_000, 8_000, 32_000), 0.05) is None


@pytest.mark.parametrize("proxied", [False, True])
@pytest.mark.parametrize("name", CLIENTS)
def test_invalid_host_names_are_rejected(name: str, proxied: bool, both: Servers) -> None:
    """Unescaped, escaped, and in a redirect: with an exception of the guard or of the client library."""
    fetch, refused = CLIENTS[name]
    origin = f"http://127.0.0.1:{both.port}"
    policy = Policy(proxy=dict.fromkeys(("http", "https"), origin) if proxied else {})
    for host in HOSTILE_NAMES:
        escaped = "".join(f"%{octet:02X}" for octet in host.encode("utf-8", "surrogatepass"))
        hosts = [escaped, host] if host.isascii() and not set(host) & set("/?#@:\\\t\r\n") else [escaped]
        uris = [f"{scheme}://{host}:{both.port}/" for host in hosts for scheme in ("http", "https")]
        away = f"http://outer.test:{both.port}/to?" + quote(f"http://{escaped}/", safe="")
        for uri in (*uris, *([away] if 0 < len(host) < 300 and not proxied else ())):
            try:
                fetch(uri, policy, look_up)
            except Exception as error:
                if not isinstance(error, refused) and not is_client_error(error, name):
                    raise
            else:
                pytest.fail(f"{uri!r} was requested")
    assert both.inner == []


@pytest.mark.parametrize("library", ["httpx", "httpx2", "requests"])
def test_redirects_are_counted_for_each_chain(library: str, both: Servers) -> None:
    """A prepared request, the first or a middle one of a chain, can be sent again, in eight threads too."""
    redirect = f"http://outer.test:{both.port}/to?"
    uri = redirect + quote(redirect + quote(f"http://outer.test:{both.port}/end", safe=""), safe="")
    with prepared(library, uri, Policy(max_redirects=2)) as (request, send, _):
        middle = send(request)[1]
        for start in (request, middle, request, middle) * 10:
            assert len(send(start)) == (3 if start is request else 2)
        with ThreadPoolExecutor(8) as pool:
            assert list(pool.map(lambda _: len(send(request)), range(80))) == [3] * 80
    with prepared(library, uri, Policy(max_redirects=1)) as (request, send, refused):
        for _ in range(5):
            with pytest.raises(refused, match="more than 1 redirects"):
                send(request)


@contextmanager
def prepared(library: str, uri: str, policy: Policy) -> Iterator[tuple[Any, Callable[[Any], list[Any]], Any]]:
    """A request, a function that sends it and returns the requests of its chain, and the exception of a rejection."""
    guards = import_module(f"overthere.integrations.{library}")
    if library == "requests":
        with guards.guarded_session(policy, resolve=look_up) as session:

            def send(request: Any) -> list[Any]:
                answer = session.send(request)
                assert answer.status_code == 200
                return [step.request for step in (*answer.history, answer)]

            yield session.prepare_request(requests.Request("GET", uri)), send, guards.Refused
    else:
        with import_module(library).Client(transport=guards.Guard(policy, resolve=look_up)) as client:

            def send(request: Any) -> list[Any]:
                answer = client.send(request, follow_redirects=True)
                assert answer.status_code == 200
                return [step.request for step in (*answer.history, answer)]

            yield client.build_request("GET", uri), send, guards.Refused


@pytest.mark.parametrize(
    "proxy",
    [
        "u:Geheim7@h", "u:Geheim7@h:3128", "http://u:Geheim7@", "http://u:Geheim7@:80", "//u:Geheim7@h",
        "http:/u:Geheim7@h",
        "http://u:Geheim7@h:99999", "http://u:Geheim7@h:x", "http://u:Geheim7 @h", "http://u:Geheim7%@h",
        "http://u:Geheim7\u00fc@h", "http://u:Geheim7@[::1", "http://u:Geheim7\\@h", "http://u:Geheim7@h\n",
        "Geheim7", "", "http://u:Geheim7#@h",
    ],
)  # fmt: skip
def test_a_malformed_proxy_is_rejected_and_not_shown(proxy: str) -> None:
    for policy in (None, Policy()):
        with pytest.raises(ValueError, match=r"the proxy for 'http' is not a URI with a host") as caught:
            Policy(proxy={"http": proxy}) if policy is None else policy.with_(proxy={"http": proxy})
        assert "Geheim7" not in repr(caught.value)
        assert caught.value.__cause__ is None is caught.value.__context__


@pytest.mark.parametrize("fields", [{"hosts": "http://u:Geheim7@h"}, {"proxy": {"http://u:Geheim7@h": "http"}}])
def test_no_message_about_a_misused_field_shows_a_password(fields: dict[str, Any]) -> None:
    with pytest.raises((TypeError, ValueError)) as caught:
        Policy(**fields)
    assert "Geheim7" not in str(caught.value)


@pytest.mark.parametrize("name", CLIENTS)
def test_no_message_shows_the_password_of_a_proxy(name: str, both: Servers) -> None:
    """For an unreachable proxy, and for unsupported kinds."""
    fetch, _ = CLIENTS[name]
    for proxy in ("http://u:Geheim7@127.0.0.1:9", "socks5://u:Geheim7@h:1", "foo://u:Geheim7@h", "ftp://u:Geheim7@h/"):
        for scheme in ("http", "https"):
            with pytest.raises(Exception) as caught:  # noqa: PT011
                fetch(f"{scheme}://outer.test/", Policy(proxy={scheme: proxy}), look_up)
            error: BaseException | None = caught.value
            while error is not None:
                assert "Geheim7" not in f"{error}{error!r}", (proxy, error)
                error = error.__cause__ or error.__context__
