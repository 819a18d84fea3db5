"""The verbs of the command line, their options and arguments, found by introspection."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import click

from overthere.cli.app import VERBS, app


class Verb(NamedTuple):
    """One verb, or one below another, such as `template match`."""

    words: tuple[str, ...]
    command: click.Command

    @property
    def name(self) -> str:
        return " ".join(self.words)

    @property
    def valued(self) -> list[str]:
        """The options that take a value, each by its longest name."""
        return [max(option.opts, key=len) for option in self._options() if not (option.is_flag or option.count)]

    @property
    def arguments(self) -> list[click.Argument]:
        return [param for param in self.command.params if isinstance(param, click.Argument)]

    def _options(self) -> Iterator[click.Option]:
        yield from (param for param in self.command.params if isinstance(param, click.Option))


def verbs() -> list[Verb]:
    """All, those below others too."""
    context = click.Context(app)
    results = []
    for name in VERBS:
        command = app.get_command(context, name)
        assert command is not None
        results += list(_within((name,), command))
    return results


def _within(words: tuple[str, ...], command: click.Command) -> Iterator[Verb]:
    yield Verb(words, command)
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            below = command.get_command(context, name)
            assert below is not None
            yield from _within((*words, name), below)
