"""telnet, rlogin, tn3270, and sessions in gopher menus: described, passed to real clients, native."""

from __future__ import annotations

import asyncio
import os
import shlex
import socket
import sys
import termios
import urllib.request
import zlib
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import anyio
import pytest

import overthere
from overthere import URI, AccessError, AccessRefused, Credentials, NotSpecified, PlanRefused, Policy
from overthere.access.errors import AccessFailed
from overthere.protocols.session.client import Session
from servers import NET, free_port, need, wait_until
from servers.sessions import Terminal, hercules, rlogind, telnetd
from support import for_each_octet

LOCAL = Policy.local().with_(read_timeout=60, connect_timeout=60)

HAND_OVER = """
import sys, overthere
with overthere.open(sys.argv[1], overthere.Policy.local()) as resource:
    print("[" + resource.session.suggestion + "]", flush=True)
    sys.exit(resource.session.hand_over(sys.argv[2] if sys.argv[2:] else None))
"""


@pytest.fixture(scope="module")
def telnet(tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    with telnetd(tmp_path_factory.mktemp("session") / "telnetd.log") as port:
        yield port


def session(uri: str, policy: Policy = LOCAL, credentials: Credentials | None = None) -> Session:
    with overthere.open(uri, policy, credentials=credentials) as resource:
        assert resource.session is not None
        return resource.session


def recording(folder: Path, *command: str) -> Path:
    """A client that records its arguments, one per line, and then runs the real one."""
    path = folder / "client"
    log = shlex.quote(str(folder / "arguments"))
    path.write_text(f'#!/bin/sh\nprintf "%s\\n" "$#" "$@" > {log}\nexec {shlex.join(command)} "$@"\n')
    path.chmod(0o755)
    return path


def arguments(folder: Path) -> list[str]:
    count, *lines = (folder / "arguments").read_text("utf-8", "surrogateescape").splitlines()
    assert int(count) == len(lines)
    return lines


# -- described


@pytest.mark.parametrize("name", ["telnet", "rlogin", "tn3270"])
def test_opening_describes_a_session_without_connecting(name: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        listening.settimeout(0.1)
        port = listening.getsockname()[1]
        with overthere.open(f"{name}://joe:s3cret@127.0.0.1:{port}", LOCAL) as resource:
            assert resource.media_type is None
            assert resource.how == "scheme"
            assert resource.read() == b""
            assert not resource.is_listing
            found = resource.session
            log = resource.details["session"]
        assert found == Session(program=name, host="127.0.0.1", port=port, user="joe", password="s3cret")
        assert found is not None
        assert (found.suggestion, found.password) == ("log in as joe; a password is suggested", "s3cret")
        for text in (repr(found), str(found), found.suggestion, str(log), repr(resource)):
            assert "s3cret" not in text
        assert (log["program"], log["host"], log["port"], log["user"]) == (name, "127.0.0.1", port, "joe")
        with pytest.raises(TimeoutError):
            listening.accept()


@pytest.mark.parametrize("backend", ["asyncio", "trio"])
def test_opening_in_an_event_loop(backend: str) -> None:
    async def work() -> Session | None:
        async with await overthere.aopen("telnet://joe@127.0.0.1:2323/", LOCAL) as resource:
            assert await resource.read() == b""
            return resource.session

    assert anyio.run(work, backend=backend) == session("telnet://joe@127.0.0.1:2323/")


def test_content_has_no_session() -> None:
    with overthere.open("data:,a") as resource:
        assert resource.session is None


@pytest.mark.parametrize(
    ("uri", "text"),
    [
        ("telnet://127.0.0.1/", ""),
        ("telnet://@127.0.0.1/", ""),
        ("telnet://a%20b@127.0.0.1/", "log in as a b"),
        ("telnet://:pw@127.0.0.1/", "a password is suggested"),
        ("telnet://%1B%5B2J@127.0.0.1/", "log in as \ufffd[2J"),
        ("telnet://%FF@127.0.0.1/", "log in as \ufffd"),
        ("gopher://127.0.0.1:23/8bob", "log in as bob"),
    ],
)
def test_messages_for_the_user(uri: str, text: str) -> None:
    assert session(uri).suggestion == text


@pytest.mark.parametrize(
    ("uri", "command"),
    [
        ("telnet://joe:pw@127.0.0.1/", ["telnet", "127.0.0.1", "23"]),
        ("telnet://joe:pw@[::1]:2323", ["telnet", "::1", "2323"]),
        ("telnet://0x7f.1/", ["telnet", "127.0.0.1", "23"]),
        ("rlogin://127.0.0.1", ["rlogin", "-p", "513", "127.0.0.1"]),
        ("rlogin://@127.0.0.1", ["rlogin", "-p", "513", "127.0.0.1"]),
        ("rlogin://joe:pw@[::1]:5513", ["rlogin", "-l", "joe", "-p", "5513", "::1"]),
        ("rlogin://a%20b%3B%24(c)@127.0.0.1", ["rlogin", "-l", "a b;$(c)", "-p", "513", "127.0.0.1"]),
        ("rlogin://a%40b@127.0.0.1", ["rlogin", "-l", "a@b", "-p", "513", "127.0.0.1"]),
        ("rlogin://%FFss@127.0.0.1", ["rlogin", "-l", "\udcffss", "-p", "513", "127.0.0.1"]),
        ("tn3270://joe:pw@127.0.0.1/", ["3270", "127.0.0.1:23"]),
        ("tn3270://[::1]:3270/", ["3270", "[::1]:3270"]),
        ("gopher://127.0.0.1:23/8bob", ["telnet", "127.0.0.1", "23"]),
        ("gopher://127.0.0.1:3270/Tbob", ["3270", "127.0.0.1:3270"]),
        ("gopher://127.0.0.1:105/2", ["telnet", "127.0.0.1", "105"]),
    ],
)
def test_the_arguments_of_clients(uri: str, command: list[str]) -> None:
    found = session(uri).command()
    assert found[0].endswith(command[0])
    assert found[1:] == command[1:]
    assert session(uri).command("/opt/other")[1:] == command[1:]


@pytest.mark.parametrize("name", ["telnet", "rlogin", "tn3270"])
@pytest.mark.parametrize("user", ["-lroot", "-oProxyCommand=x", "-f", "%2Dfroot", "a%00b", "a%0D%0Ab", "%0A", "a%09b"])
def test_hostile_user_names(name: str, user: str) -> None:
    with pytest.raises(PlanRefused):
        overthere.open(f"{name}://{user}@127.0.0.1", LOCAL)
    # A session created without a plan cannot bypass it.
    raw = overthere.decode(user)
    opened_session = Session(program=name, host="127.0.0.1", port=2323, user=raw, policy=LOCAL)
    if name == "rlogin":
        with pytest.raises(PlanRefused):
            opened_session.command()
    else:
        assert raw not in opened_session.command()


@pytest.mark.parametrize("host", ["%2Dx", "-x", "a%20b", "a%00b", "a%0Ab", "h%2Fx", "-oProxyCommand=x"])
def test_hostile_hosts(host: str) -> None:
    for uri in (f"telnet://{host}/", f"rlogin://{host}", f"tn3270://{host}/"):
        with pytest.raises((PlanRefused, AccessError)):
            session(uri).command()
    with pytest.raises(AccessError):
        Session(program="telnet", host=overthere.decode(host), port=23, policy=LOCAL).command()


@for_each_octet
def test_every_byte_of_a_user_is_one_argument_or_rejected(octet: int) -> None:
    try:
        command = session(f"rlogin://u%{octet:02X}v@127.0.0.1").command()
    except PlanRefused:
        assert octet in b"\r\n\t\0"
        return
    assert os.fsencode(command[2]) == b"u" + bytes([octet]) + b"v"
    assert command[3:] == ["-p", "513", "127.0.0.1"]


# -- checked


def test_an_untrusted_session_cannot_reach_private_hosts() -> None:
    for uri in ("telnet://127.0.0.1/", "rlogin://[::1]", "tn3270://10.0.0.1/", "gopher://192.168.0.1:23/8"):
        with pytest.raises(AccessRefused) as caught:
            overthere.open(uri)
        assert caught.value.rule == "address"


@pytest.mark.parametrize(
    ("uri", "rule"),
    [
        ("telnet://192.0.32.7:25/", "port"),
        ("rlogin://192.0.32.7:23", "port"),
        ("tn3270://192.0.32.7:22/", "port"),
        ("gopher://192.0.32.7:25/8", "port"),
        ("telnet://192.0.32.7/", None),
        ("telnet://192.0.32.7:2323/", None),
        ("gopher://192.0.32.7:23/8", None),
        ("gopher://192.0.32.7/8", None),
        ("gopher://192.0.32.7:105/2", None),
    ],
)
def test_allowed_ports(uri: str, rule: str | None) -> None:
    """RFC 3986 7.2: the URI's own, the scheme's default, but no reserved one."""
    if rule is None:
        assert session(uri, Policy()).command()
        return
    with pytest.raises(AccessRefused) as caught:
        overthere.open(uri)
    assert caught.value.rule == rule


def answering(monkeypatch: pytest.MonkeyPatch, *answers: list[str]) -> list[str]:
    """A resolver that gives each answer once; the result has the resolved names."""
    names: list[str] = []
    pending = list(answers)

    def resolver(host: str, port: int, **_: Any) -> list[Any]:
        names.append(host)
        return [
            (socket.AF_INET6, 1, 6, "", (one, port, 0, 0)) if ":" in one else (socket.AF_INET, 1, 6, "", (one, port))
            for one in pending.pop(0)
        ]

    monkeypatch.setattr(socket, "getaddrinfo", resolver)
    return names


def test_the_checked_address_is_passed_to_the_client(monkeypatch: pytest.MonkeyPatch) -> None:
    names = answering(monkeypatch, ["10.0.0.1", "192.0.32.7", "::1", "2620:0:2d0:200::7"], ["127.0.0.1"])
    opened_session = session("rlogin://joe@host.example", Policy())
    assert names == []
    assert opened_session.command() == ["rlogin", "-l", "joe", "-p", "513", "192.0.32.7"]
    assert names == ["host.example"]
    # The name now resolves to another address, and is checked again.
    with pytest.raises(AccessRefused) as caught:
        opened_session.hand_over()
    assert caught.value.rule == "address"
    assert names == ["host.example", "host.example"]


def test_allowed_hosts(monkeypatch: pytest.MonkeyPatch) -> None:
    names = answering(monkeypatch, ["192.0.32.7"])
    policy = Policy(hosts=frozenset({".example"}))
    with pytest.raises(AccessRefused):
        overthere.open("telnet://host.test/", policy)
    assert names == []
    assert session("telnet://host.example/", policy).command()[1:] == ["192.0.32.7", "23"]


def test_a_zone_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: [(socket.AF_INET6, 1, 6, "", ("fe80::1", 23, 0, 2))])
    assert session("telnet://host.example/").command()[1:] == ["fe80::1%2", "23"]


def test_a_missing_client() -> None:
    with pytest.raises(AccessFailed, match="is not installed"):
        session("telnet://127.0.0.1/").hand_over("/nonexistent/telnet")
    with pytest.raises(NotSpecified):
        Session(program="ssh", host="127.0.0.1", port=22, policy=LOCAL).command()


# -- real sessions


def test_telnet_is_passed_to_its_client(telnet: int, tmp_path: Path) -> None:
    need("telnet")
    client = recording(tmp_path, "telnet")
    uri = f"telnet://tim:s3cret@127.0.0.1:{telnet}/"
    with Terminal([sys.executable, "-c", HAND_OVER, uri, str(client)], USER="nobody-s") as terminal:
        output = terminal.wait_for("login: ")
        assert "[log in as tim; a password is suggested]" in output
        assert "arguments=[] USER=[]" in output  # the name is not sent automatically
        terminal.type("tim")
        terminal.wait_for("Password: ")
        terminal.type("typed")
        assert "user=[tim] password=[typed]" in terminal.wait_for("line: ")
        terminal.type("over there")
        terminal.wait_for("line=[over there]")
        assert "s3cret" not in terminal.wait_for("bye: ")
        terminal.type("")
        assert terminal.end() in (0, 1)
    assert arguments(tmp_path) == ["127.0.0.1", str(telnet)]


def test_rlogin_is_passed_to_its_client(tmp_path: Path) -> None:
    user = f"rl{os.getpid()}"  # all test runs share the system's users
    with rlogind(tmp_path / "rlogind", user, "typed-pw") as port:
        client = recording(tmp_path, "rlogin")
        uri = f"rlogin://{user}:s3cret@127.0.0.1:{port}"
        with Terminal([sys.executable, "-c", HAND_OVER, uri, str(client)]) as terminal:
            terminal.wait_for("assword: ")
            terminal.type("typed-pw")
            terminal.wait_for("$ ")
            terminal.type('echo "I am $(id -un)"')
            output = terminal.wait_for(f"I am {user}")
            terminal.type("exit")
            assert terminal.end() == 0
        assert "s3cret" not in output
        assert arguments(tmp_path) == ["-l", user, "-p", str(port), "127.0.0.1"]
    assert f"{user}:" not in Path("/etc/passwd").read_text()


def test_tn3270_is_passed_to_its_client(tmp_path: Path) -> None:
    need("s3270")
    with hercules(tmp_path / "hercules") as port:
        web = free_port()
        client = recording(tmp_path, "s3270", "-httpd", f"127.0.0.1:{web}")
        uri = f"tn3270://joe:s3cret@127.0.0.1:{port}/"
        with Terminal([sys.executable, "-c", HAND_OVER, uri, str(client)]):

            def shown() -> bool:
                with (
                    suppress(OSError),
                    urllib.request.urlopen(f"http://127.0.0.1:{web}/3270/rest/text/Ascii()", timeout=NET) as page,
                ):
                    return b"My PC thinks it's a MAINFRAME" in page.read()
                return False

            wait_until(shown, "the picture does not come")
        assert arguments(tmp_path) == [f"127.0.0.1:{port}"]


CLIENT = """#!/bin/sh
trap "echo interrupted" INT
stty -echo
echo ready
for attempt in 1 2 3; do read line && [ "$line" = end ] && exit 7; [ "$line" = crash ] && kill -9 $$; done
"""


@pytest.fixture
def client_terminal(tmp_path: Path) -> Iterator[Terminal]:
    """The command line with a client that has turned off the echo of the terminal."""
    (tmp_path / "telnet").write_text(CLIENT)
    (tmp_path / "telnet").chmod(0o755)
    command = [sys.executable, "-P", "-m", "overthere", "get", "--connect", "telnet://127.0.0.1/"]
    with Terminal(command, PATH=f"{tmp_path}:{os.environ['PATH']}") as terminal:
        terminal.wait_for("ready")
        assert not termios.tcgetattr(terminal.descriptor)[3] & termios.ECHO
        yield terminal


def test_ctrl_c_is_for_the_client(client_terminal: Terminal) -> None:
    """It ended the session, for which telnet sends it to the server."""
    os.write(client_terminal.descriptor, b"\x03")
    client_terminal.wait_for("interrupted")
    client_terminal.type("end")
    assert client_terminal.end() == 7


def test_a_client_that_a_signal_ends_is_a_failure(client_terminal: Terminal) -> None:
    client_terminal.type("crash")
    assert client_terminal.end() == 128 + 9


def test_a_terminated_session_restores_the_terminal(client_terminal: Terminal) -> None:
    client_terminal.work.terminate()
    client_terminal.wait_for("Stopped")
    assert client_terminal.work.wait(NET) == 130
    assert termios.tcgetattr(client_terminal.descriptor)[3] & termios.ECHO


async def typed(uri: str, encoding: str | bool, *keys: Any) -> list[bytes]:
    """The output up to each prompt, when these texts are typed at the prompts before."""
    reader, writer = await session(uri).telnet(encoding)
    output: list[bytes] = []
    try:
        for prompt, key in zip((b"login: ", b"Password: ", b"line: ", b"bye: "), (*keys, keys[0]), strict=True):
            output.append(await asyncio.wait_for(reader.readuntil(prompt), NET))
            writer.write(key)
    finally:
        writer.close()
        await writer.wait_closed()
    return output


def test_telnet_natively(telnet: int) -> None:
    uri = f"telnet://tim:s3cret@127.0.0.1:{telnet}/"
    first, _, third, last = asyncio.run(typed(uri, "utf-8", "zo\u00eb\r", "typed\r", "over there\r"))
    assert b"arguments=[] USER=[]" in first
    assert "user=[zo\u00eb] password=[typed]".encode() in third
    assert b"line=[over there]" in last
    assert b"s3cret" not in first + third + last


def test_native_bytes(telnet: int) -> None:
    """Written data stays data: IAC is doubled (RFC 854), and an IP after it interrupts nothing."""
    uri = f"telnet://127.0.0.1:{telnet}/"
    *_, third, last = asyncio.run(typed(uri, False, b"x\xff\xf4y\r", b"\r", b"\xff\xff\xfd\x01\r"))
    assert b"user=[x\xff\xf4y] password=[]" in third
    assert b"line=[\xff\xff\xfd" in last


@pytest.mark.parametrize("encoding", ["utf-8", "latin-1", "ascii", False])
@pytest.mark.parametrize("offered", ["utf-16", "zlib_codec", "undefined", "punycode", "rot13", "", "utf-8", "latin1"])
def test_a_server_does_not_choose_the_encoding(encoding: str | bool, offered: str) -> None:
    """Instead of Latin-1 it chose any Python codec: reading raised AssertionError, TypeError or UnicodeError."""
    will_and_do_charset = b"\xff\xfb\x2a\xff\xfd\x2a"
    request = b"\xff\xfa\x2a\x01;" + offered.encode() + b"\xff\xf0"
    octets = b"caf\xe9!"

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(will_and_do_charset)
        await reader.readuntil(b"\xff\xfb\x2a")
        writer.write(request + octets)
        await reader.readuntil(b"\xff\xf0")  # accepted or rejected
        writer.close()

    assert read_from(serve, encoding) == (octets.decode(encoding, "replace") if isinstance(encoding, str) else octets)


def read_from(serve: Any, encoding: str | bool) -> Any:
    """Return everything that a session reads from a server."""

    async def work() -> Any:
        async with await asyncio.start_server(serve, "127.0.0.1", 0) as server:
            port = server.sockets[0].getsockname()[1]
            reader, writer = await Session(program="telnet", host="127.0.0.1", port=port, policy=LOCAL).telnet(encoding)
            text = await asyncio.wait_for(reader.read(), 20)
            writer.close()
            return text

    return asyncio.run(work())


@pytest.mark.parametrize("option", [86, 87])
def test_a_server_cannot_start_compression(option: int) -> None:
    """MCCP 2 and 3: 200 KB became 200 MB, although the client had rejected it."""
    bomb = zlib.compress(bytes(1 << 20))

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(bytes((255, 250, option, 255, 240)) + bomb.replace(b"\xff", b"\xff\xff"))
        writer.write(b"\xff\xfd\x06")  # DO TIMING-MARK
        assert await reader.readuntil(b"\xff\xfb\x06")  # uncompressed, though compression was started
        writer.close()

    assert len(read_from(serve, False)) == len(bomb)


@pytest.mark.parametrize("body", [b"\x2a\x02\x1b]0;x\x07", b"\x20\x00\x1b[31m", b"\x2a\x07", b"\x2a\x02zlib_codec"])
def test_a_log_prints_nothing_from_the_server(body: bytes, caplog: pytest.LogCaptureFixture) -> None:
    """Python prints warnings to standard error; those of telnetlib3 had a server's control characters."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"\xff\xfd\x27\xff\xfa" + body + b"\xff\xf0\xff\xfa\x27\x01\x00TERM\xff\xf0\xff\xfd\x06!")
        assert await reader.readuntil(b"\xff\xfb\x06")
        writer.close()

    assert read_from(serve, "utf-8") == "!"
    assert not [record for record in caplog.records if record.name.startswith("telnetlib3")]


def test_all_addresses_share_the_time_to_connect(monkeypatch: pytest.MonkeyPatch) -> None:
    waits: list[float] = []

    async def fail(address: str, port: int, *, connect_timeout: float, **options: object) -> None:
        waits.append(connect_timeout)
        raise TimeoutError

    answers = [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (f"192.0.2.{number}", 23)) for number in range(100)]
    monkeypatch.setattr(socket, "getaddrinfo", lambda *args, **options: answers)
    monkeypatch.setattr("telnetlib3.open_connection", fail)
    with pytest.raises(AccessFailed):
        asyncio.run(Session(program="telnet", host="h.example", port=23, policy=LOCAL).telnet())
    assert len(waits) == 100
    assert sum(waits) < 1.1 * LOCAL.connect_timeout


def test_native_sessions_without_a_server() -> None:
    async def work(uri: str, policy: Policy = LOCAL) -> None:
        await Session(program=URI(uri).scheme, host="127.0.0.1", port=free_port(), policy=policy).telnet()

    with pytest.raises(AccessFailed, match="no connection"):
        asyncio.run(work("telnet:"))
    with pytest.raises(NotSpecified):
        asyncio.run(work("rlogin:"))
    with pytest.raises(AccessRefused):
        asyncio.run(work("telnet:", Policy()))
