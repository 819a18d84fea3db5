"""file, afs, data and about: what is at hand, and what is not (RFC 8089, RFC 1738 4, RFC 2397, RFC 6694)."""

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


class Given:
    """What was given for a URI."""

    def __init__(self, there: Any, content: bytes, entries: list[Entry]) -> None:
        self.there, self.content, self.entries = there, content, entries


def sync(uri: str, policy: Policy | None = None) -> Given:
    with open_(uri, policy) as there:
        return Given(there, b"", list(there.entries())) if there.is_listing else Given(there, there.read(), [])


async def given(uri: str, policy: Policy | None = None) -> Given:
    async with await aopen(uri, policy) as there:
        if there.is_listing:
            return Given(there, b"", [entry async for entry in there.entries()])
        return Given(there, await there.read(), [])


Fetch = Callable[..., Given]
WAYS: dict[str, Fetch] = {
    "sync": sync,
    "asyncio": lambda *rest: anyio.run(given, *rest, backend="asyncio"),
    "trio": lambda *rest: anyio.run(given, *rest, backend="trio"),
}


@pytest.fixture(params=WAYS)
def fetch(request: pytest.FixtureRequest) -> Fetch:
    return WAYS[request.param]


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
    found = fetch(uri(path), OWN)
    assert found.content == path.read_bytes()
    assert found.there.length == 10_000
    assert found.there.media_type == media_type
    assert found.there.how == ("name" if media_type else "")
    assert found.there.details.get("coding") == coding
    assert found.there.details["path"] == str(path)
    assert str(found.there.base) == uri(path)


def test_empty_large_and_growing(fetch: Fetch, tmp_path: Path) -> None:
    (tmp_path / "empty").touch()
    assert (fetch(uri(tmp_path / "empty"), OWN).content, fetch(uri(tmp_path / "empty"), OWN).there.length) == (b"", 0)
    (tmp_path / "large").write_bytes(os.urandom(3_000_001))
    assert fetch(uri(tmp_path / "large"), OWN).content == (tmp_path / "large").read_bytes()
    with pytest.raises(LimitExceeded):
        fetch(uri(tmp_path / "large"), OWN.with_(max_bytes=1_000_000))


@pytest.mark.skipif(not os.path.exists("/proc/version"), reason="there is no /proc")
def test_a_file_that_tells_no_length(fetch: Fetch) -> None:
    found = fetch("file:///proc/version", OWN)
    assert found.there.length is None
    assert found.content == Path("/proc/version").read_bytes()


def test_symbolic_links_are_followed(fetch: Fetch, tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"x")
    (tmp_path / "link").symlink_to("a")
    (tmp_path / "loop").symlink_to("loop")
    (tmp_path / "dangling").symlink_to("nowhere")
    assert fetch(uri(tmp_path / "link"), OWN).content == b"x"
    for name in ("loop", "dangling"):
        with pytest.raises(ResourceMissing):
            fetch(uri(tmp_path / name), OWN)


def test_what_is_not_opened(fetch: Fetch, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with socket.socket(socket.AF_UNIX) as held, assert_no_leaks():
        os.chdir(tmp_path)  # the name of such a socket is short
        held.bind("socket")
        for there in (uri(tmp_path / "pipe"), uri(tmp_path / "socket"), "file:///dev/null", "file:///dev/zero"):
            with pytest.raises(ResourceMissing, match="not a file or directory"):
                fetch(there, OWN)
        for there in (uri(tmp_path / "none"), uri(tmp_path / "pipe/x"), uri(tmp_path / ("x" * 300))):
            with pytest.raises(ResourceMissing) as caught:
                fetch(there, OWN)
            assert there[:200] in str(caught.value)


def test_a_pipe_that_is_put_there_meanwhile(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Between the look and the opening: it is not waited for."""
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "file").touch()
    true = os.stat(tmp_path / "file")
    monkeypatch.setattr("overthere.access.local_files.os.stat", lambda path: true)
    with assert_no_leaks(), pytest.raises(ResourceMissing, match="not a file"):
        open_local(str(tmp_path / "pipe"))


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_that_may_not_be_read(fetch: Fetch, tmp_path: Path) -> None:
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
    for there in (uri(tmp_path), uri(tmp_path) + "/"):
        found = fetch(there, OWN)
        kinds = {entry.name: entry.kind for entry in found.entries}
        more = {"sub": "directory", "link": "directory", "loop": "other", "pipe": "other"}
        assert kinds == {**dict.fromkeys(names, "file"), **more}
        assert [entry.name for entry in found.entries] == sorted(kinds)
        for entry in found.entries:
            if entry.kind == "file":
                assert entry.uri is not None
                assert fetch(entry.uri, OWN).content == os.fsencode(entry.name)
            elif entry.kind == "directory":
                assert entry.uri == uri(tmp_path / entry.name) + "/"
                assert [one.name for one in fetch(entry.uri, OWN).entries] == ["x"]
            else:
                assert entry.uri is None
        assert found.there.length is None


def test_the_root_is_a_directory(fetch: Fetch) -> None:
    entries = {entry.name: entry.uri for entry in fetch("file:///", OWN).entries}
    assert entries["proc" if "proc" in entries else "etc"] in ("file:///proc/", "file:///etc/")


# -- what is refused


def test_only_by_ones_own(fetch: Fetch, tmp_path: Path) -> None:
    (tmp_path / "a").touch()
    for policy in (None, Policy(), Policy(schemes=frozenset(("file",))), OWN.with_(private=False)):
        for there in (uri(tmp_path / "a"), uri(tmp_path), "afs://cell.example/x"):
            with pytest.raises(AccessRefused) as caught:
                fetch(there, policy)
            assert caught.value.rule == "scheme"
            assert caught.value.source.startswith("RFC 3986 7")


@pytest.mark.parametrize(
    "there",
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
def test_what_no_name_holds_is_refused_by_the_plan(fetch: Fetch, there: str) -> None:
    try:
        with pytest.raises(PlanRefused):
            fetch(there, OWN)
    except ResourceMissing:  # octets that are not valid UTF-8 are a name of POSIX
        assert there == "file:///%ED%A0%80"


# -- afs


@pytest.mark.skipif(os.path.ismount("/afs"), reason="AFS is mounted")
def test_afs_is_not_mounted(fetch: Fetch) -> None:
    with pytest.raises(ResourceMissing, match="AFS is not mounted on this machine"):
        fetch("afs://cern.ch/user/t/timbl", OWN)


def test_afs_where_it_is_mounted() -> None:
    """The same dialogue over what a system answers that has it."""
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
def test_what_is_mounted_is_looked_at() -> None:
    found, held = open_local("/proc/version", "/proc")
    assert held is not None
    held.close()
    assert found.names is None
    with pytest.raises(ResourceMissing, match="not mounted"):
        open_local("/proc/version", "/proc/version")


# -- what a URI carries


def test_data(fetch: Fetch) -> None:
    found = fetch("data:text/html;charset=ISO-8859-1,caf%E9")
    assert (found.content, found.there.length) == (b"caf\xe9", 4)
    assert (found.there.media_type, found.there.how) == ("text/html;charset=ISO-8859-1", "scheme")
    assert found.there.plan.uri == "data:text/html;charset=ISO-8859-1,caf%E9"
    with open_("data:text/html;charset=ISO-8859-1,caf%E9") as there:
        assert there.text() == "caf\u00e9"
    assert fetch("data:,").content == b""
    assert fetch("data:;base64,AAEC").content == b"\0\1\2"


@pytest.mark.parametrize(
    "charset", ["nosuch", "zlib", "punycode", "idna", "undefined", "unicode_escape", "rot13", "a%00b"]
)
def test_a_charset_that_is_none(charset: str) -> None:
    try:
        with open_(f"data:text/plain;charset={charset},caf%E9%5Cx") as there:
            assert there.text() == "caf\u00e9\\x"
    except PlanRefused:
        assert charset == "a%00b"
    else:
        with open_(f"data:text/plain;charset={charset},caf%E9%5Cx") as there:
            assert list(there.iter_lines()) == ["caf\u00e9\\x"]


@pytest.mark.parametrize("more", [-1, 0, 1, 1 << 18, 1 << 20])
def test_no_content_is_cut_at_the_limit_of_a_read(
    fetch: Fetch, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, more: int
) -> None:
    monkeypatch.setattr(resource, "_MAX_BYTES_AT_ONCE", 1 << 20)
    content = b"x" * ((1 << 20) + more)
    (tmp_path / "f").write_bytes(content)
    if more > 0:
        with pytest.raises(LimitExceeded, match="read it in pieces"):
            fetch(uri(tmp_path / "f"), OWN)
    else:
        assert fetch(uri(tmp_path / "f"), OWN).content == content


def test_json_that_is_too_deep() -> None:
    with open_("data:application/json," + "%5B" * 200_000) as there, pytest.raises(ValueError, match=r"deep|nest"):
        there.json()


def test_about(fetch: Fetch) -> None:
    found = fetch("about:blank")
    assert (found.content, found.there.media_type) == (b"", "text/html")
    for there in ("about:settings?section=network", "about:", "about:%00"):
        with pytest.raises((ResourceMissing, PlanRefused)):
            fetch(there)


def test_every_error_says_which_uri(fetch: Fetch) -> None:
    for there in ("about:config", "file:///no/such/file", "afs://c.example/x"):
        with pytest.raises(AccessError) as caught:
            fetch(there, OWN)
        assert there in str(caught.value)


@pytest.fixture(autouse=True)
def _here() -> Iterator[None]:
    folder = os.getcwd()
    yield
    os.chdir(folder)
