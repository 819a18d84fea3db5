"""mid and cid: finds a message or a body part in local messages (RFC 2392 2; RFC 2045, RFC 2046).

Files are read once and not kept in memory: .eml files, mbox files (RFC 4155) and the folders of a Maildir.
"""

from __future__ import annotations

import os
from collections.abc import Generator, Iterator
from dataclasses import dataclass
from typing import Any

from overthere.access.errors import LARGER, LimitExceeded, ProtocolError, ResourceMissing
from overthere.access.planning import Plan
from overthere.access.policy import Policy
from overthere.access.steps import Place
from overthere.access.wire import Data, Dialogue, Effect, Hangup, Head, LocalFile, OpenLocal
from overthere.ground.errors import NotSpecified
from overthere.mail.fields import Header
from overthere.mail.reader import ENCODED, PLAIN, Decoder, MessageReader, decoder
from overthere.mail.traversal import Part, Traversal
from overthere.protocols.mail.steps import MailRole


def dialogue(plan: Plan, policy: Policy) -> Dialogue:
    """Yield the first message with the Message-ID, or body part with the Content-ID, in the policy's messages.

    Raises: NotSpecified if the policy has no messages; ResourceMissing if it is not found, or a store is missing;
    ProtocolError for an invalid encoding; LimitExceeded beyond `Policy.max_bytes`.
    """
    request = _PartRequest(policy.max_bytes)
    for step in plan.steps:
        assert isinstance(step, Place)
        identifier = step.where.encode("utf-8", "surrogateescape")
        if step.role is MailRole.MESSAGE:
            request.message_id = identifier
        else:
            request.content_id = identifier
    last = plan.steps[-1]
    if not policy.messages:
        raise NotSpecified(
            f"{last.line()} is looked up in local messages (RFC 2392 2), but the policy names none: set "
            "messages=(a file, a folder, a Maildir)"
        )
    for store in policy.messages:
        if (yield from _store(os.fspath(store), request)):
            return
    problem = "the message has no such body part" if request.is_message_found else "it is in none of the local messages"
    raise ResourceMissing(problem, source=last.source, where=last.line())


@dataclass(slots=True)
class _PartRequest:
    """The requested message or part, and the state of the search."""

    max_bytes: int | None
    message_id: bytes | None = None
    content_id: bytes | None = None
    is_message_found: bool = False
    """Whether a message with the Message-ID was found."""
    sent_bytes: int = 0

    def data(self, octets: bytes) -> Iterator[Data]:
        self.sent_bytes += len(octets)
        if self.max_bytes is not None and self.sent_bytes > self.max_bytes:
            raise LimitExceeded(f"more than {self.max_bytes:,} octets; {LARGER}")
        if octets:
            yield Data(octets)


_Search = Generator[Effect, Any, bool]
"""A search that returns whether the part was found."""


def _store(path: str, request: _PartRequest) -> _Search:
    store: LocalFile = yield OpenLocal(path)
    if store.names is None:
        return (yield from _file(path, request))
    folders = [path]
    if "cur/" in store.names and "new/" in store.names:
        # A message may move from new to cur meanwhile: in this order it is found in one of them.
        folders = [os.path.join(path, "new"), os.path.join(path, "cur")]
    for folder in folders:
        if folder != path:
            subfolder: LocalFile | None = yield OpenLocal(folder, optional=True)
            names = [name for name in (subfolder and subfolder.names) or () if not name.startswith(".")]
        else:
            names = [name for name in store.names if name.lower().endswith(".eml")]
        for name in names:
            if name.endswith("/"):
                continue
            file: LocalFile | None = yield OpenLocal(os.path.join(folder, name), optional=True)
            if file is not None and file.names is None and (yield from _file(os.path.join(folder, name), request)):
                return True
    return False


def _file(path: str, request: _PartRequest) -> _Search:
    """Search a file with one message, or an mbox, in which each message follows a "From " line."""
    reader = MessageReader()
    reader.is_mbox = yield from reader.starts_with(b"From ")
    number, is_found = 0, False
    while not is_found and (yield from reader.next_message()):
        number += 1
        is_found = yield from _message(
            Traversal(reader), request, {"path": path, **({"number": number} if reader.is_mbox else {})}
        )
    yield Hangup()
    return is_found


def _message(traversal: Traversal, request: _PartRequest, details: dict[str, Any]) -> _Search:
    event = yield from traversal.next_part()
    assert isinstance(event, Part)
    identifier = event.header.message_id
    if request.message_id not in (None, identifier):
        yield from traversal.skip()
        return False
    request.is_message_found = True
    details["message_id"] = identifier.decode("utf-8", "replace")
    if request.content_id is None:
        yield Head("message/rfc822", "message", details=details)
        yield from request.data(event.header.raw + event.header.blank)
        yield from _read_body(traversal, request, Decoder())
        return True
    while isinstance(event, Part) or event.open:
        if isinstance(event, Part) and request.content_id in event.header.content_ids:
            yield _head(event.header, details)
            yield from _read_body(traversal, request, decoder(event.header.encoding))
            return True
        event = yield from traversal.next_part()
    return False


def _head(header: Header, facts: dict[str, Any]) -> Head:
    media_type = header.media_type_text + (
        "; charset=us-ascii" if not header.has_media_type and header.media_type == "text/plain" else ""
    )
    if header.encoding not in PLAIN | ENCODED:
        media_type = "application/octet-stream"  # whatever its Content-Type (RFC 2045 6.4)
    content_id = header.content_id.decode("utf-8", "surrogateescape")
    texts = {"": media_type, "content_id": content_id, "content_location": header.location}
    decoded = {name: text.encode("utf-8", "surrogateescape").decode("utf-8", "replace") for name, text in texts.items()}
    return Head(decoded.pop(""), "message", details={**facts, **{name: text for name, text in decoded.items() if text}})


def _read_body(traversal: Traversal, request: _PartRequest, body_decoder: Decoder) -> Dialogue:
    """Yield a body, decoded."""
    end = None
    while end is None:
        piece, end = yield from traversal.piece()
        yield from request.data(body_decoder.feed(piece))
    yield from request.data(body_decoder.end())
    if body_decoder.fault:
        raise ProtocolError(f"the body part is not valid base64: {body_decoder.fault}", "RFC 2045 6.8")
