"""`Resource` as a stream: lines, a standard file object, a file on disk; also in an event loop."""

from __future__ import annotations

import io
import os
import tarfile
import threading
from collections.abc import Callable, Iterator, Sequence
from http.server import BaseHTTPRequestHandler, HTTPServer
from itertools import islice
from pathlib import Path

import anyio
import pytest

import overthere
from overthere import URI, Policy
from overthere.access.coding import LineSplitter
from overthere.access.errors import AccessError, AccessFailed, LimitExceeded
from overthere.access.saved_file import SavedFile

LOCAL_POLICY = Policy.local().with_(read_timeout=60, connect_timeout=60)
Serve = Callable[[Sequence[bytes], int | None], str]


@pytest.fixture
def serve() -> Iterator[Serve]:
    """Start a server that sends these pieces, each in a packet, and claims this length."""
    started: list[tuple[HTTPServer, threading.Thread]] = []

    def start(pieces: Sequence[bytes], length: int | None = None) -> str:
        class Pieces(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                self.send_response(200)
                self.send_header("Content-Type", "text/plain; charset=utf-8")
                self.send_header("Content-Length", str(sum(map(len, pieces)) if length is None else length))
                self.end_headers()
                for piece in pieces:
                    self.wfile.write(piece)
                    self.wfile.flush()

            def log_message(self, format: str, *args: object) -> None:
                pass

        server = HTTPServer(("127.0.0.1", 0), Pieces)
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        started.append((server, thread))
        return f"http://127.0.0.1:{server.server_port}/"

    yield start
    for server, thread in started:
        server.shutdown()
        thread.join()
        server.server_close()


# -- lines

# Pieces of bytes; their lines.
LINES = [
    ([], []),
    ([b""], []),
    ([b"a"], ["a"]),
    ([b"a\n"], ["a"]),
    ([b"a\r", b"\nb"], ["a", "b"]),
    ([b"a\r", b"b"], ["a", "b"]),
    ([b"a\r\n\r\nb\n\n"], ["a", "", "b", ""]),
    ([b"\xc3", b"\xbc\n\xe2\x82", b"\xac"], ["ü", "€"]),
    ([b"a", b"b", b"", b"c\nd", b"e"], ["abc", "de"]),
    ([b"a\x0bb\x0cc\xc2\x85d\xe2\x80\xa8e\x1cf"], ["a\x0bb\x0cc\x85d\u2028e\x1cf"]),
]


@pytest.mark.parametrize(("pieces", "lines"), LINES, ids=repr)
def test_lines_do_not_depend_on_pieces(pieces: list[bytes], lines: list[str]) -> None:
    def read(pieces: list[bytes]) -> list[str]:
        reader = LineSplitter("utf-8", "strict", URI("x:"))
        return [line for piece in pieces for line in reader.feed(piece)] + reader.feed(b"", final=True)

    assert read(pieces) == lines
    content = b"".join(pieces)
    assert read([content[i : i + 1] for i in range(len(content))]) == lines


def test_lines_of_a_server(serve: Serve) -> None:
    uri = serve([b"one\r", b"\ntw", b"o\n", "drei ü".encode()], None)
    with overthere.open(uri, LOCAL_POLICY) as resource:
        assert list(resource.iter_lines()) == ["one", "two", "drei ü"]
    with overthere.open(uri, LOCAL_POLICY) as resource, pytest.raises(UnicodeDecodeError):
        list(resource.iter_lines("us-ascii"))
    with overthere.open(uri, LOCAL_POLICY) as resource:
        assert list(resource.iter_lines("no-such-charset"))[2] == "drei Ã¼"

    async def lines() -> list[str]:
        async with await overthere.aopen(uri, LOCAL_POLICY) as resource:
            return [line async for line in resource.iter_lines()]

    assert anyio.run(lines) == ["one", "two", "drei ü"]


def test_other_methods_go_on_after_the_last_line(serve: Serve) -> None:
    uri = serve([b"one\r\ntwo\r", b"\xc3", b"\xbc\n\n", b"four\nfive"], None)
    with overthere.open(uri, LOCAL_POLICY) as resource:
        lines = resource.iter_lines()
        assert (next(lines), resource.read(2), next(lines)) == ("one", b"tw", "o")
        assert (next(resource.iter_lines()), resource.read(1), next(lines)) == ("ü", b"\n", "four")
        assert (resource.text(), list(lines)) == ("five", [])
    for number, remainder in enumerate([b"two\r\xc3\xbc\n\nfour\nfive", b"\xc3\xbc\n\nfour\nfive", b"\nfour\nfive"], 1):
        with overthere.open(uri, LOCAL_POLICY) as resource:
            assert len(list(islice(resource.iter_lines(), number))) == number
            assert b"".join(resource) == remainder

    async def read() -> tuple[str, bytes]:
        async with await overthere.aopen(uri, LOCAL_POLICY) as resource:
            return await anext(aiter(resource.iter_lines())), await resource.read()

    assert anyio.run(read) == ("one", b"two\r\xc3\xbc\n\nfour\nfive")
    with overthere.open(serve([b"a\0\n\0b\0\n\0"], None), LOCAL_POLICY) as resource:
        assert next(resource.iter_lines("utf-16")) == "a"
        with pytest.raises(AccessError, match="UTF-16: take all"):
            resource.read()
    with overthere.open(serve([b"a\n\x84"], None), LOCAL_POLICY) as resource:
        lines = resource.iter_lines("gbk")
        assert (next(lines), resource.read(), list(lines)) == ("a", b"\x84", [])
    splitter = LineSplitter("gb18030", "ignore", URI("data:,"))
    splitter.taken_count = 1
    assert (splitter.feed(b"\x810\r"), splitter.feed(b"5"), splitter.take_rest()) == ([], ["0"], b"5")


def test_the_bytes_kept_after_a_line_end_are_limited() -> None:
    splitter = LineSplitter("iso-2022-jp", "strict", URI("data:,"))
    splitter.feed(b"\r")
    with pytest.raises(LimitExceeded, match="without a character"):
        list(map(splitter.feed, [b"\x1b(B" * 20_000] * 10))
    assert len(splitter.piece) < 400_000


def test_broken_lines(serve: Serve) -> None:
    with overthere.open(serve([b"one\ntw"], 100), LOCAL_POLICY) as resource:
        lines = resource.iter_lines()
        assert next(lines) == "one"
        with pytest.raises(AccessFailed):
            next(lines)


def test_reading_within_an_iteration_keeps_the_order(tmp_path: Path) -> None:
    content = os.urandom(3_000_000)
    (tmp_path / "a").write_bytes(content)
    with overthere.open((tmp_path / "a").as_uri(), LOCAL_POLICY) as resource:
        pieces = iter(resource)
        received = next(pieces) + resource.read(10) + next(pieces) + resource.read(600_000) + b"".join(pieces)
    assert received == content

    async def read() -> bytes:
        async with await overthere.aopen((tmp_path / "a").as_uri(), LOCAL_POLICY) as resource:
            pieces = aiter(resource)
            first = await anext(pieces) + await resource.read(10)
            return first + b"".join([piece async for piece in pieces])

    assert anyio.run(read) == content


# -- as a file of the standard library


def test_raw_is_a_file_object(serve: Serve) -> None:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as archive:
        for name in ("a", "b"):
            info = tarfile.TarInfo(name)
            info.size = 100_000
            archive.addfile(info, io.BytesIO(os.urandom(info.size)))
    packed = buffer.getvalue()
    uri = serve([packed[i : i + 7777] for i in range(0, len(packed), 7777)], None)
    with overthere.open(uri, LOCAL_POLICY) as resource, tarfile.open(fileobj=resource.raw, mode="r|gz") as archive:
        assert [(info.name, info.size) for info in archive] == [("a", 100_000), ("b", 100_000)]
    with overthere.open(uri, LOCAL_POLICY) as resource:
        raw = resource.raw
        assert (raw.readable(), raw.writable(), raw.seekable()) == (True, False, False)
        assert raw.read(0) == b""
        assert 1 <= len(raw.read(10) or b"") <= 10
        with pytest.raises(io.UnsupportedOperation):
            raw.seek(0)
    with overthere.open(uri, LOCAL_POLICY) as resource, io.BufferedReader(resource.raw, 100) as buffered:
        assert buffered.read() == packed


def test_a_dropped_file_object_does_not_close_the_resource(serve: Serve) -> None:
    with overthere.open(serve([b"x" * 100_000], None), LOCAL_POLICY) as resource:
        assert resource.raw.read(4) == b"xxxx"
        assert resource.raw.read(1) == b"x"
        assert len(resource.read()) == 99_995


def test_raw_closes_the_resource(serve: Serve) -> None:
    resource = overthere.open(serve([b"x" * 100_000], None), LOCAL_POLICY)
    with resource.raw as raw:
        assert raw.read(1) == b"x"
    with pytest.raises(AccessError):
        resource.read()


# -- as a file on disk


def test_save(serve: Serve, tmp_path: Path) -> None:
    uri = serve([b"one ", b"two"], None)
    target = tmp_path / "a"
    with overthere.open(uri, LOCAL_POLICY) as resource:
        assert resource.save(target) == target
    assert target.read_bytes() == b"one two"
    with overthere.open(uri, LOCAL_POLICY) as resource, pytest.raises(FileExistsError):
        resource.save(target)

    async def save(force: bool) -> Path:
        async with await overthere.aopen(uri, LOCAL_POLICY) as resource:
            return await resource.save(target, force=force)

    with pytest.raises(FileExistsError):
        anyio.run(save, False)
    target.write_bytes(b"old")
    assert anyio.run(save, True) == target
    assert target.read_bytes() == b"one two"
    assert os.listdir(tmp_path) == ["a"]


def test_a_broken_transfer_is_not_saved(serve: Serve, tmp_path: Path) -> None:
    uri = serve([b"one ", b"two"], 100)
    target = tmp_path / "a"
    with overthere.open(uri, LOCAL_POLICY) as resource, pytest.raises(AccessError):
        resource.save(target)

    async def save() -> None:
        async with await overthere.aopen(uri, LOCAL_POLICY) as resource:
            await resource.save(target)

    with pytest.raises(AccessError):
        anyio.run(save)
    assert os.listdir(tmp_path) == []
    with overthere.open(uri, LOCAL_POLICY) as resource, pytest.raises(AccessError):
        resource.save(target, keep=True)
    (part,) = tmp_path.iterdir()
    assert part.suffix == ".part"
    assert part.read_bytes() == b"one two"


def test_a_file_created_meanwhile_is_not_overwritten(tmp_path: Path) -> None:
    target = tmp_path / "a"
    saving = SavedFile(target)
    saving.__enter__().write(b"mine")
    target.write_bytes(b"theirs")
    with pytest.raises(FileExistsError):
        saving.__exit__(None, None, None)
    assert [(p.name, p.read_bytes()) for p in tmp_path.iterdir()] == [("a", b"theirs")]


@pytest.mark.parametrize("force", [False, True])
def test_a_symlink_is_not_followed_when_saving(tmp_path: Path, force: bool) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "a")
    for target in (None, b"precious"):
        if target is not None:
            (tmp_path / "a").write_bytes(target)
        with pytest.raises(OSError, match="it is a symlink"), SavedFile(tmp_path / "link", force=force) as file:
            file.write(b"x")
        assert (tmp_path / "a").exists() == (target is not None)
    assert (tmp_path / "a").read_bytes() == b"precious"


def test_a_symlink_to_a_device_is_followed(tmp_path: Path) -> None:
    (tmp_path / "null").symlink_to(os.devnull)
    with SavedFile(tmp_path / "null") as file:
        file.write(b"x")
    assert [path.name for path in tmp_path.iterdir()] == ["null"]


# -- names

NAMES = [
    ("http://h/a.txt", "a.txt"),
    ("http://h/a/b/?q=/c", "b"),
    ("http://h", "index"),
    ("http://h/%2E%2E", "index"),
    ("http://h/%2e%2e%2f%2e%2e%2fetc%2fpasswd", "_.._etc_passwd"),
    ("http://h/..%5C..%5Cx", "_.._x"),
    ("http://h/a%00b%0D%0Ac", "a_b__c"),
    ("http://h/%E2%80%AEtxt.exe", "_txt.exe"),
    ("http://h/%C3%BC%FF", "ü_"),
    ("http://h/COM1.txt", "_COM1.txt"),
    ("http://h/a.%20.", "a"),
    ("http://h/~%2Fx", "~_x"),
    ("ftp://h/pub/a%2Fb;TYPE=a", "a_b"),
    ("gopher://h/0about", "about"),
    ("gopher://h/1", "index"),
    ("data:text/plain;base64,AAAA/../x", "data"),
    ("mid:a/b@c", "b@c"),
    ("news:a@b", "a@b"),
    ("urn:example:a", "example_a"),
]


@pytest.mark.parametrize(("uri", "name"), NAMES)
def test_names(uri: str, name: str) -> None:
    assert (URI(uri).filename or "index") == name


def test_long_names_fit() -> None:
    for character in ("a", "%C3%BC", "%F0%9F%98%80"):
        name = URI("http://h/" + character * 100_000).filename or ""
        assert 100 <= len(name.encode()) <= 120
