"""overthere plan: print the steps of opening a URI without opening it."""

from __future__ import annotations

import click

from overthere.access import Credentials, Gateways, plan
from overthere.cli.common import Answer, Output, format_option, parse_locator, texts_argument, width
from overthere.cli.reading_options import access_options
from overthere.ground.errors import OverthereError


@click.command()
@texts_argument
@click.option("--user", metavar="NAME", help="User name for URIs without one.")
@access_options
@format_option
def command(
    texts: tuple[str, ...], user: str | None, address: str | None, gateways: str | None, by: str, zone: bool,
    form: str,
) -> None:  # fmt: skip
    """Print what opening URIs would do, step by step, each with its RFC section.  Nothing is sent, and
    passwords are masked.

    A plan in which data could end a command is refused (RFC 1738 6, RFC 3986 7.2).
    """
    try:
        through = Gateways.read(gateways) if gateways is not None else None
    except (OverthereError, OSError) as error:
        raise click.UsageError(str(error)) from None
    credentials = Credentials(user, None, address)

    def answer(text: str) -> Answer:
        planned = plan(parse_locator(text, by, zone), credentials, gateways=through)
        return Answer(planned.render(width()), planned.to_dict())

    Output(form).answer_each(texts, "URIs", answer, (OverthereError,))
