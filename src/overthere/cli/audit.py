"""overthere audit: security findings in texts, and in the URIs of files."""

from __future__ import annotations

import json
import os
import sys
from bisect import bisect_right
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import click

from overthere.cli.common import inputs, texts_argument
from overthere.cli.printing import print_message, warn_without_look_alikes, width, wrap_sentence
from overthere.cli.styles import LEVELS as STYLES
from overthere.cli.styles import style_text
from overthere.files import sarif
from overthere.files.stores.model import is_object
from overthere.ground.display import printable, underline
from overthere.ground.errors import Finding, OverthereError
from overthere.ground.extras import missing_line
from overthere.ground.redact import mask, secret_spans
from overthere.security import KINDS, LEVELS, Level, audit, level_of


class _File(click.Path):
    """A file that exists, or the URI of an object."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        return value if is_object(value) else super().convert(value, param, ctx)


_KIND = click.Choice([kind for kind in KINDS if kind != "more"])
_AT_ONCE = 1000
"""Findings of a text that are shown."""


class _AuditedText(NamedTuple):
    text: str
    findings: list[Finding]
    name: str | None = None
    """The name of the file, or "-"; None for an argument."""
    start: int = 0
    """The offset of the text in `lines`."""
    lines: _Lines | None = None
    exact: bool = True
    """Whether the text is in the file exactly as it is here, without removed white space."""
    line: int = 1
    """The line, if `lines` is None."""

    def place(self, finding: Finding | None = None) -> tuple[int, int, int, int]:
        """Line, column, and those of the character behind."""
        start, end = (finding.start, finding.end) if finding and self.exact else (0, len(self.text))
        if self.lines is None:
            return self.line, start + 1, self.line, end + 1
        return *self.lines.place(self.start + start), *self.lines.place(self.start + end)


class _Lines:
    """Offsets at which the lines of a text begin."""

    def __init__(self, text: str) -> None:
        self.starts = [0]
        at = text.find("\n")
        while at >= 0:
            self.starts.append(at + 1)
            at = text.find("\n", at + 1)

    def place(self, offset: int) -> tuple[int, int]:
        line = bisect_right(self.starts, offset)
        return line, offset - self.starts[line - 1] + 1


@click.command()
@texts_argument
@click.option(
    "--file", "files", multiple=True, metavar="FILE", type=_File(exists=True, dir_okay=False, allow_dash=True),
    help="The URIs in the text of a file or of an object (s3://bucket/key), or of - for standard input.",
)  # fmt: skip
@click.option(
    "--format", "form", type=click.Choice(["text", "jsonl", "sarif"]), default="text",
    help="Lines for people, JSON lines, or SARIF 2.1.0 for code scanners.",
)  # fmt: skip
@click.option(
    "--level", type=click.Choice(LEVELS), default="note", help="The lowest level that is reported and that counts."
)
@click.option("--only", multiple=True, metavar="KIND", type=_KIND, help="Report only these kinds.")
@click.option("--ignore", multiple=True, metavar="KIND", type=_KIND, help="Do not report this kind.")
def command(
    texts: tuple[str, ...], files: tuple[str, ...], form: str, level: Level, only: tuple[str, ...],
    ignore: tuple[str, ...],
) -> None:  # fmt: skip
    """Report what is suspicious in each text, valid or not; exit 1 if there is anything.

    The texts are the arguments, the lines of standard input, or the URIs in FILEs.
    """
    warn_without_look_alikes()
    kinds = frozenset(only or KINDS).difference(ignore)
    counted = _FindingCounter(_audit_all(texts, files, level, kinds))
    if form == "sarif":
        try:
            sarif.write(chain.from_iterable(map(_results, counted)), sys.stdout)
        except BrokenPipeError:
            raise  # the reader closed the pipe
        except OSError as error:
            raise click.ClickException(f"standard output: {error.strerror}") from None
    else:
        for audited in counted:
            click.echo(_json(audited) if form == "jsonl" else _lines(audited))
    if counted.bad:
        raise SystemExit(1)


class _FindingCounter:
    """Iterates over audited texts and counts those with findings."""

    def __init__(self, audited: Iterator[_AuditedText]) -> None:
        self.audited, self.bad = audited, 0

    def __iter__(self) -> Iterator[_AuditedText]:
        for audited in self.audited:
            self.bad += bool(audited.findings)
            yield audited


def _audit_all(
    texts: tuple[str, ...], files: tuple[str, ...], level: Level, kinds: frozenset[str]
) -> Iterator[_AuditedText]:
    def of(text: str) -> list[Finding]:
        return audit(text, level=level, limit=_AT_ONCE, only=kinds)

    if texts or not files:
        for number, text in enumerate(inputs(texts, "URIs"), 1):
            yield _AuditedText(text, of(text), None if texts else "-", line=1 if texts else number)
            if texts and os.path.isfile(text):
                name = printable(text)
                print_message(f"{name} is a file; for the URIs in it: overthere audit --file {name}")
    for name in files:
        for audited in _find_in_file(name):
            findings = of(audited.text)
            if findings:  # of a file the rest is not of interest
                yield audited._replace(findings=findings)


def _find_in_file(name: str) -> Iterator[_AuditedText]:
    """The URIs in the text of a file, as `overthere find` finds them."""
    try:
        from overthere.links.documents.charset import decode_text
        from overthere.text import find
    except ImportError as error:
        raise click.UsageError(f"--file: {missing_line(error, 'links')}") from None
    try:
        if is_object(name):
            from overthere.files.stores.opening import open_object

            with open_object(name) as file:
                content = file.read()
        else:
            content = sys.stdin.buffer.read() if name == "-" else Path(name).read_bytes()
    except OSError as error:
        raise click.UsageError(f"{name}: {error.strerror}") from None
    except OverthereError as error:
        raise click.UsageError(f"{name}: {error}") from None
    except MemoryError:
        raise click.ClickException(f"{name}: larger than the memory; `links --audit` has no such limit") from None
    text, damaged = decode_text(content, None)
    if damaged:
        print_message(f"{name}: some of it is not valid UTF-8 and is read as U+FFFD")
    lines = _Lines(text)
    for match in find(text):
        reference = str(match.reference)
        exact = text.startswith(reference, match.start)
        yield _AuditedText(reference, [], name, match.start, lines, exact)


def _results(audited: _AuditedText) -> Iterator[sarif.Result]:
    artifact = None if audited.name is None else "-" if audited.name == "-" else sarif.artifact(audited.name)
    for finding in audited.findings:
        yield sarif.Result(finding, audited.text, artifact, *audited.place(finding))


def _json(audited: _AuditedText) -> str:
    findings = [{**finding._asdict(), "level": level_of(finding)} for finding in audited.findings]
    location = (
        {} if audited.name is None else {"file": audited.name, "line": audited.place()[0], "column": audited.place()[1]}
    )
    return json.dumps({"text": audited.text, "level": _worst_level(audited.findings), **location, "findings": findings})


def _worst_level(findings: list[Finding]) -> Level | None:
    return LEVELS[max(LEVELS.index(level_of(finding)) for finding in findings)] if findings else None


def _lines(audited: _AuditedText) -> str:
    """The text with its worst level, and each finding below it with its figure."""
    worst = _worst_level(audited.findings)
    text_shown = printable(mask(audited.text))
    count = f"  ({len(audited.findings)} finding{'s' if len(audited.findings) > 1 else ''})" if worst else ""
    location = "" if audited.lines is None else "{}:{}:{}: ".format(audited.name, *audited.place()[:2])
    level = style_text(f"{worst:<8}", STYLES[worst]) if worst else "nothing "
    lines = [f"{level} {printable(location)}{text_shown}{count}"]
    for finding in audited.findings:
        figure = underline(audited.text, finding.start, finding.end, width(), secret_spans(audited.text))
        lines += [f"    {line}" for line in figure.split("\n")]
        lines.append(
            wrap_sentence(f"{level_of(finding)} {finding.kind}: {printable(str(finding))}", sys.stdout, "    ")
        )
    return "\n".join(lines)
