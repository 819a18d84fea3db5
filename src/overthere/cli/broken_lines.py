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

GROUPS = ("file", "target", "kind")
_MAX_REFERENCE = 1000
"""Maximum printed characters of a reference; other formats have all of it."""
_MAX_PLACES = 3
"""Maximum printed places of a target, or targets of a kind."""
_MANY_OF_TARGET = 10
"""With more findings of one target than this, a terminal shows findings by target."""
_MAX_SHOWN = 50
"""Findings, or targets, that a terminal shows if no grouping is requested."""


def lines(findings: Iterable[Broken], by: str | None, width: int | None) -> Iterator[list[Piece]]:
    """Yield the lines.

    by: of `GROUPS`; None: by document, on a terminal only the first ones, by target if many share one.
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
    collected: list[Broken] = []
    stopped = None
    try:
        collected.extend(findings)
    except KeyboardInterrupt as error:  # the findings so far are shown
        stopped = error
    groups = group_by_target(collected)
    if groups and len(groups[0]) > _MANY_OF_TARGET:
        yield from _by_target(groups[:_MAX_SHOWN], width)
        unseen = [finding for group in groups[_MAX_SHOWN:] for finding in group]
    else:
        yield from _by_document(collected[:_MAX_SHOWN], width)
        unseen = collected[_MAX_SHOWN:]
    if unseen:
        kinds = ", ".join(f"{count:,} {kind}" for kind, count in Counter(item.kind for item in unseen).most_common())
        yield [Piece(f"and {len(unseen):,} more: {kinds}; all of them with --group file, or -o FILE.html", SIDE)]
    if stopped is not None:
        raise stopped


def _by_document(findings: Iterable[Broken], width: int | None) -> Iterator[list[Piece]]:
    source = None
    for item in findings:
        if item.source != source:
            source = item.source
            yield [Piece(printable_name(mask(source)), HEADING)]
        place = "-" if item.line is None else f"{item.line:>4}:{item.column}"
        fields = [
            Piece(f"{place:<9}", SIDE), Piece(f"{item.level:<7}", LEVELS[item.level]), Piece(f"{item.kind:<11}"),
            Piece("; ".join(filter(None, (_reason(item), advice(item)))), SIDE),
        ]  # fmt: skip
        if item.reference is not None:
            fields.insert(3, Piece(shorten(printable(mask(item.reference)), _MAX_REFERENCE)))
        yield wrap_fields(fields, width)


def _reason(finding: Broken) -> str:
    """Return the reason; the summary has the remedy for each kind of finding."""
    return mask(finding.why).removesuffix(f"; {KINDS[finding.kind].remedy}")


def _by_target(groups: Iterable[list[Broken]], width: int | None) -> Iterator[list[Piece]]:
    for group in groups:
        first = group[0]
        fields = [
            Piece(f"{len(group):>5,}", SIDE), Piece(f"{first.level:<7}", LEVELS[first.level]), Piece(first.kind),
            Piece(printable(mask(_target(first))), HEADING),
            Piece("; ".join(filter(None, (_reason(first), advice(first)))), SIDE),
        ]  # fmt: skip
        places = ", ".join(
            f"{printable_name(mask(item.source))}{'' if item.line is None else f':{item.line}:{item.column}'}"
            for item in group[:_MAX_PLACES]
        )
        if len(group) == 1:
            yield wrap_fields([*fields, Piece(places, SIDE)], width)
            continue
        yield wrap_fields(fields, width)
        omitted = f", and {len(group) - _MAX_PLACES:,} more" if len(group) > _MAX_PLACES else ""
        yield [Piece(f"         {places}{omitted}", SIDE)]


def _by_kind(groups: Iterable[list[Broken]]) -> Iterator[list[Piece]]:
    kinds: dict[str, list[list[Broken]]] = {}
    for group in groups:
        kinds.setdefault(group[0].kind, []).append(group)
    counts = Counter({kind: sum(map(len, target_groups)) for kind, target_groups in kinds.items()})
    for kind, count in counts.most_common():
        target_groups = kinds[kind]
        targets = "1 target" if len(target_groups) == 1 else f"{len(target_groups):,} targets"
        yield [Piece(f"{count:>7,}  ", SIDE), Piece(kind, HEADING), Piece(f"  {targets}", SIDE)]
        for group in target_groups[:_MAX_PLACES]:
            yield [Piece(f"{len(group):>11,}  ", SIDE), Piece(printable(mask(_target(group[0]))))]
        if len(target_groups) > _MAX_PLACES:
            yield [Piece(f"             and {len(target_groups) - _MAX_PLACES:,} more targets", SIDE)]


def _target(finding: Broken) -> str:
    """Return the subject of a finding; a file as its path, relative if it is below the current folder."""
    subject = finding.target or finding.reference or finding.source
    return subject.removeprefix(f"{file_uri(os.curdir)}/").removeprefix(str(file_uri(os.sep))[:-1])
