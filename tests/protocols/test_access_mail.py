"""mailto, mid and cid: drafts parsed again, messages delivered by a real server, and message files of every kind."""

from __future__ import annotations

import base64
import email
import email.message
import email.policy
import mailbox
import os
import random
import smtplib
import tracemalloc
from collections.abc import Callable, Iterator
from email.header import decode_header, make_header
from email.message import EmailMessage
from pathlib import Path
from typing import Any

import anyio
import pytest

from overthere import URI, AccessError, AccessRefused, NotSpecified, PlanRefused, Policy, aopen, open, plan
from overthere.access import Credentials
from overthere.access.errors import LimitExceeded, ProtocolError, ResourceMissing
from overthere.access.steps import Compose
from overthere.access.wire import Data, Hangup, Head, LocalFile, OpenLocal, Read
from overthere.protocols.mail.dialogue import dialogue
from overthere.schemes.known.mailto import MailtoLocator
from overthere.schemes.known.mid import CidLocator, MidLocator
from servers import NET
from servers.smtpd import mail_server
from support import linear, processor

# -- mailto


def step_of(uri: str, credentials: Credentials | None = None) -> Compose:
    (step,) = plan(uri, credentials)
    assert isinstance(step, Compose)
    return step


def unfolded(message: email.message.Message, name: str) -> list[str]:
    return ["".join(str(value).splitlines()) for value in message.get_all(name, [])]


def body_of(message: email.message.Message) -> str:
    payload = message.get_payload(decode=True)
    assert isinstance(payload, bytes)
    return payload.decode(message.get_content_charset() or "us-ascii")


DRAFTS = [
    "mailto:chris@example.com",
    "mailto:",
    "mailto:infobot@example.com?body=send%20current-issue%0D%0Asend%20index",
    "mailto:list@example.org?In-Reply-To=%3C3469A91.D10AF4C@example.com%3E",
    "mailto:%22not%40me%22@example.org",
    "mailto:%22oh%5C%5Cno%22@example.org",
    "mailto:%22" + "x%20y" * 40 + "%22@example.org",
    "mailto:%22a%5C%09b%22@example.org?subject=a%09b",
    "mailto:gorby%25kremvax@example.com?subject=%20spaces%20%20and%20more%20",
    "mailto:" + ",".join(f"someone.{n}@example.com" for n in range(60)),
    "mailto:a@b?cc=%22Doe,%20Joe%22%20%3Cjoe@x%3E,bob@y%20(Bob,%20him)&bcc=gr:%20a@b,%20c@d;",
    "mailto:%3D%3Futf-8%3Fq%3Fx%3F%3D@y?cc=%3D%3Futf-8%3Fq%3Fx%3D2C%3F%3D%20%3Ca@b%3E",
    "mailto:a@b?subject=" + "word%20" * 60 + "&body=" + "line%0D%0A" * 50,
    "mailto:a@b?subject=" + "x" * 3000 + "&body=" + "y" * 3000,
    "mailto:a@b?subject=%3D%3Futf-8%3FQ%3Fcaf%3DC3%3DA9%3F%3D",
    "mailto:a@b?body=a%0D%0A.%0D%0AFrom%20x%0Ab%0Dc%0D%0A%0D%0A",
    "mailto:user@%E7%B4%8D%E8%B1%86.example.org?subject=Test&body=NATTO",
    "mailto:a@b?keywords=one&keywords=two&from=x@y&date=now&subject=c%0D%0ABcc:%20evil@x",
]


@pytest.mark.parametrize("uri", DRAFTS)
def test_a_draft_has_the_fields_of_the_uri(uri: str) -> None:
    """RFC 6068 3: parsed by another parser, each field is that of the plan."""
    step = step_of(uri)
    with open(uri) as resource:
        assert (resource.media_type, resource.how) == ("message/rfc822", "scheme")
        octets = resource.read()
        assert resource.length == len(octets)
        assert resource.details["headers"] == step.headers
        assert resource.details["ignored"] == step.ignored
    assert octets.isascii()
    assert b"\n" not in octets.replace(b"\r\n", b"")
    assert all(len(line) <= 998 for line in octets.split(b"\r\n"))
    message = email.message_from_bytes(octets)
    assert not message.defects
    assert sorted(message.keys()) == sorted(
        [*(name for name, _ in step.headers), "Content-Type", "Content-Transfer-Encoding", "MIME-Version"]
    )
    for name in {name for name, _ in step.headers}:
        expected = [value for other, value in step.headers if other == name]
        text = unfolded(message, name)
        if text != [value.strip(" ") for value in expected]:
            assert [str(make_header(decode_header(value))).strip(" ") for value in text] == [
                value.strip(" ") for value in expected
            ]
    assert body_of(message).removesuffix("\r\n") == step.body.removesuffix("\r\n")
    assert b"evil" not in octets


def test_non_ascii_drafts() -> None:
    """Names and texts as encoded words (RFC 2047); a non-ASCII address unchanged (RFC 6532)."""
    uri = (
        "mailto:a@b?cc=%22J%C3%B6rg,%20X%22%20%3Cj@x%3E,%20J%C3%BCrgen%20%3Ck@x%3E&subject=caf%C3%A9%20"
        + "%C3%A9" * 200
    )
    octets = open(uri + "&body=%E7%B4%8D").read()
    assert octets.isascii()
    message = email.message_from_bytes(octets, policy=email.policy.SMTP)
    assert isinstance(message, EmailMessage)
    assert [(address.display_name, address.addr_spec) for address in message["cc"].addresses] == [
        ("Jörg, X", "j@x"),
        ("Jürgen", "k@x"),
    ]
    assert message["subject"] == "café " + "é" * 200
    assert message.get_content() == "納\r\n" or message.get_content() == "納\n"
    for uri, line in (
        ("mailto:%C3%BC@example.com", b"To: \xc3\xbc@example.com\r\n"),
        ("mailto:a@b?cc=a(%C3%A4)@b", b"Cc: a(\xc3\xa4)@b\r\n"),
        ("mailto:a@b?in-reply-to=%3C%C3%A4@b%3E", b"In-Reply-To: <\xc3\xa4@b>\r\n"),
    ):
        with open(uri) as resource:
            assert resource.media_type == "message/global"
            assert line in resource.read()


def test_a_draft_has_a_sender_if_one_is_given() -> None:
    assert b"From:" not in open("mailto:a@b").read()
    assert (
        open("mailto:a@b", credentials=Credentials(address="me@here"))
        .read()
        .startswith(b"From: me@here\r\nTo: a@b\r\n")
    )


def test_too_long_lines() -> None:
    """RFC 5322 2.1.1."""
    with pytest.raises(PlanRefused, match="too long for a line"):
        open("mailto:" + "a" * 1000 + "@b")
    with pytest.raises(PlanRefused, match="too long for a line"):
        open("mailto:a@b?in-reply-to=%3C" + "a" * 1000 + "@b%3E")


def test_drafts_with_any_text() -> None:
    rng = random.Random(3)
    letters = [
        '"',
        "\\",
        "<",
        ">",
        "(",
        ")",
        ",",
        ";",
        ":",
        "@",
        "a",
        "b.c",
        " ",
        "=?utf-8?q?x?=",
        "\u00e9",
        "\t",
        "=",
        "\r\n",
    ]
    seen = 0
    for _ in range(1500):
        text = "".join(rng.choices(letters, k=rng.randint(1, 12)))
        name = rng.choice(["cc", "subject", "in-reply-to", "body", "keywords"])
        try:
            (step,) = plan(MailtoLocator(addresses=("a@b",), headers=((name, text),)))
            octets = open(MailtoLocator(addresses=("a@b",), headers=((name, text),))).read()
        except PlanRefused:
            continue
        assert isinstance(step, Compose)
        seen += 1
        raw = email.message_from_bytes(octets)
        assert unfolded(raw, "to") == ["a@b"]
        assert len(raw.keys()) == len(step.headers) + 3
        for other, value in step.headers:
            if value.isascii():
                (line,) = unfolded(raw, other)
                assert line.strip(" \t") == value.strip(" \t")
    assert seen > 500


def test_a_draft_in_an_event_loop() -> None:
    async def main() -> None:
        async with await aopen("mailto:chris@example.com?body=hi") as resource:
            assert await resource.read() == open("mailto:chris@example.com?body=hi").read()

    anyio.run(main)


# -- mid and cid: files


def letter(number: int, body: str = "hello\n", **parts: bytes) -> EmailMessage:
    message = EmailMessage()
    message["From"], message["Subject"] = "t@example.test", f"letter {number}"
    message["Message-ID"] = f"<m{number}@example.test>"
    message.set_content(body)
    for name, content in parts.items():
        message.add_related(content, "image", "png", cid=f"<{name}@example.test>")
    return message


def policy(*messages: Path, **changes: Any) -> Policy:
    return Policy.local().with_(messages=messages, **changes)


@pytest.fixture
def letters() -> list[EmailMessage]:
    messages = [
        letter(1),
        letter(2, "From here\n>From there\n\nFrom x\n", logo=bytes(range(256)) * 50, other=b"o"),
        letter(3, "caf\u00e9 = \u7d0d\n" * 3),
        letter(4, ""),
    ]
    for message in messages:
        message.as_bytes()  # so that the boundaries are fixed
    return messages


def as_mbox(path: Path, letters: list[EmailMessage]) -> Path:
    box = mailbox.mbox(path)
    for message in letters:
        box.add(message)
    box.close()
    return path


def as_crlf(path: Path, letters: list[EmailMessage]) -> Path:
    as_mbox(path, letters)
    path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
    return path


def as_maildir(path: Path, letters: list[EmailMessage]) -> Path:
    mailbox.Maildir(path).close()
    for number, message in enumerate(letters):
        (path / ("cur" if number % 2 else "new") / f"{number}.host:2,").write_bytes(message.as_bytes())
    (path / "tmp" / "not.yet").write_bytes(b"Message-ID: <tmp@example.test>\n\n")
    os.mkfifo(path / "new" / "pipe")
    return path


def as_folder(path: Path, letters: list[EmailMessage]) -> Path:
    path.mkdir()
    for number, message in enumerate(letters):
        (path / f"{number}.{'EML' if number % 2 else 'eml'}").write_bytes(message.as_bytes())
    (path / "note.txt").write_bytes(b"Message-ID: <note@example.test>\n\n")
    return path


STORES = {"mbox": as_mbox, "crlf": as_crlf, "maildir": as_maildir, "folder": as_folder}


@pytest.mark.parametrize("kind", STORES)
def test_a_message_by_its_id(kind: str, tmp_path: Path, letters: list[EmailMessage]) -> None:
    store = STORES[kind](tmp_path / "store", letters)
    reference = mailbox.mbox(as_mbox(tmp_path / "reference", letters))
    for number, message in enumerate(letters, 1):
        uri = f"mid:m{number}@example.test"
        with open(uri, policy(store)) as resource:
            assert (resource.media_type, resource.how) == ("message/rfc822", "message")
            assert resource.details["message_id"] == f"m{number}@example.test"
            assert str(resource.details["path"]).startswith(str(store))
            octets = resource.read()
        if kind in ("mbox", "crlf"):
            assert resource.details["number"] == number
            assert octets == reference.get_bytes(list(reference.keys())[number - 1]).replace(
                b"\n", b"\r\n" if kind == "crlf" else b"\n"
            )
        else:
            assert octets == message.as_bytes()
    reference.close()
    for missing in (
        "mid:m9@example.test",
        "mid:M1@example.test",
        "mid:m1@example.tes",
        "mid:tmp@example.test",
        "mid:note@example.test",
    ):
        with pytest.raises(ResourceMissing, match="none of the local messages") as caught:
            open(missing, policy(store))
        assert "RFC 2392" in str(caught.value)


@pytest.mark.parametrize("kind", STORES)
def test_a_body_part(kind: str, tmp_path: Path, letters: list[EmailMessage]) -> None:
    store = STORES[kind](tmp_path / "store", letters)
    for uri in ("mid:m2@example.test/logo@example.test", "cid:logo@example.test"):
        with open(uri, policy(store)) as resource:
            assert (resource.media_type, resource.how) == ("image/png", "message")
            assert resource.details["content_id"] == "logo@example.test"
            assert resource.details["message_id"] == "m2@example.test"
            assert resource.read() == bytes(range(256)) * 50
    assert open("cid:other@example.test", policy(store)).read() == b"o"
    with pytest.raises(ResourceMissing, match="has no such body part"):
        open("mid:m1@example.test/logo@example.test", policy(store))
    with pytest.raises(ResourceMissing, match="none of the local messages"):
        open("mid:m9@example.test/logo@example.test", policy(store))
    with pytest.raises(ResourceMissing, match="no"):
        open("cid:nobody@example.test", policy(store))


def test_the_first_of_several_parts_is_opened(tmp_path: Path) -> None:
    """RFC 2392 2 promises only one; otherwise the details say which was opened."""
    first = as_mbox(tmp_path / "a", [letter(7), letter(1, "one\n"), letter(1, "two\n")])
    second = as_folder(tmp_path / "b", [letter(1, "three\n")])
    resource = open("mid:m1@example.test", policy(first, second))
    assert resource.read().endswith(b"\n\none\n")
    assert resource.details == {"path": str(first), "number": 2, "message_id": "m1@example.test"}
    resource = open("mid:m1@example.test", policy(second, first))
    assert resource.read().endswith(b"\n\nthree\n")
    assert resource.details == {"path": str(second / "0.eml"), "message_id": "m1@example.test"}


def test_text_has_its_charset(tmp_path: Path) -> None:
    message = letter(1)
    message.set_content("caf\u00e9 \u2014 ==", charset="utf-8", cte="quoted-printable", cid="<t@x>")
    (tmp_path / "a.eml").write_bytes(message.as_bytes())
    with open("cid:t@x", policy(tmp_path)) as resource:
        assert resource.media_type == 'text/plain; charset="utf-8"'
        assert resource.text() == "caf\u00e9 \u2014 ==\n"


def test_escaped_identifiers(tmp_path: Path) -> None:
    """RFC 2392 2: "foo4%foo1", a slash, and invalid UTF-8."""
    for number, identifier in enumerate((b"foo4%foo1@bar.net", b"a/b?c#d@x", b"\xff@x", "\u00e9@x".encode())):
        path = tmp_path / f"{number}.eml"
        path.write_bytes(
            b"message-id:\r\n <%s>\r\nContent-Id: (c) <%s> \r\n\r\nbody %d" % (identifier, identifier, number)
        )
        text = identifier.decode("utf-8", "surrogateescape")
        uris = (MidLocator(message_id=text), CidLocator(content_id=text), MidLocator(message_id=text, content_id=text))
        for locator in uris:
            octets = open(locator, policy(tmp_path)).read()
            assert octets.endswith(b"body %d" % number)
            assert (octets == b"body %d" % number) == (locator is not uris[0])


def test_files_outside_the_policy_are_not_read(tmp_path: Path) -> None:
    as_folder(tmp_path / "s", [letter(1)])
    with pytest.raises(AccessRefused):
        open("mid:m1@example.test", Policy(messages=(tmp_path / "s",)))
    with pytest.raises(AccessRefused):
        open("cid:m1@example.test", Policy(messages=(tmp_path / "s",)))
    for uri in ("mid:a@b", "cid:a@b", "mid:a@b/c@d"):
        with pytest.raises(NotSpecified, match="messages="):
            open(uri, Policy.local())
    with pytest.raises(ResourceMissing, match="no such file") as caught:
        open("mid:a@b", policy(tmp_path / "not-there"))
    assert "not-there" in str(caught.value)


def test_searched_bytes_do_not_count_for_the_limit(tmp_path: Path) -> None:
    """`Policy.max_bytes` limits the result."""
    box = as_mbox(tmp_path / "box", [letter(1, "x\n" * 50_000), letter(2, "y\n")])
    assert open("mid:m2@example.test", policy(box, max_bytes=1000)).read().endswith(b"\n\ny\n")
    with pytest.raises(LimitExceeded):
        open("mid:m1@example.test", policy(box, max_bytes=1000)).read()


def test_in_an_event_loop(tmp_path: Path, letters: list[EmailMessage]) -> None:
    """Other tasks run while an mbox is searched."""
    box = as_mbox(tmp_path / "box", [letter(n + 10, "x" * 60 + "\n" * 60_000) for n in range(30)] + letters)
    ticks = 0

    async def main() -> None:
        nonlocal ticks

        async def tick() -> None:
            nonlocal ticks
            while True:
                await anyio.sleep(0)
                ticks += 1

        async with anyio.create_task_group() as group:
            group.start_soon(tick)
            async with await aopen("cid:logo@example.test", policy(box)) as resource:
                assert await resource.read() == bytes(range(256)) * 50
            async with await aopen("mid:m4@example.test", policy(box)) as resource:
                assert b"letter 4" in await resource.read()
            with pytest.raises(ResourceMissing):
                await aopen("mid:m9@example.test", policy(box))
            group.cancel_scope.cancel()

    anyio.run(main)
    assert ticks > 20


# -- delivered by a real server


def test_a_delivered_message(tmp_path: Path) -> None:
    """By SMTP to a Maildir, then opened by its Message-ID, and its parts by Content-ID."""
    with mail_server(tmp_path) as server:
        sent = letter(5, ".\n..\nto me\n", logo=b"\x89PNG\r\n\x1a\n" * 999)
        with smtplib.SMTP("127.0.0.1", server.port, timeout=NET) as smtp:
            smtp.send_message(letter(1), "a@example.test", "b@example.test")
            smtp.send_message(sent, "a@example.test", "b@example.test")
        assert len(list((server.maildir / "new").iterdir())) == 2
        with open("mid:m5@example.test", policy(server.maildir)) as resource:
            message = email.message_from_bytes(resource.read(), policy=email.policy.default)
            assert isinstance(message, EmailMessage)
            assert message["subject"] == "letter 5"
            body = message.get_body(("plain",))
            assert body is not None
            assert body.get_content().replace("\r\n", "\n") == ".\n..\nto me\n"
        for uri in ("mid:m5@example.test/logo@example.test", "cid:logo@example.test"):
            with open(uri, policy(server.maildir)) as resource:
                assert resource.media_type == "image/png"
                assert resource.read() == b"\x89PNG\r\n\x1a\n" * 999

        async def main() -> None:
            async with await aopen("mid:m5@example.test/logo@example.test", policy(server.maildir)) as resource:
                assert await resource.read() == b"\x89PNG\r\n\x1a\n" * 999

        anyio.run(main)


# -- the parser, without files


class Run:
    """A dialogue with given bytes, in pieces of this size."""

    def __init__(self, uri: Any, octets: bytes | Iterator[bytes], size: int = 1 << 18) -> None:
        self.head: Head | None = None
        self.octets = b""
        self.reads = 0
        pieces = (
            octets
            if not isinstance(octets, bytes)
            else iter([octets[at : at + size] for at in range(0, len(octets), size)])
        )
        talk = dialogue(plan(uri), Policy(messages=("x",)))
        reply: Any = None
        while True:
            try:
                effect = talk.send(reply)
            except StopIteration:
                return
            reply = None
            match effect:
                case OpenLocal():
                    reply = LocalFile(1, None)
                case Read(counted=counted):
                    assert not counted
                    self.reads += 1
                    reply = next(pieces, b"")
                case Head():
                    assert self.head is None
                    self.head = effect
                case Data(piece):
                    assert self.head is not None
                    self.octets += piece
                case Hangup():
                    pass
                case _:
                    raise AssertionError(effect)


def nested(rng: random.Random, depth: int, messages: list[EmailMessage]) -> EmailMessage:
    """A message with nested parts, each leaf with a Content-ID."""
    message = EmailMessage()
    kind = rng.choice(["leaf", "mixed", "alternative", "digest", "message"]) if depth else "leaf"
    if kind == "leaf":
        text = "".join(
            rng.choice(["a", "=", "--b", "\n", "\n--", "From ", "\nFrom ", "\u00e9", " "])
            for _ in range(rng.randint(0, 60))
        )
        if rng.random() < 0.5:
            message.set_content(text, cte=rng.choice(["quoted-printable", "base64", "8bit"]), charset="utf-8")
        else:
            message.set_content(text.encode() + bytes(rng.randbytes(20)), "application", "octet-stream")
    elif kind == "message":
        inner = nested(rng, depth - 1, messages)
        inner["Subject"] = "inner"
        message.set_content(inner)
    else:
        message["Content-Type"] = f'multipart/{kind}; x="y;z"; boundary="b{len(messages)}-{rng.random()}"'
        message.set_payload([])
        for _ in range(rng.randint(1, 4)):
            message.attach(nested(rng, depth - 1, messages))
        if rng.random() < 0.3:
            message.preamble, message.epilogue = "--\npreamble\n--x", "epilogue\n"
    message["Content-ID"] = f"<p{len(messages)}@x>"
    messages.append(message)
    return message


def test_nested_parts() -> None:
    """Every leaf equals that of `email`; in pieces of any size, with both kinds of line ends."""
    rng = random.Random(2)
    leaves = 0
    for _ in range(25):
        messages: list[EmailMessage] = []
        complete = nested(rng, 3, messages)
        complete["Message-ID"] = "<m@x>"
        octets = complete.as_bytes()
        if rng.random() < 0.5:
            octets = octets.replace(b"\r\n", b"\n").replace(b"\n", b"\r\n")
        expected = {str(part["content-id"]).strip("<>"): part for part in email.message_from_bytes(octets).walk()}
        for number, _part in enumerate(messages):
            part = expected[f"p{number}@x"]
            if part.is_multipart():
                continue
            leaves += 1
            for size in (1, 7, 1 << 18):
                run = Run(f"mid:m@x/p{number}@x", octets, size)
                payload = part.get_payload(decode=True)
                assert isinstance(payload, bytes)
                assert run.octets == payload, (size, octets)
                assert run.head is not None
                assert (run.head.media_type or "").split(";")[0] == part.get_content_type()
    assert leaves > 100


def test_a_multipart_is_returned_unchanged() -> None:
    octets = b"""Content-Type: multipart/mixed; boundary=o
Message-ID: <m@x>

--o
Content-Type: multipart/related; boundary=i
Content-ID: <r@x>

--i
Content-ID: <leaf@x>

--\x20
signature
--i--
--o--
"""
    assert Run("cid:r@x", octets).octets == b"--i\nContent-ID: <leaf@x>\n\n-- \nsignature\n--i--"
    run = Run("cid:leaf@x", octets)
    assert run.octets == b"-- \nsignature"
    assert run.head is not None
    assert run.head.media_type == "text/plain; charset=us-ascii"
    assert Run("mid:m@x", octets).octets == octets


@pytest.mark.parametrize("size", [1, 2, 5, 1 << 18])
def test_an_mbox_is_split_at_from_lines(size: int) -> None:
    """Only after an empty line (RFC 4155)."""
    octets = (
        b"From a@b Mon\nMessage-ID: <1@x>\n\nthe body\nFrom x\n\n>From y\n\n"
        b"From a@b Mon\nMessage-ID: <2@x>\n\n\n"
        b"From a@b Mon\r\nMessage-ID: <3@x>\r\n\r\nbody\r\n\r\n"
        b"From a@b Mon\nMessage-ID: <4@x>\n\nno line end"
    )
    assert Run("mid:1@x", octets, size).octets == b"Message-ID: <1@x>\n\nthe body\nFrom x\n\n>From y\n"
    assert Run("mid:2@x", octets, size).octets == b"Message-ID: <2@x>\n\n"
    assert Run("mid:3@x", octets, size).octets == b"Message-ID: <3@x>\r\n\r\nbody\r\n"
    assert Run("mid:4@x", octets, size).octets == b"Message-ID: <4@x>\n\nno line end"
    assert Run("mid:4@x", octets, size).head == Head(
        "message/rfc822", "message", details={"path": "x", "number": 4, "message_id": "4@x"}
    )


def test_memory_does_not_grow_with_the_store() -> None:
    """35 MB of mbox, lines of every length, in limited memory and linear time."""

    def store() -> Iterator[bytes]:
        yield b"From a\nMessage-ID: <1@x>\n\n"
        piece = (b"x" * 70 + b"\n") * 3000
        for _ in range(75):
            yield piece
        for _ in range(75):
            yield b"y" * (1 << 18)
        for _ in range(5):
            yield b"\n--\n--x\nFrom \n" * 10_000
        yield b"\n\nFrom a\nMessage-ID: <2@x>\nContent-ID: <c@x>\n\nfound\n"

    tracemalloc.start()
    try:
        with processor(15):
            assert Run("cid:c@x", store()).octets == b"found\n"
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert most < 8 << 20


def search_without_result(octets: bytes) -> None:
    for uri in ("cid:c@x", "mid:m@x", "mid:m@x/c@x"):
        with pytest.raises(ResourceMissing):
            Run(uri, octets)


@pytest.mark.parametrize(
    "octets",
    [b"", b"\n", b"From ", b"From x\n", b"\xff\xfe\0\0", b"Content-Type: multipart/mixed; boundary=\n\n--\n--\n--\n"],
)
def test_invalid_messages(octets: bytes) -> None:
    search_without_result(octets)


@pytest.mark.parametrize(
    ("make", "most"),
    [
        (lambda n: b"Message-ID: " + b"<" * n, 2_000_000),
        (lambda n: b"A: b\n" * n, 500_000),
        (lambda n: b"Content-Type: multipart/mixed; boundary=" + b"x" * n + b"\n\n--x\n", 500_000),
        (lambda n: b"Content-Type: multipart/mixed;" + b' boundary="' * n + b"\n\n--x\n", 100_000),
        (lambda n: b"Content-Type: multipart/mixed; boundary=x\n\n" + b"--x\n" * n, 300_000),
        (lambda n: b"Content-Type: message/rfc822\n\n" * n, 100_000),
        (
            lambda n: b"".join(b"Content-Type: multipart/mixed; boundary=b%d\n\n--b%d\n" % (i, i) for i in range(n)),
            20_000,
        ),
        (lambda n: b"Content-Type: multipart/digest; boundary=b\n\n--b\n" * n, 50_000),
        (lambda n: b"From x\n\n" * n, 100_000),
    ],
)
def test_hostile_messages_are_linear(make: Callable[[int], bytes], most: int) -> None:
    linear(lambda size: search_without_result(make(size)), most)


def test_unknown_encodings() -> None:
    head = b"Content-ID: <c@x>\nContent-Transfer-Encoding: "
    with pytest.raises(ProtocolError, match="base64"):
        Run("cid:c@x", head + b"base64\n\nQ\n")
    assert Run("cid:c@x", head + b"BASE64\n\nQU JD-\nRA\n").octets == b"ABCD"
    assert Run("cid:c@x", head + b"base64\n\n\n").octets == b""
    with pytest.raises(ProtocolError, match="behind its end"):
        Run("cid:c@x", head + b"base64\n\nQUI=\nQUJD\n")
    assert Run("cid:c@x", head + b"x-nobody\n\n=41").octets == b"=41"
    assert Run("cid:c@x", head + b"quoted-printable\n\n=41=\n=4", 1).octets == b"A=4"
    big = base64.encodebytes(bytes(range(256)) * 4000)
    for size in (77, 1000, 1 << 18):
        assert Run("cid:c@x", head + b"base64\n\n" + big, size).octets == bytes(range(256)) * 4000
    assert Run("cid:c@x", head + b"quoted-printable\n\n" + b"=41x" * 60_000).octets == b"Ax" * 60_000


def test_mutated_messages_end_as_documented() -> None:
    rng = random.Random(4)
    complete = letter(2, "body\n", logo=b"logo" * 100, other=b"o").as_bytes()
    complete = b"From x\n" + complete + b"\nFrom y\n" + letter(3).as_bytes()
    for _ in range(400):
        broken = bytearray(complete)
        for _ in range(rng.randint(1, 5)):
            at = rng.randrange(len(broken))
            broken[at : at + rng.randint(0, 20)] = rng.choice(
                [b"", b"\n", b"\r\n\r\n", b"--", b"\nFrom ", b"\0\xff", b"="]
            )
        for uri in ("cid:other@example.test", "mid:m3@example.test", "mid:m2@example.test/logo@example.test"):
            try:
                run = Run(uri, bytes(broken), rng.choice([3, 100, 1 << 18]))
            except AccessError:
                continue
            assert run.head is not None


def test_a_message_that_disappears_is_skipped() -> None:
    """A mail reader moves files of a Maildir while it is searched."""
    opened: list[OpenLocal] = []
    talk = dialogue(plan("mid:1@x"), Policy(messages=("box",)))
    reply: Any = None
    contents = iter([b"Message-ID: <1@x>\n\nhere\n", b""])
    content = b""
    try:
        while True:
            effect = talk.send(reply)
            reply = None
            if isinstance(effect, OpenLocal):
                opened.append(effect)
                inside = {"box": ("cur/", "new/", "tmp/"), "box/new": ("a", "b"), "box/cur": ("c:2,S",)}
                names = inside.get(effect.path.replace(os.sep, "/"))
                reply = LocalFile(None, names) if names else LocalFile(9, None) if effect.path.endswith("S") else None
            elif isinstance(effect, Read):
                reply = next(contents)
            elif isinstance(effect, Data):
                content += effect.octets
    except StopIteration:
        pass
    assert content == b"Message-ID: <1@x>\n\nhere\n"
    assert [effect.optional for effect in opened] == [False] + [True] * 5


def test_a_plan_of_mid_names_message_and_part() -> None:
    assert [step.line() for step in plan(URI("mid:a@b/c@d"))] == ["message a@b", "body part c@d"]
