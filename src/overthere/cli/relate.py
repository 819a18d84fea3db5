"""overthere relate: the inverse of resolve."""

from __future__ import annotations

import click

from overthere.cli.common import Output, base_option, format_option, inputs, on_error_option, texts_argument
from overthere.cli.reading import Reading, reading_options
from overthere.errors import OverthereError
from overthere.kernel.reference import Form
from overthere.relate import FORMS


@click.command()
@texts_argument
@base_option(required=True)
@click.option("--form", "of", type=click.Choice(FORMS), help="The shortest of this form (RFC 3986 4.2, 4.4).")
@reading_options(editions=False)
@on_error_option
@format_option
def command(texts: tuple[str, ...], base: str, of: Form | None, reading: Reading, on_error: str, form: str) -> None:
    """Find the shortest reference from a base to each target; one a line."""
    output = Output(form, on_error)
    own = reading.base(base)
    for text in inputs(texts, "target URIs"):
        try:
            reference = own.relate(reading.uri(text), form=of)
        except OverthereError as error:
            output.refuse(text, error)
            continue
        output.answer(str(reference), {"target": text, "reference": str(reference)})
    output.done()
