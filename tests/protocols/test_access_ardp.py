"""ARDP: answers in packets that are lost, doubled, late, reordered, truncated or forged."""

from __future__ import annotations

import socket
import time
from collections import Counter
from collections.abc import Callable, Iterable
from itertools import count, groupby, islice
from threading import Event
from typing import Any

import pytest

from overthere import open as open_uri
from overthere.access.errors import AccessFailed, AccessRefused, AccessTimeout, LimitExceeded, ProtocolError
from overthere.access.policy import Policy
from overthere.access.wire import Read, Write
from overthere.protocols.prospero import ardp
from overthere.protocols.prospero import dialogue as prospero
from overthere.protocols.prospero.ardp import TRIES, Redirection, connections, exchange
from overthere.protocols.prospero.message import acknowledgement, packet, read_packet
from servers import wait_until
from servers.dirsrv import (
    CONTENTS,
    HELLO,
    INFO,
    LOCAL,
    LOSSY,
    PROBE,
    QUICK,
    SERVER,
    adapt,
    fail_both,
    open_both,
    same_request,
)
from servers.replay import Served, replay_datagrams, serve_udp
from support import linear

# -- over a loopback server


def split_message(message: bytes, size: int) -> list[bytes]:
    """An answer of one packet as several numbered ones; each has the total."""
    data = message[3:]
    pieces = [data[start : start + size] for start in range(0, len(data), size)]
    return [piece_of(message[1:3], number, len(pieces), piece) for number, piece in enumerate(pieces, 1)]


def piece_of(connection: bytes, number: int, total: int, data: bytes, flags: int | None = None, wait: int = 0) -> bytes:
    head = connection + number.to_bytes(2, "big") + total.to_bytes(2, "big")
    if flags is not None or wait:
        head += b"\0\1" + wait.to_bytes(2, "big") + bytes([flags or 0])
    return bytes([len(head) + 1]) + head + data


def hello(faults: Callable[[int, tuple[bytes, ...]], Iterable[bytes]], policy: Policy = LOCAL) -> Served:
    """Open the recorded object on a server that treats datagrams badly; the content must arrive anyway."""
    with replay_datagrams(SERVER, same=same_request, adapt=adapt, faults=faults) as served:
        uri = f"prospero://127.0.0.1:{served.port}//info-tree/hello.txt"
        with open_uri(uri, policy, credentials=PROBE) as resource:
            assert resource.read() == HELLO
    return served


def test_a_lost_request_or_answer_is_retransmitted() -> None:
    requests = Counter[tuple[bytes, ...]]()

    def faults(number: int, answers: tuple[bytes, ...]) -> Iterable[bytes]:
        requests[answers] += 1
        return () if requests[answers] <= (2 if len(requests) == 1 else 1) else answers

    served = hello(faults, LOSSY)
    # The first twice more, the second once more, all byte-identical; more often only on a stalled machine.
    first, second = counted = Counter(served.requests)
    assert served.requests == [first] * counted[first] + [second] * counted[second]
    assert (counted[first] >= 3, counted[second] >= 2) == (True, True)


def test_retransmission_backs_off_exponentially(monkeypatch: pytest.MonkeyPatch) -> None:
    """A fifteenth of the timeout, then twice, four and eight times that, by a simulated clock."""
    clock = 100.0
    monkeypatch.setattr(ardp, "monotonic", lambda: clock)
    waited: list[float | None] = []

    def ask() -> None:
        nonlocal clock
        for effect in exchange(b"x", 1, 30, "h"):
            if isinstance(effect, Read):
                waited.append(effect.patience)
                clock += effect.patience or 0

    with pytest.raises(AccessTimeout, match=r"no answer in 30 s after 4 requests"):
        ask()
    assert waited == [2, 4, 8, 16]


def test_doubled_late_and_foreign_packets_are_ignored() -> None:
    late: list[bytes] = []

    def faults(number: int, answers: tuple[bytes, ...]) -> Iterable[bytes]:
        late.extend(answers)
        strange = [b"", b"\0", b"\xff" * 40, b"\x43\0\1x", b"\x3f\0\1", b"plain text", b"\x01NONE-FOUND\n"]
        wrong = [answer[:1] + b"\x77\x77" + answer[3:] for answer in answers]
        return [*strange, *wrong, *late[:-1], *answers, *answers, *answers]

    assert len(hello(faults).requests) == 2


def test_reordered_packets_are_sorted() -> None:
    def faults(number: int, answers: tuple[bytes, ...]) -> Iterable[bytes]:
        pieces = split_message(answers[0], 3)
        return [*reversed(pieces[1:]), pieces[0]]

    assert len(hello(faults).requests) == 2


def test_missing_packets_are_requested() -> None:
    """The request names the packet up to which all arrived (bytes 7 and 8), and the server sends the others."""
    seen: list[int] = []

    def handler(request: bytes, served: Served) -> Iterable[bytes]:
        row = CONTENTS if b"CONTENTS" in request else INFO
        assert not same_request(request, row.request)
        pieces = split_message(adapt(request, row.answers[0]), 4)
        seen.append(received(request))
        if row is CONTENTS or seen[-1] == 4:
            return pieces
        if seen[-1] == 0:
            return pieces[:2]
        return [pieces[3]] if seen.count(2) == 1 else pieces[2:3]

    with serve_udp(handler) as served:
        uri = f"prospero://127.0.0.1:{served.port}//info-tree/hello.txt"
        with open_uri(uri, LOSSY, credentials=PROBE) as resource:
            assert resource.read() == HELLO
    # FAILURE NOT-FOUND in five pieces: 1 2, then 4, then 3, and all again for 5.
    # A stalled machine may request each more often.
    assert [item for item, _ in groupby(seen)] == [0, 2, 4, 0]
    assert seen.count(2) >= 2


def received(request: bytes) -> int:
    return read_packet(request).received


@pytest.fixture
def counted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Connection ids from a counter: 1, 2 and 3 for each kind of opening."""
    monkeypatch.setattr(prospero, "connections", lambda: count(1))


@pytest.mark.usefixtures("counted")
def test_an_acknowledgement_is_sent_on_request() -> None:
    acknowledged: list[bytes] = []

    def handler(request: bytes, served: Served) -> Iterable[bytes]:
        parsed_packet = read_packet(request)
        if parsed_packet.number == 0:
            acknowledged.append(request)
            return ()
        row = CONTENTS if parsed_packet.connection == 2 else INFO
        data = row.answers[0][3:]
        # Requested by the last packet, and by a sequenced control packet.
        return [
            piece_of(request[1:3], 2, 0, b"not for the application", 0xC0),
            piece_of(request[1:3], 1, 0, data[:5]),
            piece_of(request[1:3], 3, 3, data[5:], 0x80),
        ]

    with serve_udp(handler) as served:
        assert open_both(f"prospero://127.0.0.1:{served.port}//info-tree/hello.txt")[1] == HELLO
        wait_until(lambda: len(acknowledged) >= 4, "not all was acknowledged")
    assert acknowledged[:4] == [
        acknowledgement(1, 0),
        acknowledgement(1, 3),
        acknowledgement(2, 0),
        acknowledgement(2, 3),
    ]


@pytest.mark.usefixtures("counted")
def test_an_acknowledged_request_is_not_retransmitted() -> None:
    def handler(request: bytes, served: Served) -> Iterable[bytes]:
        control = bytes.fromhex("09") + request[1:3] + bytes.fromhex("000000000001")
        if read_packet(request).number:  # the request itself; an acknowledgement has 0
            return [control]
        return [adapt(request, (INFO if request[2] == 1 else CONTENTS).answers[0])]

    with (
        serve_udp(handler) as served,
        open_uri(f"prospero://127.0.0.1:{served.port}//info-tree/hello.txt", LOSSY, credentials=PROBE) as resource,
    ):
        assert resource.read() == HELLO
    # A stalled machine may send each more often.
    assert [number for number, _ in groupby(read_packet(request).number for request in served.requests)] == [1, 0, 1, 0]


def test_silence_ends_after_a_limited_number_of_tries(monkeypatch: pytest.MonkeyPatch) -> None:
    # By a clock that a stalled machine does not advance, so that no try is skipped.
    ticks = count()
    monkeypatch.setattr(ardp, "monotonic", lambda: next(ticks) / 1000)
    with serve_udp(lambda request, served: ()) as served:
        error = fail_both(f"prospero://127.0.0.1:{served.port}/x", QUICK)
        wait_until(lambda: len(served.requests) >= 2 * TRIES, "not all has come")
    assert isinstance(error, AccessTimeout)
    assert error.message == "no answer in 0.3 s after 4 requests"
    assert error.where == "the access methods of the object"
    assert len(served.requests) == 2 * TRIES
    # Retransmissions are byte-identical; each kind of opening may have another connection.
    assert len(set(served.requests[:TRIES])) == len({request[3:] for request in served.requests}) == 1


def test_packets_without_an_answer_do_not_extend_the_timeout() -> None:
    over = Event()
    count = 0

    def handler(request: bytes, served: Served) -> Iterable[bytes]:
        nonlocal count
        while not over.wait(0.01) and count < 10_000:
            count += 1
            yield b"\x03\x77\x77nothing"

    with serve_udp(handler) as served:
        with pytest.raises(AccessTimeout):
            open_uri(f"prospero://127.0.0.1:{served.port}/x", QUICK)
        wait_until(lambda: count > 1, "the server has not talked")
        over.set()
    assert 1 < count < 10_000


def test_an_unused_port() -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as client:
        client.bind(("127.0.0.1", 0))
        port = client.getsockname()[1]
    assert isinstance(fail_both(f"prospero://127.0.0.1:{port}/x", Policy.local()), AccessFailed)


def test_datagrams_of_other_senders_are_ignored() -> None:
    """The socket is connected: it receives nothing from others."""

    def handler(request: bytes, served: Served) -> Iterable[bytes]:
        row = CONTENTS if b"CONTENTS" in request else INFO
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as stranger:
            for _ in range(5):
                stranger.sendto(request[:3] + b"FAILURE NOT-AUTHORIZED\n", served.peers[-1])
        time.sleep(0.02)
        return [adapt(request, row.answers[0])]

    with serve_udp(handler) as served:
        assert open_both(f"prospero://127.0.0.1:{served.port}//info-tree/hello.txt")[1] == HELLO


def test_the_largest_datagram_is_received_completely() -> None:
    data = b"ATTRIBUTE OBJECT INTRINSIC CONTENTS SEQUENCE DATA "
    data += b"x" * (65_507 - len(data) - 4) + b"\n"

    def handler(request: bytes, served: Served) -> Iterable[bytes]:
        return [b"\x03" + request[1:3] + (data if b"CONTENTS" in request else b"NONE-FOUND\n")]

    with serve_udp(handler) as served:
        assert open_both(f"prospero://127.0.0.1:{served.port}/x")[1] == b"x" * (len(data) - 51)


def test_the_policy_applies_to_redirects_of_a_server() -> None:
    def moved(option: int, address: bytes, port: int) -> Callable[[bytes, Served], Iterable[bytes]]:
        def handler(request: bytes, served: Served) -> Iterable[bytes]:
            # With an additional address and a protocol id before the data of the option.
            head = request[1:3] + bytes(8) + bytes([0b101, option]) + b"\1\1z" + b"id" + address
            head += port.to_bytes(2, "big")
            return [bytes([len(head) + 1]) + head]

        return handler

    with replay_datagrams(SERVER, same=same_request, adapt=adapt) as new:
        for option in (4, 5):
            with serve_udp(moved(option, b"\x7f\0\0\1", new.port)) as served:
                _, content, found = open_both(f"prospero://127.0.0.1:{served.port}//info-tree/hello.txt")
            assert content == HELLO
            assert str(found.uri) == f"prospero://127.0.0.1:{new.port}//info-tree/hello.txt"
    with serve_udp(moved(4, b"\x0a\0\0\1", 22)) as served:
        for policy, rule in (
            (LOCAL.with_(ports=frozenset()), "port"),
            (LOCAL.with_(hosts=frozenset({"127.0.0.1"})), "host"),
        ):
            error = fail_both(f"prospero://127.0.0.1:{served.port}/x", policy)
            assert isinstance(error, AccessRefused)
            assert error.rule == rule


def test_a_rejected_connection() -> None:
    with serve_udp(lambda request, served: [b"\x0d" + request[1:3] + bytes(9) + b"\1"]) as served:
        assert isinstance(error := fail_both(f"prospero://127.0.0.1:{served.port}/x"), AccessFailed)
    assert error.message == "the server refused the connection"


# -- without a socket


def put_together(packets: list[bytes | None], timeout: float = 30.0) -> tuple[Any, list[Any]]:
    """The result of `exchange` for packets (None is silence), and its requests to the transport."""
    work, effects, reply = exchange(b"STATUS\n", 1, timeout, "there"), [], None
    pending = iter(packets)
    try:
        while True:
            effect = work.send(reply)
            effects.append(effect)
            reply = next(pending, None) if isinstance(effect, Read) else None
    except StopIteration as end:
        return end.value, effects


def waited(effects: list[Any]) -> list[int]:
    """The timeouts of the reads in seconds."""
    return [round(effect.patience or 0) for effect in effects if isinstance(effect, Read)]


FIRST = packet(b"STATUS\n", 1)
ID = b"\0\1"


def test_connection_ids_are_random(monkeypatch: pytest.MonkeyPatch) -> None:
    """They identify answers: whoever can forge a datagram would guess a counter."""
    ids = list(islice(connections(), 2000))
    assert len(set(ids)) == 2000
    assert set(ids) <= set(range(1, 1 << 16))
    assert ids[:4] != list(islice(connections(), 4))
    # No id twice, and not the id of packets without the field.
    numbers = iter([0, 7, 7, 0, 8])
    monkeypatch.setattr(ardp, "randbelow", lambda end: next(numbers))
    assert list(islice(connections(), 2)) == [7, 8]


def test_each_request_has_its_own_id() -> None:
    with replay_datagrams(SERVER, same=same_request, adapt=adapt) as served:
        for _ in range(2):
            with open_uri(
                f"prospero://127.0.0.1:{served.port}//info-tree/hello.txt", LOCAL, credentials=PROBE
            ) as resource:
                assert resource.read() == HELLO
    ids = [read_packet(request).connection for request in served.requests]
    assert len(ids) == 4
    assert ids[0] != ids[1]
    assert ids[2] != ids[3]
    assert ids[:2] != ids[2:]


def test_the_timeouts_of_retransmissions() -> None:
    with pytest.raises(AccessTimeout) as caught:
        put_together([])
    assert "after 4 requests" in str(caught.value)
    _, effects = put_together([None, None, None, piece_of(ID, 1, 1, b"x")])
    assert waited(effects) == [2, 4, 8, 16]
    assert [effect.data for effect in effects if isinstance(effect, Write)] == [FIRST] * 4
    # A new packet resets the timeout; a repeated one does not.
    _, effects = put_together(
        [None, piece_of(ID, 1, 0, b"x"), None, piece_of(ID, 1, 0, b"x"), None, piece_of(ID, 2, 2, b"y")]
    )
    assert waited(effects) == [2, 4, 2, 4, 4, 8]
    assert [received(effect.data) for effect in effects if isinstance(effect, Write)] == [0, 0, 1, 1]


def test_a_server_may_request_more_time_within_the_policy() -> None:
    wait = piece_of(ID, 0, 0, b"", 0, wait=10)
    _, effects = put_together([wait, piece_of(ID, 1, 1, b"x")])
    assert waited(effects) == [2, 10]
    long = piece_of(ID, 0, 0, b"", 0, wait=65_535)
    _, effects = put_together([long, piece_of(ID, 1, 1, b"x")])
    assert waited(effects) == [2, 30]
    # Not forever: at most as often as packets are accepted at all.
    with pytest.raises(AccessTimeout):
        put_together([long] * 300, 0.1)


def test_forged_packet_numbers_are_rejected() -> None:
    for wrong in (
        [piece_of(ID, 5, 3, b"x")],
        [piece_of(ID, 65_535, 0, b"x"), piece_of(ID, 1, 2, b"x")],
        [piece_of(ID, 1, 3, b"x"), piece_of(ID, 2, 4, b"x")],
        [piece_of(ID, 1, 3, b"x"), piece_of(ID, 4, 0, b"x")],
    ):
        with pytest.raises(ProtocolError, match="packet"):
            put_together(list(wrong))
    # The first of two packets with the same number counts.
    two = [piece_of(ID, 1, 0, b"a"), piece_of(ID, 1, 0, b"b"), piece_of(ID, 2, 2, b"c")]
    assert put_together(list(two))[0] == b"ac"


def test_the_size_of_an_answer_is_limited() -> None:
    packets = [piece_of(ID, number, 0, bytes(65_000)) for number in range(1, 300)]
    with pytest.raises(LimitExceeded, match="4,194,304"):
        put_together(list(packets))

    def use(count: int) -> None:
        packets: list[bytes | None] = [piece_of(ID, number, count, b"x") for number in range(1, count + 1)]
        assert len(put_together(packets)[0]) == count

    linear(use, 65_535)


def test_a_redirect_without_an_address_is_ignored() -> None:
    head = ID + bytes(9) + b"\4"
    assert put_together([b"\x0d" + head, piece_of(ID, 1, 1, b"x")])[0] == b"x"
    head = ID + bytes(9) + b"\4" + b"\x7f\0\0\1\0\x50"
    assert put_together([b"\x13" + head])[0] == Redirection("127.0.0.1", 80)


def test_every_truncated_packet() -> None:
    complete = piece_of(ID, 1, 1, b"NONE-FOUND\n", 0x80)
    for end in range(len(complete)):
        if end < 12:  # without a header it is ignored
            with pytest.raises(AccessTimeout):
                put_together([complete[:end]])
        else:
            assert put_together([complete[:end]])[0] == b"NONE-FOUND\n"[: end - 12]
