"""The FTP client: replies, the data connection, file or listing (RFC 959 4.2 and 5.4; RFC 1123 4.1.2)."""

from __future__ import annotations

import re
from collections.abc import Generator
from dataclasses import replace
from typing import Any, NamedTuple

from overthere.access.errors import AccessFailed, LimitExceeded, ProtocolError, ResourceMissing, ResourceUnavailable
from overthere.access.masking import secrets_of
from overthere.access.media import guess_type as guessed_media
from overthere.access.planning import Plan
from overthere.access.policy import Policy
from overthere.access.steps import Connect, OpenData, Receive, Send, Step
from overthere.access.wire import Data, Dial, Dialogue, Effect, Entry, Hangup, Head, Item, Read, Wire, Write
from overthere.ground.display import printable
from overthere.ground.errors import PlanRefused, Unwritable
from overthere.protocols.ftp.steps import FTPRole, argument, type_code
from overthere.schemes.known.ftp import FTPLocator
from overthere.values.known_secrets import Secrets

__all__ = ["Reply", "dialogue", "entry"]

_DATA = 1
"""The channel of the data connection."""
_LINES, _OCTETS = 1000, 1 << 20
"""How many lines of a reply are kept, and how long one may be; how much of all of them is kept."""
_PRELIMINARY = 10
"""How many 1yz replies a command may have; RFC 959 4.2 allows one, and 110 beside it."""
_NAMELESS = 1 << 20
"""Octets of lines that name nothing, in a row; NLST gives names "and no other information" (RFC 959 4.1.3)."""
_BROKEN = (421, 425, 426, 451)
"""Not of the resource, but of the connection or the server (RFC 959 4.2.2)."""


def dialogue(plan: Plan, policy: Policy) -> Dialogue:
    """The plan over the control connection, each command answered before the next (RFC 959 5.4).

    Raises: ResourceMissing for a 4yz or 5yz, a password or an account that is asked for and not given; AccessFailed
    for a connection or a transfer that breaks; ProtocolError for what is no reply; LimitExceeded for a line or a reply
    without end.
    """
    locator = plan.locator
    assert isinstance(locator, FTPLocator)
    control = _Control(policy.max_line, secrets_of(plan))
    replied = Reply(220, "")
    host, kind, transfer = "", "A", False  # the type that a server begins with (RFC 959 4.1.2)
    for step in plan.steps:
        where = step.line()
        if replied.code // 100 == 3 and str(replied.code) not in step.after:
            raise _asks(replied, where)
        match step:
            case Connect(host=host, port=port):
                yield Dial(host, port)
            case Receive(role=FTPRole.GREETING):
                replied = yield from control.answer(where)
                _judge(replied, step)
            case OpenData():
                yield from _open_data(control, host, step)
                transfer = True
            case Send(data=data, role=FTPRole.QUIT):
                yield Write(data, courtesy=True)  # all has come: its 221 tells nothing more
            case Send(data=data, after=after):
                if after and str(replied.code) not in after:
                    continue
                yield Write(data)
                replied = yield from control.reply(where) if transfer else control.answer(where)
                _judge(replied, step)
                if step.role is FTPRole.TYPE:
                    kind = type_code(locator.name or "", locator.type)
            case Receive(role=FTPRole.NAMES):
                yield Head("text/plain", "scheme", listing=True, details={"replies": control.replies})
                yield from _names(locator, policy.max_line, where)
                yield from _end_transfer(control, replied, where)
            case Receive(role=FTPRole.FILE):
                size = _size(replied, locator.name or "") if kind == "I" else None
                yield _head(control, locator.name or "", kind, size)
                came = yield from _octets()
                yield from _end_transfer(control, replied, where)
                if size is not None and came < size:
                    raise AccessFailed(
                        f"{came:,} of {size:,} octets arrived before the end", "RFC 959 3.4.1", where=where
                    )
            case _:
                raise AssertionError(step)
    yield Hangup()


class Reply(NamedTuple):
    """A reply: its code, and its text for people, lines joined by a line feed (RFC 959 4.2)."""

    code: int
    text: str

    def __str__(self) -> str:
        """In one line."""
        return f"{self.code} {self.text}".replace("\n", " ")


class _Control:
    """The control connection: replies read one by one, and kept."""

    __slots__ = ("kept", "replies", "secrets", "wire")

    def __init__(self, max_line: int, secrets: Secrets) -> None:
        """secrets: what is masked in the replies, where a server repeats the command that it was sent."""
        self.wire = Wire(max_line)
        self.secrets = secrets
        self.replies: list[str] = []
        """What the server has said to the person; for `Head.details`, where the last one comes after the content."""
        self.kept = 0

    def reply(self, where: str) -> Generator[Effect, Any, Reply]:
        """4.2: three digits and a space; with "-" the reply goes on up to a line that has them with a space."""
        line = yield from self.wire.line(where)
        match = _REPLY.match(line)
        if match is None:
            raise ProtocolError("the server's reply has no code", "RFC 959 4.2", where=where)
        code, lines, size = match[1], [line[4:]], len(line)
        last = line[3:4] != b"-"
        while not last:
            line = yield from self.wire.line(where)
            size += len(line) + 2
            if size > _OCTETS:
                raise LimitExceeded(f"a reply of more than {_OCTETS:,} octets", "RFC 959 4.2", where=where)
            last = line[:3] == code and line[3:4] in (b" ", b"")
            if len(lines) < _LINES:  # what is too much is ignored, and the reply read to its end (RFC 1123 4.1.2.11)
                lines.append(line[4:] if line[:4].rstrip(b" -") == code else line)
        texts = (self.secrets.mask(line.decode("utf-8", "replace")) for line in lines)
        reply = Reply(int(code), "\n".join(map(printable, texts)).rstrip())
        self.kept += size
        if self.kept <= _OCTETS:
            self.replies.append(f"{reply.code} {reply.text}")
        return reply

    def answer(self, where: str) -> Generator[Effect, Any, Reply]:
        """The reply behind the preliminary ones, as "120 Service ready in nnn minutes"."""
        for _ in range(_PRELIMINARY + 1):
            reply = yield from self.reply(where)
            if reply.code >= 200:
                return reply
        raise ProtocolError("endless preliminary replies", "RFC 959 4.2", where=where)


_REPLY = re.compile(rb"([1-5][0-9][0-9])(?:[ -]|\Z)")


def _judge(reply: Reply, step: Step) -> None:
    """The first digit decides (RFC 1123 4.1.2.11); no greeting, no data connection and a few codes tell the side."""
    if reply.code < 400:
        return
    where = step.line()
    if reply.code in _BROKEN or not isinstance(step, Send):
        raise AccessFailed(str(reply), "RFC 959 4.2.2", where=where)
    if step.role is FTPRole.NULL_CWD:
        told = f"this server rejects the empty argument of CWD: {reply}"
        raise ResourceMissing(told, str(reply.code), "RFC 1738 3.2.2", where=where)
    kind = ResourceUnavailable if reply.code // 100 == 4 else ResourceMissing  # "Transient Negative Completion"
    raise kind(str(reply), str(reply.code), "RFC 959 4.2.1", where=where)


def _asks(reply: Reply, where: str) -> ResourceMissing | ProtocolError:
    """3yz: the server wants something more before the next step, and the plan has nothing to say."""
    if reply.code not in (331, 332):
        return ProtocolError(f"an unexpected reply to this command: {reply}", "RFC 959 5.4", where=where)
    what = "a password" if reply.code == 331 else "an account"
    return ResourceMissing(f"the server requires {what}: {reply}", str(reply.code), "RFC 1738 3.2.1", where=where)


def _open_data(control: _Control, host: str, step: Step) -> Dialogue:
    """EPSV, else PASV; of its answer the port alone: the data come from the address that was judged (RFC 2577 3)."""
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
        _judge(reply, step)
        numbers = _PASV.search(reply.text) if reply.code == 227 else None
        if numbers is None or max(map(int, numbers.groups())) > 255:
            raise ProtocolError(f"no data port: {reply}", "RFC 959 4.1.2", where=where)
        port = int(numbers[5]) * 256 + int(numbers[6])
    yield Dial(host, port, channel=_DATA)


_EPSV = re.compile(r"\(([!-~])\1\1([0-9]{1,5})\1\)")
# Parentheses may be missing (RFC 1123 4.1.2.6).
_PASV = re.compile(r"(?<![0-9])([0-9]{1,3}),([0-9]{1,3}),([0-9]{1,3}),([0-9]{1,3}),([0-9]{1,3}),([0-9]{1,3})(?![0-9])")


def _end_transfer(control: _Control, replied: Reply, where: str) -> Dialogue:
    """The data connection has ended; whether the transfer has, only the server says (RFC 959 3.4.1: 226, 250)."""
    yield Hangup(_DATA)
    if replied.code < 200:
        replied = yield from control.answer(where)
    if replied.code >= 300:
        raise AccessFailed(f"the transfer failed: {replied}", "RFC 959 5.4", where=where)


# -- the file


def _head(control: _Control, name: str, kind: str, size: int | None) -> Head:
    """Type by name (RFC 1738 3.2.3); the octets are passed on as the server sends them."""
    media_type, coding = guessed_media(name)
    details: dict[str, Any] = {"type": kind, "replies": control.replies}
    if kind.startswith("A"):
        details["line_ends"] = "CRLF"  # those of NVT-ASCII (RFC 959 3.1.1.1)
    if coding:
        details["coding"] = coding
    return Head(media_type, "name" if media_type else "", size, details=details)


def _size(reply: Reply, name: str) -> int | None:
    """What "150 Opening BINARY mode data connection for x (1234 bytes)." says, where the name cannot be that."""
    match = _BYTES.search(reply.text) if "bytes" not in name else None
    return int(match[1]) if match and reply.code // 100 == 1 else None


_BYTES = re.compile(r"\(([0-9]{1,18}) bytes\)\.?\Z")


def _octets() -> Generator[Effect, Any, int]:
    """The content up to the end of the data connection; how much it was."""
    came = 0
    while octets := (yield Read(1 << 18, _DATA)):
        came += len(octets)
        yield Data(octets)
    return came


# -- the names


def _names(locator: FTPLocator, max_line: int, where: str) -> Dialogue:
    data, directory, nameless = Wire(max_line, _DATA), _directory(locator), 0
    while (yield from data.fill()) or data.held:
        while b"\n" in data.held or len(data.held) > max_line or (data.over and data.held):
            line = yield from data.line(where)
            listed = entry(line, directory, locator.charset)
            if listed is not None:
                nameless = 0
                yield Item(listed)
                continue
            nameless += len(line) + 1
            if nameless > _NAMELESS:
                raise LimitExceeded(f"more than {_NAMELESS:,} octets of lines without a name", where=where)


def _directory(locator: FTPLocator) -> FTPLocator:
    """The directory whose names are asked for; the same octets in UTF-8, which a URI of today is in."""
    today = locator.native
    return replace(
        locator,
        user=None if locator.user is None else today(locator.user),
        password=None if locator.password is None else today(locator.password),
        directories=tuple(map(today, (*locator.directories, *filter(None, [locator.name])))),
        name="",
        type=None,
        fragment=None,
        written=None,
        charset="utf-8",
    )


def entry(line: bytes, directory: FTPLocator, charset: str = "utf-8") -> Entry | None:
    """What a line of a list of names names: something in that directory, wherever the server's path leads.

    line: without its end; directory: a locator, with the name ""; charset: of the name that is shown, Latin-1 where
    the octets are not in it.  None for the directory itself and the one above; without a URI where no command of FTP
    can hold the name.  There are no kinds: a list of names tells none (RFC 959 4.1.3, NLST).

    >>> from overthere import URI
    >>> entry(b"../../caf\\xe9", URI("ftp://h/pub/").locator)
    Entry(name='café', uri='ftp://h/pub/caf%E9', kind='', details={})
    """
    own = line.rstrip(b"/").rpartition(b"/")[2]
    if own in (b"", b".", b".."):
        return None
    try:
        name = own.decode(charset)
    except UnicodeDecodeError:
        name = own.decode("latin-1")
    there = replace(directory, name=own.decode("utf-8", "surrogateescape"))
    try:
        argument(there.name or "", "name")
        return Entry(name, str(there.uri()))
    except (PlanRefused, Unwritable):
        return Entry(name)
