"""Removes session identifiers of well-known servers from paths and queries, as web archives do."""

from __future__ import annotations

import re
from collections import deque

from overthere.kernel.reference import Parts

__all__ = ["drop_sessions"]


def drop_sessions(parts: Parts) -> Parts:
    """Of each server's identifiers the last one; what stands around it is joined, empty pairs too."""
    return parts._replace(path=_path(parts.path), query=_query(parts.query))


_FOLDERS = (re.compile(r"(?i)(?<=/)\((?:[a-z]\([0-9a-z]{24}\))+\)/"), re.compile(r"(?i)(?<=/)\([0-9a-z]{24}\)/"))
"""Folders of ASP.NET, in front of a page ".aspx"."""
_SESSIONS = tuple(
    re.compile(f"(?i){one}(?=&|$)")
    for one in (
        "jsessionid=[0-9a-z]{32}",
        "phpsessid=[0-9a-z]{32}",
        "sid=[0-9a-z]{32}",
        "aspsessionid[a-z]{8}=[a-z]{24}",
    )
)
_FIRST, _SECOND = "cfid=", "cftoken="
"""Two pairs of ColdFusion, which stand together."""


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
    pairs, end = query.split("&"), len(query)
    for one, two in zip(reversed(pairs[:-1]), reversed(pairs), strict=False):
        start = end - len(two) - 1 - len(one)
        at = one.lower().rfind(_FIRST, 0, len(one) - 1)
        if at >= 0 and two[: len(_SECOND)].lower() == _SECOND and len(two) > len(_SECOND):
            return query[: start + at] + query[end + 1 :]
        end -= len(two) + 1
    return query
