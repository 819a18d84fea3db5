"""overthere resolve: references against a base (RFC 3986 5.2)."""

from __future__ import annotations

import click

from overthere.cli.common import Answer, Output, base_options, texts_argument
from overthere.cli.reading_options import Reading, reading_options
from overthere.cli.table_options import Table, answer_options
from overthere.editions import NAMES, edition
from overthere.values.resolve import same_document


@click.command()
@texts_argument
@click.option("--loose", is_flag=True, help="Ignore a scheme equal to that of the base, as old parsers did (5.2.2).")
@reading_options("rfc1630", "rfc1808", "rfc2396")
@answer_options
@base_options
def command(
    texts: tuple[str, ...], base: str | None, bases: str | None, loose: bool, reading: Reading, on_error: str,
    form: str, table: Table | None,
) -> None:  # fmt: skip
    """Resolve references against a base; one target a line."""
    if table is not None:
        table.refuse(zone=reading.zone)
        extra = {} if base is None else {"base": reading.base(base)}
        table.apply(texts, "resolve", strict=not loose, iri=reading.iri, other_names=[bases] if bases else [], **extra)
        return
    assert base is not None
    if reading.is_older:
        _by_document(reading.by, texts, base, not loose, Output(form, on_error))
        return
    base_uri = reading.base(base)

    def answer(text: str) -> Answer:
        reference = reading.reference(text)
        target = base_uri.join(reference, strict=not loose)
        data = {"target": str(target), "fragment": target.fragment, "same_document": same_document(base_uri, reference)}
        return Answer(str(target), {"reference": text, **data})

    Output(form, on_error).answer_each(texts, "references", answer)


def _by_document(by: str, texts: tuple[str, ...], base: str, strict: bool, output: Output) -> None:
    """Resolve by another document's algorithm, whose target may be "(current document)"."""
    from overthere.editions.readings import shown_target
    from overthere.editions.resolution import RESOLUTIONS

    resolve = edition(by).resolve if by in NAMES else RESOLUTIONS[by].resolve

    def answer(text: str) -> Answer:
        target = resolve(base, text, strict)
        data = {"target": target.uri, "fragment": target.fragment, "same_document": target.same_document}
        return Answer(shown_target(target), {"reference": text, "edition": by, **data})

    output.answer_each(texts, "references", answer)
