"""Splits a text of any length into pieces without cutting a URI, in bounded memory."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

__all__ = ["ENOUGH", "MOST", "pieces"]

ENOUGH = 1 << 20
"""Characters after which a piece may end at an empty line, over which no URI goes."""
MOST = 1 << 24
"""Characters after which it ends at white space, or where there is none, there: what is longer is cut."""

_EMPTY = re.compile(r"(?:\r\n?+|\n)[ \t]{0,64}+(?=[\r\n])")


def pieces(blocks: Iterable[str], enough: int = ENOUGH, most: int = MOST) -> Iterator[str]:
    """The same text as `blocks`, in pieces that end at an empty line; of `most` characters, at white space.

    Only a URI that is broken over lines inside of brackets can be cut at white space.

    >>> list(pieces(["a\\n", "\\nb\\n\\n", "c"], enough=1))
    ['a\\n\\nb\\n', '\\nc']
    """
    held: list[str] = []
    size, looked, wait = 0, 0, enough
    for block in blocks:
        held.append(block)
        size += len(block)
        if size < wait:
            continue
        text = "".join(held)
        cut = _last_empty(text, looked)
        if cut == 0 and size >= most:
            cut = _last_white(text) or size
        if cut:
            yield text[:cut]
            text = text[cut:]
        held, size = [text], len(text)
        # An empty line may have come in part; where none has, the text is joined again when it is a quarter longer.
        looked = max(0, size - 80)
        wait = min(most, max(enough, size + size // 4))
    if text := "".join(held):
        yield text


def _last_empty(text: str, start: int) -> int:
    """The end of the last line before an empty one."""
    cut = 0
    for match in _EMPTY.finditer(text, start):
        cut = match.end()
    return cut


def _last_white(text: str) -> int:
    stripped = text[-4096:]
    for place in range(len(stripped) - 1, -1, -1):
        if stripped[place].isspace():
            return len(text) - len(stripped) + place + 1
    return 0
