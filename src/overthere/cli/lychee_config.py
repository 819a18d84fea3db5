"""Settings of lychee (`lychee.toml`, `.lycheeignore`) as settings of `overthere broken`."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from overthere.cli.broken_tables import HOSTS
from overthere.ground.option_files import read_lines, read_text, read_toml
from overthere.links.job.files import is_in_repository

LYCHEE_FILES = ("lychee.toml", ".lychee.toml", ".lycheeignore")
_MOST_GLOBS = 4
_TOKEN = re.compile(r"(?:\\([^A-Za-z0-9*])|(\(\.\*\)|\.[*+])|([^\\*+?()\[\]{}|^$]))(\?)?")
SAME = {
    "max_concurrency": "jobs", "host_concurrency": "per-host", "timeout": "max-time", "user_agent": "agent",
    "github_token": "github-token", "root_dir": "root-dir", "include_fragments": "fragments", "suggest": "wayback",
    "fallback_extensions": "extension", "index_files": "index", "no_ignore": "no-ignore",
}  # fmt: skip
"""Settings that mean the same here."""
_KINDS: dict[str, type] = {
    "jobs": int, "per-host": int, "max-time": int, "agent": str, "github-token": str, "root-dir": str, "wayback": bool,
    "no-ignore": bool, "extension": list, "index": list,
}  # fmt: skip
"""The kinds of their values."""
_FRAGMENTS = {"none": False, "anchor-only": True, "full": True}
"""The values of newer versions of lychee; older ones have true and false."""
_GLOBS = {"exclude": "exclude", "include": "include", "exclude_path": "exclude-path"}
_REASONS = {
    "header": "use --header, for one origin",
    "cookie_jar": "use --cookies",
    "cache": "use --cache FILE",
    "max_cache_age": "use --max-age",
    **dict.fromkeys(("base_url", "base"), "use --base, the URI under which the sources are published"),
    **dict.fromkeys(
        ("exclude_all_private", "exclude_private", "exclude_loopback", "exclude_link_local"),
        "use --private to reach them; never requested otherwise",
    ),
    "offline": "offline unless --online",
    "format": "use --format",
    "output": "use -o FILE",
    "max_redirects": "the policy has its own limit",
    "accept": "not a list of statuses",
    "include_fragments": "not a value that is known here",
    **dict.fromkeys(("max_concurrency", "host_concurrency", "timeout"), "not a number above 0"),
    **dict.fromkeys(("index_files", "fallback_extensions"), "not only names"),
    "remap": "not two URIs",
    "hosts": "not only concurrency and request_interval",
}
_INTERVAL = re.compile(r"([0-9]{1,9}(?:\.[0-9]{1,9})?)[ ]?(ms|s)")
_NAME = re.compile(r"\.*+[^./\\:\0][^/\\:\0]*+")
_RANGE = re.compile(r"([0-9]{1,3})?(?:(\.\.=?)([0-9]{1,3})?)?")


def lychee_file(folder: Path) -> Path | None:
    """The settings of lychee in a folder."""
    return next((folder / name for name in LYCHEE_FILES if (folder / name).is_file()), None)


def read_lychee(path: Path) -> tuple[dict[str, Any], list[str], dict[str, str]]:
    """Settings for `overthere broken`, the keys they come from, and the reason for each key or pattern not used.

    Raises: OSError; ValueError if the file is not TOML.
    """
    table = {} if path.name == ".lycheeignore" else read_toml(read_text(path))
    settings: dict[str, Any] = {}
    used: list[str] = []
    unused: dict[str, str] = {}
    for key, value in table.items():
        if key in _GLOBS:
            _add_globs(settings, _GLOBS[key], key, value, used, unused)
        elif key in _CONVERSIONS and (converted := _CONVERSIONS[key](value)):
            settings[HOSTS if key == "hosts" else key] = converted
            used.append(key)
        elif (same := _same_value(key, value)) is not None:
            settings[SAME[key]] = same
            used.append(key)
        else:
            unused[key] = _REASONS.get(key, "no counterpart")
    ignored = path.parent / ".lycheeignore"
    if ignored.is_file() and is_in_repository(str(ignored), str(path.parent)):
        patterns = [line for _, line in read_lines(ignored) if not line.startswith("#")]
        _add_globs(settings, "exclude", ".lycheeignore", patterns, used, unused)
    if "include" in settings and "exclude" not in table and "exclude" not in settings:
        settings["exclude"] = ["*"]  # without exclusions, lychee checks what is included and nothing else
    return settings, used, unused


def _same_value(key: str, value: Any) -> Any:
    """The value of a setting that means the same here; None for another one."""
    if key == "include_fragments":
        return value if isinstance(value, bool) else _FRAGMENTS.get(str(value))
    kind = _KINDS.get(SAME.get(key, ""))
    if kind is None or not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
        return None
    if isinstance(value, list) and not all(isinstance(name, str) and _NAME.fullmatch(name) for name in value):
        return None
    return None if isinstance(value, int) and not isinstance(value, bool) and value <= 0 else value


def _add_globs(table: dict[str, Any], name: str, key: str, value: Any, used: list[str], unused: dict[str, str]) -> None:
    for pattern in value if isinstance(value, list) else [value]:
        globs = to_globs(pattern.removeprefix("./")) if isinstance(pattern, str) else None
        if globs is None:
            unused[f"{key} {pattern}"] = "not a simple pattern"
            continue
        table.setdefault(name, []).extend(globs)
        if key not in used:
            used.append(key)


def to_globs(pattern: str) -> list[str] | None:
    """A regular expression as globs; None if it is not simple.  A dot stands for itself.

    >>> to_globs("^https?://example[.]org"), to_globs(r"^https?://h\\.example/")
    (None, ['http://h.example/*', 'https://h.example/*'])
    """
    end = pattern.endswith("$") and not pattern.endswith("\\$")
    at, stop = int(pattern.startswith("^")), len(pattern) - end
    globs = ["" if at else "*"]
    while at < stop:
        match = _TOKEN.match(pattern, at, stop)
        if match is None:
            return None
        piece = "*" if match[2] else match[1] or match[3]
        longer = [glob + piece for glob in globs]
        globs = globs + longer if match[4] and not match[2] else longer
        if len(globs) > _MOST_GLOBS:
            return None
        at = match.end()
    return globs if end else [f"{glob}*" for glob in globs]


def _remaps(value: Any) -> list[str] | None:
    """Convert pairs of URIs; None if the first of a pair is not a simple pattern, or the second has groups."""
    pairs = []
    for text in value if isinstance(value, list) else [value]:
        start, *replacement = text.split() if isinstance(text, str) else [""]
        globs = to_globs(start if start.startswith("^") else f"^{start}")
        if globs is None or len(globs) > 1 or "*" in globs[0][:-1] or len(replacement) != 1 or "$" in replacement[0]:
            return None
        pairs.append(f"{globs[0].removesuffix('*')} {replacement[0]}")
    return pairs


def _hosts(value: Any) -> list[dict[str, Any]]:
    """Convert tables of hosts: requests at once and their interval; empty if one has other settings."""
    tables = []
    for name, host_settings in value.items() if isinstance(value, dict) else ():
        if not isinstance(host_settings, dict) or host_settings.keys() - {"concurrency", "request_interval"}:
            return []
        table = {"name": name}
        if "concurrency" in host_settings:
            table["per-host"] = host_settings["concurrency"]
        if (interval := _INTERVAL.fullmatch(str(host_settings.get("request_interval", "")))) and float(interval[1]):
            table["rate"] = (1000 if interval[2] == "ms" else 1) / float(interval[1])
        elif "request_interval" in host_settings:
            return []
        tables.append(table)
    return tables


def _statuses(value: Any) -> list[str] | None:
    """Ranges of lychee (`200..=299`, `200..300` without its end) as ours; None if one is invalid."""
    statuses = []
    for text in value if isinstance(value, list) else str(value).split(","):
        match = _RANGE.fullmatch(str(text).strip())
        if match is None or not (match[1] or match[2]):
            return None
        low = int(match[1] or 100)
        high = low if match[2] is None else int(match[3] or 999) - (match[2] == ".." and match[3] is not None)
        if not 100 <= low <= high:
            return None
        statuses.append(f"{low}..{high}")
    return statuses


_CONVERSIONS: dict[str, Callable[[Any], list[Any] | None]] = {"accept": _statuses, "hosts": _hosts, "remap": _remaps}
"""Settings -> the function that converts a value, to nothing if it has no counterpart."""
