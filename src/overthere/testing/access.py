"""The laws of a dialogue: no server answer, wherever it ends, causes undocumented behaviour."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice
from random import Random
from traceback import format_exception
from typing import ClassVar

from overthere.access.opening import Opening
from overthere.access.planning import plan
from overthere.access.policy import Policy
from overthere.access.steps import Credentials, Send
from overthere.access.wire import Dialogue
from overthere.ground.errors import OverthereError
from overthere.schemes.model import Scheme
from overthere.schemes.registry import Registry
from overthere.testing.replay import Outcome, Recorded, Replay
from overthere.testing.words import as_before, replace_words
from overthere.values.known_secrets import logins

__all__ = ["AccessSuite"]

_PASSWORD = "swordfish"
_FILLERS = (b"x" * 65_536, b"\n" * 4096, b"\xff" * 65_536, b"0" * 65_536, b"\0" * 65_536)


class AccessSuite:
    """The laws of access as tests: subclass it, name a URI and a server's recorded answer, and let pytest collect it.

    The laws: the answer is read; the steps of the plan are sent exactly, and their texts have no effect; data add no
    lines at a port of another protocol; the sizes of the pieces in which an answer arrives do not matter; an answer
    that ends early, differs from the record, has unreadable numbers or encoded words, or never ends causes only
    documented errors, in limited memory; a reader may stop at any time; and no error or detail shows a password that
    the answer repeats.
    """

    uri: ClassVar[str]
    answer: ClassVar[Recorded]
    """The recording of a server: all its octets, or pairs of sent and received octets."""
    data: ClassVar[bytes] = b""
    """The octets of a second connection, as in FTP."""
    scheme: ClassVar[Scheme | None] = None
    """The scheme, if `Registry.default()` does not have it."""
    credentials: ClassVar[Credentials | None] = None
    policy: ClassVar[Policy] = Policy.local()
    runs: ClassVar[int] = 1000
    """The most offsets, and the most kinds of garbage, that are tried."""
    missing: ClassVar[bool] = False
    """Whether the answer is a refusal: then opening raises a documented error."""

    def dialogue(self, credentials: Credentials | None = None) -> Dialogue:
        """The dialogue of the plan of `uri`; credentials: others than those of the class."""
        self._opening = Opening(self.uri, self.policy, credentials or self.credentials, self._registry(), None)
        return self._opening.dialogue(self._opening.scheme())

    def _registry(self) -> Registry:
        registry = Registry.default()
        is_registered = self.scheme is None or self.scheme.name in registry
        return registry if self.scheme is None or is_registered else registry.with_(self.scheme)

    def whole(self) -> Outcome:
        """The outcome of the answer as recorded."""
        return Replay(self.answer, self.data).run(self.dialogue())

    @property
    def _length(self) -> int:
        return len(self.answer) if isinstance(self.answer, bytes) else sum(len(came) for _, came in self.answer)

    def _offsets(self, length: int) -> Iterator[int]:
        return iter(range(0, length, max(1, length // self.runs)))

    def test_the_answer_is_read(self) -> None:
        outcome = self.whole()
        if self.missing:
            assert outcome.error is not None, "nothing was refused"
        else:
            assert outcome.error is None, repr(outcome.error)
            assert outcome.head is not None, "there was no head"

    def test_the_plan_is_what_is_sent(self) -> None:
        sent = self.whole().sent
        search_start = 0
        for step in self._opening.plan.steps:
            if not isinstance(step, Send):
                continue
            offset = sent.find(step.data, search_start)
            if offset < 0 and (step.after or self.missing):
                continue
            assert offset >= 0, f"{step.line()} is not what was sent"
            search_start = offset + len(step.data)

    def test_words_are_for_people(self) -> None:
        """Check that a dialogue reads nothing from the words of its plan: with other words the outcome is the same."""
        expected = self.whole()
        dialogue = self.dialogue()
        dialogue.close()
        self._opening.plan, words = replace_words(self._opening.plan)
        outcome = Replay(self.answer, self.data).run(self._opening.dialogue(self._opening.scheme()))
        assert as_before(outcome, words) == as_before(expected, {})

    def test_pieces_change_nothing(self) -> None:
        full = self.whole()
        for piece in (1, 2, 3, 7, 64):
            outcome = Replay(self.answer, self.data, piece=piece).run(self.dialogue())
            assert (outcome.head, outcome.content, outcome.entries) == (full.head, full.content, full.entries), piece
            assert repr(outcome.error) == repr(full.error), piece

    def test_an_end_at_every_offset(self) -> None:
        expected = self.whole()
        for offset in self._offsets(self._length):
            outcome = Replay(self.answer, self.data, length=offset).run(self.dialogue())
            assert outcome.error is not None or outcome.head is not None, f"nothing came out at {offset}"
            assert expected.content.startswith(outcome.content), f"other content at {offset}"
        for offset in self._offsets(len(self.data)):
            outcome = Replay(self.answer, self.data, data_length=offset).run(self.dialogue())
            assert expected.content.startswith(outcome.content), f"other content at {offset} of the data"

    def test_garbage(self) -> None:
        random = Random(3986)
        for _ in range(self.runs):
            if isinstance(self.answer, bytes):
                answer: Recorded = _damage_octets(self.answer, random)
            else:
                damaged_number = random.randrange(len(self.answer) or 1)
                answer = [
                    (request, _damage_octets(reply, random) if number == damaged_number else reply)
                    for number, (request, reply) in enumerate(self.answer)
                ]
                # The dialogue may then send something else.
                answer = b"".join(reply for _, reply in answer) if random.random() < 0.5 else answer
            self._run_any(Replay(answer, _damage_octets(self.data, random) if self.data else b""))

    def test_numbers_without_end(self) -> None:
        """A number of thousands of digits is more than Python reads: it has a limit against quadratic time."""
        for number in (b"9" * 5000, b"0" * 5000, b"-1", b"f" * 5000):
            for answer, data in self._replace_matches(_NUMBER, number):
                self._run_any(Replay(answer, data))

    def test_encoded_words(self) -> None:
        """RFC 2047: in unknown charsets, in codecs that are not charsets, broken."""
        for word in _WORDS:
            for answer, data in self._replace_matches(_VALUE, word):
                self._run_any(Replay(answer, data))

    def _replace_matches(self, pattern: re.Pattern[bytes], replacement: bytes) -> Iterator[tuple[Recorded, bytes]]:
        """Yield the answer and the data with one match replaced, or all of them, in either."""
        exchanges = [(b"", self.answer)] if isinstance(self.answer, bytes) else list(self.answer)
        for number, (request, reply) in enumerate(exchanges):
            for changed in _replace_each(pattern, reply, replacement, self.runs // 10):
                yield [*exchanges[:number], (request, changed), *exchanges[number + 1 :]], self.data
        for changed in _replace_each(pattern, self.data, replacement, self.runs // 10):
            yield self.answer, changed

    def test_an_answer_without_end(self) -> None:
        length = self._length
        for offset in {*range(0, length, max(1, length // 16)), length}:
            for filler in _FILLERS:
                replay = Replay(self.answer, self.data, length=offset, again=filler)
                replay.run(self.dialogue(), most=100)

    def test_a_reader_who_stops(self) -> None:
        outcome = Replay(self.answer, self.data).run(_up_to_head(self.dialogue()))
        assert (outcome.head is None) == (self.whole().head is None)

    def test_no_password_is_shown(self) -> None:
        """RFC 3986 7.5: not even if a server repeats it somewhere in its answer."""
        random = Random(1738)
        received = self.answer if isinstance(self.answer, bytes) else b"".join(reply for _, reply in self.answer)
        locator = plan(self.uri, registry=self._registry()).locator
        password = next((password for _, password in logins(self.uri)), _PASSWORD)
        credentials = Credentials(getattr(locator, "user", None) or "joe", password)
        word = password.encode()
        for _ in range(min(self.runs, 200)):
            offset = random.randint(0, len(received))
            # In place of other octets, lengths in the answer hold.
            answer = received[:offset] + word + received[offset + random.choice((0, len(word))) :]
            outcome = self._run_any(Replay(answer, self.data), credentials)
            if outcome is not None and outcome.error is not None:
                texts = [str(outcome.error), repr(outcome.error), *format_exception(outcome.error)]
                assert password not in "".join(texts), f"repeated at {offset}: {outcome.error!r}"
            if outcome is not None and outcome.head is not None:
                assert password not in repr(outcome.head.details), f"repeated at {offset}: {outcome.head.details!r}"

    def test_data_make_no_lines(self) -> None:
        """At a port of another protocol, under the safe policy: a request is refused, or no line of it except the first
        begins with text of the URI (RFC 1738 6, RFC 3986 7.2)."""
        for text in _add_lines(self.uri):
            registry = self._registry()
            try:
                opening = Opening(text, Policy(), self.credentials, registry, None)
                opening.dialogue(opening.scheme())
            except OverthereError:
                continue
            for step in opening.plan.done.steps:
                for line in _LINE_BREAK.split(step.data)[1:] if isinstance(step, Send) else ():
                    assert not line.startswith(_INJECTED_COMMAND), f"{text} begins a line of {step.line()}"

    def _run_any(self, replay: Replay, credentials: Credentials | None = None) -> Outcome | None:
        try:
            return replay.run(self.dialogue(credentials), most=10_000)
        except AssertionError as error:
            # Another answer may lead to other questions than the recorded ones.
            if "it waits, but has not sent" in str(error):
                return None
            raise


_NUMBER = re.compile(rb"[0-9]++")
_VALUE = re.compile(rb"(?<=[\t :=])[^\t\r\n]++")
_WORDS = (
    b"=?\xc3\xa9?q?a?=", b"=?\0?b?YQ==?=", b"=?utf-8?b?Y?=", b"=?utf-8?q?=ff?=", b"=?punycode?b?LS0t?=",
    b"=?utf-7?q?+2AA-?=", b"=?zlib?b?eJw=?=", b"=?unicode_escape?q?=5Cx?=", b"=?undefined?q?a?=",
)  # fmt: skip


def _replace_each(pattern: re.Pattern[bytes], content: bytes, replacement: bytes, limit: int) -> Iterator[bytes]:
    places = [match.span() for match in islice(pattern.finditer(content), limit)]
    for start, end in places:
        yield content[:start] + replacement + content[end:]
    if places:
        yield pattern.sub(lambda _: replacement, content, 50)


_INJECTED_COMMAND = b"FLUSHALL"
_BREAKS = ("%0D%0A", "%0A", "%0D", "%00", "%0B", "%0C", "%1C", "%1D", "%1E", "%85", "%C2%85", "%E2%80%A8", "%E2%80%A9")


# Characters that a program reading lines may take for a line end.
_LINE_BREAK = re.compile(rb"[\x00\x0a-\x0d\x1c-\x1e]|\xc2\x85|\xe2\x80[\xa8\xa9]|(?<![\xc2-\xf4\x80-\xbf])\x85")
_PORT = re.compile(r"^([^:]+://(?:[^/?#@]*@)?(?:\[[^\]]*\]|[^/?#:]*))(?::[0-9]*)?")


def _add_lines(uri: str) -> Iterator[str]:
    """Yield the URI at a port of another protocol, with an extra line after each of its parts."""
    at_port = _PORT.sub(r"\1:6379", uri, count=1)
    for match in re.finditer("(?=[/?#;=,:@&!]|%09|$)", at_port):
        for end in _BREAKS:
            yield at_port[: match.start()] + end + _INJECTED_COMMAND.decode() + at_port[match.start() :]


def _up_to_head(dialogue: Dialogue) -> Dialogue:
    """Run the dialogue until its head."""
    from overthere.access.wire import Head

    effect = next(dialogue, None)
    while effect is not None:
        answer = yield effect
        if isinstance(effect, Head):
            dialogue.close()
            return
        try:
            effect = dialogue.send(answer)
        except StopIteration:
            return


def _damage_octets(octets: bytes, random: Random) -> bytes:
    """Return the octets with some changed, added or removed."""
    damaged = bytearray(octets)
    for _ in range(random.randint(1, 4)):
        offset = random.randint(0, len(damaged))
        size = random.choice((1, 1, 2, 8, 40))
        match random.randrange(6):
            case 0:
                damaged[offset : offset + size] = random.randbytes(size)
            case 1:
                damaged[offset:offset] = random.randbytes(size)
            case 2:
                del damaged[offset : offset + size]
            case 3:
                damaged[offset : offset + 1] = random.choice(
                    (b"\r\n", b"\n", b"\0", b"\xff" * 4, b"99999999999999999999", b"-1")
                )
            case 4:
                damaged[offset:offset] = damaged[offset : offset + size] * 3
            case _:
                damaged[offset : offset + 1] = bytes((random.choice(b"0123456789 .-()\t;:%"),))
    return bytes(damaged)
