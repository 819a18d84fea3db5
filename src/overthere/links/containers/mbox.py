"""An mbox as a container: each message follows a line that begins with "From " (RFC 4155)."""

from __future__ import annotations

from collections.abc import Iterator

from overthere.base import enclosed
from overthere.links.containers.message.steps import Steps, run_steps, take_body
from overthere.links.containers.model import Place, Stream
from overthere.links.model import Document, Note, Options
from overthere.mail.reader import Decoder, MessageReader

__all__ = ["members"]


def members(
    stream: Stream,
    document: Document,
    place: Place = Place(),  # noqa: B008 - a value
) -> Iterator[Document | Note]:
    """As `Container.members`: the messages, numbered from 1: `inbox.mbox!1`.

    The file is read through once; a message at a time is held.

    The line "From " counts after an empty line only, and lines that were quoted for that (">From ") stay so: what wrote
    them is not known (RFC 4155 Appendix A).  Never raises.
    """
    yield from run_steps(_messages(document, place.options), stream)


def _messages(document: Document, options: Options) -> Steps:
    reader = MessageReader()
    reader.mbox = True
    base = enclosed(document.base)
    number = 0
    if not (yield from reader.starts(b"From ")):
        yield Note("corrupt" if reader.buffer else "empty")
    while (yield from reader.next_message()):
        number += 1
        content, flaws, _ = yield from take_body(lambda: reader.piece({}), Decoder(), options.limit)
        notes = (*flaws,) if content.strip() or flaws else ("empty",)
        if (yield from reader.at_end()) and not reader.buffer.endswith((b"\n\n", b"\n\r\n")):
            notes = (*notes, "truncated")  # an empty line ends each message, the last one too (RFC 4155 Appendix A)
        source = f"{document.source}!{number}"
        yield Document(source, content, base, "message/rfc822", None, notes, document.depth + 1)
