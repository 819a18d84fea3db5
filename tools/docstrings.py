"""A Sphinx extension: docstrings as this project writes them, as reStructuredText.

A paragraph of lines `name: meaning` tells parameters, `Raises:` and `Returns:` begin one each, backticks are code; all
else is text, in which nothing is markup.
"""

from __future__ import annotations

import inspect
import re
from typing import TYPE_CHECKING, Any

from alike import see_also

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from sphinx.application import Sphinx

# A name at a line's start and what it means; `*names` and `**names` too.
_MEANING = re.compile(r"(\*{0,2}[a-z_][a-z0-9_]*(?:, \*{0,2}[a-z_][a-z0-9_]*)*): (.*)", re.DOTALL)
_RAISED = re.compile(r"(?:^|; )([A-Z]\w+)(?= |$|,)")
_CODE = re.compile(r"``?([^`]+)``?")
_MARKUP = re.compile(r"([\\*|_`<@])")
_ITEM = re.compile(r"(?:[-*] |\d+\. )")


def _escape(piece: str) -> str:
    return _MARKUP.sub(r"\\\1", piece)


def text(line: str) -> str:
    """A line in which only backticks are markup."""
    pieces, at = [], 0
    for code in _CODE.finditer(line):
        pieces += [_escape(line[at : code.start()]), "\\ ``", code[1], "``\\ "]
        at = code.end()
    return "".join((*pieces, _escape(line[at:])))


def _paragraphs(lines: Iterable[str]) -> Iterator[list[str]]:
    paragraph: list[str] = []
    for line in lines:
        if line.strip():
            paragraph.append(line)
        elif paragraph:
            yield paragraph
            paragraph = []
    if paragraph:
        yield paragraph


def _fields(paragraph: list[str], names: frozenset[str]) -> Iterator[str] | None:
    """A paragraph of definitions as a field list, None for any other paragraph."""
    entries: list[str] = []
    for line in paragraph:
        match = _MEANING.match(line)
        if match and all(name.lstrip("*") in names for name in match[1].split(", ")):
            entries.append(line)
        elif entries:
            entries[-1] += " " + line.strip()
        else:
            return None
    return _parameters(entries)


def _parameters(entries: list[str]) -> Iterator[str]:
    for entry in entries:
        match = _MEANING.match(entry)
        assert match is not None
        for name in match[1].split(", "):
            yield f":param {_escape(name)}: {text(match[2])}"


def _raises(sentence: str) -> Iterator[str]:
    starts = [match.start(1) for match in _RAISED.finditer(sentence)]
    if not starts or starts[0]:
        yield f":raises: {text(sentence)}"
        return
    for start, end in zip(starts, [*starts[1:], len(sentence)], strict=True):
        name, _, meaning = sentence[start:end].rstrip("; ").partition(" ")
        yield f":raises {name.rstrip(',')}: {text(meaning)}"


def to_restructured_text(lines: Iterable[str], names: frozenset[str] = frozenset()) -> list[str]:
    """The lines of a docstring as reStructuredText; names: the parameters."""
    output: list[str] = []
    for paragraph in _paragraphs(lines):
        first = paragraph[0].lstrip()
        if any(line.lstrip().startswith(">>>") for line in paragraph):
            paragraph_lines = inspect.cleandoc("\n".join(paragraph)).splitlines()
            at = next(n for n, line in enumerate(paragraph_lines) if line.startswith(">>>"))
            output += [*(text(line) for line in paragraph_lines[:at]), "", *paragraph_lines[at:]]
        elif first.startswith("Raises: "):
            output += _raises(" ".join(line.strip() for line in paragraph)[len("Raises: ") :])
        elif first.startswith(("Returns: ", "Yields: ")):
            joined = " ".join(line.strip() for line in paragraph)
            output.append(":returns: " + text(joined.partition(": ")[2]))
        elif paragraph[0].startswith("    "):
            output += ["::", "", *paragraph]
        elif fields := _fields(paragraph, names):
            output += fields
        else:
            output += [_item(line) for line in paragraph]
        output.append("")
    return output


def _item(line: str) -> str:
    bullet = _ITEM.match(line)
    return bullet[0] + text(line[bullet.end() :]) if bullet else text(line)


def _names(thing: Any) -> frozenset[str]:
    try:
        return frozenset(inspect.signature(thing).parameters)
    except (TypeError, ValueError):
        return frozenset()


def _process(app: Sphinx, value: str, name: str, thing: Any, options: Any, lines: list[str]) -> None:
    lines[:] = to_restructured_text(lines, _names(thing))
    links = see_also(name)
    lines += [links, ""] if links else []


def _strip_class(
    app: Sphinx, value: str, name: str, thing: Any, options: Any, signature: str | None, returned: str | None
) -> tuple[str | None, str | None] | None:
    """A class method is called without its class."""
    return None if signature is None else (re.sub(r"^\(cls(?:, /)?(?:, )?", "(", signature), returned)


def setup(app: Sphinx) -> dict[str, bool]:
    """Called by Sphinx."""
    app.connect("autodoc-process-docstring", _process)
    app.connect("autodoc-process-signature", _strip_class)
    return {"parallel_read_safe": True}
