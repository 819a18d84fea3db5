"""overthere explain: RFC 3986's figure of section 3 for the text at hand."""

from __future__ import annotations

import click

from overthere.anatomy import explain
from overthere.cli.common import Output, base_option, format_option, inputs, texts_argument, width
from overthere.cli.reading import zone_option


@click.command()
@texts_argument
@base_option(required=False)
@zone_option
@format_option
def command(texts: tuple[str, ...], base: str | None, zone: bool, form: str) -> None:
    """Take URIs and references apart: figure, offsets, normal form at each rung, findings."""
    output = Output(form)
    for text in inputs(texts, "URIs"):
        explanation = explain(text, base, zone=zone)
        output.bad += bool(explanation.findings or explanation.problem)
        output.answer(explanation.render(width()), explanation.to_dict())
    output.done()
