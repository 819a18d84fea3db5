"""What the verbs share: inputs, formats, and how bad input is told."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

import click

from overthere.cli.reading import Reading
from overthere.editions import edition
from overthere.errors import InvalidURI, OverthereError
from overthere.normalize import Rung
from overthere.redact import mask
from overthere.schemes import Locator
from overthere.showing import printable
from overthere.uri import URI

__all__ = [
    "CSV_SAFE",
    "Output",
    "base_option",
    "base_uri",
    "format_option",
    "inputs",
    "located",
    "rung_option",
    "texts_argument",
    "width",
]

F = TypeVar("F", bound=Callable[..., Any])


def format_option(function: F) -> F:
    return click.option(
        "--format",
        "form",
        type=click.Choice(["text", "jsonl"]),
        default="text",
        help="Lines for people, or JSON lines.",
    )(function)


def texts_argument(function: F) -> F:
    return click.argument("texts", nargs=-1)(function)


def base_option(required: bool) -> Callable[[F], F]:
    return click.option("--base", required=required, metavar="URI", help="The base URI (RFC 3986 5.1).")


def base_uri(text: str) -> Any:
    """The base that was given; a usage error with its figure if it is no URI."""
    return Reading().base(text)


def located(text: str, name: str, zone: bool = False) -> Locator:
    """What a text says in the terms of its scheme, by an edition's account.  Raises: OverthereError.

    zone: whether it may hold a zone identifier, which extends RFC 3986 alone (RFC 6874).
    """
    if zone and name != "rfc3986":
        raise click.UsageError(f"--zone is for RFC 3986, not for {name} (RFC 6874)")
    return URI(text, zone=True).locator if zone else edition(name).locator(text)


def rung_option(function: F) -> F:
    names = [rung.name for rung in Rung if rung is not Rung.PROTOCOL] + ["SYNTAX"]
    return click.option(
        "--rung",
        type=click.Choice(names, case_sensitive=False),
        default="SYNTAX",
        help="The rung of the ladder (RFC 3986 6.2); SYNTAX is PATH.",
    )(function)


def inputs(texts: Sequence[str], what: str = "TEXT") -> Iterator[str]:
    """The arguments, or the lines of standard input (only their line ends taken off)."""
    if texts:
        yield from texts
        return
    if sys.stdin is None or sys.stdin.isatty():
        raise click.UsageError(f"nothing to do: give {what} as arguments, or lines on standard input")
    for line in sys.stdin.buffer:
        yield line.removesuffix(b"\n").removesuffix(b"\r").decode("utf-8", "surrogateescape")


def width() -> int:
    """The columns of the terminal, 100 where there is none."""
    return max(40, shutil.get_terminal_size((100, 24)).columns)


CSV_SAFE = (
    "CSV: put an apostrophe before cells that begin with = + - @ TAB or CR, so that no spreadsheet computes them. "
    "It changes the data (overthere.columns.cells.plain takes it back), and is therefore not the default."
)


class Output:
    """Writes answers to standard output, figures of bad input to standard error, and counts the latter."""

    def __init__(self, form: str) -> None:
        self.jsonl = form == "jsonl"
        self.bad = 0

    def answer(self, text: str, data: Mapping[str, Any]) -> None:
        """One answer: its line for people, its fields as JSON."""
        click.echo(json.dumps(data) if self.jsonl else "\n".join(map(printable, text.split("\n"))))

    def refuse(self, text: str, error: OverthereError) -> None:
        """One input that was bad."""
        self.bad += 1
        if self.jsonl:
            told = error.finding._asdict() if isinstance(error, InvalidURI) else {"message": str(error)}
            click.echo(json.dumps({"text": text, "error": told}))
        shown = error.figure(width()) if isinstance(error, InvalidURI) else f"{printable(mask(text))}\n{error}"
        click.echo(shown, err=True)

    def done(self) -> None:
        """Exit 1 if any input was bad."""
        if self.bad:
            raise SystemExit(1)
