"""overthere editions: the documents side by side, their differences, and how each reads a text."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import click
from rich import box
from rich.console import Console, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from overthere.cli.common import format_option, inputs, texts_argument, width
from overthere.cli.group import Verbs
from overthere.cli.styles import HEADING, LEVELS, SIDE
from overthere.editions import NAMES, edition
from overthere.editions.compare import Difference, diff, matrix
from overthere.editions.model import Edition
from overthere.editions.readings import MARKS, Reading, as_dict, notes, read
from overthere.ground.display import printable
from overthere.ground.errors import GrammarError, NotSpecified
from overthere.ground.figure import note_lines, shorten
from overthere.ground.redact import mask, mask_equal_length, shorten_masks

# More than a reader counts.
_RUN = re.compile(r"(.)\1{9,}")


@click.group(cls=Verbs, invoke_without_command=True)
@format_option
@click.pass_context
def command(context: click.Context, form: str) -> None:
    """Show the five documents side by side; `diff` computes the differences between two of them.

    Editions: url-1994, rfc1738, url-1997, uri-2003, rfc3986.
    """
    if context.invoked_subcommand is None:
        editions = [edition(name) for name in NAMES]
        if form == "jsonl":
            _lines(map(facts, editions))
        else:
            _print_editions(editions)
    elif form != "text":
        raise click.UsageError(f"--format {form} belongs behind {context.invoked_subcommand}")


@command.command("diff")
@click.argument("a", metavar="A")
@click.argument("b", metavar="B")
@click.option("--rule", metavar="R", help="Only this rule, by its name in either document.")
@format_option
def diff_command(a: str, b: str, rule: str | None, form: str) -> None:
    """Compute the differences between edition A and edition B: rules, characters, resolution."""
    try:
        difference = diff(a, b, rule)
    except (NotSpecified, GrammarError) as error:
        raise click.UsageError(str(error)) from None
    if form == "jsonl":
        _lines([difference.to_dict()])
    else:
        _print_difference(difference)


@command.command("matrix")
@texts_argument
@format_option
def matrix_command(texts: tuple[str, ...], form: str) -> None:
    """Show how each edition reads each text (arguments, or lines of files or of standard input).

    ok: valid by the grammar; -: invalid; n/a: the grammar has no rule for such a text.  Parts that the editions
    read differently follow each text.
    """
    console = _console()
    names = list(NAMES)
    column = max(8, console.width - sum(len(n) + 2 for n in names))
    if form == "text":
        head = Text(f"{'text':<{column}}", style=HEADING)
        for name in names:
            head.append(f"  {name}")
        console.print(head, soft_wrap=True)
    for text, readings in matrix(_texts(texts)):
        if form == "jsonl":
            _lines([{"text": text, **as_dict(readings)}])
        else:
            _print_readings(console, text, readings, column)


def _texts(arguments: Sequence[str]) -> Iterator[str]:
    """The arguments; the name of a file stands for its lines."""
    if not arguments:
        yield from inputs((), "FILES or URIs")
    for argument in arguments:
        if not _is_file(argument):
            yield argument
            continue
        try:
            with Path(argument).open("rb") as lines:
                for line in lines:
                    yield line.removesuffix(b"\n").removesuffix(b"\r").decode("utf-8", "surrogateescape")
        except OSError as error:
            raise click.UsageError(f"{argument}: {error.strerror}") from None


def _is_file(argument: str) -> bool:
    try:
        return Path(argument).is_file()
    except (OSError, ValueError):  # too long for a name, or a NUL in it
        return False


# -- as data


def facts(edition: Edition) -> dict[str, Any]:
    """The row of an edition."""
    names = ("name", "title", "date", "document", "charset", "empty_reference")
    return {
        **{name: getattr(edition, name) for name in names},
        "ports": dict(edition.ports),
        "elsewhere": dict(edition.elsewhere),
    }


def _lines(rows: Any) -> None:
    for data in rows:
        click.echo(json.dumps(data))


# -- for people


def _console() -> Console:
    # Markup is off: "[::1]" is not markup, and ":a:" not an emoji.
    return Console(width=width(), markup=False, highlight=False, emoji=False)


def _show(console: Console, *what: RenderableType) -> None:
    """Print without trailing blanks."""
    with console.capture() as captured:
        console.print(*what)
    click.echo("\n".join(line.rstrip() for line in captured.get().rstrip("\n").split("\n")))


def _table(*heads: str) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1), show_edge=False)
    for head in heads:
        table.add_column(Text(head), overflow="fold")
    return table


def _print_editions(editions: Sequence[Edition]) -> None:
    console = _console()
    if console.width < 110:
        for e in editions:
            console.print(Text(f"{e.name}  {e.date}", style=HEADING))
            extra = (f"empty reference: {e.empty_reference}", f"left to others: {describe_elsewhere(e) or 'nothing'}")
            for line in (e.title, e.document, f"charset: {e.charset}", *extra):
                _show(console, Padding(Text(line), (0, 0, 0, 2)))
        return
    table = _table("name", "title and document", "charset", "empty reference", "left to others")
    table.columns[1].min_width = 32
    for e in editions:
        name = Text(f"{e.name}\n{e.date}")
        table.add_row(
            name, *map(Text, (f"{e.title}\n{e.document}", e.charset, e.empty_reference, describe_elsewhere(e)))
        )
    _show(console, table)


def describe_elsewhere(edition: Edition) -> str:
    """Describe in a phrase what an edition leaves to other documents."""
    groups: dict[str, list[str]] = {}
    for method, document in edition.elsewhere.items():
        groups.setdefault(document, []).append(method)
    return "; ".join(f"{', '.join(methods)}: {document}" for document, methods in groups.items())


def _print_difference(difference: Difference) -> None:
    console = _console()
    a, b = difference.a, difference.b
    if difference.rules:
        _show(console, Text("Rules: the shortest strings that one accepts and the other rejects", style=HEADING))
        table = _table("rule", f"only {a}", f"only {b}")
        for rule in difference.rules:
            table.add_row(Text(rule_name(rule.a, rule.b)), Text(strings(rule.only_a)), Text(strings(rule.only_b)))
        _show(console, table)
        click.echo()
    if difference.same:
        _show(console, Text(f"Rules that accept the same strings: {', '.join(difference.same)}"))
        click.echo()
    for name, rules in ((a, difference.only_a), (b, difference.only_b)):
        if rules:
            _show(console, Text(f"Rules only in {name}, also those that its grammar file adds: {', '.join(rules)}"))
            click.echo()
    if difference.characters:
        _show(console, Text("Characters in differently named classes", style=HEADING))
        table = _table("characters", a, b)
        for moved in difference.characters:
            table.add_row(Text(strings(tuple(moved.characters))), Text(moved.a or "(none)"), Text(moved.b or "(none)"))
        _show(console, table)
        click.echo()
    if difference.resolution:
        _show(console, Text(f"References that resolve differently, one of each kind: {a} | {b}", style=HEADING))
        for row in difference.resolution:
            title = f"{row.kind} ({row.pairs} pairs)"
            base, reference, first, second = (printable(cell) or '""' for cell in row[:4])
            _show(console, Text(title), Padding(Text(f"{base} with {reference}: {first} | {second}"), (0, 0, 0, 2)))
    for reason in difference.not_specified:
        _show(console, Text(f"Resolution not compared: {reason}."))


def rule_name(a: str, b: str) -> str:
    return a if a == b else f"{a} / {b}"


def strings(texts: Sequence[str]) -> str:
    """Write strings as they are shown in a row.

    Consecutive characters become a range, blank strings are quoted, and `a{64}` is 64 times "a".
    """
    pieces: list[str] = []
    at = 0
    while at < len(texts):
        text, end = texts[at], at + 1
        if len(text) == 1 and text.isalnum():
            while end < len(texts) and texts[end].isalnum() and ord(texts[end]) == ord(text) + end - at:
                end += 1
        if end - at > 2:
            pieces.append(f"{text}-{texts[end - 1]}")
        else:
            pieces += map(_string, texts[at:end])
        at = end
    return "  ".join(pieces)


def _string(text: str) -> str:
    return f'"{text}"' if text.strip() == "" else _RUN.sub(lambda m: f"{m[1]}{{{len(m[0])}}}", printable(text))


def _print_readings(console: Console, text: str, readings: Sequence[Reading], column: int) -> None:
    line = Text(printable(shorten(mask(text), column)) or '""')
    line.truncate(column, overflow="ellipsis", pad=True)
    for reading in readings:
        line.append("  " + MARKS[reading.valid].ljust(len(reading.edition)), style=None if reading.valid else SIDE)
    line.rstrip()
    console.print(line, soft_wrap=True)
    (masked,) = mask_equal_length(text)
    note_texts = notes(readings) if masked == text else notes(read(masked), shorten_masks)
    for note in note_lines(note_texts, console.width - 2):
        console.print(Text(f"  {note}", style=LEVELS["warning"]), soft_wrap=True)
