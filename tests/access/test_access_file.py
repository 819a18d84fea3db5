"""file, afs, data and about: content of this machine, and rejections (RFC 8089, RFC 1738 4, RFC 2397, RFC 6694)."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import anyio
import pytest

from overthere import PlanRefused, plan
from overthere.access import resource
from overthere.access.errors import AccessError, AccessRefused, LimitExceeded, ResourceMissing
from overthere.access.local_files import open_local
from overthere.access.opening import aopen
from overthere.access.opening import open as open_
from overthere.access.policy import Policy
from overthere.access.wire import Data, Entry, Head, Item, LocalFile, OpenLocal, Read
from overthere.protocols.afs.dialogue import dialogue as afs_dialogue
from overthere.schemes.known.file import FileLocator
from servers.faults import assert_no_leaks

OWN = Policy.local()


class Opened:
    """The result of opening a URI."""

    def __init__(self, resource: Any, content: bytes, entries: list[Entry]) -> None:
        self.there, self.content, self.entries = resource, content, entries


def sync(uri: str, policy: Policy | None = None) -> Opened:
    with open_(uri, policy) as file:
        return Opened(file, b"", list(file.entries())) if file.is_listing else Opened(file, file.read(), [])


async def asynchronous(uri: str, policy: Policy | None = None) -> Opened:
    async with await aopen(uri, policy) as resource:
        if resource.is_listing:
            return Opened(resource, b"", [entry async for entry in resource.entries()])
        return Opened(resource, await resource.read(), [])


Fetch = Callable[..., Opened]
FETCHES: dict[str, Fetch] = {
    "sync": sync,
    "asyncio": lambda *args: anyio.run(asynchronous, *args, backend="asyncio"),
    "trio": lambda *args: anyio.run(asynchronous, *args, backend="trio"),
}


@pytest.fixture(params=FETCHES)
def fetch(request: pytest.FixtureRequest) -> Fetch:
    return FETCHES[request.param]


def uri(path: Path | str | bytes) -> str:
    return str(FileLocator.from_path(path).uri())


# -- files


@pytest.mark.parametrize(
    ("name", "media_type", "coding"),
    [
        ("a.txt", "text/plain", None),
        ("A.HTML", "text/html", None),
        ("a.tar.gz", "application/x-tar", "gzip"),
        ("a b#c?.json", "application/json", None),
        ("caf\udce9.png", "image/png", None),
        ("\u00fc.txt", "text/plain", None),
        ("noname", None, None),
        (".txt", None, None),
        ("a.nosuchtype", None, None),
        ("http:x.txt", "text/plain", None),
        ("data:image", None, None),
        ("a\nb\t.txt", "text/plain", None),
        ("c:", None, None),
    ],
)
def test_a_file(fetch: Fetch, tmp_path: Path, name: str, media_type: str | None, coding: str | None) -> None:
    path = tmp_path / name
    path.write_bytes(b"\x00one\r\ntwo\xff" * 1000)
    response = fetch(uri(path), OWN)
    assert response.content == path.read_bytes()
    assert response.there.length == 10_000
    assert response.there.media_type == media_type
    assert response.there.how == ("name" if media_type else "")
    assert response.there.details.get("coding") == coding
    assert response.there.details["path"] == str(path)
    assert str(response.there.base) == uri(path)


def test_empty_large_and_growing(fetch: Fetch, tmp_path: Path) -> None:
    (tmp_path / "empty").touch()
    assert (fetch(uri(tmp_path / "empty"), OWN).content, fetch(uri(tmp_path / "empty"), OWN).there.length) == (b"", 0)
    (tmp_path / "large").write_bytes(os.urandom(3_000_001))
    assert fetch(uri(tmp_path / "large"), OWN).content == (tmp_path / "large").read_bytes()
    with pytest.raises(LimitExceeded):
        fetch(uri(tmp_path / "large"), OWN.with_(max_bytes=1_000_000))


@pytest.mark.skipif(not os.path.exists("/proc/version"), reason="there is no /proc")
def test_a_file_without_a_length(fetch: Fetch) -> None:
    response = fetch("file:///proc/version", OWN)
    assert response.there.length is None
    assert response.content == Path("/proc/version").read_bytes()


def test_symbolic_links_are_followed(fetch: Fetch, tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"x")
    (tmp_path / "link").symlink_to("a")
    (tmp_path / "loop").symlink_to("loop")
    (tmp_path / "dangling").symlink_to("nowhere")
    assert fetch(uri(tmp_path / "link"), OWN).content == b"x"
    for name in ("loop", "dangling"):
        with pytest.raises(ResourceMissing):
            fetch(uri(tmp_path / name), OWN)


def test_special_files_are_not_opened(fetch: Fetch, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with socket.socket(socket.AF_UNIX) as client, assert_no_leaks():
        os.chdir(tmp_path)  # the path of a socket must be short
        client.bind("socket")
        for target in (uri(tmp_path / "pipe"), uri(tmp_path / "socket"), "file:///dev/null", "file:///dev/zero"):
            with pytest.raises(ResourceMissing, match="not a file or directory"):
                fetch(target, OWN)
        for target in (uri(tmp_path / "none"), uri(tmp_path / "pipe/x"), uri(tmp_path / ("x" * 300))):
            with pytest.raises(ResourceMissing) as caught:
                fetch(target, OWN)
            assert target[:200] in str(caught.value)


def test_a_pipe_that_replaces_the_file_is_not_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Between the check and the opening."""
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "file").touch()
    true = os.stat(tmp_path / "file")
    monkeypatch.setattr("overthere.access.local_files.os.stat", lambda path: true)
    with assert_no_leaks(), pytest.raises(ResourceMissing, match="not a file"):
        open_local(str(tmp_path / "pipe"))


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_without_read_permission(fetch: Fetch, tmp_path: Path) -> None:
    (tmp_path / "a").touch(0)
    with pytest.raises(ResourceMissing, match="cannot be read"):
        fetch(uri(tmp_path / "a"), OWN)


# -- directories


def test_a_directory(fetch: Fetch, tmp_path: Path) -> None:
    names = ["b.txt", "a b", "c:", "ü#?%41", "caf\udce9", "-rf", "a\nb", "~", "http:x"]
    for name in names:
        (tmp_path / name).write_bytes(os.fsencode(name))
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "x").touch()
    (tmp_path / "link").symlink_to("sub")
    (tmp_path / "loop").symlink_to("loop")
    os.mkfifo(tmp_path / "pipe")
    for target in (uri(tmp_path), uri(tmp_path) + "/"):
        response = fetch(target, OWN)
        kinds = {entry.name: entry.kind for entry in response.entries}
        types = {"sub": "directory", "link": "directory", "loop": "other", "pipe": "other"}
        assert kinds == {**dict.fromkeys(names, "file"), **types}
        assert [entry.name for entry in response.entries] == sorted(kinds)
        for entry in response.entries:
            if entry.kind == "file":
                assert entry.uri is not None
                assert fetch(entry.uri, OWN).content == os.fsencode(entry.name)
            elif entry.kind == "directory":
                assert entry.uri == uri(tmp_path / entry.name) + "/"
                assert [item.name for item in fetch(entry.uri, OWN).entries] == ["x"]
            else:
                assert entry.uri is None
        assert response.there.length is None


def test_the_root_is_a_directory(fetch: Fetch) -> None:
    entries = {entry.name: entry.uri for entry in fetch("file:///", OWN).entries}
    assert entries["proc" if "proc" in entries else "etc"] in ("file:///proc/", "file:///etc/")


# -- rejected


def test_only_the_local_policy_opens_files(fetch: Fetch, tmp_path: Path) -> None:
    (tmp_path / "a").touch()
    for policy in (None, Policy(), Policy(schemes=frozenset(("file",))), OWN.with_(private=False)):
        for target in (uri(tmp_path / "a"), uri(tmp_path), "afs://cell.example/x"):
            with pytest.raises(AccessRefused) as caught:
                fetch(target, policy)
            assert caught.value.rule == "scheme"
            assert caught.value.source.startswith("RFC 3986 7")


@pytest.mark.parametrize(
    "name",
    [
        "file:///a%00b",
        "file:///a%2Fb",
        "file:///%2E%2E/etc",
        "file:///a/../b",
        "file://h.example/x",
        "file:///x?y",
        "file:///%ED%A0%80",
        "afs://c/%2E%2E/etc/passwd",
        "afs://../etc/passwd",
        "afs://c/a%2Fb",
        "afs://c/a%00",
    ],
)
def test_invalid_file_names_are_rejected_by_the_plan(fetch: Fetch, name: str) -> None:
    try:
        with pytest.raises(PlanRefused):
            fetch(name, OWN)
    except ResourceMissing:  # invalid UTF-8 is a valid POSIX name
        assert name == "file:///%ED%A0%80"


# -- afs


@pytest.mark.skipif(os.path.ismount("/afs"), reason="AFS is mounted")
def test_afs_is_not_mounted(fetch: Fetch) -> None:
    with pytest.raises(ResourceMissing, match="AFS is not mounted on this machine"):
        fetch("afs://cern.ch/user/t/timbl", OWN)


def test_afs_where_it_is_mounted() -> None:
    """The same dialogue with the answers of a system that has it."""
    work = afs_dialogue(plan("afs://cern.ch/user/t/timbl"), OWN)
    assert next(work) == OpenLocal("/afs/cern.ch/user/t/timbl", mounted="/afs")
    assert work.send(LocalFile(None, ("public/", "a.txt"))) == Head(
        listing=True, details={"path": "/afs/cern.ch/user/t/timbl"}
    )
    assert [effect.entry.uri for effect in work if isinstance(effect, Item)] == [
        "file:///afs/cern.ch/user/t/timbl/public/",
        "file:///afs/cern.ch/user/t/timbl/a.txt",
    ]
    work = afs_dialogue(plan("afs://cern.ch/a.txt"), OWN)
    next(work)
    head = work.send(LocalFile(3, None))
    assert isinstance(head, Head)
    assert (head.media_type, head.how, head.length) == ("text/plain", "name", 3)
    assert isinstance(next(work), Read)
    assert work.send(b"abc") == Data(b"abc")


@pytest.mark.skipif(not os.path.ismount("/proc"), reason="there is no /proc")
def test_the_mount_point_is_checked() -> None:
    mount, mounted = open_local("/proc/version", "/proc")
    assert mounted is not None
    mounted.close()
    assert mount.names is None
    with pytest.raises(ResourceMissing, match="not mounted"):
        open_local("/proc/version", "/proc/version")


# -- content within a URI


def test_a_data_uri(fetch: Fetch) -> None:
    response = fetch("data:text/html;charset=ISO-8859-1,caf%E9")
    assert (response.content, response.there.length) == (b"caf\xe9", 4)
    assert (response.there.media_type, response.there.how) == ("text/html;charset=ISO-8859-1", "scheme")
    assert response.there.plan.uri == "data:text/html;charset=ISO-8859-1,caf%E9"
    with open_("data:text/html;charset=ISO-8859-1,caf%E9") as resource:
        assert resource.text() == "caf\u00e9"
    assert fetch("data:,").content == b""
    assert fetch("data:;base64,AAEC").content == b"\0\1\2"


@pytest.mark.parametrize(
    "charset", ["nosuch", "zlib", "punycode", "idna", "undefined", "unicode_escape", "rot13", "a%00b"]
)
def test_an_unknown_charset(charset: str) -> None:
    try:
        with open_(f"data:text/plain;charset={charset},caf%E9%5Cx") as resource:
            assert resource.text() == "caf\u00e9\\x"
    except PlanRefused:
        assert charset == "a%00b"
    else:
        with open_(f"data:text/plain;charset={charset},caf%E9%5Cx") as resource:
            assert list(resource.iter_lines()) == ["caf\u00e9\\x"]


@pytest.mark.parametrize("size", [-1, 0, 1, 1 << 18, 1 << 20])
def test_the_limit_of_a_read_truncates_no_content(
    fetch: Fetch, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, size: int
) -> None:
    monkeypatch.setattr(resource, "MAX_BYTES_AT_ONCE", 1 << 20)
    content = b"x" * ((1 << 20) + size)
    (tmp_path / "f").write_bytes(content)
    if size > 0:
        with pytest.raises(LimitExceeded, match="read it in pieces"):
            fetch(uri(tmp_path / "f"), OWN)
    else:
        assert fetch(uri(tmp_path / "f"), OWN).content == content


def test_too_deep_json() -> None:
    with open_("data:application/json," + "%5B" * 200_000) as resource, pytest.raises(ValueError, match=r"deep|nest"):
        resource.json()


def test_about_uris(fetch: Fetch) -> None:
    response = fetch("about:blank")
    assert (response.content, response.there.media_type) == (b"", "text/html")
    for target in ("about:settings?section=network", "about:", "about:%00"):
        with pytest.raises((ResourceMissing, PlanRefused)):
            fetch(target)


def test_every_error_has_its_uri(fetch: Fetch) -> None:
    for target in ("about:config", "file:///no/such/file", "afs://c.example/x"):
        with pytest.raises(AccessError) as caught:
            fetch(target, OWN)
        assert target in str(caught.value)


@pytest.fixture(autouse=True)
def _here() -> Iterator[None]:
    folder = os.getcwd()
    yield
    os.chdir(folder)


CONTENT_OF: dict[str, Callable[[Any, Path], Any]] = {
    "read": lambda resource, _: resource.read(),
    "read some": lambda resource, _: resource.read(1, whole=False),
    "text": lambda resource, _: resource.text(),
    "json": lambda resource, _: resource.json(),
    "iteration": lambda resource, _: list(resource),
    "lines": lambda resource, _: list(resource.iter_lines()),
    "raw": lambda resource, _: resource.raw.read(1),
    "save": lambda resource, target: resource.save(target),
}


@pytest.mark.parametrize("name", CONTENT_OF)
def test_reading_a_listing_as_content_loses_no_entry(name: str, tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    (folder / "below").mkdir(parents=True)
    (folder / "a.txt").touch()
    with open_(folder.as_uri() + "/", Policy.local()) as resource:
        first = next(resource.entries())
        with pytest.raises(AccessError, match="listing"):
            CONTENT_OF[name](resource, tmp_path / "saved")
        assert sorted(entry.name for entry in (first, *resource.entries())) == ["a.txt", "below"]
        assert resource.read() == b""
    assert not (tmp_path / "saved").exists()


def test_reading_a_listing_as_content_loses_no_entry_in_an_event_loop(tmp_path: Path) -> None:
    (tmp_path / "a.txt").touch()

    async def main() -> None:
        async with await aopen(tmp_path.as_uri() + "/", Policy.local()) as resource:
            for read in (resource.read, resource.text, resource.json, lambda: resource.save(tmp_path / "saved")):
                with pytest.raises(AccessError, match="listing"):
                    await read()
            with pytest.raises(AccessError, match="listing"):
                [piece async for piece in resource]
            with pytest.raises(AccessError, match="listing"):
                [line async for line in resource.iter_lines()]
            assert [entry.name async for entry in resource.entries()] == ["a.txt"]
            assert await resource.read() == b""

    anyio.run(main)
