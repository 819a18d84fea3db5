"""overthere build: a URI from its parts."""

from __future__ import annotations

from typing import Any

import click

from overthere.cli.common import Output, format_option
from overthere.cli.reading_options import Reading, reading_options
from overthere.ground.errors import OverthereError


@click.command()
@click.option("--scheme", help="The scheme, as http.")
@click.option("--authority", help="The whole authority, instead of userinfo, host and port.")
@click.option("--userinfo", help="The userinfo as text; it is checked.")
@click.option("--host", help="A name, an address, or an IPv6 address in brackets.")
@click.option("--port", help="The digits of the port.")
@click.option("--path", help="The path as text; it is checked.")
@click.option("--segment", "segments", multiple=True, help="The data of a segment; it is encoded.  Repeat.")
@click.option("--keep", help="Reserved characters to keep in segments, as data.")
@click.option("--query", help="The query as text; it is checked.")
@click.option("--pair", "pairs", multiple=True, metavar="NAME=VALUE", help="A pair of a form; it is encoded.  Repeat.")
@click.option("--fragment", help="The fragment as text; it is checked.")
@reading_options(editions=False)
@format_option
def command(
    form: str, reading: Reading, segments: tuple[str, ...], pairs: tuple[str, ...], query: str | None, keep: str | None,
    **text: str | None,
) -> None:  # fmt: skip
    """Put a URI together: text is checked, data (segments, pairs) is encoded."""
    output = Output(form)
    if query is not None and pairs:
        raise click.UsageError("give either --query or --pair, not both")
    data: dict[str, Any] = dict(text)
    if segments:
        data["segments"] = segments
    if keep is not None:
        data["keep"] = keep
    data["query"] = query
    if not pairs and not any(value is not None for value in data.values()):
        raise click.UsageError("nothing to do: give a part, such as --scheme and --host")
    if pairs:
        data["query"] = [(name, value if mark else None) for name, mark, value in (p.partition("=") for p in pairs)]
    kind = reading.kind(relative=text["scheme"] is None)
    try:
        built = kind.build(**data, zone=reading.zone)
    except TypeError as error:
        raise click.UsageError(str(error)) from None
    except OverthereError as error:
        output.refuse(getattr(error, "text", ""), error)
    else:
        output.answer(str(built), {"text": str(built)})
    output.finish()
