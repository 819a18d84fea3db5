"""Sockets for dialogues: connections, TLS, timeouts, limits, and the policy check before each connection.

`Carrier` does all of it but wait; `blocking.Transport` waits by blocking, `aio.AsyncTransport` in an event loop.
"""

from __future__ import annotations

import contextlib
import io
import os
import socket
import ssl
from collections.abc import Callable, Generator
from functools import partial
from time import monotonic
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from overthere.access.errors import (
    DOCUMENTED,
    LARGER,
    LONGER,
    AccessError,
    AccessFailed,
    AccessTimeout,
    LimitExceeded,
    ProtocolError,
    ResourceMissing,
)
from overthere.access.local_files import open_local
from overthere.access.masking import mask_errors
from overthere.access.resolver import Question, allowed_addresses
from overthere.access.steps import Connect
from overthere.access.wire import (
    Data,
    Dial,
    Dialogue,
    Effect,
    Hangup,
    Head,
    Item,
    LocalFile,
    OpenLocal,
    Read,
    Seek,
    Write,
)
from overthere.values.hosts.address import certificate_name, literal, resolvable
from overthere.values.known_secrets import Secrets

if TYPE_CHECKING:
    from overthere.access.policy import Policy
    from overthere.values.uri import URI

__all__ = ["DAY", "Call", "Carrier", "Pause", "Ready", "Waiting"]


class Ready(NamedTuple):
    """Wait until a socket can be read or written; answered with whether that was within `seconds`."""

    held: socket.socket
    write: bool
    seconds: float


class Call(NamedTuple):
    """Call what may take a while; answered with what it gives."""

    function: Callable[[], Any]


class Pause(NamedTuple):
    """Let others run: a server that is always ready must not have an event loop to itself."""


_BREATH = 64
"""How many effects are carried out between two pauses."""
DAY = 86_400.0
"""Longer than that no system waits at once."""

_NOTHING_SECRET = Secrets()

Waiting = Ready | Call | Pause
T = TypeVar("T")


class Carrier:
    """Carries out a dialogue; the caller that drives `steps` does the waiting."""

    def __init__(
        self,
        dialogue: Dialogue,
        policy: Policy,
        uri: URI,
        port: int | None,
        until: float | None = None,
        secrets: Secrets = _NOTHING_SECRET,
    ) -> None:
        """port: the scheme's default port; until: when all must be done, by `time.monotonic`; secrets: what no error
        shows, such as that of a host that a redirect has named after a password."""
        self.dialogue = dialogue
        self.policy = policy
        self.uri = uri
        self.port = port
        if until is None and policy.total_timeout is not None:
            until = monotonic() + policy.total_timeout
        self.until = until
        self.secrets: Secrets = secrets
        self.received: int = 0
        self.channels: dict[int, socket.socket | io.FileIO] = {}
        self.peer: tuple[int, Any] | None = None
        """The address that was judged and connected: a data connection goes there too."""
        self.error: AccessError | None = None
        """What has gone wrong: nothing is given after it."""
        self.over: bool = False
        """Whether the dialogue has come to its end."""

    def steps(self) -> Generator[Waiting, Any, Head | Data | Item | None]:
        """To what the dialogue gives next; None at its end.  Raises: AccessError."""
        if self.over:
            return None
        if self.error is not None:
            raise self.error
        answer: Any = None
        done = 0
        try:
            while True:
                effect = self._next_effect(answer)
                if isinstance(effect, Head | Data | Item):
                    return effect
                answer = yield from self._do(effect)
                done += 1
                if done % _BREATH == 0:
                    yield Pause()
        except StopIteration:
            self.over = True
            self.release()
            return None

    def _next_effect(self, answer: Any) -> Effect:
        """What the dialogue yields next.  What it raises is of the documented tree: of a library's error on what a
        server sent, or of a mistake in reading that, ProtocolError with it as its cause."""
        try:
            return self.dialogue.send(answer)
        except (StopIteration, *DOCUMENTED):
            raise
        except Exception as error:
            told = f"the server's data could not be read ({type(error).__name__})"
            raise ProtocolError(told, uri=self.uri) from error

    def fail(self, error: BaseException) -> None:
        """What was raised under way: all is closed, and what comes next is the same."""
        if isinstance(error, AccessError):
            error.uri = error.uri or self.uri
            mask_errors(error, self.secrets)
            self.error = error
        self.release()

    def release(self) -> None:
        """Close every channel; a dialogue that was not at its end is ended.  Nothing is waited for."""
        if not self.over and self.error is None:
            self.error = AccessFailed("it was closed before its end", uri=self.uri)
        with contextlib.suppress(Exception):  # one that another thread is in
            self.dialogue.close()
        while self.channels:
            _close(self.channels.popitem()[1])

    @property
    def is_closed(self) -> bool:
        """Whether nothing is open."""
        return self.over or self.error is not None

    def _do(self, effect: Effect) -> Generator[Waiting, Any, Any]:
        match effect:
            case Read():
                return (yield from self._read(effect))
            case Write(data, channel, courtesy):
                with contextlib.suppress(*([AccessError] if courtesy else [])):
                    yield from self._write(data, channel)
            case Dial():
                yield from self._connect_any(effect)
            case Hangup(channel):
                self._hang_up(channel)
            case OpenLocal():
                return (yield from self._open_local(effect))
            case Seek(host, port):
                until = monotonic() + self.policy.connect_timeout
                return [address for _, address in (yield from self._addresses(Dial(host, port), until))]
            case _:
                raise AssertionError(effect)
        return None

    # -- waiting

    def _remaining_seconds(self, until: float) -> float:
        """Seconds to a moment.  Raises: AccessTimeout if all should have been done by now."""
        now = monotonic()
        if self.until is not None:
            if now >= self.until:
                raise AccessTimeout(f"not finished within {self.policy.total_timeout:g} s; {LONGER}", uri=self.uri)
            until = min(until, self.until)
        return max(0.0, until - now)

    def _wait(self, held: socket.socket, write: bool, until: float) -> Generator[Waiting, Any, None]:
        """Raises: TimeoutError; AccessTimeout if all should have been done by then."""
        if not (yield Ready(held, write, self._remaining_seconds(until))):
            self._remaining_seconds(until)
            raise TimeoutError

    def _call_when_ready(
        self, held: socket.socket, do: Callable[[], T], write: bool, until: float
    ) -> Generator[Waiting, Any, T]:
        """What a call on a socket gives, when the socket is ready for it."""
        while True:
            self._remaining_seconds(until)  # a peer that is always ready must end in time too
            try:
                return do()
            except BlockingIOError:
                now = write
            except ssl.SSLWantReadError:
                now = False
            except ssl.SSLWantWriteError:
                now = True
            yield from self._wait(held, now, until)

    # -- connections

    def _connect_any(self, dial: Dial) -> Generator[Waiting, Any, None]:
        """One connection, within `connect_timeout`: each address has its share of the time that is left."""
        where = f"connect {dial.host or 'data'} {dial.port}"
        until = monotonic() + self.policy.connect_timeout
        problem: OSError | ValueError | None = None
        through = dial.transport == "through"
        addresses = [(0, None)] if through else (yield from self._addresses(dial, until))
        for number, (family, address) in enumerate(addresses):
            share = monotonic() + max(0.0, until - monotonic()) / (len(addresses) - number)
            try:
                if not through:
                    yield from self._connect(dial, family, address, share)
                if dial.tls:
                    yield from self._secure(dial, share)
            except (OSError, ValueError) as error:  # ValueError: a name that no certificate can have
                self._hang_up(dial.channel)
                problem = error
                continue
            if not dial.channel and not through:
                self.peer = (family, address)
            return
        if isinstance(problem, TimeoutError):
            raise AccessTimeout("no connection in time", uri=self.uri, where=where) from problem
        raise AccessFailed(f"no connection: {problem}", uri=self.uri, where=where) from problem

    def _addresses(self, dial: Dial, until: float) -> Generator[Waiting, Any, list[tuple[int, Any]]]:
        """Where a connection may go: what was judged is what is connected, and a name is asked for once."""
        if dial.channel and self.peer is not None:
            self.policy.judge_data_port(dial.port, self.uri)
            family, address = self.peer
            return [(family, (address[0], dial.port, *address[2:]))]
        number = literal(dial.host, decoded=True)
        if dial.transport != "proxy":
            there = Connect(source="", host=dial.host, port=dial.port, tls=dial.tls)
            self.policy.judge_connection(there, self.port, self.uri)
        if number is None:
            # The policy itself names the proxy, which may be private.
            policy = self.policy.with_(private=True) if dial.transport == "proxy" else self.policy
            return allowed_addresses((yield from self._resolve(dial, until)), policy, self.uri)
        if number.version == 4:
            return [(socket.AF_INET, (str(number), dial.port))]
        zone = number.scope_id
        try:
            scope = 0 if zone is None else int(zone) if zone.isdigit() else socket.if_nametoindex(zone)
        except (OSError, ValueError) as error:
            raise AccessFailed(f"there is no zone {zone!r}: {error}", "RFC 4007 11", where=dial.host) from None
        return [(socket.AF_INET6, (str(number).partition("%")[0], dial.port, 0, scope))]

    def _resolve(self, dial: Dial, until: float) -> Generator[Waiting, Any, list[Any]]:
        try:
            name = resolvable(dial.host)
        except UnicodeError as error:
            raise AccessFailed(f"no resolver knows the name: {error}", uri=self.uri, where=dial.host) from error
        try:
            question = Question(partial(socket.getaddrinfo, name, dial.port, type=socket.SOCK_STREAM))
        except OSError as error:  # no descriptor is left
            raise AccessFailed(f"no resolver is reachable: {error}", uri=self.uri, where=dial.host) from error
        try:
            yield from self._wait(question.ready, False, until)
            addresses: list[Any] = question.answer()
        except TimeoutError:
            raise AccessTimeout("the name was not resolved in time", uri=self.uri, where=dial.host) from None
        except (OSError, ValueError) as error:
            raise AccessFailed(f"the name could not be resolved: {error}", uri=self.uri, where=dial.host) from error
        finally:
            question.close()
        return addresses

    def _connect(self, dial: Dial, family: int, address: Any, until: float) -> Generator[Waiting, Any, None]:
        self._hang_up(dial.channel)
        stream = dial.transport != "udp"
        held = socket.socket(family, socket.SOCK_STREAM if stream else socket.SOCK_DGRAM)
        self.channels[dial.channel] = held
        held.setblocking(False)
        try:
            held.connect(address)
        except BlockingIOError:
            yield from self._wait(held, True, until)
            code = held.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
            if code:
                raise OSError(code, os.strerror(code)) from None
        if stream:
            held.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def _secure(self, dial: Dial, until: float) -> Generator[Waiting, Any, None]:
        """TLS on a channel."""
        held = self._channel_of(dial.channel)
        assert isinstance(held, socket.socket)
        # An end without a closure alert is a fault, and no end of the content (RFC 9112 9.8).
        safe = (self.policy.tls or ssl.create_default_context()).wrap_socket(
            held, server_hostname=certificate_name(dial.host), do_handshake_on_connect=False, suppress_ragged_eofs=False
        )
        self.channels[dial.channel] = safe
        yield from self._call_when_ready(safe, safe.do_handshake, False, until)

    def _hang_up(self, channel: int) -> None:
        held = self.channels.pop(channel, None)
        if held is not None:
            _close(held)

    # -- octets

    def _channel_of(self, channel: int) -> socket.socket | io.FileIO:
        held = self.channels.get(channel)
        if held is None:
            raise AccessFailed("the connection is closed", uri=self.uri)
        return held

    def _read(self, read: Read) -> Generator[Waiting, Any, bytes | None]:
        held = self._channel_of(read.channel)
        limit, most = self.policy.read_timeout if read.patience is None else read.patience, self.policy.max_bytes
        size = read.size
        if most is not None and read.counted:
            size = min(size, max(most - self.received, 1))  # what is allowed is given first, however much has come
        try:
            if isinstance(held, socket.socket):
                # A datagram comes whole or is cut: what does not fit is lost.
                do = partial(held.recv, size if held.type == socket.SOCK_STREAM else max(read.size, 65_536))
                data = yield from self._call_when_ready(held, do, False, monotonic() + limit)
            else:
                self._remaining_seconds(monotonic())
                data = yield Call(partial(held.read, size))
        except TimeoutError:
            if read.patience is not None:
                return None
            raise AccessTimeout(f"no data for {limit} s", uri=self.uri) from None
        except (OSError, ValueError) as error:
            raise AccessFailed(f"the connection broke: {error}", uri=self.uri) from error
        self.received += len(data) if read.counted else 0
        if most is not None and self.received > most:
            raise LimitExceeded(f"more than {most:,} octets; {LARGER}", uri=self.uri)
        return data

    def _write(self, data: bytes, channel: int) -> Generator[Waiting, Any, None]:
        held = self._channel_of(channel)
        left = memoryview(data)
        try:
            if not isinstance(held, socket.socket):
                raise OSError("a file cannot be written to")
            while left:
                until = monotonic() + self.policy.read_timeout
                left = left[(yield from self._call_when_ready(held, partial(held.send, left), True, until)) :]
        except TimeoutError:
            raise AccessTimeout("the server does not accept data", uri=self.uri) from None
        except (OSError, ValueError) as error:
            raise AccessFailed(f"the connection broke: {error}", uri=self.uri) from error

    def _open_local(self, effect: OpenLocal) -> Generator[Waiting, Any, LocalFile | None]:
        self.policy.judge_file(self.uri)
        self._hang_up(effect.channel)
        try:
            seen, held = yield Call(partial(open_local, effect.path, effect.mounted))
        except ResourceMissing:
            if effect.optional:
                return None
            raise
        if held is not None:
            self.channels[effect.channel] = held
        return seen  # type: ignore[no-any-return]


def _close(held: socket.socket | io.FileIO) -> None:
    with contextlib.suppress(OSError):
        held.close()
