"""Findings of `overthere broken` by target or by kind: one entry for a fault that many pages have."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from rich.text import Text

from overthere.broken.model import Broken
from overthere.broken.report import advice, group_by_target
from overthere.cli.styles import HEADING, LEVELS, SIDE, wrap_fields
from overthere.ground.display import printable
from overthere.ground.redact import mask

__all__ = ["GROUPS", "show_groups"]

GROUPS = ("file", "target", "kind")
_PLACES = 3
"""Places that are printed of a group."""


def show_groups(findings: Iterable[Broken], by: str, width: int | None) -> Iterator[Text]:
    """Lines for people: the groups with the most findings first.

    width: of the terminal, in columns; None if the output is not a terminal.
    """
    groups = group_by_target(findings)
    if by == "target":
        for group in groups:
            yield from _show_target(group, width)
        return
    kinds: dict[str, list[list[Broken]]] = {}
    for group in groups:
        kinds.setdefault(group[0].kind, []).append(group)
    counts = Counter({kind: sum(map(len, some)) for kind, some in kinds.items()})
    for kind, count in counts.most_common():
        some = kinds[kind]
        targets = "1 target" if len(some) == 1 else f"{len(some):,} targets"
        yield Text.assemble((f"{count:>7,}  ", SIDE), (kind, HEADING), (f"  {targets}", SIDE))
        for group in some[:_PLACES]:
            yield Text.assemble((f"{len(group):>11,}  ", SIDE), printable(mask(_target(group[0]))))
        if len(some) > _PLACES:
            yield Text(f"             and {len(some) - _PLACES:,} more targets", SIDE)


def _show_target(group: list[Broken], width: int | None) -> Iterator[Text]:
    first = group[0]
    fields = (
        Text(f"{len(group):>5,}", SIDE), Text(f"{first.level:<7}", LEVELS[first.level]), Text(first.kind),
        Text(printable(mask(_target(first))), HEADING),
        Text("; ".join(filter(None, (first.why, advice(first)))), SIDE),
    )  # fmt: skip
    yield wrap_fields(fields, width)
    for found in group[:_PLACES]:
        place = "" if found.line is None else f":{found.line}:{found.column}"
        yield Text(f"         {printable(mask(found.source))}{place}", SIDE)
    if len(group) > _PLACES:
        yield Text(f"         and {len(group) - _PLACES:,} more", SIDE)


def _target(found: Broken) -> str:
    return found.target or found.reference or found.source
