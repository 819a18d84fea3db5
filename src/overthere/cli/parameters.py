"""overthere parameters: print the pairs of each query or one of them, or change them (RFC 3986 3.4)."""

from __future__ import annotations

from typing import Any

import click

from overthere.cli.common import Answer, Output, format_option, texts_argument
from overthere.cli.table_options import Table, table_options
from overthere.forms import Parameters
from overthere.ground.display import printable
from overthere.ground.redact import mask
from overthere.values.scheme_query import plus_of
from overthere.values.uri import URIReference

_REPEAT = "  Repeat."


@click.command()
@texts_argument
@click.option(
    "--get", "name", metavar="NAME", help="Write only the first value of this name; an empty line if there is none."
)
@click.option("--raw", is_flag=True, help="With --get: the raw value, with its escapes.")
@click.option(
    "--remove", "removed", multiple=True, metavar="NAME", help='Remove parameters; "*" matches any text.' + _REPEAT
)
@click.option(
    "--set", "set_", multiple=True, metavar="NAME=VALUE", help="Set a parameter, replacing all of its name." + _REPEAT
)
@click.option("--add", "added", multiple=True, metavar="NAME=VALUE", help="Append a parameter." + _REPEAT)
@click.option("--sort", "sort", is_flag=True, help="Sort by the octets of the names, after all other changes.")
@click.option("--pair-separator", type=click.Choice(["&", ";"]), default="&", help="Separator between parameters.")
@click.option(
    "--no-plus", "plus", flag_value=False, default=None, help='"+" means itself, and "%20" a space, as in mailto.'
)
@format_option
@table_options
def command(
    texts: tuple[str, ...], name: str | None, raw: bool, form: str, table: Table | None, pair_separator: str,
    plus: bool | None, **change: Any,
) -> None:  # fmt: skip
    """Show the parameters of each URI or reference, or change them: --remove, --set, --add, --sort, in this order.
    All others stay unchanged, octet for octet."""
    if name is not None and any(change.values()):
        raise click.UsageError("give either --get, or --remove, --set, --add and --sort")
    if raw and name is None:
        raise click.UsageError("--raw needs --get")
    pair_options = {"separator": pair_separator, "plus": plus}
    steps = _steps(**change)
    if table is not None:
        _table(table, texts, name, raw, steps, {**pair_options, "plus": plus is not False})
        return

    def answer(text: str) -> Answer:
        value = URIReference(text)
        if steps:
            for step, arguments in steps:
                value = getattr(value, step)(*arguments, **pair_options)
            return Answer(str(value), {"text": text, "changed": str(value)})
        read = Parameters(value.query, separator=pair_separator, plus=plus_of(value.scheme) if plus is None else plus)
        if name is not None:
            first_value = next(iter(read.written(name)), None) if raw else read.get(name)
            return Answer(first_value or "", {"text": text, "name": name, "value": first_value})
        lines = [f"  {key}" if value is None else f"  {key}={value}" for key, value in read]
        return Answer("\n".join([printable(mask(text)), *lines]), {"text": text, "parameters": list(read)})

    Output(form).answer_each(texts, "URIs", answer)


def _steps(
    removed: tuple[str, ...], set_: tuple[str, ...], added: tuple[str, ...], sort: bool
) -> list[tuple[str, tuple[Any, ...]]]:
    """The editing functions that the options name, with their arguments."""
    steps: list[tuple[str, tuple[Any, ...]]] = []
    if removed:
        steps.append(("without_parameters", removed))
    if set_:
        steps.append(("with_parameters", (_pairs(set_),)))
    if added:
        steps.append(("add_parameters", (_pairs(added),)))
    if sort:
        steps.append(("sort_parameters", ()))
    return steps


def _pairs(texts: tuple[str, ...]) -> list[tuple[str, str | None]]:
    return [(name, value if mark else None) for name, mark, value in (text.partition("=") for text in texts)]


def _table(table: Table, texts: tuple[str, ...], name: str | None, raw: bool, steps: Any, pair_options: Any) -> None:
    from overthere import columns

    if name is not None:
        table.apply(texts, "parameter", name, raw=raw, **pair_options)
        return
    if not steps:
        raise click.UsageError("--column needs --get, or a change: --remove, --set, --add, --sort")

    def work(column: Any) -> Any:
        *before, last = steps
        for step, arguments in before:
            # A row with an error stays unchanged, so that the last step reports it.
            column = _fill_nulls(getattr(columns, step)(column, *arguments, **pair_options), column)
        step, arguments = last
        return getattr(columns, step)(column, *arguments, errors="detail", **pair_options)

    table.run(texts, work, "changed")


def _fill_nulls(changed: Any, column: Any) -> Any:
    import pyarrow as pa

    from overthere.columns.rowwise import compute, to_pyarrow

    return compute().coalesce(to_pyarrow(changed).cast(pa.large_string()), column.cast(pa.large_string()))
