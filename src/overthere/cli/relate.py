"""overthere relate: the inverse of resolve."""

from __future__ import annotations

import click

from overthere.cli.common import Output, base_option, format_option, inputs, on_error_option, texts_argument
from overthere.cli.reading import Reading, reading_options
from overthere.errors import OverthereError


@click.command()
@texts_argument
@base_option(required=True)
@reading_options(editions=False)
@on_error_option
@format_option
def command(texts: tuple[str, ...], base: str, reading: Reading, on_error: str, form: str) -> None:
    """Find the shortest reference from a base to each target; one a line."""
    output = Output(form, on_error)
    own = reading.base(base)
    for text in inputs(texts, "target URIs"):
        try:
            reference = own.relate(reading.uri(text))
        except OverthereError as error:
            output.refuse(text, error)
            continue
        output.answer(str(reference), {"target": text, "reference": str(reference)})
    output.done()
