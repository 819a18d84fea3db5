"""The policy that the options of a command say."""

from __future__ import annotations

import ssl
from collections.abc import Callable, Mapping
from math import inf
from typing import Any

import click

from overthere.access.address import nat64_prefix
from overthere.access.policy import Policy

__all__ = ["octets", "policy", "seconds"]


def seconds(text: str) -> float:
    """A time; 0 and "none" are no bound, which is infinite.  Raises: click.BadParameter."""
    return _bound(text, float)


def octets(text: str) -> float:
    """A size; 0 and "none" are no bound, which is infinite.  Raises: click.BadParameter."""
    return _bound(text, int)


def _bound(text: str, kind: Callable[[str], float]) -> float:
    try:
        found = 0 if text == "none" else kind(text)
    except ValueError:
        found = -1
    if not 0 <= found < inf:
        raise click.BadParameter(f"{text!r} is no bound: a number, or 0 or none for no bound")
    return found or inf


def policy(options: Mapping[str, Any]) -> Policy:
    """A URI that a person has typed is his own, unless he says otherwise."""
    own = Policy() if options["safe"] else Policy.local()
    changes: dict[str, Any] = {"ports": own.ports | frozenset(options["ports"])}
    if options["timeout"] is not None:
        changes |= {"connect_timeout": options["timeout"], "read_timeout": options["timeout"]}
    for name in ("max_redirects", "news_server", "messages"):
        if options[name] not in (None, ()):
            changes[name] = options[name]
    for name in ("total_timeout", "max_bytes"):
        if options[name] is not None:
            changes[name] = None if options[name] == inf else options[name]
    if options["redirects"]:
        changes["redirects"] = frozenset(map(str.lower, options["redirects"]))
    try:
        changes["nat64"] = tuple(map(nat64_prefix, options["nat64"]))
    except ValueError as error:
        raise click.UsageError(f"--nat64: {error}") from None
    if options["proxy"] is not None:
        changes["proxy"] = dict.fromkeys(("http", "https", "ws", "wss"), options["proxy"])
    if options["cacert"] is not None:
        try:
            changes["tls"] = ssl.create_default_context(cafile=str(options["cacert"]))
        except OSError as error:
            raise click.UsageError(f"--cacert: {error}") from None
    return own.with_(**changes)
