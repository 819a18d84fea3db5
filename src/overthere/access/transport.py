"""Sockets for dialogues: connections, TLS, timeouts, limits, and the policy check before each connection.

`Carrier` does all but waiting: `blocking.Transport` blocks the thread, `aio.AsyncTransport` waits in an event loop.
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
    TimeCheck,
    Write,
)
from overthere.values.hosts.address import certificate_name, literal, resolvable
from overthere.values.known_secrets import Secrets

if TYPE_CHECKING:
    from overthere.access.policy import Policy
    from overthere.values.uri import URI


class Ready(NamedTuple):
    """Wait until a socket can be read or written; the answer is whether that happened within `seconds`."""

    sock: socket.socket
    for_write: bool
    seconds: float


class _Silence(Exception):
    """The time is over.  A TimeoutError may be another problem, the system's ETIMEDOUT."""


class Call(NamedTuple):
    """Call a function that may block; the answer is its result."""

    function: Callable[[], Any]


class Pause(NamedTuple):
    """Let other tasks run: a server that is always ready must not occupy the event loop."""


_EFFECTS_BETWEEN_PAUSES = 64

_NO_SECRETS = Secrets()

Waiting = Ready | Call | Pause
T = TypeVar("T")


class Carrier:
    """Executes a dialogue; the caller that drives `run_to_result` does the waiting."""

    def __init__(
        self, dialogue: Dialogue, policy: Policy, uri: URI, default_port: int | None, deadline: float | None = None,
        secrets: Secrets = _NO_SECRETS,
    ) -> None:  # fmt: skip
        """default_port: the scheme's default port; deadline: when everything must be done, by `time.monotonic`, or
        None for `Policy.total_timeout` from now.

        secrets: values that no error may show; a redirect can have a password as its host.
        """
        self.dialogue = dialogue
        self.policy = policy
        self.uri = uri
        self.default_port = default_port
        if deadline is None and policy.total_timeout is not None:
            deadline = monotonic() + policy.total_timeout
        self.deadline = deadline
        self.secrets: Secrets = secrets
        self.received_bytes: int = 0
        self.channels: dict[int, socket.socket | io.FileIO] = {}
        """Open sockets and files, by number of the channel."""
        self.peer_address: tuple[int, Any] | None = None
        """The address that the policy allowed and that is connected; data connections use it too."""
        self.error: AccessError | None = None
        """The error that every later call raises again."""
        self.is_over: bool = False
        """Whether the dialogue has ended."""

    def run_to_result(self) -> Generator[Waiting, Any, Head | Data | Item | None]:
        """Run to the next result and return it, None at the end; yield what to wait for.

        Raises: AccessError and the other documented errors; the caller must then call `fail`, which closes everything.
        """
        if self.is_over:
            return None
        if self.error is not None:
            raise self.error
        answer: Any = None
        effects = 0
        try:
            while True:
                effect = self._next_effect(answer)
                if isinstance(effect, Head | Data | Item):
                    return effect
                answer = yield from self._carry_out(effect)
                effects += 1
                if effects % _EFFECTS_BETWEEN_PAUSES == 0:
                    yield Pause()
        except StopIteration:
            self.is_over = True
            self.release()
            return None

    def _next_effect(self, answer: Any) -> Effect:
        """Return the next effect of the dialogue.  An undocumented exception becomes the cause of a ProtocolError: a
        library may raise anything for a server's data, and so may a bug in a reader."""
        try:
            return self.dialogue.send(answer)
        except (StopIteration, *DOCUMENTED):
            raise
        except Exception as error:
            message = f"the server's data could not be read ({type(error).__name__})"
            raise ProtocolError(message, uri=self.uri) from error

    def fail(self, error: BaseException) -> None:
        """Close everything after an error.  An AccessError gets the URI and loses its secrets; later calls raise it."""
        if isinstance(error, AccessError):
            error.uri = error.uri or self.uri
            mask_errors(error, self.secrets)
            self.error = error
        self.release()

    def release(self) -> None:
        """Close every channel and the dialogue, without waiting; if it is unfinished, later calls raise."""
        if not self.is_over and self.error is None:
            self.error = AccessFailed("the resource was closed before the end of its content", uri=self.uri)
        with contextlib.suppress(Exception):  # it may be running in another thread
            self.dialogue.close()
        while self.channels:
            _close(self.channels.popitem()[1])

    @property
    def is_closed(self) -> bool:
        """Whether everything is closed."""
        return self.is_over or self.error is not None

    def _carry_out(self, effect: Effect) -> Generator[Waiting, Any, Any]:
        """Carry out an effect and return its answer, None if it has none."""
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
            case TimeCheck():
                self._remaining_seconds(monotonic())
                yield Pause()
            case OpenLocal():
                return (yield from self._open_local(effect))
            case Seek(host, port):
                deadline = monotonic() + self.policy.connect_timeout
                return [address for _, address in (yield from self._find_addresses(Dial(host, port), deadline))]
            case _:
                raise AssertionError(effect)
        return None

    # -- waiting

    def _remaining_seconds(self, deadline: float) -> float:
        """The seconds until `deadline` or `self.deadline`: 0 after the former; AccessTimeout after the latter."""
        now = monotonic()
        if self.deadline is not None:
            if now >= self.deadline:
                raise AccessTimeout(f"not finished within {self.policy.total_timeout:g} s; {LONGER}", uri=self.uri)
            deadline = min(deadline, self.deadline)
        return max(0.0, deadline - now)

    def _wait(self, sock: socket.socket, for_write: bool, deadline: float) -> Generator[Waiting, Any, None]:
        """Wait for a socket.  Raises: _Silence; AccessTimeout after the overall deadline."""
        if not (yield Ready(sock, for_write, self._remaining_seconds(deadline))):
            self._remaining_seconds(deadline)
            raise _Silence

    def _call_when_ready(
        self, sock: socket.socket, call: Callable[[], T], for_write: bool, deadline: float
    ) -> Generator[Waiting, Any, T]:
        """Return the result of a call on a non-blocking socket; repeat it whenever the socket is ready.

        Raises: as `_wait`.
        """
        while True:
            self._remaining_seconds(deadline)  # the overall limit holds for a peer that is always ready, too
            try:
                return call()
            except BlockingIOError:
                needs_write = for_write
            except ssl.SSLWantReadError:
                needs_write = False
            except ssl.SSLWantWriteError:
                needs_write = True
            yield from self._wait(sock, needs_write, deadline)

    # -- connections

    def _connect_any(self, dial: Dial) -> Generator[Waiting, Any, None]:
        """Connect to the first address that works, then TLS if asked; only TLS if `dial.transport` is "through"."""
        where = f"connect {dial.host or 'data'} {dial.port}"
        deadline = monotonic() + self.policy.connect_timeout
        problem: Exception | None = None
        through = dial.transport == "through"
        addresses = [(0, None)] if through else (yield from self._find_addresses(dial, deadline))
        for number, (family, address) in enumerate(addresses):
            share = monotonic() + max(0.0, deadline - monotonic()) / (len(addresses) - number)
            try:
                if not through:
                    yield from self._connect(dial, family, address, share)
                if dial.tls:
                    yield from self._secure(dial, share)
            except (OSError, ValueError, _Silence) as error:  # ValueError: a name that no certificate can have
                self._hang_up(dial.channel)
                problem = error
                continue
            if not dial.channel and not through:
                self.peer_address = (family, address)
            return
        if isinstance(problem, _Silence):
            raise AccessTimeout("no connection in time", uri=self.uri, where=where) from problem
        raise AccessFailed(f"no connection: {problem}", uri=self.uri, where=where) from problem

    def _find_addresses(self, dial: Dial, deadline: float) -> Generator[Waiting, Any, list[tuple[int, Any]]]:
        """Return the allowed addresses: the peer's for a data connection, a literal one, or those of one look-up."""
        if dial.channel and self.peer_address is not None:
            self.policy.judge_data_port(dial.port, self.uri)
            family, address = self.peer_address
            return [(family, (address[0], dial.port, *address[2:]))]
        literal_address = literal(dial.host, decoded=True)
        if dial.transport != "proxy":
            target = Connect(source="", host=dial.host, port=dial.port, tls=dial.tls)
            self.policy.judge_connection(target, self.default_port, self.uri)
        if literal_address is None:
            # The proxy may be private, because the policy itself names it.
            policy = self.policy.with_(private=True) if dial.transport == "proxy" else self.policy
            return allowed_addresses((yield from self._look_up_name(dial, deadline)), policy, self.uri)
        if literal_address.version == 4:
            return [(socket.AF_INET, (str(literal_address), dial.port))]
        zone = literal_address.scope_id
        try:
            scope = 0 if zone is None else int(zone) if zone.isdigit() else socket.if_nametoindex(zone)
        except (OSError, ValueError) as error:
            raise AccessFailed(f"there is no zone {zone!r}: {error}", "RFC 4007 11", where=dial.host) from None
        return [(socket.AF_INET6, (str(literal_address).partition("%")[0], dial.port, 0, scope))]

    def _look_up_name(self, dial: Dial, deadline: float) -> Generator[Waiting, Any, list[Any]]:
        """Return the answers of `getaddrinfo` for the host."""
        try:
            name = resolvable(dial.host)
        except UnicodeError as error:
            raise AccessFailed(f"no resolver knows the name: {error}", uri=self.uri, where=dial.host) from error
        try:
            question = Question(partial(socket.getaddrinfo, name, dial.port, type=socket.SOCK_STREAM))
        except OSError as error:  # out of file descriptors or threads
            raise AccessFailed(f"no resolver is reachable: {error}", uri=self.uri, where=dial.host) from error
        try:
            yield from self._wait(question.ready, False, deadline)
            answers: list[Any] = question.answer()
        except _Silence:
            raise AccessTimeout("the name was not resolved in time", uri=self.uri, where=dial.host) from None
        except (OSError, ValueError) as error:
            raise AccessFailed(f"the name could not be resolved: {error}", uri=self.uri, where=dial.host) from error
        finally:
            question.close()
        return answers

    def _connect(self, dial: Dial, family: int, address: Any, deadline: float) -> Generator[Waiting, Any, None]:
        self._hang_up(dial.channel)
        stream = dial.transport != "udp"
        sock = socket.socket(family, socket.SOCK_STREAM if stream else socket.SOCK_DGRAM)
        self.channels[dial.channel] = sock
        sock.setblocking(False)
        try:
            sock.connect(address)
        except BlockingIOError:
            yield from self._wait(sock, True, deadline)
            code = sock.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
            if code:
                raise OSError(code, os.strerror(code)) from None
        if stream:
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def _secure(self, dial: Dial, deadline: float) -> Generator[Waiting, Any, None]:
        """Begin TLS on the channel."""
        sock = self._endpoint(dial.channel)
        assert isinstance(sock, socket.socket)
        # A connection that ends without a closure alert is incomplete (RFC 9112 9.8).
        tls_socket = (self.policy.tls or ssl.create_default_context()).wrap_socket(
            sock, server_hostname=certificate_name(dial.host), do_handshake_on_connect=False, suppress_ragged_eofs=False
        )
        self.channels[dial.channel] = tls_socket
        yield from self._call_when_ready(tls_socket, tls_socket.do_handshake, False, deadline)

    def _hang_up(self, channel: int) -> None:
        endpoint = self.channels.pop(channel, None)
        if endpoint is not None:
            _close(endpoint)

    # -- bytes

    def _endpoint(self, channel: int) -> socket.socket | io.FileIO:
        endpoint = self.channels.get(channel)
        if endpoint is None:
            raise AccessFailed("the connection is closed", uri=self.uri)
        return endpoint

    def _read(self, read: Read) -> Generator[Waiting, Any, bytes | None]:
        """Return data of a channel, b"" at its end, None if none arrives within `read.patience`."""
        endpoint = self._endpoint(read.channel)
        timeout, max_bytes = self.policy.read_timeout if read.patience is None else read.patience, self.policy.max_bytes
        size = read.size
        if max_bytes is not None and read.counted:
            size = min(size, max(max_bytes - self.received_bytes, 1))  # return all that is allowed before the error
        try:
            if isinstance(endpoint, socket.socket):
                # A datagram that does not fit is truncated, so the size is large.
                call = partial(endpoint.recv, size if endpoint.type == socket.SOCK_STREAM else max(read.size, 65_536))
                data = yield from self._call_when_ready(endpoint, call, False, monotonic() + timeout)
            else:
                self._remaining_seconds(monotonic())
                data = yield Call(partial(endpoint.read, size))
        except _Silence:
            if read.patience is not None:
                return None
            raise AccessTimeout(f"no data for {timeout} s", uri=self.uri) from None
        except (OSError, ValueError) as error:
            raise AccessFailed(f"the connection broke: {error}", uri=self.uri) from error
        self.received_bytes += len(data) if read.counted else 0
        if max_bytes is not None and self.received_bytes > max_bytes:
            raise LimitExceeded(f"more than {max_bytes:,} octets; {LARGER}", uri=self.uri)
        return data

    def _write(self, data: bytes, channel: int) -> Generator[Waiting, Any, None]:
        endpoint = self._endpoint(channel)
        unsent = memoryview(data)
        try:
            if not isinstance(endpoint, socket.socket):
                raise OSError("a file cannot be written to")
            while unsent:
                deadline = monotonic() + self.policy.read_timeout
                sent = yield from self._call_when_ready(endpoint, partial(endpoint.send, unsent), True, deadline)
                unsent = unsent[sent:]
        except _Silence:
            raise AccessTimeout("the server does not accept data", uri=self.uri) from None
        except (OSError, ValueError) as error:
            raise AccessFailed(f"the connection broke: {error}", uri=self.uri) from error

    def _open_local(self, effect: OpenLocal) -> Generator[Waiting, Any, LocalFile | None]:
        """Open a local file as the channel; return its size, or the names in a folder.

        None if it is optional and cannot be read.
        """
        self.policy.judge_file(self.uri)
        self._hang_up(effect.channel)
        try:
            local_file, file = yield Call(partial(open_local, effect.path, effect.mounted))
        except ResourceMissing:
            if effect.optional:
                return None
            raise
        if file is not None:
            self.channels[effect.channel] = file
        return local_file  # type: ignore[no-any-return]


def _close(endpoint: socket.socket | io.FileIO) -> None:
    with contextlib.suppress(OSError):
        endpoint.close()
