"""Removes session identifiers of well-known servers from paths and queries, as web archives do."""

from __future__ import annotations

import re
from collections import deque

from overthere.kernel.reference import Parts


def drop_sessions(parts: Parts) -> Parts:
    """Remove the last identifier of each server; the texts around it are joined, also if that leaves empty pairs."""
    return parts._replace(path=_path(parts.path), query=_query(parts.query))


_FOLDERS = (re.compile(r"(?i)(?<=/)\((?:[a-z]\([0-9a-z]{24}\))+\)/"), re.compile(r"(?i)(?<=/)\([0-9a-z]{24}\)/"))
"""Folders of ASP.NET, before a page ".aspx"."""
SINGLE = [("jsessionid", 0, True, 32), ("phpsessid", 0, True, 32), ("sid", 0, True, 32), ("aspsessionid", 8, False, 24)]
"""Pairs: the name, the number of letters after it, whether the value has digits besides letters, and its length."""
DOUBLE = "cfid=", "cftoken="
"""The names in two adjacent pairs of ColdFusion."""
_START = "(?i)(?<!%)(?<!%.)"
"""A match must not begin within an escape, whose digits may be the first letters of a name."""
_SESSIONS = tuple(
    re.compile(f"{_START}{name}{f'[a-z]{{{letters}}}' * bool(letters)}=[{'0-9' * digits}a-z]{{{length}}}(?=&|$)")
    for name, letters, digits, length in SINGLE
)
_DOUBLE_START = re.compile(f"{_START}{DOUBLE[0]}(?=.)")


def _path(path: str) -> str:
    for folder in _FOLDERS:
        lowered = f"{path.lower()}%3f.aspx"  # with both behind the path, so that each search ends
        last, page, query_mark = None, 0, 0
        for match in folder.finditer(path):
            start = match.end()
            page = lowered.find(".aspx", start + 1) if page <= start else page
            query_mark = lowered.find("%3f", start) if query_mark < start else query_mark
            last = match if page < query_mark else last  # the page is before the escaped "?"
        path = path if last is None else path[: last.start()] + path[last.end() :]
    return path


def _query(query: str | None) -> str | None:
    if not query:
        return query
    for session in _SESSIONS:
        if matches := deque(session.finditer(query), maxlen=1):
            query = query[: matches[0].start()] + query[matches[0].end() + 1 :]
    pairs, end, second_name = query.split("&"), len(query), DOUBLE[1]
    for pair, next_pair in zip(reversed(pairs[:-1]), reversed(pairs), strict=False):
        is_second = next_pair[: len(second_name)].lower() == second_name and len(next_pair) > len(second_name)
        if is_second and (firsts := deque(_DOUBLE_START.finditer(pair), maxlen=1)):
            start = end - len(next_pair) - 1 - len(pair)
            return query[: start + firsts[0].start()] + query[end + 1 :]
        end -= len(next_pair) + 1
    return query
