"""Rows of the link table that are difficult for a format, also for jobs in separate processes."""

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
    """Rows that contain everything that is difficult for a format."""
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
