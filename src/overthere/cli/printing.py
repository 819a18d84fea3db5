"""What is printed: its width, data as it is on a pipe, findings with a caret under the place, texts that fit."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Sequence
from typing import Any

import click

from overthere.ground import errors
from overthere.ground.display import visible
from overthere.ground.errors import Finding, InvalidURI

__all__ = [
    "terminal_text",
    "figure",
    "figures",
    "wrap_sentence",
    "is_terminal",
    "print_message",
    "width",
    "without_look_alikes",
]


def width() -> int:
    """The columns of the terminal, 100 where there is none."""
    import shutil

    return max(40, shutil.get_terminal_size((100, 24)).columns)


def terminal_text(text: str) -> str | bytes:
    """An answer: on a person's terminal without controls, on a pipe or in a file as it is.

    Octets that were no UTF-8 are written as they were read.
    """
    if is_terminal(sys.stdout):
        return visible(text)
    if text.isascii() or not re.search("[\ud800-\udfff]", text):
        return text
    try:
        return text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:  # half a character of UTF-16, which no octets are
        return text.encode("utf-8", "replace")


def print_message(text: str) -> None:
    """A message on standard error.  It may name what others have written: no control of theirs is in it."""
    click.echo(visible(text), err=True)


def figure(error: InvalidURI) -> str:
    """The text, a caret under the place, and what is wrong there."""
    return _broken(error.figure(width()), "error")


def figures(text: str, findings: Sequence[Finding], level: str = "error") -> Iterator[str]:
    """The same for each finding on a text; level: of `styles.LEVELS`."""
    for one in errors.figures(text, findings, width()) if findings else ():
        yield _broken(one, level)


def _broken(figure: str, level: str) -> str:
    shown, place, *told = figure.split("\n")
    if is_terminal(sys.stderr):
        from overthere.cli.styles import LEVELS, style_text

        place = style_text(place, LEVELS[level], err=True)
    return "\n".join([shown, place, *(wrap_sentence(line, sys.stderr) for line in told)])


def wrap_sentence(line: str, stream: Any, indent: str = "") -> str:
    """A sentence that is broken between words on a terminal; elsewhere it is one line, for those who search."""
    if not is_terminal(stream):
        return indent + line
    from textwrap import wrap

    return "\n".join(
        wrap(line, width(), initial_indent=indent, subsequent_indent=indent + "  ", break_on_hyphens=False)
    )


def is_terminal(stream: Any) -> bool:
    return stream is not None and bool(stream.isatty())


def without_look_alikes() -> None:
    """Said on standard error if the package that knows look-alikes is not there: `audit` cannot tell them then."""
    from importlib.util import find_spec

    from overthere.ground.extras import missing_message

    if find_spec("confusable_homoglyphs") is None:
        told = f"host-confusable is not told: {missing_message('confusable_homoglyphs', 'audit')}"
        print_message(told)
