"""Rows of the link table that a format could stumble over: what a job in a process of its own writes, too."""

from __future__ import annotations

import random

from overthere.links.model import Link

PIECES = (
    "",
    "a",
    '"',
    '""',
    "\\",
    ",",
    "\n",
    "\r\n",
    "\t",
    "\x01",
    "\x7f",
    "ü",
    "日本",
    "\U0001f600",
    "=1+1",
    " ",
    "'",
)


def links(number: int, seed: int = 0) -> list[Link]:
    """Rows with everything in them that a format could stumble over."""
    draw = random.Random(seed)

    def text() -> str | None:
        return None if draw.random() < 0.3 else "".join(draw.choices(PIECES, k=draw.randrange(4)))

    return [
        Link(
            f"{row}{text() or ''}", text(), text(), text(), text(), text(), text(),
            draw.choice((True, False, None)), text(), text(), draw.choice((None, 0, 2**40)), text(), text(),
        )
        for row in range(number)
    ]  # fmt: skip
