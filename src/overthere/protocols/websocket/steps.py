"""WebSocket: the opening handshake of a client (RFC 6455 4.1)."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import sha1
from typing import ClassVar

from overthere.access.steps import CRLF, Credentials, Receive, Send, Step, connect
from overthere.ground.errors import PlanRefused
from overthere.protocols.http.steps import HTTPRole, request_head
from overthere.schemes.known.http import PORTS, HTTPLocator

_GUID = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11"  # 1.3 and 4.1: joined to the key, so that no other server answers


@dataclass(frozen=True, slots=True, repr=False, kw_only=True)
class SendKey(Step):
    """Send a Sec-WebSocket-Key.  A plan cannot contain it: it "MUST be selected randomly for each connection"."""

    kind: ClassVar[str] = "send key"
    octets: int = 16
    """The number of random bytes in it."""

    def data(self, nonce: bytes) -> bytes:
        """Encode random bytes in base64, as they are sent.

        >>> SendKey(source="RFC 6455 4.1").data(bytes(range(1, 17)))
        b'AQIDBAUGBwgJCgsMDQ4PEA=='
        """
        if len(nonce) != self.octets:
            raise ValueError(f"the key has {self.octets} octets, not {len(nonce)} (RFC 6455 4.1)")
        return b64encode(nonce)

    def line(self) -> str:
        return f"send {self.octets} octets in base64, chosen at random when it is opened"


def accept(key: bytes) -> bytes:
    """Return the Sec-WebSocket-Accept that a server must answer to a key (RFC 6455 4.1; the example is that of 1.3).

    >>> accept(b"dGhlIHNhbXBsZSBub25jZQ==")
    b's3pPLMBiTxaQ9kYGzzhZRbK+xOo='
    """
    return b64encode(sha1(key + _GUID, usedforsecurity=False).digest())


def steps(locator: HTTPLocator, credentials: Credentials) -> Iterator[Step]:
    """Return the GET for the upgrade, in three pieces; the middle one is chosen when it is sent.

    Raises: PlanRefused for userinfo or a fragment, which are not valid and fail the connection
    (RFC 6455 3 and 4.1).
    """
    if locator.user is not None or locator.password is not None:
        raise PlanRefused(f"a {locator.scheme} URI has no userinfo", "RFC 6455 3")
    if locator.fragment is not None:
        raise PlanRefused(f"a fragment must not be used on a {locator.scheme} URI", "RFC 6455 3")
    number = locator.origin.port
    port = "" if number == PORTS[locator.scheme] else f":{number}"  # 4.1: "when not using the default port"
    connection = connect(locator.host, number, "RFC 6455 4.1", tls=locator.scheme == "wss")
    head = request_head(locator, port) + b"Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
    yield connection
    yield Send(source="RFC 6455 4.1", data=head + b"Sec-WebSocket-Key: ", lines=6)
    yield SendKey(source="RFC 6455 4.1")
    yield Send(source="RFC 6455 4.1", data=CRLF + CRLF, lines=2)
    yield Receive(
        source="RFC 6455 4.1",
        what="the server's handshake",
        until="reply",
        role=HTTPRole.UPGRADE,
        note="the connection is open after 101 with the Sec-WebSocket-Accept of the key that was sent",
    )
