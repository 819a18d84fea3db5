"""Hands a session over to the system's client, with the user name to log in with (RFC 4248 2)."""

from __future__ import annotations

import logging
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from overthere.access.blocking import Transport
from overthere.access.errors import AccessFailed, needs
from overthere.access.policy import Policy
from overthere.access.steps import Connect, guarded
from overthere.access.wire import Dialogue, Head, Seek
from overthere.ground.charsets import codec
from overthere.ground.display import printable
from overthere.ground.errors import NotSpecified, PlanRefused
from overthere.ground.processes import find_program, run_on_terminal
from overthere.schemes.known.telnet import PORTS
from overthere.values.uri import URI

if TYPE_CHECKING:
    import asyncio

    from telnetlib3 import TelnetReader, TelnetReaderUnicode, TelnetWriter, TelnetWriterUnicode

    Ends = tuple[TelnetReader | TelnetReaderUnicode, TelnetWriter | TelnetWriterUnicode]

_PORTS = {**PORTS, "cso": 105}  # RFC 2378
_CLIENTS = {"telnet": ("telnet",), "rlogin": ("rlogin",), "tn3270": ("c3270", "x3270"), "cso": ("telnet",)}
"""The programs for each protocol, of which the first installed one is used; a CSO phone book is a line protocol."""


@dataclass(frozen=True, slots=True, repr=False, kw_only=True)
class Session:
    """The target of a session; nothing is connected before `hand_over` or `telnet`.

    The name and password are advisory (RFC 4248 2): they are shown to the person, and the password is neither sent nor
    passed to a program.  The name is passed only to rlogin, whose protocol begins with it (RFC 1282).

    >>> from overthere import Policy
    >>> session = Session(program="rlogin", host="127.0.0.1", port=513, user="guest", policy=Policy.local())
    >>> session.suggestion, session.command()
    ('log in as guest', ['rlogin', '-l', 'guest', '-p', '513', '127.0.0.1'])
    """

    program: str
    """"telnet", "rlogin", "tn3270", or "cso", a phone book in a gopher menu."""
    host: str
    port: int
    user: str | None = None
    password: str | None = None
    uri: URI | None = field(default=None, compare=False)
    policy: Policy = field(default_factory=Policy, compare=False)

    def __repr__(self) -> str:
        password = "" if self.password is None else ", password='***'"
        return f"Session({self.program!r}, {self.host!r}, {self.port}, user={self.user!r}{password})"

    @property
    def suggestion(self) -> str:
        """The hint for the person, without the password itself, or ""."""
        parts = [f"log in as {printable(self.user)}"] if self.user else []
        return "; ".join([*parts, "a password is suggested"] if self.password else parts)

    def judge(self) -> None:
        """Raises: AccessRefused if the policy forbids the host, port or literal address."""
        step = Connect(source="", host=self.host, port=self.port)
        self.policy.judge_connection(step, self._default_port, self._session_uri)

    @property
    def _session_uri(self) -> URI:
        return self.uri or URI(f"{self.program}:")

    @property
    def _default_port(self) -> int | None:
        """The default port of the URI's scheme or of the protocol."""
        has_default_port = self.uri is not None and not self.uri.port_text
        return self.port if has_default_port else _PORTS.get(self.program)

    def addresses(self) -> list[str]:
        """Return the addresses of the host that the policy allows, in the resolver's order.

        Raises: AccessRefused if no address is allowed; AccessFailed and AccessTimeout if the name is not resolved.
        """
        return _addresses(Transport(self._seek(), self.policy, self._session_uri, self._default_port).advance())

    def _seek(self) -> Dialogue:
        addresses: list[Any] = yield Seek(self.host, self.port)
        yield Head(details={"addresses": [_write_address(address) for address in addresses]})

    def command(self, client: str | None = None) -> list[str]:
        """Return the program and its arguments, without a shell; with the judged address, so that a second lookup
        cannot return another (RFC 3986 7.4).

        client: another program that accepts the same arguments.

        Raises: PlanRefused for a name that the program would read as an option; NotSpecified for another protocol;
        AccessError like `addresses`.
        """
        if self.program not in _CLIENTS:
            raise NotSpecified(f"no known program speaks {printable(self.program)!r}")
        program = client or next(filter(find_program, _CLIENTS[self.program]), _CLIENTS[self.program][0])
        user = [] if self.program != "rlogin" or not self.user else ["-l", _argument(self.user)]
        address = self.addresses()[0]
        if self.program == "tn3270":
            return [program, f"[{address}]:{self.port}" if ":" in address else f"{address}:{self.port}"]
        if self.program == "rlogin":
            return [program, *user, "-p", str(self.port), address]
        return [program, address, str(self.port)]

    def hand_over(self, client: str | None = None) -> int:
        """Run the client on this terminal until the person ends it; return its exit code.

        Raises: the same as `command`; AccessFailed if the program is not installed.
        """
        program, *arguments = self.command(client)
        path = find_program(program)
        if path is None:
            message = f"the program {printable(program)!r} for the session is not installed"
            raise AccessFailed(message, uri=self.uri, where=self.program)
        try:
            return run_on_terminal([path, *arguments])
        except OSError as error:
            raise AccessFailed(f"the program cannot be started: {error}", uri=self.uri, where=self.program) from error

    async def telnet(self, encoding: str | bool = "utf-8") -> Ends:
        """Open the session without another program; return a reader and a writer of telnetlib3, in asyncio.

        Options are negotiated; nothing of the URI is sent, and only TERM of the environment.  The key Return is "\\r".

        encoding: of the text that is read and written; False for bytes, in which IAC is escaped (RFC 854).

        Raises: NotSpecified if it is not Telnet; AccessError like `addresses`, and AccessFailed without a connection.
        """
        from overthere.access.aio import AsyncTransport

        if self.program not in ("telnet", "cso"):
            raise NotSpecified(f"{printable(self.program)} is not supported natively: start a program")
        problem: Exception | None = None
        transport = AsyncTransport(self._seek(), self.policy, self._session_uri, self._default_port)
        addresses = _addresses(await transport.advance())
        policy = self.policy.with_(connect_timeout=self.policy.connect_timeout / len(addresses))
        for address in addresses:
            try:
                return await _telnet(address, self.port, encoding, policy)
            except OSError as error:
                problem = error
        raise AccessFailed(f"no connection: {problem}", uri=self.uri, where=f"connect {self.host} {self.port}")


async def _telnet(address: str, port: int, encoding: str | bool, policy: Policy) -> Ends:
    needs("telnetlib3")
    import telnetlib3

    class Client(telnetlib3.TelnetClient):
        def connection_made(self, transport: asyncio.BaseTransport) -> None:
            """Log nothing: the warnings and tracebacks of telnetlib3 bring controls of the server to the terminal."""
            super().connection_made(transport)
            ends: Any = self.reader, self.writer
            self.log = ends[0].log = ends[1].log = logging.Logger("", logging.CRITICAL + 1)

        def _mccp2_start(self) -> None:
            """Never decompress: a server that was refused begins all the same, and could send a decompression bomb."""

        _mccp3_start = _mccp2_start

        def send_charset(self, offered: list[str]) -> str:
            """Keep the encoding: for Latin-1 telnetlib3 takes any codec of Python that a server offers (RFC 2066)."""
            charset = codec(encoding) if isinstance(encoding, str) else None
            return next((name for name in offered if charset is not None and codec(name) == charset), "")

    return await telnetlib3.open_connection(
        address,
        port,
        client_factory=Client,
        encoding=encoding,
        encoding_errors="replace",
        force_binary=bool(encoding),
        send_environ=("TERM",),
        compression=False,
        connect_timeout=policy.connect_timeout,
        limit=policy.max_line,
    )


def _addresses(head: object) -> list[str]:
    assert isinstance(head, Head)
    addresses: list[str] = head.details["addresses"]
    return addresses


def _write_address(address: tuple[Any, ...]) -> str:
    """Write a socket's address for a program, with its zone."""
    host, *other_parts = address
    zone = other_parts[2] if len(other_parts) > 2 else 0
    return f"{host}%{zone}" if zone and "%" not in host else str(host)


def _argument(user: str) -> str:
    guarded(user, "user", "RFC 1282")
    if user.startswith("-"):
        raise PlanRefused('user begins with "-": the program would read it as an option', "RFC 3986 7.3")
    return user
