"""overthere encode: data to component text (RFC 3986 2.1)."""

from __future__ import annotations

import click

from overthere.cli.common import Answer, Output, texts_argument
from overthere.cli.reading_options import edition_option, iri_option, refuse_table
from overthere.cli.table_options import Table, answer_options
from overthere.editions import edition
from overthere.ground.errors import CodingError
from overthere.iri import to_characters
from overthere.values.encoding import encode


@click.command()
@texts_argument
@click.option("--component", default="segment", help="The target component: segment, path, query, ...")
@click.option("--keep", help="Reserved characters of that component to leave as they are, as data.")
@edition_option()
@iri_option
@answer_options
def command(
    texts: tuple[str, ...], component: str, keep: str | None, by: str, iri: bool, on_error: str, form: str,
    table: Table | None,
) -> None:  # fmt: skip
    """Percent-encode data for a component; one a line.  With --iri, characters allowed in IRIs stay."""
    refuse_table(by, table)
    if keep is not None and by != "rfc3986":
        raise click.UsageError("--keep applies to RFC 3986; other editions keep what their character classes say")
    if iri and by != "rfc3986":
        raise click.UsageError(f"--iri applies to RFC 3986, not to {by}")
    try:
        edition(by).encode("", component)
        if by == "rfc3986":
            encode("", component, keep=keep)
    except CodingError as error:
        raise click.UsageError(str(error)) from None
    if table is not None:
        table.refuse(iri=iri)
        table.apply(texts, "encode", component, keep=keep)
        return

    def answer(text: str) -> Answer:
        if by == "rfc3986":
            encoded = encode(text.encode("utf-8", "surrogateescape"), component, keep=keep)
            encoded = to_characters(encoded, component == "query") if iri else encoded
        else:
            encoded = edition(by).encode(text, component)
        return Answer(encoded, {"data": text, "component": component, "encoded": encoded})

    Output(form, on_error).answer_each(texts, "data", answer)
