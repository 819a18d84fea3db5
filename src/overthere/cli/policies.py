"""The policy that the options of a command say."""

from __future__ import annotations

import ssl
from collections.abc import Callable, Mapping
from math import inf
from typing import Any, TypeVar

import click

from overthere.access.policy import Policy
from overthere.schemes import Registry
from overthere.values.hosts.address import nat64_prefix

__all__ = ["bounds", "octets", "policy", "seconds"]

F = TypeVar("F", bound=Callable[..., Any])


def seconds(text: str) -> float:
    """A time; 0 and "none" are no bound, which is infinite.  Raises: click.BadParameter."""
    return _bound(text, float)


def octets(text: str) -> float:
    """A size; 0 and "none" are no bound, which is infinite.  Raises: click.BadParameter."""
    return _bound(text, int)


def _bound(text: str, kind: Callable[[str], float]) -> float:
    try:
        value = 0 if text == "none" else kind(text)
    except ValueError:
        value = -1
    if not 0 <= value < inf:
        raise click.BadParameter(f"{text!r} is no bound: a number, or 0 or none for no bound")
    return value or inf


def bounds(function: F, own: Policy | None = None) -> F:
    """The options --max-time and --max-bytes: the two bounds that every policy has; own: by default."""
    own = own or Policy()
    size = click.option(
        "--max-bytes",
        "--max-size",
        "max_bytes",
        type=octets,
        metavar="OCTETS",
        help=f"Receive no more than that; {own.max_bytes}.  0 or none: no bound.",
    )
    time = click.option(
        "--max-time",
        "total_timeout",
        type=seconds,
        metavar="SECONDS",
        help=f"All within that, redirects and content too; {own.total_timeout:.0f}.  0 or none: no bound.",
    )
    return time(size(function))


def policy(options: Mapping[str, Any]) -> Policy:
    """A typed URI is trusted as the person's own, unless told otherwise.  A verb may have some of the options."""
    own = Policy() if options["safe"] else Policy.local()
    changes: dict[str, Any] = {"ports": own.ports | frozenset(options.get("ports", ()))}
    if options.get("timeout") is not None:
        changes |= {"connect_timeout": options["timeout"], "read_timeout": options["timeout"]}
    for name in ("max_redirects", "news_server", "messages"):
        if options.get(name) not in (None, ()):
            changes[name] = options[name]
    for name in ("total_timeout", "max_bytes"):
        if options.get(name) is not None:
            changes[name] = None if options[name] == inf else options[name]
    if options.get("redirects"):
        changes["redirects"] = frozenset(map(str.lower, options["redirects"]))
    try:
        changes["nat64"] = tuple(map(nat64_prefix, options.get("nat64", ())))
    except ValueError as error:
        raise click.UsageError(f"--nat64: {error}") from None
    if options.get("proxy") is not None:
        served = (one.name for one in Registry.default().schemes() if one.by_proxy)
        changes["proxy"] = dict.fromkeys(served, options["proxy"])
    if options.get("cacert") is not None:
        try:
            changes["tls"] = ssl.create_default_context(cafile=str(options["cacert"]))
        except OSError as error:
            raise click.UsageError(f"--cacert: {error}") from None
    return own.with_(**changes)
