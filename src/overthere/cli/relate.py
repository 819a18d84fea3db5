"""overthere relate: the inverse of resolve."""

from __future__ import annotations

import click

from overthere.cli.common import Output, base_option, base_uri, format_option, inputs, texts_argument
from overthere.errors import OverthereError


@click.command()
@texts_argument
@base_option(required=True)
@format_option
def command(texts: tuple[str, ...], base: str, form: str) -> None:
    """Find the shortest reference from a base to each target; one a line."""
    output = Output(form)
    own = base_uri(base)
    for text in inputs(texts, "target URIs"):
        try:
            reference = own.relate(text)
        except OverthereError as error:
            output.refuse(text, error)
            continue
        output.answer(str(reference), {"target": text, "reference": str(reference)})
    output.done()
