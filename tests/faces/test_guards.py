"""The guards of HTTP clients against servers on loopback: the inner one is never reached."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from itertools import cycle
from types import SimpleNamespace
from typing import Any
from urllib.parse import quote

import pytest
from guarded import CLIENTS, INNER, OUTER, Servers, allow_outer, servers
from hostile import REDIRECTS, hostile

from growth import outgrows
from overthere import AccessRefused, OverthereError, Policy
from overthere.faces import transports
from overthere.faces.guarding import judge_request

NAMES = {"outer.test": [OUTER], "inner.test": [INNER], "mixed.test": [INNER, OUTER], "six.test": ["::1"]}


def look_up(host: str, port: int) -> list[str]:
    if (found := NAMES.get(host.lower().removesuffix("."))) is None:
        raise OSError("no such name")
    return found


@pytest.fixture
def both(monkeypatch: pytest.MonkeyPatch) -> Iterator[Servers]:
    allow_outer(monkeypatch)
    with servers() as running:
        yield running


def is_own(error: Exception, name: str) -> bool:
    """Whether an exception is one of the client's own."""
    return type(error).__module__.split(".")[0] == name.split(" ")[0]


@pytest.mark.parametrize("name", CLIENTS)
def test_no_hostile_target_is_reached(name: str, both: Servers) -> None:
    """Each is refused or cannot be reached, by an exception of the client's own tree or of the guard's."""
    fetch, refused = CLIENTS[name]
    counted = 0
    for uri in hostile(both.port):
        with pytest.raises(Exception) as caught:  # noqa: PT011 - of the client, which may refuse the text itself
            fetch(uri, Policy(), look_up)
        counted += isinstance(caught.value, refused)
        assert isinstance(caught.value, refused) or is_own(caught.value, name), (uri, caught.value)
    assert both.inner == [] == both.outer
    assert counted > 80


@pytest.mark.parametrize("name", CLIENTS)
def test_no_redirect_leads_there(name: str, both: Servers) -> None:
    fetch, refused = CLIENTS[name]
    for target in REDIRECTS:
        told = quote(target.format(port=both.port), safe="")
        uri = f"http://outer.test:{both.port}/to?{told}"
        try:
            status = fetch(uri, Policy(), look_up)
        except Exception as error:
            if not isinstance(error, refused) and not is_own(error, name):
                raise
        else:
            assert status in (200, 302), target  # of what a client follows within the host, or not at all
    assert both.inner == []
    assert len(both.outer) >= len(REDIRECTS)
    with pytest.raises(refused, match="loopback"):
        fetch(f"http://outer.test:{both.port}/to?http%3A%2F%2Finner.test%3A{both.port}%2F", Policy(), look_up)


@pytest.mark.parametrize("name", CLIENTS)
def test_redirects_are_judged_with_both_uris(name: str, both: Servers) -> None:
    """Out of TLS, and too many: `Policy.downgrade`, `Policy.max_redirects`."""
    fetch, refused = CLIENTS[name]
    here = f"http://outer.test:{both.port}/to?"
    twice = here + quote(here + quote(f"http://outer.test:{both.port}/end", safe=""), safe="")
    assert fetch(twice, Policy(max_redirects=2), look_up) == 200
    assert both.outer[-1][0] == "/end"
    only = Policy(redirects=frozenset({"ftp"}))
    with pytest.raises(refused, match="redirect leads from http to http"):
        fetch(twice, only, look_up)
    assert fetch(f"http://outer.test:{both.port}/end", only, look_up) == 200
    if name != "aiohttp":  # which counts itself: max_redirects of a request
        with pytest.raises(refused, match="more than 1 redirects"):
            fetch(twice, Policy(max_redirects=1), look_up)


@pytest.mark.parametrize("name", [name for name in CLIENTS if name != "requests mounted"])
def test_what_is_allowed_is_requested_octet_for_octet(name: str, both: Servers) -> None:
    """The URI that was judged, with the name's Host; urllib3 would change two of them, which is refused."""
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
def test_a_name_that_changes_between_look_ups(name: str, both: Servers) -> None:
    """Rebinding: what was judged is what is connected, whatever is answered next."""
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
def test_no_proxy_of_the_environment(name: str, both: Servers, monkeypatch: pytest.MonkeyPatch) -> None:
    fetch, refused = CLIENTS[name]
    for variable in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(variable, f"http://127.0.0.1:{both.port}")
    if name == "aiohttp":  # which was told to take one
        with pytest.raises(refused, match="proxy"):
            fetch(f"http://outer.test:{both.port}/", Policy(), look_up)
    else:
        assert fetch(f"http://outer.test:{both.port}/", Policy(), look_up) == 200
    assert both.inner == []


@pytest.mark.parametrize("name", CLIENTS)
def test_the_proxy_of_the_policy(name: str, both: Servers) -> None:
    """It may have any address, and is asked in the absolute form; what is asked of it is judged."""
    fetch, refused = CLIENTS[name]
    policy = Policy(proxy={"http": f"http://127.0.0.1:{both.port}"})
    assert fetch("http://anywhere.test/a?b", policy, look_up) == 200
    assert both.inner == [("http://anywhere.test/a?b", "anywhere.test")]
    with pytest.raises(refused):
        fetch("http://10.0.0.1/", policy, look_up)
    assert len(both.inner) == 1
    assert both.outer == []


@pytest.mark.parametrize("name", CLIENTS)
def test_a_refusal_names_its_rule(name: str, both: Servers) -> None:
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
def test_a_name_without_an_answer_is_the_clients_own_error(name: str, both: Servers) -> None:
    fetch, _ = CLIENTS[name]
    with pytest.raises(Exception) as caught:  # noqa: PT011
        fetch("http://nowhere.test/", Policy(), look_up)
    assert is_own(caught.value, name)


def test_a_transport_without_the_place_of_the_backend_is_no_guard() -> None:
    with pytest.raises(RuntimeError, match="no guard"):
        transports.put_backend(SimpleNamespace(_pool=SimpleNamespace()), lambda own: own)


@pytest.mark.parametrize("setting", ["proxy", "uds"])
def test_settings_that_lead_around(setting: str) -> None:
    from overthere.faces.httpx import AsyncGuard, Guard

    given: dict[str, Any] = {setting: "x"}
    for guard in (Guard, AsyncGuard):
        with pytest.raises(TypeError, match=setting):
            guard(**given)


@pytest.mark.parametrize("text", ["http://h/{}", "http://{}/", "http://h/?{}", "{}"])
@pytest.mark.parametrize("unit", ["a", "/", "%41", ".", "@", "\u0301", ":", "[", "\\"])
def test_judging_grows_as_the_text(text: str, unit: str) -> None:
    def judge(given: str) -> None:
        with suppress(OverthereError):
            judge_request(Policy(), given)

    assert outgrows(judge, lambda length: text.format(unit * length), (2_000, 8_000, 32_000), 0.05) is None
