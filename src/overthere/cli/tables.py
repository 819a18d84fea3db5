"""`--column`: a verb on a column of whole tables, batch by batch."""

from __future__ import annotations

import os
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from functools import cache
from inspect import signature
from pathlib import Path
from typing import Any, NamedTuple

import click

from overthere.cli.printing import Impossible, print_message
from overthere.cli.styles import terminal_console
from overthere.files.stores.model import StoreError
from overthere.files.tables import Layout, Source, Writer, fit_schema, open_source, open_writer, suffix
from overthere.ground.display import printable
from overthere.ground.errors import KINDS
from overthere.ground.extras import missing_line


@cache
def _kinds() -> dict[str, int]:
    """Why a row is refused: "base" is the error of `resolve` for an invalid base, "unreachable" that of `relate`
    for a target that no reference leads to.
    """
    from overthere.values.hosts import dns

    return {kind: place for place, kind in enumerate((*KINDS, "base", "unreachable", *dns.KINDS))}


Work = Callable[..., Any]
"""Arrow columns in; out a column, or a struct of columns, among them `value`, `error` and `error_at`."""


@contextmanager
def _file_errors(name: str) -> Iterator[None]:
    """Report a problem with a file in one line."""
    try:
        yield
    except BrokenPipeError:
        raise
    except ModuleNotFoundError as error:
        raise Impossible(missing_line(error, "columns")) from None
    except Exception as error:
        is_known = isinstance(error, OSError | ValueError)
        if not is_known and not type(error).__module__.startswith("pyarrow"):
            raise
        reason = str(error)
        if (
            isinstance(error, OSError) and error.errno and not isinstance(error, StoreError)
        ):  # those of pyarrow name no file, and say more than one line
            reason = (error.strerror or "") if error.filename else os.strerror(error.errno)
        line = " ".join((reason or type(error).__name__).split("\n")[0].split())
        raise Impossible(f"{'standard input' if name == '-' else printable(name)}: {printable(line)}") from None


class Table:
    """The column that a verb works on, and the file that it writes."""

    def __init__(self, column: str, output: str | None, csv_safe: bool = False, separator: str = ",") -> None:
        self.column: str = column
        self.output: Path | None = None if output is None else Path(output)
        self.csv_safe: bool = csv_safe
        self.separator: str = separator
        self.output_name: str = "standard output" if output is None else printable(str(output))

    def refuse(self, **options: bool) -> None:
        """Raise a usage error if an option is given that works only on texts."""
        for name, used in options.items():
            if used:
                raise click.UsageError(f"--{name} applies to texts, not to --column")

    def apply(
        self, names: Sequence[str], operation: str, *arguments: Any, other_names: Sequence[str] = (), **named: Any
    ) -> None:
        """`run` of a column function with these arguments; in the table of operations is what the new column is called.

        other_names: more columns that it takes, before `arguments`.
        """
        from overthere.columns.operations import OPERATIONS, function_of

        function = function_of(operation)
        if "errors" in signature(function).parameters:
            named["errors"] = "detail"

        def work(*columns: Any) -> Any:
            return function(*columns, *arguments, **named)

        self.run(names, work, OPERATIONS[operation].label, other_names)

    def run(self, names: Sequence[str], work: Work, value: str = "", other_names: Sequence[str] = ()) -> None:
        """Write the tables with the columns that `work` makes, sum up; exit 1 if a row was bad.

        value: what the new column is called after the old one.  other_names: more columns that `work` takes.
        """
        names = self._sources(names)
        try:
            with ExitStack() as stack:
                with _file_errors(names[0]):
                    first = stack.enter_context(open_source(names[0], self.separator))
                size = _survey(names, first, self.separator)
                with _file_errors(names[0]):
                    cols = Columns(first.schema, [self.column, *other_names], work, value)
                with _file_errors(self.output_name):
                    form = ".csv" if self.output is None else suffix(self.output)
                    cols.fit(form)
                    layout = Layout(cols.schema, form, self.csv_safe)
                    writer = open_writer(self.output or "-", layout)
                summary = Summary(cols.checked)
                status = self._work(_batches(names, first, self.separator), size, cols, writer, summary)
        except KeyboardInterrupt:  # before there is anything to save
            print_message("Stopped")
            raise SystemExit(130) from None
        if status or summary.kinds:
            raise SystemExit(status or 1)

    def _sources(self, names: Sequence[str]) -> Sequence[str]:
        if not names and sys.stdin.isatty():
            raise click.UsageError("nothing to do: give tables as arguments, or one on standard input")
        if "-" in names[1:] or (len(names) > 1 and names[0] == "-"):
            raise click.UsageError("a table on standard input cannot be combined with others")
        if self.output is not None:
            with _file_errors(self.output_name):
                suffix(self.output)
                self.output.parent.stat()
            for name in names:
                with suppress(OSError):
                    if os.path.samefile(name, self.output):
                        raise Impossible(
                            f"{printable(name)} would be overwritten while being read: name another file with -o"
                        )
        return names or ["-"]

    def _work(
        self, batches: Iterator[tuple[str, Any, int]], size: int | None, cols: Columns, writer: Writer, summary: Summary
    ) -> int:
        """Work to the end, or to Ctrl-C or an error: then too the rows so far are left as a whole file."""
        try:
            with _progress(size, self.output) as step:
                for name, batch, bytes_read in batches:
                    with _file_errors(name):
                        answer = cols.add(batch)
                    try:
                        with _file_errors(self.output_name):
                            writer.write(answer.table)
                    finally:  # Ctrl-C during pyarrow's write takes effect afterwards
                        if writer.rows > summary.rows:
                            summary.count(answer)
                    step(bytes_read, summary.rows)
            with _file_errors(self.output_name):
                writer.close()
        except (KeyboardInterrupt, Impossible) as error:
            stopped = isinstance(error, KeyboardInterrupt)
            line = "Stopped" if stopped else f"Error: {error}"
            has_output = _close_early(writer)
            if has_output and self.output is not None:
                line += f"; {self.output_name} holds the {writer.rows:,} rows before"
            print_message(line)
            if has_output:
                summary.show()
            return 130 if stopped else Impossible.exit_code
        summary.show()
        return 0


def _close_early(writer: Writer) -> bool:
    """Close a table early; whether there is one, and it is whole.  Without rows, what was there before stays."""
    with suppress(Exception):
        if writer.rows and not writer.closed:
            writer.close()
            return True
    writer.drop()
    return False


def _survey(names: Sequence[str], first: Source, separator: str) -> int | None:
    """Return the number of bytes to read; all tables must have the columns of the first."""
    size = first.size
    for name in names[1:]:
        with _file_errors(name), open_source(name, separator) as source:
            for a, b in zip(first.schema, source.schema, strict=False):
                if not a.equals(b):
                    raise ValueError(
                        f"column {_describe_field(b)} instead of {_describe_field(a)} as in {printable(names[0])}"
                    )
            if len(first.schema) != len(source.schema):
                raise ValueError(
                    f"{len(source.schema):,} columns, where {printable(names[0])} has {len(first.schema):,}"
                )
            size = None if size is None or source.size is None else size + source.size
    return size


def _describe_field(field: Any) -> str:
    return f'"{field.name}" ({field.type}{"" if field.nullable else ", never null"})'


def _batches(names: Sequence[str], first: Source, separator: str) -> Iterator[tuple[str, Any, int]]:
    """Yield batches: the file's name, the batch, and the number of bytes read so far."""
    with _file_errors(names[0]):
        for batch, bytes_read in first.batches:
            yield names[0], batch, bytes_read
    bytes_before = first.size or 0
    for name in names[1:]:
        with _file_errors(name), open_source(name, separator) as source:
            for batch, bytes_read in source.batches:
                yield name, batch, bytes_before + bytes_read
        bytes_before += source.size or 0


@contextmanager
def _progress(size: int | None, output: Path | None) -> Iterator[Callable[[int, int], None]]:
    """A progress bar on standard error, where that is a terminal and the table does not go there too."""
    console = terminal_console(err=True)
    if console is None or (output is None and sys.stdout.isatty()):
        yield lambda bytes_read, rows: None
        return
    from rich.progress import BarColumn, Progress, ProgressColumn, TaskProgressColumn, TextColumn, TimeRemainingColumn

    layout: list[ProgressColumn] = [BarColumn(), TextColumn("{task.fields[rows]:,} rows")]
    if size is not None:
        layout += [TaskProgressColumn(), TimeRemainingColumn()]
    with Progress(*layout, console=console, transient=True) as bar:
        task = bar.add_task("", total=size, rows=0)
        yield lambda bytes_read, rows: bar.update(task, completed=bytes_read, rows=rows)


class Answer(NamedTuple):
    """A batch with its new columns, what was wrong with each row, and how many rows said nothing."""

    table: Any
    error: Any
    nulls: int


class Columns:
    """The new columns of a table."""

    def __init__(self, schema: Any, names: Sequence[str], work: Work, value: str) -> None:
        import pyarrow as pa

        self.work = work
        self.places: list[int] = [_find(schema, name) for name in names]
        self.dictionaries: list[Any] = [None] * len(names)
        """The last dictionary of each column, which need not be checked again."""
        fields, _ = self._fields([pa.nulls(0, schema.field(place).type) for place in self.places])
        self.checked: bool = "error" in fields
        new = {f"{names[0]}_{value if label == 'value' else label}": a.type for label, a in fields.items()}
        existing = [name for name in new if name in schema.names]
        if existing:
            raise ValueError(f'the column "{existing[0]}" exists already')
        self.schema: Any = schema
        for name, kind in new.items():
            self.schema = self.schema.append(pa.field(name, kind))
        self.steady: list[str] = [name for name, kind in new.items() if pa.types.is_dictionary(kind)]

    def fit(self, form: str) -> None:
        """Make the columns such as a format holds.  Raises: ValueError if it cannot."""
        self.schema = fit_schema(self.schema, form, self.steady)

    def add(self, batch: Any) -> Answer:
        """Return the batch with its new columns."""
        import pyarrow as pa

        from overthere.columns.rowwise import validate

        old = [batch.column(place) for place in self.places]
        # Text of Parquet and CSV may not be UTF-8.
        self.dictionaries = [*map(validate, old, self.dictionaries)]
        fields, nulls = self._fields(old)
        pairs = zip((*batch.columns, *fields.values()), self.schema, strict=True)
        columns = [column if column.type.equals(field.type) else column.cast(field.type) for column, field in pairs]
        table = pa.RecordBatch.from_arrays(columns, schema=self.schema)
        return Answer(table, fields.get("error"), nulls)

    def _fields(self, old: list[Any]) -> tuple[dict[str, Any], int]:
        """Return the new columns, and the number of rows without an answer and without an error."""
        import pyarrow as pa

        from overthere.columns.rowwise import to_pyarrow

        answers = to_pyarrow(self.work(*old))
        fields = {"value": answers}
        if pa.types.is_struct(answers.type):
            fields = dict(zip([field.name for field in answers.type], answers.flatten(), strict=True))
        nulls = answers.null_count
        if "value" in fields:
            nulls = fields["value"].null_count
            if "error" in fields:
                nulls -= len(answers) - fields["error"].null_count
        for name, column in fields.items():
            if pa.types.is_string_view(column.type):
                fields[name] = column.cast(pa.string())  # which every format holds
        if "error" in fields:
            # The same dictionary for every batch: an Arrow file has but one.
            error = fields["error"]
            kind_codes = pa.array([_kinds()[kind] for kind in error.dictionary.to_pylist()], pa.int8())
            fields["error"] = pa.DictionaryArray.from_arrays(kind_codes.take(error.indices), pa.array(list(_kinds())))
        return fields, nulls


def _find(schema: Any, name: str) -> int:
    """Return the index of a column of text.  Raises: ValueError."""
    import pyarrow as pa

    places: list[int] = schema.get_all_field_indices(name)
    if len(places) > 1:
        raise ValueError(f'{len(places)} columns are called "{name}"')
    if not places:
        names = ", ".join(schema.names[:20]) + (", ..." if len(schema.names) > 20 else "")
        sep = next((mark for mark in (";", "\t", "|") if mark in "".join(schema.names)), None)
        if sep:
            names += f"; if the separator is another, use --separator {'tab' if sep.isspace() else repr(sep)}"
        raise ValueError(f'no column "{name}"; the columns are: {names}')
    kind = value_type = schema.field(places[0]).type
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    if not (pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind)):
        raise ValueError(f'column "{name}" holds {value_type}, not text')
    return places[0]


class Summary:
    """Counts of rows and errors over all batches."""

    def __init__(self, checked: bool) -> None:
        self.checked = checked
        self.rows: int = 0
        self.nulls: int = 0
        self.kinds: Counter[str] = Counter()
        self.first: dict[str, int] = {}
        self.began: float = time.monotonic()

    def count(self, answer: Answer) -> None:
        """Count a batch."""
        if answer.error is not None and answer.error.null_count < len(answer.error):
            from overthere.columns.rowwise import compute

            indices = answer.error.indices
            for counted in indices.drop_null().value_counts().to_pylist():
                kind = answer.error.dictionary[counted["values"]].as_py()
                self.kinds[kind] += counted["counts"]
                if kind not in self.first:
                    self.first[kind] = self.rows + compute().index(indices, counted["values"]).as_py()
        self.rows += answer.table.num_rows
        self.nulls += answer.nulls

    def show(self) -> None:
        """The figures on standard error; rows are numbered from 1, through all files."""
        bad = self.kinds.total()
        rate = self.rows / max(time.monotonic() - self.began, 1e-9)
        figures = f"{self.nulls:,} null"
        if self.checked:
            figures = f"{self.rows - self.nulls - bad:,} valid, {figures}, {bad:,} invalid"
        lines = [f"{self.rows:,} row{'s' * (self.rows != 1)}, {rate:,.0f} a second", figures]
        width = max(map(len, self.kinds), default=0)
        digits = len(f"{max(self.kinds.values(), default=0):,}")
        for kind, count in self.kinds.most_common():
            lines.append(f"  {kind:{width}}  {count:>{digits},}, first in row {self.first[kind] + 1:,}")
        print_message("\n".join(lines))
