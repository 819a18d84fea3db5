"""wais: tests that rows of a case file cannot express.

The octets of requests and answers are those that freeWAIS-sf 2.2 and its client waissearch exchanged (names of paths
and hosts changed, lengths kept).
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace

import pytest

from overthere import URI, PlanRefused, Unwritable, plan
from overthere.access import Connect, Send
from overthere.editions import edition
from overthere.protocols.wais import message as waisprotocol
from overthere.protocols.wais.message import NotWAIS, read_apdu, read_init_response, read_search_response
from overthere.protocols.wais.steps import SLICE, document, slice_request
from overthere.schemes.known.wais import WAISLocator
from overthere.schemes.known.wais.identifier import compress_integer, read_compressed, to_fields
from support import linear

HEADER = waisprotocol.HEADER_LENGTH
HEAD = b"%010dz2wais        0"

GREETING = b"waissearch freeWAIS-sf 2.2.8 string, from host: vm.unknown, user: root"
DORTMUND = b"University of Dortmund Informatik VI"
INIT = HEAD % 148 + (
    bytes.fromhex("009214" "030180" "040180" "05030186a0" "06030186a0")
    + b"\x07F" + GREETING + b"\x08\x03LS6\x09$" + DORTMUND + b"\x0a\x0c2.2.8 string"
)  # fmt: skip
INIT_RESPONSE = HEAD % 85 + (
    bytes.fromhex("004b15" "01" "030180" "040180" "05030186a0" "06030186a0")
    + b"\x08\x03LS6\x09$" + DORTMUND + b"\x0a\x0c2.2.8 string" + bytes.fromhex("6306" "640100" "650100")
)  # fmt: skip
SEARCH = HEAD % 39 + (
    bytes.fromhex("001616" "00001e" "001388" "00001e" "01" "1100" "1204") + b"docs"
    + bytes.fromhex("140133" "630d" "6a05") + b"sheep" + bytes.fromhex("6f0101" "720128")
)  # fmt: skip
PLACE = b"/srv/example-archive/wais/db/docs"
LOCAL = b"0 79 /srv/example-archive/wais/docs/b.txt"
DOCID = (
    b"\x01\x06vm:210\x02!"
    + PLACE
    + b"\x03)"
    + LOCAL
    + b"\x04\x06vm:210\x05!"
    + PLACE
    + b"\x06)"
    + LOCAL
    + b"\x07\x01\0"
)
SEARCH_RESPONSE = HEAD % 304 + (
    bytes.fromhex("000e17" "01" "000000" "000001" "000000" "1b0100" "63821d" "8116" "8219" "74812f") + DOCID
    + bytes.fromhex("76020141" "770100" "78014f" "81030104" "810407" "810504") + b"TEXT"
    + b"y!" + PLACE + b"z\x010{'b.txt   /srv/example-archive/wais/docs/"
)  # fmt: skip
RETRIEVAL = HEAD % 326 + (
    bytes.fromhex("002d16" "00000a" "000010" "00000f" "01") + b"\x11\x03FOO\x12\x04docs\x14\x011"
    + b"\x13\x0f \x1fDocument Text" + b"\x02\x013" + bytes.fromhex("158214") + b",\x11un re ig ig ig ig"
    + b"-\x81/" + DOCID + b",\x11wt re ig ig ig ig" + b"-\x04TEXT" + b".\x01a"
    + b",\x11wb ro ig ig ig ig" + b"-\x010" + b".\x01a" + b",\x11wb rl ig ig ig ig" + b"-\x0279" + b".\x01a"
)  # fmt: skip
SHEEP = b"Sheep farming in Wales\n\nSheep are kept on the hills. They eat grass.\n.dot line\n"
TEXT = HEAD % 288 + (
    bytes.fromhex("001117" "00" "000000" "000001" "000000" "1b0100" "020133" "63820a" "8119" "8206" "74812f") + DOCID
    + bytes.fromhex("750100" "7f4f") + SHEEP
)  # fmt: skip
NO_DATABASE = HEAD % 103 + (
    bytes.fromhex("000e17" "00" "000000" "000001" "000000" "1b0100" "6355" "1c0051") + b"S1"
    + b"The following database is not available: /srv/example-archive/wais/db/nosuchdb" + b"\x00\x1d"
)  # fmt: skip
EXCHANGED = [INIT, INIT_RESPONSE, SEARCH, SEARCH_RESPONSE, RETRIEVAL, TEXT, NO_DATABASE]

URI_1994 = (
    "wais://vm/docs/TEXT/1=vm:210;2=%2Fsrv%2Fexample-archive%2Fwais%2Fdb%2Fdocs;"
    "3=0%2079%20%2Fsrv%2Fexample-archive%2Fwais%2Fdocs%2Fb.txt;"
    "4=vm:210;5=%2Fsrv%2Fexample-archive%2Fwais%2Fdb%2Fdocs;"
    "6=0%2079%20%2Fsrv%2Fexample-archive%2Fwais%2Fdocs%2Fb.txt;7=%00;"
)


def located(text: str) -> WAISLocator:
    locator = URI(text).locator
    assert isinstance(locator, WAISLocator)
    return locator


def sent(text: str) -> list[bytes]:
    return [step.data for step in plan(text) if isinstance(step, Send)]


@pytest.mark.parametrize("message", EXCHANGED)
def test_the_header_has_the_length_of_the_message(message: bytes) -> None:
    assert waisprotocol.message_length(message[:HEADER]) == len(message) - HEADER


def test_the_requests_of_another_client_are_written_byte_by_byte() -> None:
    assert waisprotocol.init(authentication=GREETING, implementation=(b"LS6", DORTMUND, b"2.2.8 string")) == INIT
    assert waisprotocol.search(b"docs", b"sheep") == SEARCH
    assert waisprotocol.retrieval(b"docs", DOCID, b"TEXT", 0, 79, name=b"FOO", reference=b"3") == RETRIEVAL


def test_the_search_of_a_plan_is_the_recorded_one() -> None:
    init, search = sent("wais://vm/docs?sheep")
    assert search == SEARCH
    ours, theirs = read_apdu(init[HEADER:]), read_apdu(INIT[HEADER:])
    assert (ours.kind, ours.rest) == (theirs.kind, theirs.rest)
    # Protocol-Version, Options and the two sizes; the user is not sent.
    assert ours.fields == theirs.fields[:4]


def test_the_retrieval_of_a_plan_is_the_recorded_one_except_ids() -> None:
    _, request = sent(URI_1994)
    ours, theirs = read_apdu(request[HEADER:]), read_apdu(RETRIEVAL[HEADER:])
    assert (ours.kind, ours.fixed) == (theirs.kind, theirs.fixed)
    # The name of the result set, which no server keeps, and the reference id are free (WAIS 1.5 3.1, B.3).
    assert [field for field in theirs.fields if field[0] not in (17, 2)] == [one for one in ours.fields if one[0] != 17]
    (tag, query), (other, recorded) = to_fields(ours.rest)[0], to_fields(theirs.rest)[0]
    assert tag == other == 21
    ours_sent, yours = to_fields(query), to_fields(recorded)
    assert ours_sent[:-2] == yours[:-2]
    assert ours_sent[-1] == yours[-1]
    # The URI lacks the document's length; the client knew it from the search.
    assert (ours_sent[-2].data, yours[-2].data) == (b"%d" % SLICE, b"79")


def test_the_next_slice_uses_the_same_request() -> None:
    locator = located(URI_1994)
    first, second = slice_request(locator, 0), slice_request(locator, SLICE)
    assert first == sent(URI_1994)[1]
    assert second[HEADER:].endswith(b"-\x0510000.\x01a,\x11wb rl ig ig ig ig-\x0520000.\x01a")


def test_a_search_result_has_the_uri_that_retrieves_it() -> None:
    (citation,) = read_search_response(SEARCH_RESPONSE[HEADER:]).citations
    document_locator = document(located("wais://vm/docs?sheep#f"), citation)
    assert str(document_locator.uri()) == URI_1994
    assert document_locator.uri("url-1994") == "URL:" + URI_1994.replace(":210;", "%3A210;")
    assert document_locator.wpath == DOCID
    assert located(str(document_locator.uri("rfc1738"))) == document_locator


def test_the_fields_of_a_document_id_have_names() -> None:
    locator = located(URI_1994)
    assert [(field.number, field.name) for field in locator.fields] == [
        (1, "original server"),
        (2, "original database"),
        (3, "original local id"),
        (4, "distributor server"),
        (5, "distributor database"),
        (6, "distributor local id"),
        (7, "copyright disposition"),
    ]
    assert locator.fields[2].data == LOCAL
    assert locator.fields == located(str(locator.uri("rfc1738"))).fields
    assert located("wais://h/d/t/8=x;").fields[0].name == ""
    assert located("wais://h/d/t/opaque").fields == ()
    assert located("wais://h/d").fields == ()


def test_answers_are_parsed() -> None:
    init = read_init_response(INIT_RESPONSE[HEADER:])
    assert init.accepted
    assert (init.preferred_size, init.maximum_size) == (100_000, 100_000)
    assert init.implementation == ("LS6", DORTMUND.decode(), "2.2.8 string")
    response = read_search_response(SEARCH_RESPONSE[HEADER:])
    (citation,) = response.citations
    assert (response.search_status, response.records_returned, response.texts, response.diagnostics) == (1, 1, (), ())
    assert citation.document_id == DOCID
    assert (citation.score, citation.best_match, citation.length, citation.lines) == (321, 0, 79, 4)
    assert (citation.types, citation.source, citation.date) == (("TEXT",), PLACE.decode(), "0")
    assert citation.headline == "b.txt   /srv/example-archive/wais/docs/"
    text = read_search_response(TEXT[HEADER:])
    assert text.reference == b"3"
    assert [(item.document_id, item.data) for item in text.texts] == [(DOCID, SHEEP)]
    missing = read_search_response(NO_DATABASE[HEADER:])
    (reason,) = missing.diagnostics
    assert (missing.search_status, missing.citations, missing.texts) == (0, (), ())
    assert (reason.code, reason.surrogate) == ("S1", False)
    assert reason.text == "The following database is not available: /srv/example-archive/wais/db/nosuchdb"


@pytest.mark.parametrize("message", EXCHANGED)
def test_a_truncated_or_invalid_answer_is_rejected(message: bytes) -> None:
    apdu = message[HEADER:]
    for reader in (read_apdu, read_init_response, read_search_response):
        for length in range(len(apdu)):
            for octets in (apdu[:length], apdu[:length] + b"\xff" + apdu[length + 1 :]):
                with suppress(NotWAIS):
                    reader(octets)
    for header in (b"", message[:24], b"x" + message[1:HEADER], message[:22] + b"u 0"):
        with pytest.raises(NotWAIS):
            waisprotocol.message_length(header)


def test_compressed_integers_are_encoded_and_decoded() -> None:
    for number in (0, 1, 127, 128, 175, 285, 16_383, 16_384, 2**28 - 1, 2**32):
        octets = compress_integer(number)
        assert read_compressed(b"x" + octets + b"y", 1) == (number, 1 + len(octets))
    for octets in (b"", b"\x80", b"\xff" * 9):
        with pytest.raises(ValueError, match="no compressed integer"):
            read_compressed(octets, 0)


def test_a_document_id_may_contain_any_byte() -> None:
    data = bytes(range(256))
    for docid in (data, b"\x01" + compress_integer(256) + data):
        for as_fields in (False, True):
            locator = WAISLocator(host="h", database="d", wtype="t", wpath=docid, as_fields=as_fields)
            for name in ("rfc3986", "rfc1738"):
                assert edition(name).locator(str(locator.uri(name))) == locator
            assert waisprotocol.retrieval(b"d", docid, b"t", 0, SLICE) in sent(str(locator.uri()))
    assert str(locator.uri("url-1994")).count("%") > 100
    with pytest.raises(Unwritable):
        replace(locator, wpath=data).uri("url-1994")


def test_every_byte_in_every_part_is_preserved_or_rejected() -> None:
    for octet in range(256):
        for form in ("wais://h/d{}x?w", "wais://h/d?v{}w", "wais://h/d/t{}/x", "wais://h/d/t/x{}"):
            text = form.format(f"%{octet:02X}")
            locator = located(text)
            assert located(str(replace(locator, written=None).uri())) == locator
            try:
                last = sent(text)[-1]
            except PlanRefused:
                assert octet in b"\0\t\n\r\x1e\x1f"
                continue
            assert bytes([octet]) in last or "?v" in form
            assert waisprotocol.message_length(last[:HEADER]) == len(last) - HEADER
            read_apdu(last[HEADER:])


def test_a_document_id_with_other_integers_is_written_as_bytes() -> None:
    padded = b"\x80\x01\x80\x01a"
    locator = WAISLocator(host="h", database="d", wtype="t", wpath=padded, as_fields=True)
    assert [(field.number, field.data) for field in locator.fields] == [(1, b"a")]
    assert str(locator.uri()) == "wais://h/d/t/%80%01%80%01a"
    with pytest.raises(Unwritable, match="wpath"):
        locator.uri("url-1994")


def test_search_words() -> None:
    assert located("wais://h/d?a++b+%2B").words == ("a", "b", "+")
    assert located("wais://h/d").words == ()
    # Without words there is no search: the database is only greeted.
    assert len(sent("wais://h/d?")) == len(sent("wais://h/d?+")) == len(sent("wais://h/d")) == 1


def test_an_empty_type_is_omitted_from_the_query() -> None:
    assert b"wt re" not in sent("wais://h/d//x")[1]


def test_a_too_long_name_is_rejected() -> None:
    with pytest.raises(PlanRefused, match="too long"):
        plan("wais://h/" + "d" * 70_000 + "?q")


def test_older_editions_treat_invalid_escapes_as_data() -> None:
    for name in ("url-1994", "rfc1738"):
        locator = edition(name).locator("wais://h/d%zz/t%/x%4")
        assert isinstance(locator, WAISLocator)
        assert (locator.database, locator.wtype, locator.wpath) == ("d%zz", "t%", b"x%4")
        assert located(str(locator.uri("rfc3986"))) == replace(locator, written=None)


def test_huge_texts_are_linear() -> None:
    def use(text: str) -> None:
        locator = located(text)
        assert located(str(replace(locator, written=None).uri())) == locator
        assert isinstance(next(iter(plan(text).steps)), Connect)

    linear(lambda size: use("wais://h/d?" + "+" * size), 200_000)
    linear(lambda size: use("wais://h/d?" + "a+" * size), 100_000)
    linear(lambda size: use("wais://h/d/t/" + "1=;" * size), 60_000)
    linear(lambda size: use("wais://h/d/t/" + "1=" * size), 60_000)
    linear(lambda size: use("wais://h/d/t/" + "1" * size + "=;"), 200_000)
    linear(lambda size: use("wais://h/d/t/" + "%01%00" * size), 30_000)
    linear(lambda size: use("wais://h" + "/" * size), 200_000)
