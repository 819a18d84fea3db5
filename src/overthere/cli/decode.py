"""overthere decode: component text to data (RFC 3986 2.1, 2.5)."""

from __future__ import annotations

import click

from overthere.cli.common import Output, format_option, inputs, texts_argument
from overthere.encoding import decode
from overthere.errors import CodingError


@click.command()
@texts_argument
@click.option("--charset", default="utf-8", help="The charset of the octets.")
@format_option
def command(texts: tuple[str, ...], charset: str, form: str) -> None:
    """Decode component text; one a line ("+" stays "+")."""
    output = Output(form)
    for text in inputs(texts, "component text"):
        try:
            decoded = decode(text, charset=charset)
        except CodingError as error:
            output.refuse(text, error)
            continue
        output.answer(decoded, {"text": text, "decoded": decoded})
    output.done()
