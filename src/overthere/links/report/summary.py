"""The summary of a job, counted from batches: for people, as JSON, and added up over workers."""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from typing import Any, Self

from overthere.columns.rowwise import compute
from overthere.ground.display import columns, printable
from overthere.links.model import UNREAD
from overthere.links.report import graph
from overthere.tables.checkpoint import ResumeError

__all__ = ["NOBODY", "Summary", "Top", "read_state", "shorten_middle"]

NOBODY = "(empty host)"
"""How a host is shown that is there and empty, as in `file:///`."""

_NUMBERS = (
    "documents", "unread", "octets", "references", "same_document", "internal", "external", "hostless", "mapped",
)  # fmt: skip
_COUNTERS = ("kinds", "passed", "notes", "layers", "invalid", "audit")
_TOPS = ("hosts", "schemes")
_LONGEST = 255
"""Characters of a name that is counted: no host of the DNS has more (RFC 3986 3.2.2)."""


class Top:
    """Which names come most often, of any number of them, in bounded memory (Misra and Gries).

    Exact up to `size` distinct names.  Beyond, the least frequent are forgotten and every count may be too small,
    by `missed` at most, which is less than what was counted divided by `size`.  Two can be added, with the same
    promise (Agarwal and others, Mergeable Summaries).

    >>> top = Top(2)
    >>> for name in ("a", "a", "a", "b", "c"):
    ...     top.add([(name, 1)])
    >>> top.counts, top.missed
    (Counter({'a': 2}), 1)
    """

    def __init__(self, size: int = 20_000) -> None:
        self.size = size
        self.counts: Counter[str] = Counter()
        self.missed: int = 0

    def add(self, counts: Iterable[tuple[str, int]]) -> None:
        for name, number in counts:
            self.counts[name if len(name) <= _LONGEST else name[: _LONGEST - 1] + "…"] += number
            if len(self.counts) > 2 * self.size:
                self._decrement()
        if len(self.counts) > self.size:
            self._decrement()

    def _decrement(self) -> None:
        """Take from each count what the first beyond `size` has: as many names go."""
        less = sorted(self.counts.values(), reverse=True)[self.size]
        self.missed += less
        self.counts = Counter({name: number - less for name, number in self.counts.items() if number > less})

    def __add__(self, other: Top) -> Top:
        both = Top(min(self.size, other.size))
        both.missed = self.missed + other.missed
        both.counts = self.counts + other.counts
        if len(both.counts) > both.size:
            both._decrement()
        return both

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Top) and vars(self) == vars(other)

    def ranking(self) -> list[tuple[str, int]]:
        """The names and their counts, most frequent first, then by name."""
        return sorted(self.counts.items(), key=lambda item: (-item[1], item[0]))


class Summary:
    """Counts; `a + b` are those of both.  Each worker has one, and the job adds them up."""

    def __init__(self) -> None:
        self.documents: int = 0
        self.unread: int = 0
        """Documents of which not all was read."""
        self.octets: int = 0
        """That were read."""
        self.seconds: float = 0.0
        """That the job took, if it was told."""
        self.references: int = 0
        self.same_document: int = 0
        self.internal: int = 0
        """Valid references whose target has the host of the base."""
        self.external: int = 0
        self.hostless: int = 0
        """Valid references whose target has no authority."""
        self.mapped: int = 0
        """Valid references that were IRIs (RFC 3987 3.1)."""
        self.kinds: Counter[str] = Counter()
        """Documents by kind."""
        self.passed: Counter[str] = Counter()
        """What held no document that can be read, by kind: images, requests and so on; and what of documents is read by
        choice only."""
        self.notes: Counter[str] = Counter()
        """What was the matter with documents, by `NOTES`."""
        self.layers: Counter[str] = Counter()
        """References by the layer that gave their base (RFC 3986 5.1)."""
        self.invalid: Counter[str] = Counter()
        """References without target, by the kind of their first finding."""
        self.audit: Counter[str] = Counter()
        self.hosts: Top = Top()
        """Of targets."""
        self.schemes: Top = Top(1000)
        """Of targets without authority."""

    def document(self, kind: str = "", octets: int = 0, count: int = 1) -> None:
        """Documents were read; one without references has no row in the table."""
        self.documents += count
        self.octets += octets
        if kind:
            self.kinds[kind] += count

    def add(self, batch: Any, pairs: Any = None) -> None:
        """Count the rows of a batch; `pairs` is the result of `graph.pairs` for it, if already computed.

        The rows of a document's notes must be in one batch, or the document counts as unread twice.
        """
        pc = compute()
        reference, target, error = (batch.column(name) for name in ("reference", "target", "error"))
        refers = reference.is_valid()
        leads = target.is_valid()
        self.references += pc.sum(refers).as_py() or 0
        self.same_document += pc.sum(batch.column("same_document")).as_py() or 0
        self.mapped += pc.sum(pc.and_(leads, error.is_valid())).as_py() or 0
        self.layers.update(_counts(batch.column("base_from").filter(refers), "none"))
        self.invalid.update(_counts(error.filter(pc.and_(error.is_valid(), pc.and_not(refers, leads))), "none"))
        notes = batch.filter(pc.and_not(error.is_valid(), refers))
        if notes.num_rows:
            self.notes.update(_counts(notes.column("error"), "none"))
            kinds, sources = (notes.column(name).to_pylist() for name in ("error", "source"))
            self.unread += len({source for kind, source in zip(kinds, sources, strict=True) if kind in UNREAD})
        audit = batch.column("audit").drop_null()
        if len(audit):
            self.audit.update(_counts(pc.list_flatten(pc.split_pattern(audit, " ")), ""))
            del self.audit[""]
        self._add_pairs(graph.pairs(batch) if pairs is None else pairs)

    def _add_pairs(self, pairs: Any) -> None:
        hosts: Counter[str] = Counter()
        schemes: Counter[str] = Counter()
        for source, host, scheme, links in zip(*(column.to_pylist() for column in pairs.columns), strict=True):
            if host is None:
                self.hostless += links
                schemes[scheme] += links
                continue
            hosts[host] += links
            if host == source:
                self.internal += links
            else:
                self.external += links
        self.hosts.add(hosts.items())
        self.schemes.add(schemes.items())

    def __add__(self, other: Summary) -> Summary:
        both = Summary()
        for name in vars(both):
            setattr(both, name, getattr(self, name) + getattr(other, name))
        return both

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Summary) and vars(self) == vars(other)

    def to_dict(self, hosts: int | None = None) -> dict[str, Any]:
        """The counts for JSON, with this many hosts; None: all, which resuming needs."""
        counts: dict[str, Any] = {name: getattr(self, name) for name in (*_NUMBERS, "seconds")}
        for name in _COUNTERS:
            counts[name] = dict(getattr(self, name).most_common())
        for name in _TOPS:
            top = getattr(self, name)
            counts[name] = {"missed": top.missed, "counts": dict(top.ranking()[:hosts])}
        return counts

    @classmethod
    def from_dict(cls, counts: Mapping[str, Any]) -> Self:
        """The inverse of `to_dict`.

        >>> one = Summary()
        >>> one.document("html", octets=1000)
        >>> Summary.from_dict(one.to_dict()) == one
        True

        Raises: ValueError for another dictionary.
        """
        made = cls()
        try:
            for name in (*_NUMBERS, "seconds"):
                setattr(made, name, _number(counts[name]))
            for name in _COUNTERS:
                setattr(made, name, Counter({one: _number(count) for one, count in counts.get(name, {}).items()}))
            for name in _TOPS:
                top, there = getattr(made, name), counts[name]
                top.missed = _number(there["missed"])
                top.counts = Counter({one: _number(count) for one, count in there["counts"].items()})
        except (AttributeError, KeyError, TypeError) as error:
            raise ValueError(f"not the counts of a summary: {error}") from None
        return made

    def lines(self, width: int = 80, hosts: int = 5) -> list[str]:
        """The counts for people: a word, a number, and its parts; wrapped to `width` columns."""
        rows = [row for row in self._rows() if row[1] or row[0].strip() in ("documents", "references", "invalid")]
        words = max(len(word) for word, _, _ in rows)
        ranked = self.hosts.ranking()[:hosts]
        numbers = max(len(f"{number:,}") for number in (*(row[1] for row in rows), *(row[1] for row in ranked)))
        margin = words + numbers + 5
        shown = []
        for word, number, parts in rows:
            front = f"{word:{words}}  {number:>{numbers},}   "
            # A part is not broken between its name and its number.
            joined = ", ".join(parts).replace(" ", "\xa0").replace(",\xa0", ", ")
            wrapped = textwrap.wrap(joined, max(width - margin, 16), break_on_hyphens=False) or [""]
            shown += [(front + wrapped[0]).rstrip()]
            shown += [" " * margin + line for line in wrapped[1:]]
        if self.hosts.counts:
            shown += ["", f"most links to{self._describe()}"]
            for host, number in ranked:
                name = shorten_middle(printable(host), width - margin) or NOBODY
                shown.append(f"{'':{words}}  {number:>{numbers},}   {name}")
        if speed := self._speed():
            shown += ["", *textwrap.wrap(speed, width)]
        return [line.replace("\xa0", " ") for line in shown]

    def _rows(self) -> Iterator[tuple[str, int, list[str]]]:
        yield "documents", self.documents, _parts(self.kinds)
        yield "  not read completely", self.unread, []
        yield "  with notes", sum(self.notes.values()), _parts(self.notes)
        yield "  skipped", sum(self.passed.values()), _parts(self.passed)
        yield "references", self.references, _parts(self.layers, "base from ")
        yield "  same document", self.same_document, []
        yield "  to the same host", self.internal, []
        yield "  to other hosts", self.external, []
        yield "  to no host", self.hostless, _parts(Counter(dict(self.schemes.ranking()[:8])))
        yield "  mapped from IRIs", self.mapped, []
        yield "  invalid", sum(self.invalid.values()), _parts(self.invalid)
        yield "audit findings", sum(self.audit.values()), _parts(self.audit)

    def _describe(self) -> str:
        return f" (counts may be {self.hosts.missed:,} too small)" if self.hosts.missed else ""

    def _speed(self) -> str:
        amount = _amount(self.octets)
        if not self.seconds:
            return f"{amount} read" if self.octets else ""
        if self.seconds < 1:  # most of it was starting
            return f"{amount if self.octets else 'all'} in {_time(self.seconds)}"
        rates = f"{self.documents / self.seconds:,.0f} documents/s, {self.references / self.seconds:,.0f} references/s"
        read = f"{amount} in {_time(self.seconds)}, {_amount(self.octets / self.seconds)}/s" if self.octets else ""
        return f"{read or _time(self.seconds)}: {rates}"


def read_state(state: Mapping[str, Any], name: str) -> tuple[int, str, Summary]:
    """The number of tasks, the mark of the last one and the counts in the state of a job.

    Raises: ResumeError, with the name of the table, if it is none.
    """
    tasks, mark = state.get("tasks"), state.get("mark")
    with suppress(KeyError, ValueError):
        if type(tasks) is int and tasks >= 0 and type(mark) is str:
            return tasks, mark, Summary.from_dict(state["summary"])
    raise ResumeError(name, "its mark is unreadable, so the job cannot continue")


def _number(value: Any) -> Any:
    if type(value) not in (int, float) or not 0 <= value < 1 << 63:
        raise ValueError("the counts of a summary are numbers from 0 on")
    return value


def _counts(column: Any, undefined: str) -> dict[str, int]:
    counted = column.value_counts()
    names = [undefined if name is None else name for name in counted.field("values").to_pylist()]
    return dict(zip(names, counted.field("counts").to_pylist(), strict=True))


def _parts(counter: Mapping[str, int], before: str = "") -> list[str]:
    ranked = sorted(counter.items(), key=lambda item: (-item[1], item[0]))
    return [f"{before if place == 0 else ''}{printable(name)} {n:,}" for place, (name, n) in enumerate(ranked) if n]


def _amount(octets: float) -> str:
    for unit in ("octets", "kB", "MB", "GB"):
        if octets < 1000:
            return f"{octets:,.0f} {unit}" if unit == "octets" or octets >= 100 else f"{octets:,.1f} {unit}"
        octets /= 1000
    return f"{octets:,.1f} TB"


def _time(seconds: float) -> str:
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes:02} min" if hours else f"{minutes} min {rest:02} s"


def shorten_middle(text: str, width: int) -> str:
    """A text in so many columns: of a longer one the middle goes, for a host ends with what says most.

    >>> shorten_middle("www.a-very-long-name.example.org", 16)
    'www.a-…ample.org'
    """
    if columns(text) <= width:
        return text
    text = text[:width] + text[-width:] if len(text) > 2 * width else text
    left, right = len(text) // 2, len(text) // 2
    left = min(left, (width - 1) * 2 // 5)
    right = max(left, len(text) - (width - 1 - left))
    while right < len(text) and columns(text[:left]) + 1 + columns(text[right:]) > width:
        right += 1
    while left and columns(text[:left]) + 1 + columns(text[right:]) > width:
        left -= 1
    return f"{text[:left]}…{text[right:]}"
