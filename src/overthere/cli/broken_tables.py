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

FILES, HOSTS = "files", "host"
"""The keys of the tables."""


def read_files(value: Any, place: str) -> tuple[FileSettings, ...]:
    """Read `[[broken.files]]`.  Raises: click.UsageError, with the place."""
    settings = []
    for number, table in enumerate(_tables(value, place, ("path", "anchors", "extension")), 1):
        anchors = _value(table, "anchors", str, f"{place} {number}")
        if anchors is not None and anchors not in ANCHORS:
            raise click.UsageError(f"{place} {number}: unknown value of anchors; known: {', '.join(ANCHORS)}")
        extensions = tuple(text.lstrip(".") for text in _texts(table, "extension", f"{place} {number}"))
        settings.append(FileSettings(_required_text(table, "path", f"{place} {number}"), anchors, extensions))
    return tuple(settings)


def read_hosts(value: Any, place: str, *, is_named: bool) -> tuple[tuple[HostSettings, ...], list[str]]:
    """Return the settings by host, and header fields as for the option --header.

    is_named: whether the command line names the file; otherwise it may not send fields.

    Raises: click.UsageError, with the place.
    """
    hosts, headers = [], []
    for number, row in enumerate(_tables(value, place, ("name", "accept", "agent", "header", "per-host", "rate")), 1):
        row_place = f"{place} {number}"
        name = _required_text(row, "name", row_place)
        if not is_named and (forbidden := row.keys() & {"agent", "header"}):
            raise click.UsageError(f"{row_place}: {min(forbidden)}: name the file with --config")
        rate = _value(row, "rate", partial(in_range, RATE), row_place)
        per_host = _value(row, "per-host", partial(in_range, JOBS), row_place)
        accept = statuses(_texts(row, "accept", row_place))
        hosts.append(HostSettings(name.lower(), accept, rate, per_host, _value(row, "agent", str, row_place)))
        headers += [f"{name}:{field}" for field in _texts(row, "header", row_place)]
    return tuple(hosts), headers


def _tables(value: Any, place: str, keys: tuple[str, ...]) -> list[Mapping[str, Any]]:
    if not isinstance(value, list) or not all(isinstance(table, dict) for table in value):
        raise click.UsageError(
            f"{place}: each must be a table, which begins with [[broken.{place.rpartition(' ')[2]}]]"
        )
    for number, table in enumerate(value, 1):
        if unknown := sorted(table.keys() - set(keys)):
            raise click.UsageError(f"{place} {number}: unknown key {printable(unknown[0])}; known: {', '.join(keys)}")
    return value


def _required_text(table: Mapping[str, Any], key: str, place: str) -> str:
    value = table.get(key)
    if not isinstance(value, str) or not value:
        raise click.UsageError(f"{place}: {key} is missing, or is not text")
    return value


def _value(table: Mapping[str, Any], key: str, read: Callable[[Any], Any], place: str) -> Any:
    """Return the value of a key; None without it.  Raises: UsageError for another type, or if `read` returns None."""
    if key not in table:
        return None
    value = table[key]
    converted = None
    if isinstance(value, str if read is str else int | float) and not isinstance(value, bool):
        converted = read(value)
    if converted is None:
        raise click.UsageError(f"{place}: {key}: {show_value(value)} is not a valid value")
    return converted


def _texts(table: Mapping[str, Any], key: str, place: str) -> list[str]:
    value = table.get(key, [])
    texts = [value] if isinstance(value, str | int) else value
    if not isinstance(texts, list) or not all(
        isinstance(text, str) or (type(text) is int and abs(text) < 1 << 64) for text in texts
    ):
        raise click.UsageError(f"{place}: {key} must be text, or a list of texts")
    return [str(text) for text in texts]
