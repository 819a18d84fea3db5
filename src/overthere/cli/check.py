"""overthere check: every finding on each text."""

from __future__ import annotations

import click

from overthere.cli.common import Output, format_option, inputs, texts_argument, width
from overthere.editions import check
from overthere.errors import InvalidURI, OverthereError, printable
from overthere.findings import check_uri
from overthere.redact import mask


@click.command()
@texts_argument
@click.option("--reference", is_flag=True, help="Allow relative references (the rule URI-reference).")
@click.option("--rule", help="Another rule: any of RFC 3986 Appendix A, IRI or IRI-reference.")
@click.option("--zone", is_flag=True, help="Read zone identifiers (RFC 6874).")
@format_option
def command(texts: tuple[str, ...], reference: bool, rule: str | None, zone: bool, form: str) -> None:
    """Say everything that is wrong with each text; exit 1 if anything is."""
    output = Output(form)
    rule = rule or ("URI-reference" if reference else "URI")
    for text in inputs(texts, "URIs"):
        try:
            if rule in ("URI", "URI-reference", "IRI", "IRI-reference"):
                findings = check_uri(text, rule, zone, limit=1000)
            else:
                findings = check(text, rule=rule)
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
