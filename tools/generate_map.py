"""The map of the repository: docs/map.md, every source file with its first sentence, and a drawing of the rooms.

The floors are those of ARCHITECTURE.md, the arrows the imports that the sources hold, lazy ones too.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from functools import cache
from html import escape
from itertools import chain
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "src" / "overthere"
_FOLDERS = ("src/overthere", "rust", "bench", "fuzz", "tools", "tests")
_LEFT_OUT = ("rust/target/", "fuzz/target/", "fuzz/kept/")


def _first_sentence(file: Path) -> str:
    """The first paragraph of a module's docstring, or of a crate's or module's `//!` lines."""
    text = file.read_text()
    if file.suffix == ".py":
        paragraphs = ast.get_docstring(ast.parse(text)) or ""
    else:
        paragraphs = "\n".join(re.findall(r"(?m)\A((?://!.*\n)+)", text)).replace("//! ", "").replace("//!", "")
    first = " ".join(paragraphs.split("\n\n")[0].split())
    return first.removesuffix(".").replace("|", "\\|")


def _sources(folder: Path) -> Iterator[Path]:
    for file in sorted(folder.rglob("*")):
        name = file.relative_to(ROOT).as_posix()
        if file.suffix in (".py", ".rs") and not name.startswith(_LEFT_OUT) and "__pycache__" not in name:
            yield file


def _tables() -> Iterator[str]:
    for top in _FOLDERS:
        by_folder: dict[str, list[Path]] = {}
        for file in _sources(ROOT / top):
            by_folder.setdefault(file.parent.relative_to(ROOT).as_posix(), []).append(file)
        for folder, files in by_folder.items():
            yield f"\n## `{folder}/`\n\n| file | subject |\n|---|---|"
            yield from (f"| `{file.name}` | {_first_sentence(file)} |" for file in files)


def page() -> str:
    """docs/map.md."""
    return "\n".join(
        (
            "# Map",
            "",
            "Every source file with its first sentence; `make docs` writes this page. A row of the drawing is a floor; "
            "an arrow is an import, lazy ones included. Arrows that follow from others are left out: a room may import "
            "whatever its arrows lead to. The number is lines of Python, by the hundred.",
            "",
            "![The rooms of the package, floor by floor](pictures/map.svg)",
            *_tables(),
            "",
        )
    )


@cache
def floors() -> list[list[str]]:
    """From the ground: the rooms of each floor, as ARCHITECTURE.md has them."""
    return [[members[0] for members in rooms if members != ["__main__"]] for rooms in _members()]


def _members() -> list[list[list[str]]]:
    """By floor and room the folders and modules that are one room, joined with "+" in ARCHITECTURE.md."""
    section = (ROOT / "ARCHITECTURE.md").read_text().split("\n## Floors\n")[1].split("\n## ")[0]
    rows = re.findall(r"^\d+\. \*\*.*?\*\*: (.*)$", section, re.MULTILINE)
    return [[re.findall(r"`(\w+)`", room) for room in row.split(", ")] for row in rows]


@cache
def _rooms() -> dict[str, str]:
    """The room of each folder and module of the package's root."""
    return {name: members[0] for rooms in _members() for members in rooms for name in members}


def _files(room: str) -> list[Path]:
    files: list[Path] = []
    for name in (name for name, home in _rooms().items() if home == room):
        folder = PACKAGE / name
        files += sorted(folder.rglob("*.py")) if folder.is_dir() else [PACKAGE / f"{name}.py"]
    return files


def _lines(room: str) -> int:
    return sum(file.read_text().count("\n") for file in _files(room))


def _imports(room: str) -> set[str]:
    """The rooms that a room imports."""
    text = "\n".join(file.read_text() for file in _files(room))
    text = re.sub(r"(?m)^if TYPE_CHECKING:\n(?:(?: {4}.*)?\n)+", "", text)
    names = re.findall(r"(?m)^\s*(?:from|import) overthere\.(\w+)", text)
    for listed in re.findall(r"(?m)^\s*from overthere import \(?([\w,\s]+)", text):
        names += re.findall(r"\w+", listed)
    return {_rooms()[name] for name in names if name in _rooms()} & set(chain(*floors())) - {room}


def _reduce_arrows(arrows: dict[str, set[str]]) -> dict[str, set[str]]:
    """Without the arrows that follow from two or more others."""

    @cache
    def rooms_below(room: str) -> frozenset[str]:
        return frozenset(chain(arrows[room], *(rooms_below(target) for target in arrows[room])))

    return {
        room: {target for target in targets if not any(target in rooms_below(other) for other in targets - {target})}
        for room, targets in arrows.items()
    }


_WIDTH, _HEIGHT, _GAP, _FLOOR = 104, 40, 16, 92


def drawing() -> str:
    """docs/pictures/map.svg: the ground below, an arrow from a room to each that it imports; lines by the hundred."""
    order = {room: (level, at) for level, rooms in enumerate(floors()) for at, room in enumerate(rooms)}
    arrows = {room: {target for target in _imports(room) if order[target][0] <= order[room][0]} for room in order}
    widest = max(map(len, floors())) * (_WIDTH + _GAP) + _GAP
    height = len(floors()) * _FLOOR

    def corner(room: str) -> tuple[float, float]:
        level, at = order[room]
        row = len(floors()[level]) * (_WIDTH + _GAP) - _GAP
        return (widest - row) / 2 + at * (_WIDTH + _GAP), height - (level + 1) * _FLOOR + _FLOOR - _HEIGHT - 8

    lines, boxes = [], []
    for room, targets in _reduce_arrows(arrows).items():
        x, y = corner(room)
        name, size = escape(room), f"{max(100, round(_lines(room), -2)):,}"
        boxes.append(
            f'<rect x="{x:g}" y="{y:g}" width="{_WIDTH}" height="{_HEIGHT}" rx="6"/>'
            f'<text x="{x + _WIDTH / 2:g}" y="{y + 17:g}">{name}</text>'
            f'<text class="size" x="{x + _WIDTH / 2:g}" y="{y + 32:g}">{size}</text>'
        )
        for target in sorted(targets):
            to_x, to_y = corner(target)
            if order[target][0] == order[room][0]:  # on the same floor: an arc below both
                start, right = sorted((x, to_x))
                lines.append(
                    f'<path d="M{x + _WIDTH / 2:g} {y + _HEIGHT:g} C{start + _WIDTH:g} {y + _HEIGHT + 26:g} '
                    f'{right:g} {y + _HEIGHT + 26:g} {to_x + _WIDTH / 2:g} {to_y + _HEIGHT + 2:g}"/>'
                )
            else:
                lines.append(f'<path d="M{x + _WIDTH / 2:g} {y + _HEIGHT:g} L{to_x + _WIDTH / 2:g} {to_y - 2:g}"/>')
    style = (
        "svg{background:#fff}rect{fill:#eef3f8;stroke:#345}text{font:600 13px sans-serif;text-anchor:middle;fill:#123}"
        ".size{font:11px sans-serif;fill:#456}path{fill:none;stroke:#789;marker-end:url(#tip)}#tip path{fill:#789;"
        "stroke:none;marker-end:none}"
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {widest} {height}" role="img">'
        f"<title>The rooms of the package, floor by floor</title><style>{style}</style>"
        '<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">'
        '<path d="M0 0 8 4 0 8z"/></marker></defs>\n' + "\n".join((*lines, *boxes)) + "\n</svg>\n"
    )


if __name__ == "__main__":
    sys.stdout.write(drawing())
