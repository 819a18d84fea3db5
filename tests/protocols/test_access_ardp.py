"""ARDP: an answer in packets that are lost, doubled, late, in another order, cut and forged."""

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


def cut(message: bytes, size: int) -> list[bytes]:
    """An answer of one packet as several, numbered; the total stands in each."""
    data = message[3:]
    pieces = [data[start : start + size] for start in range(0, len(data), size)]
    return [piece_of(message[1:3], number, len(pieces), piece) for number, piece in enumerate(pieces, 1)]


def piece_of(connection: bytes, number: int, total: int, data: bytes, flags: int | None = None, wait: int = 0) -> bytes:
    head = connection + number.to_bytes(2, "big") + total.to_bytes(2, "big")
    if flags is not None or wait:
        head += b"\0\1" + wait.to_bytes(2, "big") + bytes([flags or 0])
    return bytes([len(head) + 1]) + head + data


def hello(faults: Callable[[int, tuple[bytes, ...]], Iterable[bytes]], policy: Policy = LOCAL) -> Served:
    """Open the recorded object on a server whose datagrams suffer; the content must come all the same."""
    with replay_datagrams(SERVER, same=same_request, adapt=adapt, faults=faults) as served:
        uri = f"prospero://127.0.0.1:{served.port}//info-tree/hello.txt"
        with open_uri(uri, policy, credentials=PROBE) as found:
            assert found.read() == HELLO
    return served


def test_a_request_or_answer_that_is_lost_is_asked_for_again() -> None:
    asked = Counter[tuple[bytes, ...]]()

    def faults(number: int, answers: tuple[bytes, ...]) -> Iterable[bytes]:
        asked[answers] += 1
        return () if asked[answers] <= (2 if len(asked) == 1 else 1) else answers

    served = hello(faults, LOSSY)
    # The first twice more, the second once more, each octet for octet; oftener only where this machine stalls.
    first, second = counted = Counter(served.requests)
    assert served.requests == [first] * counted[first] + [second] * counted[second]
    assert (counted[first] >= 3, counted[second] >= 2) == (True, True)


def test_each_time_it_is_waited_twice_as_long(monkeypatch: pytest.MonkeyPatch) -> None:
    """A fifteenth of the patience, then two, four and eight, by a clock that goes on where it is waited."""
    now = 100.0
    monkeypatch.setattr(ardp, "monotonic", lambda: now)
    waited: list[float | None] = []

    def ask() -> None:
        nonlocal now
        for effect in exchange(b"x", 1, 30, "h"):
            if isinstance(effect, Read):
                waited.append(effect.patience)
                now += effect.patience or 0

    with pytest.raises(AccessTimeout, match=r"no answer in 30 s after 4 requests"):
        ask()
    assert waited == [2, 4, 8, 16]


def test_doubled_late_and_strange_packets_are_no_answer() -> None:
    late: list[bytes] = []

    def faults(number: int, answers: tuple[bytes, ...]) -> Iterable[bytes]:
        late.extend(answers)
        strange = [b"", b"\0", b"\xff" * 40, b"\x43\0\1x", b"\x3f\0\1", b"plain text", b"\x01NONE-FOUND\n"]
        wrong = [answer[:1] + b"\x77\x77" + answer[3:] for answer in answers]
        return [*strange, *wrong, *late[:-1], *answers, *answers, *answers]

    assert len(hello(faults).requests) == 2


def test_an_answer_in_many_packets_in_another_order() -> None:
    def faults(number: int, answers: tuple[bytes, ...]) -> Iterable[bytes]:
        pieces = cut(answers[0], 3)
        return [*reversed(pieces[1:]), pieces[0]]

    assert len(hello(faults).requests) == 2


def test_what_is_missing_is_asked_for_with_what_has_come() -> None:
    """The request says through which packet all have come (octets 7 and 8), and the server sends the others."""
    seen: list[int] = []

    def handler(request: bytes, served: Served) -> Iterable[bytes]:
        row = CONTENTS if b"CONTENTS" in request else INFO
        assert not same_request(request, row.request)
        pieces = cut(adapt(request, row.answers[0]), 4)
        seen.append(received(request))
        if row is CONTENTS or seen[-1] == 4:
            return pieces
        if seen[-1] == 0:
            return pieces[:2]
        return [pieces[3]] if seen.count(2) == 1 else pieces[2:3]

    with serve_udp(handler) as served:
        uri = f"prospero://127.0.0.1:{served.port}//info-tree/hello.txt"
        with open_uri(uri, LOSSY, credentials=PROBE) as found:
            assert found.read() == HELLO
    # FAILURE NOT-FOUND is five pieces: 1 2, then 4, then 3, and the whole once more for 5.
    # Each may be asked for oftener where this machine stalls.
    assert [one for one, _ in groupby(seen)] == [0, 2, 4, 0]
    assert seen.count(2) >= 2


def received(request: bytes) -> int:
    return read_packet(request).received


@pytest.fixture
def counted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ids of connections that are known: 1, 2 and 3 on each way."""
    monkeypatch.setattr(prospero, "connections", lambda: count(1))


@pytest.mark.usefixtures("counted")
def test_an_acknowledgement_is_sent_where_it_is_asked_for() -> None:
    acknowledged: list[bytes] = []

    def handler(request: bytes, served: Served) -> Iterable[bytes]:
        found = read_packet(request)
        if found.number == 0:
            acknowledged.append(request)
            return ()
        row = CONTENTS if found.connection == 2 else INFO
        data = row.answers[0][3:]
        # The last packet asks for it, and one that is a sequenced control packet.
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
def test_a_server_that_has_the_request_is_only_acknowledged_to() -> None:
    def handler(request: bytes, served: Served) -> Iterable[bytes]:
        control = bytes.fromhex("09") + request[1:3] + bytes.fromhex("000000000001")
        if read_packet(request).number:  # the request itself; an acknowledgement has 0
            return [control]
        return [adapt(request, (INFO if request[2] == 1 else CONTENTS).answers[0])]

    with (
        serve_udp(handler) as served,
        open_uri(f"prospero://127.0.0.1:{served.port}//info-tree/hello.txt", LOSSY, credentials=PROBE) as found,
    ):
        assert found.read() == HELLO
    # Each may come oftener where this machine stalls.
    assert [number for number, _ in groupby(read_packet(one).number for one in served.requests)] == [1, 0, 1, 0]


def test_silence_ends_after_a_bounded_number_of_tries(monkeypatch: pytest.MonkeyPatch) -> None:
    # By a clock that a machine that stalls does not move: no try is left out.
    ticks = count()
    monkeypatch.setattr(ardp, "monotonic", lambda: next(ticks) / 1000)
    with serve_udp(lambda request, served: ()) as served:
        error = fail_both(f"prospero://127.0.0.1:{served.port}/x", QUICK)
        wait_until(lambda: len(served.requests) >= 2 * TRIES, "not all has come")
    assert isinstance(error, AccessTimeout)
    assert error.message == "no answer in 0.3 s after 4 requests"
    assert error.where == "the access methods of the object"
    assert len(served.requests) == 2 * TRIES
    # Asked again is octet for octet; on another way it may be another connection.
    assert len(set(served.requests[:TRIES])) == len({one[3:] for one in served.requests}) == 1


def test_a_server_that_talks_without_answering_gains_no_time() -> None:
    over = Event()
    said = 0

    def handler(request: bytes, served: Served) -> Iterable[bytes]:
        nonlocal said
        while not over.wait(0.01) and said < 10_000:
            said += 1
            yield b"\x03\x77\x77nothing"

    with serve_udp(handler) as served:
        with pytest.raises(AccessTimeout):
            open_uri(f"prospero://127.0.0.1:{served.port}/x", QUICK)
        wait_until(lambda: said > 1, "the server has not talked")
        over.set()
    assert 1 < said < 10_000


def test_a_port_that_nobody_has() -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as held:
        held.bind(("127.0.0.1", 0))
        port = held.getsockname()[1]
    assert isinstance(fail_both(f"prospero://127.0.0.1:{port}/x", Policy.local()), AccessFailed)


def test_a_stranger_is_not_heard() -> None:
    """The socket is connected: what others send to its port does not arrive."""

    def handler(request: bytes, served: Served) -> Iterable[bytes]:
        row = CONTENTS if b"CONTENTS" in request else INFO
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as stranger:
            for _ in range(5):
                stranger.sendto(request[:3] + b"FAILURE NOT-AUTHORIZED\n", served.peers[-1])
        time.sleep(0.02)
        return [adapt(request, row.answers[0])]

    with serve_udp(handler) as served:
        assert open_both(f"prospero://127.0.0.1:{served.port}//info-tree/hello.txt")[1] == HELLO


def test_the_largest_datagram_comes_whole() -> None:
    data = b"ATTRIBUTE OBJECT INTRINSIC CONTENTS SEQUENCE DATA "
    data += b"x" * (65_507 - len(data) - 4) + b"\n"

    def handler(request: bytes, served: Served) -> Iterable[bytes]:
        return [b"\x03" + request[1:3] + (data if b"CONTENTS" in request else b"NONE-FOUND\n")]

    with serve_udp(handler) as served:
        assert open_both(f"prospero://127.0.0.1:{served.port}/x")[1] == b"x" * (len(data) - 51)


def test_a_server_may_send_the_client_elsewhere_and_the_policy_judges() -> None:
    def moved(option: int, address: bytes, port: int) -> Callable[[bytes, Served], Iterable[bytes]]:
        def handler(request: bytes, served: Served) -> Iterable[bytes]:
            # With an additional address and a protocol id before what belongs to the option.
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


def test_a_connection_that_is_refused() -> None:
    with serve_udp(lambda request, served: [b"\x0d" + request[1:3] + bytes(9) + b"\1"]) as served:
        assert isinstance(error := fail_both(f"prospero://127.0.0.1:{served.port}/x"), AccessFailed)
    assert error.message == "the server refused the connection"


# -- without a socket


def put_together(packets: list[bytes | None], patience: float = 30.0) -> tuple[Any, list[Any]]:
    """What `exchange` makes of packets (None is silence), and what it asked of the transport."""
    work, effects, reply = exchange(b"STATUS\n", 1, patience, "there"), [], None
    left = iter(packets)
    try:
        while True:
            effect = work.send(reply)
            effects.append(effect)
            reply = next(left, None) if isinstance(effect, Read) else None
    except StopIteration as end:
        return end.value, effects


def waited(effects: list[Any]) -> list[int]:
    """How many seconds each read was to wait."""
    return [round(one.patience or 0) for one in effects if isinstance(one, Read)]


ONE = packet(b"STATUS\n", 1)
ID = b"\0\1"


def test_ids_of_connections_are_by_chance(monkeypatch: pytest.MonkeyPatch) -> None:
    """An answer is taken for its id: one that counts from 1 is guessed by whoever can forge a datagram."""
    some = list(islice(connections(), 2000))
    assert len(set(some)) == 2000
    assert set(some) <= set(range(1, 1 << 16))
    assert some[:4] != list(islice(connections(), 4))
    # None twice, and none that a packet without the field has.
    numbers = iter([0, 7, 7, 0, 8])
    monkeypatch.setattr(ardp, "randbelow", lambda end: next(numbers))
    assert list(islice(connections(), 2)) == [7, 8]


def test_each_request_has_an_id_of_its_own() -> None:
    with replay_datagrams(SERVER, same=same_request, adapt=adapt) as served:
        for _ in range(2):
            with open_uri(
                f"prospero://127.0.0.1:{served.port}//info-tree/hello.txt", LOCAL, credentials=PROBE
            ) as found:
                assert found.read() == HELLO
    ids = [read_packet(one).connection for one in served.requests]
    assert len(ids) == 4
    assert ids[0] != ids[1]
    assert ids[2] != ids[3]
    assert ids[:2] != ids[2:]


def test_the_back_off() -> None:
    with pytest.raises(AccessTimeout) as told:
        put_together([])
    assert "after 4 requests" in str(told.value)
    _, effects = put_together([None, None, None, piece_of(ID, 1, 1, b"x")])
    assert waited(effects) == [2, 4, 8, 16]
    assert [one.data for one in effects if isinstance(one, Write)] == [ONE] * 4
    # A packet that is new begins anew; one that is not does not.
    _, effects = put_together(
        [None, piece_of(ID, 1, 0, b"x"), None, piece_of(ID, 1, 0, b"x"), None, piece_of(ID, 2, 2, b"y")]
    )
    assert waited(effects) == [2, 4, 2, 4, 4, 8]
    assert [received(one.data) for one in effects if isinstance(one, Write)] == [0, 0, 1, 1]


def test_a_server_may_ask_for_time_within_the_policy() -> None:
    wait = piece_of(ID, 0, 0, b"", 0, wait=10)
    _, effects = put_together([wait, piece_of(ID, 1, 1, b"x")])
    assert waited(effects) == [2, 10]
    long = piece_of(ID, 0, 0, b"", 0, wait=65_535)
    _, effects = put_together([long, piece_of(ID, 1, 1, b"x")])
    assert waited(effects) == [2, 30]
    # Not for ever: as often as packets are taken at all, and then it is too late.
    with pytest.raises(AccessTimeout):
        put_together([long] * 300, 0.1)


def test_forged_numbers() -> None:
    for wrong in (
        [piece_of(ID, 5, 3, b"x")],
        [piece_of(ID, 65_535, 0, b"x"), piece_of(ID, 1, 2, b"x")],
        [piece_of(ID, 1, 3, b"x"), piece_of(ID, 2, 4, b"x")],
        [piece_of(ID, 1, 3, b"x"), piece_of(ID, 4, 0, b"x")],
    ):
        with pytest.raises(ProtocolError, match="packet"):
            put_together(list(wrong))
    # The first of two with one number counts.
    two = [piece_of(ID, 1, 0, b"a"), piece_of(ID, 1, 0, b"b"), piece_of(ID, 2, 2, b"c")]
    assert put_together(list(two))[0] == b"ac"


def test_an_answer_is_bounded() -> None:
    packets = [piece_of(ID, number, 0, bytes(65_000)) for number in range(1, 300)]
    with pytest.raises(LimitExceeded, match="4,194,304"):
        put_together(list(packets))

    def use(count: int) -> None:
        many: list[bytes | None] = [piece_of(ID, number, count, b"x") for number in range(1, count + 1)]
        assert len(put_together(many)[0]) == count

    linear(use, 65_535)


def test_a_redirect_without_an_address_is_none() -> None:
    head = ID + bytes(9) + b"\4"
    assert put_together([b"\x0d" + head, piece_of(ID, 1, 1, b"x")])[0] == b"x"
    head = ID + bytes(9) + b"\4" + b"\x7f\0\0\1\0\x50"
    assert put_together([b"\x13" + head])[0] == Redirection("127.0.0.1", 80)


def test_every_cut_packet() -> None:
    whole = piece_of(ID, 1, 1, b"NONE-FOUND\n", 0x80)
    for end in range(len(whole)):
        if end < 12:  # no header: it is as if nothing had come
            with pytest.raises(AccessTimeout):
                put_together([whole[:end]])
        else:
            assert put_together([whole[:end]])[0] == b"NONE-FOUND\n"[: end - 12]
