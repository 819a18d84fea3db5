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

__all__ = [
    "MOST_PATTERNS", "Baseline", "Rule", "Rules", "file_settings", "fits", "host_settings", "is_excluded", "remap",
]  # fmt: skip

_PATTERNS = ("target", "source", "kind")
MOST_PATTERNS = 1000
"""Of ignore rules, and of each setting: each finding is compared with each of them."""


def fits(text: str, pattern: str) -> bool:
    """Whether a text is as the pattern says, in which "*" stands for any text.

    >>> fits("https://h/a?b", "https://*/a?b"), fits("a", "a*a")
    (True, False)
    """
    first, *rest = pattern.split("*")
    if not rest:
        return text == pattern
    if not text.startswith(first):
        return False
    at, last = len(first), rest.pop()
    for piece in rest:
        at = text.find(piece, at)
        if at < 0:
            return False
        at += len(piece)
    return len(text) - at >= len(last) and text.endswith(last)


def is_excluded(target: str, checker: Checker) -> bool:
    """Whether the settings say that a target is not judged."""
    return any(fits(target, one) for one in checker.exclude) and not any(fits(target, one) for one in checker.include)


def file_settings(checker: Checker, source: str) -> FileSettings | None:
    """The settings for a source that differ from those for the others."""
    return next((one for one in checker.files if fits(source, one.path)), None)


def host_settings(checker: Checker, host: str) -> HostSettings:
    """The settings for a host, each from the first table that has it.

    >>> one, two = HostSettings("*.example", rate=2.0), HostSettings("api.example", rate=9.0, per_host=1)
    >>> host_settings(Checker(hosts=(one, two)), "API.example")[2:4]
    (2.0, 1)
    """
    found = [one for one in checker.hosts if fits(host.lower(), one.host)]
    values = (next((value for value in column if value not in (None, ())), None) for column in zip(*found, strict=True))
    if not found:
        return HostSettings("", checker.accept, checker.rate, checker.per_host, checker.agent)
    _, accept, rate, per_host, agent = values
    return HostSettings(
        "", accept or checker.accept, rate or checker.rate, per_host or checker.per_host, agent or checker.agent
    )


def remap(target: str, checker: Checker) -> str:
    """Where a target is looked up: it, or with another beginning.

    >>> remap("https://h.example/a#b", Checker(remap=(("https://h.example", "http://localhost:8000"),)))
    'http://localhost:8000/a#b'
    """
    for start, instead in checker.remap:
        if target.startswith(start) and (start[-1:] == "/" or target[len(start) :][:1] in ("", "/", "?", "#")):
            return instead + target[len(start) :]
    return target


@dataclass
class Rule:
    """Findings that nobody wants to hear of."""

    reason: str
    patterns: dict[str, str]
    """Of the target (or the reference, where there is none), the source, the kind; "*" stands for any text."""
    count: int = 0
    """How many it has ignored."""

    def fits(self, texts: Mapping[str, str]) -> bool:
        """Whether all its patterns fit the texts of a finding."""
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
        """Raises: ValueError for what is no TOML, and for a rule that is none."""
        data = read_toml(text)
        if unknown := data.keys() - {"ignore"}:
            raise ValueError(f"unknown table {sorted(unknown)[0]!r} in the ignore rules; known: [[ignore]]")
        given = data.get("ignore", [])
        if not isinstance(given, list):
            raise ValueError("each ignore rule must begin with [[ignore]]")
        return cls.from_tables(given)

    @classmethod
    def from_tables(cls, given: list[Any]) -> Rules:
        """The rules of a list of tables.  Raises: ValueError for an invalid rule, or too many."""
        if len(given) > MOST_PATTERNS:
            raise ValueError(f"more than {MOST_PATTERNS:,} ignore rules")
        return cls(_rule(number, one) for number, one in enumerate(given, 1))

    def choose(self, findings: Iterable[Broken]) -> Iterator[Broken]:
        """Those that no rule ignores."""
        for found in findings:
            texts = {"target": found.target or found.reference or "", "source": found.source, "kind": found.kind}
            if not any(rule.fits(texts) for rule in self.rules):
                yield found

    @property
    def ignored(self) -> int:
        return sum(rule.count for rule in self.rules)

    @property
    def idle(self) -> list[Rule]:
        """The rules that have ignored nothing, and may go."""
        return [rule for rule in self.rules if not rule.count]


def _rule(number: int, given: Any) -> Rule:
    if not isinstance(given, dict) or not all(isinstance(value, str) for value in given.values()):
        raise ValueError(f"ignore rule {number}: its values must be strings")
    if unknown := given.keys() - {*_PATTERNS, "reason"}:
        raise ValueError(f"ignore rule {number}: unknown key {sorted(unknown)[0]!r}; known: {', '.join(_PATTERNS)}")
    if not given.get("reason", "").strip():
        raise ValueError(f"ignore rule {number}: the reason is missing")
    patterns = {name: given[name] for name in _PATTERNS if name in given}
    if not patterns:
        raise ValueError(f"ignore rule {number}: it would ignore everything; give one of {', '.join(_PATTERNS)}")
    if "kind" in patterns and not any(fits(kind, patterns["kind"]) for kind in KINDS):
        raise ValueError(f"ignore rule {number}: unknown kind {patterns['kind']!r}; known: {', '.join(KINDS)}")
    return Rule(given["reason"], patterns)


_Key = tuple[str, str | None, str | None, str]


def _parse_line(line: str) -> tuple[_Key, str | None]:
    """A finding of a baseline, and since when it is known.  Raises: ValueError."""
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
    """Findings of an earlier run: what is among them fails no check.

    A finding is known by its document, where it stands there, its reference and its kind; lines may move.
    """

    known: Counter[_Key] = field(default_factory=Counter)
    since: dict[_Key, str] = field(default_factory=dict)
    count: int = 0
    """How many findings were known."""
    seen: list[Broken] = field(default_factory=list)
    keeps: bool = False
    """Whether what is seen is kept, to be written."""

    @classmethod
    def read(cls, path: str) -> Baseline:
        """Raises: ValueError for what is no baseline; OSError."""
        found = cls()
        for number, line in read_lines(path):
            try:
                key, since = _parse_line(line)
            except ValueError as error:
                raise ValueError(f"line {number}: {error}") from None
            found.known[key] += 1
            if since:
                found.since.setdefault(key, since)
        return found

    def choose(self, findings: Iterable[Broken]) -> Iterator[Broken]:
        """Those that are new; each as often as it is more than before."""
        left = self.known.copy()
        today = date.today().isoformat()
        for found in findings:
            key = (found.source, found.where, found.reference, found.kind)
            found = found._replace(since=self.since.get(key, today))
            if self.keeps:
                self.seen.append(found)
            if left[key] > 0:
                left[key] -= 1
                self.count += 1
            else:
                yield found

    def write(self, path: str) -> None:
        """What was seen, as the next baseline.  Raises: OSError."""
        lines = "".join(f"{json.dumps(found._asdict())}\n" for found in self.seen)
        from overthere.ground.atomic import save

        save(Path(path), lines.encode())
