"""The automaton of a rule: deterministic, minimal, over bytes.

State 0 is the dead state: no continuation of the text is valid.  Numbers are canonical
(breadth first, classes by their smallest byte), so two automata of one language are equal.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from overthere.grammar.refinement import alive, partition
from overthere.ground.caches import cached_property

if TYPE_CHECKING:
    from overthere.kernel.runner import Runner

DEAD = 0


class Expected(NamedTuple):
    """The place up to which a text can begin a valid one, and the characters allowed there."""

    offset: int
    """Code points for str, bytes for bytes; the length of the text if all of it can be continued."""
    characters: frozenset[str]
    """The US-ASCII characters allowed at `offset`."""
    non_ascii: bool
    """Whether a character above U+007F is allowed there."""
    end: bool
    """Whether the text could end there."""


def _to_bytes(text: str | bytes) -> bytes:
    # A lone surrogate has no UTF-8 form; "surrogatepass" gives bytes that no grammar accepts.
    return text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text


def _readability(byte: int) -> tuple[int, int]:
    """Return a sort key by which the most readable bytes come first: letters, digits, visible marks, others."""
    char = chr(byte)
    if byte < 0x80 and char.isalnum():
        return (0 if char.islower() else 1 if char.isdigit() else 2), byte
    return (3 if 0x21 <= byte <= 0x7E else 4), byte


@dataclass(frozen=True, slots=False)
class Automaton:
    """A minimal DFA; two are equal if they accept the same language.

    classes: 256 bytes, byte value to class number.
    table: per state, `width` next states.
    """

    classes: bytes
    width: int
    table: tuple[int, ...]
    start: int
    accepting: frozenset[int]

    @classmethod
    def minimal(cls, rows: Sequence[Sequence[int]], classes: bytes, start: int, accepting: Sequence[bool]) -> Automaton:
        """Minimise an automaton by Hopcroft's refinement, and number its states canonically."""
        blocks, count = partition(rows, accepting)
        samples = {p: s for s, p in enumerate(blocks)}
        merged = [[blocks[t] for t in rows[samples[p]]] for p in range(count)]
        final = [accepting[samples[p]] for p in range(count)]
        return cls._canonical(merged, classes, blocks[start], final)

    @classmethod
    def _canonical(cls, rows: list[list[int]], classes: bytes, start: int, final: list[bool]) -> Automaton:
        # Merge byte classes that no state distinguishes, in the order of their smallest byte.
        columns: dict[tuple[int, ...], int] = {}
        joined = bytes(columns.setdefault(tuple(row[c] for row in rows), len(columns)) for c in classes)
        distinct = list(columns)
        living = alive(rows, final)
        numbers: dict[int, int] = {}
        order: list[int] = []
        table: list[int] = [DEAD] * len(distinct)
        if start in living:
            numbers[start] = 1
            order.append(start)
        for state in order:
            for column in distinct:
                target = column[state]
                if target not in living:
                    table.append(DEAD)
                    continue
                if target not in numbers:
                    numbers[target] = len(order) + 1
                    order.append(target)
                table.append(numbers[target])
        accepting = frozenset(numbers[s] for s in order if final[s])
        return cls(joined, len(distinct), tuple(table), numbers.get(start, DEAD), accepting)

    @classmethod
    def anything(cls) -> Automaton:
        """Return the automaton that accepts every string of Unicode characters, in UTF-8."""
        from overthere.grammar.abnf import Range, Repetition, Rule
        from overthere.grammar.construct import build

        return build({"any": Rule("any", Repetition(Range(0, 0x10FFFF), 0, None), "*%x0-10FFFF", 0)}, "any")

    def __reduce__(self) -> tuple[type[Automaton], tuple[object, ...]]:
        # The kernel's runner cannot be pickled; it is made again on first use.
        return Automaton, (self.classes, self.width, self.table, self.start, self.accepting)

    @property
    def states(self) -> int:
        """The number of states, the dead one included."""
        return len(self.table) // self.width

    @cached_property
    def runner(self) -> Runner:
        """The kernel's runner of this automaton."""
        from overthere.kernel import Runner

        return Runner(self.classes, self.width, self.table, self.start, sorted(self.accepting))

    def run(self, data: bytes, state: int | None = None) -> tuple[int, int]:
        """Run on `data`; return the number of bytes read before the dead state, and the last live state."""
        return self.runner.run(data, self.start if state is None else state)

    def accepts(self, text: str | bytes) -> bool:
        """Whether the rule matches the whole text.  Linear in its length."""
        data = _to_bytes(text)
        offset, state = self.run(data)
        return offset == len(data) and state in self.accepting

    def expected(self, text: str | bytes) -> Expected:
        """Return the place up to which the text can be read, and the characters allowed there."""
        data = _to_bytes(text)
        offset, state = self.run(data)
        if isinstance(text, str) and offset:
            # The bytes up to `offset` begin a valid text, so the last character may be incomplete, but not corrupt.
            offset = len(data[:offset].decode("utf-8", "ignore"))
            _, state = self.run(text[:offset].encode())
        follow = self.follow(state)
        characters = frozenset(chr(b) for b in follow if b < 0x80)
        return Expected(offset, characters, any(b >= 0x80 for b in follow), state in self.accepting)

    def follow(self, state: int | None = None) -> frozenset[int]:
        """Return the bytes that can be read in `state` (the start if None)."""
        row_start = (self.start if state is None else state) * self.width
        return frozenset(b for b in range(256) if self.table[row_start + self.classes[b]])

    # -- sets of strings

    def _combine(self, other: Automaton, final: Callable[[bool, bool], bool]) -> Automaton:
        pairs = sorted(set(zip(self.classes, other.classes, strict=True)))
        joint = bytes(map(pairs.index, zip(self.classes, other.classes, strict=True)))
        numbers = {(self.start, other.start): 0}
        order = [(self.start, other.start)]
        rows: list[list[int]] = []
        for a, b in order:
            row: list[int] = []
            for x, y in pairs:
                target = (self.table[a * self.width + x], other.table[b * other.width + y])
                if target not in numbers:
                    numbers[target] = len(order)
                    order.append(target)
                row.append(numbers[target])
            rows.append(row)
        return Automaton.minimal(rows, joint, 0, [final(a in self.accepting, b in other.accepting) for a, b in order])

    def difference(self, other: Automaton) -> Automaton:
        """Return the automaton of the strings that this one accepts and the other rejects."""
        return self._combine(other, lambda a, b: a and not b)

    def intersection(self, other: Automaton) -> Automaton:
        """Return the automaton of the strings that both accept."""
        return self._combine(other, lambda a, b: a and b)

    def union(self, other: Automaton) -> Automaton:
        """Return the automaton of the strings that at least one accepts."""
        return self._combine(other, lambda a, b: a or b)

    def complement(self) -> Automaton:
        """Return the automaton of all strings of Unicode characters that this one rejects."""
        return Automaton.anything().difference(self)

    @property
    def empty(self) -> bool:
        """Whether no string is accepted."""
        return not self.accepting

    # -- strings that it accepts

    @cached_property
    def _representatives(self) -> list[int]:
        """Per class, the most readable byte."""
        return [min((b for b in range(256) if self.classes[b] == c), key=_readability) for c in range(self.width)]

    @cached_property
    def _preferred(self) -> list[int]:
        """The classes in the order of their representatives."""
        return sorted(range(self.width), key=lambda c: _readability(self._representatives[c]))

    def _successors(self, state: int) -> Iterator[tuple[int, int]]:
        """Yield pairs of class and live next state, the most readable class first."""
        for c in self._preferred:
            if target := self.table[state * self.width + c]:
                yield c, target

    @cached_property
    def _access(self) -> dict[int, bytes]:
        """Per live state, the shortest bytes that lead to it."""
        shortest = {self.start: b""} if self.start else {}
        queue = deque(shortest)
        while queue:
            state = queue.popleft()
            for c, target in self._successors(state):
                if target not in shortest:
                    shortest[target] = shortest[state] + bytes([self._representatives[c]])
                    queue.append(target)
        return shortest

    def witness(self) -> str | None:
        """Return the shortest accepted string, by UTF-8 bytes (the most readable among equals), or None.

        >>> from overthere.editions import edition
        >>> edition("rfc3986").grammar.automaton("URI").witness()
        'a:'
        """
        for state, text in self._access.items():
            if state in self.accepting:
                return text.decode()
        return None

    def beyond(self, other: Automaton) -> list[str]:
        """Return the shortest strings that this automaton accepts and the other rejects, one for each kind of reason.

        The reason is where the other stops: at a letter, at a digit, at a certain mark, or only at the end.

        >>> from overthere.editions import edition
        >>> grammar = edition("rfc3986").grammar
        >>> grammar.automaton("path-absolute").beyond(grammar.automaton("segment"))
        ['/']
        """
        class_pairs = sorted({*zip(self.classes, other.classes, strict=True)})
        samples = [min((b for b in range(256) if (self.classes[b], other.classes[b]) == pair), key=_readability)
                  for pair in class_pairs]  # fmt: skip
        steps = sorted(zip(samples, class_pairs, strict=True), key=lambda step: _readability(step[0]))
        witnesses: dict[str, bytes] = {}
        access = {(self.start, other.start): b""}
        queue = deque(access)
        while queue:
            pair = state, other_state = queue.popleft()
            if state in self.accepting and other_state not in other.accepting:
                witnesses.setdefault("", access[pair])
            for byte, (x, y) in steps:
                target = self.table[state * self.width + x], other.table[other_state * other.width + y]
                if target[0] and target[1] and target not in access:
                    access[target] = access[pair] + bytes([byte])
                    queue.append(target)
                elif target[0] and not target[1]:
                    char = chr(byte)
                    reason = "letter" if char.isalpha() else "digit" if char.isdigit() else char
                    size = len(access[pair]) + 1 + self._distance[target[0]]
                    if reason not in witnesses or size < len(witnesses[reason]):
                        witnesses[reason] = access[pair] + bytes([byte]) + self._shortest_ending(target[0])
        return [text.decode() for text in sorted(witnesses.values(), key=len)]

    def _shortest_ending(self, state: int) -> bytes:
        """Return the shortest bytes that lead from a state to acceptance."""
        text = bytearray()
        while self._distance[state]:
            c, state = next((c, t) for c, t in self._successors(state) if self._distance[t] < self._distance[state])
            text.append(self._representatives[c])
        return bytes(text)

    @cached_property
    def _distance(self) -> list[int]:
        """Per state, the minimal number of bytes to acceptance (-1 for the dead state)."""
        back: list[list[int]] = [[] for _ in range(self.states)]
        for state in range(1, self.states):
            for target in set(self.table[state * self.width : (state + 1) * self.width]):
                back[target].append(state)
        distance = [-1] * self.states
        queue = deque(self.accepting)
        for state in queue:
            distance[state] = 0
        while queue:
            state = queue.popleft()
            for source in back[state]:
                if distance[source] < 0:
                    distance[source] = distance[state] + 1
                    queue.append(source)
        return distance

    def sample(self, n: int, seed: int = 0, length: int = 40) -> Iterator[str]:
        """Yield `n` accepted strings, the same for the same seed; most are shorter than about `length` bytes.

        Raises: ValueError if nothing is accepted.
        """
        if self.empty:
            raise ValueError("the automaton accepts nothing, so there is nothing to sample")
        import random

        chance = random.Random(seed)
        members = [[b for b in range(256) if self.classes[b] == c] for c in range(self.width)]
        steps = [list(self._successors(s)) for s in range(self.states)]
        for _ in range(n):
            state, goal, text = self.start, chance.randint(0, length), bytearray()
            while not (state in self.accepting and len(text) >= goal):
                choices = steps[state]
                if len(text) >= goal:
                    choices = [(c, t) for c, t in choices if self._distance[t] < self._distance[state]]
                if not choices:
                    break
                c, state = chance.choice(choices)
                text.append(chance.choice(members[c]))
            yield text.decode()

    def suffixes(self) -> list[bytes]:
        """Return a characterising set: for any two states, one of these is accepted from exactly one of them."""
        chosen = [b""]
        marks: list[list[bool]] = [[s in self.accepting] for s in range(self.states)]
        while True:
            groups: dict[tuple[bool, ...], int] = {}
            for s in range(self.states):
                groups.setdefault(tuple(marks[s]), s)
            if len(groups) == self.states:
                return chosen
            suffix = self._splitter(marks, groups)
            c, w = suffix
            chosen.append(bytes([self._representatives[c]]) + chosen[w])
            column = [marks[self.table[s * self.width + c]][w] for s in range(self.states)]
            for mark, bit in zip(marks, column, strict=True):
                mark.append(bit)

    def _splitter(self, marks: list[list[bool]], groups: dict[tuple[bool, ...], int]) -> tuple[int, int]:
        """Return a class and the index of a known suffix that together split a group of states."""
        for c in self._preferred:
            for s in range(self.states):
                representative = groups[tuple(marks[s])]
                if s == representative:
                    continue
                marks_of_state, marks_of_other = (marks[self.table[x * self.width + c]] for x in (s, representative))
                if marks_of_state != marks_of_other:
                    return c, next(
                        i for i, (a, b) in enumerate(zip(marks_of_state, marks_of_other, strict=True)) if a != b
                    )
        raise AssertionError("a minimal automaton has no equal states")  # pragma: no cover

    def cover(self) -> Iterator[bytes]:
        """Yield the W-method test set: each state, each class out of it, each characterising suffix.

        An implementation that agrees on all of them, has at most as many states and treats the bytes of
        a class alike, is equal to the grammar (Chow 1978).  Strings may repeat.
        """
        suffixes = self.suffixes()
        yield from suffixes
        for access in self._access.values():
            for byte in self._representatives:
                stem = access + bytes([byte])
                for suffix in suffixes:
                    yield stem + suffix
