"""Effects that a dialogue requests from its transport; a dialogue is a generator and touches no socket.

It yields an effect, is sent the answer, and yields the next.  The same dialogues run over blocking sockets, over
anyio, and over recorded bytes.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from overthere.access.errors import AccessFailed, LimitExceeded, ProtocolError
from overthere.ground.redact import mask

if TYPE_CHECKING:
    from overthere.protocols.session.client import Session

__all__ = [
    "Data", "Dial", "Dialogue", "Effect", "Entry", "LocalFile", "Hangup", "Head", "Item", "OpenLocal", "Read", "Seek",
    "TimeCheck", "Wire", "Write", "expect",
]  # fmt: skip

CONTROL, DATA = 0, 1
_LARGE = 1 << 19
# glibc gives a freed block of up to twice this size back to the system, and the next read has to find its pages anew,
# until a block as large as this was freed once (mallopt(3), M_MMAP_THRESHOLD): half the time of a gigabyte.
bytes(1 << 22)
_AT_ONCE = 1 << 28


class Dial(NamedTuple):
    """Connect; the policy judges every address first.  Channel 1 (a data connection) goes to the address of 0.

    transport: "tcp", "udp", "proxy" (which the policy itself names), or "through": over the channel as it stands.
    """

    host: str
    port: int
    tls: bool = False
    transport: str = "tcp"
    channel: int = CONTROL


class Write(NamedTuple):
    """Send all of it."""

    data: bytes
    channel: int = CONTROL
    courtesy: bool = False
    """Whether it does not matter if the other side takes it no more."""


class Read(NamedTuple):
    """Answered with octets, at most `size`; b"" at the end; None if no data for `patience` seconds."""

    size: int = 65_536
    channel: int = CONTROL
    patience: float | None = None
    counted: bool = True
    """Whether the octets are received for the caller, and not only looked through (`Policy.max_bytes`)."""


class Hangup(NamedTuple):
    """Close a channel."""

    channel: int = CONTROL


class OpenLocal(NamedTuple):
    """Open a file of this machine as a channel; answered with a `LocalFile`."""

    path: str
    channel: int = CONTROL
    mounted: str = ""
    """Where a file system must be mounted for that."""
    optional: bool = False
    """Whether the answer is None, and no error, where there is nothing or it cannot be read."""


class Seek(NamedTuple):
    """Ask where a host is; answered with the addresses that the policy lets be connected, as the system has them."""

    host: str
    port: int


class LocalFile(NamedTuple):
    """What stands at a path: a file of so many octets, or a directory with these names.

    A directory's end in "/", those of what is neither directory nor file in "//", which no name holds.
    """

    size: int | None
    names: tuple[str, ...] | None


@dataclass(frozen=True, slots=True)
class Head:
    """What is known of the resource before its content: yielded once, then `Data` and `Item` follow."""

    media_type: str | None = None
    how: str = ""
    """How the media type is known: "server", "name", "scheme", ..."""
    length: int | None = None
    location: str | None = None
    """Where a redirect leads, as the server wrote it."""
    permanent: bool = False
    base: str | None = None
    """A base URI that the answer itself names (Content-Location)."""
    listing: bool = False
    """Whether entries follow."""
    details: dict[str, Any] = field(default_factory=dict[str, Any])
    """What the protocol says beside: status, header fields, attributes."""
    session: Session | None = None
    """A session for a person to begin, where the URI names no more."""


class Data(NamedTuple):
    """A piece of the content."""

    octets: bytes


@dataclass(frozen=True, slots=True)
class Entry:
    """An entry of a listing."""

    name: str
    uri: str | None = None
    """None if the entry has no URI, as a line of text in a menu."""
    kind: str = ""
    """In the protocol's words: "directory", "file", "search", "info", "group", "article", ..."""
    details: dict[str, Any] = field(default_factory=dict[str, Any])

    def __repr__(self) -> str:
        uri = None if self.uri is None else mask(self.uri)
        return f"Entry(name={self.name!r}, uri={uri!r}, kind={self.kind!r}, details={self.details!r})"


class Item(NamedTuple):
    """An entry of a listing."""

    entry: Entry


class TimeCheck(NamedTuple):
    """Work was done that may have given nothing: the time that is left is looked at, and others may run."""


Effect = Dial | Write | Read | Hangup | OpenLocal | Seek | TimeCheck | Head | Data | Item
Dialogue = Generator[Effect, Any, None]


class Wire:
    """A channel read by lines and counts: what was read and not yet taken is kept here."""

    __slots__ = ("channel", "held", "max_line", "over")

    def __init__(self, max_line: int = 65_536, channel: int = CONTROL) -> None:
        self.held: bytearray = bytearray()
        self.max_line: int = max_line
        self.channel: int = channel
        self.over: bool = False
        """Whether the other side has closed."""

    def fill(self, size: int = 65_536) -> Generator[Effect, Any, bool]:
        """Read more; False at the end."""
        if not self.over:
            data: bytes = yield Read(size, self.channel)
            self.over = not data
            self.held += data
        return not self.over

    def line(self, what: str) -> Generator[Effect, Any, bytes]:
        """The next line without its end (LF, or CR LF).

        Raises: LimitExceeded for a longer one than `max_line`; AccessFailed if the end comes first.
        """
        looked = 0
        # One octet more: it may be the CR of the line's end.
        while (end := self.held.find(b"\n", looked, self.max_line + 2)) < 0:
            looked = len(self.held)
            if looked > self.max_line + 1:
                raise LimitExceeded(f"a line of more than {self.max_line:,} octets", where=what)
            if not (yield from self.fill()):
                raise AccessFailed(
                    "the server closed the connection in the middle of a line"
                    if looked
                    else "the server closed the connection",
                    where=what,
                )
        line = bytes(self.held[:end])
        del self.held[: end + 1]
        return line.removesuffix(b"\r")

    def read_exactly(self, count: int, what: str) -> Generator[Effect, Any, bytes]:
        """So many octets, at once: for what is small.

        Raises: AccessFailed if the end comes first; LimitExceeded for more than 256 MiB.
        """
        if count > _AT_ONCE:
            raise LimitExceeded(f"{count:,} octets at once", where=what)
        while len(self.held) < count:
            if not (yield from self.fill(max(65_536, min(count - len(self.held), 1 << 20)))):
                raise AccessFailed(f"{len(self.held):,} of {count:,} octets arrived before the end", where=what)
        data = bytes(self.held[:count])
        del self.held[:count]
        return data

    def stream(self, count: int, what: str) -> Generator[Effect, Any, None]:
        """So many octets as `Data`.  Raises: AccessFailed if the end comes first."""
        left = count
        if self.held and left:
            piece = bytes(self.held[:left])
            del self.held[:left]
            left -= len(piece)
            yield Data(piece)
        while left:
            data: bytes = yield Read(min(left, _LARGE), self.channel)
            if not data:
                self.over = True
                raise AccessFailed(f"{count - left:,} of {count:,} octets arrived before the end", where=what)
            left -= len(data)
            yield Data(data)

    def read_rest(self) -> Generator[Effect, Any, None]:
        """Everything to the end as `Data`."""
        if self.held:
            piece = bytes(self.held)
            self.held.clear()
            yield Data(piece)
        while not self.over:
            data: bytes = yield Read(_LARGE, self.channel)
            self.over = not data
            if data:
                yield Data(data)

    def read_to_period(self, what: str, *, lenient: bool = False) -> Generator[Effect, Any, None]:
        """Lines as `Data` up to a line with a period alone; a doubled first period is one (RFC 1436 3.1, RFC 3977).

        lenient: the end of the connection ends the text too.  Raises: ProtocolError, LimitExceeded, AccessFailed.
        """
        while True:
            try:
                line = yield from self.line(what)
            except AccessFailed:
                if not lenient:
                    raise
                line = bytes(self.held)
                self.held.clear()
                if line and line.rstrip(b"\r") != b".":
                    yield Data(line[1:] if line.startswith(b"..") else line)
                return
            # Lines that have come together are given together: news texts of a million short lines are usual.
            given, end = bytearray(), 0
            while line != b".":
                given += (line[1:] if line.startswith(b"..") else line) + b"\r\n"
                end = self.held.find(b"\n", 0, self.max_line + 2)
                if end < 0 or len(given) >= _LARGE:
                    break
                line = bytes(self.held[:end]).removesuffix(b"\r")
                del self.held[: end + 1]
            if given:
                yield Data(bytes(given))
            if line == b".":
                return


def expect(condition: bool, message: str, source: str, where: str) -> None:
    """Raises: ProtocolError unless the condition holds."""
    if not condition:
        raise ProtocolError(message, source, None, where)
