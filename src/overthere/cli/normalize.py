"""overthere normalize: normal forms by rung (RFC 3986 6.2)."""

from __future__ import annotations

import click

from overthere.cli.common import Answer, Output, rung_option, texts_argument
from overthere.cli.reading_options import Reading, reading_options
from overthere.cli.table_options import Table, answer_options
from overthere.editions import edition
from overthere.ground.display import printable
from overthere.values.normalize import Rung


@click.command()
@texts_argument
@rung_option
@click.option("--changes", "show", is_flag=True, help="Report each change with its place and RFC section.")
@reading_options()
@answer_options
def command(
    texts: tuple[str, ...], rung: str, show: bool, reading: Reading, on_error: str, form: str, table: Table | None
) -> None:
    """Write the normal form of each URI or reference; one a line."""
    if show and reading.is_older:
        raise click.UsageError("--changes needs RFC 3986")
    if table is not None:
        table.refuse(changes=show, zone=reading.zone)
        table.apply(texts, "normalize", Rung[rung.upper()], iri=reading.iri)
        return
    output = Output(form, on_error)

    def answer(text: str) -> Answer:
        if reading.is_older:
            normalized = edition(reading.by).normalize(text, Rung[rung.upper()])
            return Answer(normalized, {"text": text, "normal": normalized, "edition": reading.by})
        reference = reading.reference(text)
        normal = str(reference.normalize(Rung[rung.upper()]))
        changed = reference.changes(Rung[rung.upper()]) if show or output.jsonl else []
        lines = [normal]
        if show:
            lines += [
                f"  {c.component} at {c.start}..{c.end}: {_quote(c.before)} -> {_quote(c.after)}  ({c.source})"
                for c in changed
            ]
        data = {"text": text, "normal": normal, "changes": [{**c._asdict(), "rung": c.rung.name} for c in changed]}
        return Answer("\n".join(lines), data)

    output.answer_each(texts, "URIs", answer)


def _quote(text: str | None) -> str:
    return "undefined" if text is None else f'"{printable(text)}"'
