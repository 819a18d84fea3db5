"""Effects that a dialogue requests from its transport; a dialogue is a generator and uses no socket itself.

It yields an effect, receives the answer, and yields the next.  The same dialogues run over blocking sockets, over
anyio, and over recorded bytes.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from overthere.access.errors import AccessFailed, LimitExceeded, ProtocolError
from overthere.ground.redact import hides_secrets

if TYPE_CHECKING:
    from overthere.protocols.session.client import Session

CONTROL, DATA = 0, 1
_STREAM_BYTES = 1 << 19
# glibc returns freed blocks of up to twice this size to the system, so that every read must map new pages, until
# a block as large as this was freed once (mallopt(3), M_MMAP_THRESHOLD); it would double the time of a gigabyte.
bytes(1 << 22)
_MAX_BYTES_AT_ONCE = 1 << 28


class Dial(NamedTuple):
    """Connect; the policy judges every address first.  Channel 1 (a data connection) goes to the address of 0.

    transport: "tcp", "udp", "proxy" (which the policy itself names), or "through": over the existing channel.
    """

    host: str
    port: int
    tls: bool = False
    transport: str = "tcp"
    channel: int = CONTROL


class Write(NamedTuple):
    """Send all data."""

    data: bytes
    channel: int = CONTROL
    courtesy: bool = False
    """Whether a failure is ignored, because the other side may have closed already."""


class Read(NamedTuple):
    """Read at most `size` bytes; the answer is b"" at the end, None if no data arrives for `patience` seconds."""

    size: int = 65_536
    channel: int = CONTROL
    patience: float | None = None
    counted: bool = True
    """Whether the bytes count for `Policy.max_bytes`: not if they are only searched."""


class Hangup(NamedTuple):
    """Close a channel."""

    channel: int = CONTROL


class OpenLocal(NamedTuple):
    """Open a file of this machine as a channel; the answer is a `LocalFile`."""

    path: str
    channel: int = CONTROL
    mounted: str = ""
    """The directory on which a file system must be mounted for that, or ""."""
    optional: bool = False
    """Whether the answer is None instead of an error if the file is missing or unreadable."""


class Seek(NamedTuple):
    """Resolve a host; the answer is the addresses that the policy allows, in the system's form."""

    host: str
    port: int


class LocalFile(NamedTuple):
    """A file with its size in bytes, or a directory with its names.

    Names of directories end in "/", names of other things than directories and files in "//".
    """

    size: int | None
    names: tuple[str, ...] | None


@hides_secrets
@dataclass(frozen=True, slots=True)
class Head:
    """The facts about a resource before its content: yielded once; `Data` and `Item` follow."""

    media_type: str | None = None
    how: str = ""
    """The source of the media type: "server", "name", "scheme", ..."""
    length: int | None = None
    location: str | None = None
    """The target of a redirect, as the server wrote it."""
    permanent: bool = False
    base: str | None = None
    """A base URI in the answer itself, where it can be trusted; HTTP sets none."""
    listing: bool = False
    """Whether entries follow."""
    details: dict[str, Any] = field(default_factory=dict[str, Any])
    """Other data of the protocol: status, header fields, attributes."""
    session: Session | None = None
    """A session for a person to begin, if the URI names only that."""


class Data(NamedTuple):
    """A piece of the content."""

    octets: bytes


@hides_secrets
@dataclass(frozen=True, slots=True)
class Entry:
    """An entry of a listing."""

    name: str
    uri: str | None = None
    """None if the entry has no URI, such as a line of text in a menu."""
    kind: str = ""
    """In the protocol's words: "directory", "file", "search", "info", "group", "article", ..."""
    details: dict[str, Any] = field(default_factory=dict[str, Any])


class Item(NamedTuple):
    """An entry of a listing."""

    entry: Entry


class TimeCheck(NamedTuple):
    """Check the time limit and let other tasks run, after work that may have had no result."""


Effect = Dial | Write | Read | Hangup | OpenLocal | Seek | TimeCheck | Head | Data | Item
Dialogue = Generator[Effect, Any, None]


class Wire:
    """Reads a channel by lines and counts; it buffers data that was read and not yet consumed."""

    __slots__ = ("buffer", "channel", "max_line", "over")

    def __init__(self, max_line: int = 65_536, channel: int = CONTROL) -> None:
        self.buffer: bytearray = bytearray()
        self.max_line: int = max_line
        self.channel: int = channel
        self.over: bool = False
        """Whether the other side has closed."""

    def fill(self, size: int = 65_536) -> Generator[Effect, Any, bool]:
        """Read more data; return False at the end."""
        if not self.over:
            data: bytes = yield Read(size, self.channel)
            self.over = not data
            self.buffer += data
        return not self.over

    def line(self, context: str) -> Generator[Effect, Any, bytes]:
        """Return the next line without its end (LF or CR LF).

        Raises: LimitExceeded for a longer one than `max_line`; AccessFailed if the end comes first.
        """
        searched = 0
        # One byte more, because it may be the CR of the line's end.
        while (end := self.buffer.find(b"\n", searched, self.max_line + 2)) < 0:
            searched = len(self.buffer)
            if searched > self.max_line + 1:
                raise LimitExceeded(f"a line of more than {self.max_line:,} octets", where=context)
            if not (yield from self.fill()):
                raise AccessFailed(
                    "the server closed the connection in the middle of a line"
                    if searched
                    else "the server closed the connection",
                    where=context,
                )
        line = bytes(self.buffer[:end])
        del self.buffer[: end + 1]
        return line.removesuffix(b"\r")

    def read_exactly(self, count: int, context: str) -> Generator[Effect, Any, bytes]:
        """Return `count` bytes at once, for small amounts.

        Raises: AccessFailed if the end comes first; LimitExceeded for more than 256 MiB.
        """
        if count > _MAX_BYTES_AT_ONCE:
            raise LimitExceeded(f"{count:,} octets at once", where=context)
        while len(self.buffer) < count:
            if not (yield from self.fill(max(65_536, min(count - len(self.buffer), 1 << 20)))):
                raise AccessFailed(f"{len(self.buffer):,} of {count:,} octets arrived before the end", where=context)
        data = bytes(self.buffer[:count])
        del self.buffer[:count]
        return data

    def stream(self, count: int, context: str) -> Generator[Effect, Any, None]:
        """Yield `count` bytes as `Data`.  Raises: AccessFailed if the end comes first."""
        remaining = count
        if self.buffer and remaining:
            piece = bytes(self.buffer[:remaining])
            del self.buffer[:remaining]
            remaining -= len(piece)
            yield Data(piece)
        while remaining:
            data: bytes = yield Read(min(remaining, _STREAM_BYTES), self.channel)
            if not data:
                self.over = True
                raise AccessFailed(f"{count - remaining:,} of {count:,} octets arrived before the end", where=context)
            remaining -= len(data)
            yield Data(data)

    def read_rest(self) -> Generator[Effect, Any, None]:
        """Yield everything to the end as `Data`."""
        if self.buffer:
            piece = bytes(self.buffer)
            self.buffer.clear()
            yield Data(piece)
        while not self.over:
            data: bytes = yield Read(_STREAM_BYTES, self.channel)
            self.over = not data
            if data:
                yield Data(data)

    def read_to_period(self, context: str, *, lenient: bool = False) -> Generator[Effect, Any, None]:
        """Yield lines as `Data` up to a line with only "."; a doubled first period is one (RFC 1436 3.1; RFC 3977).

        lenient: the end of the connection ends the text too.  Raises: ProtocolError, LimitExceeded, AccessFailed.
        """
        while True:
            try:
                line = yield from self.line(context)
            except AccessFailed:
                if not lenient:
                    raise
                line = bytes(self.buffer)
                self.buffer.clear()
                if line and line.rstrip(b"\r") != b".":
                    yield Data(line[1:] if line.startswith(b"..") else line)
                return
            # Buffered lines are yielded together, because news texts often have a million short lines.
            lines, end = bytearray(), 0
            while line != b".":
                lines += (line[1:] if line.startswith(b"..") else line) + b"\r\n"
                end = self.buffer.find(b"\n", 0, self.max_line + 2)
                if end < 0 or len(lines) >= _STREAM_BYTES:
                    break
                line = bytes(self.buffer[:end]).removesuffix(b"\r")
                del self.buffer[: end + 1]
            if lines:
                yield Data(bytes(lines))
            if line == b".":
                return


def expect(condition: bool, message: str, source: str, where: str) -> None:
    """Raises: ProtocolError unless the condition holds."""
    if not condition:
        raise ProtocolError(message, source, None, where)
