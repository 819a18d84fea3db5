"""mid: and cid: URIs and the link job read the same message in the same way."""

from __future__ import annotations

import io
import tracemalloc
from typing import BinaryIO, cast

import pytest

from overthere import URI, Policy, plan
from overthere.access.wire import Data, LocalFile, OpenLocal, Read
from overthere.base import Base, establish
from overthere.links.containers import mbox, message
from overthere.links.containers.message_labels import part_of
from overthere.links.containers.model import Place
from overthere.links.model import Document, Options
from overthere.protocols.mail.dialogue import dialogue
from test_access_mail import Run
from test_growth import charset_of

FILE = Base(URI("http://h/m.eml"), "retrieval", "retrieval")


def within(fields: str, body: str = "=41", around: str = "boundary=b") -> bytes:
    """A multipart/related message with a page and the part that it refers to."""
    return (
        f"Message-ID: <m@x>\nContent-Type: multipart/related; {around}\n\n--b\nContent-Type: text/html\n\npage\n"
        f"--b\n{fields}Content-ID: <c@x>\n\n{body}\n--b--\n"
    ).encode("utf-8", "surrogateescape")


HTML = "Content-Type: text/html; charset=koi8-r\n"
# The paragraph, the message, and what cid:c@x is: media type, charset, content, Content-Location.
ALIKE: dict[str, tuple[str, bytes, tuple[str, str | None, bytes, str]]] = {
    "as it is mostly written": ("RFC 2045 5.1", within(HTML), ("text/html", "koi8-r", b"=41", "")),
    "a boundary in pieces": (
        "RFC 2231 3", within(HTML, around='boundary*0="";\n boundary*1=b'), ("text/html", "koi8-r", b"=41", ""),
    ),
    "an escaped boundary": (
        "RFC 2231 4", within(HTML, around="boundary*=us-ascii'en'%62"), ("text/html", "koi8-r", b"=41", ""),
    ),
    "a boundary beside a parameter in two ways": (
        "RFC 2231 3", within(HTML, around="name*0=x; name*=''y; boundary*0=b"), ("text/html", "koi8-r", b"=41", ""),
    ),
    "a boundary with a missing piece": (
        "RFC 2231 3", within(HTML, around="boundary*0=b; boundary*2=c"), ("text/html", "koi8-r", b"=41", ""),
    ),
    "blanks that were added at ends of lines": (
        "RFC 2045 6.7", within(HTML + "Content-Transfer-Encoding: quoted-printable\n", "a= \t\nb \n c =20 "),
        ("text/html", "koi8-r", b"ab\n c  ", ""),
    ),
    "an equals sign before a carriage return alone": (
        "RFC 2045 6.7", within(HTML + "Content-Transfer-Encoding: quoted-printable\n", "a=\rb=41\nc =\nd=\r\ne"),
        ("text/html", "koi8-r", b"a=\rbA\nc de", ""),
    ),
    "a charset in pieces": (
        "RFC 2231 4.1", within("Content-Type: text/html; charset*0*=''ko; charset*1*=%698; charset*2=-r\n"),
        ("text/html", "koi8-r", b"=41", ""),
    ),
    "a comment behind the media type": (
        "RFC 2045 5.1", within("Content-Type: text/html (a page); charset=koi8-r (Russian)\n"),
        ("text/html", "koi8-r", b"=41", ""),
    ),
    "a comment before the media type": (
        "RFC 5322 3.2.2", within("Content-Type: (a page) text/html;charset=koi8-r\n"),
        ("text/html", "koi8-r", b"=41", ""),
    ),
    "comments in comments": (
        "RFC 5322 3.2.2", within('Content-Type: text/html; (a (\\) "; charset=x) ; charset=y) charset="koi8-r"\n'),
        ("text/html", "koi8-r", b"=41", ""),
    ),
    "a parenthesis in quotes": (
        "RFC 5322 3.2.4", within(HTML, around='type="text/(html"; boundary=b'), ("text/html", "koi8-r", b"=41", ""),
    ),
    "a comment without an end": (
        "RFC 5322 3.2.2", within("Content-Type: text/html (a; charset=koi8-r\n"), ("text/html", "koi8-r", b"=41", ""),
    ),
    "a boundary in another parameter": (
        "RFC 2045 5.1", within(HTML, around='x="; boundary=no"; boundary=b'), ("text/html", "koi8-r", b"=41", ""),
    ),
    "white space around the slash": (
        "RFC 2045 5.1", within("Content-Type: text / html ; charset = koi8-r\n"), ("text/html", "koi8-r", b"=41", ""),
    ),
    "an encoding with a comment": (
        "RFC 2045 6.1", within(HTML + "Content-Transfer-Encoding: Quoted-Printable (what else)\n"),
        ("text/html", "koi8-r", b"A", ""),
    ),
    "a comment before the identifier": (
        "RFC 5322 3.6.4", within(HTML + "Content-ID: (not <a@x>)\n (nor <b@x>) <c@x> (but it)\n"),
        ("text/html", "koi8-r", b"=41", ""),
    ),
    "a Content-Location": (
        "RFC 2557 4.1, 4.4",
        within(HTML + "Content-Location: (now (1)) =?us-ascii?q?http=3A//h/?=\n =?us-ascii?q?b?= (x)\n"),
        ("text/html", "koi8-r", b"=41", "http://h/b"),
    ),
    "a header without a body before": (
        "RFC 2046 5.1.1", within("Content-Type: text/plain\n--b\n" + HTML), ("text/html", "koi8-r", b"=41", ""),
    ),
    "a line that is no field": (
        "RFC 5322 2.2", within(HTML + "Content-ID: <c@x>\nno field\nContent-Type: text/css\n"),
        ("text/html", "koi8-r", b"no field\nContent-Type: text/css\nContent-ID: <c@x>\n\n=41", ""),
    ),
    "CR alone": (
        "RFC 5322 2.1", within(HTML, "a\nb").replace(b"\n", b"\r"), ("text/html", "koi8-r", b"a\nb", ""),
    ),
    "no fields": ("RFC 2045 5.2", within(""), ("text/plain", None, b"=41", "")),
    "a media type that is none": ("RFC 2045 5.2", within("Content-Type: html\n"), ("text/plain", None, b"=41", "")),
    "in a message": (
        "RFC 2046 5.2.1", b"Content-Type: message/rfc822\n\n" + within(HTML), ("text/html", "koi8-r", b"=41", ""),
    ),
    "in a digest": (
        "RFC 2046 5.1.5", b"Content-Type: multipart/digest; boundary=d\n\n--d\n\n" + within(HTML) + b"\n--d--\n",
        ("text/html", "koi8-r", b"=41", ""),
    ),
    "fields of a header are no message": (
        "RFC 6533 6.3", within("Content-Type: message/global-headers\n", "Content-ID: <d@x>\n\nx"),
        ("message/global-headers", None, b"Content-ID: <d@x>\n\nx", ""),
    ),
}  # fmt: skip


def links(octets: bytes, uri: str) -> tuple[Document, Document]:
    """Return the part that a page refers to by a URI, and the first document."""
    documents = [
        member
        for member in message.members(io.BytesIO(octets), Document("m", b"", FILE), Place(Options()))
        if isinstance(member, Document)
    ]
    (source,) = {part_of(uri, document.parts) for document in documents} - {None}
    return next(document for document in documents if document.source == source), documents[0]


@pytest.mark.parametrize("name", ALIKE)
@pytest.mark.parametrize("size", [1, 1 << 18])
def test_mid_cid_and_links_read_a_part_alike(name: str, size: int) -> None:
    _, octets, expected = ALIKE[name]
    media_type, charset, content, location = expected
    part, page = links(octets, "cid:c@x")
    assert (part.media_type, part.charset, part.content) == (media_type, charset, content)
    if location:
        assert part_of(location, page.parts) == part.source
    for uri in ("cid:c@x", "mid:m@x/c@x") if octets.startswith(b"Message") else ("cid:c@x",):
        opened = Run(uri, octets, size)
        assert opened.head is not None
        content_type = opened.head.media_type or ""
        assert content_type.partition(";")[0].strip().lower() == media_type
        assert (opened.octets, opened.head.details["content_id"]) == (content, "c@x")
        assert opened.head.details.get("content_location", "") == location
        default = "us-ascii" if media_type == "text/plain" else "utf-8"
        assert charset_of(content_type).lower() == (charset or default)


def test_both_spellings_of_an_escaped_content_id_are_found() -> None:
    """RFC 2392 2 prints cid:foo4%25foo1@bar.net for <foo4%25foo1@bar.net>; by its words it is <foo4%foo1@bar.net>."""
    for content_id in (b"foo4%25foo1@bar.net", b"foo4%foo1@bar.net"):
        octets = within(HTML).replace(b"c@x", content_id)
        assert (
            Run("cid:foo4%25foo1@bar.net", octets).octets
            == links(octets, "cid:foo4%25foo1@bar.net")[0].content
            == b"=41"
        )


def test_a_part_in_an_unknown_encoding_is_octet_stream() -> None:
    """RFC 2045 6.4: its type is "application/octet-stream", whatever its Content-Type says."""
    octets = within(HTML + "Content-Transfer-Encoding: x-mine\n")
    opened = Run("cid:c@x", octets)
    assert (opened.head and opened.head.media_type, opened.octets) == ("application/octet-stream", b"=41")
    assert links(octets, "cid:c@x")[0].notes == ("unsupported",)


def test_mid_and_links_count_the_messages_of_a_mailbox_alike() -> None:
    """RFC 4155: a message begins with "From " after an empty line; text before the first one belongs to none."""
    text = within(HTML).replace(b"m@x", b"1@x").replace(b"=41", b"a\nFrom b\n\n>From c")
    two = b"Message-ID: <2@x>\n\n"
    three = within(HTML).replace(b"m@x", b"3@x").replace(b"\n", b"\r\n")
    box = b"From a\n" + text + b"\nFrom b Mon\n" + two + b"\nFrom c\r\n" + three + b"\r\n"
    documents = [
        member
        for member in mbox.members(io.BytesIO(box), Document("b", b"", FILE), Place(Options()))
        if isinstance(member, Document)
    ]
    assert [(part.source, part.content) for part in documents] == [("b!1", text), ("b!2", two), ("b!3", three)]
    for number, document in enumerate(documents, 1):
        opened = Run(f"mid:{number}@x", box, 3)
        assert opened.octets == document.content
        assert opened.head is not None
        assert opened.head.details["number"] == number


def test_content_location_of_http_has_no_comments_or_encoded_words() -> None:
    """RFC 2557 4.1 and RFC 2047 apply to mail only; in HTTP a Content-Location is a URI alone (RFC 2616 14.14)."""
    for value, mail, http in (
        ("x (a)", "http://r/x", "http://r/x(a)"), ("=?us-ascii?q?b?=", "http://r/b", "http://r/=?us-ascii?q?b?="),
    ):  # fmt: skip
        fields = {"Content-Location": value}
        assert str(establish(headers=fields, retrieval="http://r/").uri) == mail
        over_http = establish(headers=fields, retrieval="http://r/", edition="uri-2003", protocol="http")
        assert str(over_http.uri) == http


class Endless(io.RawIOBase):
    """A message of 100 MB: a part of long lines and a part of base64."""

    HEAD = b"Message-ID: <m@x>\nContent-Type: multipart/mixed; boundary=b\n\n--b\nContent-ID: <a@x>\n\n"
    NEXT = b"\n--b\nContent-ID: <c@x>\nContent-Transfer-Encoding: base64\n\n"

    def __init__(self) -> None:
        self.pieces = [
            (self.HEAD, 1),
            (b"x" * 99_999 + b"\n", 500),
            (self.NEXT, 1),
            (b"QUJD" * 19 + b"\n", 650_000),
            (b"--b--\n", 1),
        ]
        self.sizes = [len(text) * count for text, count in self.pieces]
        self.at = 0

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = 0, /) -> int:
        self.at = offset
        return offset

    def tell(self) -> int:
        return self.at

    def read(self, size: int = -1, /) -> bytes:
        begin = 0
        for (text, _), length in zip(self.pieces, self.sizes, strict=True):
            if self.at < begin + length:
                inside = self.at - begin
                count = min(size, length - inside)
                first = inside % len(text)
                data = (text * ((first + count) // len(text) + 1))[first : first + count]
                self.at += count
                return data
            begin += length
        return b""


def dialogue_size(uri: str, file: Endless) -> int:
    """The number of bytes that the dialogue of a plan returns when it reads the file in pieces."""
    talk = dialogue(plan(uri), Policy(messages=("x",)))
    answer: object = None
    count = 0
    while True:
        try:
            effect = talk.send(answer)
        except StopIteration:
            return count
        count += len(effect.octets) if isinstance(effect, Data) else 0
        answer = (
            LocalFile(1, None)
            if isinstance(effect, OpenLocal)
            else file.read(effect.size)
            if isinstance(effect, Read)
            else None
        )


@pytest.mark.parametrize("reader", ["links", "cid:a@x", "cid:c@x", "mid:m@x"])
def test_a_message_of_100_megabytes_is_read_in_pieces(reader: str) -> None:
    file = Endless()
    assert sum(file.sizes) > 100_000_000
    tracemalloc.start()
    try:
        if reader == "links":
            members = message.members(cast("BinaryIO", file), Document("m", b"", FILE), Place(Options(limit=1 << 16)))
            notes = [(member.source, member.notes) for member in members if isinstance(member, Document)]
            assert notes == [("m!1", ("too-large",)), ("m!2", ("too-large",))]
        else:
            sizes = {"cid:a@x": 50_000_000, "cid:c@x": 650_000 * 57, "mid:m@x": sum(file.sizes)}
            assert abs(dialogue_size(reader, file) - sizes[reader]) <= 1
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert most < 8 << 20
