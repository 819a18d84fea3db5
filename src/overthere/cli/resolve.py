"""overthere resolve: references against a base (RFC 3986 5.2)."""

from __future__ import annotations

import click

from overthere import columns
from overthere.cli.common import (
    Output,
    base_option,
    base_uri,
    edition_option,
    format_option,
    inputs,
    refuse_table,
    texts_argument,
)
from overthere.cli.tables import Table, table_options
from overthere.editions import NAMES, edition
from overthere.editions.readings import shown_target
from overthere.editions.resolution import RESOLUTIONS
from overthere.errors import NotSpecified, OverthereError
from overthere.uri import URIReference


@click.command()
@texts_argument
@base_option(required=False)
@click.option("--base-column", "bases", metavar="NAME", help="With --column: the base of each row.")
@click.option("--loose", is_flag=True, help="Ignore a scheme equal to the base's, as old parsers did (5.2.2).")
@edition_option("rfc1630", "rfc1808", "rfc2396")
@format_option
@table_options
def command(
    texts: tuple[str, ...], base: str | None, bases: str | None, loose: bool, by: str, form: str, table: Table | None
) -> None:
    """Resolve references against a base; one target a line."""
    refuse_table(by, table)
    if base is not None and bases is not None:
        raise click.UsageError("--base and --base-column are two ways to say one thing: give one")
    if table is not None and bases is not None:
        table.run(texts, lambda c, b: columns.resolve(c, b, strict=not loose, errors="detail"), "target", [bases])
        return
    if base is None:
        raise click.UsageError("--base-column is for --column" if bases else "--base is missing: the base URI")
    if by != "rfc3986":
        _by_document(by, texts, base, not loose, form)
        return
    own = base_uri(base)
    if table is not None:
        table.run(texts, lambda c: columns.resolve(c, own, strict=not loose, errors="detail"), "target")
        return
    output = Output(form)
    for text in inputs(texts, "references"):
        try:
            reference = URIReference(text)
            target = reference.resolve(own, strict=not loose)
        except OverthereError as error:
            output.refuse(text, error)
            continue
        same = reference.same_document(own)
        output.answer(
            str(target), {"reference": text, "target": str(target), "fragment": target.fragment, "same_document": same}
        )
    output.done()


def _by_document(by: str, texts: tuple[str, ...], base: str, strict: bool, form: str) -> None:
    """By another document's algorithm; a target that is no URI is "(current document)" there."""
    resolve = edition(by).resolve if by in NAMES else RESOLUTIONS[by].resolve
    output = Output(form)
    for text in inputs(texts, "references"):
        try:
            target = resolve(base, text, strict)
        except NotSpecified as error:
            raise click.UsageError(str(error)) from None
        except OverthereError as error:
            output.refuse(text, error)
            continue
        data = {"target": target.uri, "fragment": target.fragment, "same_document": target.same_document}
        output.answer(shown_target(target), {"reference": text, "edition": by, **data})
    output.done()
