"""Findings in formats of other programs: tables, SARIF 2.1.0, JUnit XML."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from itertools import groupby, islice
from typing import Any, TextIO
from xml.sax.saxutils import quoteattr

from overthere.broken.model import KINDS, Broken
from overthere.ground.display import printable
from overthere.ground.redact import mask
from overthere.sarif import SCHEMA, artifact
from overthere.tables import Layout
from overthere.tables.arrays import to_array

__all__ = ["advice", "batches", "jsonl", "junit", "layout", "sarif"]

_ROWS = 4096
_NUMBERS = ("line", "column", "offset", "length", "status")
_LEVELS = {"error": "error", "warning": "warning", "note": "note"}


def layout(form: str = ".parquet") -> Layout:
    """How the table of findings is written: the fields of `Broken`, as text but five.

    >>> layout().columns.names[:3]
    ['source', 'line', 'column']
    """
    import pyarrow as pa

    columns = [pa.field(name, pa.int64() if name in _NUMBERS else pa.string()) for name in Broken._fields]
    return Layout(pa.schema(columns), form=form, varied=("reference", "target", "why"), bare=True)


def batches(findings: Iterable[Broken]) -> Iterator[Any]:
    """Findings as Arrow batches of `layout().columns`; a lone surrogate becomes "?"."""
    import pyarrow as pa

    rows = iter(findings)
    schema = layout().columns
    while some := list(islice(rows, _ROWS)):
        columns = zip(zip(*some, strict=True), schema, strict=True)
        yield pa.record_batch([to_array(values, field.type) for values, field in columns], schema=schema)


def jsonl(findings: Iterable[Broken], file: TextIO) -> None:
    """One object a finding, with the field names of `Broken`."""
    for found in findings:
        file.write(f"{json.dumps(found._asdict())}\n")


def sarif(findings: Iterable[Broken], file: TextIO) -> None:
    """A log of one run, written as the findings come; no password is in it."""
    from overthere import __version__

    driver = {"name": "overthere broken", "version": __version__, "rules": [_rule(kind) for kind in KINDS]}
    head = json.dumps({"tool": {"driver": driver}, "columnKind": "unicodeCodePoints"})
    file.write(f'{{"$schema": "{SCHEMA}", "version": "2.1.0", "runs": [{head[:-1]}, "results": [')
    for number, found in enumerate(findings):
        file.write(",\n" if number else "\n")
        file.write(json.dumps(_result(found)))
    file.write("\n]}]}\n")


def advice(found: Broken) -> str:
    """A suggestion in words; "" without one."""
    if found.suggestion is None:
        return ""
    verb = {"certain": "Write", "likely": "Probably"}.get(found.certainty or "", "Similar:")
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


def _result(found: Broken) -> dict[str, Any]:
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
        "message": {"text": message},
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
    return quoteattr(printable(text).encode("utf-8", "replace").decode())
