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

__all__ = ["apply_config", "find_config"]

_TABLES = {"overthere.toml": ("broken",), "pyproject.toml": ("tool", "overthere", "broken")}
_NAMED_ONLY = frozenset((
    "agent", "cache", "cookies", "fix", "format", "github-api", "github-token", "header", "o", "policy", "private",
    "resume", "since", "wayback", "workers", "write-baseline", "yes",
))  # fmt: skip
"""Settings that write files, run Git, start processes, let requests reach more, or print what a CI service may take for
commands: only the command line, or a file that it names, may give them."""
_NEVER = frozenset(("config", "no-config", "help", "sources"))


def find_config(sources: Iterable[str]) -> Path | None:
    """The nearest file with settings, from the first source that is a file or folder upwards.

    The search ends at the root of a repository (a folder with `.git`); without one, before a folder in which everybody
    may write, such as `/tmp`: a file there may be anybody's.
    """
    first = next((source for source in sources if not is_uri(source)), None)
    if first is None:
        return None
    folder = Path(os.path.abspath(first))
    of_lychee = None
    is_bounded = repository_of(str(folder)) is not None
    for place in (folder, *takewhile(lambda one: is_bounded or _is_private(one), folder.parents)):
        if of_lychee is None and (found := lychee_file(place)) is not None and _may_use(found):
            of_lychee = found
        for name in _TABLES:
            found = place / name
            if found.is_file() and _may_use(found) and _table(found) is not None:
                return found
        if (place / ".git").exists():
            return of_lychee
    return of_lychee


def _is_private(folder: Path) -> bool:
    return not folder.exists() or not folder.stat().st_mode & stat.S_IWOTH


def _may_use(path: Path) -> bool:
    """Whether a file that was found is read; of one that leads elsewhere a message says so."""
    names = LYCHEE_FILES if path.name in LYCHEE_FILES else (path.name,)
    outside = [path.with_name(name) for name in names if not _is_own_file(path.with_name(name), path.parent)]
    for one in outside:
        print_message(f"{printable(str(one))}: {_OUTSIDE}")
    return not outside


def _table(path: Path) -> dict[str, Any] | None:
    """The settings in a file; None if it has none.  Raises: click.UsageError."""
    try:
        found: Any = read_toml(read_text(path))
    except (OSError, ValueError) as error:
        raise click.UsageError(f"{printable(str(path))}: {error}") from None
    for name in _TABLES.get(path.name, ("broken",)):
        found = found.get(name) if isinstance(found, dict) else None
    if found is not None and not isinstance(found, dict):
        raise click.UsageError(f"{printable(str(path))}: the settings must be a table")
    return found


def apply_config(ctx: click.Context, path: Path, *, is_named: bool) -> dict[str, Any]:
    """The values of a file for the options that the command line does not give, by their names in Python.

    is_named: whether the command line names the file; one that was found may not write files or widen the access.

    Raises: click.UsageError, with the file and the key.
    """
    values: dict[str, Any] = {}
    options = {_key(one): one for one in ctx.command.params if isinstance(one, click.Option)}
    settings = _lychee(path, is_named) if path.name in LYCHEE_FILES else _table(path) or {}
    for key, value in sorted(settings.items(), key=lambda one: one[0] in (FILES, HOSTS)):
        where = f"{printable(str(path))}: {printable(key)}"
        if isinstance(value, list) and len(value) > MOST_PATTERNS:
            raise click.UsageError(f"{where}: more than {MOST_PATTERNS:,} values")
        if key == FILES:
            values["files"] = read_files(value, where)
            continue
        if key == HOSTS:
            values["hosts"], fields = read_hosts(value, where, is_named=is_named)
            given = (*values.get("headers", ctx.params["headers"]), *_expand(fields, where))
            values |= {"headers": given} if fields else {}
            continue
        option = options.get(key.replace("_", "-"))
        if option is None or option.name is None or _key(option) in _NEVER:
            known = ", ".join(sorted({*options, FILES, HOSTS} - _NEVER))
            raise click.UsageError(f"{where}: unknown setting; known: {known}")
        if _key(option) in _NAMED_ONLY and not is_named:
            raise click.UsageError(f"{where}: give it on the command line, or name the file with --config")
        if ctx.get_parameter_source(option.name) is ParameterSource.DEFAULT:
            values[option.name] = _convert(ctx, option, value, where, path.parent, is_named)
    return values


_SHOWN = 20
"""The most unused settings of lychee that a note names; it counts the rest."""


def _lychee(path: Path, is_named: bool) -> dict[str, Any]:
    """The settings of lychee that have a counterpart, after notes on both kinds.  Raises: click.UsageError."""
    try:
        found, used, unused = read_lychee(path)
    except (OSError, ValueError) as error:
        raise click.UsageError(f"{printable(str(path))}: {error}") from None
    for key in [key for key in used if not is_named and SAME.get(key) in _NAMED_ONLY]:
        del found[SAME[key]]
        used.remove(key)
        unused[key] = "name the file with --config"
    print_message(f"used from lychee: {', '.join(used) or 'nothing'}")
    if unused:
        reasons = [f"{printable(shorten(key, 80))} ({reason})" for key, reason in islice(unused.items(), _SHOWN)]
        more = len(unused) - len(reasons)
        reasons += [f"{more:,} more"] if more else []
        print_message(f"not used from lychee: {', '.join(reasons)}")
    return found


def _key(option: click.Option) -> str:
    return max(option.opts, key=len).lstrip("-")


def _convert(ctx: click.Context, option: click.Option, value: Any, where: str, folder: Path, is_named: bool) -> Any:
    if option.name == "ignore" and isinstance(value, list):
        return value  # the rules themselves
    if option.name == "headers":
        value = _expand(value, where)
    if option.is_flag and not isinstance(value, bool):
        raise click.UsageError(f"{where}: must be true or false")
    if option.multiple and not isinstance(value, list):
        value = [value]
    values = value if option.multiple and isinstance(value, list) else [value]
    if not all(isinstance(one, str | int | float) for one in values):
        raise click.UsageError(f"{where}: must be one value")
    if any(isinstance(one, str) and len(one) > _LONGEST for one in values):
        raise click.UsageError(f"{where}: longer than {_LONGEST:,} characters")
    if isinstance(option.type, click.Path) and not all(isinstance(one, str) and "\0" not in one for one in values):
        raise click.UsageError(f"{where}: must be a path")
    if isinstance(option.type, click.Path) and isinstance(value, str):
        if not is_named and not _is_own_file(folder / value, folder):
            raise click.UsageError(f"{where}: {_OUTSIDE}")
        value = str(folder / value)
    try:
        given = option.type_cast_value(ctx, value)
    except click.BadParameter as error:
        raise click.UsageError(f"{where}: {shorten(printable(error.message), _MESSAGE)}") from None
    except (ValueError, TypeError, OverflowError):
        raise click.UsageError(f"{where}: {show_value(value)} is not a valid value") from None
    return given


_LONGEST, _MESSAGE = 4096, 500
"""Characters of a value, and of what is said about it."""


_OUTSIDE = "not a file or folder of the repository: give it on the command line, or name the settings with --config"


def _is_own_file(path: Path, folder: Path) -> bool:
    """Whether a path, its links followed, is in the repository of a folder, or without one in it; and is no pipe."""
    is_plain = path.is_file() or path.is_dir() or not path.exists()
    return is_plain and is_in_repository(str(path), str(folder))


_VARIABLE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")


def _expand(value: Any, where: str) -> Any:
    """Header fields with the values of `${NAME}` from the environment, so that no token is in the file."""
    fields = value if isinstance(value, list) else [value]
    names = [name for one in fields if isinstance(one, str) for name in _VARIABLE.findall(one)]
    if missing := [name for name in names if name not in os.environ]:
        raise click.UsageError(f"{where}: the environment has no variable {missing[0]}")
    return [_VARIABLE.sub(lambda found: os.environ[found[1]], one) if isinstance(one, str) else one for one in fields]
