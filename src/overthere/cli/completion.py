"""overthere completion: the script with which a shell completes verbs, options and their values."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class


@click.command()
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def command(shell: str) -> None:
    """Print the shell script that completes verbs, options and their values.

    bash: eval its output in ~/.bashrc.  zsh: the same in ~/.zshrc, after compinit.  fish: write it to
    ~/.config/fish/completions/overthere.fish.
    """
    context = click.get_current_context().find_root()
    kind = get_completion_class(shell)
    assert kind is not None
    click.echo(kind(context.command, {}, "overthere", "_OVERTHERE_COMPLETE").source())
