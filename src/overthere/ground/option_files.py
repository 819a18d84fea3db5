"""TOML and JSON files named in an option: limits of size and depth; errors name the place."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from typing import Any

__all__ = ["read_json", "read_lines", "read_text", "read_toml"]

_LARGEST = 1 << 26
"""Octets of a file, or of a line of one."""
_LONGEST = 1 << 22
"""Characters of TOML."""
_DOTS = 1000
"""In a line of TOML: `tomllib` takes the square of the dots of a key, in time and memory (100,000: 40 GB)."""
_DEEPEST = 32
"""Lists and tables within one another; those that are asked for have four."""


def read_text(path: str | os.PathLike[str]) -> str:
    """The text of a file.

    Raises: OSError; ValueError if it is larger than 64 MiB or is not UTF-8.
    """
    with open(path, "rb") as file:
        octets = file.read(_LARGEST + 1)
    if len(octets) > _LARGEST:
        raise ValueError(f"it is larger than {_LARGEST:,} octets")
    try:
        return octets.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ValueError(f"it is not UTF-8: octet {octets[error.start]:02X} at {error.start:,}") from None


def read_lines(path: str | os.PathLike[str]) -> Iterator[tuple[int, str]]:
    """The lines of a file that hold something, each with its number from 1.

    Raises: OSError; ValueError if a line is longer than 64 MiB or is not UTF-8.
    """
    with open(path, "rb") as file:
        number = 0
        while line := file.readline(_LARGEST + 1):
            number += 1
            if len(line) > _LARGEST:
                raise ValueError(f"line {number}: it is longer than {_LARGEST:,} octets")
            try:
                text = line.decode("utf-8-sig" if number == 1 else "utf-8").strip()
            except UnicodeDecodeError as error:
                raise ValueError(f"line {number}: it is not UTF-8: octet {line[error.start]:02X}") from None
            if text:
                yield number, text


def read_toml(text: str) -> dict[str, Any]:
    """The table of a TOML text (TOML 1.0).

    Raises: ValueError for what is no TOML, for what is nested more than 32 deep, for more than four million characters,
    and for a line of more than 1,000 dots.

    >>> read_toml("a = [1]")
    {'a': [1]}
    """
    if len(text) > _LONGEST:
        raise ValueError(f"it is longer than {_LONGEST:,} characters")
    import tomllib

    squares = 0
    for number, line in enumerate(text.split("\n"), 1):
        squares += line.count(".") ** 2
        if line.count(".") > _DOTS or squares > 10 * _DOTS**2:
            raise ValueError(f"line {number} has more than {_DOTS:,} dots, or those before have too many")
    try:
        table = tomllib.loads(text)
        _check_depth(table)
        return table
    except RecursionError:
        raise ValueError(_TOO_DEEP) from None


def read_json(text: str | bytes) -> Any:
    """The value of a JSON text (RFC 8259).

    Raises: ValueError for what is no JSON, and for what is nested more than 32 deep.

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


_TOO_DEEP = f"lists and tables are nested more than {_DEEPEST} deep"


def _check_depth(value: Any) -> None:
    """Raises: ValueError for what is nested too deeply."""
    level = [value]
    for _ in range(_DEEPEST + 1):
        level = [one for one in level if isinstance(one, dict | list)]
        if not level:
            return
        level = [inner for one in level for inner in (one.values() if isinstance(one, dict) else one)]
    raise ValueError(_TOO_DEEP)
