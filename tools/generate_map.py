"""The map in ARCHITECTURE.md: every source file with the first sentence that it says of itself."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
_BEGIN, _END = (
    "<!-- The map: written by `make docs` from the files' own first lines. -->",
    "<!-- The end of the map. -->",
)
_FOLDERS = ("src/overthere", "rust", "bench", "fuzz", "tools", "tests")
_LEFT_OUT = ("rust/target/", "fuzz/target/", "fuzz/kept/")


def _about(file: Path) -> str:
    """The first paragraph of a module's docstring, or of a crate's or module's `//!` lines."""
    text = file.read_text()
    if file.suffix == ".py":
        said = ast.get_docstring(ast.parse(text)) or ""
    else:
        said = "\n".join(re.findall(r"(?m)\A((?://!.*\n)+)", text)).replace("//! ", "").replace("//!", "")
    first = " ".join(said.split("\n\n")[0].split())
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
            yield f"\n### `{folder}/`\n\n| file | subject |\n|---|---|"
            yield from (f"| `{file.name}` | {_about(file)} |" for file in files)


def architecture() -> str:
    """ARCHITECTURE.md as it is, with its map made anew."""
    text = (ROOT / "ARCHITECTURE.md").read_text()
    before, _, rest = text.partition(_BEGIN)
    _, _, after = rest.partition(_END)
    return "\n".join((before + _BEGIN, *_tables(), "", _END)) + after
