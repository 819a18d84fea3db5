"""Partition refinement: equivalent states of an automaton, and states that can reach acceptance."""

from __future__ import annotations

from collections.abc import Sequence


def partition(rows: Sequence[Sequence[int]], accepting: Sequence[bool]) -> tuple[list[int], int]:
    """Refine by Hopcroft's algorithm: return per state the number of its class, and the number of classes."""
    sources: list[list[list[int]]] = [[[] for _ in rows] for _ in rows[0]]
    for state, row in enumerate(rows):
        for c, target in enumerate(row):
            sources[c][target].append(state)
    part = [int(a) for a in accepting]
    blocks = [{s for s, p in enumerate(part) if p == number} for number in (0, 1)]
    if not blocks[0] or not blocks[1]:
        return [0] * len(rows), 1
    smaller = int(len(blocks[1]) < len(blocks[0]))
    work = {(smaller, c) for c in range(len(rows[0]))}
    while work:
        splitter, c = work.pop()
        hits: dict[int, set[int]] = {}
        for target in blocks[splitter]:
            for state in sources[c][target]:
                hits.setdefault(part[state], set()).add(state)
        for number, inside in hits.items():
            block = blocks[number]
            if len(inside) == len(block):
                continue
            # The smaller half gets a new number, and later splits other blocks.
            moved = inside if 2 * len(inside) <= len(block) else block - inside
            block -= moved
            for state in moved:
                part[state] = len(blocks)
            work.update((len(blocks), d) for d in range(len(rows[0])))
            blocks.append(moved)
    return part, len(blocks)


def alive(rows: list[list[int]], final: list[bool]) -> set[int]:
    """Return the states from which acceptance can be reached."""
    sources: list[set[int]] = [set() for _ in rows]
    for state, row in enumerate(rows):
        for target in row:
            sources[target].add(state)
    live_states = {s for s, f in enumerate(final) if f}
    todo = list(live_states)
    while todo:
        for source in sources[todo.pop()]:
            if source not in live_states:
                live_states.add(source)
                todo.append(source)
    return live_states
