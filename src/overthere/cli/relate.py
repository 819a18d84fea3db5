"""overthere relate: the inverse of resolve."""

from __future__ import annotations

import click

from overthere.cli.common import (
    Output,
    base_option,
    base_uri,
    format_option,
    inputs,
    iri_option,
    kinds,
    texts_argument,
    zone_option,
)
from overthere.errors import OverthereError


@click.command()
@texts_argument
@base_option(required=True)
@iri_option
@zone_option
@format_option
def command(texts: tuple[str, ...], base: str, iri: bool, zone: bool, form: str) -> None:
    """Find the shortest reference from a base to each target; one a line."""
    output = Output(form)
    own = base_uri(base, zone, iri)
    for text in inputs(texts, "target URIs"):
        try:
            reference = own.relate(kinds(iri)[0](text, zone=zone))
        except OverthereError as error:
            output.refuse(text, error)
            continue
        output.answer(str(reference), {"target": text, "reference": str(reference)})
    output.done()
