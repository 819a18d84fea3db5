"""overthere serve: the explainer in a browser."""

from __future__ import annotations

import ipaddress
import socket

import click

from overthere.ground.extras import need


@click.command()
@click.option("--host", default="127.0.0.1", show_default=True, metavar="ADDRESS", help="The address to listen on.")
@click.option(
    "--port", type=click.IntRange(0, 65535), default=3986, show_default=True, help="The port; 0 chooses a free one."
)
@click.option(
    "--beyond-this-machine",
    "beyond",
    is_flag=True,
    help="Let an address be one that other machines reach. Whoever reaches it may ask; there are no users, what is "
    "typed goes over the network in clear text, and any name in Host is answered.",
)
def command(host: str, port: int, beyond: bool) -> None:
    """Serve the explainer: what a URI is, part by part, by every document, step by step.

    Nothing that is typed is opened, kept or logged.  It ends with Ctrl-C.
    """
    try:
        need("web", "starlette", "uvicorn", "jinja2", "pydantic")
    except ModuleNotFoundError as error:
        raise click.ClickException(str(error)) from None
    here = _loopback(host)
    if not here and not beyond:
        raise click.UsageError(
            f"{host} is not loopback: other machines could ask, unencrypted and without users. "
            "--beyond-this-machine says that this is meant"
        )
    from overthere.web.serving import serve

    try:
        listening = _listening(host, port)
    except (OSError, UnicodeError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise click.UsageError(f"{host} port {port}: {reason}") from None
    with listening:
        name, number = listening.getsockname()[:2]
        shown = f"[{name}]" if ":" in name else name
        click.echo(f"http://{shown}:{number}/")
        serve(listening, loopback=here)


def _loopback(host: str) -> bool:
    """Whether an address is this machine's own; of names only `localhost` is known to be."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host.lower() == "localhost"


def _listening(host: str, port: int) -> socket.socket:
    family, kind, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    made = socket.socket(family, kind)
    try:
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        made.bind(address)
        made.listen(128)
    except BaseException:
        made.close()
        raise
    return made
