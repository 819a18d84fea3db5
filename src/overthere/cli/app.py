"""The group of verbs and what holds for all of them."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import IO, Any

import click

import overthere
from overthere import kernel
from overthere.cli.examples import with_examples
from overthere.cli.group import Verbs
from overthere.ground.display import visible
from overthere.ground.errors import OverthereError

VERBS = {
    "explain": "Take URIs apart: figure, components, normal forms, findings.",
    "check": "Say everything that is wrong with each text.",
    "split": "Take the components out of each text.",
    "resolve": "Resolve references against a base.",
    "repair": "Mend what can only mean one URI, each change with its licence.",
    "relate": "Find the shortest reference from a base to each target.",
    "normalize": "Write the normal form at a rung of the ladder.",
    "canonical": "Write a canonical form beyond the ladder.",
    "compare": "Say at which rung two URIs are equal.",
    "encode": "Percent-encode data for a component.",
    "decode": "Decode the text of a component.",
    "parameters": "Show or change the parameters of queries.",
    "build": "Put a URI together from its parts.",
    "template": "Expand a URI Template, or find its variables in URIs.",
    "schemes": "Show the schemes, or all that is known of one.",
    "plan": "Say what opening URIs would do, without doing it.",
    "get": "Fetch what URIs name.",
    "editions": "Show what the documents say differently.",
    "find": "Find URIs in running text.",
    "links": "Write the table of links of documents.",
    "broken": "Say which links of documents lead nowhere.",
    "audit": "Say what to be careful about in URIs.",
    "serve": "Show all this in a browser.",
    "completion": "Print the script that completes verbs and options in a shell.",
}


@contextmanager
def _visible() -> Iterator[None]:
    """What a message names was written by others: no control of theirs is in it.  What an option holds and no verb has
    judged is told as any wrong use is."""
    try:
        yield
    except OverthereError as error:
        raise click.UsageError(visible(str(error))) from None
    except click.ClickException as error:
        error.message = visible(error.message)  # type: ignore[misc]
        raise


class _Interrupted(click.ClickException):
    """Ctrl-C: 128 and the number of the signal, as shells have it."""

    exit_code = 130

    def show(self, file: IO[Any] | None = None) -> None:
        click.echo(self.message, file, err=True)


class _Verbs(Verbs):
    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(VERBS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in VERBS:
            return None
        command: click.Command = import_module(f"overthere.cli.{cmd_name}").command
        return with_examples(command, cmd_name)

    def make_context(
        self, info_name: str | None, args: list[str], parent: click.Context | None = None, **extra: Any
    ) -> click.Context:
        with _visible():
            return super().make_context(info_name, args, parent, **extra)

    def invoke(self, ctx: click.Context) -> Any:
        try:
            with _visible():
                return super().invoke(ctx)
        except KeyboardInterrupt:
            raise _Interrupted("Stopped") from None

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Verbs"):
            formatter.write_dl(list(VERBS.items()))


@click.group(cls=_Verbs, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(
    overthere.__version__, message=f"overthere %(version)s (kernel: {kernel.name}; Python {sys.version.split()[0]})"
)
def app() -> None:
    """URIs by the letter of their specifications.

    Texts come as arguments, or as lines on standard input; with --column whole tables do.  Exit: 0 done, 1 some
    input was bad (each text with its figure on standard error), 2 the work could not be done.
    """
