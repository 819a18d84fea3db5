"""Removes session identifiers of well-known servers from paths and queries, as web archives do."""

from __future__ import annotations

import re
from collections import deque

from overthere.kernel.reference import Parts

__all__ = ["DOUBLE", "SINGLE", "drop_sessions"]


def drop_sessions(parts: Parts) -> Parts:
    """Of each server's identifiers the last one; what stands around it is joined, empty pairs too."""
    return parts._replace(path=_path(parts.path), query=_query(parts.query))


_FOLDERS = (re.compile(r"(?i)(?<=/)\((?:[a-z]\([0-9a-z]{24}\))+\)/"), re.compile(r"(?i)(?<=/)\([0-9a-z]{24}\)/"))
"""Folders of ASP.NET, in front of a page ".aspx"."""
SINGLE = [("jsessionid", 0, True, 32), ("phpsessid", 0, True, 32), ("sid", 0, True, 32), ("aspsessionid", 8, False, 24)]
"""Pairs: the name, how many letters follow it, whether the value has digits besides letters, and its length."""
DOUBLE = "cfid=", "cftoken="
"""Two pairs of ColdFusion, which stand together."""
_AT = "(?i)(?<!%)(?<!%.)"
"""Not within an escape, whose digits may be the first letters of a name."""
_SESSIONS = tuple(
    re.compile(f"{_AT}{name}{f'[a-z]{{{letters}}}' * bool(letters)}=[{'0-9' * digits}a-z]{{{length}}}(?=&|$)")
    for name, letters, digits, length in SINGLE
)
_FIRST = re.compile(f"{_AT}{DOUBLE[0]}(?=.)")


def _path(path: str) -> str:
    for folder in _FOLDERS:
        # The page: the last ".aspx" before a "?" that is data.
        lowered = path.lower()
        for match in reversed(list(folder.finditer(path))):
            mark = lowered.find("%3f", match.end())
            if lowered.rfind(".aspx", match.end() + 1, len(path) if mark < 0 else mark) >= 0:
                path = path[: match.start()] + path[match.end() :]
                break
    return path


def _query(query: str | None) -> str | None:
    if not query:
        return query
    for session in _SESSIONS:
        if matches := deque(session.finditer(query), maxlen=1):
            query = query[: matches[0].start()] + query[matches[0].end() + 1 :]
    pairs, end, second = query.split("&"), len(query), DOUBLE[1]
    for one, two in zip(reversed(pairs[:-1]), reversed(pairs), strict=False):
        is_second = two[: len(second)].lower() == second and len(two) > len(second)
        if is_second and (firsts := deque(_FIRST.finditer(one), maxlen=1)):
            start = end - len(two) - 1 - len(one)
            return query[: start + firsts[0].start()] + query[end + 1 :]
        end -= len(two) + 1
    return query
