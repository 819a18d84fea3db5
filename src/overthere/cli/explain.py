"""overthere explain: the figure of RFC 3986 section 3 for each text."""

from __future__ import annotations

import os
import sys

import click

from overthere.anatomy import Explanation, explain
from overthere.cli.common import LISTED, Output, all_option, base_option, format_option, inputs, texts_argument, width
from overthere.cli.printing import is_terminal
from overthere.cli.reading_options import Reading, reading_options


@click.command()
@texts_argument
@base_option
@reading_options(editions=False)
@all_option
@format_option
def command(texts: tuple[str, ...], base: str | None, reading: Reading, every: bool, form: str) -> None:
    """Explain URIs and references: figure, offsets, normal form at each rung, findings."""
    output = Output(form)
    for text in inputs(texts, "URIs"):
        explanation = explain(text, base, zone=reading.zone, iri=reading.iri, limit=None if every else LISTED)
        output.bad += bool(explanation.findings or explanation.problem)
        if form == "jsonl":
            output.answer("", explanation.to_dict())
        elif not _print_coloured(explanation):
            output.answer(explanation.render(width()), {})
    output.finish()


def _print_coloured(explanation: Explanation) -> bool:
    """Print with colours on a terminal and return True; for a pipe, rich is not loaded."""
    if not (is_terminal(sys.stdout) or os.environ.get("FORCE_COLOR")):
        return False
    from overthere.cli.colours import print_coloured

    return print_coloured(explanation, width())
