"""The laws of a dialogue: whatever a server sends, and wherever it ends, nothing undocumented happens."""

from __future__ import annotations

import re
from collections.abc import Iterator
from random import Random
from typing import ClassVar

from overthere.access.opening import _Way
from overthere.access.policy import Policy
from overthere.access.steps import Credentials, Send
from overthere.access.wire import Dialogue
from overthere.errors import OverthereError
from overthere.schemes.model import Scheme
from overthere.schemes.registry import Registry
from overthere.testing.replay import Outcome, Recorded, Replay

__all__ = ["AccessSuite"]

_FILLERS = (b"x" * 65_536, b"\n" * 4096, b"\xff" * 65_536, b"0" * 65_536, b"\0" * 65_536)


class AccessSuite:
    """The laws of access as tests: subclass it, name a URI and what a server has answered, and let pytest collect it.

    What has to hold: the answer is read, and the steps of the plan are what is sent; data make no lines at a port of
    another protocol; how it comes in pieces changes nothing; where it ends early, is not what was recorded, or has no
    end, only documented errors come out, in bounded memory; and a reader may stop at any time.
    """

    uri: ClassVar[str]
    answer: ClassVar[Recorded]
    """Recorded from a server: all its octets, or exchanges of what was sent and what came."""
    data: ClassVar[bytes] = b""
    """What came over a second connection, as FTP has one."""
    scheme: ClassVar[Scheme | None] = None
    """If it is not among those of `Registry.default()`."""
    credentials: ClassVar[Credentials | None] = None
    policy: ClassVar[Policy] = Policy.local()
    runs: ClassVar[int] = 1000
    """How many offsets, and how many kinds of garbage, are tried at most."""
    missing: ClassVar[bool] = False
    """Whether the answer is one that refuses: then opening raises a documented error."""

    def dialogue(self) -> Dialogue:
        """The dialogue of the plan of `uri`."""
        self._way = _Way(self.uri, self.policy, self.credentials, self._registry(), None)
        return self._way.dialogue(self._way.scheme())

    def _registry(self) -> Registry:
        registry = Registry.default()
        if self.scheme is not None and self.scheme.name not in registry:
            registry = registry.with_(self.scheme)
        return registry

    def whole(self) -> Outcome:
        """What comes out of the answer as it was recorded."""
        return Replay(self.answer, self.data).run(self.dialogue())

    @property
    def _length(self) -> int:
        return len(self.answer) if isinstance(self.answer, bytes) else sum(len(came) for _, came in self.answer)

    def _offsets(self, length: int) -> Iterator[int]:
        return iter(range(0, length, max(1, length // self.runs)))

    def test_the_answer_is_read(self) -> None:
        found = self.whole()
        if self.missing:
            assert found.error is not None, "nothing was refused"
        else:
            assert found.error is None, repr(found.error)
            assert found.head is not None, "there was no head"

    def test_the_plan_is_what_is_sent(self) -> None:
        sent = self.whole().sent
        place = 0
        for step in self._way.plan.steps:
            if not isinstance(step, Send):
                continue
            found = sent.find(step.data, place)
            if found < 0 and (step.after or self.missing):
                continue
            assert found >= 0, f"{step.line()} is not what was sent"
            place = found + len(step.data)

    def test_pieces_change_nothing(self) -> None:
        whole = self.whole()
        for piece in (1, 2, 3, 7, 64):
            found = Replay(self.answer, self.data, piece=piece).run(self.dialogue())
            assert (found.head, found.content, found.entries) == (whole.head, whole.content, whole.entries), piece
            assert repr(found.error) == repr(whole.error), piece

    def test_an_end_at_every_offset(self) -> None:
        whole = self.whole()
        for offset in self._offsets(self._length):
            found = Replay(self.answer, self.data, length=offset).run(self.dialogue())
            assert found.error is not None or found.head is not None, f"nothing came out at {offset}"
            assert whole.content.startswith(found.content), f"other content at {offset}"
        for offset in self._offsets(len(self.data)):
            found = Replay(self.answer, self.data, data_length=offset).run(self.dialogue())
            assert whole.content.startswith(found.content), f"other content at {offset} of the data"

    def test_garbage(self) -> None:
        random = Random(3986)
        for _ in range(self.runs):
            if isinstance(self.answer, bytes):
                answer: Recorded = _spoiled(self.answer, random)
            else:
                spoiled = random.randrange(len(self.answer) or 1)
                answer = [
                    (asked, _spoiled(came, random) if number == spoiled else came)
                    for number, (asked, came) in enumerate(self.answer)
                ]
                # What is sent may be another thing then.
                answer = b"".join(came for _, came in answer) if random.random() < 0.5 else answer
            self._any(Replay(answer, _spoiled(self.data, random) if self.data else b""))

    def test_an_answer_without_end(self) -> None:
        length = self._length
        for offset in {*range(0, length, max(1, length // 16)), length}:
            for filler in _FILLERS:
                replay = Replay(self.answer, self.data, length=offset, again=filler)
                replay.run(self.dialogue(), most=100)

    def test_a_reader_who_stops(self) -> None:
        found = Replay(self.answer, self.data).run(_first(self.dialogue()))
        assert (found.head is None) == (self.whole().head is None)

    def test_data_make_no_lines(self) -> None:
        """At a port of another protocol, under the safe policy: whatever a URI says there, what is sent is refused, or
        holds no line that begins with what the URI says, but the first (RFC 1738 6, RFC 3986 7.2)."""
        for text in _spiked(self.uri):
            registry = self._registry()
            try:
                way = _Way(text, Policy(), self.credentials, registry, None)
                way.dialogue(way.scheme())
            except OverthereError:
                continue
            for step in way.plan.done.steps:
                for line in _PARTED.split(step.data)[1:] if isinstance(step, Send) else ():
                    assert not line.startswith(_SPIKE), f"{text} begins a line of {step.line()}"

    def _any(self, replay: Replay) -> Outcome | None:
        try:
            return replay.run(self.dialogue(), most=10_000)
        except AssertionError as error:
            # Another answer may lead to other questions than the recorded ones.
            if "it waits, but has not sent" in str(error):
                return None
            raise


_SPIKE = b"FLUSHALL"
_ENDS = ("%0D%0A", "%0A", "%0D", "%00", "%0B", "%0C", "%1C", "%1D", "%1E", "%85", "%C2%85", "%E2%80%A8", "%E2%80%A9")


# What a program that reads lines may take for the end of one.
_PARTED = re.compile(rb"[\x00\x0a-\x0d\x1c-\x1e]|\xc2\x85|\xe2\x80[\xa8\xa9]|(?<![\xc2-\xf4\x80-\xbf])\x85")
_PORT = re.compile(r"([^:]+://(?:[^/?#@]*@)?(?:\[[^\]]*\]|[^/?#:]*))(?::[0-9]*)?")


def _spiked(uri: str) -> Iterator[str]:
    """The URI at a port of another protocol, with a line of its own behind each of its parts."""
    there = _PORT.sub(r"\1:6379", uri, count=1)
    for place in re.finditer("(?=[/?#;=,:@&!]|%09|$)", there):
        for end in _ENDS:
            yield there[: place.start()] + end + _SPIKE.decode() + there[place.start() :]


def _first(dialogue: Dialogue) -> Dialogue:
    """The dialogue up to its head."""
    from overthere.access.wire import Head

    effect = next(dialogue, None)
    while effect is not None:
        given = yield effect
        if isinstance(effect, Head):
            dialogue.close()
            return
        try:
            effect = dialogue.send(given)
        except StopIteration:
            return


def _spoiled(octets: bytes, random: Random) -> bytes:
    """Some octets other than they were, more, or fewer."""
    spoiled = bytearray(octets)
    for _ in range(random.randint(1, 4)):
        at = random.randint(0, len(spoiled))
        size = random.choice((1, 1, 2, 8, 40))
        match random.randrange(6):
            case 0:
                spoiled[at : at + size] = random.randbytes(size)
            case 1:
                spoiled[at:at] = random.randbytes(size)
            case 2:
                del spoiled[at : at + size]
            case 3:
                spoiled[at : at + 1] = random.choice(
                    (b"\r\n", b"\n", b"\0", b"\xff" * 4, b"99999999999999999999", b"-1")
                )
            case 4:
                spoiled[at:at] = spoiled[at : at + size] * 3
            case _:
                spoiled[at : at + 1] = bytes((random.choice(b"0123456789 .-()\t;:%"),))
    return bytes(spoiled)
