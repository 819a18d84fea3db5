"""Messages and mailboxes: nothing is raised, the walk ends, small pieces change nothing; so for mid: and cid: too."""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import BinaryIO
from urllib.parse import quote

from overthere import Policy, plan
from overthere.access.wire import Data, Hangup, Head, LocalFile, OpenLocal, Read
from overthere.links.containers import mbox, message
from overthere.links.containers.model import Place, Stream
from overthere.links.documents.kinds import kind_of
from overthere.links.model import NOTES, Document, Note, Options
from overthere.links.report.rows import make_rows_builder
from overthere.protocols.mail import dialogue as messages
from overthere.testing.replay import DOCUMENTED
from readings import OUTER, rows_of

WORDS = (
    b"From ", b"\n\nFrom a@b Thu Jan  1 00:00:00 1970\n", b"Message-ID: <a@b>\n", b"Content-ID: <c@d>\n", b"\n\n",
    b"\r\n", b"Content-Type: multipart/mixed; boundary=b\n",
    b"Content-Type: multipart/related; boundary=\"c\"; start=\"<c@d>\"\n",
    b"Content-Type: multipart/digest; boundary=d\n", b"Content-Type: message/rfc822\n", b"Content-Type: text/html\n",
    b"Content-Type: text/plain; charset=",
    b"Content-Type: message/external-body; access-type=URL; URL=\"http://h/\"\n", b"Content-Location: http://h/x\n",
    b"Content-Base: http://h/\n", b"Content-Transfer-Encoding: base64\n",
    b"Content-Transfer-Encoding: quoted-printable\n", b"List-Help: <http://h/>\n", b"\n--b\n", b"\n--b--\n",
    b"\n--c\n", b"\n--c--\n", b"\n--d\n", b"=?utf-8?q?a=20b?=", b"=?utf-8*en?b?YQ==?=", b"name*0*=utf-8''%41",
    b"; boundary*0=b", b"=3D", b"=\n", b"<a href=x>", b"<img src=cid:c@d>", b"PGEgaHJlZj14Pg==", b"\t", b"(", b")",
    b"\"", b"\\", b"\0", b"\xff", b"Subject: ", b"\nfrom ", b">From ",
)  # fmt: skip
LONGEST = 4096
AFTER = "a test to tests/links/test_messages_links.py, or for mid: and cid: to tests/protocols/test_access_mail.py"

_OPTIONS = Options(limit=1 << 20, depth=5)
_POLICY = Policy.local().with_(messages=("m",))
_planned = lru_cache(1 << 10)(plan)
_Reader = Callable[[Stream, Document, Place], Iterator[Document | Note]]


class _Pieces(io.BytesIO):
    """A file that gives few octets at once."""

    def read(self, size: int | None = -1, /) -> bytes:
        return super().read(53 if size is None or size < 0 else min(size, 53))


def check(data: bytes) -> None:
    """data: the octets of a file, read as a message and as a mailbox."""
    contents = set[bytes]()
    for members in (message.members, mbox.members):
        results = _read_members(members, io.BytesIO(data))
        assert len(results) <= 2 * len(data) + 8, f"{len(results)} parts and notes of {len(data)} octets"
        for document in results:
            if isinstance(document, Document):
                assert set(document.notes) <= set(NOTES), document
                if document.content not in contents:
                    contents.add(document.content)
                    _rows(document)
            else:
                assert document.kind in NOTES, document
        assert _read_members(members, _Pieces(data)) == results, "other parts in small pieces"
    _looked_for(data)


def _read_members(members: _Reader, file: BinaryIO) -> list[Document | Note]:
    return list(members(file, Document("m", b"", OUTER), Place(_OPTIONS)))


def _rows(document: Document) -> None:
    """The rows of a part; the content of containers in it is another input."""
    kind, _ = kind_of(document)
    options = _OPTIONS._replace(json=True)
    for link in rows_of(make_rows_builder(options), document, kind, options):
        assert link.source == document.source, link


_FIELD = re.compile(rb"(?im)^(message|content)-id:[ \t]*<([^<>\r\n]{1,80})>")


def _looked_for(data: bytes) -> None:
    """The first message and the first part of a file, opened by mid: and cid:."""
    names = {match[1].lower(): quote(match[2], safe="@") for match in reversed(list(_FIELD.finditer(data)))}
    for uri in (
        f"mid:{names.get(b'message', 'a@b')}",
        f"cid:{names.get(b'content', 'c@d')}",
        f"mid:{names.get(b'message', 'a@b')}/{names.get(b'content', 'c@d')}",
    ):
        complete = _open_part(uri, data, 1 << 16)
        assert _open_part(uri, data, 53) == complete, f"{uri}: something else in small pieces"


def _open_part(uri: str, data: bytes, piece: int) -> tuple[Head | None, bytes, str]:
    """The head, content and error of a dialogue over a file.  Raises: AssertionError after too many steps."""
    head, content, steps = None, bytearray(), 0
    file = io.BytesIO(data)
    try:
        dialogue = messages.dialogue(_planned(uri), _POLICY)
        effect = next(dialogue)
        while True:
            answer: object = None
            match effect:
                case OpenLocal():
                    answer = LocalFile(len(data), None)
                case Read(size):
                    answer = file.read(min(size, piece))
                case Head():
                    head = effect
                case Data(octets):
                    content += octets
                case Hangup():
                    pass
                case _:
                    raise AssertionError(effect)
            steps += 1
            assert steps <= 4 * len(data) + 100, f"{uri}: more than {steps} steps for {len(data)} octets"
            effect = dialogue.send(answer)
    except StopIteration:
        error = ""
    except DOCUMENTED as failed:
        error = str(failed)
    assert len(content) <= len(data), f"{uri}: more content than there is"
    return head, bytes(content), error


_LEAF = b"Content-Type: text/html; charset=utf-8\nContent-ID: <c@d>\nContent-Location: x.html\n"
_HEADER = b"Message-ID: <a@b>\nMIME-Version: 1.0\nList-Help: <http://h/>, <mailto:a@b>\n"
_FILES = (
    _HEADER + b"Subject: =?utf-8?q?a=20b?=\n\nhttp://h/a and www.h.example/b\n",
    _HEADER + _LEAF + b"\n<a href=x><img src=cid:c@d>\n",
    _HEADER + b"Content-Type: multipart/related; boundary=b; start=\"<c@d>\"\n\npre\n--b\n" + _LEAF
    + b"Content-Transfer-Encoding: quoted-printable\n\n<a href=3Dx>=\n\n--b\nContent-Type: text/plain\n"
    b"Content-ID: <e@f>\nContent-Transfer-Encoding: base64\n\naHR0cDovL2gv\n--b--\nafter\n",
    _HEADER + b"Content-Type: multipart/digest; boundary=d\n\n--d\n\nMessage-ID: <g@h>\n\nhttp://h/\n--d\n\n" + _HEADER
    + b"Content-Type: multipart/mixed; boundary*0=\"b\n c\"\n\n--bc\n" + _LEAF + b"\n<a href=y>\n--bc--\n\n--d--\n",
    _HEADER + b"Content-Base: http://base.example/\nContent-Type: message/rfc822\n\n" + _HEADER
    + _LEAF + b"\n<a href=z>\n",
    _HEADER
    + b"Content-Type: message/external-body; access-type=URL;\n URL=\"http://h/a\n b\"\n\nContent-ID: <c@d>\n\n",
)  # fmt: skip


def seeds() -> Iterator[bytes]:
    for file in _FILES:
        yield file
        yield file.replace(b"\n", b"\r\n")
    yield b"\n".join(b"From a@b Thu Jan  1 00:00:00 1970\n" + file for file in _FILES)
