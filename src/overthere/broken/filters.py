"""Filters for findings: ignore rules, each with a reason, and a baseline of known findings."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from types import NoneType
from typing import Any

from overthere.broken.model import KINDS, Broken, Checker, FileSettings, HostSettings
from overthere.ground.option_files import read_json, read_lines, read_toml

_PATTERNS = ("target", "source", "kind")
MOST_PATTERNS = 1000
"""Maximum number of ignore rules, and of patterns in each setting: each finding is compared with each of them."""


def fits(text: str, pattern: str) -> bool:
    """Whether a text matches the pattern; "*" matches any text.

    >>> fits("https://h/a?b", "https://*/a?b"), fits("a", "a*a")
    (True, False)
    """
    first, *pieces = pattern.split("*")
    if not pieces:
        return text == pattern
    if not text.startswith(first):
        return False
    at, last = len(first), pieces.pop()
    for piece in pieces:
        at = text.find(piece, at)
        if at < 0:
            return False
        at += len(piece)
    return len(text) - at >= len(last) and text.endswith(last)


def is_excluded(target: str, checker: Checker) -> bool:
    """Whether the settings exclude a target from the check."""
    return any(fits(target, pattern) for pattern in checker.exclude) and not any(
        fits(target, pattern) for pattern in checker.include
    )


def file_settings(checker: Checker, source: str) -> FileSettings | None:
    """The special settings for a source; None if it has none."""
    return next((settings for settings in checker.files if fits(source, settings.path)), None)


def host_settings(checker: Checker, host: str) -> HostSettings:
    """The settings for a host, each from the first matching table that has it.

    >>> one, two = HostSettings("*.example", rate=2.0), HostSettings("api.example", rate=9.0, per_host=1)
    >>> host_settings(Checker(hosts=(one, two)), "API.example")[2:4]
    (2.0, 1)
    """
    rows = [table for table in checker.hosts if fits(host.lower(), table.host)]
    values = (next((value for value in column if value not in (None, ())), None) for column in zip(*rows, strict=True))
    if not rows:
        return HostSettings("", checker.accept, checker.rate, checker.per_host, checker.agent)
    _, accept, rate, per_host, agent = values
    return HostSettings(
        "", accept or checker.accept, rate or checker.rate, per_host or checker.per_host, agent or checker.agent
    )


def remap(target: str, checker: Checker) -> str:
    """The URI at which a target is looked up: the target, with its beginning replaced if a rule says so.

    >>> remap("https://h.example/a#b", Checker(remap=(("https://h.example", "http://localhost:8000"),)))
    'http://localhost:8000/a#b'
    """
    for start, replacement in checker.remap:
        if target.startswith(start) and (start[-1:] == "/" or target[len(start) :][:1] in ("", "/", "?", "#")):
            return replacement + target[len(start) :]
    return target


@dataclass
class Rule:
    """An ignore rule, which hides matching findings."""

    reason: str
    patterns: dict[str, str]
    """Patterns of the target (or the reference, if there is none), the source, the kind; "*" matches any text."""
    count: int = 0
    """The number of findings that it has ignored."""

    def fits(self, texts: Mapping[str, str]) -> bool:
        """Whether all its patterns match the texts of a finding; matches are counted."""
        if all(fits(texts[name], pattern) for name, pattern in self.patterns.items()):
            self.count += 1
            return True
        return False

    def __str__(self) -> str:
        return ", ".join(f"{name} {pattern}" for name, pattern in self.patterns.items())


class Rules:
    """The rules of a file.

    >>> Rules.read('[[ignore]]\\nkind = "no-fragment"').rules
    Traceback (most recent call last):
    ...
    ValueError: ignore rule 1: the reason is missing
    """

    def __init__(self, rules: Iterable[Rule] = ()) -> None:
        self.rules: list[Rule] = list(rules)

    @classmethod
    def read(cls, text: str) -> Rules:
        """Parse the rules.  Raises: ValueError for invalid TOML or an invalid rule."""
        data = read_toml(text)
        if unknown := data.keys() - {"ignore"}:
            raise ValueError(f"unknown table {sorted(unknown)[0]!r} in the ignore rules; known: [[ignore]]")
        tables = data.get("ignore", [])
        if not isinstance(tables, list):
            raise ValueError("each ignore rule must begin with [[ignore]]")
        return cls.from_tables(tables)

    @classmethod
    def from_tables(cls, given: list[Any]) -> Rules:
        """The rules of a list of tables.  Raises: ValueError for an invalid rule, or too many."""
        if len(given) > MOST_PATTERNS:
            raise ValueError(f"more than {MOST_PATTERNS:,} ignore rules")
        return cls(_rule(number, table) for number, table in enumerate(given, 1))

    def choose(self, findings: Iterable[Broken]) -> Iterator[Broken]:
        """Yield the findings that no rule ignores."""
        for broken in findings:
            texts = {"target": broken.target or broken.reference or "", "source": broken.source, "kind": broken.kind}
            if not any(rule.fits(texts) for rule in self.rules):
                yield broken

    @property
    def ignored(self) -> int:
        return sum(rule.count for rule in self.rules)

    @property
    def idle(self) -> list[Rule]:
        """The rules that have ignored nothing, and can be removed."""
        return [rule for rule in self.rules if not rule.count]


def _rule(number: int, table: Any) -> Rule:
    if not isinstance(table, dict) or not all(isinstance(value, str) for value in table.values()):
        raise ValueError(f"ignore rule {number}: its values must be strings")
    if unknown := table.keys() - {*_PATTERNS, "reason"}:
        raise ValueError(f"ignore rule {number}: unknown key {sorted(unknown)[0]!r}; known: {', '.join(_PATTERNS)}")
    if not table.get("reason", "").strip():
        raise ValueError(f"ignore rule {number}: the reason is missing")
    patterns = {name: table[name] for name in _PATTERNS if name in table}
    if not patterns:
        raise ValueError(f"ignore rule {number}: it would ignore everything; give one of {', '.join(_PATTERNS)}")
    if "kind" in patterns and not any(fits(kind, patterns["kind"]) for kind in KINDS):
        raise ValueError(f"ignore rule {number}: unknown kind {patterns['kind']!r}; known: {', '.join(KINDS)}")
    return Rule(table["reason"], patterns)


_Key = tuple[str, str | None, str | None, str]


def _parse_line(line: str) -> tuple[_Key, str | None]:
    """A finding of a baseline, and the date since when it is known.  Raises: ValueError."""
    row = read_json(line)
    if not isinstance(row, dict):
        raise ValueError("not a finding: not a JSON object")
    for name in ("source", "where", "reference", "kind", "since"):
        optional = name in ("where", "reference", "since")
        if not isinstance(row.get(name), (str, NoneType) if optional else str) or (name != "since" and name not in row):
            raise ValueError(f"not a finding: {name!r} is {'not a string' if name in row else 'missing'}")
    return (row["source"], row["where"], row["reference"], row["kind"]), row.get("since")


@dataclass
class Baseline:
    """Findings of an earlier run, which do not make a check fail.

    A finding is identified by its document, its `where`, its reference and its kind; lines may move.
    """

    known: Counter[_Key] = field(default_factory=Counter)
    since: dict[_Key, str] = field(default_factory=dict)
    count: int = 0
    """The number of known findings in this run."""
    seen: list[Broken] = field(default_factory=list)
    keeps: bool = False
    """Whether findings are stored in `seen`, to be written."""

    @classmethod
    def read(cls, path: str) -> Baseline:
        """Read a baseline.  Raises: ValueError for an invalid one; OSError."""
        baseline = cls()
        for number, line in read_lines(path):
            try:
                key, since = _parse_line(line)
            except ValueError as error:
                raise ValueError(f"line {number}: {error}") from None
            baseline.known[key] += 1
            if since:
                baseline.since.setdefault(key, since)
        return baseline

    def choose(self, findings: Iterable[Broken]) -> Iterator[Broken]:
        """Yield the new findings; of a known finding, only those beyond its number in the baseline."""
        remaining = self.known.copy()
        today = date.today().isoformat()
        for broken in findings:
            key = (broken.source, broken.where, broken.reference, broken.kind)
            broken = broken._replace(since=self.since.get(key, today))
            if self.keeps:
                self.seen.append(broken)
            if remaining[key] > 0:
                remaining[key] -= 1
                self.count += 1
            else:
                yield broken

    def write(self, path: str) -> None:
        """Write the stored findings as the next baseline.  Raises: OSError."""
        lines = "".join(f"{json.dumps(finding._asdict())}\n" for finding in self.seen)
        from overthere.ground.atomic import save

        save(Path(path), lines.encode())
