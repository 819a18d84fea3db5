"""The summary of a job, counted from batches: for people, as JSON, and added up over workers."""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from typing import Any, Self

from overthere.files.tables.checkpoint import ResumeError
from overthere.ground.display import columns, printable
from overthere.links.model import UNREAD
from overthere.links.report.batch import AnyBatch, Pair

EMPTY_HOST = "(empty host)"
"""The text for an empty host, as in `file:///`."""

_NUMBERS = (
    "documents", "unread", "octets", "references", "same_document", "internal", "external", "hostless", "mapped",
)  # fmt: skip
_COUNTERS = ("kinds", "passed", "notes", "layers", "invalid", "audit")
_TOPS = ("hosts", "schemes")
_MAX_NAME_LENGTH = 255
"""Characters of a counted name; longer ones are shortened.  No host of the DNS has more (RFC 3986 3.2.2)."""


class Top:
    """Counts the most frequent of any number of names, in bounded memory (Misra and Gries).

    Exact up to `size` distinct names.  Beyond, the least frequent are dropped and every count may be too small,
    by `missed` at most, which is less than the total count divided by `size`.  Sums of two keep this
    guarantee (Agarwal and others, Mergeable Summaries).

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
            self.counts[name if len(name) <= _MAX_NAME_LENGTH else name[: _MAX_NAME_LENGTH - 1] + "…"] += number
            if len(self.counts) > 2 * self.size:
                self._decrement()
        if len(self.counts) > self.size:
            self._decrement()

    def _decrement(self) -> None:
        """Subtract from each count the largest count beyond `size`, and drop the names that reach 0."""
        decrement = sorted(self.counts.values(), reverse=True)[self.size]
        self.missed += decrement
        self.counts = Counter({name: number - decrement for name, number in self.counts.items() if number > decrement})

    def __add__(self, other: Top) -> Top:
        total = Top(min(self.size, other.size))
        total.missed = self.missed + other.missed
        total.counts = self.counts + other.counts
        if len(total.counts) > total.size:
            total._decrement()
        return total

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Top) and vars(self) == vars(other)

    def ranking(self) -> list[tuple[str, int]]:
        """The names and their counts, most frequent first, then by name."""
        return sorted(self.counts.items(), key=lambda item: (-item[1], item[0]))


class Summary:
    """Counts of a job; `a + b` adds up those of two workers."""

    def __init__(self) -> None:
        self.documents: int = 0
        self.unread: int = 0
        """Documents that were not read completely."""
        self.octets: int = 0
        """Bytes that were read."""
        self.seconds: float = 0.0
        """Duration of the job, if it is known."""
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
        """Content without a readable document (images, requests and so on), or read only on request, by kind."""
        self.notes: Counter[str] = Counter()
        """Notes on documents, by kind (`NOTES`)."""
        self.layers: Counter[str] = Counter()
        """References by the layer that gave their base (RFC 3986 5.1)."""
        self.invalid: Counter[str] = Counter()
        """References without target, by the kind of their first finding."""
        self.audit: Counter[str] = Counter()
        self.hosts: Top = Top()
        """Hosts of targets."""
        self.schemes: Top = Top(1000)
        """Schemes of targets without authority."""

    def document(self, kind: str = "", octets: int = 0, count: int = 1) -> None:
        """Count documents; one without references has no row in the table."""
        self.documents += count
        self.octets += octets
        if kind:
            self.kinds[kind] += count

    def add(self, batch: AnyBatch, pairs: Iterable[Pair] | None = None) -> None:
        """Count the rows of a batch; `pairs` are those of the batch, if already computed.

        The rows of a document's notes must be in one batch, or the document counts as unread twice.
        """
        (references, same_document, mapped), layers, invalid, notes = batch.counts()
        self.references += references
        self.same_document += same_document
        self.mapped += mapped
        self.layers.update({"none" if name is None else name: count for name, count in layers})
        self.invalid.update({"none" if name is None else name: count for name, count in invalid})
        self.notes.update(kind for kind, _ in notes)
        self.unread += len({source for kind, source in notes if kind in UNREAD})
        self.audit.update(kind for kinds in batch.column("audit") if kinds for kind in kinds.split(" "))
        self._add_pairs(batch.pairs() if pairs is None else pairs)

    def _add_pairs(self, pairs: Iterable[Pair]) -> None:
        hosts: Counter[str] = Counter()
        schemes: Counter[str] = Counter()
        for source, host, scheme, links in pairs:
            if host is None:
                self.hostless += links
                schemes[scheme or ""] += links
                continue
            hosts[host] += links
            if host == source:
                self.internal += links
            else:
                self.external += links
        self.hosts.add(hosts.items())
        self.schemes.add(schemes.items())

    def __add__(self, other: Summary) -> Summary:
        total = Summary()
        for name in vars(total):
            setattr(total, name, getattr(self, name) + getattr(other, name))
        return total

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Summary) and vars(self) == vars(other)

    def to_dict(self, hosts: int | None = None) -> dict[str, Any]:
        """Return the counts for JSON.  hosts: the most hosts and schemes; None: all, which resuming needs."""
        counts: dict[str, Any] = {name: getattr(self, name) for name in (*_NUMBERS, "seconds")}
        for name in _COUNTERS:
            counts[name] = dict(getattr(self, name).most_common())
        for name in _TOPS:
            top = getattr(self, name)
            counts[name] = {"missed": top.missed, "counts": dict(top.ranking()[:hosts])}
        return counts

    @classmethod
    def from_dict(cls, counts: Mapping[str, Any]) -> Self:
        """Return the summary that `to_dict` wrote.

        >>> summary = Summary()
        >>> summary.document("html", octets=1000)
        >>> Summary.from_dict(summary.to_dict()) == summary
        True

        Raises: ValueError for another dictionary.
        """
        summary = cls()
        try:
            for name in (*_NUMBERS, "seconds"):
                setattr(summary, name, _validate(counts[name]))
            for name in _COUNTERS:
                setattr(summary, name, Counter({key: _validate(count) for key, count in counts.get(name, {}).items()}))
            for name in _TOPS:
                top, saved = getattr(summary, name), counts[name]
                top.missed = _validate(saved["missed"])
                top.counts = Counter({key: _validate(count) for key, count in saved["counts"].items()})
        except (AttributeError, KeyError, TypeError) as error:
            raise ValueError(f"not the counts of a summary: {error}") from None
        return summary

    def lines(self, width: int = 80, hosts: int = 5) -> list[str]:
        """Return the counts for people: a word, a number, and its parts; wrapped to `width` columns."""
        rows = [row for row in self._rows() if row[1] or row[0].strip() in ("documents", "references", "invalid")]
        word_width = max(len(word) for word, _, _ in rows)
        ranked = self.hosts.ranking()[:hosts]
        number_width = max(len(f"{number:,}") for number in (*(row[1] for row in rows), *(row[1] for row in ranked)))
        margin = word_width + number_width + 5
        room = max(width - margin, 16)
        lines = []
        for word, number, parts in rows:
            prefix = f"{word:{word_width}}  {number:>{number_width},}   "
            # Do not break a part between its name and its number.
            joined = ", ".join(parts).replace(" ", "\xa0").replace(",\xa0", ", ")
            wrapped = textwrap.wrap(joined, room, break_on_hyphens=False) or [""]
            lines += [(prefix + wrapped[0]).rstrip()]
            lines += [" " * margin + line for line in wrapped[1:]]
        if self.hosts.counts:
            accuracy = f" (counts may be {self.hosts.missed:,} too small)" if self.hosts.missed else ""
            lines += ["", f"most links to{accuracy}"]
            for host, number in ranked:
                name = shorten_middle(printable(host), room) or EMPTY_HOST
                lines.append(f"{'':{word_width}}  {number:>{number_width},}   {name}")
        if speed := self._format_speed():
            lines += ["", *textwrap.wrap(speed, width)]
        return [line.replace("\xa0", " ") for line in lines]

    def _rows(self) -> Iterator[tuple[str, int, list[str]]]:
        yield "documents", self.documents, _format_parts(self.kinds)
        yield "  not read completely", self.unread, []
        yield "  with notes", sum(self.notes.values()), _format_parts(self.notes)
        yield "  skipped", sum(self.passed.values()), _format_parts(self.passed)
        yield "references", self.references, _format_parts(self.layers, "base from ")
        yield "  same document", self.same_document, []
        yield "  to the same host", self.internal, []
        yield "  to other hosts", self.external, []
        yield "  to no host", self.hostless, _format_parts(Counter(dict(self.schemes.ranking()[:8])))
        yield "  mapped from IRIs", self.mapped, []
        yield "  invalid", sum(self.invalid.values()), _format_parts(self.invalid)
        yield "audit findings", sum(self.audit.values()), _format_parts(self.audit)

    def _format_speed(self) -> str:
        amount = _size(self.octets)
        if not self.seconds:
            return f"{amount} read" if self.octets else ""
        if self.seconds < 1:  # mostly startup
            return f"{amount if self.octets else 'all'} in {_duration(self.seconds)}"
        rates = f"{self.documents / self.seconds:,.0f} documents/s, {self.references / self.seconds:,.0f} references/s"
        read = f"{amount} in {_duration(self.seconds)}, {_size(self.octets / self.seconds)}/s" if self.octets else ""
        return f"{read or _duration(self.seconds)}: {rates}"


def read_state(state: Mapping[str, Any], name: str) -> tuple[int, str, Summary]:
    """Return the number of tasks, the mark of the last one and the counts in the state of a job.

    Raises: ResumeError, with the name of the table, for an invalid state.
    """
    tasks, mark = state.get("tasks"), state.get("mark")
    with suppress(KeyError, ValueError):
        if type(tasks) is int and tasks >= 0 and type(mark) is str:
            return tasks, mark, Summary.from_dict(state["summary"])
    raise ResumeError(name, "its mark is unreadable, so the job cannot continue")


def _validate(value: Any) -> Any:
    if type(value) not in (int, float) or not 0 <= value < 1 << 63:
        raise ValueError("the counts of a summary are numbers from 0 on")
    return value


def _format_parts(counter: Mapping[str, int], prefix: str = "") -> list[str]:
    ranked = sorted(counter.items(), key=lambda item: (-item[1], item[0]))
    return [f"{prefix if index == 0 else ''}{printable(name)} {n:,}" for index, (name, n) in enumerate(ranked) if n]


def _size(octets: float) -> str:
    for unit in ("octets", "kB", "MB", "GB"):
        if octets < 1000:
            return f"{octets:,.0f} {unit}" if unit == "octets" or octets >= 100 else f"{octets:,.1f} {unit}"
        octets /= 1000
    return f"{octets:,.1f} TB"


def _duration(seconds: float) -> str:
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes, seconds_left = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes:02} min" if hours else f"{minutes} min {seconds_left:02} s"


def shorten_middle(text: str, width: int) -> str:
    """Shorten a text to `width` columns by dropping its middle: the end of a host identifies it best.

    >>> shorten_middle("www.a-very-long-name.example.org", 16)
    'www.a-…ample.org'
    """
    width = max(width, 1)
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
