"""Builds the minimal automaton of a rule from its syntax tree.

Thompson's construction and the subset construction, over bytes:
characters above U+007F become their UTF-8 sequences.  Bytes that no rule distinguishes share a class.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from overthere.grammar.abnf import Alternation, Concatenation, Literal, Node, Range, Reference, Repetition, Rule
from overthere.grammar.automaton import Automaton
from overthere.ground.errors import GrammarError, NotRegular

# A rule that needs more states before minimisation is rejected instead of filling memory.
MAX_STATES = 50_000


def build(rules: Mapping[str, Rule], name: str) -> Automaton:
    """Build the minimal automaton of the rule `name`.

    Raises: GrammarError if a name has no rule; NotRegular if a rule refers to itself, directly or
    through others (repetition is written with `*`: only then is the language regular for certain).
    """
    nfa = _Nfa(rules)
    start, end = nfa.state(), nfa.state()
    try:
        nfa.add(Reference(name.lower(), 0), start, end, ())
    except RecursionError:
        raise GrammarError(f"the rules below {name!r} refer to each other too deeply") from None
    return subsets(nfa.edges, nfa.free, [start], {end})


class _Nfa:
    """Thompson's automaton: `edges[s]` holds (byte set, state), `free[s]` the states reached without reading a byte."""

    def __init__(self, rules: Mapping[str, Rule]) -> None:
        self.rules = rules
        self.edges: list[list[tuple[int, int]]] = []
        self.free: list[list[int]] = []
        self.steps = 0

    def state(self) -> int:
        self.step()
        self.edges.append([])
        self.free.append([])
        return len(self.edges) - 1

    def step(self) -> None:
        """Count one step of the construction, and raise beyond the limit: a short rule may need very many."""
        self.steps += 1
        if self.steps > MAX_STATES:
            raise GrammarError(f"the rule needs more than {MAX_STATES} states")

    def add(self, node: Node, start: int, end: int, path: tuple[str, ...]) -> None:
        """Connect `start` to `end` by everything that `node` matches; `path` is the chain of rules above it."""
        self.step()
        match node:
            case Reference(name, line):
                if name in path:
                    chain = " -> ".join(self.rules[n].name for n in (*path[path.index(name) :], name))
                    raise NotRegular(f"{chain}: a rule that refers to itself is not regular", line or None)
                if name not in self.rules:
                    above = f" (in {self.rules[path[-1]].name})" if path else ""
                    raise GrammarError(f"there is no rule {name!r}{above}", line or None)
                self.add(self.rules[name].node, start, end, (*path, name))
            case Alternation(items):
                for item in items:
                    self.add(item, start, end, path)
            case Concatenation(items):
                for item in items[:-1]:
                    middle = self.state()
                    self.add(item, start, middle, path)
                    start = middle
                self.add(items[-1], start, end, path)
            case Repetition(item, low, high):
                self.repeat(item, low, high, start, end, path)
            case Range(low, high):
                self.characters(low, high, start, end)
            case Literal(text, case_sensitive):
                self.literal(text, case_sensitive, start, end)

    def repeat(self, item: Node, low: int, high: int | None, start: int, end: int, path: tuple[str, ...]) -> None:
        for _ in range(low):
            middle = self.state()
            self.add(item, start, middle, path)
            start = middle
        if high is None:
            # The loop has a state for itself: it must not leak into the neighbours.
            loop = self.state()
            self.free[start].append(loop)
            self.add(item, loop, loop, path)
            self.free[loop].append(end)
            return
        for _ in range(high - low):
            middle = self.state()
            self.free[start].append(end)
            self.add(item, start, middle, path)
            start = middle
        self.free[start].append(end)

    def literal(self, text: str, case_sensitive: bool, start: int, end: int) -> None:
        for char in text:
            middle = self.state()
            # RFC 5234 2.3: strings are case-insensitive, and their characters are US-ASCII.
            for c in {char} if case_sensitive or not char.isascii() else {char.lower(), char.upper()}:
                self.characters(ord(c), ord(c), start, middle)
            start = middle
        self.free[start].append(end)

    def characters(self, low: int, high: int, start: int, end: int) -> None:
        for sequence in utf8_ranges(low, high):
            state = start
            for i, (a, b) in enumerate(sequence):
                target = end if i == len(sequence) - 1 else self.state()
                byte_set = (1 << (b + 1)) - (1 << a)  # the bits from a to b
                self.edges[state].append((byte_set, target))
                state = target


def utf8_ranges(low: int, high: int) -> Iterator[list[tuple[int, int]]]:
    """Yield the UTF-8 forms (RFC 3629) of the code points low..high, without surrogates, as sequences of byte ranges.

    >>> list(utf8_ranges(0xA0, 0x7FF))
    [[(194, 194), (160, 191)], [(195, 223), (128, 191)]]
    """
    todo = [(low, high)]
    while todo:
        a, b = todo.pop()
        if a > b:
            continue
        limits = (0x80, 0x800, 0xD800, 0xE000, 0x10000)
        boundary = next((x for x in limits if a < x <= b), None)
        if boundary is not None:
            todo += [(boundary, b), (a, boundary - 1)]
            continue
        if 0xD800 <= a <= 0xDFFF:
            continue
        # Within one length, a range is a product of byte ranges only if the trailing bytes take all values.
        for bits in (6, 12, 18):
            m = (1 << bits) - 1
            if a >> bits != b >> bits:
                if a & m:
                    todo += [((a | m) + 1, b), (a, a | m)]
                    break
                if b & m != m:
                    todo += [(b & ~m, b), (a, (b & ~m) - 1)]
                    break
        else:
            first, last = chr(a).encode(), chr(b).encode()
            yield list(zip(first, last, strict=True))


def _byte_classes(masks: Iterable[int]) -> tuple[bytes, list[int]]:
    """Group bytes that are in the same masks into classes; return byte -> class, and one byte of each class."""
    groups = [(1 << 256) - 1]
    for mask in masks:
        groups = [g for old in groups for g in (old & mask, old & ~mask) if g]
    groups.sort(key=lambda g: g & -g)
    table = bytearray(256)
    for number, group in enumerate(groups):
        for byte in range(256):
            if group >> byte & 1:
                table[byte] = number
    return bytes(table), [(g & -g).bit_length() - 1 for g in groups]


def subsets(
    edges: Sequence[Sequence[tuple[int, int]]], free: Sequence[Sequence[int]], start: Iterable[int], accepting: set[int]
) -> Automaton:
    """Make the automaton deterministic by the subset construction, and minimise it."""
    masks = {mask for out in edges for mask, _ in out}
    classes, samples = _byte_classes(masks)
    reads = {mask: [c for c, byte in enumerate(samples) if mask >> byte & 1] for mask in masks}

    reach: dict[int, frozenset[int]] = {}

    def closure(states: Iterable[int]) -> frozenset[int]:
        return frozenset().union(*(reach[s] if s in reach else closure_of(s) for s in states))

    def closure_of(state: int) -> frozenset[int]:
        seen = {state}
        todo = [state]
        while todo:
            for t in free[todo.pop()]:
                if t not in seen:
                    seen.add(t)
                    todo.append(t)
        # Only states that read a byte or accept make a difference between sets of states.
        reach[state] = frozenset(s for s in seen if edges[s] or s in accepting)
        return reach[state]

    first = closure(start)
    numbers = {frozenset[int](): 0, first: 1}
    order = [frozenset[int](), first]
    rows: list[list[int]] = []
    for state_set in order:
        targets: dict[int, set[int]] = {}
        for mask, t in (edge for s in state_set for edge in edges[s]):
            for c in reads[mask]:
                targets.setdefault(c, set()).add(t)
        row = [0] * len(samples)
        for c in sorted(targets):
            target = closure(targets[c])
            if target not in numbers:
                if len(order) >= MAX_STATES:
                    raise GrammarError(f"the rule needs more than {MAX_STATES} states")
                numbers[target] = len(order)
                order.append(target)
            row[c] = numbers[target]
        rows.append(row)
    return Automaton.minimal(rows, classes, 1, [bool(state_set & accepting) for state_set in order])
