"""mid and cid: finds a message or a body part in local messages (RFC 2392 2; RFC 2045, RFC 2046).

Files are read through once and not held: .eml files, mbox files (RFC 4155) and the folders of a Maildir.
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

__all__ = ["dialogue"]


def dialogue(plan: Plan, policy: Policy) -> Dialogue:
    """The first message of that Message-ID, or the first body part of that Content-ID, in the policy's messages.

    Raises: NotSpecified if the policy has none; ResourceMissing if it is in none of them, or one is not there;
    ProtocolError for what is not encoded as it says; LimitExceeded beyond `Policy.max_bytes`.
    """
    wanted = _PartRequest(policy.max_bytes)
    for step in plan.steps:
        assert isinstance(step, Place)
        octets = step.where.encode("utf-8", "surrogateescape")
        if step.role is MailRole.MESSAGE:
            wanted.message_id = octets
        else:
            wanted.content_id = octets
    last = plan.steps[-1]
    if not policy.messages:
        raise NotSpecified(
            f"{last.line()} is looked up in local messages (RFC 2392 2), but the policy names none: set "
            "messages=(a file, a folder, a Maildir)"
        )
    for store in policy.messages:
        if (yield from _store(os.fspath(store), wanted)):
            return
    what = "the message has no such body part" if wanted.seen else "it is in none of the local messages"
    raise ResourceMissing(what, source=last.source, where=last.line())


@dataclass(slots=True)
class _PartRequest:
    """What is looked for, and what was found of it."""

    most: int | None
    message_id: bytes | None = None
    content_id: bytes | None = None
    seen: bool = False
    """Whether there was a message of that Message-ID."""
    given: int = 0

    def data(self, octets: bytes) -> Iterator[Data]:
        self.given += len(octets)
        if self.most is not None and self.given > self.most:
            raise LimitExceeded(f"more than {self.most:,} octets; {LARGER}")
        if octets:
            yield Data(octets)


Looking = Generator[Effect, Any, bool]
"""Answers whether it was found."""


def _store(path: str, wanted: _PartRequest) -> Looking:
    seen: LocalFile = yield OpenLocal(path)
    if seen.names is None:
        return (yield from _file(path, wanted))
    folders = [path]
    if "cur/" in seen.names and "new/" in seen.names:
        # A message goes from new to cur while others look: in this order it is met in one of them.
        folders = [os.path.join(path, "new"), os.path.join(path, "cur")]
    for folder in folders:
        if folder != path:
            inside: LocalFile | None = yield OpenLocal(folder, optional=True)
            names = [name for name in (inside and inside.names) or () if not name.startswith(".")]
        else:
            names = [name for name in seen.names if name.lower().endswith(".eml")]
        for name in names:
            if name.endswith("/"):
                continue
            one: LocalFile | None = yield OpenLocal(os.path.join(folder, name), optional=True)
            if one is not None and one.names is None and (yield from _file(os.path.join(folder, name), wanted)):
                return True
    return False


def _file(path: str, wanted: _PartRequest) -> Looking:
    """One message, or those of an mbox, each behind a line that begins with "From "."""
    reader = MessageReader()
    reader.mbox = yield from reader.starts(b"From ")
    number, given = 0, False
    while not given and (yield from reader.next_message()):
        number += 1
        given = yield from _message(
            Traversal(reader), wanted, {"path": path, **({"number": number} if reader.mbox else {})}
        )
    yield Hangup()
    return given


def _message(walk: Traversal, wanted: _PartRequest, where: dict[str, Any]) -> Looking:
    event = yield from walk.next_part()
    assert isinstance(event, Part)
    identifier = event.header.message_id
    if wanted.message_id not in (None, identifier):
        yield from walk.skip()
        return False
    wanted.seen = True
    where["message_id"] = identifier.decode("utf-8", "replace")
    if wanted.content_id is None:
        yield Head("message/rfc822", "message", details=where)
        yield from wanted.data(event.header.raw + event.header.blank)
        yield from _read_body(walk, wanted, Decoder())
        return True
    while isinstance(event, Part) or event.open:
        if isinstance(event, Part) and wanted.content_id in event.header.content_ids:
            yield _head(event.header, where)
            yield from _read_body(walk, wanted, decoder(event.header.encoding))
            return True
        event = yield from walk.next_part()
    return False


def _head(header: Header, where: dict[str, Any]) -> Head:
    said = header.media_type_text + (
        "; charset=us-ascii" if not header.told and header.media_type == "text/plain" else ""
    )
    if header.encoding not in PLAIN | ENCODED:
        said = "application/octet-stream"  # whatever it says (RFC 2045 6.4)
    content_id = header.content_id.decode("utf-8", "surrogateescape")
    texts = {"": said, "content_id": content_id, "content_location": header.location}
    shown = {name: text.encode("utf-8", "surrogateescape").decode("utf-8", "replace") for name, text in texts.items()}
    return Head(shown.pop(""), "message", details={**where, **{name: text for name, text in shown.items() if text}})


def _read_body(walk: Traversal, wanted: _PartRequest, through: Decoder) -> Dialogue:
    """A body, decoded."""
    end = None
    while end is None:
        piece, end = yield from walk.piece()
        yield from wanted.data(through.feed(piece))
    yield from wanted.data(through.end())
    if through.wrong:
        raise ProtocolError(f"the body part is not valid base64: {through.wrong}", "RFC 2045 6.8")
