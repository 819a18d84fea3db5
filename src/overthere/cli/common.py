"""Options and output that the verbs share: inputs, formats, errors in the input."""

from __future__ import annotations

import codecs
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import wraps
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import click

from overthere.cli.printing import Impossible, figure, print_message, terminal_text, width
from overthere.cli.reading_options import Decorator, Reading
from overthere.editions import edition
from overthere.ground.display import printable
from overthere.ground.errors import CodingError, InvalidURI, NoBase, OverthereError, Unreachable
from overthere.ground.redact import mask
from overthere.ground.rung import Rung
from overthere.values.uri import URI

if TYPE_CHECKING:
    from overthere.schemes import Locator

__all__ = [
    "CSV_SAFE", "LISTED", "OF_A_TEXT", "Answer", "Output", "all_option", "base_option", "base_options", "base_uri",
    "format_option", "ignored_option", "inputs", "job_errors", "on_error_option", "parse_locator", "rung_option",
    "texts_argument", "width",
]  # fmt: skip

F = TypeVar("F", bound=Callable[..., Any])


LISTED = 20
"""Findings on one text that are printed by default."""

texts_argument: Decorator = click.argument("texts", nargs=-1)

format_option: Decorator = click.option(
    "--format", "form", type=click.Choice(["text", "jsonl"]), default="text", help="Lines for people, or JSON lines."
)

all_option: Decorator = click.option(
    "--all", "every", is_flag=True, help=f"Report all findings on a text instead of the first {LISTED}."
)

ignored_option: Decorator = click.option(
    "--no-ignore", "with_ignored", is_flag=True,
    help="Read in folders also what Git ignores, node_modules and virtual environments.",
)  # fmt: skip

base_option: Decorator = click.option("--base", metavar="URI", help="The base URI (RFC 3986 5.1).")

rung_option: Decorator = click.option(
    "--rung", default="SYNTAX", help="The rung of the ladder (RFC 3986 6.2); SYNTAX is PATH.",
    type=click.Choice([*(rung.name for rung in Rung if rung is not Rung.PROTOCOL), "SYNTAX"], case_sensitive=False),
)  # fmt: skip

on_error_option: Decorator = click.option(
    "--on-error", type=click.Choice(["empty", "skip", "stop"]), default="empty", show_default=True,
    help="On invalid input: print an empty line (keeps lines aligned), skip it, or stop.",
)  # fmt: skip
"""What to print for an invalid text."""


def base_options(function: F) -> F:
    """`--base`, or for a table `--base-column`: the verb is given one of the two, as `base` or as `bases`."""

    @wraps(function)
    def verb(base: str | None, bases: str | None, table: Any, **options: Any) -> Any:
        if base is not None and bases is not None:
            raise click.UsageError("give either --base or --base-column, not both")
        if base is None and (bases is None or table is None):
            raise click.UsageError("--base-column needs --column" if bases else "--base is missing: the base URI")
        return function(base=base, bases=bases, table=table, **options)

    of_each = click.option("--base-column", "bases", metavar="NAME", help="With --column: the base of each row.")
    sense = "The base URI (RFC 3986 5.1).  [required, or --base-column]"
    return click.option("--base", metavar="URI", help=sense)(of_each(verb))  # type: ignore[return-value]


base_uri: Callable[[str], URI] = Reading().base
"""The value of --base; if it is invalid, a usage error with its figure."""


def parse_locator(text: str, name: str, zone: bool = False) -> Locator:
    """Parse a text as data of its scheme, as an edition defines it.  Raises: OverthereError.

    zone: whether it may hold a zone identifier, which extends RFC 3986 alone (RFC 6874).
    """
    if zone and name != "rfc3986":
        raise click.UsageError(f"--zone applies to RFC 3986, not to {name} (RFC 6874)")
    return URI(text, zone=True).locator if zone else edition(name).locator(text)


@contextmanager
def job_errors() -> Iterator[None]:
    """Report what ends a job on documents: a missing package, wrong usage, a file that cannot be read or written."""
    try:
        yield
    except ModuleNotFoundError as error:
        from overthere.ground.extras import missing_line

        raise click.ClickException(missing_line(error, "links")) from None
    except (OverthereError, ValueError) as error:
        raise click.UsageError(str(error)) from None
    except BrokenPipeError:
        raise  # the reader closed the pipe
    except OSError as error:
        raise Impossible(str(error)) from None


def inputs(texts: Sequence[str], metavar: str = "TEXT") -> Iterator[str]:
    """The arguments; "-", or no argument, stands for the lines of standard input without their line ends."""
    if not texts and (sys.stdin is None or sys.stdin.isatty()):
        raise click.UsageError(f"nothing to do: give {metavar} as arguments, or lines on standard input")
    for text in texts or ("-",):
        if text == "-":
            yield from _lines()
        else:
            yield text


def _lines() -> Iterator[str]:
    """The lines of standard input, without a byte order mark."""
    if sys.stdin is None:
        raise click.UsageError("-: standard input is closed")
    mark = codecs.BOM_UTF8
    for line in sys.stdin.buffer:
        yield line.removeprefix(mark).removesuffix(b"\n").removesuffix(b"\r").decode("utf-8", "surrogateescape")
        mark = b""


CSV_SAFE = (
    "CSV: put an apostrophe before cells that spreadsheets would run as formulas. This changes the data; "
    "overthere.columns.cells.unescape reverts it."
)


OF_A_TEXT = (InvalidURI, CodingError, Unreachable, NoBase)
"""Errors in a single text; other exceptions are errors in the usage of the verb."""


class Answer(NamedTuple):
    """The answer of a verb to a text."""

    display: str
    """Its line or lines for people."""
    data: Mapping[str, Any]
    """Its fields as JSON."""
    notes: Iterable[str] = ()
    """Lines on standard error, for people only."""


class Output:
    """Writes answers to standard output and errors to standard error; counts the errors."""

    def __init__(self, form: str, on_error: str = "skip") -> None:
        self.jsonl: bool = form == "jsonl"
        self.on_error = on_error
        self.bad: int = 0

    def answer_each(
        self, texts: Sequence[str], metavar: str, answer: Callable[[str], Answer],
        bad: tuple[type[OverthereError], ...] = OF_A_TEXT,
    ) -> None:  # fmt: skip
        """Print the answer or the error for each text; exit 1 if any was invalid.

        texts: of the command line; if there are none, the lines of standard input.
        metavar: what the texts are called if there are none to read.
        answer: raises one of `bad` for a bad text.
        """
        for text in inputs(texts, metavar):
            try:
                display, data, notes = answer(text)
            except bad as error:
                self.refuse(text, error)
                continue
            self.answer(display, data)
            for note in notes:
                if not self.jsonl:
                    print_message(note)
        self.finish()

    def answer(self, text: str, data: Mapping[str, Any]) -> None:
        """Print one answer: its line for people, or its fields as JSON."""
        click.echo(_json(data) if self.jsonl else terminal_text(text))

    def refuse(self, text: str, error: OverthereError) -> None:
        """Report one invalid input."""
        self.bad += 1
        if self.jsonl:
            details = error.finding._asdict() if isinstance(error, InvalidURI) else {"message": str(error)}
            click.echo(_json({"text": text, "error": details}))
        elif self.on_error == "empty":
            click.echo()
        if isinstance(error, InvalidURI):
            click.echo(figure(error), err=True)
        else:
            print_message(f"{printable(mask(text))}\n{error}")
        if self.on_error == "stop":
            self.finish()

    def finish(self) -> None:
        """Exit 1 if any input was invalid."""
        if self.bad:
            raise SystemExit(1)


def _json(data: Mapping[str, Any]) -> str:
    import json

    return json.dumps(data)
