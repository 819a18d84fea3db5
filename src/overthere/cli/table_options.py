"""`--column` and the options that go with it."""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce, wraps
from typing import TYPE_CHECKING, Any, TypeVar

import click

from overthere.cli.common import CSV_SAFE, format_option, on_error_option
from overthere.files.tables import READ

if TYPE_CHECKING:
    from overthere.cli.tables import Table
else:
    Table = Any  # what works on tables is loaded for tables

__all__ = ["Table", "answer_options", "table_options"]

F = TypeVar("F", bound=Callable[..., Any])
_TAB = {"tab": "\t"}


def table_options(function: F) -> F:
    """`--column` and `-o`: the verb is given its `table`, None where the arguments are texts."""

    @wraps(function)
    def verb(column: str | None, output: str | None, csv_safe: bool, separator: str, **arguments: Any) -> Any:
        if column is None and output is not None:
            raise click.UsageError("-o needs --column; answers to texts go to standard output")
        if csv_safe and (column is None or not (output or ".csv").lower().endswith((".csv", ".csv.gz"))):
            raise click.UsageError("--csv-safe needs a table that is written as CSV")
        if column is not None and arguments["form"] != "text":
            raise click.UsageError("--format applies to texts; the suffix of a table sets its format")
        if separator != "," and column is None:
            raise click.UsageError("--separator needs --column and a table that is read as CSV")
        if column is None:
            return function(table=None, **arguments)
        from overthere.cli.tables import Table

        return function(table=Table(column, output, csv_safe, _TAB.get(separator, separator)), **arguments)

    options = (
        click.option("--csv-safe", "csv_safe", is_flag=True, help=f"With --column and {CSV_SAFE}"),
        click.option(
            "--separator", type=click.Choice([",", ";", "|", "tab"]), default=",", metavar="CHAR",
            help='With --column: the field separator of the CSV that is read: "," (the default), ";", "|" or tab.',
        ),
        click.option(
            "-o", "output", type=click.Path(dir_okay=False), metavar="FILE",
            help="With --column: write the table to a file, not as CSV to standard output.",
        ),
        click.option(
            "--column", metavar="NAME",
            help=f"Work on this column of tables: arguments are files ({', '.join(READ)}), or - for CSV or an "
            "Arrow stream on standard input.",
        ),
    )  # fmt: skip
    return reduce(lambda decorated, option: option(decorated), options, verb)  # type: ignore[return-value]


def answer_options(function: F) -> F:
    """`--on-error`, `--format` and `table_options`: the options of a verb with one answer for each text or row."""
    return on_error_option(format_option(table_options(function)))
