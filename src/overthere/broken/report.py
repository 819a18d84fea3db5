"""Findings in the formats of other programs: tables, SARIF 2.1.0, JUnit XML."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from itertools import groupby, islice
from typing import TYPE_CHECKING, Any, TextIO

from overthere.broken.model import KINDS, Broken
from overthere.ground.display import file_path, printable
from overthere.ground.redact import mask

if TYPE_CHECKING:
    from overthere.files.tables import Layout

_ROWS_PER_BATCH = 4096
_NUMBERS = ("line", "column", "offset", "length", "status")
_LEVELS = {"error": "error", "warning": "warning", "note": "note"}


def layout(form: str = ".parquet") -> Layout:
    """The layout of the table of findings: the fields of `Broken`, all text except five numbers.

    >>> layout().columns.names[:3]
    ['source', 'line', 'column']
    """
    import pyarrow as pa

    from overthere.files.tables import Layout

    columns = [pa.field(name, pa.int64() if name in _NUMBERS else pa.string()) for name in Broken._fields]
    return Layout(pa.schema(columns), form=form, varied=("reference", "target", "why"), bare=True)


def batches(findings: Iterable[Broken]) -> Iterator[Any]:
    """Findings as Arrow batches of `layout().columns`; a lone surrogate becomes "?"."""
    import pyarrow as pa

    from overthere.files.tables.arrays import to_array

    rows = iter(findings)
    schema = layout().columns
    while chunk := list(islice(rows, _ROWS_PER_BATCH)):
        columns = zip(zip(*chunk, strict=True), schema, strict=True)
        yield pa.record_batch([to_array(values, field.type) for values, field in columns], schema=schema)


def jsonl(findings: Iterable[Broken], file: TextIO) -> None:
    """Write an object for each finding, with the field names of `Broken`."""
    for finding in findings:
        file.write(f"{json.dumps({**finding._asdict(), 'fingerprint': fingerprint(finding)})}\n")


def fingerprint(finding: Broken) -> str:
    """A name of a finding that stays the same if lines move: a hash of its source, `where`, reference and kind."""
    from hashlib import sha256

    parts = (finding.source, finding.where, finding.reference, finding.kind)
    return sha256("\0".join(part or "" for part in parts).encode("utf-8", "replace")).hexdigest()[:16]


def group_by_target(findings: Iterable[Broken]) -> list[list[Broken]]:
    """Group findings with the same target and kind; the largest group comes first."""
    groups: dict[tuple[str, str], list[Broken]] = {}
    for finding in findings:
        about = finding.target or finding.reference or finding.source
        # A missing document is one fault, for all fragments.
        groups.setdefault(
            (finding.kind, about.partition("#")[0] if finding.kind == "no-document" else about), []
        ).append(finding)
    return sorted(groups.values(), key=len, reverse=True)


def github(findings: Iterable[Broken], file: TextIO) -> None:
    """Write annotations of GitHub Actions: workflow commands on standard output, without notes."""
    for finding in findings:
        if finding.level == "note":
            continue
        place = "" if finding.line is None else f",line={finding.line},col={finding.column}"
        text = ". ".join(filter(None, (f"{mask(finding.reference or '')}: {mask(finding.why)}", advice(finding))))
        file.write(f"::{finding.level} file={_escape_property(mask(finding.source))}{place},title={finding.kind}::")
        file.write(f"{_escape_command(printable(text))}\n")


def _escape_command(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _escape_property(text: str) -> str:
    return _escape_command(printable(text)).replace(":", "%3A").replace(",", "%2C")


_ROWS_SHOWN = 50
_PAGES_SHOWN = 3


def markdown(findings: Iterable[Broken], file: TextIO) -> None:
    """Write a summary for a pull request: a table of the faults without notes, the most frequent first."""
    groups = group_by_target(finding for finding in findings if finding.level != "note")
    if not groups:
        file.write("No broken links.\n")
        return
    file.write(f"{sum(map(len, groups)):,} broken links, {len(groups):,} different.\n\n")
    file.write("| count | kind | target | what to do | where |\n|---:|---|---|---|---|\n")
    for group in groups[:_ROWS_SHOWN]:
        first = group[0]
        action = "; ".join(filter(None, (mask(first.why), advice(first))))
        places = [f"{mask(each.source)}{'' if each.line is None else f':{each.line}'}" for each in group[:_PAGES_SHOWN]]
        remainder = [f"and {len(group) - _PAGES_SHOWN:,} more"] if len(group) > _PAGES_SHOWN else []
        target = first.target or first.reference or ""
        cells = (
            f"{len(group):,}",
            first.kind,
            _code(mask(target)),
            _code(action),
            ", ".join([*map(_code, places), *remainder]),
        )
        file.write(f"| {' | '.join(cells)} |\n")
    if len(groups) > _ROWS_SHOWN:
        file.write(f"\n{len(groups) - _ROWS_SHOWN:,} more are not in this table.\n")


def _code(text: str) -> str:
    """Untrusted text as code, in which Markdown, HTML, addresses and user names have no effect."""
    return f"`{printable(text).replace('`', chr(0x2BC)).replace('|', chr(92) + '|')}`" if text else ""


def sarif(findings: Iterable[Broken], file: TextIO) -> None:
    """Write a log of one run, as the findings arrive; passwords are masked."""
    from overthere import __version__
    from overthere.files.sarif import SCHEMA

    driver = {"name": "overthere broken", "version": __version__, "rules": [_rule(kind) for kind in KINDS]}
    head = json.dumps({"tool": {"driver": driver}, "columnKind": "unicodeCodePoints"})
    file.write(f'{{"$schema": "{SCHEMA}", "version": "2.1.0", "runs": [{head[:-1]}, "results": [')
    for number, finding in enumerate(findings):
        file.write(",\n" if number else "\n")
        file.write(json.dumps(_result(finding)))
    file.write("\n]}]}\n")


def describe_count(number: int, noun: str) -> str:
    """A number with its noun, in the plural if necessary.

    >>> describe_count(1, "document"), describe_count(1000, "document")
    ('1 document', '1,000 documents')
    """
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def advice(finding: Broken) -> str:
    """A suggestion in words; "" if there is none, or the reason already says the same."""
    if finding.suggestion is None:
        return ""
    words = KINDS[finding.kind].words
    if words.endswith("{it}") and finding.why == words.format(it=printable(mask(finding.suggestion))):
        return ""
    verb = {"certain": "Write", "likely": "Probably", "archived": "Archived copy:"}.get(
        finding.certainty or "", "Similar:"
    )
    return f"{verb} {printable(mask(finding.suggestion))}"


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


def _result(item: Broken) -> dict[str, Any]:
    from overthere.files.sarif import artifact, message_of

    message = mask(item.why) if item.reference is None else f"{printable(mask(item.reference))}: {mask(item.why)}"
    if item.suggestion is not None:
        message += f". {advice(item)}"
    physical: dict[str, Any] = {"artifactLocation": {"uri": artifact(file_path(mask(item.source)))}}
    if item.line is not None:
        region: dict[str, Any] = {"startLine": item.line, "startColumn": item.column}
        if item.offset is not None:
            region |= {"byteOffset": item.offset, "byteLength": item.length}
        physical["region"] = region
    return {
        "ruleId": item.kind,
        "ruleIndex": _ORDER.index(item.kind),
        "level": _LEVELS[item.level],
        "message": message_of(message),
        "partialFingerprints": {"overthere/v1": fingerprint(item)},
        "locations": [{"physicalLocation": physical}],
    }


def junit(findings: Iterable[Broken], file: TextIO) -> None:
    """Write a suite for each document with findings, and a case for each finding: failed for an error, else skipped."""
    file.write('<?xml version="1.0" encoding="UTF-8"?>\n<testsuites name="overthere broken">\n')
    for source, group in groupby(findings, lambda finding: finding.source):
        cases = list(group)
        errors = sum(finding.level == "error" for finding in cases)
        counts = f'tests="{len(cases)}" failures="{errors}" skipped="{len(cases) - errors}"'
        file.write(f"<testsuite name={_quote_attribute(mask(source))} {counts}>\n")
        for finding in cases:
            place = "" if finding.line is None else f"{finding.line}:{finding.column} "
            name = f"{place}{mask(finding.reference or '')} {finding.kind}"
            tag = "failure" if finding.level == "error" else "skipped"
            file.write(f"<testcase classname={_quote_attribute(mask(source))} name={_quote_attribute(name)}>")
            kind = f" type={_quote_attribute(finding.kind)}" if tag == "failure" else ""
            file.write(f"<{tag}{kind} message={_quote_attribute(mask(finding.why))}/></testcase>\n")
        file.write("</testsuite>\n")
    file.write("</testsuites>\n")


def _quote_attribute(text: str) -> str:
    """An attribute's value; characters that XML does not allow are escaped."""
    from xml.sax.saxutils import quoteattr  # imported late, because it imports an HTTP client

    return quoteattr(printable(text).encode("utf-8", "replace").decode())
