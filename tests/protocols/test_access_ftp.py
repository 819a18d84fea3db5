"""ftp with pyftpdlib and vsftpd, whose logs show what was sent; and with hostile servers."""

from __future__ import annotations

import hashlib
import os
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import anyio
import pytest

import overthere
from overthere import URI, Credentials, Policy, plan
from overthere.access.blocking import Transport
from overthere.access.errors import (
    AccessError,
    AccessFailed,
    AccessRefused,
    AccessTimeout,
    LimitExceeded,
    ProtocolError,
    ResourceMissing,
    ResourceUnavailable,
)
from overthere.access.steps import Send
from overthere.access.wire import Data, Dial, Dialogue, Head, Item, Read, Write
from overthere.editions import edition
from overthere.protocols.ftp.dialogue import dialogue, entry
from servers import free_port, need, wait_until
from servers.ftpd import Answer, Server, anonymous, scripted, unprivileged, with_login
from support import TESTS

MINE = Policy.local().with_(read_timeout=60, connect_timeout=60)
LARGE = 64 << 20
CREATED = ("pub/www/doc", "etc", "empty", "a/b")


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    top: Path = tmp_path_factory.mktemp("ftp")
    folder = top / "root"
    for name in CREATED:
        (folder / name).mkdir(parents=True)
    (folder / "pub/www/doc/hello.txt").write_bytes(b"hello over ftp\n")
    (folder / "pub/lf.txt").write_bytes(b"line1\nline2\n")
    (folder / "pub/sp ace; x?#%.txt").write_bytes(b"odd\n")
    (folder / "etc/motd").write_bytes(b"the message of today\n")
    (folder / "motd").write_bytes(b"another\n")
    (folder / "nothing").write_bytes(b"")
    block = bytes(range(256)) * 4096
    with (folder / "large.bin").open("wb") as out:
        for number in range(LARGE >> 20):
            out.write(b"%08d" % number + block[8:])
    return folder


@pytest.fixture(scope="module")
def pyftpd(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with anonymous(tmp_path_factory.mktemp("pyftpdlib"), root) as server:
        yield server


@pytest.fixture(scope="module")
def vsftpd(root: Path) -> Iterator[Server]:
    # Not below pytest's own folder: another pytest run closes that to nobody, the server's user.
    with TemporaryDirectory(prefix="overthere-") as top:
        folder = Path(top)
        shutil.copytree(root, folder / "root")
        latin = folder / "root" / os.fsdecode(b"caf\xe9")
        latin.mkdir()
        (latin / os.fsdecode(b"na\xefve")).write_bytes(b"Latin-1\n")
        with unprivileged(folder, folder / "root") as server:
            yield server


def get(uri: Any, policy: Policy = MINE, **kwargs: Any) -> bytes:
    with overthere.open(uri, policy, **kwargs) as resource:
        return resource.read()


def names(uri: Any, policy: Policy = MINE) -> list[str]:
    with overthere.open(uri, policy) as resource:
        assert resource.is_listing
        return sorted(entry.name for entry in resource.entries())


def sent(uri: Any, credentials: Credentials | None = None) -> list[str]:
    """The plan in the format of the servers' logs."""
    steps = [step.data for step in plan(uri, credentials).steps if isinstance(step, Send)]
    return [step.decode("latin-1").removesuffix("\r\n") for step in steps]


def logged(commands: list[str]) -> list[str]:
    """Without commands for the data connection; vsftpd logs a null argument as none."""
    return [command for command in commands if command not in ("EPSV", "PASV")]


# -- commands sent

PATHS = [
    ("/pub/www/doc/hello.txt", b"hello over ftp\r\n"),  # type A by the name
    ("/pub/www/doc/hello.txt;type=i", b"hello over ftp\n"),
    ("/pub/lf.txt;type=a", b"line1\r\nline2\r\n"),
    ("/etc/motd", b"the message of today\n"),
    ("/%2Fetc/motd", b"the message of today\n"),
    ("//etc/motd", b"the message of today\n"),
    ("/motd", b"another\n"),
    ("/pub/../etc/motd", b"the message of today\n"),
    ("/etc%2Fmotd", b"the message of today\n"),
    ("/pub/sp%20ace%3B%20x%3F%23%25.txt;type=i", b"odd\n"),
    ("/nothing", b""),
]


@pytest.mark.parametrize(("path", "content"), PATHS)
def test_the_sent_commands_are_those_of_the_plan(pyftpd: Server, path: str, content: bytes) -> None:
    """RFC 1738 3.2.2: a CWD for each segment, even an empty one; TYPE, RETR; otherwise only the data connection."""
    since, uri = len(pyftpd.text()), pyftpd.url(path[1:])
    assert get(uri) == content
    seen = pyftpd.commands(since)
    assert logged(seen) == [command if not command.startswith("PASS") else "PASS ******" for command in sent(uri)]
    assert seen.index("EPSV") == seen.index(f"RETR {sent(uri)[-2][5:]}") - 1


@pytest.mark.parametrize(("path", "content"), [row for row in PATHS if "//" not in row[0] and "%2F" not in row[0]])
def test_vsftpd_gets_the_same_commands(vsftpd: Server, path: str, content: bytes) -> None:
    since, uri = len(vsftpd.text()), vsftpd.url(path[1:])
    assert get(uri) == content
    seen = logged(vsftpd.commands(since))
    assert seen == [command if not command.startswith("PASS") else "PASS <password>" for command in sent(uri)]


def test_the_three_examples_of_rfc_1738(pyftpd: Server, root: Path) -> None:
    """3.2.2: `/%2Fetc/motd`, `/etc/motd`, `//etc/motd` send different commands."""
    expected = {"%2Fetc/motd": ["CWD /etc"], "etc/motd": ["CWD etc"], "/etc/motd": ["CWD ", "CWD etc"]}
    for path, moves in expected.items():
        since = len(pyftpd.text())
        get(pyftpd.url(path))
        assert [command for command in pyftpd.commands(since) if command.startswith("CWD")] == moves


def test_a_rejected_null_argument(vsftpd: Server) -> None:
    with pytest.raises(ResourceMissing, match="rejects the empty argument of CWD: 550") as caught:
        get(vsftpd.url("/etc/motd"))
    assert (caught.value.code, caught.value.source) == ("550", "RFC 1738 3.2.2")


# Sent by curl 7.88 to vsftpd, without queries (PWD, SIZE) and the data connection; it reads `//` differently.
CURL = {
    "pub/www/doc/hello.txt": ["CWD pub", "CWD www", "CWD doc", "TYPE I", "RETR hello.txt"],
    "pub/lf.txt;type=a": ["CWD pub", "TYPE A", "RETR lf.txt"],
    "%2Fetc/motd": ["CWD /", "CWD etc", "TYPE I", "RETR motd"],
}


@pytest.mark.parametrize("path", CURL)
def test_curl_sends_the_same_commands(pyftpd: Server, path: str) -> None:
    """Except for the type of a text (3.2.3 allows guessing) and "%2F", which curl splits in two.

    curl converts line ends of texts to the local ones; here they are the server's.
    """
    need("curl")
    since = len(pyftpd.text())
    theirs = subprocess.run(["curl", "-s", pyftpd.url(path)], capture_output=True, check=True).stdout
    verbs = ("USER", "PASS", "PWD", "SIZE", "EPSV", "PASV", "QUIT")
    seen = [command for command in pyftpd.commands(since) if not command.startswith(verbs)]
    assert seen == CURL[path]
    full_path = path if ";" in path else f"{path};type=i"
    content = get(pyftpd.url(full_path))
    assert (content.replace(b"\r\n", b"\n") if "type=a" in path else content) == theirs
    ours = sent(pyftpd.url(full_path))[2:-1]
    assert ours == (seen if "%2F" not in path else ["CWD /etc", *seen[2:]])


# -- the login


def test_anonymous_login_sends_an_address(vsftpd: Server) -> None:
    """RFC 1738 3.2.1: the password is the caller's address; vsftpd logs it."""
    since = len(vsftpd.text())
    get(vsftpd.url("motd"), credentials=Credentials(address="joe@example.org"))
    get(vsftpd.url("motd"))
    get(vsftpd.url("motd", "anonymous:me%40here@"))

    def passwords() -> list[str]:
        lines = vsftpd.text()[since:].splitlines()
        return [line.rpartition("anon password ")[2] for line in lines if "OK LOGIN" in line]

    wait_until(lambda: len(passwords()) >= 3, "not three logins")
    assert passwords() == ['"joe@example.org"', '"anonymous@"', '"me@here"']


def test_login_with_user_and_password(root: Path, tmp_path: Path) -> None:
    with with_login(tmp_path, root, "myname", "s3/cr:t") as server:
        for uri, password in (
            (server.url("etc/motd", "myname:s3%2Fcr%3At@"), None),
            (server.url("etc/motd", "myname@"), Credentials(password="s3/cr:t")),
            (server.url("etc/motd"), Credentials("myname", "s3/cr:t")),
        ):
            since = len(server.text())
            assert get(uri, credentials=password) == b"the message of today\n"
            assert server.commands(since)[:3] == ["USER myname", "PASS ******", "CWD etc"]
        for uri in (server.url("etc/motd", "myname:wrong@"), server.url("etc/motd")):
            with pytest.raises(ResourceMissing, match="530") as caught:
                get(uri)
            assert caught.value.code == "530"
            assert "wrong" not in str(caught.value) + repr(caught.value)
        with pytest.raises(ResourceMissing, match="the server requires a password") as caught:
            get(server.url(";type=d", "myname@"))
        assert caught.value.code == "331"
        assert "s3/cr" not in server.text()


def test_no_password_is_sent_without_a_request() -> None:
    with scripted({"USER": b"230 welcome\r\n"}) as server:
        assert get(server.url("x", "u:p@")) == b"content"
    assert [line.split()[0] for line in server.commands] == [b"USER", b"TYPE", b"EPSV", b"RETR", b"QUIT"]


@pytest.mark.parametrize(
    ("answers", "message", "code"),
    [
        ({"USER": b"332 account\r\n"}, "an account", "332"),
        ({"PASS": b"332 account\r\n"}, "an account", "332"),
        ({"PASS": b"331 again\r\n"}, "a password", "331"),
        ({"USER": b"530 no\r\n"}, "530 no", "530"),
        ({"PASS": b"500 'PASS s3cr3t' not understood\r\n"}, r"500 'PASS \*\*\*' not understood", "500"),
    ],
)
def test_a_failed_login(answers: dict[str, Answer], message: str, code: str) -> None:
    """3.2.1; a password that the server repeats is not in the error."""
    for path in ("x", ";type=d"):
        with scripted(answers) as server, pytest.raises(ResourceMissing, match=message) as caught:
            get(server.url(path, "u:s3cr3t@"))
        assert caught.value.code == code
        assert "s3cr3t" not in str(caught.value)
        assert str(caught.value.uri) == server.url(path, "u:s3cr3t@")
        assert not any(line.startswith((b"EPSV", b"RETR")) for line in server.commands)


# -- missing files


@pytest.mark.parametrize("path", ["nope", "nope/x", "etc", "pub/nope;type=a"])
def test_missing_files_and_directories(pyftpd: Server, vsftpd: Server, path: str) -> None:
    for server in (pyftpd, vsftpd):
        with pytest.raises(ResourceMissing, match="550") as caught:
            get(server.url(path))
        assert caught.value.code == "550"
        assert caught.value.where.startswith(("send CWD", "send RETR"))


# -- directories


@pytest.mark.parametrize("path", ["", "pub/", "pub;type=d", "pub/;type=D", "pub/www/;type=d", "%2F/", "etc;type=d"])
def test_the_names_in_a_directory(pyftpd: Server, root: Path, path: str) -> None:
    """3.2.2: NLST with the name as argument, if it has one; each name is a URI that can be opened."""
    since, uri = len(pyftpd.text()), pyftpd.url(path)
    with overthere.open(uri, MINE) as resource:
        entries = sorted(resource.entries(), key=lambda entry: entry.name)
    seen = pyftpd.commands(since)
    assert logged(seen)[2:] == sent(uri)[2:]
    assert [entry for entry in seen if entry.startswith("NLST")] == [
        {"pub;type=d": "NLST pub", "etc;type=d": "NLST etc"}.get(path, "NLST")
    ]
    folder = root / str(URI(uri).decoded("path")).partition(";")[0].strip("/")
    assert [path.name for path in entries] == sorted(path.name for path in folder.iterdir())
    assert {entry.kind for entry in entries} == {""}  # NLST shows no kinds
    for item in entries:
        target = folder / item.name
        assert item.uri is not None
        if target.is_file() and target.stat().st_size < 100:
            assert get(item.uri + ";type=i") == target.read_bytes()
        elif target.is_dir():
            assert names(item.uri + "/") == sorted(inner.name for inner in target.iterdir())


def test_an_empty_directory(pyftpd: Server, vsftpd: Server) -> None:
    for server in (pyftpd, vsftpd):
        for path in ("empty/", "empty;type=d"):
            assert names(server.url(path)) == []


def test_names_in_latin_1(vsftpd: Server) -> None:
    """1994: escapes are ISO Latin 1, and so are the sent bytes; today's listing has the same names."""
    old = edition("url-1994").locator(vsftpd.url("caf%E9/na%EFve"))
    assert (getattr(old, "directories", ()), getattr(old, "name", "")) == (("café",), "naïve")
    assert sent(old)[2:5] == ["CWD caf\xe9", "TYPE I", "RETR na\xefve"]
    assert get(old) == get(vsftpd.url("caf%E9/na%EFve")) == b"Latin-1\n"
    with overthere.open(old, MINE) as resource:
        assert str(resource.uri) == vsftpd.url("caf%E9/na%EFve")
        assert get(str(resource.uri)) == b"Latin-1\n"
    for uri in (edition("url-1994").locator(vsftpd.url("caf%E9/")), vsftpd.url("caf%E9/")):
        with overthere.open(uri, MINE) as found:
            (entry,) = found.entries()
        assert (entry.name, entry.uri) == ("naïve", vsftpd.url("caf%E9/na%EFve"))
        assert get(entry.uri) == b"Latin-1\n"


@pytest.mark.parametrize(
    ("line", "name", "path"),
    [
        (b"x", "x", "x"),
        (b"pub/x", "x", "x"),
        (b"/etc/passwd", "passwd", "passwd"),
        (b"../../x", "x", "x"),
        (b"x/", "x", "x"),
        (b"ftp://evil/x", "x", "x"),
        (b"@evil", "@evil", "@evil"),
        (b"x;type=d", "x;type=d", "x%3Btype=d"),
        (b"a?b#c%41 ", "a?b#c%41 ", "a%3Fb%23c%2541%20"),
        (b"..\\x", "..\\x", "..%5Cx"),
        (b"caf\xc3\xa9", "café", "caf%C3%A9"),
        (b"caf\xe9", "café", "caf%E9"),
        (b"a\rDELE b", "a\rDELE b", None),
        (b"a\0b", "a\0b", None),
        (b"a\xffb", "aÿb", None),
    ],
)
def test_names_from_a_server_are_data(line: bytes, name: str, path: str | None) -> None:
    """A name is always inside the listed directory, and never a command."""
    for base in ("ftp://u:p@h/pub/", "ftp://u:p@h/pub;type=d"):
        with scripted({}, line + b"\r\n") as server:
            uri = base.replace("h/", f"127.0.0.1:{server.port}/")
            with overthere.open(uri, MINE) as resource:
                (entry,) = resource.entries()
            target = None if path is None else f"ftp://u:p@127.0.0.1:{server.port}/pub/{path}"
            assert (entry.name, entry.uri, entry.kind) == (name, target, "")
            assert ":p@" not in repr(entry)
            if path is not None:
                plan(target or "")


def test_invalid_names_are_ignored() -> None:
    directory: Any = URI("ftp://h/pub/").locator
    for line in (b"", b".", b"..", b"/", b"pub/..", b"../", b"//"):
        assert entry(line, directory) is None


def test_a_truncated_listing() -> None:
    with scripted({}, b"one\r\ntw") as server, overthere.open(server.url(""), MINE) as resource:
        entries = resource.entries()
        assert next(entries).name == "one"
        with pytest.raises(AccessFailed, match="in the middle of a line") as caught:
            next(entries)
        assert str(caught.value.uri) == server.url("")
    with scripted({}, b"x" * 200_000) as server, pytest.raises(LimitExceeded, match="a line of more"):
        names(server.url(""))


@pytest.mark.parametrize("line", [b"\r\n", b"./" * 30_000 + b"\r\n"])
def test_a_long_listing_without_names(line: bytes) -> None:
    small, large = 60_000 // len(line), 4_000_000 // len(line)
    with scripted({}, (line * small + b"one\r\n") * 20) as server:
        assert names(server.url("")) == ["one"] * 20
    with scripted({}, b"one\r\n" + line * large) as server, overthere.open(server.url(""), MINE) as resource:
        entries = resource.entries()
        assert next(entries).name == "one"
        with pytest.raises(LimitExceeded, match="1,048,576 octets of lines without a name"):
            next(entries)


# -- the file


def test_a_large_file(pyftpd: Server, vsftpd: Server, root: Path) -> None:
    with (root / "large.bin").open("rb") as file:
        expected = hashlib.file_digest(file, "sha256").hexdigest()
    for server, length in ((pyftpd, None), (vsftpd, LARGE)):
        digest, size = hashlib.sha256(), 0
        with overthere.open(server.url("large.bin"), MINE) as resource:
            assert resource.length == length
            for piece in resource:
                digest.update(piece)
                size += len(piece)
                assert len(piece) <= 1 << 18
        assert (size, digest.hexdigest()) == (LARGE, expected)


@pytest.mark.parametrize("backend", ["asyncio", "trio"])
def test_in_an_event_loop(pyftpd: Server, vsftpd: Server, root: Path, backend: str) -> None:
    async def work() -> None:
        for server in (pyftpd, vsftpd):
            digest = hashlib.sha256()
            async with await overthere.aopen(server.url("large.bin"), MINE) as resource:
                async for piece in resource:
                    digest.update(piece)
            with (root / "large.bin").open("rb") as file:
                assert digest.digest() == hashlib.file_digest(file, "sha256").digest()
            since = len(server.text())
            async with await overthere.aopen(server.url("pub/lf.txt"), MINE) as resource:
                assert await resource.read() == b"line1\r\nline2\r\n"
            verbs = [command.split()[0] for command in logged(server.commands(since))]
            assert verbs == ["USER", "PASS", "CWD", "TYPE", "RETR", "QUIT"]
            async with await overthere.aopen(server.url("pub/www/"), MINE) as resource:
                assert [entry.uri async for entry in resource.entries()] == [server.url("pub/www/doc")]
            with pytest.raises(ResourceMissing, match="550"):
                await overthere.aopen(server.url("nope"), MINE)
        with scripted({"EPSV": b"229 (|||25|)\r\n"}) as hostile, pytest.raises(AccessRefused, match="port 25"):
            await overthere.aopen(hostile.url("x"), MINE)

    anyio.run(work, backend=backend)


def test_details_of_a_file(vsftpd: Server) -> None:
    """The 150 reply has the size of the file, which is not the length of a text with other line ends."""
    with overthere.open(vsftpd.url("pub/lf.txt;type=i"), MINE) as resource:
        assert (resource.media_type, resource.how, resource.length) == ("text/plain", "name", 12)
        assert resource.details["type"] == "I"
        assert "line_ends" not in resource.details
        assert resource.read() == b"line1\nline2\n"
        assert resource.details["replies"][0].startswith("220 ")
        assert resource.details["replies"][-1].startswith("226 ")
    with overthere.open(vsftpd.url("pub/lf.txt"), MINE) as resource:
        assert (resource.length, resource.details["type"], resource.details["line_ends"]) == (None, "A", "CRLF")
    with overthere.open(vsftpd.url("motd"), MINE) as resource:
        assert (resource.media_type, resource.how, resource.length) == (None, "", 8)


def test_over_ipv6(root: Path, tmp_path: Path) -> None:
    """RFC 2428: EPSV contains no address, so that the data connection uses that of the control connection."""
    try:
        socket.create_server(("::1", 0), family=socket.AF_INET6).close()
    except OSError:
        pytest.skip("there is no IPv6 on loopback")
    with anonymous(tmp_path, root, "::1") as server:
        since = len(server.text())
        assert get(server.url("etc/motd")) == b"the message of today\n"
        assert names(server.url("empty/")) == []
        assert "EPSV" in server.commands(since)


# -- the policy


def test_untrusted_uris_are_rejected(pyftpd: Server) -> None:
    since = len(pyftpd.text())
    for uri, rule in (
        (pyftpd.url("motd"), "address"),
        ("ftp://localhost/motd", "address"),
        ("ftp://example.org:25/motd", "port"),
    ):
        with pytest.raises(AccessRefused) as caught:
            get(uri, Policy())
        assert caught.value.rule == rule
    assert "<-" not in pyftpd.text()[since:]


def test_the_limits_of_the_policy(pyftpd: Server) -> None:
    with pytest.raises(LimitExceeded, match="1,000,000"):
        get(pyftpd.url("large.bin"), MINE.with_(max_bytes=1_000_000))


# -- hostile servers

RECORDED = [
    line.encode() + b"\r\n"
    for line in (TESTS / "transcripts/ftp/vsftpd-3.0.3.txt").read_text().splitlines()
    if line[0] != "#"
]
VERBS = ("", "USER", "PASS", "CWD", "TYPE", "EPSV")
VSFTPD: dict[str, Answer] = {**dict(zip(VERBS, RECORDED, strict=False)), "RETR": tuple(RECORDED[6:])}


def test_an_end_at_every_byte() -> None:
    """The recorded control connection: content is never complete before the 226."""
    content = b"m" * 286
    with scripted(VSFTPD, content) as server:
        assert get(server.url("etc/motd")) == content
        size = len(b"".join(RECORDED)) - len("{port}") + len(str(server.data_port))
        messages = set[str]()
        for server.most in range(size):
            try:
                get(server.url("etc/motd"))
            except AccessFailed as error:
                messages.add(error.message)
            else:
                raise AssertionError(server.most)
        assert all("closed the connection" in message or "broke" in message for message in messages)
        assert {"the server closed the connection in the middle of a line"} < messages
        server.most = size
        assert get(server.url("etc/motd")) == content


class Played:
    """The dialogue with recorded bytes, in pieces of a given size."""

    def __init__(self, uri: str, control: bytes, data: bytes = b"", size: int = 1, policy: Policy = MINE) -> None:
        self.left, self.size = {0: control, 1: data}, size
        self.given: list[Any] = []
        self.commands: list[bytes] = []
        self.dialled: list[Dial] = []
        self.reads = 0
        work, answer = dialogue(plan(uri), policy), None
        while True:
            try:
                effect = work.send(answer)
            except StopIteration:
                break
            answer = None
            match effect:
                case Read(size=most, channel=channel):
                    self.reads += 1
                    answer = self.left[channel][: min(most, size)]
                    self.left[channel] = self.left[channel][len(answer) :]
                case Write(data=octets):
                    self.commands.append(octets)
                case Dial():
                    self.dialled.append(effect)
                case Head() | Data() | Item():
                    self.given.append(effect)

    @property
    def content(self) -> bytes:
        return b"".join(piece.octets for piece in self.given if isinstance(piece, Data))


ALL_REPLIES = b"".join(RECORDED).replace(b"{port}", b"40000")


@pytest.mark.parametrize("size", [1, 2, 3, 7, 100_000])
def test_the_size_of_pieces_does_not_matter(size: int) -> None:
    played = Played("ftp://h/etc/motd", ALL_REPLIES, b"m" * 286, size)
    assert played.content == b"m" * 286
    assert played.commands == [
        line.encode() + b"\r\n" for line in (*sent("ftp://h/etc/motd")[:4], "EPSV", "RETR motd", "QUIT")
    ]
    assert [(one.host, one.port, one.channel) for one in played.dialled] == [("h", 21, 0), ("h", 40000, 1)]


@pytest.mark.parametrize(
    "reply",
    [
        b"220-Hello\r\n 220 padded\r\n221 another code\r\n220-still\r\nno code\r\n220 ready\r\n",
        b"220-\r\n220\r\n",
        b"220\r\n",
        b"220 \xff\xfe\x1b[2J\r\n",
        b"220 bare line feed\n",
        b"120 in 1 minute\r\n220 ready\r\n",
        b"120-in\r\n1 minute\r\n120 or two\r\n220 ready\r\n",
        b"220-first\r\n" + b"of many\r\n" * 999 + b"220 ready\r\n",
        b"220-first\r\n" + b"of many\r\n" * 1000 + b"220 ready\r\n",
        b"220-" + b"x" * 60_000 + b"\r\n220 ready\r\n",
    ],
    ids=lambda reply: f"{reply[:12]!r} {len(reply)}",
)
def test_valid_replies(reply: bytes) -> None:
    """RFC 959 4.2; lines after the first thousand are skipped (RFC 1123 4.1.2.11)."""
    played = Played("ftp://h/etc/motd", reply + ALL_REPLIES.partition(b"\n")[2], b"m" * 286, 65_536)
    assert played.content == b"m" * 286
    head = played.given[0]
    assert isinstance(head, Head)
    replies = head.details["replies"]
    assert replies[0].startswith(("220", "120"))
    assert all(text.count("\n") < 1000 and text.replace("\n", "").isprintable() for text in replies)


@pytest.mark.parametrize(
    "reply",
    [
        b"hello\r\n",
        b"SSH-2.0-OpenSSH_9.2\r\n",
        b"HTTP/1.1 400 Bad Request\r\n",
        b"22 ready\r\n",
        b"2200 ready\r\n",
        b"020 ready\r\n",
        b"600 ready\r\n",
        b"\r\n",
        b"\xff\xfb\x01220 ready\r\n",
        b"\xef\xbc\x92\xef\xbc\x92\xef\xbc\x90 ready\r\n",
    ],
)
def test_invalid_replies(reply: bytes) -> None:
    with scripted({"": reply}) as server, pytest.raises(ProtocolError, match="no code"):
        get(server.url("x"))


def test_stored_replies_are_limited() -> None:
    """To a mebibyte, for any number of directories; the dialogue continues."""
    start, later = b"".join(RECORDED[:3]), ALL_REPLIES[len(b"".join(RECORDED[:4])) :]
    long = b"250-" + b"x" * 60_000 + b"\r\n250 there\r\n"
    played = Played("ftp://h/" + "d/" * 100 + "motd", start + long * 100 + later, b"m" * 286, 65_536)
    assert played.content == b"m" * 286
    (head,) = [piece for piece in played.given if isinstance(piece, Head)]
    assert 900_000 < sum(map(len, head.details["replies"])) <= 1 << 20


def endless(piece: bytes, first: bytes = b"") -> Answer:
    def pieces() -> Iterator[bytes]:
        yield first
        while True:
            yield piece

    return pieces


@pytest.mark.parametrize(
    ("answers", "error", "message"),
    [
        ({"": endless(b"x" * 65_536)}, LimitExceeded, "a line of more"),
        ({"": endless(b"220-on and on\r\n" * 1000)}, LimitExceeded, "a reply of more"),
        ({"PASS": endless(b"\r\n" * 1000, b"230-x\r\n")}, LimitExceeded, "a reply of more"),
        ({"": endless(b"120 soon\r\n")}, ProtocolError, "endless"),
        ({"CWD": endless(b"150 soon\r\n")}, ProtocolError, "endless"),
        ({"RETR": (b"150 x\r\n", b"110 MARK x = y\r\n" * 50)}, ProtocolError, "endless"),
        ({"CWD": b"350 and then?\r\n"}, ProtocolError, "an unexpected reply to this command"),
        ({"RETR": b"350 and then?\r\n"}, ProtocolError, "an unexpected reply to this command"),
        ({"": b"421 too many\r\n"}, AccessFailed, "421 too many"),
        ({"": b"500 OOPS\r\n"}, AccessFailed, "500 OOPS"),
        ({"USER": b"421 too many\r\n"}, AccessFailed, "421 too many"),
        ({"CWD": b"421-going\r\n421 down\r\n"}, AccessFailed, "421 going down"),
        ({"EPSV": b"421 down\r\n"}, AccessFailed, "421 down"),
        ({"RETR": b"425 no data connection\r\n"}, AccessFailed, "425"),
        ({"RETR": b"450 busy\r\n"}, ResourceUnavailable, "450 busy"),
        ({"RETR": (b"150 x\r\n", b"426 broken\r\n")}, AccessFailed, "the transfer failed: 426"),
        ({"RETR": (b"150 x\r\n", b"451 disk\r\n")}, AccessFailed, "the transfer failed: 451"),
        ({"RETR": (b"150 x\r\n", b"421 down\r\n")}, AccessFailed, "the transfer failed: 421"),
        ({"RETR": (b"150 x\r\n", b"550 oh\r\n")}, AccessFailed, "the transfer failed: 550"),
        ({"RETR": (b"150 x (8 bytes)\r\n", b"226 done\r\n")}, AccessFailed, "7 of 8 octets"),
        ({"RETR": (b"150 x\r\n", b"")}, AccessTimeout, "no data"),
        ({"TYPE": b""}, AccessTimeout, "no data"),
        ({"TYPE": b"504 no such type\r\n"}, ResourceMissing, "504"),
        (
            {"USER": b"550 \x1b[2J" + b"x" * 5000 + b"\r\n"},
            ResourceMissing,
            "550 \ufffd\\[2Jx{280,}… .4,[0-9]+ more characters. ",
        ),
    ],
)
def test_hostile_replies(answers: dict[str, Answer], error: type[AccessError], message: str) -> None:
    with scripted(answers) as server, pytest.raises(error, match=message) as caught:
        get(server.url("d/x"), MINE.with_(read_timeout=0.4) if error is AccessTimeout else MINE)
    assert type(caught.value) is error
    assert str(caught.value.uri) == server.url("d/x")
    assert len(str(caught.value)) < 1200
    assert str(caught.value).isprintable()


PORTS: list[tuple[dict[str, Answer], type[AccessError] | None]] = [
    ({"EPSV": b"229 ok (|||{port}|)\r\n"}, None),
    ({"EPSV": b"229 ok (!!!{port}!)\r\n"}, None),
    ({"EPSV": b"500 what\r\n", "PASV": b"227 ok (127,0,0,1,{p1},{p2})\r\n"}, None),
    ({"EPSV": b"522 (1)\r\n", "PASV": b"227 ok 127,0,0,1,{p1},{p2}\r\n"}, None),
    ({"EPSV": b"229 ok {port}\r\n", "PASV": b"227 =127,0,0,1,{p1},{p2}\r\n"}, None),
    # Another host's address: the data connection uses the checked host (RFC 2577 3).
    ({"EPSV": b"502 no\r\n", "PASV": b"227 ok (192,0,2,1,{p1},{p2})\r\n"}, None),
    ({"EPSV": b"502 no\r\n", "PASV": b"227 ok (169,254,169,254,{p1},{p2})\r\n"}, None),
    ({"EPSV": b"229 ok (|1|192.0.2.1|{port}|)\r\n", "PASV": b"502 no\r\n"}, AccessFailed),
    ({"EPSV": b"229 ok (|||25|)\r\n"}, AccessRefused),
    ({"EPSV": b"502 no\r\n", "PASV": b"227 ok (127,0,0,1,0,25)\r\n"}, AccessRefused),
    ({"EPSV": b"229 ok (|||0|)\r\n"}, AccessRefused),
    ({"EPSV": b"229 ok (|||65536|)\r\n"}, AccessRefused),
    ({"EPSV": b"229 ok (|||99999|)\r\n"}, AccessRefused),
    ({"EPSV": b"502 no\r\n", "PASV": b"227 ok (127,0,0,1,256,25)\r\n"}, ProtocolError),
    ({"EPSV": b"502 no\r\n", "PASV": b"227 ok (127,0,0,1,4)\r\n"}, ProtocolError),
    ({"EPSV": b"502 no\r\n", "PASV": b"227 ok (127,0,0,1,1234,1)\r\n"}, ProtocolError),
    ({"EPSV": b"502 no\r\n", "PASV": b"200 (127,0,0,1,{p1},{p2})\r\n"}, ProtocolError),
    ({"EPSV": b"502 no\r\n", "PASV": b"502 no\r\n"}, AccessFailed),
    ({"EPSV": b"502 no\r\n", "PASV": b"421 down\r\n"}, AccessFailed),
]


@pytest.mark.parametrize(("answers", "error"), PORTS)
def test_the_data_port(answers: dict[str, Answer], error: type[AccessError] | None) -> None:
    """RFC 2428 3, RFC 1123 4.1.2.6: only the port of the reply is used, and not a reserved one."""
    with scripted(answers) as server:
        if error is None:
            assert get(server.url("x")) == b"content"
            assert server.data_peers == 1
        else:
            with pytest.raises(error) as caught:
                get(server.url("x"))
            assert type(caught.value) is error
            assert server.data_peers == 0
            assert not any(line.startswith(b"RETR") for line in server.commands)


def test_an_unused_data_port() -> None:
    with (
        scripted({"EPSV": b"229 (|||%d|)\r\n" % free_port()}) as server,
        pytest.raises(AccessFailed, match="no connection") as caught,
    ):
        get(server.url("x"))
    assert caught.value.where.startswith("connect 127.0.0.1 ")


def test_a_silent_data_connection() -> None:
    """It stays open after a 226: only its end is the end of the file (RFC 959 3.4.1)."""
    with (
        scripted({"RETR": b"150 x\r\n226 done\r\n"}) as server,
        pytest.raises(AccessTimeout, match="no data"),
    ):
        get(server.url("x"), MINE.with_(read_timeout=0.4))


def test_content_before_the_150() -> None:
    for before in (True, False):
        with scripted({}, b"early", first=before) as server:
            assert get(server.url("x")) == b"early"
    with scripted({"RETR": (b"226 done\r\n", b"")}, b"at once", first=True) as server:  # without a 150
        assert get(server.url("x")) == b"at once"


@pytest.mark.parametrize(
    ("name", "reply", "length"),
    [
        ("x", b"150 Opening BINARY mode data connection for x (7 bytes).", 7),
        ("x", b"150-Opening\r\n150 for x (7 bytes)", 7),
        ("x", b"150 for x (5 bytes)", 5),  # a number in a text for people: more bytes may follow, and the 226 decides
        ("x", b"150 7 bytes", None),
        ("x", b"150 (0.01 kbytes)", None),
        ("x%20(9%20bytes)", b"150 for x (9 bytes)", None),  # it may be part of the name
        ("x;type=a", b"150 for x (7 bytes)", None),
        ("x", b"150 (9999999999999999999999 bytes)", None),
    ],
)
def test_the_size_in_a_150(name: str, reply: bytes, length: int | None) -> None:
    with (
        scripted({"RETR": (reply + b"\r\n", b"226 done\r\n")}) as server,
        overthere.open(server.url(name), MINE) as resource,
    ):
        assert resource.length == length
        assert resource.read() == b"content"


def test_a_closed_connection_after_the_226_is_no_error() -> None:
    """Nor a QUIT that is not received."""
    with scripted(VSFTPD, b"m" * 286) as server:
        server.most = len(b"".join(RECORDED)) - len("{port}") + len(str(server.data_port))
        for _ in range(50):
            with overthere.open(server.url("etc/motd"), MINE) as resource:
                assert resource.read(286) == b"m" * 286
                assert resource.read() == b""
                assert resource.details["replies"][-1] == "226 Transfer complete."


@pytest.mark.parametrize("courtesy", [True, False])
def test_an_optional_write_may_fail(courtesy: bool) -> None:
    def work(port: int) -> Dialogue:
        yield Dial("127.0.0.1", port)
        yield Read()
        yield Write(b"USER x\r\n")
        time.sleep(0.1)
        yield Write(b"QUIT\r\n", courtesy=courtesy)
        yield Head()

    def gone() -> list[bytes]:
        raise OSError

    with scripted({"USER": gone}) as server:
        server.abrupt = True
        transport = Transport(work(server.port), MINE, URI(server.url("")), 21)
        if courtesy:
            assert transport.advance() == Head()
        else:
            with pytest.raises(AccessFailed, match="broke"):
                transport.advance()
        transport.close()


def test_an_unclosed_resource_is_closed(pyftpd: Server) -> None:
    resource = overthere.open(pyftpd.url("large.bin"), MINE)
    assert len(resource.read(1000)) == 1000
    resource.close()
    since = len(pyftpd.text())
    assert get(pyftpd.url("motd")) == b"another\n"
    assert pyftpd.commands(since)[0] == "USER anonymous"
