"""The WebSocket client: the handshake, and the server's messages (RFC 6455 4.1, 5 to 8)."""

from __future__ import annotations

import os
from collections.abc import Generator
from typing import Any

from overthere.access.errors import AccessFailed, LimitExceeded, ProtocolError
from overthere.access.planning import Plan
from overthere.access.policy import Policy
from overthere.access.steps import Connect, Receive, Send
from overthere.access.wire import Data, Dial, Dialogue, Effect, Hangup, Head, Wire, Write, expect
from overthere.protocols.http.answer import AnswerReader, error_kind, list_field, response_details, tunnel
from overthere.protocols.http.steps import HTTPRole
from overthere.protocols.websocket.steps import SendKey, accept

_MAX_MESSAGE = 1 << 24
"""The limit of a message, which is held in memory (RFC 6455 10.4)."""
_CONTINUED, _TEXT, _BINARY, _CLOSE, _PING, _PONG = 0, 1, 2, 8, 9, 10


def dialogue(plan: Plan, policy: Policy) -> Dialogue:
    """Do the handshake, then yield each message of the server as one `Data`, until it closes; nothing is sent to it
    except Pong and Close, which the protocol requires (5.5)."""
    request, key = b"", b""
    for step in plan.steps:
        match step:
            case Connect(host=host, port=port, tls=tls, transport=transport):
                yield Dial(host, port, tls, transport)
            case Send(data=data):
                request += data
            case SendKey():
                key = step.data(os.urandom(step.octets))
                request += key
            case Receive(role=HTTPRole.TUNNEL | HTTPRole.UPGRADE):
                yield Write(request)
                request = b""
                yield from tunnel(policy) if step.role is HTTPRole.TUNNEL else _open(key, plan, policy)
            case _:
                raise AssertionError(step)
    yield Hangup()


def _open(key: bytes, plan: Plan, policy: Policy) -> Dialogue:
    """Check the server's answer to the handshake (4.1), and read the messages; a redirect is not followed."""
    reader = AnswerReader(policy, upgrade=True)
    event = yield from reader.head()
    details, fields = response_details(event)
    status: int = event.status_code
    if status != 101:
        answer = f"the server does not open a WebSocket: {status} {details['reason']}".rstrip()
        raise error_kind(status)(answer, str(status), "RFC 6455 4.1", plan.uri)
    where = "the handshake"
    expect(fields.get("upgrade", "").lower() == "websocket", "it upgrades to another protocol", "RFC 6455 4.1", where)
    tokens = [token.strip().lower() for token in list_field(details, "connection").split(",")]
    expect("upgrade" in tokens, "its Connection has no Upgrade", "RFC 6455 4.1", where)
    answer = fields.get("sec-websocket-accept", "").strip()
    expect(answer == accept(key).decode(), "its Sec-WebSocket-Accept is not that of the key", "RFC 6455 4.1", where)
    for name in ("sec-websocket-extensions", "sec-websocket-protocol"):
        unrequested = list_field(details, name).strip(", \t")
        expect(not unrequested, f"it answers with a {name} that was not requested", "RFC 6455 4.1", where)
    yield Head(details=details)
    wire = Wire()
    wire.buffer += reader.held_octets
    yield from _messages(wire)


def _messages(wire: Wire) -> Dialogue:
    kind, message = _CONTINUED, bytearray()
    while wire.buffer or kind or (yield from wire.fill()):  # many servers send no Close frame before they close
        final, opcode, payload = yield from _frame(wire, _MAX_MESSAGE - len(message))
        if opcode == _PING:
            yield Write(_masked_frame(_PONG, payload), courtesy=True)
        elif opcode == _CLOSE:
            yield Write(_masked_frame(_CLOSE, payload[:2]), courtesy=True)
            _check_close(payload)
            return
        elif opcode != _PONG:
            expect((opcode == _CONTINUED) == (kind != _CONTINUED), "a message in another", "RFC 6455 5.4", _FRAMES)
            kind = opcode or kind
            message += payload
            if final:
                if kind == _TEXT:
                    _text(message)
                yield Data(bytes(message))
                kind, message = _CONTINUED, bytearray()


_FRAMES = "the frames"


def _frame(wire: Wire, room: int) -> Generator[Effect, Any, tuple[bool, int, bytes]]:
    """Read a frame (5.2): whether it ends its message, its opcode, its payload."""
    first, second = yield from wire.read_exactly(2, _FRAMES)
    opcode, size = first & 15, second & 127
    expect(not first & 0x70, "reserved bits, though no extension was agreed on", "RFC 6455 5.2", _FRAMES)
    expect(opcode in (_CONTINUED, _TEXT, _BINARY, _CLOSE, _PING, _PONG), "a reserved opcode", "RFC 6455 5.2", _FRAMES)
    expect(not second & 128, "a masked frame", "RFC 6455 5.1", _FRAMES)
    if opcode >= _CLOSE:
        expect(size < 126 and first & 128 != 0, "a long or fragmented control frame", "RFC 6455 5.5", _FRAMES)
    elif size >= 126:
        length_bytes = 2 if size == 126 else 8
        size = int.from_bytes((yield from wire.read_exactly(length_bytes, _FRAMES)), "big")
        expect(size >= (126 if length_bytes == 2 else 1 << 16), "a length that is not minimal", "RFC 6455 5.2", _FRAMES)
        expect(size < 1 << 63, "a length whose first bit is set", "RFC 6455 5.2", _FRAMES)
    if opcode < _CLOSE and size > room:
        raise LimitExceeded(f"a message of more than {_MAX_MESSAGE:,} octets", "RFC 6455 10.4", where=_FRAMES)
    return bool(first & 128), opcode, (yield from wire.read_exactly(size, _FRAMES))


def _masked_frame(opcode: int, payload: bytes) -> bytes:
    """Write a control frame, masked as all frames of a client (5.3)."""
    mask = os.urandom(4)
    return bytes((128 | opcode, 128 | len(payload))) + mask + bytes(o ^ mask[i % 4] for i, o in enumerate(payload))


def _check_close(payload: bytes) -> None:
    """Raise unless a Close is normal (7.4.1): the code 1000 or 1001, or no code."""
    expect(len(payload) != 1, "a Close with half a code", "RFC 6455 5.5.1", _FRAMES)
    code, reason = int.from_bytes(payload[:2], "big"), _text(payload[2:])
    if payload and code not in (1000, 1001):
        raise AccessFailed(
            f"the server closes the connection: {code} {reason}".rstrip(), "RFC 6455 7.4.1", where=_FRAMES
        )


def _text(octets: bytes | bytearray) -> str:
    """Decode text, which must be UTF-8 (8.1); otherwise the connection fails."""
    try:
        return octets.decode()
    except UnicodeDecodeError:
        raise ProtocolError("a text that is not valid UTF-8", "RFC 6455 8.1", where=_FRAMES) from None
