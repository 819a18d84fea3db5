"""Servers that send without end: everything ends in time, and other tasks run meanwhile."""

from __future__ import annotations

import os
from pathlib import Path

import anyio
import pytest

from overthere.access.aio import AsyncTransport
from overthere.access.errors import AccessTimeout
from overthere.access.opening import open as open_
from overthere.access.policy import Policy
from overthere.access.saved_file import SavedFile
from overthere.access.wire import Dial, Dialogue, Head, Read, Write
from overthere.values.uri import URI
from servers.faults import close_at, endless, faulty, simple

PATIENT = Policy.local().with_(read_timeout=60)
POLICY = PATIENT.with_(total_timeout=1)
MENU = (b"", b"1a\tb\th\t70\r\n" * 1000)


def test_an_endless_menu_ends_in_time() -> None:
    with (
        faulty(endless(*MENU)) as server,
        pytest.raises(AccessTimeout),
        open_(f"gopher://127.0.0.1:{server.port}/1", POLICY) as resource,
    ):
        for _ in resource.entries():
            pass


@pytest.mark.parametrize("backend", ["asyncio", "trio"])
def test_other_tasks_run_while_a_dialogue_gives_nothing(backend: str) -> None:
    """A dialogue that reads on must not block the event loop."""
    turns = 0

    def dialogue(port: int) -> Dialogue:
        yield Dial("127.0.0.1", port)
        yield Write(b"x\r\n")
        for _ in range(2000):
            yield Read(100)
        yield Head()

    async def run(port: int) -> None:
        async def other() -> None:
            nonlocal turns
            while True:
                turns += 1
                await anyio.sleep(0)

        async with anyio.create_task_group() as group:
            group.start_soon(other)
            transport = AsyncTransport(dialogue(port), PATIENT, URI("x-raw://127.0.0.1"), port)
            assert isinstance(await transport.advance(), Head)
            await transport.close()
            group.cancel_scope.cancel()

    with faulty(endless(b"", b"y" * 65_536)) as server:
        anyio.run(run, server.port, backend=backend)
    assert turns > 20


def test_entries_do_not_read_a_document() -> None:
    with (
        faulty(endless(b"HTTP/1.1 200 OK\r\n\r\n", b"x" * 65_536)) as server,
        open_(f"http://127.0.0.1:{server.port}/", PATIENT) as resource,
    ):
        assert list(resource.entries()) == []
        assert resource.read(10) == b"x" * 10


def test_a_huge_timeout_is_accepted() -> None:
    policy = Policy.local().with_(read_timeout=1e12, connect_timeout=1e12)
    with (
        faulty(simple(close_at(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"))) as server,
        open_(f"http://127.0.0.1:{server.port}/", policy) as resource,
    ):
        assert resource.read() == b"ok"


def test_a_dangling_symlink_is_not_followed(tmp_path: Path) -> None:
    link, target = tmp_path / "x", tmp_path / "elsewhere"
    os.symlink(target, link)
    with pytest.raises(OSError, match="it is a symlink"), SavedFile(link):
        pass
    assert not target.exists()
