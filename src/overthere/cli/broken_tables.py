"""The tables `[[broken.files]]` and `[[broken.host]]` of a file of settings."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import click

from overthere.broken.model import ANCHORS, FileSettings, HostSettings
from overthere.cli.numbers import JOBS, RATE, in_range, show_value
from overthere.cli.request_settings import statuses
from overthere.ground.display import printable

__all__ = ["FILES", "HOSTS", "read_files", "read_hosts"]

FILES, HOSTS = "files", "host"
"""The keys of the tables."""


def read_files(given: Any, where: str) -> tuple[FileSettings, ...]:
    """Raises: click.UsageError, with the place."""
    found = []
    for number, one in enumerate(_tables(given, where, ("path", "anchors", "extension")), 1):
        anchors = _value(one, "anchors", str, f"{where} {number}")
        if anchors is not None and anchors not in ANCHORS:
            raise click.UsageError(f"{where} {number}: unknown value of anchors; known: {', '.join(ANCHORS)}")
        extensions = tuple(text.lstrip(".") for text in _texts(one, "extension", f"{where} {number}"))
        found.append(FileSettings(_required_text(one, "path", f"{where} {number}"), anchors, extensions))
    return tuple(found)


def read_hosts(given: Any, where: str, *, is_named: bool) -> tuple[tuple[HostSettings, ...], list[str]]:
    """The settings by host, and header fields as the option --header has them.

    is_named: whether the command line names the file; another may not send fields.

    Raises: click.UsageError, with the place.
    """
    hosts, headers = [], []
    for number, one in enumerate(_tables(given, where, ("name", "accept", "agent", "header", "per-host", "rate")), 1):
        place = f"{where} {number}"
        name = _required_text(one, "name", place)
        if not is_named and (found := one.keys() & {"agent", "header"}):
            raise click.UsageError(f"{place}: {min(found)}: name the file with --config")
        rate = _value(one, "rate", partial(in_range, RATE), place)
        per_host = _value(one, "per-host", partial(in_range, JOBS), place)
        accept = statuses(_texts(one, "accept", place))
        hosts.append(HostSettings(name.lower(), accept, rate, per_host, _value(one, "agent", str, place)))
        headers += [f"{name}:{field}" for field in _texts(one, "header", place)]
    return tuple(hosts), headers


def _tables(given: Any, where: str, known: tuple[str, ...]) -> list[Mapping[str, Any]]:
    if not isinstance(given, list) or not all(isinstance(one, dict) for one in given):
        raise click.UsageError(
            f"{where}: each must be a table, which begins with [[broken.{where.rpartition(' ')[2]}]]"
        )
    for number, one in enumerate(given, 1):
        if unknown := sorted(one.keys() - set(known)):
            raise click.UsageError(f"{where} {number}: unknown key {printable(unknown[0])}; known: {', '.join(known)}")
    return given


def _required_text(one: Mapping[str, Any], key: str, where: str) -> str:
    value = one.get(key)
    if not isinstance(value, str) or not value:
        raise click.UsageError(f"{where}: {key} is missing, or is not text")
    return value


def _value(one: Mapping[str, Any], key: str, read: Callable[[Any], Any], where: str) -> Any:
    """The value of a key; None without it.  Raises: click.UsageError if `read` returns None, or its type is another."""
    if key not in one:
        return None
    value = one[key]
    found = None
    if isinstance(value, str if read is str else int | float) and not isinstance(value, bool):
        found = read(value)
    if found is None:
        raise click.UsageError(f"{where}: {key}: {show_value(value)} is not a valid value")
    return found


def _texts(one: Mapping[str, Any], key: str, where: str) -> list[str]:
    value = one.get(key, [])
    texts = [value] if isinstance(value, str | int) else value
    if not isinstance(texts, list) or not all(
        isinstance(text, str) or (type(text) is int and abs(text) < 1 << 64) for text in texts
    ):
        raise click.UsageError(f"{where}: {key} must be text, or a list of texts")
    return [str(text) for text in texts]
