"""overthere decode: component text to data (RFC 3986 2.1, 2.5)."""

from __future__ import annotations

from typing import Literal

import click

from overthere.cli.common import Answer, Output, texts_argument
from overthere.cli.reading_options import edition_option, refuse_table
from overthere.cli.table_options import Table, answer_options
from overthere.editions import edition
from overthere.ground import charsets
from overthere.values.encoding import decode


@click.command()
@texts_argument
@click.option("--charset", help="Charset of the octets; utf-8 unless the edition uses another.")
@click.option(
    "--errors", type=click.Choice(("strict", "keep")), default="strict",
    help="With keep, broken escapes and octets outside the charset stay as they are.",
)  # fmt: skip
@edition_option()
@answer_options
def command(
    texts: tuple[str, ...], charset: str | None, errors: Literal["strict", "keep"], by: str, on_error: str, form: str,
    table: Table | None,
) -> None:  # fmt: skip
    """Decode component text, of IRIs too; one a line ("+" stays "+")."""
    refuse_table(by, table)
    if charset is not None and by != "rfc3986":
        raise click.UsageError("--charset applies to RFC 3986; another edition sets the charset itself")
    if errors == "keep" and by != "rfc3986":
        raise click.UsageError("--errors applies to RFC 3986; other editions do not decode in part")
    if charset is not None and charsets.codec(charset) is None:
        raise click.UsageError(f"--charset: {charset!r} is not a known charset")
    if table is not None:
        table.refuse(errors=errors == "keep", charset=(charset or "utf-8").lower() not in ("utf-8", "utf8"))
        table.apply(texts, "decode")
        return

    def answer(text: str) -> Answer:
        if by == "rfc3986":
            decoded = decode(text, charset=charset or "utf-8", errors=errors)
        else:
            decoded = edition(by).decode(text)
        return Answer(decoded, {"text": text, "decoded": decoded})

    Output(form, on_error).answer_each(texts, "component text", answer)
