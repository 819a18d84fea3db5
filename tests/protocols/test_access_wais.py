"""wais with recorded answers of freeWAIS-sf 2.2; documents in slices; servers that lie."""

from __future__ import annotations

import itertools
import re
import socket
import time
import tracemalloc
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any

import anyio
import pytest

from overthere import URI, aopen, plan
from overthere import open as open_uri
from overthere.access.errors import (
    AccessError,
    AccessFailed,
    AccessRefused,
    AccessTimeout,
    LimitExceeded,
    ProtocolError,
    ResourceMissing,
)
from overthere.access.policy import Policy
from overthere.access.resource import Resource
from overthere.access.wire import Data, Dial, Entry, Hangup, Head, Item, Read, Write
from overthere.protocols.wais import message as waisprotocol
from overthere.protocols.wais.dialogue import dialogue
from overthere.protocols.wais.message import HEADER_LENGTH, Citation, message, read_apdu
from overthere.protocols.wais.steps import SLICE, document, slice_request
from overthere.schemes.known.wais import WAISLocator
from overthere.schemes.known.wais.identifier import tag_field, to_fields
from servers.replay import Exchange, Served, recorded, replay, serve
from support import linear

LOCAL = Policy.local().with_(read_timeout=60)
ROWS = recorded("wais/freewais-sf-2.2.jsonl")


def conversation(number: int) -> list[Exchange]:
    """The requests and answers of a recorded connection, in order."""
    octets = [row["b64"] for row in ROWS if row["conn"] == number]
    return [Exchange(request, (answer,)) for request, answer in zip(octets[::2], octets[1::2], strict=True)]


INIT, SHEEP, TEXT_B = conversation(1)
NO_RESULTS = conversation(2)[1]
NO_DATABASE = conversation(3)[1]
GOPHER, TEXT_A = conversation(4)[1:]
BODY_B = b"Sheep farming in Wales\n\nSheep are kept on the hills. They eat grass.\n.dot line\n"
BODY_A = b"Gopher and the World Wide Web\n\nThis document describes gopher servers and uniform resource locators.\n"


def length(octets: bytes) -> int | None:
    """The length of the request at the beginning."""
    return HEADER_LENGTH + waisprotocol.message_length(octets[:HEADER_LENGTH]) if len(octets) >= HEADER_LENGTH else None


def meaning(request: bytes) -> dict[str, Any]:
    """The meaning of a request without what a client may choose: its name and sizes (Init), the name of the result set
    and the reference id, which at most come back; the NUL after an attribute list."""
    apdu = read_apdu(request[HEADER_LENGTH:])
    free = (2, 17) if apdu.kind == waisprotocol.SEARCH else (5, 6, 7, 8, 9, 10)
    fields: dict[str, Any] = {"kind": apdu.kind, "fixed": apdu.fixed}
    fields["fields"] = [field for field in apdu.fields if field[0] not in free]
    query = to_fields(apdu.rest)
    if query and query[0].number == 21:
        terms = to_fields(query[0].data)
        names = [term.data.rstrip(b"\0") for term in terms if term.number == 44]
        fields["terms"] = dict(zip(names, [term.data for term in terms if term.number == 45], strict=True))
        fields["operators"] = [term.data for term in terms if term.number == 46]
    else:
        fields["query"] = query
    return fields


END = b"wb rl ig ig ig ig"


def same(request: bytes, expected: bytes) -> str:
    """The end of a slice may be after the recorded one: that client knew the size from the search."""
    ours, theirs = meaning(request), meaning(expected)
    if "terms" in ours and "terms" in theirs and int(ours["terms"][END]) >= int(theirs["terms"][END]):
        theirs["terms"][END] = ours["terms"][END]
    return "" if ours == theirs else f"asked {ours} where {theirs} was recorded"


def open_both(uri: str, policy: Policy = LOCAL) -> tuple[list[Entry], bytes, Resource]:
    """Open with blocking sockets and in an event loop; both must give the same result."""
    with open_uri(uri, policy) as resource:
        entries = list(resource.entries()) if resource.is_listing else []
        content = resource.read()

    async def open_async() -> tuple[list[Entry], bytes, Head]:
        async with await aopen(uri, policy) as other:
            return [one async for one in other.entries()] if other.is_listing else [], await other.read(), other.head

    assert anyio.run(open_async) == (entries, content, resource.head)
    return entries, content, resource


def fail_both(uri: str, policy: Policy = LOCAL) -> AccessError:
    """The error of opening and reading, which must be the same both ways."""
    errors: list[AccessError] = []
    with pytest.raises(AccessError) as caught, open_uri(uri, policy) as resource:
        resource.read()
    errors.append(caught.value)

    async def open_async() -> None:
        async with await aopen(uri, policy) as other:
            await other.read()

    with pytest.raises(AccessError) as caught:
        anyio.run(open_async)
    errors.append(caught.value)
    assert type(errors[0]) is type(errors[1])
    assert str(errors[0]) == str(errors[1])
    return errors[0]


# -- recorded answers of freeWAIS-sf


@pytest.mark.parametrize("piece", [1 << 16, 1])
def test_a_search_lists_documents_that_can_be_opened(piece: int) -> None:
    with replay([INIT, SHEEP], length=length, same=same, piece=piece) as served:
        ((entry,), content, head) = open_both(f"wais://127.0.0.1:{served.port}/docs?sheep")
    assert content == b""
    assert head.is_listing
    assert head.details["implementation"] == ("LS6", "University of Dortmund Informatik VI", "2.2.8 string")
    assert head.details["message_size"] == 100_000
    assert entry.name == "b.txt   /srv/example-archive/wais/docs/"
    assert entry.kind == "TEXT"
    place = "/srv/example-archive/wais/db/docs"
    assert entry.details == {"types": ("TEXT",), "score": 321, "lines": 4, "size": 79, "source": place}
    # The search is sent as recorded, byte by byte.
    assert served.requests[1] == served.requests[3] == SHEEP.request
    assert served.connections == 2
    assert entry.uri is not None
    with replay([INIT, TEXT_B], length=length, same=same, piece=piece) as other:
        _, content, head = open_both(entry.uri.replace(f":{served.port}/", f":{other.port}/"))
    assert content == BODY_B
    assert (head.media_type, head.how, head.length) == ("text/plain", "scheme", len(BODY_B))
    assert meaning(other.requests[1])["terms"][END] == b"%d" % SLICE


def test_a_document_shorter_than_its_slice_comes_with_a_diagnostic() -> None:
    with replay([INIT, GOPHER], [INIT, TEXT_A], length=length, same=same) as served:
        policy = LOCAL.with_(max_bytes=2000)
        with open_uri(f"wais://127.0.0.1:{served.port}/docs?gopher", policy) as resource:
            (entry,) = resource.entries()
        assert entry.uri is not None
        with open_uri(entry.uri, policy) as resource:
            assert resource.text() == BODY_A.decode()
        # The recorded request, byte by byte in its meaning.
        assert meaning(served.requests[3]) == meaning(TEXT_A.request)
        assert resource.length == 101


def test_a_search_without_results_lists_the_servers_message() -> None:
    with replay([INIT, NO_RESULTS], length=length, same=same) as served:
        ((entry,), _, _) = open_both(f"wais://127.0.0.1:{served.port}/docs?nomatchword")
    assert entry.name == "Search produced no result. Here's the Catalog for database: docs"
    assert URI(entry.uri or "").locator.fields[1].data == b"0 0 /srv/example-archive/wais/db/docs.cat"  # type: ignore[attr-defined]


def test_a_missing_database_is_reported_in_the_servers_words() -> None:
    with replay([INIT, NO_DATABASE], length=length, same=same) as served:
        error = fail_both(f"wais://127.0.0.1:{served.port}/nosuchdb?sheep")
    assert isinstance(error, ResourceMissing)
    assert error.code == "S1"
    assert error.message == "The following database is not available: /srv/example-archive/wais/db/nosuchdb"
    assert error.where == "the citations of the documents found"


def test_a_database_without_words_is_greeted() -> None:
    with replay([INIT], length=length, same=same) as served:
        entries, content, head = open_both(f"wais://127.0.0.1:{served.port}/docs")
    assert (entries, content, head.is_listing, head.media_type) == ([], b"", False, None)
    assert head.details["implementation"][0] == "LS6"
    assert len(served.requests) == 2


def test_the_replay_reports_an_unrecorded_request() -> None:
    """It can fail: other words, and a longer request."""
    for exchanges, words, problem in (([INIT, SHEEP], "sheepish", "was recorded"), ([INIT], "sheep", "more than was")):
        with pytest.raises(AssertionError, match=problem):  # noqa: SIM117
            with replay(exchanges, length=length, same=same) as served:
                assert isinstance(fails_somehow(f"wais://127.0.0.1:{served.port}/docs?{words}"), AccessFailed)


def test_the_policy_is_checked_first() -> None:
    with pytest.raises(AccessRefused) as caught:
        open_uri("wais://127.0.0.1/docs?sheep")
    assert caught.value.rule == "address"


# -- documents in slices, of a server that answers like the recorded one


def answer(*records: bytes, count: int | None = None) -> bytes:
    """A Search response around records, like TEXT_B."""
    head = bytes.fromhex("1700000000") + (len(records) if count is None else count).to_bytes(3, "big")
    head += bytes.fromhex("0000001b0100")
    return message(len(head).to_bytes(2, "big") + head + tag_field(99, b"".join(records)))


def text(data: bytes, docid: bytes = b"x") -> bytes:
    return tag_field(153, tag_field(116, docid) + tag_field(117, b"\0") + tag_field(127, data))


def diagnostic(code: bytes, words: bytes, surrogate: bool = True) -> bytes:
    data = code + words + bytes([surrogate])
    return b"\x1c" + len(data).to_bytes(2, "big") + data + b"\x1d"


OUT_OF_RANGE = diagnostic(b"SF", b"Request out of range")


def slices(octets: bytes) -> Callable[[int, int], bytes]:
    """As freeWAIS: a slice after the end is out of range, one with the end has the same message."""

    def asked(start: int, end: int) -> bytes:
        if start >= len(octets):
            return answer(OUT_OF_RANGE)
        return answer(text(octets[start:end]), *([OUT_OF_RANGE] if end > len(octets) else []))

    return asked


def documents(send: Callable[[int, int], bytes]) -> Any:
    """A server that greets as recorded, and answers each request for bytes of a document by `send`."""

    def handler(client: socket.socket, served: Served) -> None:
        buffer = bytearray()
        while data := client.recv(1 << 16):
            buffer += data
            while (count := length(bytes(buffer))) is not None and len(buffer) >= count:
                request = bytes(buffer[:count])
                del buffer[:count]
                served.requests.append(request)
                terms = meaning(request).get("terms")
                client.sendall(
                    INIT.answers[0] if terms is None else send(int(terms[b"wb ro ig ig ig ig"]), int(terms[END]))
                )

    return serve(handler)


@pytest.mark.parametrize("size", [0, 1, SLICE - 1, SLICE, SLICE + 1, 2 * SLICE, 2 * SLICE + 5000, 50 * SLICE])
def test_slices_are_requested_until_the_end(size: int) -> None:
    body = bytes(i * 7 % 251 for i in range(size))
    with documents(slices(body) if size else lambda start, end: answer(text(b""))) as served:
        _, content, head = open_both(f"wais://127.0.0.1:{served.port}/docs/GIF/x")
    assert content == body
    assert head.length == (size if size < SLICE else None)
    assert head.media_type == "image/gif"
    starts = [meaning(one)["terms"][b"wb ro ig ig ig ig"] for one in served.requests if "terms" in meaning(one)]
    assert starts == [b"%d" % start for start in range(0, size + 1, SLICE)] * 2
    terms = meaning(served.requests[-1])["terms"]
    assert terms[b"un re ig ig ig ig"] == b"x"
    assert terms[b"wt re ig ig ig ig"] == b"GIF"


def test_a_full_slice_with_a_message_about_the_end_is_the_last() -> None:
    with documents(lambda start, end: answer(text(bytes(SLICE)), OUT_OF_RANGE)) as served:
        _, content, _ = open_both(f"wais://127.0.0.1:{served.port}/docs/TEXT/x")
    assert len(content) == SLICE
    assert len(served.requests) == 4


def test_a_document_is_streamed_and_limits_apply() -> None:
    with documents(lambda start, end: answer(text(bytes(SLICE)))) as served:
        uri = f"wais://127.0.0.1:{served.port}/docs/TEXT/endless"
        with open_uri(uri, LOCAL) as resource:
            assert [len(piece) for piece in itertools.islice(resource, 20)] == [SLICE] * 20
            tracemalloc.start()
            assert sum(len(piece) for piece in itertools.islice(resource, 300)) == 300 * SLICE
            _, most = tracemalloc.get_traced_memory()
            tracemalloc.stop()
            assert most < 1 << 20
        assert isinstance(fail_both(uri, LOCAL.with_(max_bytes=200_000)), LimitExceeded)


def test_a_document_that_the_server_does_not_send() -> None:
    for code, words in ((b"SF", b"Bad DocID in request"), (b"SH", b"not authorized")):
        with documents(lambda start, end, code=code, words=words: answer(diagnostic(code, words))) as served:  # type: ignore[misc]
            error = fail_both(f"wais://127.0.0.1:{served.port}/docs/TEXT/x")
        assert isinstance(error, ResourceMissing)
        assert (error.code, error.message) == (code.decode(), words.decode())

    def late(start: int, end: int) -> bytes:
        return answer(diagnostic(b"SG", b"the disk broke")) if start else answer(text(bytes(SLICE)))

    with documents(late) as served:
        error = fail_both(f"wais://127.0.0.1:{served.port}/docs/TEXT/x")
    assert isinstance(error, ResourceMissing)
    assert error.where == "the octets of the document from 10,000 on"


@pytest.mark.parametrize("size", [1, SLICE])
def test_a_cut_document_is_not_taken_for_a_complete_one(size: int) -> None:
    broken = diagnostic(b"SG", b"the disk broke")
    for records in ((text(bytes(size)), broken), (text(bytes(size)), OUT_OF_RANGE, broken)):
        with documents(lambda start, end, records=records: answer(*records)) as served:  # type: ignore[misc]
            error = fail_both(f"wais://127.0.0.1:{served.port}/docs/TEXT/x")
        assert isinstance(error, ResourceMissing)
        assert error.message == "the disk broke"


def test_an_answer_without_a_document_is_not_an_empty_document() -> None:
    for octets in (answer(), SHEEP.answers[0]):
        with documents(lambda start, end, octets=octets: octets) as served:  # type: ignore[misc]
            error = fail_both(f"wais://127.0.0.1:{served.port}/docs/TEXT/x")
        assert isinstance(error, ProtocolError)
        assert error.message == "neither text nor a diagnostic"


@pytest.mark.parametrize(
    ("wtype", "media_type"),
    [
        ("TEXT", "text/plain"),
        ("HTML", "text/html"),
        ("html", "text/html"),
        ("PS", "application/postscript"),
        ("JPEG", "image/jpeg"),
        ("NO-SUCH", None),
        ("", None),
    ],
)
def test_the_type_determines_the_media_type(wtype: str, media_type: str | None) -> None:
    with documents(slices(b"x")) as served:
        _, _, head = open_both(f"wais://127.0.0.1:{served.port}/docs/{wtype}/x")
    assert (head.media_type, head.how) == (media_type, "scheme" if media_type else "")


# -- recorded bytes without a socket: servers that lie


def effects_of(uri: str, octets: bytes, policy: Policy = LOCAL, size: int = 1 << 20) -> list[Head | Data | Item]:
    """The effects of a dialogue with these bytes, in pieces of `size`. It never requests more than a message has."""
    work, effects, at, reply = dialogue(plan(uri), policy), [], 0, None
    with suppress(StopIteration):
        while True:
            match work.send(reply):
                case Read(asked, _, _):
                    assert asked <= 1 << 20
                    reply = octets[at : at + min(size, asked)]
                    at += len(reply)
                case Dial() | Write() | Hangup():
                    reply = None
                case other:
                    assert isinstance(other, Head | Data | Item)
                    effects.append(other)
                    reply = None
    return effects


SEARCH_URI, TEXT_URI = "wais://h/docs?sheep", "wais://h/docs/TEXT/x"
CASES = {
    "search": (SEARCH_URI, INIT.answers[0] + SHEEP.answers[0]),
    "nothing": (SEARCH_URI, INIT.answers[0] + NO_RESULTS.answers[0]),
    "document": (TEXT_URI, INIT.answers[0] + TEXT_A.answers[0]),
    "no database": (SEARCH_URI, INIT.answers[0] + NO_DATABASE.answers[0]),
}


@pytest.mark.parametrize("case", CASES)
def test_an_end_at_every_offset_is_an_error(case: str) -> None:
    uri, octets = CASES[case]
    for end in range(len(octets)):
        for size in (1 << 20, 7):
            with pytest.raises(AccessFailed) as caught:
                effects_of(uri, octets[:end], size=size)
            assert caught.value.where
    if case != "no database":
        assert effects_of(uri, octets) == effects_of(uri, octets, size=1)


@pytest.mark.parametrize("case", CASES)
def test_a_changed_byte_is_at_worst_an_access_error(case: str) -> None:
    uri, octets = CASES[case]
    for at in range(len(octets)):
        for other in (0x00, 0x7F, 0xFF, octets[at] ^ 0x81):
            with suppress(AccessError):
                effects_of(uri, octets[:at] + bytes([other]) + octets[at + 1 :])


def test_garbage_is_rejected() -> None:
    for garbage in (b"\0" * 100, b"HTTP/1.1 400 Bad Request\r\n\r\n" * 9, b"\xff" * 100, b"9" * 100):
        with pytest.raises(ProtocolError, match="not the header"):
            effects_of(SEARCH_URI, garbage)
        with pytest.raises(ProtocolError, match="not the header"):
            effects_of(SEARCH_URI, INIT.answers[0] + garbage)


@pytest.mark.parametrize("size", [(1 << 20) + 1, 9_999_999_999])
def test_a_length_is_checked_before_anything_is_read(size: int) -> None:
    header = b"%010dz2wais        0" % size
    for octets in (header, INIT.answers[0] + header):
        with pytest.raises(LimitExceeded, match="a message of"):
            effects_of(SEARCH_URI, octets + bytes(100))


def test_a_compressed_message_is_rejected() -> None:
    octets = INIT.answers[0]
    with pytest.raises(ProtocolError, match="compressed"):
        effects_of(SEARCH_URI, octets[:22] + b"u " + octets[24:])


def init(accepted: int = 1, *fields: tuple[int, bytes]) -> bytes:
    body = bytes([21, accepted]) + b"".join(tag_field(*field) for field in fields)
    return message(len(body).to_bytes(2, "big") + body)


def test_the_greeting_is_checked() -> None:
    with pytest.raises(ResourceMissing, match="declines"):
        effects_of(SEARCH_URI, init(0))
    with pytest.raises(ProtocolError, match="longest record has 512 octets"):
        effects_of(SEARCH_URI, init(1, (5, b"\x02\0"), (6, b"\x02\0")))
    with pytest.raises(ProtocolError, match="an integer of 9 octets"):
        effects_of(SEARCH_URI, init(1, (6, b"\1" * 9)))
    # Sizes that are missing or larger than ours have no effect: we limit messages ourselves.
    for greeting in (init(), init(1, (5, b"\xff" * 8), (6, b"\xff" * 8))):
        assert effects_of("wais://h/docs", greeting)
        with pytest.raises(LimitExceeded):
            effects_of(SEARCH_URI, greeting + b"%010dz2wais        0" % (1 << 21))
    # An answer to another request.
    with pytest.raises(ProtocolError, match="type 23 instead of 21"):
        effects_of(SEARCH_URI, SHEEP.answers[0])
    with pytest.raises(ProtocolError, match="type 21 instead of 23"):
        effects_of(SEARCH_URI, INIT.answers[0] * 2)


def test_unknown_tags_are_skipped() -> None:
    citation = tag_field(116, b"id") + tag_field(500, b"?" * 300) + tag_field(123, b" a headline ") + tag_field(60, b"")
    octets = INIT.answers[0] + answer(tag_field(77, b"new"), tag_field(150, citation), tag_field(2**31, b"x"))
    head, item = effects_of(SEARCH_URI, octets)
    assert isinstance(head, Head)
    assert isinstance(item, Item)
    assert (item.entry.name, item.entry.uri) == ("a headline", "wais://h/docs/TEXT/id")


def test_forged_lengths_within_a_message() -> None:
    for record in (
        tag_field(150, b"t\x8f\xff\xff\xff\x7fid"),
        tag_field(150, b"t\x09id"),
        b"\x1c\xff\xffSF",
        b"\x96\x81",
    ):
        with pytest.raises(ProtocolError):
            effects_of(SEARCH_URI, INIT.answers[0] + answer(record))
    with pytest.raises(ProtocolError, match="an element of 65,535 octets"):
        effects_of(SEARCH_URI, INIT.answers[0] + message(b"\xff\xff\x17"))
    # The APDU's own number of records is not trusted.
    assert len(effects_of(SEARCH_URI, INIT.answers[0] + answer(count=0xFFFFFF))) == 1
    with pytest.raises(ProtocolError, match=re.escape("10,001 octets instead of the requested 10,000")):
        effects_of(TEXT_URI, INIT.answers[0] + answer(text(bytes(SLICE + 1))))


def test_a_citation_that_cannot_be_opened_is_listed_without_a_uri() -> None:
    def cited(docid: bytes, wtype: bytes) -> bytes:
        return tag_field(150, tag_field(116, docid) + tag_field(123, b"h") + tag_field(132, tag_field(133, wtype)))

    records = [tag_field(150, tag_field(123, b"h")), cited(b"id", b"a\ttype"), cited(b"\xff/\xff", b"a/type")]
    _, *items = effects_of(SEARCH_URI, INIT.answers[0] + answer(*records))
    # The server sent neither a size nor a number of lines.
    assert [set(item.entry.details) for item in items if isinstance(item, Item)] == [{"types", "score"}] * 3
    assert [one.entry.uri for one in items if isinstance(one, Item)] == [None, None, "wais://h/docs/a%2Ftype/%FF%2F%FF"]


def test_many_small_records_are_linear() -> None:
    def records(count: int) -> None:
        response = answer(*[tag_field(150, tag_field(116, b"i"))] * count)
        assert len(effects_of(SEARCH_URI, INIT.answers[0] + response)) == count + 1

    linear(records, 5_000)
    linear(lambda count: effects_of(SEARCH_URI, INIT.answers[0] + answer(*[b"\x01\0"] * count)), 100_000)


def test_a_silent_or_closing_server() -> None:
    def silent(client: socket.socket, served: Served) -> None:
        client.recv(1 << 16)
        client.recv(1)

    with serve(silent) as served:
        assert isinstance(
            fail_both(f"wais://127.0.0.1:{served.port}/d?x", LOCAL.with_(read_timeout=0.2)), AccessTimeout
        )
    with serve(lambda client, served: None) as served:
        assert isinstance(fails_somehow(f"wais://127.0.0.1:{served.port}/d?x"), AccessFailed)


def fails_somehow(uri: str) -> AccessError:
    with pytest.raises(AccessError) as caught:
        open_uri(uri, LOCAL)
    return caught.value


def test_a_slow_server_is_read_byte_by_byte() -> None:
    def slow(client: socket.socket, served: Served) -> None:
        client.recv(1 << 16)
        for octet in dripping(INIT.answers[0][:40]):
            client.sendall(octet)

    with serve(slow) as served:
        policy = LOCAL.with_(total_timeout=0.4)
        assert isinstance(fail_both(f"wais://127.0.0.1:{served.port}/d?x", policy), AccessTimeout)


def dripping(octets: bytes) -> Iterator[bytes]:
    for octet in octets:
        time.sleep(0.05)
        yield bytes([octet])


def test_the_type_of_a_citation_is_sent_unchanged() -> None:
    """WAIS 1.5 4.1: bytes, in an unknown charset."""
    locator = URI("wais://h/d%C3%A9?x").locator
    assert isinstance(locator, WAISLocator)
    uri = document(locator, Citation(b"\x01\x01a", 0, 0, 0, 0, ("T\xe9",), "", "", "", "", 0))
    assert str(uri.uri()) == "wais://h/d%C3%A9/T%E9/1=a;"
    assert b"T\xe9" in slice_request(uri, 0)
    assert b"d\xc3\xa9" in slice_request(uri, 0)
