"""Splits a text of any length into pieces without cutting a URI, in bounded memory."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

ENOUGH = 1 << 20
"""Characters after which a piece may end at an empty line, which no URI crosses."""
MOST = 1 << 24
"""Characters after which it ends at white space, or exactly there if it has none, even within a URI."""

_EMPTY = re.compile(r"(?:\r\n?+|\n)[ \t]{0,64}+(?=[\r\n])")


def pieces(blocks: Iterable[str], enough: int = ENOUGH, most: int = MOST) -> Iterator[str]:
    """Yield the text of `blocks` in pieces that end at an empty line; pieces of `most` characters end at white space.

    Only a URI with line breaks inside brackets can be split at white space.

    >>> list(pieces(["a\\n", "\\nb\\n\\n", "c"], enough=1))
    ['a\\n\\nb\\n', '\\nc']
    """
    pending: list[str] = []
    size, search_start, next_check = 0, 0, enough
    for block in blocks:
        pending.append(block)
        size += len(block)
        if size < next_check:
            continue
        text = "".join(pending)
        end = _find_last_empty_line(text, search_start)
        if end == 0 and size >= most:
            end = _find_last_space(text) or size
        if end:
            yield text[:end]
            text = text[end:]
        pending, size = [text], len(text)
        # An empty line may be incomplete; without one, the text is joined again when it is a quarter longer.
        search_start = max(0, size - 80)
        next_check = min(most, max(enough, size + size // 4))
    if text := "".join(pending):
        yield text


def _find_last_empty_line(text: str, start: int) -> int:
    """Return the end of the last line before an empty one."""
    end = 0
    for match in _EMPTY.finditer(text, start):
        end = match.end()
    return end


def _find_last_space(text: str) -> int:
    stripped = text[-4096:]
    for place in range(len(stripped) - 1, -1, -1):
        if stripped[place].isspace():
            return len(text) - len(stripped) + place + 1
    return 0
