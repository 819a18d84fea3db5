"""The steps of a plan: each can be printed, written as JSON, and executed.

A step that sends bytes has exactly those bytes.  They include passwords, which are masked in repr, line and JSON.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from enum import Enum
from functools import cache
from typing import Any, ClassVar, NamedTuple

from overthere.ground.display import printable
from overthere.ground.errors import PlanRefused
from overthere.ground.redact import mask_texts
from overthere.values.hosts.address import link_local
from overthere.values.hosts.name import host_name
from overthere.values.known_secrets import Secrets

CRLF = b"\r\n"


class Credentials(NamedTuple):
    """Data about the caller that a plan may send."""

    user: str | None = None
    password: str | None = None
    address: str | None = None
    """An Internet e-mail address: the password of anonymous FTP (RFC 1738 3.2.1), the sender of a message."""

    def __repr__(self) -> str:
        password = None if self.password is None else "***"
        return f"Credentials(user={self.user!r}, password={password!r}, address={self.address!r})"


def guarded(data: str | bytes, part: str, source: str, *, delimiters: bytes = b"", charset: str = "utf-8") -> bytes:
    """Encode a part of a locator for the commands of a protocol.

    part: its name in the locator.  source: the section that forbids the delimiters.  delimiters: bytes that separate
    fields of the protocol, besides the tab, the line ends and NUL, which these protocols never allow.

    Raises: PlanRefused for a byte that the protocol would read as a delimiter (RFC 1738 6, RFC 3986 7.2 and 7.3).

    >>> guarded("pub", "name", "RFC 959 5.3"), guarded("a b", "group", "RFC 3977 3.1", delimiters=b" ")
    Traceback (most recent call last):
    ...
    overthere.PlanRefused: group holds a space, which separates fields there (RFC 3977 3.1; RFC 3986 7.2)
    """
    try:
        encoded = data.encode(charset, "surrogateescape") if isinstance(data, str) else data
    except UnicodeEncodeError as error:
        raise PlanRefused(f"{part} contains U+{ord(error.object[error.start]):04X}, not in {charset}", source) from None
    if match := _delimiter_pattern(delimiters).search(encoded):
        byte = match[0][0]
        name = _NAMES.get(byte, f'"{chr(byte)}"' if 0x20 < byte < 0x7F else f"the octet %{byte:02X}")
        effect = "ends a command" if byte in b"\r\n" else "ends a text" if byte == 0 else "separates fields"
        raise PlanRefused(f"{part} holds {name}, which {effect} there", f"{source}; RFC 3986 7.2")
    return encoded


@cache
def _delimiter_pattern(delimiters: bytes) -> re.Pattern[bytes]:
    return re.compile(b"[" + re.escape(b"\r\n\t\0" + delimiters) + b"]")


_HIDDEN_FIELDS = ("secret", "lines", "uri")
"""Fields of a step that only the dialogue uses; they are not shown."""
_NAMES = {0: "NUL", 9: "a tab", 10: "a line feed", 13: "a carriage return", 32: "a space"}


class Role(Enum):
    """The role of a step in its dialogue.  A dialogue reads only roles; the texts of steps are for people.

    Each protocol derives its roles from this class, in its `steps.py`.
    """

    def __repr__(self) -> str:
        return f"{type(self).__name__}.{self.name}"


@dataclass(frozen=True, slots=True, repr=False, kw_only=True)
class Step(ABC):
    """The base class of steps.  `after` lists the answers to the previous step after which this one is executed; ()
    means any answer that is a success in the protocol."""

    kind: ClassVar[str] = ""
    source: str
    """Document and paragraph."""
    note: str = ""
    """A note for people."""
    after: tuple[str, ...] = ()
    role: Role | None = None
    """Its role among the steps of its kind, if the dialogue distinguishes them."""
    uri: str = field(default="", compare=False)
    """The URI of its plan: its secrets are masked everywhere in the step."""

    @abstractmethod
    def line(self) -> str:
        """The step for people, in one line, without a password."""

    def to_dict(self) -> dict[str, Any]:
        """Return the step with values that JSON supports; bytes as ISO Latin 1 text, passwords as `***`."""
        result: dict[str, Any] = {"step": self.kind}
        for item in fields(self):
            value = getattr(self, item.name)
            if item.name in _HIDDEN_FIELDS or value == item.default or value in ((), "", None):
                continue
            result[item.name] = _as_builtin(self._show_field(item.name, value))
        return result

    def _show_field(self, name: str, value: Any) -> Any:
        return mask_texts(Secrets.from_texts(self.uri).mask_in(value))

    def __repr__(self) -> str:
        parts = ", ".join(
            f"{item.name}={self._show_field(item.name, value)!r}"
            for item in fields(self)
            if item.name not in _HIDDEN_FIELDS and (value := getattr(self, item.name)) != item.default
        )
        return f"{type(self).__name__}({parts})"


def _as_builtin(value: Any) -> Any:
    if isinstance(value, bytes):
        return value.decode("latin-1")
    if isinstance(value, tuple):
        return [_as_builtin(item) for item in value]
    if isinstance(value, Role):
        return value.value
    return dict(value) if isinstance(value, Mapping) else value


@dataclass(frozen=True, slots=True, repr=False, kw_only=True)
class Connect(Step):
    """Open a connection."""

    kind: ClassVar[str] = "connect"
    host: str
    """The host for a resolver: decoded, without brackets."""
    port: int
    tls: bool = False
    transport: str = "tcp"

    def line(self) -> str:
        return (
            f"connect {self._show_field('host', self.host)} {self.port}"
            + (" (TLS)" if self.tls else "")
            + (f" ({self.transport})" if self.transport != "tcp" else "")
        )


@dataclass(frozen=True, slots=True, repr=False, kw_only=True)
class Send(Step):
    """Send exactly these bytes."""

    kind: ClassVar[str] = "send"
    data: bytes
    secret: tuple[int, int] | None = None
    """Start and end of the bytes in `data` that are never shown."""
    lines: int = 1
    """The number of lines, or 0 for data of counted length.  Data with more lines is not sent to a port of
    another protocol (RFC 1738 6)."""

    def _show_field(self, name: str, value: Any) -> Any:
        if name == "data" and self.secret is not None:
            value = value[: self.secret[0]] + b"***" + value[self.secret[1] :]
        return Step._show_field(self, name, value)

    def line(self) -> str:
        return "send " + readable(self._show_field("data", self.data))


def connect(host: str | None, port: int, source: str, *, tls: bool = False) -> Connect:
    """Return the step that opens a connection to the host of a locator.

    Raises: PlanRefused if the host is missing, if a resolver cannot accept the name or it is not UTF-8 (RFC 3986
    3.2.2), or if the port is invalid.

    >>> connect("[::1]", 21, "RFC 959 3.1"), connect("ex%61mple", 70, "RFC 1436 2").line()
    (Connect(source='RFC 959 3.1', host='::1', port=21), 'connect example 70')
    """
    if not host:
        raise PlanRefused("there is no host to connect to", source)
    if not 0 < port < 65536:
        raise PlanRefused("it is not a valid port number to connect to", f"{source}; RFC 6335 6")
    known_mechanism(host)
    # Brackets are removed before decoding (RFC 3986 2.4).
    literal = host[1:-1] if host.startswith("[") and host.endswith("]") else None
    address, percent, zone = (host, "", "") if literal is None else literal.partition("%25")
    name = host_name(address)
    guarded(name, "host", source, delimiters=b" /@")
    if percent:
        if not link_local(address):
            raise PlanRefused(
                f"the zone {host_name(zone)!r} is on an address outside fe80::/10, which cannot have a zone",
                "RFC 6874 4",
            )
        name += "%" + host_name(zone)
        guarded(name, "host", source, delimiters=b" /@")
    if any(ord(c) < 0x20 or 0x7F <= ord(c) < 0xA0 for c in name):
        raise PlanRefused("the host contains a control character", source)
    if literal is None:
        guarded(name, "host", source, delimiters=b":[]?#")
    return Connect(source=source, host=name, port=port, tls=tls)


def known_mechanism(host: str) -> None:
    """Check the host of a URI.

    Raises: PlanRefused for an IPvFuture, because no version flag is defined yet (RFC 3986 3.2.2).

    >>> known_mechanism("[v1.h.example]")
    Traceback (most recent call last):
    ...
    overthere.PlanRefused: "[v1.h.example]" is an IPvFuture address: address mechanism not supported \
(RFC 3986 3.2.2)
    """
    if host[:2] in ("[v", "[V"):
        raise PlanRefused(
            f'"{printable(host)}" is an IPvFuture address: address mechanism not supported', "RFC 3986 3.2.2"
        )


def without_zone(host: str) -> str:
    """Remove the zone of a host that others may see, "as it has only local significance" (RFC 6874 4).

    >>> without_zone("[fe80::1%25eth0]"), without_zone("100%25.example")
    ('[fe80::1]', '100%25.example')
    """
    return host.partition("%25")[0] + "]" if host.startswith("[") and "%25" in host else host


def readable(octets: bytes) -> str:
    """Write bytes for people: without the final CR LF, other controls and non-ASCII bytes as escapes."""
    text = octets.removesuffix(CRLF).decode("latin-1")
    return "".join(c if " " <= c <= "~" and c != "\\" else _ESCAPES.get(c, f"\\x{ord(c):02x}") for c in text)


_ESCAPES = {"\\": "\\\\", "\t": "\\t", "\r": "\\r", "\n": "\\n"}


@dataclass(frozen=True, slots=True, repr=False, kw_only=True)
class OpenData(Step):
    """FTP: open the data connection, passive: EPSV if the server supports it, otherwise PASV."""

    kind: ClassVar[str] = "data connection"

    def line(self) -> str:
        return "open the data connection (EPSV, otherwise PASV)"


@dataclass(frozen=True, slots=True, repr=False, kw_only=True)
class Receive(Step):
    """Read the server's answer."""

    kind: ClassVar[str] = "receive"
    what: str
    """A description, such as "the document" or "a menu"."""
    until: str
    """The end: "reply", "close", "dot" (a line with a period alone), "length", "data close" (the data connection),
    "known" (received with an earlier answer)."""

    def line(self) -> str:
        return f"receive {self.what} ({_UNTIL.get(self.until, self.until)})"


_UNTIL = {
    "reply": "to the end of the reply",
    "known": "already there",
    "close": "until the server closes",
    "dot": "to a line with a period alone",
    "length": "the length that the server states",
    "SearchResultDone": "to its SearchResultDone",
    "data close": "until the data connection closes",
}


@dataclass(frozen=True, slots=True, repr=False, kw_only=True)
class Interact(Step):
    """A session for a person: the address for a program, and notes for the person."""

    kind: ClassVar[str] = "session"
    program: str
    host: str
    port: int
    user: str | None = None
    password: str | None = None
    """The suggested password, which is never sent automatically."""

    def _show_field(self, name: str, value: Any) -> Any:
        return "***" if name == "password" and value is not None else Step._show_field(self, name, value)

    def line(self) -> str:
        user, host = self._show_field("user", self.user), self._show_field("host", self.host)
        notes = [f"log in as {readable(user.encode('utf-8', 'surrogateescape'))}"] if user is not None else []
        notes += ["a password is suggested"] if self.password is not None else []
        return f"{self.program} {host} {self.port}" + (f" ({'; '.join(notes)})" if notes else "")


@dataclass(frozen=True, slots=True, repr=False, kw_only=True)
class Compose(Step):
    """A message draft for a person to send; nothing is sent."""

    kind: ClassVar[str] = "compose"
    headers: tuple[tuple[str, str], ...]
    body: str = ""
    ignored: tuple[tuple[str, str], ...] = ()
    """Unsafe header fields of the URI, which are ignored."""

    def line(self) -> str:
        to: str = self._show_field("to", ", ".join(value for name, value in self.headers if name.lower() == "to"))
        return f"compose a message to {readable(to.encode('utf-8', 'surrogateescape')) or 'nobody yet'}"


@dataclass(frozen=True, slots=True, repr=False, kw_only=True)
class Place(Step):
    """A place that needs no connection: a file, a local message, an AFS path."""

    kind: ClassVar[str] = "place"
    what: str
    """The kind of place: "file", "message", "body part", "AFS file", ..."""
    where: str

    def line(self) -> str:
        return f"{self.what} {readable(self._show_field('where', self.where).encode('utf-8', 'surrogateescape'))}"


@dataclass(frozen=True, slots=True, repr=False, kw_only=True)
class Content(Step):
    """The content itself, contained in the URI."""

    kind: ClassVar[str] = "content"
    media_type: str
    data: bytes = field(default=b"")

    def line(self) -> str:
        return f"content {printable(self.media_type)}, {len(self.data):,} octets"
