"""overthere repair: fixes malformed URIs that have one possible reading."""

from __future__ import annotations

from collections.abc import Iterator

import click

from overthere.cli.common import Answer, Output, texts_argument
from overthere.cli.table_options import Table, answer_options
from overthere.ground.display import printable
from overthere.ground.extras import missing_message
from overthere.ground.redact import MASK, mask
from overthere.repairs import Repaired, SecretChange, repair


@click.command()
@texts_argument
@click.option("--reference", is_flag=True, help="Allow relative references.")
@click.option("--scheme", help="Scheme to assume for a text without one (RFC 3986 4.5).")
@click.option("--browsers", is_flag=True, help="Otherwise read a text as browsers do (URL Standard).")
@click.option("--idna", is_flag=True, help="Convert host names in letters or escapes to A-labels (RFC 5891 4).")
@answer_options
def command(
    texts: tuple[str, ...], reference: bool, scheme: str | None, browsers: bool, idna: bool, on_error: str, form: str,
    table: Table | None,
) -> None:  # fmt: skip
    """Fix malformed URIs that have one possible reading; one a line, the changes on standard error.

    A text that can mean two URIs, as with a backslash, is rejected.  Exit 1 if any was.
    """
    if table is not None:
        table.refuse(scheme=scheme is not None, browsers=browsers, idna=idna)
        table.apply(texts, "repair", relative=reference)
        return

    def answer(text: str) -> Answer:
        try:
            repaired = repair(text, relative=reference, scheme=scheme, browsers=browsers, idna=idna or None)
        except ImportError:
            raise click.ClickException(missing_message("ada_url", "whatwg")) from None
        return Answer(str(repaired), {"text": text, **repaired.to_dict()}, _notes(repaired))

    Output(form, on_error).answer_each(texts, "texts", answer)


def _notes(repaired: Repaired) -> Iterator[str]:
    """A line for each change."""
    for change in repaired.changes:
        secret = isinstance(change, SecretChange)
        before, after = (MASK if secret else printable(mask(text)) for text in (change.before, change.after))
        yield f'  at {change.start}: {change.what}: "{before}" to "{after}" ({change.source})'
    if repaired.escaped is not None:
        yield f"  or with the host in escapes: {printable(mask(str(repaired.escaped)))} (RFC 3987 3.1)"
    if repaired.total > len(repaired.changes):
        yield f"  and {repaired.total - len(repaired.changes):,} more changes"
