"""The group of verbs, and the error handling that they share."""

from __future__ import annotations

import signal
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib import import_module
from typing import IO, Any

import click

import overthere
from overthere import kernel
from overthere.cli.examples import with_examples
from overthere.cli.group import Verbs
from overthere.cli.printing import without_commands
from overthere.ground.display import visible
from overthere.ground.errors import OverthereError
from overthere.ground.interrupts import interruptible
from overthere.ground.redact import mask

VERBS = {
    "explain": "Explain URIs: figure, components, normal forms, findings.",
    "check": "Report everything that is wrong with each text.",
    "split": "Split each text into its components.",
    "resolve": "Resolve references against a base.",
    "repair": "Fix malformed URIs that have one possible reading; cite the rule for each change.",
    "relate": "Find the shortest reference from a base to each target.",
    "normalize": "Write the normal form at a rung of the ladder.",
    "canonical": "Write a canonical form beyond the ladder.",
    "compare": "Print the lowest rung at which two URIs are equal.",
    "encode": "Percent-encode data for a component.",
    "decode": "Decode the text of a component.",
    "parameters": "Show or change the parameters of queries.",
    "build": "Put a URI together from its parts.",
    "template": "Expand a URI Template, or find its variables in URIs.",
    "schemes": "List the schemes, or show everything about one.",
    "plan": "Print what opening URIs would do, without doing it.",
    "get": "Fetch the content of URIs.",
    "editions": "Compare the five documents.",
    "find": "Find URIs in running text.",
    "links": "Write the table of links of documents.",
    "broken": "Find the broken links of documents.",
    "audit": "Report security findings in URIs.",
    "serve": "Explain URIs in a browser.",
    "completion": "Print the script that completes verbs and options in a shell.",
}


ELSEWHERE = {
    "download": "get", "extract": "links, of a text find", "fetch": "get", "info": "explain", "inspect": "explain",
    "join": "resolve --base", "lint": "check", "open": "get", "parse": "split, or explain for a figure",
    "quote": "encode", "query": "parameters", "show": "explain", "unquote": "decode", "urljoin": "resolve --base",
    "urlparse": "split", "valid": "check", "validate": "check",
}  # fmt: skip
"""Verbs of other programs -> what to use here."""


@contextmanager
def _visible() -> Iterator[None]:
    """Messages without what `print_message` removes; errors that no verb handles become usage errors."""
    try:
        yield
    except KeyboardInterrupt:
        raise _Interrupted("Stopped") from None
    except OverthereError as error:
        raise click.UsageError(without_commands(visible(mask(str(error))))) from None
    except click.ClickException as error:
        named = error.option_name if isinstance(error, click.NoSuchOption) else ""
        ctx: click.Context | None = getattr(error, "ctx", None)
        options = [] if ctx is None else ctx.command.params
        if named in ("--json", "--jsonl") and any("--format" in option.opts for option in options):
            raise click.NoSuchOption(named, None, ["--format jsonl"], ctx) from None
        error.message = without_commands(visible(mask(error.message)))  # type: ignore[misc]
        raise


class _Interrupted(click.ClickException):
    """Ctrl-C; the exit status is 128 and the number of the signal, as in shells."""

    exit_code = 130

    def show(self, file: IO[Any] | None = None) -> None:
        click.echo(self.message, file, err=True)


class _Verbs(Verbs):
    elsewhere: Mapping[str, str] = ELSEWHERE

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
        # SIGTERM is handled like Ctrl-C: complete rows stay, and nothing temporary.
        with _visible(), interruptible(signal.SIGTERM):
            return super().invoke(ctx)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Verbs"):
            formatter.write_dl(list(VERBS.items()))


@click.group(cls=_Verbs, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(
    overthere.__version__, message=f"overthere %(version)s (kernel: {kernel.name}; Python {sys.version.split()[0]})"
)
def app() -> None:
    """Parse, check, resolve and compare URIs exactly as specified.

    Texts come as arguments, or as lines on standard input; with --column whole tables do.  Exit: 0 done, 1 some
    input was bad (each text with its figure on standard error), 2 the command failed.
    """
