"""overthere resolve: references against a base (RFC 3986 5.2)."""

from __future__ import annotations

import click

from overthere.cli.common import Output, base_option, base_uri, format_option, inputs, texts_argument
from overthere.errors import OverthereError
from overthere.uri import URIReference


@click.command()
@texts_argument
@base_option(required=True)
@click.option("--loose", is_flag=True, help="Ignore a scheme equal to the base's, as old parsers did (5.2.2).")
@format_option
def command(texts: tuple[str, ...], base: str, loose: bool, form: str) -> None:
    """Resolve references against a base; one target a line."""
    output = Output(form)
    own = base_uri(base)
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
