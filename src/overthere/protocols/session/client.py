"""Hands a session over to the system's client, with the user name to log in with (RFC 4248 2)."""

from __future__ import annotations

import subprocess
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from overthere.access.blocking import Transport
from overthere.access.errors import AccessFailed, needs
from overthere.access.policy import Policy
from overthere.access.steps import Connect, guarded
from overthere.access.wire import Dialogue, Head, Seek
from overthere.ground.display import printable
from overthere.ground.errors import NotSpecified, PlanRefused
from overthere.ground.processes import find_program
from overthere.schemes.known.telnet import PORTS
from overthere.values.uri import URI

if TYPE_CHECKING:
    from telnetlib3 import TelnetReader, TelnetReaderUnicode, TelnetWriter, TelnetWriterUnicode

    Ends = tuple[TelnetReader | TelnetReaderUnicode, TelnetWriter | TelnetWriterUnicode]

__all__ = ["Session"]

_PORTS = {**PORTS, "cso": 105}  # RFC 2378
_CLIENTS = {"telnet": ("telnet",), "rlogin": ("rlogin",), "tn3270": ("c3270", "x3270"), "cso": ("telnet",)}
"""The programs that speak each protocol, the first that is installed is taken; a CSO phone book is asked in lines."""


@dataclass(frozen=True, slots=True, repr=False, kw_only=True)
class Session:
    """Where a session would go; nothing is connected before `hand_over` or `telnet`.

    The name and password are advisory (RFC 4248 2): they are told to the person, and the password is neither sent nor
    given to a program.  The name is given to rlogin alone, whose protocol begins with it (RFC 1282).

    >>> from overthere import Policy
    >>> session = Session(program="rlogin", host="127.0.0.1", port=513, user="guest", policy=Policy.local())
    >>> session.suggestion, session.command()
    ('log in as guest', ['rlogin', '-l', 'guest', '-p', '513', '127.0.0.1'])
    """

    program: str
    """"telnet", "rlogin", "tn3270", or "cso", a phone book that a menu of gopher names."""
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
        """What to tell the person; "" if there is nothing.  The password itself is not in it."""
        told = [f"log in as {printable(self.user)}"] if self.user else []
        return "; ".join([*told, "a password is suggested"] if self.password else told)

    def judge(self) -> None:
        """Raises: AccessRefused if the policy does not let this host, port or literal address be asked."""
        self.policy.judge_connection(self._connect_step, self._default, self._session_uri)

    @property
    def _connect_step(self) -> Connect:
        return Connect(source="", host=self.host, port=self.port)

    @property
    def _session_uri(self) -> URI:
        return self.uri or URI(f"{self.program}:")

    @property
    def _default(self) -> int | None:
        """The port that the protocol has, or the one that the URI has by its scheme."""
        named = self.uri is not None and not self.uri.port_text
        return self.port if named else _PORTS.get(self.program)

    def addresses(self) -> list[str]:
        """The addresses of the host that the policy lets be connected, in the resolver's order.

        Raises: AccessRefused if there is none; AccessFailed and AccessTimeout where the name is not resolved.
        """
        return _addresses(Transport(self._seek(), self.policy, self._session_uri, self._default).advance())

    def _seek(self) -> Dialogue:
        addresses: list[Any] = yield Seek(self.host, self.port)
        yield Head(details={"addresses": [_write_address(address) for address in addresses]})

    def command(self, client: str | None = None) -> list[str]:
        """The program and its arguments, for no shell: it is given the address that was judged, and no other look-up
        can lead elsewhere (RFC 3986 7.4).

        client: another program that takes the same arguments.

        Raises: PlanRefused for a name that the program would not take as one; NotSpecified for another protocol;
        AccessError as `addresses`.
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
        """Run the client on this terminal until the person ends it; what it exits with.

        Raises: as `command`; AccessFailed if there is no such program.
        """
        program, *arguments = self.command(client)
        path = find_program(program)
        if path is None:
            why = f"the program {printable(program)!r} for the session is not installed"
            raise AccessFailed(why, uri=self.uri, where=self.program)
        try:
            return subprocess.run([path, *arguments], check=False).returncode
        except OSError as error:
            raise AccessFailed(f"the program cannot be started: {error}", uri=self.uri, where=self.program) from error

    async def telnet(self, encoding: str | bool = "utf-8") -> Ends:
        """The session without another program: a reader and a writer of telnetlib3, in asyncio.

        Options are negotiated; of the URI nothing is sent, and of the environment TERM alone.  The key Return is "\\r".

        encoding: of the text that is read and written; False for octets, in which IAC is escaped (RFC 854).

        Raises: NotSpecified if it is no Telnet; AccessError as `addresses`, and AccessFailed without a connection.
        """
        from overthere.access.aio import AsyncTransport

        if self.program not in ("telnet", "cso"):
            raise NotSpecified(f"{printable(self.program)} is not supported natively: start a program")
        problem: Exception | None = None
        asked = AsyncTransport(self._seek(), self.policy, self._session_uri, self._default)
        for address in _addresses(await asked.advance()):
            try:
                return await _telnet(address, self.port, encoding, self.policy)
            except OSError as error:
                problem = error
        raise AccessFailed(f"no connection: {problem}", uri=self.uri, where=f"connect {self.host} {self.port}")


async def _telnet(address: str, port: int, encoding: str | bool, policy: Policy) -> Ends:
    needs("telnetlib3")
    import telnetlib3

    return await telnetlib3.open_connection(
        address,
        port,
        client_factory=telnetlib3.TelnetClient,
        encoding=encoding,
        encoding_errors="replace",
        force_binary=bool(encoding),
        send_environ=("TERM",),
        compression=False,  # a server could make a few octets into very many
        connect_timeout=policy.connect_timeout,
        limit=policy.max_line,
    )


def _addresses(given: object) -> list[str]:
    assert isinstance(given, Head)
    addresses: list[str] = given.details["addresses"]
    return addresses


def _write_address(address: tuple[Any, ...]) -> str:
    """A socket's address as a program takes it, with its zone."""
    host, *rest = address
    zone = rest[2] if len(rest) > 2 else 0
    return f"{host}%{zone}" if zone and "%" not in host else str(host)


def _argument(user: str) -> str:
    guarded(user, "user", "RFC 1282")
    if user.startswith("-"):
        raise PlanRefused('user begins with "-": the program would read it as an option', "RFC 3986 7.3")
    return user
