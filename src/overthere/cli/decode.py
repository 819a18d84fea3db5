"""overthere decode: component text to data (RFC 3986 2.1, 2.5)."""

from __future__ import annotations

import click

from overthere import columns
from overthere.cli.common import Output, format_option, inputs, texts_argument
from overthere.cli.tables import Table, table_options
from overthere.encoding import decode
from overthere.errors import CodingError


@click.command()
@texts_argument
@click.option("--charset", default="utf-8", help="The charset of the octets.")
@format_option
@table_options
def command(texts: tuple[str, ...], charset: str, form: str, table: Table | None) -> None:
    """Decode component text; one a line ("+" stays "+")."""
    if table is not None:
        table.refuse(charset=charset.lower() not in ("utf-8", "utf8"))
        table.run(texts, lambda c: columns.decode(c, errors="detail"), "decoded")
        return
    output = Output(form)
    for text in inputs(texts, "component text"):
        try:
            decoded = decode(text, charset=charset)
        except CodingError as error:
            output.refuse(text, error)
            continue
        output.answer(decoded, {"text": text, "decoded": decoded})
    output.done()
