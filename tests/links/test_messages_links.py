"""Messages and mailboxes as containers: parts, numbers, bases and names; invalid messages; mail written by Python."""

from __future__ import annotations

import io
import zlib
from collections.abc import Callable
from email.message import EmailMessage
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from overthere import URI
from overthere.base import Base
from overthere.links import extract
from overthere.links.containers import mbox, message
from overthere.links.containers.message_labels import part_of
from overthere.links.containers.model import Place
from overthere.links.containers.nested import NestedReader
from overthere.links.model import Document, Note, Options
from support import linear

DEFAULT = Options()
FILE = Base(URI("file:///mail/m.eml"), "retrieval", "retrieval")


def parts(content: bytes, options: Options = DEFAULT, base: Base = FILE, depth: int = 0) -> list[Document | Note]:
    return list(message.members(io.BytesIO(content), Document("m", b"", base, depth=depth), Place(options)))


def documents(content: bytes, options: Options = DEFAULT, base: Base = FILE) -> dict[str, Document]:
    """By their numbers; a note may be missing."""
    parts_found = parts(content, options, base)
    assert not [part for part in parts_found if isinstance(part, Note)]
    return {part.source.partition("!")[2]: part for part in parts_found if isinstance(part, Document)}


def mime(text: str) -> bytes:
    return text.replace("\n", "\r\n").encode()


# -- numbers, types, contents

NESTED = mime("""\
Message-ID: <one@x>
Content-Type: multipart/mixed; boundary="o"

preamble http://not/read
--o

plain
--o
Content-Type: message/rfc822

Message-ID: <two@x>
Content-Type: multipart/alternative; boundary=a

--a
Content-Type: text/plain; charset="ISO-8859-1"
Content-Transfer-Encoding: quoted-printable

caf=E9 =
more
--a
Content-Type: TEXT/HTML; charset=utf-8
Content-Transfer-Encoding: base64

PGEgaHJl
Zj14Pg==
--a--
--o
Content-Type: message/rfc822

Subject: one part

inside
--o
Content-Type: multipart/digest; boundary=d

--d

From: a@b

first
--d--
--o--
epilogue
""")


def test_parts_have_the_numbers_of_imap() -> None:
    """RFC 9051 6.4.5: the only part of a message is 1, a multipart in a message has no number."""
    numbered = documents(NESTED)
    assert {number: (part.media_type, part.charset, part.content, part.depth) for number, part in numbered.items()} == {
        "1": ("text/plain", None, b"plain", 1),
        "2.1": ("text/plain", "iso-8859-1", b"caf\xe9 more", 2),
        "2.2": ("text/html", "utf-8", b"<a href=x>", 2),
        "3.1": ("text/plain", None, b"inside", 2),
        "4.1.1": ("text/plain", None, b"first", 2),
    }
    assert not any(part.notes for part in numbered.values())


def test_both_line_ends_and_cr_alone() -> None:
    for ends in (b"\n", b"\r"):
        numbered = documents(NESTED.replace(b"\r\n", ends))
        assert list(numbered) == ["1", "2.1", "2.2", "3.1", "4.1.1"]


def test_messages_written_by_python() -> None:
    mail = EmailMessage()
    mail["Subject"] = "ü" * 200
    mail.set_content("text é\n")
    mail.add_alternative("<a href='x'>é</a>\n", subtype="html")
    html = mail.get_payload(1)
    html.add_related(b"\x00\xff" * 500, "image", "png", cid="<i@x>")  # type: ignore[union-attr]
    mail.add_attachment("attached\n", filename="a.txt")
    numbered = documents(mail.as_bytes())
    texts = {number: part.content.decode("latin-1") for number, part in numbered.items()}
    expected = {
        "1.1": "text é\n".encode().decode("latin-1"),
        "1.2.1": "<a href='x'>é</a>\n".encode().decode("latin-1"),
        "1.2.2": "\x00\xff" * 500,
        "2": "attached\n",
    }
    assert {number: text.rstrip("\n") for number, text in texts.items()} == {
        number: text.rstrip("\n") for number, text in expected.items()
    }
    assert part_of("cid:i@x", numbered["1.2.1"].parts) == "m!1.2.2"
    assert numbered["1.1"].charset == "utf-8"


# -- bases (RFC 2557 5) and names (RFC 2557 8, RFC 2392)

AGGREGATE = mime("""\
Message-ID: <m/1@x>
Content-Location: http://www.ietf.cnri.reston.va.us/
Content-Type: multipart/related; boundary="boundary-example";
        type="text/html"

--boundary-example
Content-Type: text/html; charset="ISO-8859-1"

<IMG SRC="images/ietflogo1.gif">
--boundary-example
Content-Location:
         http://www.ietf.cnri.reston.va.us/images/iet
 flogo1.gif
Content-ID: <foo4%foo1@bar.net>
Content-Type: IMAGE/GIF

1
--boundary-example
Content-Location: images/ietflogo2.gif
Content-Type: IMAGE/GIF

2
--boundary-example--
""")


def test_an_aggregate() -> None:
    """RFC 2557 9.3: absolute and relative Content-Locations, resolved by that of the multipart/related."""
    numbered = documents(AGGREGATE)
    html = numbered["1"]
    assert (str(html.base.uri), html.base.layer, html.base.by) == (
        "http://www.ietf.cnri.reston.va.us/", "entity", "Content-Location",
    )  # fmt: skip
    for name, number in (("1", "m!2"), ("2", "m!3")):
        assert part_of(str(html.base.uri.join(f"images/ietflogo{name}.gif#f")), html.parts) == number
    # RFC 2392 2: the decoded identifier; "/" is escaped in mid.
    for reference in ("cid:foo4%25foo1@bar.net", "CID:foo4%25foo1%40bar.net", "mid:m%2F1@x/foo4%25foo1@bar.net"):
        assert part_of(reference, html.parts) == "m!2"
    assert part_of("mid:m%2f1@x", html.parts) == "m"
    assert part_of("mid:m/1@x", html.parts) is None


def test_without_any_base() -> None:
    """RFC 2557 9.4 and 5 (e): "thismessage:/"."""
    content = mime("""\
Content-Type: multipart/related; boundary=b

--b
Content-Type: text/html

<IMG SRC="ietflogo.gif">
--b
Content-Location: ietflogo.gif
Content-Type: image/gif

x
--b--
""")
    html = documents(content)["1"]
    assert (str(html.base.uri), html.base.layer) == ("thismessage:/", "default")
    assert part_of(str(html.base.uri.join("ietflogo.gif")), html.parts) == "m!2"
    # 5 (d): retrieved content has that URI.
    fetched = documents(content, base=Base(URI("http://h/m.mht"), "retrieval", "retrieval"))["1"]
    assert (str(fetched.base.uri), fetched.base.layer, fetched.base.by) == ("http://h/m.mht", "entity", "retrieval")
    assert part_of("http://h/ietflogo.gif", fetched.parts) == "m!2"


def test_names_are_local_to_their_aggregate() -> None:
    """RFC 2557 9.6: visible inside the multipart/related, not outside or next to it."""
    content = mime("""\
Content-Type: multipart/related; boundary=1

--1
Content-Type: text/html
Content-Location: http://h/root

--1
Content-Location: http://h/out.gif
Content-Type: image/gif

--1
Content-Location: http://h/more
Content-Type: multipart/related; boundary=2; start="<root>"

--2
Content-Location: in.gif
Content-Type: image/gif

--2
Content-Type: text/html
Content-ID: <root>

--2--
--1--
""")
    numbered = documents(content)
    outside, inside = numbered["1"].parts, numbered["3.2"].parts
    assert part_of("http://h/out.gif", inside) == part_of("http://h/out.gif", outside) == "m!2"
    assert part_of("http://h/in.gif", inside) == "m!3.1"
    assert part_of("http://h/in.gif", outside) is None
    # The aggregate is represented by its root, named by `start` (RFC 2387 3.2).
    assert part_of("http://h/more", outside) == "m!3.2"
    assert numbered["3.2"].base.uri == URI("http://h/more")


def test_a_root_with_alternatives() -> None:
    """RFC 2557 7: the HTML of a multipart/alternative that is the root."""
    content = mime("""\
Content-Type: multipart/related; boundary=0

--0
Content-Type: text/html

--0
Content-Location: http://h/page
Content-Type: multipart/related; boundary=1; type="multipart/alternative"

--1
Content-Type: multipart/alternative; boundary=2

--2

--2
Content-Type: text/html
Content-ID: <same>

--2
Content-Type: application/pdf
Content-ID: <same>

--2--
--1--
--0--
""")
    names = documents(content)["1"].parts
    assert part_of("http://h/page", names) == "m!2.1.2"
    assert part_of("cid:same", names) == "m!2.1.3"  # RFC 2046 5.1.4: the last is the best


def test_a_content_location_that_is_not_a_label() -> None:
    """RFC 2557 8.3: cid: in it is ignored; 11.1: outside multipart/related it names nothing."""
    content = mime("""\
Content-Type: multipart/mixed; boundary=b

--b
Content-Location: cid:x@y
Content-Type: text/html

--b
Content-Location: http://h/x
Content-Type: text/html

--b--
""")
    first, two = documents(content).values()
    assert part_of("cid:x@y", first.parts) is part_of("http://h/x", first.parts) is None
    assert (str(first.base.uri), str(two.base.uri)) == ("thismessage:/", "http://h/x")


@pytest.mark.parametrize(
    ("edition", "expected"),
    [("rfc3986", "http://l/"), ("url-1997", "http://b/"), ("uri-2003", "thismessage:/"), ("rfc1738", "http://l/")],
)
def test_fields_by_edition(edition: str, expected: str) -> None:
    """1997: Content-Base first (5.1.1); RFC 2110 4.1: in multipart headers both are meaningless."""
    content = b"Content-Base: http://b/\nContent-Location: http://l/\nContent-Type: multipart/mixed; boundary=b\n\n"
    content += b"--b\n\nx\n--b--"
    assert str(documents(content, Options(edition=edition))["1"].base.uri) == expected


@pytest.mark.parametrize(
    ("value", "base"),
    [
        ("(a comment) http://h/a_(b)", "http://h/a_(b)"),
        ("http://h/x (what it is)", "http://h/x"),
        ("=?us-ascii?Q?http=3A//h/?=\n =?us-ascii?Q?x?=", "http://h/x"),
        ("http://h/%65?=?x", "http://h/%65?=?x"),
        ("http://[", "thismessage:/"),
    ],
)
def test_the_syntax_of_content_location(value: str, base: str) -> None:
    """RFC 2557 4.1 (comments) and 4.4.1 (encoded words)."""
    assert str(documents(f"Content-Location: {value}\n\nx".encode())["1"].base.uri) == base


def test_the_unread_rest_of_a_long_field_has_a_note() -> None:
    field = "List-Help: " + "".join(f"<http://h/{n}>, " for n in range(5000)) + "\nSubject: x\n"
    *results, last = message.read(documents(f"{field}\nx".encode())["HEADER"], Options())
    assert len(results) > 3000
    assert last == Note("too-large")


def test_references_in_headers() -> None:
    content = mime("""\
list-unsubscribe: (by web) <https://l/un
 sub?a=b>,
  <mailto:leave@l>
Archived-At: <http://a/1>
Content-Type: multipart/mixed; boundary=b

--b
Content-Type: message/external-body; access-type=URL;
  URL="ftp://ftp.deepdirs.org/1/2/3/4/
  5/6"

Content-Type: text/html

--b
Content-Type: message/rfc822

List-Post: NO <mailto:p@l>

--b--
""")
    numbered = documents(content)
    read = {number: [tuple(f)[:2] for f in message.read(part, Options())] for number, part in numbered.items()}
    assert read == {
        "HEADER": [
            ("List-Unsubscribe", "https://l/unsub?a=b"), ("List-Unsubscribe", "mailto:leave@l"),
            ("Archived-At", "http://a/1"),
        ],
        "1.MIME": [("Content-Type URL", "ftp://ftp.deepdirs.org/1/2/3/4/5/6")],  # RFC 2017 3.1
        "2.HEADER": [("List-Post", "mailto:p@l")],
        "2.1": [],
    }  # fmt: skip
    assert {part.media_type for number, part in numbered.items() if number != "2.1"} == {message.HEADER}


def test_the_fields_of_a_report_are_text(tmp_path: Path) -> None:
    """They are no message (RFC 3464 2.1): the first group was read as its header, and a body was missing."""
    content = mime("""\
Content-Type: multipart/report; boundary=b

--b
Content-Type: message/disposition-notification

Reporting-UA: h; see http://a/
--b
Content-Type: message/delivery-status

Reporting-MTA: dns; h
Diagnostic-Code: smtp; 550 http://b/

Final-Recipient: rfc822; x@h.example
Diagnostic-Code: smtp; 550 http://c/
--b--
""")
    (path := tmp_path / "m.eml").write_bytes(content)
    rows = [(row.source.rpartition("!")[2], row.reference, row.error) for row in extract(path)]
    assert [row for row in rows if row[1] != "x@h.example"] == [
        ("1", "http://a/", None), ("2", "http://b/", None), ("2", "http://c/", None),
    ]  # fmt: skip


# -- invalid messages


def notes(content: bytes, options: Options = DEFAULT) -> list[tuple[str, str]]:
    kinds = []
    for part in parts(content, options):
        if isinstance(part, Note):
            kinds.append(("", part.kind))
        else:
            kinds += [(part.source[2:], kind) for kind in part.notes]
    return kinds


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"", [("", "empty")]),
        (b"A: b\n\n", [("1", "empty")]),
        (b"no header at all\n", [("1", "corrupt")]),
        (b"Content-Type: multipart/x; boundary=b\n\n--b\n\ncut", [("1", "truncated")]),
        (b"Content-Type: multipart/x; boundary=b\n\n--b\n\nx\n--b\nContent-Type: multipart/y; boundary=c\n\n"
         b"--c\n\ny\n--b--", [("2.1", "truncated")]),
        (b"Content-Type: multipart/x; boundary=b\n\n--b\nContent-Type: multipart/y; boundary=c\n\n--c\n\ny\n--c--\n"
         b"--b\n\nx\n--c\nz\n--b--", []),  # a delimiter of a closed part is text
        (b"Content-Type: multipart/x; boundary=b\n\nnothing", [("", "truncated")]),
        (b"Content-Type: multipart/x; boundary=b\n\n--b--", [("", "empty")]),
        (b"Content-Type: multipart/x\n\nhttp://h/", [("1", "corrupt")]),
        (b"Content-Transfer-Encoding: base64\n\nQUJD\nRUZH!!", [("1", "corrupt")]),
        (b"Content-Transfer-Encoding: base64\n\nA", [("1", "corrupt")]),
        (b"Content-Transfer-Encoding: x-secret\n\nA", [("1", "unsupported")]),
        *((b"Content-Transfer-Encoding: %s\n\nhttp://h/" % wrong, [("1", "wrong-encoding")])
          for wrong in (b"8bits", b"7-bit", b"8 Bit", b"quoted_printable")),
        (b"Content-Transfer-Encoding: base-64\n\naHR0cDovL2gv", [("1", "wrong-encoding")]),
        (b"Content-Type: multipart/encrypted; boundary=b\n\n--b\n\nx\n--b--", [("1", "encrypted")]),
        (b"Content-Type: application/pkcs7-mime; smime-type=enveloped-data\n\nx", [("1", "encrypted")]),
    ],
)  # fmt: skip
def test_notes_of_invalid_messages(content: bytes, expected: list[tuple[str, str]]) -> None:
    assert notes(content) == expected


@pytest.mark.parametrize(
    ("encoded", "content"), [(b"aHR0cDovL2gvQ", b"http://h/"), (b"aHR0cDovL2g=\naHR0cDovL2kv", b"http://h")]
)
def test_broken_base64_is_decoded_up_to_the_fault(encoded: bytes, content: bytes) -> None:
    """In pieces of any size, the content before the fault is returned, and data after the end is noted."""
    octets = b"Content-Transfer-Encoding: base64\n\n" + encoded

    class Single(io.BytesIO):
        def read(self, size: int | None = -1, /) -> bytes:
            return super().read(1 if size else 0)

    (complete,) = parts(octets)
    assert isinstance(complete, Document)
    assert (complete.content, complete.notes) == (content, ("corrupt",))
    assert list(message.members(Single(octets), Document("m", b"", FILE), Place(DEFAULT))) == [complete]


def test_limits_of_parts() -> None:
    part = parts(b"A: b\n\n" + b"x" * 100, Options(limit=10))[0]
    assert isinstance(part, Document)
    assert (part.content, part.notes) == (b"x" * 10, ("too-large",))
    encoded = parts(b"Content-Transfer-Encoding: base64\n\n" + b"QUJD" * 100, Options(limit=10))[0]
    assert isinstance(encoded, Document)
    assert (encoded.content, encoded.notes) == (b"ABCABCABCA", ("too-large",))
    assert notes(b"Content-Type: message/rfc822\n\n" * 3 + b"A: b\n\nx", Options(depth=4)) == []
    assert notes(b"Content-Type: message/rfc822\n\n" * 3 + b"A: b\n\nx", Options(depth=3)) == [("1.1.1", "too-deep")]
    message = Document("m", b"A: b\n\nx", FILE, depth=2)
    read = NestedReader(Options(depth=2), 7).read(message, ("message", ()))
    assert [(document.source, document.notes) for document, _ in read] == [("m", ("too-deep",))]


def test_adjacent_delimiters() -> None:
    """RFC 2046 5.1.1: the line end of one delimiter belongs to the next; a part may be a header only."""
    content = b"Content-Type: multipart/x; boundary=b\n--b\nContent-Type: text/html\n--b\n--b\n\nx\n--b--\n"
    assert [(number, part.media_type, part.content) for number, part in documents(content).items()] == [
        ("1", "text/html", b""), ("2", "text/plain", b""), ("3", "text/plain", b"x"),
    ]  # fmt: skip


@pytest.mark.parametrize("boundary", ["b", "a:b", "=_a: b"])
def test_a_delimiter_that_looks_like_a_field_ends_a_header(boundary: str) -> None:
    """A boundary may contain ":" (RFC 2046 5.1.1): two parts without a body were read as one."""
    delimiter = f"--{boundary}"
    lines = ["MIME-Version: 1.0", f'Content-Type: multipart/mixed; boundary="{boundary}"', "", delimiter]
    lines += ["Content-Type: image/png", delimiter, "Content-Type: text/html", "--x: y", "", "<a href=x>", delimiter]
    found = documents("\n".join([*lines, "Content-ID: <c>", f"{delimiter}--", ""]).encode())
    assert [(part.media_type, part.content) for part in found.values()] == [
        ("image/png", b""), ("text/html", b"<a href=x>"), ("text/plain", b""),
    ]  # fmt: skip


def test_a_broken_header_of_an_external_body_has_a_note() -> None:
    content = mime("Content-Type: message/external-body; access-type=URL; url=x\nbroken\n\nContent-Type: text/html\n")
    assert notes(content) == [("1.MIME", "corrupt")]


class Broken(io.BytesIO):
    """A file that cannot be read to its end, nor again from its beginning."""

    error: Exception = OSError()

    def seekable(self) -> bool:
        return False

    def read(self, size: int | None = -1) -> bytes:
        data = super().read(size)
        if not data:
            raise self.error
        return data


@pytest.mark.parametrize(
    ("error", "kind"), [(OSError(), "unreadable"), (EOFError(), "truncated"), (zlib.error(), "corrupt")]
)
def test_files_that_fail(error: Exception, kind: str) -> None:
    file = Broken(b"From x\nA: b\n\nhello")
    file.error = error
    document = Document("m", b"", FILE)
    item, note = sorted(mbox.members(file, document, Place(Options())), key=lambda item: isinstance(item, Note))
    assert isinstance(item, Document)
    assert (item.content, note) == (b"A: b\n\nhello", Note(kind))
    file.seek(0)
    note, part = message.members(file, document, Place(Options()))
    assert isinstance(part, Document)
    assert (part.content, note) == (b"hello", Note(kind))


H = b"Content-Type: multipart/related; boundary=b\n\n"
# How it is made, and its maximum size.
HOSTILE: dict[str, tuple[Callable[[int], bytes], int]] = {
    "nested": (
        lambda n: b"".join(b"Content-Type: multipart/x; boundary=%d\n\n--%d\n" % (i, i) for i in range(n)), 50_000
    ),
    "nested messages": (lambda n: b"Content-Type: message/rfc822\n\n" * n, 50_000),
    "a long header": (lambda n: b"Content-Type: text/html;" + b" x" * n, 5_000_000),
    "one long line": (lambda n: b"\0" * n, 10_000_000),
    "dashes": (lambda n: H + b"--\n" * n, 400_000),
    "more dashes": (lambda n: H + b"-" * n, 10_000_000),
    "a boundary": (
        lambda n: b'Content-Type: multipart/x; boundary="(.*)*+[\\"\\\\$"\n\n' + b'--(.*)*+["\\$\n' * n, 20_000
    ),
    "no body": (lambda n: H + b"--b\n" * n, 20_000),
    "labels": (
        lambda n: H + b"".join(b"--b\nContent-ID: <%d>\nContent-Location: %d\n\n" % (i, i) for i in range(n)), 10_000
    ),
    "scopes": (lambda n: H + b"".join(
        b"--b\nContent-Location: %d\n\n--b\nContent-Type: multipart/related; boundary=c\n\n"
        b"--c\nContent-Location: x\n\n--c--\n" % i for i in range(n)
    ), 4_000),
    "equals": (lambda n: b"Content-Transfer-Encoding: quoted-printable\n\n" + b"=" * n, 2_000_000),
    "base64": (lambda n: b"Content-Transfer-Encoding: base64\n\n" + b"=\xff" * n, 1_000_000),
    "parameters": (lambda n: b"Content-Type: a/b" + b';a*0="\\"' * n + b"\n\nx", 100_000),
    "words": (lambda n: b"Content-Location: " + b"=?utf-8?q?" * n + b"\n\nx", 100_000),
    "angles": (lambda n: b"List-Post: " + b"<" * n + b"\nContent-ID: " + b"<" * n + b"\n\nx", 400_000),
}  # fmt: skip


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_messages_are_linear(name: str) -> None:
    def use(size: int) -> None:
        count = sum(1 for _ in message.members(io.BytesIO(make(size)), Document("m", b"", FILE), Place(Options())))
        assert 0 < count <= 20_001

    make, most = HOSTILE[name]
    linear(use, most)


LINES = st.lists(
    st.sampled_from(
        [b"--b", b"--b--", b"--c", b"--c--", b"", b" ", b"x", b"From a", b"Content-Type: multipart/related; boundary=b",
         b"Content-Type: multipart/alternative; boundary=c", b"Content-Type: message/rfc822", b"Content-ID: <a>",
         b"Content-Location: x", b"Content-Location: http://h/", b"Content-Base: b:", b"Content-Type: multipart/digest",
         b"Content-Transfer-Encoding: base64", b"Message-ID: <m>", b"\xff\0: \r", b"List-Post: <\xff>"]
    ),
    max_size=30,
)  # fmt: skip


@given(LINES, st.sampled_from([b"\n", b"\r\n", b"\r"]), st.sampled_from(["rfc3986", "url-1997", "uri-2003"]))
def test_no_message_raises(lines: list[bytes], end: bytes, edition: str) -> None:
    results = parts(end.join(lines), Options(edition=edition, depth=3))
    assert results
    sources = [row.source for row in results if isinstance(row, Document)]
    assert len(set(sources)) == len(sources)


@given(st.binary(max_size=200))
def test_no_bytes_raise(content: bytes) -> None:
    assert parts(content)
    for member in mbox.members(io.BytesIO(content), Document("m", b"", FILE), Place(Options())):
        assert isinstance(member, Document | Note)


# -- mailboxes (RFC 4155)


def test_messages_of_a_mailbox() -> None:
    content = b"From a@b Mon\nSubject: 1\n\nhi\nFrom is no mark here\n\n>From \n\n"
    content += b"From c@d Tue\nSubject: 2\n\nho\n\nFrom e\n\n"
    box = Document("inbox.mbox", b"", Base(URI("file:///inbox.mbox"), "retrieval", "retrieval"))
    first, two, three = mbox.members(io.BytesIO(content), box, Place(Options()))
    assert isinstance(first, Document)
    assert isinstance(two, Document)
    assert isinstance(three, Document)
    assert (first.source, first.media_type, first.depth) == ("inbox.mbox!1", "message/rfc822", 1)
    assert first.content == b"Subject: 1\n\nhi\nFrom is no mark here\n\n>From \n"
    assert two.content == b"Subject: 2\n\nho\n"
    assert (three.source, three.notes) == ("inbox.mbox!3", ("empty",))
    part = next(message.members(io.BytesIO(first.content), first, Place(Options())))
    assert isinstance(part, Document)
    assert (part.source, part.depth, str(part.base.uri)) == ("inbox.mbox!1!1", 2, "thismessage:/")


def test_a_mailbox_is_streamed() -> None:
    """The data read before the first message does not grow with the file."""

    class Counted(io.BytesIO):
        taken = 0

        def read(self, size: int | None = -1) -> bytes:
            data = super().read(size)
            self.taken += len(data)
            return data

    file = Counted(b"From a\nA: b\n\nx\n\n" * 200_000)
    members = mbox.members(file, Document("m", b"", FILE), Place(Options(limit=5)))
    first = next(members)
    assert isinstance(first, Document)
    assert (first.content, first.notes) == (b"A: b\n", ("too-large",))
    assert file.taken < 1 << 20
    assert sum(1 for _ in members) == 199_999


def test_files_that_are_not_mailboxes() -> None:
    box = Document("m", b"", FILE)
    assert list(mbox.members(io.BytesIO(), box, Place(Options()))) == [Note("empty")]
    note, item = mbox.members(io.BytesIO(b"Subject: x\n\ny"), box, Place(Options()))
    assert note == Note("corrupt")
    assert isinstance(item, Document)
    assert item.content == b"Subject: x\n\ny"
