"""Groups of verbs: an unknown name is reported with the known ones."""

from __future__ import annotations

from collections.abc import Mapping

import click


class Verbs(click.Group):
    """A group whose verbs are its `list_commands`."""

    elsewhere: Mapping[str, str] = {}
    """Verbs of other programs -> what to use here."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        names = self.list_commands(ctx)
        if args and args[0] not in names and not args[0].startswith("-"):
            from difflib import get_close_matches

            near = get_close_matches(args[0], names)
            hint = f"did you mean {' or '.join(near)}?" if near else f"known: {', '.join(names)}"
            if args[0] in self.elsewhere:
                hint = f"use {self.elsewhere[args[0]]}"
            ctx.fail(f"unknown verb {args[0]!r}; {hint}")
        return super().resolve_command(ctx, args)
