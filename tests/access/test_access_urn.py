"""urn, tel: names that locate nothing; a configured gateway opens them."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import anyio
import pytest

import overthere
from overthere import URI, AccessRefused, Gateways, NotSpecified, PlanRefused, Policy
from overthere.access.errors import ResourceMissing
from servers import free_port, running, wait_until

LOCAL = Policy.local().with_(read_timeout=60)
NAME = "urn:example:a123,z456"


class Web(NamedTuple):
    """A file server; one of its files is named by a URN."""

    uri: str
    log: Path

    def requests(self, expected: str) -> str:
        wait_until(lambda: expected in self.log.read_text(), f"{expected} was not asked for")
        return self.log.read_text()


@pytest.fixture(scope="module")
def web(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Web]:
    folder = tmp_path_factory.mktemp("urn")
    (folder / "N2R").mkdir()
    (folder / "N2R" / NAME).write_text("the named thing\n")
    (folder / "N2R" / "tel:+1-201-555-0123").write_text("somebody\n")
    port = free_port()
    command = [sys.executable, "-u", "-m", "http.server", "--bind", "127.0.0.1", "-d", str(folder), str(port)]
    with running(command, port, folder / "log"):
        yield Web(f"http://127.0.0.1:{port}", folder / "log")


def gateways(web: Web) -> Gateways:
    return Gateways({"urn": f"{web.uri}/N2R/{{uri}}", "tel": f"{web.uri}/N2R/{{uri}}"})


def test_a_urn_through_a_gateway(web: Web) -> None:
    with overthere.open(f"{NAME}#part", LOCAL, gateways=gateways(web)) as resource:
        assert resource.read() == b"the named thing\n"
        assert resource.uri == URI(f"{NAME}#part")
        assert resource.gateway == URI(f"{web.uri}/N2R/urn%3Aexample%3Aa123%2Cz456")
        assert resource.plan.scheme == "urn"
    # One request with the name as an escaped segment, without its fragment.
    assert "#" not in web.requests("GET /N2R/urn%3Aexample%3Aa123%2Cz456 HTTP/1.1")


def test_in_an_event_loop(web: Web) -> None:
    async def work() -> bytes:
        async with await overthere.aopen(NAME, LOCAL, gateways=gateways(web)) as resource:
            return await resource.read()

    for backend in ("asyncio", "trio"):
        assert anyio.run(work, backend=backend) == b"the named thing\n"


def test_a_tel_through_a_gateway(web: Web) -> None:
    with overthere.open("tel:+1-201-555-0123", LOCAL, gateways=gateways(web)) as resource:
        assert resource.text() == "somebody\n"


def test_a_name_unknown_to_the_gateway(web: Web) -> None:
    with pytest.raises(ResourceMissing) as caught:
        overthere.open("urn:example:unknown", LOCAL, gateways=gateways(web))
    assert caught.value.code == "404"


@pytest.mark.parametrize(
    "name", ["urn:example:..%2F..%2Fx", "urn:example:a/../../b", "urn:example:a%0D%0AX", "urn:example:a?+r?=q"]
)
def test_a_name_is_one_segment_at_the_gateway(web: Web, name: str) -> None:
    with pytest.raises(ResourceMissing):
        overthere.open(name, LOCAL, gateways=gateways(web))
    sent = web.requests(f"GET /N2R/{overthere.encode(name.partition('#')[0], 'unreserved')} ")
    assert "/../" not in sent


def test_the_policy_applies_to_the_gateway(web: Web) -> None:
    with pytest.raises(AccessRefused) as caught:
        overthere.open(NAME, gateways=gateways(web))
    assert caught.value.rule == "address"
    with pytest.raises(PlanRefused):
        Gateways({"x": "http://gw.example/{uri}"}).uri(URI("x://u:secret@h/"))


@pytest.mark.parametrize(
    ("uri", "words"),
    [
        (NAME, ["RFC 8141", "example", "a123,z456"]),
        ("urn:isbn:0451450523", ["isbn", "0451450523"]),
        ("tel:+1-201-555-0123", ["RFC 3966 1", "+1-201-555-0123"]),
        ("tel:7042;phone-context=example.com", ["7042", "example.com"]),
    ],
)
def test_without_a_gateway_the_error_describes_the_name(uri: str, words: list[str]) -> None:
    with pytest.raises(NotSpecified) as caught:
        overthere.open(uri, LOCAL)
    for word in words:
        assert word in str(caught.value)
