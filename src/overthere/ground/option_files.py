"""TOML and JSON files named in an option: limits of size and depth; errors name the place."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from typing import Any

_MAX_BYTES = 1 << 26
"""The limit for a file that is read at once, or for one of its lines."""
_MAX_TOML_CHARACTERS = 1 << 22
"""The limit of characters in a TOML text."""
_MAX_DOTS = 1000
"""The limit per line of TOML: `tomllib` is quadratic in the dots of a key, in time and memory (100,000: 40 GB)."""
_MAX_DEPTH = 32
"""The limit of nested lists and tables; valid option files need four levels."""


def read_text(path: str | os.PathLike[str]) -> str:
    """Read the text of a file.

    Raises: OSError; ValueError if it is larger than 64 MiB or is not UTF-8.
    """
    with open(path, "rb") as file:
        data = file.read(_MAX_BYTES + 1)
    if len(data) > _MAX_BYTES:
        raise ValueError(f"it is larger than {_MAX_BYTES:,} octets")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ValueError(f"it is not UTF-8: octet {data[error.start]:02X} at {error.start:,}") from None


def read_lines(path: str | os.PathLike[str]) -> Iterator[tuple[int, str]]:
    """Yield the lines of a file that are not blank, each with its number from 1.

    Raises: OSError; ValueError if a line is longer than 64 MiB or is not UTF-8.
    """
    with open(path, "rb") as file:
        number = 0
        while line := file.readline(_MAX_BYTES + 1):
            number += 1
            if len(line) > _MAX_BYTES:
                raise ValueError(f"line {number}: it is longer than {_MAX_BYTES:,} octets")
            try:
                text = line.decode("utf-8-sig" if number == 1 else "utf-8").strip()
            except UnicodeDecodeError as error:
                raise ValueError(f"line {number}: it is not UTF-8: octet {line[error.start]:02X}") from None
            if text:
                yield number, text


def read_toml(text: str) -> dict[str, Any]:
    """Parse a TOML text (TOML 1.0).

    Raises: ValueError for invalid TOML, for more than 32 nested levels, for more than four million characters,
    and for a line of more than 1,000 dots.

    >>> read_toml("a = [1]")
    {'a': [1]}
    """
    if len(text) > _MAX_TOML_CHARACTERS:
        raise ValueError(f"it is longer than {_MAX_TOML_CHARACTERS:,} characters")
    import tomllib

    squares = 0
    for number, line in enumerate(text.split("\n"), 1):
        squares += line.count(".") ** 2
        if line.count(".") > _MAX_DOTS or squares > 10 * _MAX_DOTS**2:
            raise ValueError(f"line {number} has more than {_MAX_DOTS:,} dots, or those before have too many")
    try:
        table = tomllib.loads(text)
        _check_depth(table)
        return table
    except RecursionError:
        raise ValueError(_TOO_DEEP) from None


def read_json(text: str | bytes) -> Any:
    """Parse a JSON text (RFC 8259).

    Raises: ValueError for invalid JSON, and for more than 32 nested levels.

    >>> read_json("[" * 100_000)
    Traceback (most recent call last):
    ...
    ValueError: lists and tables are nested more than 32 deep
    """
    try:
        value = json.loads(text)
        _check_depth(value)
        return value
    except RecursionError:
        raise ValueError(_TOO_DEEP) from None


_TOO_DEEP = f"lists and tables are nested more than {_MAX_DEPTH} deep"


def _check_depth(value: Any) -> None:
    """Raises: ValueError if lists and tables are nested too deeply."""
    level = [value]
    for _ in range(_MAX_DEPTH + 1):
        level = [item for item in level if isinstance(item, dict | list)]
        if not level:
            return
        level = [inner for item in level for inner in (item.values() if isinstance(item, dict) else item)]
    raise ValueError(_TOO_DEEP)
