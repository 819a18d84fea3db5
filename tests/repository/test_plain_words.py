"""Variables are named for what they hold, and sentences are plain: each folder has no more hits than today.

A hit is a candidate, not an error; the numbers only decrease. `python tests/repository/test_plain_words.py ROOM` lists
the hits of a folder.
"""

from __future__ import annotations

import ast
import io
import re
import sys
import tokenize
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).parents[2]
VAGUE = frozenset(
    re.findall(
        r"\w+",
        """
        again against anything asked begun beside come cut done due everything few given gone held here how
        instead it kept known left little looked lots made many meant mine more much nobody nothing now one
        ones other others own patience rest said says shown some something stands stays taken tells there
        these they those told turn wanted way ways what when where which who whole whose why written
        """,
    )
)
"""Names that do not say what a variable holds."""
TURNS = re.compile(
    r"(?i)\b(?:is none|are none|of which|of whom|of others|what is the matter|by the letter|leads? nowhere|passed over"
    r"|(?:is|are) (?:told|said|asked|heard|meant)|asked for|so many|so long as|to be had|of strangers|for want of"
    r"|stands? (?:there|in|for|beside)|lies? (?:in|there|under|outside)|goes by|comes? of|takes? up|mended?|mends"
    r"|at hand|none the less|beside (?:it|them|that)|else than|has enough)\b"
    r"|(?:\A|(?<=[.:;] ))(?:Of (?!course)|What\b|Whose\b|Whom\b|How (?:many|often|far|much)\b|So many\b|Nobody\b)"
)
"""Turns of phrase that need reading twice, and vague beginnings."""


class Hit(NamedTuple):
    """A candidate for a plainer word."""

    file: str
    line: int
    is_sentence: bool
    text: str


def _prose(file: str, line: int, text: str) -> Iterator[Hit]:
    joined = " ".join(part for part in text.split("\n") if not part.lstrip().startswith((">>>", "...")))
    for sentence in re.split(r"(?<=[.:;])\s+(?=[A-Z])", " ".join(joined.split())):
        if TURNS.search(sentence):
            yield Hit(file, line, True, sentence)


def _python(file: str, text: str) -> Iterator[Hit]:
    for node in ast.walk(ast.parse(text)):
        match node:
            case ast.Name(id=name, ctx=ast.Store()) | ast.arg(arg=name) | ast.Attribute(attr=name, ctx=ast.Store()):
                if name.strip("_").lower() in VAGUE:
                    yield Hit(file, node.lineno, False, name)
            case ast.Expr(value=ast.Constant(value=str(docstring))):
                yield from _prose(file, node.lineno, docstring)
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            yield from _prose(file, token.start[0], token.string.lstrip("#: "))


def _rust(file: str, text: str) -> Iterator[Hit]:
    for number, line in enumerate(text.splitlines(), 1):
        if comment := re.match(r"\s*//[/!]?\s?(.*)", line):
            yield from _prose(file, number, comment[1])
            continue
        for name in re.findall(r"\b(?:let(?: mut)?|for)\s+_?([a-z_]+)\b", line):
            if name in VAGUE:
                yield Hit(file, number, False, name)


def hits(room: str) -> Iterator[Hit]:
    """The hits in a room: a folder of the package, "." for its loose files, a crate, or another folder."""
    folder = ROOT / room if room.startswith("rust/") or room in OTHER_FOLDERS else ROOT / "src" / "overthere" / room
    for path in sorted(folder.glob("*.py") if room == "." else [*folder.rglob("*.py"), *folder.rglob("*.rs")]):
        read = _python if path.suffix == ".py" else _rust
        yield from read(path.relative_to(ROOT).as_posix(), path.read_text("utf-8"))


OTHER_FOLDERS = frozenset({"tests", "tools", "bench", "fuzz"})
"""Folders outside the package and the crates."""
MOST: dict[str, tuple[int, int]] = {
    ".": (3, 7),
    "access": (16, 1),
    "bench": (38, 11),
    "broken": (31, 21),
    "canonical": (1, 0),
    "cli": (8, 19),
    "columns": (8, 3),
    "editions": (2, 2),
    "files": (1, 3),
    "fuzz": (40, 6),
    "grammar": (6, 1),
    "ground": (5, 0),
    "integrations": (6, 14),
    "kernel": (5, 0),
    "links": (26, 3),
    "mail": (0, 2),
    "protocols": (47, 9),
    "rust/core": (1, 11),
    "rust/html": (0, 1),
    "rust/python": (10, 11),
    "rust/records": (0, 0),
    "schemes": (12, 24),
    "security": (1, 1),
    "testing": (5, 1),
    "tests": (235, 10),
    "text": (3, 4),
    "tools": (23, 0),
    "values": (17, 16),
    "web": (7, 0),
}
"""The maximum number of names and of sentences per folder."""


def test_every_folder_has_its_numbers() -> None:
    folders = {path.parent.name for path in (ROOT / "src" / "overthere").glob("*/__init__.py")}
    crates = {f"rust/{path.parent.parent.name}" for path in (ROOT / "rust").glob("*/src/lib.rs")}
    assert MOST.keys() == folders | crates | OTHER_FOLDERS | {"."}


@pytest.mark.parametrize("room", MOST)
def test_a_folder_has_no_more_hits(room: str) -> None:
    found_hits = list(hits(room))
    sentences = sum(hit.is_sentence for hit in found_hits)
    assert (len(found_hits) - sentences <= MOST[room][0], sentences <= MOST[room][1]) == (True, True), found_hits


@pytest.mark.parametrize("name", ["told", "given", "_own"])
def test_a_vague_name_is_a_hit(name: str) -> None:
    assert [hit.text for hit in _python("", f"{name} = 1\ndef f({name}): self.{name} = 2")] == [name] * 3


@pytest.mark.parametrize(
    "sentence", ["What is told.", "Of others none is known.", "It stands in the way.", "It is to be had."]
)
def test_a_turn_of_phrase_is_a_hit(sentence: str) -> None:
    assert [hit.is_sentence for hit in _python("", f'"""{sentence}"""\n# {sentence}\n')] == [True, True]
    assert [hit.is_sentence for hit in _rust("", f"/// {sentence}\nlet given = 1;\n")] == [True, False]


def test_a_plain_line_is_no_hit() -> None:
    assert list(_python("", '"""Return the rows."""\nrows = 1  # because the file may change\n')) == []


if __name__ == "__main__":
    for hit in hits(sys.argv[1]):
        print(f"{hit.file}:{hit.line}: {hit.text}")
