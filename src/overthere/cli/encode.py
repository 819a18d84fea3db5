"""overthere encode: data to component text (RFC 3986 2.1)."""

from __future__ import annotations

import click

from overthere import columns
from overthere.cli.common import Output, format_option, inputs, texts_argument
from overthere.cli.tables import Table, table_options
from overthere.encoding import encode
from overthere.errors import CodingError


@click.command()
@texts_argument
@click.option("--component", default="segment", help="What it is put into: segment, path, query, ...")
@click.option("--keep", help="The reserved characters of that component that stay, for they are allowed as data.")
@format_option
@table_options
def command(texts: tuple[str, ...], component: str, keep: str | None, form: str, table: Table | None) -> None:
    """Percent-encode data for a component; one a line."""
    output = Output(form)
    try:
        encode("", component, keep=keep)
    except CodingError as error:
        raise click.UsageError(str(error)) from None
    if table is not None:
        table.run(texts, lambda c: columns.encode(c, component, keep=keep), "encoded")
        return
    for text in inputs(texts, "data"):
        encoded = encode(text.encode("utf-8", "surrogateescape"), component, keep=keep)
        output.answer(encoded, {"data": text, "component": component, "encoded": encoded})
    output.done()
