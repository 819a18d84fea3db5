"""ftp opened: against pyftpdlib and vsftpd, whose logs say what was sent; and against servers that mean no good."""

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
    # Not below pytest's own folder: another run of pytest shuts that to nobody, as whom the server runs.
    with TemporaryDirectory(prefix="overthere-") as top:
        folder = Path(top)
        shutil.copytree(root, folder / "root")
        latin = folder / "root" / os.fsdecode(b"caf\xe9")
        latin.mkdir()
        (latin / os.fsdecode(b"na\xefve")).write_bytes(b"Latin-1\n")
        with unprivileged(folder, folder / "root") as server:
            yield server


def get(uri: Any, policy: Policy = MINE, **more: Any) -> bytes:
    with overthere.open(uri, policy, **more) as found:
        return found.read()


def names(uri: Any, policy: Policy = MINE) -> list[str]:
    with overthere.open(uri, policy) as found:
        assert found.is_listing
        return sorted(one.name for one in found.entries())


def sent(uri: Any, credentials: Credentials | None = None) -> list[str]:
    """The octets of the plan as the servers log them."""
    steps = [step.data for step in plan(uri, credentials).steps if isinstance(step, Send)]
    return [step.decode("latin-1").removesuffix("\r\n") for step in steps]


def logged(commands: list[str]) -> list[str]:
    """Without those that open the data connection; vsftpd writes a null argument as none."""
    return [one for one in commands if one not in ("EPSV", "PASV")]


# -- what is on the wire

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
def test_the_plan_is_what_is_sent(pyftpd: Server, path: str, content: bytes) -> None:
    """RFC 1738 3.2.2: a CWD for each segment, the null one too; TYPE, RETR; nothing else but the data connection."""
    since, uri = len(pyftpd.text()), pyftpd.url(path[1:])
    assert get(uri) == content
    seen = pyftpd.commands(since)
    assert logged(seen) == [one if not one.startswith("PASS") else "PASS ******" for one in sent(uri)]
    assert seen.index("EPSV") == seen.index(f"RETR {sent(uri)[-2][5:]}") - 1


@pytest.mark.parametrize(("path", "content"), [row for row in PATHS if "//" not in row[0] and "%2F" not in row[0]])
def test_vsftpd_sees_the_same(vsftpd: Server, path: str, content: bytes) -> None:
    since, uri = len(vsftpd.text()), vsftpd.url(path[1:])
    assert get(uri) == content
    seen = logged(vsftpd.commands(since))
    assert seen == [one if not one.startswith("PASS") else "PASS <password>" for one in sent(uri)]


def test_the_three_of_rfc_1738(pyftpd: Server, root: Path) -> None:
    """3.2.2: `/%2Fetc/motd`, `/etc/motd`, `//etc/motd` differ on the wire."""
    wanted = {"%2Fetc/motd": ["CWD /etc"], "etc/motd": ["CWD etc"], "/etc/motd": ["CWD ", "CWD etc"]}
    for path, moves in wanted.items():
        since = len(pyftpd.text())
        get(pyftpd.url(path))
        assert [one for one in pyftpd.commands(since) if one.startswith("CWD")] == moves


def test_a_null_argument_that_is_refused(vsftpd: Server) -> None:
    with pytest.raises(ResourceMissing, match="rejects the empty argument of CWD: 550") as caught:
        get(vsftpd.url("/etc/motd"))
    assert (caught.value.code, caught.value.source) == ("550", "RFC 1738 3.2.2")


# What curl 7.88 sent to vsftpd, without what only asks (PWD, SIZE) and the data connection; `//` it reads otherwise.
CURL = {
    "pub/www/doc/hello.txt": ["CWD pub", "CWD www", "CWD doc", "TYPE I", "RETR hello.txt"],
    "pub/lf.txt;type=a": ["CWD pub", "TYPE A", "RETR lf.txt"],
    "%2Fetc/motd": ["CWD /", "CWD etc", "TYPE I", "RETR motd"],
}


@pytest.mark.parametrize("path", CURL)
def test_curl_sends_the_same(pyftpd: Server, path: str) -> None:
    """But for the type of a text (3.2.3 lets a client guess) and for "%2F", which curl makes two of.

    curl writes the line ends of a text as those of its machine; here they are the server's.
    """
    need("curl")
    since = len(pyftpd.text())
    theirs = subprocess.run(["curl", "-s", pyftpd.url(path)], capture_output=True, check=True).stdout
    asked = ("USER", "PASS", "PWD", "SIZE", "EPSV", "PASV", "QUIT")
    seen = [one for one in pyftpd.commands(since) if not one.startswith(asked)]
    assert seen == CURL[path]
    whole = path if ";" in path else f"{path};type=i"
    found = get(pyftpd.url(whole))
    assert (found.replace(b"\r\n", b"\n") if "type=a" in path else found) == theirs
    ours = sent(pyftpd.url(whole))[2:-1]
    assert ours == (seen if "%2F" not in path else ["CWD /etc", *seen[2:]])


# -- the login


def test_anonymous_gives_an_address(vsftpd: Server) -> None:
    """RFC 1738 3.2.1: the password is the caller's address; vsftpd notes which."""
    since = len(vsftpd.text())
    get(vsftpd.url("motd"), credentials=Credentials(address="joe@example.org"))
    get(vsftpd.url("motd"))
    get(vsftpd.url("motd", "anonymous:me%40here@"))

    def passwords() -> list[str]:
        lines = vsftpd.text()[since:].splitlines()
        return [line.rpartition("anon password ")[2] for line in lines if "OK LOGIN" in line]

    wait_until(lambda: len(passwords()) >= 3, "not three logins")
    assert passwords() == ['"joe@example.org"', '"anonymous@"', '"me@here"']


def test_a_user_and_a_password(root: Path, tmp_path: Path) -> None:
    with with_login(tmp_path, root, "myname", "s3/cr:t") as server:
        for uri, told in (
            (server.url("etc/motd", "myname:s3%2Fcr%3At@"), None),
            (server.url("etc/motd", "myname@"), Credentials(password="s3/cr:t")),
            (server.url("etc/motd"), Credentials("myname", "s3/cr:t")),
        ):
            since = len(server.text())
            assert get(uri, credentials=told) == b"the message of today\n"
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


def test_no_password_is_sent_unless_asked_for() -> None:
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
def test_a_login_that_fails(answers: dict[str, Answer], message: str, code: str) -> None:
    """3.2.1; and a server that repeats the password does not put it into the error."""
    for path in ("x", ";type=d"):
        with scripted(answers) as server, pytest.raises(ResourceMissing, match=message) as caught:
            get(server.url(path, "u:s3cr3t@"))
        assert caught.value.code == code
        assert "s3cr3t" not in str(caught.value)
        assert str(caught.value.uri) == server.url(path, "u:s3cr3t@")
        assert not any(line.startswith((b"EPSV", b"RETR")) for line in server.commands)


# -- what is not there


@pytest.mark.parametrize("path", ["nope", "nope/x", "etc", "pub/nope;type=a"])
def test_what_is_missing(pyftpd: Server, vsftpd: Server, path: str) -> None:
    for server in (pyftpd, vsftpd):
        with pytest.raises(ResourceMissing, match="550") as caught:
            get(server.url(path))
        assert caught.value.code == "550"
        assert caught.value.where.startswith(("send CWD", "send RETR"))


# -- directories


@pytest.mark.parametrize("path", ["", "pub/", "pub;type=d", "pub/;type=D", "pub/www/;type=d", "%2F/", "etc;type=d"])
def test_the_names_in_a_directory(pyftpd: Server, root: Path, path: str) -> None:
    """3.2.2: NLST with the name as its argument, if it has one; each name is a URI that can be opened."""
    since, uri = len(pyftpd.text()), pyftpd.url(path)
    with overthere.open(uri, MINE) as found:
        entries = sorted(found.entries(), key=lambda one: one.name)
    seen = pyftpd.commands(since)
    assert logged(seen)[2:] == sent(uri)[2:]
    assert [one for one in seen if one.startswith("NLST")] == [
        {"pub;type=d": "NLST pub", "etc;type=d": "NLST etc"}.get(path, "NLST")
    ]
    folder = root / str(URI(uri).decoded("path")).partition(";")[0].strip("/")
    assert [one.name for one in entries] == sorted(one.name for one in folder.iterdir())
    assert {one.kind for one in entries} == {""}  # a list of names tells no kinds
    for one in entries:
        there = folder / one.name
        assert one.uri is not None
        if there.is_file() and there.stat().st_size < 100:
            assert get(one.uri + ";type=i") == there.read_bytes()
        elif there.is_dir():
            assert names(one.uri + "/") == sorted(inner.name for inner in there.iterdir())


def test_an_empty_directory(pyftpd: Server, vsftpd: Server) -> None:
    for server in (pyftpd, vsftpd):
        for path in ("empty/", "empty;type=d"):
            assert names(server.url(path)) == []


def test_names_in_latin_1(vsftpd: Server) -> None:
    """1994: escapes are ISO Latin 1, and so are the octets that are sent; a listing names the same ones today."""
    old = edition("url-1994").locator(vsftpd.url("caf%E9/na%EFve"))
    assert (getattr(old, "directories", ()), getattr(old, "name", "")) == (("café",), "naïve")
    assert sent(old)[2:5] == ["CWD caf\xe9", "TYPE I", "RETR na\xefve"]
    assert get(old) == get(vsftpd.url("caf%E9/na%EFve")) == b"Latin-1\n"
    with overthere.open(old, MINE) as there:
        assert str(there.uri) == vsftpd.url("caf%E9/na%EFve")
        assert get(str(there.uri)) == b"Latin-1\n"
    for uri in (edition("url-1994").locator(vsftpd.url("caf%E9/")), vsftpd.url("caf%E9/")):
        with overthere.open(uri, MINE) as found:
            (one,) = found.entries()
        assert (one.name, one.uri) == ("naïve", vsftpd.url("caf%E9/na%EFve"))
        assert get(one.uri) == b"Latin-1\n"


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
def test_a_name_is_data(line: bytes, name: str, path: str | None) -> None:
    """Whatever a server calls it, it lies in the directory that was asked; and no name is a command."""
    for base in ("ftp://u:p@h/pub/", "ftp://u:p@h/pub;type=d"):
        with scripted({}, line + b"\r\n") as server:
            uri = base.replace("h/", f"127.0.0.1:{server.port}/")
            with overthere.open(uri, MINE) as found:
                (one,) = found.entries()
            there = None if path is None else f"ftp://u:p@127.0.0.1:{server.port}/pub/{path}"
            assert (one.name, one.uri, one.kind) == (name, there, "")
            assert ":p@" not in repr(one)
            if path is not None:
                plan(there or "")


def test_names_that_are_none() -> None:
    directory: Any = URI("ftp://h/pub/").locator
    for line in (b"", b".", b"..", b"/", b"pub/..", b"../", b"//"):
        assert entry(line, directory) is None


def test_a_list_that_breaks_off() -> None:
    with scripted({}, b"one\r\ntw") as server, overthere.open(server.url(""), MINE) as found:
        given = found.entries()
        assert next(given).name == "one"
        with pytest.raises(AccessFailed, match="in the middle of a line") as caught:
            next(given)
        assert str(caught.value.uri) == server.url("")
    with scripted({}, b"x" * 200_000) as server, pytest.raises(LimitExceeded, match="a line of more"):
        names(server.url(""))


@pytest.mark.parametrize("line", [b"\r\n", b"./" * 30_000 + b"\r\n"])
def test_a_list_that_names_nothing(line: bytes) -> None:
    few, many = 60_000 // len(line), 4_000_000 // len(line)
    with scripted({}, (line * few + b"one\r\n") * 20) as server:
        assert names(server.url("")) == ["one"] * 20
    with scripted({}, b"one\r\n" + line * many) as server, overthere.open(server.url(""), MINE) as found:
        given = found.entries()
        assert next(given).name == "one"
        with pytest.raises(LimitExceeded, match="1,048,576 octets of lines without a name"):
            next(given)


# -- the file


def test_a_large_file(pyftpd: Server, vsftpd: Server, root: Path) -> None:
    with (root / "large.bin").open("rb") as held:
        wanted = hashlib.file_digest(held, "sha256").hexdigest()
    for server, length in ((pyftpd, None), (vsftpd, LARGE)):
        found, size = hashlib.sha256(), 0
        with overthere.open(server.url("large.bin"), MINE) as resource:
            assert resource.length == length
            for piece in resource:
                found.update(piece)
                size += len(piece)
                assert len(piece) <= 1 << 18
        assert (size, found.hexdigest()) == (LARGE, wanted)


@pytest.mark.parametrize("backend", ["asyncio", "trio"])
def test_in_an_event_loop(pyftpd: Server, vsftpd: Server, root: Path, backend: str) -> None:
    async def work() -> None:
        for server in (pyftpd, vsftpd):
            found = hashlib.sha256()
            async with await overthere.aopen(server.url("large.bin"), MINE) as resource:
                async for piece in resource:
                    found.update(piece)
            with (root / "large.bin").open("rb") as held:
                assert found.digest() == hashlib.file_digest(held, "sha256").digest()
            since = len(server.text())
            async with await overthere.aopen(server.url("pub/lf.txt"), MINE) as resource:
                assert await resource.read() == b"line1\r\nline2\r\n"
            verbs = [one.split()[0] for one in logged(server.commands(since))]
            assert verbs == ["USER", "PASS", "CWD", "TYPE", "RETR", "QUIT"]
            async with await overthere.aopen(server.url("pub/www/"), MINE) as resource:
                assert [one.uri async for one in resource.entries()] == [server.url("pub/www/doc")]
            with pytest.raises(ResourceMissing, match="550"):
                await overthere.aopen(server.url("nope"), MINE)
        with scripted({"EPSV": b"229 (|||25|)\r\n"}) as hostile, pytest.raises(AccessRefused, match="port 25"):
            await overthere.aopen(hostile.url("x"), MINE)

    anyio.run(work, backend=backend)


def test_what_is_known_of_a_file(vsftpd: Server) -> None:
    """The size is said in the 150, and is that of the file: no length of a text, whose line ends are others."""
    with overthere.open(vsftpd.url("pub/lf.txt;type=i"), MINE) as found:
        assert (found.media_type, found.how, found.length) == ("text/plain", "name", 12)
        assert found.details["type"] == "I"
        assert "line_ends" not in found.details
        assert found.read() == b"line1\nline2\n"
        assert found.details["replies"][0].startswith("220 ")
        assert found.details["replies"][-1].startswith("226 ")
    with overthere.open(vsftpd.url("pub/lf.txt"), MINE) as found:
        assert (found.length, found.details["type"], found.details["line_ends"]) == (None, "A", "CRLF")
    with overthere.open(vsftpd.url("motd"), MINE) as found:
        assert (found.media_type, found.how, found.length) == (None, "", 8)


def test_over_ipv6(root: Path, tmp_path: Path) -> None:
    """RFC 2428: EPSV names no address, so the data come from that of the control connection."""
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


def test_what_strangers_may_not_ask(pyftpd: Server) -> None:
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


def test_no_more_than_is_allowed(pyftpd: Server) -> None:
    with pytest.raises(LimitExceeded, match="1,000,000"):
        get(pyftpd.url("large.bin"), MINE.with_(max_bytes=1_000_000))


# -- servers that mean no good

RECORDED = [
    line.encode() + b"\r\n"
    for line in (TESTS / "transcripts/ftp/vsftpd-3.0.3.txt").read_text().splitlines()
    if line[0] != "#"
]
VERBS = ("", "USER", "PASS", "CWD", "TYPE", "EPSV")
VSFTPD: dict[str, Answer] = {**dict(zip(VERBS, RECORDED, strict=False)), "RETR": tuple(RECORDED[6:])}


def test_an_end_at_every_octet() -> None:
    """Of the recorded control connection: never a content that is taken for whole before the 226 is."""
    content = b"m" * 286
    with scripted(VSFTPD, content) as server:
        assert get(server.url("etc/motd")) == content
        size = len(b"".join(RECORDED)) - len("{port}") + len(str(server.data_port))
        told = set[str]()
        for server.most in range(size):
            try:
                get(server.url("etc/motd"))
            except AccessFailed as error:
                told.add(error.message)
            else:
                raise AssertionError(server.most)
        assert all("closed the connection" in one or "broke" in one for one in told)
        assert {"the server closed the connection in the middle of a line"} < told
        server.most = size
        assert get(server.url("etc/motd")) == content


class Played:
    """The dialogue over recorded octets, in pieces of a size."""

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
        return b"".join(one.octets for one in self.given if isinstance(one, Data))


WHOLE = b"".join(RECORDED).replace(b"{port}", b"40000")


@pytest.mark.parametrize("size", [1, 2, 3, 7, 100_000])
def test_the_pieces_do_not_matter(size: int) -> None:
    played = Played("ftp://h/etc/motd", WHOLE, b"m" * 286, size)
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
def test_replies_that_are_replies(reply: bytes) -> None:
    """RFC 959 4.2; lines beyond the thousand that are kept are read all the same (RFC 1123 4.1.2.11)."""
    played = Played("ftp://h/etc/motd", reply + WHOLE.partition(b"\n")[2], b"m" * 286, 65_536)
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
def test_replies_that_are_none(reply: bytes) -> None:
    with scripted({"": reply}) as server, pytest.raises(ProtocolError, match="no code"):
        get(server.url("x"))


def test_what_is_kept_of_the_replies() -> None:
    """A mebibyte, of however many directories; and the dialogue goes on."""
    start, rest = b"".join(RECORDED[:3]), WHOLE[len(b"".join(RECORDED[:4])) :]
    long = b"250-" + b"x" * 60_000 + b"\r\n250 there\r\n"
    played = Played("ftp://h/" + "d/" * 100 + "motd", start + long * 100 + rest, b"m" * 286, 65_536)
    assert played.content == b"m" * 286
    (head,) = [one for one in played.given if isinstance(one, Head)]
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
def test_answers_that_mean_no_good(answers: dict[str, Answer], error: type[AccessError], message: str) -> None:
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
    # Another host's address: the data come from the host that was judged (RFC 2577 3).
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
    """RFC 2428 3, RFC 1123 4.1.2.6: of what the server says the port alone is used, and no reserved one."""
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


def test_a_data_port_that_nobody_listens_on() -> None:
    with (
        scripted({"EPSV": b"229 (|||%d|)\r\n" % free_port()}) as server,
        pytest.raises(AccessFailed, match="no connection") as caught,
    ):
        get(server.url("x"))
    assert caught.value.where.startswith("connect 127.0.0.1 ")


def test_a_data_connection_that_brings_nothing() -> None:
    """It stands open behind a 226: the end of a file is its end alone (RFC 959 3.4.1)."""
    with (
        scripted({"RETR": b"150 x\r\n226 done\r\n"}) as server,
        pytest.raises(AccessTimeout, match="no data"),
    ):
        get(server.url("x"), MINE.with_(read_timeout=0.4))


def test_the_content_before_the_150() -> None:
    for before in (True, False):
        with scripted({}, b"early", first=before) as server:
            assert get(server.url("x")) == b"early"
    with scripted({"RETR": (b"226 done\r\n", b"")}, b"at once", first=True) as server:  # no 150 at all
        assert get(server.url("x")) == b"at once"


@pytest.mark.parametrize(
    ("name", "reply", "length"),
    [
        ("x", b"150 Opening BINARY mode data connection for x (7 bytes).", 7),
        ("x", b"150-Opening\r\n150 for x (7 bytes)", 7),
        ("x", b"150 for x (5 bytes)", 5),  # a number in a text for people: more may come, and the 226 decides
        ("x", b"150 7 bytes", None),
        ("x", b"150 (0.01 kbytes)", None),
        ("x%20(9%20bytes)", b"150 for x (9 bytes)", None),  # it may be the name
        ("x;type=a", b"150 for x (7 bytes)", None),
        ("x", b"150 (9999999999999999999999 bytes)", None),
    ],
)
def test_the_size_in_a_150(name: str, reply: bytes, length: int | None) -> None:
    with (
        scripted({"RETR": (reply + b"\r\n", b"226 done\r\n")}) as server,
        overthere.open(server.url(name), MINE) as found,
    ):
        assert found.length == length
        assert found.read() == b"content"


def test_the_end_of_the_connection_behind_the_226_is_no_failure() -> None:
    """Nor is a QUIT that nobody takes any more."""
    with scripted(VSFTPD, b"m" * 286) as server:
        server.most = len(b"".join(RECORDED)) - len("{port}") + len(str(server.data_port))
        for _ in range(50):
            with overthere.open(server.url("etc/motd"), MINE) as found:
                assert found.read(286) == b"m" * 286
                assert found.read() == b""
                assert found.details["replies"][-1] == "226 Transfer complete."


@pytest.mark.parametrize("courtesy", [True, False])
def test_a_write_that_is_a_courtesy(courtesy: bool) -> None:
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


def test_what_is_left_open_is_closed(pyftpd: Server) -> None:
    found = overthere.open(pyftpd.url("large.bin"), MINE)
    assert len(found.read(1000)) == 1000
    found.close()
    since = len(pyftpd.text())
    assert get(pyftpd.url("motd")) == b"another\n"
    assert pyftpd.commands(since)[0] == "USER anonymous"
