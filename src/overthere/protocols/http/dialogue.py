"""The HTTP client: a redirect's target, or the content (RFC 9110 15; RFC 7230 3.3.3)."""

from __future__ import annotations

import re

from overthere.access.coding import codings, decode_content
from overthere.access.errors import LARGER, LimitExceeded, ProtocolError, ResourceMissing, ResourceUnavailable
from overthere.access.media import guess_type
from overthere.access.planning import Plan
from overthere.access.policy import Policy
from overthere.access.steps import Connect, Receive, Send
from overthere.access.wire import Data, Dial, Dialogue, Hangup, Head, Wire, Write
from overthere.protocols.http.answer import AnswerReader, response_details, status_line, tunnel
from overthere.protocols.http.steps import HTTPRole

__all__ = ["dialogue"]


def dialogue(plan: Plan, policy: Policy) -> Dialogue:
    """One request and its response; h11 reads the head and chunks, any other body is passed through as it comes."""
    for step in plan.steps:
        match step:
            case Connect(host=host, port=port, tls=tls, transport=transport):
                yield Dial(host, port, tls, transport)
            case Send(data=data):
                yield Write(data)
            case Receive(role=HTTPRole.TUNNEL):
                yield from tunnel(policy)
            case Receive(role=HTTPRole.RESPONSE):
                yield from _response(plan, policy)
            case _:
                raise AssertionError(step)
    yield Hangup()


_BODY = 1 << 18
_LATER = frozenset((408, 425, 429))
_REDIRECTS = frozenset((301, 302, 303, 307, 308))
_TOKEN = r"[!#$%&'*+.^_`|~0-9A-Za-z\-]+"
_MEDIA_TYPE = re.compile(rf"(?s){_TOKEN}/{_TOKEN}(?:[ \t]*;.*)?")


def _response(plan: Plan, policy: Policy) -> Dialogue:
    """A redirect's place, or the content.

    Content-Location is no base: what it claims of another URI cannot be trusted (RFC 9110 6.4.2, 8.7), and since
    RFC 7231 (Appendix B) it names none.  It stands among the fields of `details`.  A content coding is undone; that of
    a file which is packed itself stays, and `details` has it as "coding".

    Raises: ResourceMissing, ResourceUnavailable with the status as their code for all that is neither (15.4 to 15.6).
    """
    reader = AnswerReader(policy)
    event = yield from reader.head()
    details, fields = response_details(event)
    status: int = event.status_code
    if status in _REDIRECTS and "location" in fields:
        yield Head(location=fields["location"], permanent=status in (301, 308), details=details)
        return
    if status >= 300:
        kind = ResourceUnavailable if status >= 500 or status in _LATER else ResourceMissing
        raise kind(status_line(event), str(status), "RFC 9110 15", plan.uri)
    if status == 206:
        raise ProtocolError("a part of the content, which was not requested", "RFC 9110 15.3.7", plan.uri)
    size = _length(status, fields)
    if size and policy.max_bytes is not None and size > policy.max_bytes:
        raise LimitExceeded(f"{size:,} octets are announced: more than {policy.max_bytes:,}; {LARGER}", uri=plan.uri)
    named = fields.get("content-type", "")
    known = _MEDIA_TYPE.fullmatch(named) is not None
    applied = codings(",".join(value for name, value in details["headers"] if name.lower() == "content-encoding"))
    if applied and _is_packed(plan, named, applied):
        details["coding"], applied = ", ".join(applied), ()
    content = _content(reader, size, "transfer-encoding" in fields and size is None)
    if applied:
        content, size = decode_content(content, applied, policy.max_bytes), None
    yield Head(named if known else None, "server" if known else "", size, details=details)
    yield from content


def _is_packed(plan: Plan, media_type: str, applied: tuple[str, ...]) -> bool:
    """Whether the coding belongs to the file itself: servers say "gzip" of an archive `a.tar.gz` too."""
    if media_type.partition(";")[0].strip().lower() in _PACKED:
        return True
    path = plan.uri.partition("#")[0].partition("?")[0]
    return len(applied) == 1 and guess_type(path.rpartition("/")[2])[1] == applied[0]


_PACKED = frozenset(
    f"application/{name}" for name in ("gzip", "x-gzip", "zstd", "x-tgz", "x-compressed-tar", "x-brotli")
)


def _content(reader: AnswerReader, size: int | None, chunked: bool) -> Dialogue:
    """The octets of the body (RFC 7230 3.3.3), its transfer coding undone."""
    if chunked:
        while isinstance(event := (yield from reader.event(_BODY)), reader.h11.Data):
            yield Data(bytes(event.data))
        return
    wire = Wire()
    wire.held += reader.held_octets
    yield from wire.read_rest() if size is None else wire.stream(size, "the response")


def _length(status: int, fields: dict[str, str]) -> int | None:
    """RFC 7230 3.3.3: how long the body is; None if chunks or the end of the connection say it."""
    if status == 204:
        return 0
    if "transfer-encoding" in fields or "content-length" not in fields:
        return None
    return int(fields["content-length"])  # h11 has seen that it is one number
