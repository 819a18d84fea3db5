"""overthere explain: RFC 3986's figure of section 3 for the text at hand."""

from __future__ import annotations

import click

from overthere.anatomy import explain
from overthere.cli.common import Output, base_option, format_option, inputs, texts_argument, width
from overthere.cli.reading import Reading, reading_options


@click.command()
@texts_argument
@base_option(required=False)
@reading_options(editions=False)
@format_option
def command(texts: tuple[str, ...], base: str | None, reading: Reading, form: str) -> None:
    """Take URIs and references apart: figure, offsets, normal form at each rung, findings."""
    output = Output(form)
    for text in inputs(texts, "URIs"):
        explanation = explain(text, base, zone=reading.zone, iri=reading.iri)
        output.bad += bool(explanation.findings or explanation.problem)
        output.answer(explanation.render(width()), explanation.to_dict())
    output.done()
