"""overthere relate: the inverse of resolve."""

from __future__ import annotations

import click

from overthere.cli.common import Answer, Output, base_options, texts_argument
from overthere.cli.reading_options import Reading, reading_options
from overthere.cli.table_options import Table, answer_options
from overthere.kernel.reference import Form
from overthere.values.relate import FORMS


@click.command()
@texts_argument
@click.option("--form", "of", type=click.Choice(FORMS), help="Find the shortest of this form (RFC 3986 4.2, 4.4).")
@reading_options(editions=False)
@answer_options
@base_options
def command(
    texts: tuple[str, ...], base: str | None, bases: str | None, of: Form | None, reading: Reading, on_error: str,
    form: str, table: Table | None,
) -> None:  # fmt: skip
    """Find the shortest reference from a base to each target; one a line."""
    if table is not None:
        table.refuse(zone=reading.zone, form=of is not None)
        extra = {} if base is None else {"base": reading.base(base)}
        table.apply(texts, "relate", iri=reading.iri, other_names=[bases] if bases else [], **extra)
        return
    assert base is not None
    base_uri = reading.base(base)

    def answer(text: str) -> Answer:
        reference = str(base_uri.relate(reading.uri(text), form=of))
        return Answer(reference, {"target": text, "reference": reference})

    Output(form, on_error).answer_each(texts, "target URIs", answer)
