"""Findings in formats of other programs: tables, SARIF 2.1.0, JUnit XML."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from itertools import groupby, islice
from typing import TYPE_CHECKING, Any, TextIO

from overthere.broken.model import KINDS, Broken
from overthere.ground.display import printable
from overthere.ground.redact import mask

if TYPE_CHECKING:
    from overthere.tables import Layout

__all__ = [
    "advice", "batches", "fingerprint", "github", "group_by_target", "jsonl", "junit", "layout", "markdown", "sarif",
]  # fmt: skip

_ROWS = 4096
_NUMBERS = ("line", "column", "offset", "length", "status")
_LEVELS = {"error": "error", "warning": "warning", "note": "note"}


def layout(form: str = ".parquet") -> Layout:
    """How the table of findings is written: the fields of `Broken`, as text but five.

    >>> layout().columns.names[:3]
    ['source', 'line', 'column']
    """
    import pyarrow as pa

    from overthere.tables import Layout

    columns = [pa.field(name, pa.int64() if name in _NUMBERS else pa.string()) for name in Broken._fields]
    return Layout(pa.schema(columns), form=form, varied=("reference", "target", "why"), bare=True)


def batches(findings: Iterable[Broken]) -> Iterator[Any]:
    """Findings as Arrow batches of `layout().columns`; a lone surrogate becomes "?"."""
    import pyarrow as pa

    from overthere.tables.arrays import to_array

    rows = iter(findings)
    schema = layout().columns
    while some := list(islice(rows, _ROWS)):
        columns = zip(zip(*some, strict=True), schema, strict=True)
        yield pa.record_batch([to_array(values, field.type) for values, field in columns], schema=schema)


def jsonl(findings: Iterable[Broken], file: TextIO) -> None:
    """One object a finding, with the field names of `Broken`."""
    for found in findings:
        file.write(f"{json.dumps({**found._asdict(), 'fingerprint': fingerprint(found)})}\n")


def fingerprint(found: Broken) -> str:
    """A name for a finding that stays the same while lines move: of its source, place, reference and kind."""
    from hashlib import sha256

    parts = (found.source, found.where, found.reference, found.kind)
    return sha256("\0".join(one or "" for one in parts).encode("utf-8", "replace")).hexdigest()[:16]


def group_by_target(findings: Iterable[Broken]) -> list[list[Broken]]:
    """Findings with the same target and the same fault together, the most frequent first."""
    groups: dict[tuple[str, str], list[Broken]] = {}
    for found in findings:
        about = found.target or found.reference or found.source
        # A document that is missing is one, whatever the fragment.
        groups.setdefault((found.kind, about.partition("#")[0] if found.kind == "no-document" else about), []).append(
            found
        )
    return sorted(groups.values(), key=len, reverse=True)


def github(findings: Iterable[Broken], file: TextIO) -> None:
    """Annotations of GitHub Actions: workflow commands on standard output, notes left out."""
    for found in findings:
        if found.level == "note":
            continue
        place = "" if found.line is None else f",line={found.line},col={found.column}"
        text = ". ".join(filter(None, (f"{mask(found.reference or '')}: {mask(found.why)}", advice(found))))
        file.write(f"::{found.level} file={_escape_property(mask(found.source))}{place},title={found.kind}::")
        file.write(f"{_escape_command(printable(text))}\n")


def _escape_command(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _escape_property(text: str) -> str:
    return _escape_command(printable(text)).replace(":", "%3A").replace(",", "%2C")


_ROWS_SHOWN = 50
_PAGES_SHOWN = 3


def markdown(findings: Iterable[Broken], file: TextIO) -> None:
    """A summary for a pull request: a table of the faults, the most frequent first, notes left out."""
    groups = group_by_target(found for found in findings if found.level != "note")
    if not groups:
        file.write("No broken links.\n")
        return
    file.write(f"{sum(map(len, groups)):,} broken links, {len(groups):,} different.\n\n")
    file.write("| count | kind | target | what to do | where |\n|---:|---|---|---|---|\n")
    for group in groups[:_ROWS_SHOWN]:
        first = group[0]
        what = "; ".join(filter(None, (mask(first.why), advice(first))))
        places = [f"{one.source}{'' if one.line is None else f':{one.line}'}" for one in group[:_PAGES_SHOWN]]
        more = [f"and {len(group) - _PAGES_SHOWN:,} more"] if len(group) > _PAGES_SHOWN else []
        target = first.target or first.reference or ""
        cells = (
            f"{len(group):,}",
            first.kind,
            _code(mask(target)),
            _code(what),
            ", ".join([*map(_code, places), *more]),
        )
        file.write(f"| {' | '.join(cells)} |\n")
    if len(groups) > _ROWS_SHOWN:
        file.write(f"\n{len(groups) - _ROWS_SHOWN:,} more are not in this table.\n")


def _code(text: str) -> str:
    """Text of others, in which Markdown, HTML, addresses and names of users mean nothing."""
    return f"`{printable(text).replace('`', chr(0x2BC)).replace('|', chr(92) + '|')}`" if text else ""


def sarif(findings: Iterable[Broken], file: TextIO) -> None:
    """A log of one run, written as the findings come; no password is in it."""
    from overthere import __version__
    from overthere.sarif import SCHEMA

    driver = {"name": "overthere broken", "version": __version__, "rules": [_rule(kind) for kind in KINDS]}
    head = json.dumps({"tool": {"driver": driver}, "columnKind": "unicodeCodePoints"})
    file.write(f'{{"$schema": "{SCHEMA}", "version": "2.1.0", "runs": [{head[:-1]}, "results": [')
    for number, found in enumerate(findings):
        file.write(",\n" if number else "\n")
        file.write(json.dumps(_result(found)))
    file.write("\n]}]}\n")


def describe_count(number: int, what: str) -> str:
    """A number of things in words.

    >>> describe_count(1, "document"), describe_count(1000, "document")
    ('1 document', '1,000 documents')
    """
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def advice(found: Broken) -> str:
    """A suggestion in words; "" without one, and where the reason says the same."""
    if found.suggestion is None:
        return ""
    words = KINDS[found.kind].words
    if words.endswith("{it}") and found.why == words.format(it=printable(mask(found.suggestion))):
        return ""
    verb = {"certain": "Write", "likely": "Probably", "archived": "Archived copy:"}.get(
        found.certainty or "", "Similar:"
    )
    return f"{verb} {printable(mask(found.suggestion))}"


def _rule(kind: str) -> dict[str, Any]:
    row = KINDS[kind]
    words = row.words.format(it="…")
    return {
        "id": kind,
        "shortDescription": {"text": words},
        "help": {"text": f"{words}. {row.source}".strip()},
        "defaultConfiguration": {"level": _LEVELS[row.level]},
    }


_ORDER = list(KINDS)
_LINKED = re.compile(r"[\\\[\]]")
"""What makes a link in a message (SARIF 2.1.0 3.11.6)."""


def _result(found: Broken) -> dict[str, Any]:
    from overthere.sarif import artifact

    message = mask(found.why) if found.reference is None else f"{printable(mask(found.reference))}: {mask(found.why)}"
    if found.suggestion is not None:
        message += f". {advice(found)}"
    physical: dict[str, Any] = {"artifactLocation": {"uri": artifact(mask(found.source))}}
    if found.line is not None:
        region: dict[str, Any] = {"startLine": found.line, "startColumn": found.column}
        if found.offset is not None:
            region |= {"byteOffset": found.offset, "byteLength": found.length}
        physical["region"] = region
    return {
        "ruleId": found.kind,
        "ruleIndex": _ORDER.index(found.kind),
        "level": _LEVELS[found.level],
        "message": {"text": _LINKED.sub(r"\\\g<0>", message)},
        "partialFingerprints": {"overthere/v1": fingerprint(found)},
        "locations": [{"physicalLocation": physical}],
    }


def junit(findings: Iterable[Broken], file: TextIO) -> None:
    """A suite for each document with a finding, a case for each finding: an error has failed, others are skipped."""
    file.write('<?xml version="1.0" encoding="UTF-8"?>\n<testsuites name="overthere broken">\n')
    for source, group in groupby(findings, lambda found: found.source):
        cases = list(group)
        errors = sum(found.level == "error" for found in cases)
        counts = f'tests="{len(cases)}" failures="{errors}" skipped="{len(cases) - errors}"'
        file.write(f"<testsuite name={_quote_attribute(mask(source))} {counts}>\n")
        for found in cases:
            place = "" if found.line is None else f"{found.line}:{found.column} "
            name = f"{place}{mask(found.reference or '')} {found.kind}"
            tag = "failure" if found.level == "error" else "skipped"
            file.write(f"<testcase classname={_quote_attribute(mask(source))} name={_quote_attribute(name)}>")
            kind = f" type={_quote_attribute(found.kind)}" if tag == "failure" else ""
            file.write(f"<{tag}{kind} message={_quote_attribute(mask(found.why))}/></testcase>\n")
        file.write("</testsuite>\n")
    file.write("</testsuites>\n")


def _quote_attribute(text: str) -> str:
    """An attribute's value; what no XML may hold is shown."""
    from xml.sax.saxutils import quoteattr  # which imports a client of HTTP

    return quoteattr(printable(text).encode("utf-8", "replace").decode())
