"""The findings of `overthere broken` as lines for people: by document, by target or by kind."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Iterator

from overthere.base import file_uri
from overthere.broken.model import KINDS, Broken
from overthere.broken.report import advice, group_by_target
from overthere.cli.styles import HEADING, LEVELS, SIDE, Piece, wrap_fields
from overthere.ground.display import printable, printable_name, shorten
from overthere.ground.redact import mask

__all__ = ["GROUPS", "lines"]

GROUPS = ("file", "target", "kind")
_LONGEST = 1000
"""Characters of a reference that are printed; the other formats have it whole."""
_PLACES = 3
"""Places that are printed of a group."""
_MANY = 10
"""Findings of one target, above which a terminal shows findings by target."""
_SHOWN = 50
"""Findings, or targets, that a terminal shows where no grouping is asked for."""


def lines(findings: Iterable[Broken], by: str | None, width: int | None) -> Iterator[list[Piece]]:
    """The lines.

    by: of `GROUPS`; None: by document, and on a terminal the first of them, by target where many share one.
    width: of the terminal, in columns; None if the output is not a terminal.
    """
    if by is None and width is not None:
        yield from _first_lines(findings, width)
    elif by == "target":
        yield from _by_target(group_by_target(findings), width)
    elif by == "kind":
        yield from _by_kind(group_by_target(findings))
    else:
        yield from _by_document(findings, width)


def _first_lines(findings: Iterable[Broken], width: int) -> Iterator[list[Piece]]:
    found: list[Broken] = []
    stopped = None
    try:
        found.extend(findings)
    except KeyboardInterrupt as error:  # what was found until then is shown
        stopped = error
    groups = group_by_target(found)
    if groups and len(groups[0]) > _MANY:
        yield from _by_target(groups[:_SHOWN], width)
        rest = [one for group in groups[_SHOWN:] for one in group]
    else:
        yield from _by_document(found[:_SHOWN], width)
        rest = found[_SHOWN:]
    if rest:
        kinds = ", ".join(f"{count:,} {kind}" for kind, count in Counter(one.kind for one in rest).most_common())
        yield [Piece(f"and {len(rest):,} more: {kinds}; all of them with --group file, or -o FILE.html", SIDE)]
    if stopped is not None:
        raise stopped


def _by_document(findings: Iterable[Broken], width: int | None) -> Iterator[list[Piece]]:
    source = None
    for found in findings:
        if found.source != source:
            source = found.source
            yield [Piece(printable_name(source), HEADING)]
        place = "-" if found.line is None else f"{found.line:>4}:{found.column}"
        fields = [
            Piece(f"{place:<9}", SIDE), Piece(f"{found.level:<7}", LEVELS[found.level]), Piece(f"{found.kind:<11}"),
            Piece("; ".join(filter(None, (_reason(found), advice(found)))), SIDE),
        ]  # fmt: skip
        if found.reference is not None:
            fields.insert(3, Piece(shorten(printable(mask(found.reference)), _LONGEST)))
        yield wrap_fields(fields, width)


def _reason(found: Broken) -> str:
    """The reason; what to do about each finding of its kind is in the summary."""
    return found.why.removesuffix(f"; {KINDS[found.kind].remedy}")


def _by_target(groups: Iterable[list[Broken]], width: int | None) -> Iterator[list[Piece]]:
    for group in groups:
        first = group[0]
        fields = [
            Piece(f"{len(group):>5,}", SIDE), Piece(f"{first.level:<7}", LEVELS[first.level]), Piece(first.kind),
            Piece(printable(mask(_target(first))), HEADING),
            Piece("; ".join(filter(None, (_reason(first), advice(first)))), SIDE),
        ]  # fmt: skip
        places = ", ".join(
            f"{printable_name(mask(found.source))}{'' if found.line is None else f':{found.line}:{found.column}'}"
            for found in group[:_PLACES]
        )
        if len(group) == 1:
            yield wrap_fields([*fields, Piece(places, SIDE)], width)
            continue
        yield wrap_fields(fields, width)
        more = f", and {len(group) - _PLACES:,} more" if len(group) > _PLACES else ""
        yield [Piece(f"         {places}{more}", SIDE)]


def _by_kind(groups: Iterable[list[Broken]]) -> Iterator[list[Piece]]:
    kinds: dict[str, list[list[Broken]]] = {}
    for group in groups:
        kinds.setdefault(group[0].kind, []).append(group)
    counts = Counter({kind: sum(map(len, some)) for kind, some in kinds.items()})
    for kind, count in counts.most_common():
        some = kinds[kind]
        targets = "1 target" if len(some) == 1 else f"{len(some):,} targets"
        yield [Piece(f"{count:>7,}  ", SIDE), Piece(kind, HEADING), Piece(f"  {targets}", SIDE)]
        for group in some[:_PLACES]:
            yield [Piece(f"{len(group):>11,}  ", SIDE), Piece(printable(mask(_target(group[0]))))]
        if len(some) > _PLACES:
            yield [Piece(f"             and {len(some) - _PLACES:,} more targets", SIDE)]


def _target(found: Broken) -> str:
    """What a finding is about; a file relative to the current folder."""
    about = found.target or found.reference or found.source
    return about.removeprefix(f"{file_uri(os.curdir)}/").removeprefix(str(file_uri(os.sep))[:-1])
