"""Settings of `overthere broken` from a file that is found by itself: overthere.toml or pyproject.toml."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterable
from itertools import islice, takewhile
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from overthere.broken.filters import MOST_PATTERNS
from overthere.cli.broken_tables import FILES, HOSTS, read_files, read_hosts
from overthere.cli.lychee_config import LYCHEE_FILES, SAME, lychee_file, read_lychee
from overthere.cli.numbers import show_value
from overthere.cli.printing import print_message
from overthere.ground.display import printable, shorten
from overthere.ground.option_files import read_text, read_toml
from overthere.links.job.files import is_in_repository, repository_of
from overthere.links.job.retrieval import is_uri

_TABLES = {"overthere.toml": ("broken",), "pyproject.toml": ("tool", "overthere", "broken")}
_NAMED_ONLY = frozenset((
    "agent", "cache", "cookies", "fix", "format", "github-api", "github-token", "header", "o", "policy", "private",
    "resume", "since", "wayback", "workers", "write-baseline", "yes",
))  # fmt: skip
"""Settings that write files, run Git, start processes, widen access, or print text that a CI service may read as
commands: allowed only on the command line, or in a file that it names."""
_NEVER = frozenset(("config", "no-config", "help", "sources"))


def find_config(sources: Iterable[str]) -> Path | None:
    """Return the nearest file with settings, from the first source that is a file or folder upwards.

    The search ends at the root of a repository (a folder with `.git`); without one, before a folder that everybody
    may write to, such as `/tmp`: a file there may be anybody's.
    """
    first = next((source for source in sources if not is_uri(source)), None)
    if first is None:
        return None
    folder = Path(os.path.abspath(first))
    lychee_path = None
    is_bounded = repository_of(str(folder)) is not None
    for directory in (folder, *takewhile(lambda parent: is_bounded or _is_private(parent), folder.parents)):
        if lychee_path is None and (config_path := lychee_file(directory)) is not None and _may_use(config_path):
            lychee_path = config_path
        for name in _TABLES:
            config_path = directory / name
            if config_path.is_file() and _may_use(config_path) and _table(config_path) is not None:
                return config_path
        if (directory / ".git").exists():
            return lychee_path
    return lychee_path


def _is_private(folder: Path) -> bool:
    return not folder.exists() or not folder.stat().st_mode & stat.S_IWOTH


def _may_use(path: Path) -> bool:
    """Whether a found file may be read; if it leads out of the repository, print a message."""
    names = LYCHEE_FILES if path.name in LYCHEE_FILES else (path.name,)
    outside = [path.with_name(name) for name in names if not _is_own_file(path.with_name(name), path.parent)]
    for outside_path in outside:
        print_message(f"{printable(str(outside_path))}: {_OUTSIDE}")
    return not outside


def _table(path: Path) -> dict[str, Any] | None:
    """The settings in a file; None if it has none.  Raises: click.UsageError."""
    try:
        table: Any = read_toml(read_text(path))
    except (OSError, ValueError) as error:
        raise click.UsageError(f"{printable(str(path))}: {error}") from None
    for name in _TABLES.get(path.name, ("broken",)):
        table = table.get(name) if isinstance(table, dict) else None
    if table is not None and not isinstance(table, dict):
        raise click.UsageError(f"{printable(str(path))}: the settings must be a table")
    return table


def apply_config(ctx: click.Context, path: Path, *, is_named: bool) -> dict[str, Any]:
    """Return the values of a file for options that the command line does not set, by their Python names.

    is_named: whether the command line names the file; otherwise it may not write files or widen access.

    Raises: click.UsageError, with the file and the key.
    """
    values: dict[str, Any] = {}
    options = {_key(item): item for item in ctx.command.params if isinstance(item, click.Option)}
    settings = _lychee(path, is_named) if path.name in LYCHEE_FILES else _table(path) or {}
    for key, value in sorted(settings.items(), key=lambda item: item[0] in (FILES, HOSTS)):
        location = f"{printable(str(path))}: {printable(key)}"
        if isinstance(value, list) and len(value) > MOST_PATTERNS:
            raise click.UsageError(f"{location}: more than {MOST_PATTERNS:,} values")
        if key == FILES:
            values["files"] = read_files(value, location)
            continue
        if key == HOSTS:
            values["hosts"], fields = read_hosts(value, location, is_named=is_named)
            headers = (*values.get("headers", ctx.params["headers"]), *_expand(fields, location))
            values |= {"headers": headers} if fields else {}
            continue
        option = options.get(key.replace("_", "-"))
        if option is None or option.name is None or _key(option) in _NEVER:
            known_keys = ", ".join(sorted({*options, FILES, HOSTS} - _NEVER))
            raise click.UsageError(f"{location}: unknown setting; known: {known_keys}")
        if _key(option) in _NAMED_ONLY and not is_named:
            raise click.UsageError(f"{location}: give it on the command line, or name the file with --config")
        if ctx.get_parameter_source(option.name) is ParameterSource.DEFAULT:
            values[option.name] = _convert(ctx, option, value, location, path.parent, is_named)
    return values


_MAX_NAMED = 20
"""The most unused settings of lychee that a note names; it counts the rest."""


def _lychee(path: Path, is_named: bool) -> dict[str, Any]:
    """Return the settings of lychee with a counterpart; print notes on used and unused ones.  Raises: UsageError."""
    try:
        settings, used, unused = read_lychee(path)
    except (OSError, ValueError) as error:
        raise click.UsageError(f"{printable(str(path))}: {error}") from None
    for key in [key for key in used if not is_named and SAME.get(key) in _NAMED_ONLY]:
        del settings[SAME[key]]
        used.remove(key)
        unused[key] = "name the file with --config"
    print_message(f"used from lychee: {', '.join(used) or 'nothing'}")
    if unused:
        reasons = [f"{printable(shorten(key, 80))} ({reason})" for key, reason in islice(unused.items(), _MAX_NAMED)]
        unnamed = len(unused) - len(reasons)
        reasons += [f"{unnamed:,} more"] if unnamed else []
        print_message(f"not used from lychee: {', '.join(reasons)}")
    return settings


def _key(option: click.Option) -> str:
    return max(option.opts, key=len).lstrip("-")


def _convert(ctx: click.Context, option: click.Option, value: Any, location: str, folder: Path, is_named: bool) -> Any:
    if option.name == "ignore" and isinstance(value, list):
        return value  # the rules themselves
    if option.name == "headers":
        value = _expand(value, location)
    if option.is_flag and not isinstance(value, bool):
        raise click.UsageError(f"{location}: must be true or false")
    if option.multiple and not isinstance(value, list):
        value = [value]
    values = value if option.multiple and isinstance(value, list) else [value]
    if not all(isinstance(item, str | int | float) for item in values):
        raise click.UsageError(f"{location}: must be one value")
    if any(isinstance(item, str) and len(item) > _MAX_VALUE for item in values):
        raise click.UsageError(f"{location}: longer than {_MAX_VALUE:,} characters")
    if isinstance(option.type, click.Path) and not all(isinstance(item, str) and "\0" not in item for item in values):
        raise click.UsageError(f"{location}: must be a path")
    if isinstance(option.type, click.Path) and isinstance(value, str):
        if not is_named and not _is_own_file(folder / value, folder):
            raise click.UsageError(f"{location}: {_OUTSIDE}")
        value = str(folder / value)
    try:
        converted = option.type_cast_value(ctx, value)
    except click.BadParameter as error:
        raise click.UsageError(f"{location}: {shorten(printable(error.message), _MAX_MESSAGE)}") from None
    except (ValueError, TypeError, OverflowError):
        raise click.UsageError(f"{location}: {show_value(value)} is not a valid value") from None
    return converted


_MAX_VALUE, _MAX_MESSAGE = 4096, 500
"""Maximum characters of a value, and of a message about it."""


_OUTSIDE = "not a file or folder of the repository: give it on the command line, or name the settings with --config"


def _is_own_file(path: Path, folder: Path) -> bool:
    """Whether a path, with symlinks resolved, is in the repository of a folder, or in the folder; and is not a pipe."""
    try:
        is_plain = path.is_file() or path.is_dir() or not path.exists()
    except OSError:  # the name is too long
        return False
    return is_plain and is_in_repository(str(path), str(folder))


_VARIABLE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")


def _expand(value: Any, location: str) -> Any:
    """Return header fields with `${NAME}` replaced from the environment, so that the file needs no token."""
    fields = value if isinstance(value, list) else [value]
    names = [name for raw in fields if isinstance(raw, str) for name in _VARIABLE.findall(raw)]
    if missing := [name for name in names if name not in os.environ]:
        raise click.UsageError(f"{location}: the environment has no variable {missing[0]}")
    return [_VARIABLE.sub(lambda match: os.environ[match[1]], raw) if isinstance(raw, str) else raw for raw in fields]
