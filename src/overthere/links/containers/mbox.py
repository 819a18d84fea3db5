"""An mbox as a container: each message follows a line that begins with "From " (RFC 4155)."""

from __future__ import annotations

from collections.abc import Iterator

from overthere.base import enclosed
from overthere.links.containers.message.steps import Steps, read_body, run_steps
from overthere.links.containers.model import Place, Stream
from overthere.links.model import Document, Note, Options
from overthere.mail.reader import Decoder, MessageReader

__all__ = ["members"]


def members(
    stream: Stream,
    document: Document,
    place: Place = Place(),  # noqa: B008 - a value
) -> Iterator[Document | Note]:
    """Yield the messages, as `Container.members`, numbered from 1: `inbox.mbox!1`.

    The file is read once, one message at a time.

    A line "From " begins a message only after an empty line.  Lines quoted for that reason (">From ") stay quoted,
    because the program that wrote them is unknown (RFC 4155 Appendix A).  Never raises.
    """
    yield from run_steps(_read_messages(document, place.options), stream)


def _read_messages(document: Document, options: Options) -> Steps:
    reader = MessageReader()
    reader.is_mbox = True
    base = enclosed(document.base)
    number = 0
    if not (yield from reader.starts_with(b"From ")):
        yield Note("corrupt" if reader.buffer else "empty")
    while (yield from reader.next_message()):
        number += 1
        content, flaws, _ = yield from read_body(lambda: reader.read_piece({}), Decoder(), options.limit)
        notes = (*flaws,) if content.strip() or flaws else ("empty",)
        if (yield from reader.at_end()) and not reader.buffer.endswith((b"\n\n", b"\n\r\n")):
            notes = (*notes, "truncated")  # an empty line ends each message, the last one too (RFC 4155 Appendix A)
        source = f"{document.source}!{number}"
        yield Document(source, content, base, "message/rfc822", None, notes, document.depth + 1)
