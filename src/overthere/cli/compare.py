"""overthere compare: the lowest rung at which two URIs are equal (RFC 3986 6.2)."""

from __future__ import annotations

from collections.abc import Iterator

import click

from overthere.cli.common import Output, format_option, inputs, texts_argument
from overthere.cli.reading_options import Reading, reading_options
from overthere.editions import edition
from overthere.ground.errors import InvalidURI
from overthere.values.iri_ladder import IRI_PARAGRAPHS
from overthere.values.normalize import PARAGRAPHS, Rung, lowest_rung


@click.command()
@texts_argument
@reading_options()
@format_option
def command(texts: tuple[str, ...], reading: Reading, form: str) -> None:
    """Print the lowest rung at which A and B are equal: STRING, CASE, PERCENT, SYNTAX, SCHEME, or none.

    Texts are taken in pairs; on standard input each line has two, separated by a tab or a space.
    """
    output, by = Output(form), edition(reading.by)
    paragraphs = IRI_PARAGRAPHS if reading.iri else PARAGRAPHS
    for a, b in _pairs(texts):
        try:
            if reading.is_older:
                rung = next((r for r in Rung if r < Rung.PROTOCOL and by.equivalent(a, b, r)), None)
            else:
                rung = lowest_rung(reading.reference(a), reading.reference(b))
        except InvalidURI as error:
            output.refuse(error.text, error)
            continue
        name = None if rung is None else "SYNTAX" if rung is Rung.SYNTAX else rung.name
        source = "" if rung is None else by.document if reading.is_older else paragraphs[rung]
        line = "none" if rung is None else f"{name}  ({source})"
        output.answer(line, {"a": a, "b": b, "rung": name})
    output.finish()


def _pairs(texts: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    if len(texts) % 2:
        raise click.UsageError("URIs are compared in pairs, and one is left over")
    if texts:
        yield from zip(texts[::2], texts[1::2], strict=True)
        return
    for number, line in enumerate(inputs((), "pairs of URIs"), 1):
        a, mark, b = line.partition("\t" if "\t" in line else " ")
        if not mark:
            raise click.UsageError(f"line {number} has one text, not two")
        yield a, b
