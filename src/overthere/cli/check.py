"""overthere check: every finding on each text."""

from __future__ import annotations

from typing import Any

import click

from overthere import columns
from overthere.cli.common import Output, format_option, inputs, texts_argument, width
from overthere.cli.reading import iri_option, zone_option
from overthere.cli.tables import Table, table_options
from overthere.columns.plain import compute, taken
from overthere.editions import NAMES, check
from overthere.errors import InvalidURI, OverthereError
from overthere.findings import check_uri
from overthere.redact import mask
from overthere.showing import printable


@click.command()
@texts_argument
@click.option(
    "--reference", is_flag=True, help="Allow relative references (the rule URI-reference, URL-reference in 1997)."
)
@click.option("--rule", help="Another rule: any of the edition's, IRI or IRI-reference.")
@click.option("--edition", type=click.Choice(list(NAMES)), default="rfc3986", help="By the letter of which document.")
@iri_option
@zone_option
@format_option
@table_options
def command(
    texts: tuple[str, ...],
    reference: bool,
    rule: str | None,
    edition: str,
    iri: bool,
    zone: bool,
    form: str,
    table: Table | None,
) -> None:
    """Say everything that is wrong with each text; exit 1 if anything is."""
    own = edition == "rfc3986"
    if iri:
        if rule is not None or not own:
            raise click.UsageError("--iri is a rule of its own (RFC 3987 2.2), for no other edition")
        rule = "IRI-reference" if reference else "IRI"
    if own or reference:
        # The draft of 1997 speaks of URLs; those before it have no rule for references.
        rule = rule or (("URL-reference" if edition == "url-1997" else "URI-reference") if reference else "URI")
    if table is not None:
        if not own or rule not in ("URI", "URI-reference"):
            raise click.UsageError("--column is checked by the rule URI or URI-reference of RFC 3986")
        by: str = rule
        table.run(texts, lambda c: _checked(c, by, zone))
        return
    output = Output(form)
    for text in inputs(texts, "URIs"):
        try:
            if own and rule in ("URI", "URI-reference", "IRI", "IRI-reference"):
                findings = check_uri(text, rule, zone, limit=1000)
            else:
                findings = check(text, edition, rule=rule)
        except OverthereError as error:
            raise click.UsageError(str(error)) from None
        shown = printable(mask(text))
        count = f"{len(findings)} finding{'s' if len(findings) > 1 else ''}"
        line = f"invalid  {shown}  ({count})" if findings else f"valid    {shown}"
        output.answer(line, {"text": text, "valid": not findings, "findings": [f._asdict() for f in findings]})
        output.bad += bool(findings)
        if not output.jsonl:
            for finding in findings:
                click.echo(InvalidURI(text, finding).figure(width()), err=True)
    output.done()


def _checked(column: Any, rule: str, zone: bool) -> Any:
    """A struct of `valid`, `error` and `error_at`; `parse` says why a row is invalid, which `check` does not."""
    import pyarrow as pa

    parsed = taken(columns.parse(column, (), rule, zone=zone))
    kinds, places = parsed.flatten()
    null = parsed.is_null()
    valid = compute().if_else(null, None, kinds.is_null())
    return pa.StructArray.from_arrays([valid, kinds, places], ["valid", "error", "error_at"], mask=null)
