"""overthere serve: the explainer in a browser."""

from __future__ import annotations

import ipaddress
import socket

import click

from overthere.cli.numbers import Count
from overthere.ground.extras import need


@click.command()
@click.option("--host", default="127.0.0.1", show_default=True, metavar="ADDRESS", help="The address to listen on.")
@click.option(
    "--port", type=Count(65535, least=0), default=3986, show_default=True, help="The port; 0 chooses a free one."
)
@click.option(
    "--beyond-this-machine",
    "beyond",
    is_flag=True,
    help="Allow an address that other machines can reach. Anyone who reaches it can use it: there is no login, input "
    "travels in clear text, and any Host is accepted.",
)
def command(host: str, port: int, beyond: bool) -> None:
    """Serve web pages that explain URIs part by part, document by document, step by step.

    No input is opened, stored or logged.  Ctrl-C ends the server.
    """
    try:
        need("web", "starlette", "uvicorn", "jinja2", "h11")
    except ModuleNotFoundError as error:
        raise click.ClickException(str(error)) from None
    is_loopback = _loopback(host)
    if not is_loopback and not beyond:
        raise click.UsageError(
            f"{host} is not loopback, so other machines could send requests, unencrypted and without login; to allow "
            "that, add --beyond-this-machine"
        )
    from overthere.web.serving import serve

    try:
        listening = _listening(host, port)
    except (OSError, UnicodeError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise click.UsageError(f"{host} port {port}: {reason}") from None
    with listening:
        name, number = listening.getsockname()[:2]
        host_name = f"[{name}]" if ":" in name else name
        click.echo(f"http://{host_name}:{number}/")
        serve(listening, loopback=is_loopback)


def _loopback(host: str) -> bool:
    """Whether an address is this machine's own; of names only `localhost` is known to be."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host.lower() == "localhost"


def _listening(host: str, port: int) -> socket.socket:
    family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    server_socket = socket.socket(family, kind, protocol)  # with it, asyncio sends small answers at once
    try:
        server_socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        server_socket.bind(address)
        server_socket.listen(128)
    except BaseException:
        server_socket.close()
        raise
    return server_socket
