"""mid and cid: a message, or a body part, in the messages that are at hand (RFC 2392 2; RFC 2045, RFC 2046).

Files are read through once and not held: .eml files, mbox files (RFC 4155) and the folders of a Maildir.
"""

from __future__ import annotations

import os
import re
from collections.abc import Generator, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from overthere.access.errors import LARGER, LimitExceeded, ResourceMissing
from overthere.access.steps import Place
from overthere.access.wire import Data, Dialogue, Effect, Found, Hangup, Head, Look
from overthere.errors import NotSpecified
from overthere.mail.reader import Decoder, Reader, decoder
from overthere.protocols.mail.steps import MailRole

if TYPE_CHECKING:
    from overthere.access.planning import Plan
    from overthere.access.policy import Policy

__all__ = ["dialogue"]

_DEEPEST = 100
"""So many multiparts may stand in one another: deeper ones are looked at as text."""


def dialogue(plan: Plan, policy: Policy) -> Dialogue:
    """The first message of that Message-ID, or the first body part of that Content-ID, in the policy's messages.

    Raises: NotSpecified if the policy has none; ResourceMissing if it is in none of them, or one is not there;
    ProtocolError for what is not encoded as it says; LimitExceeded beyond `Policy.max_bytes`.
    """
    wanted = _Wanted(policy.max_bytes)
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
            f"{last.line()} is looked for in the messages at hand (RFC 2392 2), and the policy names none: "
            "messages=(a file, a folder, a Maildir)"
        )
    for store in policy.messages:
        if (yield from _store(os.fspath(store), wanted)):
            return
    what = "the message holds no such body part" if wanted.seen else "it is in none of the messages at hand"
    raise ResourceMissing(what, source=last.source, where=last.line())


@dataclass(slots=True)
class _Wanted:
    """What is looked for, and what was found of it."""

    most: int | None
    message_id: bytes | None = None
    content_id: bytes | None = None
    seen: bool = False
    """Whether there was a message of that Message-ID."""
    given: int = field(default=0)

    def data(self, octets: bytes) -> Iterator[Data]:
        self.given += len(octets)
        if self.most is not None and self.given > self.most:
            raise LimitExceeded(f"more than {self.most:,} octets; {LARGER}")
        if octets:
            yield Data(octets)


Looking = Generator[Effect, Any, bool]
"""Answers whether it was found."""


def _store(path: str, wanted: _Wanted) -> Looking:
    found: Found = yield Look(path)
    if found.names is None:
        return (yield from _file(path, wanted))
    folders = [path]
    if "cur/" in found.names and "new/" in found.names:
        # A message goes from new to cur while others look: in this order it is met in one of them.
        folders = [os.path.join(path, "new"), os.path.join(path, "cur")]
    for folder in folders:
        if folder != path:
            inside: Found | None = yield Look(folder, optional=True)
            names = [name for name in (inside and inside.names) or () if not name.startswith(".")]
        else:
            names = [name for name in found.names if name.lower().endswith(".eml")]
        for name in names:
            if name.endswith("/"):
                continue
            one: Found | None = yield Look(os.path.join(folder, name), optional=True)
            if one is not None and one.names is None and (yield from _file(os.path.join(folder, name), wanted)):
                return True
    return False


def _file(path: str, wanted: _Wanted) -> Looking:
    """One message, or those of an mbox, each behind a line that begins with "From "."""
    reader = Reader()
    reader.mbox = yield from reader.starts(b"From ")
    number = 0
    while not (yield from reader.at_end()):
        number += 1
        if reader.mbox:
            yield from reader.skip_line()
        where = {"path": path, **({"number": number} if reader.mbox else {})}
        if (yield from _message(reader, wanted, where)):
            yield Hangup()
            return True
    yield Hangup()
    return False


def _message(reader: Reader, wanted: _Wanted, where: dict[str, Any]) -> Looking:
    fields, raw = yield from reader.header()
    identifier = _identifier(fields.get(b"message-id", b""))
    if wanted.message_id is not None and wanted.message_id != identifier:
        yield from reader.until({})
        return False
    wanted.seen = True
    where["message_id"] = identifier.decode("utf-8", "replace")
    if wanted.content_id is None:
        yield Head("message/rfc822", "message", details=where)
        yield from wanted.data(raw)
        yield from _given(reader, wanted, {}, Decoder())
        return True
    return (yield from _parts(reader, wanted, where, fields))


def _given(reader: Reader, wanted: _Wanted, marks: dict[bytes, int], through: Decoder) -> Dialogue:
    """What stands up to the next mark, decoded."""
    while True:
        piece, mark = yield from reader.piece(marks)
        yield from wanted.data(through.feed(piece))
        if mark is not None:
            yield from wanted.data(through.end())
            return


def _parts(reader: Reader, wanted: _Wanted, where: dict[str, Any], fields: dict[bytes, bytes]) -> Looking:
    """The body parts of a message in their order, those of messages in it too (RFC 2046 5.1 and 5.2)."""
    marks: dict[bytes, int] = {}
    digests: list[bool] = []
    content_id = wanted.content_id or b""
    while True:
        # RFC 2045 5.2, RFC 2046 5.1.5: what is there if nothing is said.
        missing = "message/rfc822" if digests and digests[-1] else "text/plain; charset=us-ascii"
        written = b" ".join(fields.get(b"content-type", b"").split()).decode("latin-1")
        media_type = written if _TYPE.match(written) else missing
        encoding = fields.get(b"content-transfer-encoding", b"").strip().lower()
        if _identifier(fields.get(b"content-id", b"")) == content_id:
            details = {**where, "content_id": content_id.decode("utf-8", "replace")}
            yield Head(media_type, "message", details=details)
            yield from _given(reader, wanted, marks, decoder(encoding))
            return True
        kind = media_type.lower()
        if kind.startswith(("message/rfc822", "message/global")) and encoding not in (b"base64", b"quoted-printable"):
            fields, _ = yield from reader.header()
            fields.setdefault(b"content-type", b"text/plain; charset=us-ascii")
            if not (yield from reader.at_end()):
                continue
            return False
        boundary = _boundary(fields) if kind.startswith("multipart/") else b""
        if boundary and len(digests) < _DEEPEST:
            marks.setdefault(boundary, len(digests))
            digests.append(kind.startswith("multipart/digest"))
        while True:
            mark = yield from reader.until(marks)
            if mark.depth < 0:
                return False
            del digests[mark.depth + (0 if mark.closes else 1) :]
            marks = {text: depth for text, depth in marks.items() if depth < len(digests)}
            if not mark.closes:
                break
        fields, _ = yield from reader.header()


_TYPE = re.compile(r"[!#$%&'*+\-.^_`{|}~0-9A-Za-z]+/[!#$%&'*+\-.^_`{|}~0-9A-Za-z]+[ \t]*(?:;|$)")
_BOUNDARY = re.compile(rb';\s*boundary\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s;"]+))', re.IGNORECASE)
_PAIR = re.compile(rb"\\(.)")
_ANGLES = re.compile(rb"<([^<>]*)>")


def _boundary(fields: dict[bytes, bytes]) -> bytes:
    match = _BOUNDARY.search(fields.get(b"content-type", b""))
    return b"" if match is None else (match[2] or _PAIR.sub(rb"\1", match[1])).rstrip()


def _identifier(value: bytes) -> bytes:
    """What stands between the angle brackets of a Message-ID or Content-ID."""
    match = _ANGLES.search(value)
    return (match[1] if match else value).strip()
