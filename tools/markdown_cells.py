"""Tables of Markdown: cells of text and of code, whatever they hold."""

from __future__ import annotations

import re
from collections.abc import Iterable


def code(text: str) -> str:
    """Code in a cell: a bar ends the cell wherever it stands, and backquotes need a longer fence."""
    if not text:
        return ""
    text = text.replace("|", "\\|")
    fence = "`" * (max(map(len, re.findall("`+", text)), default=0) + 1)
    pad = " " if "`" in text else ""
    return f"{fence}{pad}{text}{pad}{fence}"


def cell(text: str) -> str:
    """Text in a cell, with code between backquotes; characters special in Markdown are escaped elsewhere."""
    parts = re.split(r"(`[^`]+`)", text.replace("|", "\\|"))
    return "".join(part if part.startswith("`") else re.sub(r"([*_<\[\]])", r"\\\1", part) for part in parts)


def row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def table(heads: Iterable[str], rows: Iterable[Iterable[str]]) -> list[str]:
    heads = list(heads)
    return [row(heads), row(["---"] * len(heads)), *map(row, rows)]
