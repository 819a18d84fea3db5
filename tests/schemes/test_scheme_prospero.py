"""prospero: packets as recorded with dirsrv 5.3, and its answers (one shortened)."""

from __future__ import annotations

from dataclasses import replace

import pytest

from overthere import URI, Credentials, PlanRefused, Unwritable, plan
from overthere.access import Connect, Send
from overthere.editions import edition
from overthere.protocols.prospero.message import NotProspero, Packet, packet, read_lines, read_packet, token
from overthere.schemes.known.prospero import ProsperoField, ProsperoLocator
from support import linear

PRINCIPAL = b"VERSION 5\nAUTHENTICATE '' UNAUTHENTICATED probe\n"
# Requests to the server, and its answers.
LIST = bytes.fromhex("0903e9000100010000") + PRINCIPAL + b"DIRECTORY ASCII /info-tree\nLIST '' COMPONENTS\n"
LINKS = bytes.fromhex("0303e9") + (
    b"LINK  L DIRECTORY pros INTERNET-D LOCALHOST ASCII AFTP'/pros' 0\n"
    b"LINK  L FILE hello.txt INTERNET-D LOCALHOST ASCII AFTP'/hello.txt' 0\n"
)
LIST_ONE = bytes.fromhex("0903ea000100010000") + (
    PRINCIPAL + b"DIRECTORY ASCII /info-tree\nLIST 'ATTRIBUTES(ACCESS-METHOD)' COMPONENTS hello.txt\n"
)
METHODS = bytes.fromhex("0303ea") + (
    b"LINK  L FILE hello.txt INTERNET-D LOCALHOST ASCII AFTP'/hello.txt' 0\n"
    b"ATTRIBUTE OBJECT INTRINSIC SIZE SEQUENCE 20' bytes'\n"
    b"ATTRIBUTE OBJECT INTRINSIC ACCESS-METHOD SEQUENCE LOCAL '' '' '' ''\n"
    b"ATTRIBUTE OBJECT INTRINSIC ACCESS-METHOD SEQUENCE AFTP INTERNET-D LOCALHOST ASCII '/hello.txt' BINARY\n"
)
HELLO = "ASCII /info-tree/hello.txt 0\n"
INFO = bytes.fromhex("0903eb000100010000") + PRINCIPAL + f"GET-OBJECT-INFO 'ACCESS-METHOD' {HELLO}".encode()
CONTENTS = bytes.fromhex("0903ec000100010000") + PRINCIPAL + f"GET-OBJECT-INFO 'CONTENTS' {HELLO}".encode()
CONTENT = bytes.fromhex("0303ec") + b"ATTRIBUTE OBJECT INTRINSIC CONTENTS SEQUENCE DATA hello' from prospero\n'\n"


def located(text: str) -> ProsperoLocator:
    locator = URI(text).locator
    assert isinstance(locator, ProsperoLocator)
    return locator


def sent(text: str) -> list[bytes]:
    return [step.data for step in plan(text, Credentials(user="probe")) if isinstance(step, Send)]


def test_the_requests_of_a_plan_are_the_recorded_ones() -> None:
    """Byte by byte; a packet is built when it is sent, when the connection id is chosen."""
    info, contents, _ = sent("prospero://h//info-tree/hello.txt")
    assert packet(info, 0x03EB) == INFO
    assert packet(contents, 0x03EC) == CONTENTS


def test_the_list_of_a_plan_has_the_lines_of_the_recorded_ones() -> None:
    *_, request = sent("prospero://h//info-tree")
    ours, first, every = (list(read_lines(data)) for data in (request, LIST_ONE[9:], LIST[9:]))
    assert ours[:3] == first[:3] == every[:3]
    # The option of the one, and no component, as in the other.
    assert ours[3] == first[3][:-1]
    assert ours[3][2:] == every[3][2:] == (b"COMPONENTS",)


def test_packets_are_parsed() -> None:
    assert read_packet(LIST) == Packet(1001, 1, 1, 0, 0, 0, 0, LIST[9:])
    assert read_packet(LINKS) == Packet(1001, 1, 1, 0, 0, 0, 0, LINKS[3:])
    assert read_packet(b"\x01STATUS") == Packet(0, 1, 1, 0, 0, 0, 0, b"STATUS")
    # Number 2 of an unknown total; and a control packet that acknowledges and asks to wait.
    assert read_packet(bytes.fromhex("0503e90002") + b"x")[:3] == (1001, 2, 0)
    assert read_packet(bytes.fromhex("0d03e9000000000003003c8001"))[:7] == (1001, 0, 0, 3, 60, 128, 1)
    assert packet(LIST[9:], 1001) == LIST
    for wrong in (b"", b"\x00", b"\x09\x03", b"\x43\x03\xe9x"):
        with pytest.raises(NotProspero):
            read_packet(wrong)


def test_answers_are_parsed() -> None:
    first, second = read_lines(read_packet(LINKS).data)
    assert first == (b"LINK", b"L", b"DIRECTORY", b"pros", b"INTERNET-D", b"LOCALHOST", b"ASCII", b"AFTP/pros", b"0")
    assert second[7] == b"AFTP/hello.txt"
    _, size, local, aftp = read_lines(read_packet(METHODS).data)
    assert size[5] == b"20 bytes"
    assert local[5:] == (b"LOCAL", b"", b"", b"", b"")
    assert aftp[5:] == (b"AFTP", b"INTERNET-D", b"LOCALHOST", b"ASCII", b"/hello.txt", b"BINARY")
    ((*_, content),) = read_lines(read_packet(CONTENT).data)
    assert content == b"hello from prospero\n"


def test_tokens_are_encoded_and_decoded() -> None:
    for octets in (b"", b"a", b"'", b"''", b"a 'b' c", b"\xff", b"a\nb", bytes(range(1, 256))):
        assert list(read_lines(b"X " + token(octets) + b" Y\r\n")) == [(b"X", octets, b"Y")]
    assert list(read_lines(b"\n \n\t\r\n")) == []
    for wrong in (b"'", b"a 'b''", b"'" * 3):
        with pytest.raises(NotProspero):
            list(read_lines(wrong))


def test_every_byte_in_the_name_is_sent_as_one_token_or_rejected() -> None:
    for octet in range(256):
        text = f"prospero://h/a%{octet:02X}b"
        locator = located(text)
        assert located(str(replace(locator, written=None).uri())) == locator
        try:
            info, _, listing = sent(text)
        except PlanRefused:
            assert octet in b"\0\t\n\r"
            continue
        assert [len(list(read_lines(data))) for data in (info, listing)] == [3, 4]
        name = bytes([0x61, octet, 0x62])
        assert list(read_lines(info))[2] == (b"GET-OBJECT-INFO", b"ACCESS-METHOD", b"ASCII", name, b"0")
        assert list(read_lines(listing))[2] == (b"DIRECTORY", b"ASCII", name)


def test_every_byte_in_a_field_is_preserved() -> None:
    for octet in range(256):
        locator = located(f"prospero://h/o;n%{octet:02X}=v%{octet:02X}")
        assert locator.fields == (ProsperoField(locator.fields[0].name, "v" + locator.fields[0].name[1:]),)
        for name in ("rfc3986", "rfc1738"):
            assert edition(name).locator(str(locator.uri(name))) == replace(locator, written=None)


def test_wrappers_of_running_text_are_accepted() -> None:
    """RFC 1738 3.11 and the Appendix."""
    locator = edition("rfc1738").locator("<URL:prospero://host.dom//pros/name>")
    assert locator == located("prospero://host.dom//pros/name")


def test_unwritable_locators_are_rejected() -> None:
    loc = located("prospero://h/o")
    two = (ProsperoField("OBJECT-VERSION", "2"),)
    for wrong in (replace(loc, fields=two), replace(loc, hsoname=None, version=1), replace(loc, attributes="a")):
        with pytest.raises(Unwritable):
            wrong.uri()
    assert str(replace(loc, fields=two, version=1).uri()) == "prospero://h/o;OBJECT-VERSION=1;OBJECT-VERSION=2"
    # Attributes that begin with a digit would become digits of the version.
    with pytest.raises(Unwritable, match="version 1 would be read as 12"):
        replace(loc, version=1, attributes="2").uri("url-1994")
    with pytest.raises(Unwritable):
        replace(loc, hsoname="a\0b").uri("url-1994")


def test_an_at_sign_in_a_host_is_valid_in_1994_only() -> None:
    locator = edition("url-1994").locator("prospero://a@b/o")
    assert isinstance(locator, ProsperoLocator)
    assert locator.host == "a@b"
    with pytest.raises(Unwritable):
        locator.uri()


def test_a_request_longer_than_a_datagram_is_rejected() -> None:
    with pytest.raises(PlanRefused, match="does not fit into a datagram"):
        plan("prospero://h/" + "a" * 70_000)
    assert isinstance(plan("prospero://h/" + "a" * 60_000).steps[0], Connect)


def test_older_editions_treat_invalid_escapes_as_data() -> None:
    for name in ("url-1994", "rfc1738"):
        locator = edition(name).locator("prospero://h/o%zz%")
        assert isinstance(locator, ProsperoLocator)
        assert locator.hsoname == "o%zz%"
        assert located(str(locator.uri("rfc3986"))) == replace(locator, written=None)


def test_huge_texts_are_linear() -> None:
    def use(text: str) -> None:
        locator = located(text)
        assert located(str(replace(locator, written=None).uri())) == locator

    def quotes(size: int) -> None:
        assert list(read_lines(b"'" * size)) == [(b"'" * (size // 2 - 1),)]
        with pytest.raises(NotProspero):
            list(read_lines(b"'" * (size - 1)))

    linear(lambda size: use("prospero://h/" + "/" * size), 200_000)
    linear(lambda size: use("prospero://h/" + "a" * size), 200_000)
    linear(lambda size: use("prospero://h/o" + ";" * size), 60_000)
    linear(lambda size: use("prospero://h/o;OBJECT-VERSION=" + "0" * size + "x"), 200_000)
    linear(lambda size: use("prospero://h/o;OBJECT-VERSION=" + "9" * size), 200_000)
    linear(lambda size: use("prospero://h/o;" + "=" * size), 200_000)
    linear(quotes, 200_000)
