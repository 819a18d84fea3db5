"""Findings as SARIF 2.1.0 (OASIS, Static Analysis Results Interchange Format), for code scanners."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable
from pathlib import PurePath
from typing import Any, NamedTuple, TextIO

from overthere.ground.display import printable
from overthere.ground.errors import Finding
from overthere.ground.redact import mask
from overthere.security import KINDS
from overthere.values.encoding import IN_SEGMENT, encode

_KINDS = list(KINDS)


class Result(NamedTuple):
    """A finding with its text and its file."""

    finding: Finding
    text: str
    """The whole text in which it was found."""
    artifact: str | None = None
    """A URI-reference of the file (see `artifact`); None if the text is not from a file."""
    line: int = 1
    """From 1, like the columns (3.30.5, 3.30.6)."""
    column: int = 1
    end_line: int = 1
    end_column: int = 1
    """The column after the last character."""


def artifact(path: str | os.PathLike[str]) -> str:
    """Return the URI-reference of a path, relative if the path is: for `artifactLocation.uri` (3.4.3).

    >>> artifact("docs/a b.md"), artifact("a:b")
    ('docs/a%20b.md', './a:b')
    """
    try:
        os.fsencode(path)
    except UnicodeEncodeError:  # a member of an archive may have a name that no file of this machine has
        path = os.fsdecode(os.fspath(path).encode("utf-8", "surrogatepass"))
    if os.path.isabs(path):
        from overthere.base import file_uri

        return str(file_uri(path))
    parts = [encode(os.fsencode(part), "segment", keep=IN_SEGMENT) for part in PurePath(path).parts]
    return "/".join(["."] * (":" in "".join(parts[:1])) + parts)


_LINK_MARKUP = re.compile(r"[\\\[\]]")
"""The characters that form a link in a message (SARIF 2.1.0 3.11.6)."""


def message_of(text: str) -> dict[str, str]:
    """Return a message without links."""
    return {"text": _LINK_MARKUP.sub(r"\\\g<0>", text)}


SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"


def write(results: Iterable[Result], file: TextIO) -> None:
    """Write a log of one run, each result as it comes.

    It contains no password, and no value of a secret parameter.
    """
    from overthere import __version__

    driver = {"name": "overthere", "version": __version__, "rules": [_rule(kind) for kind in KINDS]}
    head = {"tool": {"driver": driver}, "columnKind": "unicodeCodePoints"}
    # The small members precede the results, which are the last member.
    file.write(f'{{"$schema": "{SCHEMA}", "version": "2.1.0", "runs": [')
    file.write(json.dumps(head)[:-1] + ', "results": [')
    for number, result in enumerate(results):
        file.write(",\n" if number else "\n")
        file.write(json.dumps(_result(result)))
    file.write("\n]}]}\n")


def _rule(kind: str) -> dict[str, Any]:
    """Return a reportingDescriptor (3.49)."""
    row = KINDS[kind]
    older = f" Before it: {row.older}." if row.older else ""
    return {
        "id": kind,
        "shortDescription": {"text": row.message.replace("{it}", "…")},
        "fullDescription": {"text": row.means},
        "help": {"text": f"{row.means} {row.source}.{older}"},
        "defaultConfiguration": {"level": row.level},
        "properties": {"tags": ["security"], "component": row.component},
    }


def _result(result: Result) -> dict[str, Any]:
    finding = result.finding
    displayed_text = printable(mask(result.text))
    location: dict[str, Any] = {"logicalLocations": [{"fullyQualifiedName": displayed_text[:1000]}]}
    if result.artifact is not None:
        region = {
            "startLine": result.line,
            "startColumn": result.column,
            "endLine": result.end_line,
            "endColumn": result.end_column,
        }
        location["physicalLocation"] = {"artifactLocation": {"uri": result.artifact}, "region": region}
    return {
        "ruleId": finding.kind,
        "ruleIndex": _KINDS.index(finding.kind),
        "level": KINDS[finding.kind].level,
        "message": message_of(printable(f"{finding.message} ({finding.source})")),
        "locations": [location],
        "properties": {"component": finding.component, "start": finding.start, "end": finding.end},
    }
