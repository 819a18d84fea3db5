"""The FTP client: replies, the data connection, file or listing (RFC 959 4.2 and 5.4; RFC 1123 4.1.2)."""

from __future__ import annotations

import re
from collections.abc import Generator
from dataclasses import replace
from typing import Any, NamedTuple

from overthere.access.errors import AccessFailed, LimitExceeded, ProtocolError, ResourceMissing, ResourceUnavailable
from overthere.access.masking import secrets_of
from overthere.access.media import guess_type as guess_media_type
from overthere.access.planning import Plan
from overthere.access.policy import Policy
from overthere.access.steps import Connect, OpenData, Receive, Send, Step
from overthere.access.wire import Data, Dial, Dialogue, Effect, Entry, Hangup, Head, Item, Read, Wire, Write
from overthere.ground.display import printable
from overthere.ground.errors import PlanRefused, Unwritable
from overthere.protocols.ftp.steps import FTPRole, argument, type_code
from overthere.schemes.known.ftp import FTPLocator
from overthere.values.known_secrets import Secrets

_DATA_CHANNEL = 1
"""The channel of the data connection."""
_MAX_REPLY_LINES, _MAX_REPLY_BYTES = 1000, 1 << 20
"""The limits of stored lines per reply, and of bytes: of one reply, and of all stored replies."""
_MAX_PRELIMINARY = 10
"""The limit of 1yz replies to a command; RFC 959 4.2 allows one, and 110 in addition."""
_MAX_NAMELESS_BYTES = 1 << 20
"""The limit of consecutive bytes without a name; NLST sends names "and no other information" (RFC 959 4.1.3)."""
_CONNECTION_CODES = (421, 425, 426, 451)
"""Error codes that concern the connection or the server, not the resource (RFC 959 4.2.2)."""


def dialogue(plan: Plan, policy: Policy) -> Dialogue:
    """Execute the plan over the control connection; each command waits for its reply (RFC 959 5.4).

    Raises: ResourceMissing or ResourceUnavailable for a 4yz or 5yz, or if a required password or account is missing;
    AccessFailed for a broken connection or transfer; ProtocolError for an invalid reply; LimitExceeded for an endless
    line or reply.
    """
    locator = plan.locator
    assert isinstance(locator, FTPLocator)
    control = _Control(policy.max_line, secrets_of(plan))
    reply = Reply(220, "")
    host, kind, is_transfer = "", "A", False  # the default type of a server (RFC 959 4.1.2)
    for step in plan.steps:
        where = step.line()
        if reply.code // 100 == 3 and str(reply.code) not in step.after:
            raise _unexpected_intermediate(reply, where)
        match step:
            case Connect(host=host, port=port):
                yield Dial(host, port)
            case Receive(role=FTPRole.GREETING):
                reply = yield from control.answer(where)
                _raise_for_error(reply, step)
            case OpenData():
                yield from _open_data(control, host, step)
                is_transfer = True
            case Send(data=data, role=FTPRole.QUIT):
                yield Write(data, courtesy=True)  # the transfer is complete: the reply 221 has no information
            case Send(data=data, after=after):
                if after and str(reply.code) not in after:
                    continue
                yield Write(data)
                reply = yield from control.reply(where) if is_transfer else control.answer(where)
                _raise_for_error(reply, step)
                if step.role is FTPRole.TYPE:
                    kind = type_code(locator.name or "", locator.type)
            case Receive(role=FTPRole.NAMES):
                yield Head("text/plain", "scheme", listing=True, details={"replies": control.replies})
                yield from _names(locator, policy.max_line, where)
                yield from _end_transfer(control, reply, where)
            case Receive(role=FTPRole.FILE):
                size = _size(reply, locator.name or "") if kind == "I" else None
                yield _head(control, locator.name or "", kind, size)
                received = yield from _read_data()
                yield from _end_transfer(control, reply, where)
                if size is not None and received < size:
                    raise AccessFailed(
                        f"{received:,} of {size:,} octets arrived before the end", "RFC 959 3.4.1", where=where
                    )
            case _:
                raise AssertionError(step)
    yield Hangup()


class Reply(NamedTuple):
    """A reply: its code, and its text for people, lines joined by a line feed (RFC 959 4.2)."""

    code: int
    text: str

    def __str__(self) -> str:
        """Return the reply in one line."""
        return f"{self.code} {self.text}".replace("\n", " ")


class _Control:
    """The control connection: reads replies one by one, and stores them."""

    __slots__ = ("kept_bytes", "replies", "secrets", "wire")

    def __init__(self, max_line: int, secrets: Secrets) -> None:
        """secrets: masked in the replies, because a server may repeat the command."""
        self.wire = Wire(max_line)
        self.secrets = secrets
        self.replies: list[str] = []
        """The replies for the person, in `Head.details`; the last one is added after the content."""
        self.kept_bytes = 0

    def reply(self, where: str) -> Generator[Effect, Any, Reply]:
        """Read a reply (4.2): three digits and a space; with "-" it continues to a line with the digits and a space."""
        line = yield from self.wire.line(where)
        match = _REPLY.match(line)
        if match is None:
            raise ProtocolError("the server's reply has no code", "RFC 959 4.2", where=where)
        code, lines, size = match[1], [line[4:]], len(line)
        last = line[3:4] != b"-"
        while not last:
            line = yield from self.wire.line(where)
            size += len(line) + 2
            if size > _MAX_REPLY_BYTES:
                raise LimitExceeded(f"a reply of more than {_MAX_REPLY_BYTES:,} octets", "RFC 959 4.2", where=where)
            last = line[:3] == code and line[3:4] in (b" ", b"")
            if len(lines) < _MAX_REPLY_LINES:  # further lines are read and ignored (RFC 1123 4.1.2.11)
                lines.append(line[4:] if line[:4].rstrip(b" -") == code else line)
        texts = (self.secrets.mask(line.decode("utf-8", "replace")) for line in lines)
        reply = Reply(int(code), "\n".join(map(printable, texts)).rstrip())
        self.kept_bytes += size
        if self.kept_bytes <= _MAX_REPLY_BYTES:
            self.replies.append(f"{reply.code} {reply.text}")
        return reply

    def answer(self, where: str) -> Generator[Effect, Any, Reply]:
        """Read the reply after preliminary ones, such as "120 Service ready in nnn minutes"."""
        for _ in range(_MAX_PRELIMINARY + 1):
            reply = yield from self.reply(where)
            if reply.code >= 200:
                return reply
        raise ProtocolError("endless preliminary replies", "RFC 959 4.2", where=where)


_REPLY = re.compile(rb"([1-5][0-9][0-9])(?:[ -]|\Z)")


def _raise_for_error(reply: Reply, step: Step) -> None:
    """Raise for an error reply, by its first digit (RFC 1123 4.1.2.11); some concern the connection, not the file."""
    if reply.code < 400:
        return
    where = step.line()
    if reply.code in _CONNECTION_CODES or not isinstance(step, Send):
        raise AccessFailed(str(reply), "RFC 959 4.2.2", where=where)
    if step.role is FTPRole.NULL_CWD:
        message = f"this server rejects the empty argument of CWD: {reply}"
        raise ResourceMissing(message, str(reply.code), "RFC 1738 3.2.2", where=where)
    kind = ResourceUnavailable if reply.code // 100 == 4 else ResourceMissing  # "Transient Negative Completion"
    raise kind(str(reply), str(reply.code), "RFC 959 4.2.1", where=where)


def _unexpected_intermediate(reply: Reply, where: str) -> ResourceMissing | ProtocolError:
    """Return the error for a 3yz: the server requires something that the plan does not have."""
    if reply.code not in (331, 332):
        return ProtocolError(f"an unexpected reply to this command: {reply}", "RFC 959 5.4", where=where)
    item = "a password" if reply.code == 331 else "an account"
    return ResourceMissing(f"the server requires {item}: {reply}", str(reply.code), "RFC 1738 3.2.1", where=where)


def _open_data(control: _Control, host: str, step: Step) -> Dialogue:
    """Open the data connection by EPSV or PASV: to the port in the reply, at the judged address (RFC 2577 3)."""
    where = step.line()
    yield Write(b"EPSV\r\n")
    reply = yield from control.answer(where)
    match = _EPSV.search(reply.text) if reply.code == 229 else None
    if match is not None:
        port = int(match[2])
    else:
        if reply.code == 421:
            raise AccessFailed(str(reply), "RFC 959 4.2.2", where=where)
        yield Write(b"PASV\r\n")
        reply = yield from control.answer(where)
        _raise_for_error(reply, step)
        numbers = _PASV.search(reply.text) if reply.code == 227 else None
        if numbers is None or max(map(int, numbers.groups())) > 255:
            raise ProtocolError(f"no data port: {reply}", "RFC 959 4.1.2", where=where)
        port = int(numbers[5]) * 256 + int(numbers[6])
    yield Dial(host, port, channel=_DATA_CHANNEL)


_EPSV = re.compile(r"\(([!-~])\1\1([0-9]{1,5})\1\)")
# Parentheses may be missing (RFC 1123 4.1.2.6).
_PASV = re.compile(r"(?<![0-9])([0-9]{1,3}),([0-9]{1,3}),([0-9]{1,3}),([0-9]{1,3}),([0-9]{1,3}),([0-9]{1,3})(?![0-9])")


def _end_transfer(control: _Control, reply: Reply, where: str) -> Dialogue:
    """Close the data connection, and check the reply that confirms a complete transfer (RFC 959 3.4.1: 226, 250)."""
    yield Hangup(_DATA_CHANNEL)
    if reply.code < 200:
        reply = yield from control.answer(where)
    if reply.code >= 300:
        raise AccessFailed(f"the transfer failed: {reply}", "RFC 959 5.4", where=where)


# -- the file


def _head(control: _Control, name: str, kind: str, size: int | None) -> Head:
    """Return the head of a file; its media type is guessed from the name (RFC 1738 3.2.3), its bytes are unchanged."""
    media_type, coding = guess_media_type(name)
    details: dict[str, Any] = {"type": kind, "replies": control.replies}
    if kind.startswith("A"):
        details["line_ends"] = "CRLF"  # those of NVT-ASCII (RFC 959 3.1.1.1)
    if coding:
        details["coding"] = coding
    return Head(media_type, "name" if media_type else "", size, details=details)


def _size(reply: Reply, name: str) -> int | None:
    """Return the size in "150 Opening BINARY mode data connection for x (1234 bytes).", unless the name has "bytes"."""
    match = _SIZE_IN_REPLY.search(reply.text) if "bytes" not in name else None
    return int(match[1]) if match and reply.code // 100 == 1 else None


_SIZE_IN_REPLY = re.compile(r"\(([0-9]{1,18}) bytes\)\.?\Z")


def _read_data() -> Generator[Effect, Any, int]:
    """Yield the content up to the end of the data connection; return its number of bytes."""
    received = 0
    while data := (yield Read(1 << 18, _DATA_CHANNEL)):
        received += len(data)
        yield Data(data)
    return received


# -- the names


def _names(locator: FTPLocator, max_line: int, where: str) -> Dialogue:
    data, directory, nameless = Wire(max_line, _DATA_CHANNEL), _directory(locator), 0
    while (yield from data.fill()) or data.buffer:
        while b"\n" in data.buffer or len(data.buffer) > max_line or (data.over and data.buffer):
            line = yield from data.line(where)
            item = entry(line, directory, locator.charset)
            if item is not None:
                nameless = 0
                yield Item(item)
                continue
            nameless += len(line) + 1
            if nameless > _MAX_NAMELESS_BYTES:
                raise LimitExceeded(f"more than {_MAX_NAMELESS_BYTES:,} octets of lines without a name", where=where)


def _directory(locator: FTPLocator) -> FTPLocator:
    """Return the listed directory; its parts are converted to UTF-8, the charset of current URIs."""
    native = locator.native
    return replace(
        locator, user=None if locator.user is None else native(locator.user),
        password=None if locator.password is None else native(locator.password),
        directories=tuple(map(native, (*locator.directories, *filter(None, [locator.name])))), name="", type=None,
        fragment=None, written=None, charset="utf-8",
    )  # fmt: skip


def entry(line: bytes, directory: FTPLocator, charset: str = "utf-8") -> Entry | None:
    """Return the entry for a line in a list of names: always in that directory, whatever path the server sends.

    line: without its end; directory: a locator, with the name ""; charset: of the displayed name, Latin-1 if the bytes
    are invalid in it.  None for the directory itself and its parent; without a URI if FTP commands cannot contain
    the name.  Entries have no kind, because a list of names has none (RFC 959 4.1.3, NLST).

    >>> from overthere import URI
    >>> entry(b"../../caf\\xe9", URI("ftp://h/pub/").locator)
    Entry(name='café', uri='ftp://h/pub/caf%E9', kind='', details={})
    """
    name_bytes = line.rstrip(b"/").rpartition(b"/")[2]
    if name_bytes in (b"", b".", b".."):
        return None
    try:
        name = name_bytes.decode(charset)
    except UnicodeDecodeError:
        name = name_bytes.decode("latin-1")
    target = replace(directory, name=name_bytes.decode("utf-8", "surrogateescape"))
    try:
        argument(target.name or "", "name")
        return Entry(name, str(target.uri()))
    except (PlanRefused, Unwritable):
        return Entry(name)
