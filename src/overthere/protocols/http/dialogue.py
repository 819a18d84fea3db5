"""The HTTP client: a redirect's target, or the content (RFC 9110 15; RFC 7230 3.3.3)."""

from __future__ import annotations

import re

from overthere.access.coding import codings, decode_content
from overthere.access.errors import LARGER, LimitExceeded, ProtocolError
from overthere.access.media import guess_type
from overthere.access.planning import Plan
from overthere.access.policy import Policy
from overthere.access.steps import Connect, Receive, Send
from overthere.access.wire import Data, Dial, Dialogue, Hangup, Head, Wire, Write
from overthere.protocols.http.answer import AnswerReader, error_kind, list_field, response_details, status_line, tunnel
from overthere.protocols.http.steps import HTTPRole


def dialogue(plan: Plan, policy: Policy) -> Dialogue:
    """Send one request and read its response; h11 reads the head and chunks, other bodies pass by it."""
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


_CHUNK_BYTES = 1 << 18
_REDIRECTS = frozenset((301, 302, 303, 307, 308))
_TOKEN = r"[!#$%&'*+.^_`|~0-9A-Za-z\-]+"
_MEDIA_TYPE = re.compile(rf"(?s){_TOKEN}/{_TOKEN}(?:[ \t]*;.*)?")


def _response(plan: Plan, policy: Policy) -> Dialogue:
    """Yield a redirect's target, or the content.

    Content-Location is not used as a base: its claim about another URI cannot be trusted (RFC 9110 6.4.2, 8.7), and
    RFC 7231 (Appendix B) removed that meaning.  It is among the fields of `details`.  A content coding is decoded;
    that of a compressed file stays, and is in `details` as "coding".

    Raises: ResourceMissing, ResourceUnavailable with the status as their code for other responses (15.4 to 15.6).
    """
    reader = AnswerReader(policy)
    event = yield from reader.head()
    details, fields = response_details(event)
    status: int = event.status_code
    if status in _REDIRECTS and "location" in fields:
        yield Head(location=fields["location"], permanent=status in (301, 308), details=details)
        return
    if status >= 300:
        raise error_kind(status)(status_line(event), str(status), "RFC 9110 15", plan.uri)
    if status == 206:
        raise ProtocolError("a part of the content, which was not requested", "RFC 9110 15.3.7", plan.uri)
    size = _length(status, fields)
    if size and policy.max_bytes is not None and size > policy.max_bytes:
        raise LimitExceeded(f"{size:,} octets are announced: more than {policy.max_bytes:,}; {LARGER}", uri=plan.uri)
    content_type = fields.get("content-type", "")
    is_valid_type = _MEDIA_TYPE.fullmatch(content_type) is not None
    applied = codings(list_field(details, "content-encoding"))
    if applied and _is_packed(plan, content_type, applied):
        details["coding"], applied = ", ".join(applied), ()
    content = _content(reader, size, "transfer-encoding" in fields and size is None)
    if applied:
        content, size = decode_content(content, applied, policy.max_bytes), None
    yield Head(content_type if is_valid_type else None, "server" if is_valid_type else "", size, details=details)
    yield from content


def _is_packed(plan: Plan, media_type: str, applied: tuple[str, ...]) -> bool:
    """Whether the coding belongs to the file itself: servers send "gzip" for an archive `a.tar.gz` too."""
    if media_type.partition(";")[0].strip().lower() in _PACKED:
        return True
    path = plan.uri.partition("#")[0].partition("?")[0]
    return len(applied) == 1 and guess_type(path.rpartition("/")[2])[1] == applied[0]


_PACKED = frozenset(
    f"application/{name}" for name in ("gzip", "x-gzip", "zstd", "x-tgz", "x-compressed-tar", "x-brotli")
)


def _content(reader: AnswerReader, size: int | None, chunked: bool) -> Dialogue:
    """Yield the body (RFC 7230 3.3.3), without its transfer coding."""
    if chunked:
        while isinstance(event := (yield from reader.event(_CHUNK_BYTES)), reader.h11.Data):
            yield Data(bytes(event.data))
        return
    wire = Wire()
    wire.buffer += reader.held_octets
    yield from wire.read_rest() if size is None else wire.stream(size, "the response")


def _length(status: int, fields: dict[str, str]) -> int | None:
    """Return the length of the body (RFC 7230 3.3.3); None if chunks or the end of the connection determine it."""
    if status == 204:
        return 0
    if "transfer-encoding" in fields or "content-length" not in fields:
        return None
    return int(fields["content-length"])  # h11 has checked that it is a single number
