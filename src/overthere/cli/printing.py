"""Printing: terminal width, data unchanged on a pipe, findings with a caret, wrapped sentences."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Sequence
from typing import Any

import click

from overthere.ground import errors
from overthere.ground.display import visible
from overthere.ground.errors import Finding, InvalidURI
from overthere.ground.redact import mask


def width() -> int:
    """The columns of the terminal; 100 without one."""
    import shutil

    return max(40, shutil.get_terminal_size((100, 24)).columns)


def terminal_text(text: str) -> str | bytes:
    """An answer: without control characters on a terminal, unchanged on a pipe or in a file.

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


class Impossible(click.ClickException):
    """The request cannot be carried out, or not to its end: one line, exit 2."""

    exit_code = 2


_COMMAND = re.compile(r"^[^\S\n]*+:(?=:)|##(?=\w*\[)", re.MULTILINE)


def without_commands(text: str) -> str:
    """A text without what CI services obey in a log: `##[` and `##vso[` anywhere, and `::` where a line begins.

    >>> without_commands("::error::x"), without_commands("a ##[error]::b, ##vso[task.setvariable]")
    (': :error::x', 'a ## [error]::b, ## vso[task.setvariable]')
    """
    return _COMMAND.sub(r"\g<0> ", text)


def print_message(text: str) -> None:
    """Print a message on standard error, without control characters, passwords and commands to GitHub of the input."""
    click.echo(without_commands(visible(mask(text))), err=True)


def figure(error: InvalidURI) -> str:
    """The text, a caret under the place, and what is wrong there."""
    return _broken(error.figure(width()), "error")


def figures(text: str, findings: Sequence[Finding], level: str = "error") -> Iterator[str]:
    """A figure for each finding on a text; level: of `styles.LEVELS`."""
    for figure in errors.figures(text, findings, width()) if findings else ():
        yield _broken(figure, level)


def _broken(figure: str, level: str) -> str:
    text_line, place, *message_lines = figure.split("\n")
    if is_terminal(sys.stderr):
        from overthere.cli.styles import LEVELS, style_text

        place = style_text(place, LEVELS[level], err=True)
    return "\n".join([text_line, place, *(wrap_sentence(line, sys.stderr) for line in message_lines)])


def wrap_sentence(line: str, stream: Any, indent: str = "") -> str:
    """A sentence, wrapped on a terminal; elsewhere one line, so that it can be searched."""
    if not is_terminal(stream):
        return indent + line
    from textwrap import wrap

    return "\n".join(
        wrap(line, width(), initial_indent=indent, subsequent_indent=indent + "  ", break_on_hyphens=False)
    )


def is_terminal(stream: Any) -> bool:
    return stream is not None and bool(stream.isatty())


def warn_without_look_alikes() -> None:
    """Warn on standard error that the look-alike check is skipped because its package is missing."""
    from importlib.util import find_spec

    from overthere.ground.extras import missing_message

    if find_spec("confusable_homoglyphs") is None:
        print_message(f"look-alike check skipped: {missing_message('confusable_homoglyphs', 'audit')}")
