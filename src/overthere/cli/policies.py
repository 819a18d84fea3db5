"""The access policy of a command: --safe, --policy FILE.toml, and the options for its limits."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from overthere.access.policy import Policy
from overthere.cli.numbers import LONGEST_TIME, LONGEST_WAIT, MOST_OCTETS, show_value
from overthere.ground.display import printable
from overthere.ground.option_files import read_text, read_toml
from overthere.ground.redact import mask
from overthere.schemes import Registry
from overthere.values.hosts.address import nat64_prefix

if TYPE_CHECKING:
    import ssl

F = TypeVar("F", bound=Callable[..., Any])


def _octets(text: str) -> float:
    """A size; 0 and "none" are no limit, which is infinite.  Raises: click.BadParameter."""
    return _seconds(text, int)


def _seconds(text: str, kind: Callable[[str], float] = float) -> float:
    """A time; 0 and "none" are no limit, which is infinite.  Raises: click.BadParameter."""
    try:
        value = -1 if isinstance(text, bool) else 0 if text == "none" else kind(text)
    except (ValueError, OverflowError):
        value = -1
    if not 0 <= value <= (LONGEST_TIME if kind is float else MOST_OCTETS):
        raise click.BadParameter(f"{show_value(text)} is not a valid limit: a number, or 0 or none for no limit")
    return value or inf


def policy_options(function: F, default_policy: Policy | None = None) -> F:
    """The options of every verb that opens URIs.

    own: the verb's own policy, which is always the safe one; otherwise there is an option --safe.
    """
    default = default_policy or Policy()
    options = [
        click.option(
            "--policy", "policy_file", type=click.Path(path_type=Path), metavar="FILE.toml",
            help="TOML file of access policy fields (name = value), such as hosts, ports, redirects, proxy or tls.",
        ),
        click.option(
            "--max-time", "total_timeout", type=_seconds, metavar="SECONDS",
            help="Overall time limit in seconds, redirects and download included "
            f"(default: {default.total_timeout:,.0f}); 0 or none: unlimited.",
        ),
        click.option(
            "--max-bytes", type=_octets, metavar="OCTETS",
            help=f"Receive at most this many octets (default: {default.max_bytes:,}); 0 or none: unlimited.",
        ),
    ]  # fmt: skip
    if default_policy is None:
        safe = "For URIs from others: no files, no private addresses, no reserved ports."
        options.insert(0, click.option("--safe", is_flag=True, help=safe))
    for option in reversed(options):
        function = option(function)
    return function


def policy_of(options: Mapping[str, Any], default: Policy | None = None) -> Policy:
    """The policy that the options name: a typed URI is trusted as the person's own, unless --safe is given.

    own: the verb's own policy.
    """
    default = default or (Policy() if options["safe"] else Policy.local())
    changes: dict[str, Any] = {}
    if options["policy_file"] is not None:
        changes |= _read(options["policy_file"])
    if options.get("timeout") is not None:
        changes |= {"connect_timeout": options["timeout"], "read_timeout": options["timeout"]}
    for name in ("total_timeout", "max_bytes"):
        if options[name] is not None:
            changes[name] = None if options[name] == inf else options[name]
    if options.get("proxy") is not None:
        changes["proxy"] = _proxies(options["proxy"])
    try:
        return default.with_(**changes)
    except ValueError as error:
        raise click.UsageError(str(error)) from None


def _read(path: Path) -> dict[str, Any]:
    """The fields in a TOML file, as the policy has them.  Raises: click.UsageError, which names the place."""
    changes: dict[str, Any] = {}
    try:
        text = read_text(path)
        for name, value in read_toml(text).items():
            place = _place(text, name)
            if name not in _FIELDS:
                raise ValueError(f"{place}unknown field {name!r}; known: {', '.join(_FIELDS)}")
            expected, convert = _FIELDS[name]
            try:
                changes[name] = convert(value, path)
            except (TypeError, AttributeError):
                raise ValueError(f"{place}{name} must be {expected}, not {mask(show_value(value))}") from None
            except (ValueError, OSError) as error:
                raise ValueError(f"{place}{name}: {error}") from None
    except (ValueError, OSError) as error:
        message = error.strerror if isinstance(error, OSError) else str(error)
        raise click.UsageError(f"--policy {printable(str(path))}: {printable(str(message))}") from None
    return changes


def _place(text: str, name: str) -> str:
    """Return the line of a field as the beginning of a message; empty if the field is written with escapes."""
    for number, line in enumerate(text.split("\n") if name else (), 1):
        begins, matched, after = line.lstrip(" \t[\"'").partition(name)
        if matched and not begins and not after[:1].isidentifier():
            return f"line {number}: "
    return ""


def _trusted(path: str) -> ssl.SSLContext:
    import ssl

    return ssl.create_default_context(cafile=path)


def _of_type(value: Any, *types: type) -> Any:
    """The value.  Raises: TypeError if its type is another."""
    if type(value) not in types:
        raise TypeError
    return value


def _texts(value: Any, _: Path) -> frozenset[str]:
    return frozenset(_of_type(item, str).lower() for item in _of_type(value, list))


def _number(most: int, *types: type) -> Callable[[Any, Path], Any]:
    """How a number from 0 to a limit is read."""

    def read(value: Any, _: Path) -> Any:
        if not 0 <= _of_type(value, *types) < inf:
            raise TypeError
        if value > most:
            raise ValueError(f"it must be a number from 0 to {most:,}")
        return value

    return read


def _port(value: Any) -> int:
    if not 0 <= _of_type(value, int) <= 65535:
        raise ValueError("a port is from 0 to 65535")
    return int(value)


def _proxies(value: Any) -> dict[str, str]:
    """Scheme -> proxy; one text is for all schemes that a proxy serves."""
    if isinstance(value, str):
        return dict.fromkeys((scheme.name for scheme in Registry.default().schemes() if scheme.by_proxy), value)
    return {name: _of_type(proxy, str) for name, proxy in _of_type(value, dict).items()}


_FIELDS: dict[str, tuple[str, Callable[[Any, Path], Any]]] = {
    **dict.fromkeys(("schemes", "hosts", "redirects"), ("a list of strings", _texts)),
    "ports": ("a list of numbers", lambda value, _: frozenset(map(_port, _of_type(value, list)))),
    "spoken": (
        "a table of scheme = port",
        lambda value, _: frozenset((name, _port(port)) for name, port in _of_type(value, dict).items()),
    ),
    **dict.fromkeys(("private", "downgrade"), ("true or false", lambda value, _: _of_type(value, bool))),
    "nat64": (
        "a list of prefixes", lambda value, _: tuple(nat64_prefix(_of_type(v, str)) for v in _of_type(value, list)),
    ),
    **dict.fromkeys(
        ("connect_timeout", "read_timeout"), ("a number of seconds", _number(LONGEST_WAIT, int, float)),
    ),
    "total_timeout": ("a number of seconds", lambda *arguments: _number(LONGEST_TIME, int, float)(*arguments) or None),
    "max_bytes": ("a number of octets", lambda *arguments: _number(MOST_OCTETS, int)(*arguments) or None),
    **dict.fromkeys(("max_line", "max_redirects"), ("a number", _number(1 << 30, int))),
    "tls": ("a file of certificates", lambda value, path: _trusted(str(path.parent / _of_type(value, str)))),
    "news_server": ("a host, or host and port", lambda value, _: _of_type(value, str)),
    "messages": (
        "a list of paths", lambda value, path: tuple(path.parent / _of_type(v, str) for v in _of_type(value, list)),
    ),
    "proxy": ("a URI, or a table of scheme = URI", lambda value, _: _proxies(value)),
}  # fmt: skip
"""Field of `Policy` -> what a file has for it, and how it is read; paths begin at the file's folder."""
