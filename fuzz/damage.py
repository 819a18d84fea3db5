"""Archives that the targets make themselves and then damage: each record is returned, or a note is.

An input is one octet for the kind, and damages of four octets: the kind, the place (two octets, as a share of the
length), and the octet to use.  With the highest bit of the first octet, what follows is the archive as it stands.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from overthere.links.model import NOTES, Document, Note, PassedContent

RAW = 0x80
"""The bit of the first octet with which the rest is taken as it stands."""


class Span(NamedTuple):
    """Octets [start, end)."""

    start: int
    end: int

    def __contains__(self, at: object) -> bool:
        return isinstance(at, int) and self.start <= at < self.end


class ReadResult(NamedTuple):
    """The results of a reader for an archive."""

    contents: tuple[bytes, ...]
    notes: tuple[str, ...]


@dataclass(frozen=True)
class SampleArchive:
    """An archive that is whole, and what its format can tell."""

    name: str
    octets: bytes
    contents: tuple[bytes, ...]
    checked: bool
    """Whether the format tells that octets of a content are other ones."""
    free: tuple[Span, ...] = ()
    """Octets that may be other ones without harm to the format: it means something else then."""
    ends: Mapping[int, tuple[bytes, ...]] = field(default_factory=dict[int, tuple[bytes, ...]])
    """Lengths at which it is a whole archive too, and its contents then."""
    reach: tuple[int, ...] = ()
    """Up to where each record reaches: damage from there on costs it nothing."""
    listed: bool = False
    """Whether a directory lists the records, so that a change in it may cost any; a cut does not."""


Reader = Callable[[bytes], Iterator[Document | Note | PassedContent]]


def check_damaged(data: bytes, archives: tuple[SampleArchive, ...], reader: Reader) -> None:
    """Judge one input.  Raises: AssertionError."""
    if not data:
        return
    if data[0] & RAW:
        read_archive(reader, data[1:])
        return
    sample = archives[data[0] % len(archives)]
    octets, changed = sample.octets, set[int]()
    for change, place, value in damages(data[1:]):
        at = place * len(octets) >> 16
        match change % 4:
            case 0:
                octets = octets[:at]
            case 1 if at < len(octets):
                octets = octets[:at] + bytes((octets[at] ^ (1 << value % 8),)) + octets[at + 1 :]
                changed.add(at)
            case 2 if at < len(octets):
                octets = octets[:at] + bytes((value,)) + octets[at + 1 :]
                changed.add(at)
            case _:
                pass
    judge(sample, octets, changed, read_archive(reader, octets))


def damages(data: bytes) -> Iterator[tuple[int, int, int]]:
    """The kind, the place and the octet; at most eight."""
    for at in range(0, min(len(data), 32) - 3, 4):
        yield data[at], int.from_bytes(data[at + 1 : at + 3], "big"), data[at + 3]


def read_archive(reader: Reader, octets: bytes) -> ReadResult:
    """The results of a reader.  Raises: AssertionError for what no reader may give."""
    contents: list[bytes] = []
    notes: list[str] = []
    for result in reader(octets):
        notes += [result.kind] if isinstance(result, Note) else getattr(result, "notes", ())
        if isinstance(result, Document):
            result.source.encode()
            contents.append(result.content)
        assert len(contents) + len(notes) <= len(octets) + 8, "more documents and notes than octets"
    assert set(notes) <= set(NOTES), notes
    return ReadResult(tuple(contents), tuple(notes))


def judge(sample: SampleArchive, octets: bytes, changed: set[int], result: ReadResult) -> None:
    """All records before the damage are returned; without a note, all are, or all before a cut between two.

    Raises: AssertionError.
    """
    safe = 0 if sample.listed and changed else min((len(octets), *changed))
    complete = sum(end <= safe for end in sample.reach)
    assert result.contents[:complete] == sample.contents[:complete], (
        f"{sample.name}, {len(octets)} of {len(sample.octets)} octets, changed at {sorted(changed)}: "
        f"of {complete} records before that, not all are given: {len(result.contents)}, {result.notes}"
    )
    # Empty lines alone do not show that more followed.
    if result.notes or not octets.strip() or any(at in span for at in changed for span in sample.free):
        return
    want = sample.ends.get(len(octets), sample.contents)
    same = result.contents == want if sample.checked else list(map(len, result.contents)) == list(map(len, want))
    assert same, (
        f"{sample.name}, {len(octets)} of {len(sample.octets)} octets, changed at {sorted(changed)}: "
        f"nothing is said, and {len(result.contents)} of {len(want)} records were given as they are"
    )
