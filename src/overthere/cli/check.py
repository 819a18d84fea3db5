"""overthere check: every finding on each text."""

from __future__ import annotations

import os
from typing import Any

import click

from overthere.cli.common import LISTED, Output, all_option, format_option, inputs, texts_argument
from overthere.cli.printing import figures, print_message
from overthere.cli.reading_options import iri_option, zone_option
from overthere.cli.table_options import Table, table_options
from overthere.editions import NAMES, check
from overthere.ground.display import printable
from overthere.ground.errors import Finding, InvalidURI, OverthereError
from overthere.ground.late_imports import default_registry
from overthere.ground.redact import mask
from overthere.values.findings import check_uri
from overthere.values.uri import URIReference


@click.command()
@texts_argument
@click.option(
    "--reference", is_flag=True, help="Allow relative references (the rule URI-reference, URL-reference in 1997)."
)
@click.option("--rule", help="Check by another rule: any of the edition, or IRI or IRI-reference.")
@click.option("--edition", type=click.Choice(list(NAMES)), default="rfc3986", help="Which specification to follow.")
@click.option(
    "--host-name",
    "names",
    is_flag=True,
    help="Also report host names that are not valid in the DNS (RFC 1123 2.1, RFC 5890).",
)
@click.option(
    "--scheme", is_flag=True, help="Also fail texts that break their scheme's own rules (otherwise only a note)."
)
@click.option(
    "--web", is_flag=True, help="Report whether each text is an http(s) address that today's servers take, alone."
)
@all_option
@iri_option
@zone_option
@format_option
@table_options
def command(
    texts: tuple[str, ...], reference: bool, rule: str | None, edition: str, iri: bool, zone: bool, scheme: bool,
    names: bool, web: bool, every: bool, form: str, table: Table | None,
) -> None:  # fmt: skip
    """Report everything that is wrong with each text; exit 1 if anything is.

    A valid URI that breaks its own scheme's rules, such as http:/example.com, gets a note.
    """
    is_rfc3986 = edition == "rfc3986"
    if web:
        if reference or rule or iri or zone or scheme or names or not is_rfc3986 or table is not None:
            raise click.UsageError("--web has its own rules: it goes with --all and --format alone")
        _check_web(texts, Output(form), None if every else LISTED)
        return
    rule = _rule(rule, edition, reference, iri)
    is_whole = rule in (None, "URI", "URI-reference", "URL-reference")
    if scheme and not is_whole:
        raise click.UsageError("--scheme needs a rule for whole URIs")
    if table is not None:
        if not is_rfc3986 or rule not in ("URI", "URI-reference"):
            raise click.UsageError("with --column, the rule must be URI or URI-reference of RFC 3986")
        if scheme and zone:
            raise click.UsageError("--scheme does not go with --zone: no scheme allows zone identifiers (RFC 6874)")
        by: str = rule
        table.run(texts, lambda c: _check_column(c, by, zone, names, scheme))
        return
    output, limit = Output(form), None if every else LISTED
    for text in inputs(texts, "URIs"):
        try:
            if is_rfc3986 and rule in ("URI", "URI-reference", "IRI", "IRI-reference"):
                findings = check_uri(text, rule, zone, limit=limit)
            else:
                findings = check(text, edition, rule=rule, limit=limit)
        except OverthereError as error:
            raise click.UsageError(str(error)) from None
        notes = _of_its_scheme(text, edition, zone, limit) if is_whole and not findings else []
        if scheme:
            findings, notes = findings or notes, []
        invalid = bool(findings)
        if names and not findings:
            from overthere.iri import IRIReference

            findings = IRIReference(text, zone=zone).check_host_name()
        _print_answer(output, text, invalid, findings, notes)
    output.finish()


def _check_web(texts: tuple[str, ...], output: Output, limit: int | None) -> None:
    from overthere.security.web_addresses import web_address

    for text in inputs(texts, "URIs"):
        problems = list(web_address(text).problems)
        _print_answer(output, text, bool(problems), problems[:limit], [])
    output.finish()


def _rule(rule: str | None, edition: str, reference: bool, iri: bool) -> str | None:
    """The rule that the options name; None for the edition's own rule for URIs."""
    if iri:
        if rule is not None or edition != "rfc3986":
            raise click.UsageError("--iri does not go with --rule or another edition (RFC 3987 2.2)")
        return "IRI-reference" if reference else "IRI"
    if rule is None and reference:
        # The draft of 1997 speaks of URLs; those before it have no rule for references.
        return "URL-reference" if edition == "url-1997" else "URI-reference"
    return rule or ("URI" if edition == "rfc3986" else None)


def _print_answer(output: Output, text: str, invalid: bool, findings: list[Finding], notes: list[Finding]) -> None:
    """Print the line of a text, and a figure for each finding."""
    text_shown = printable(mask(text))
    if findings:
        line = f"{'invalid' if invalid else 'name   '}  {text_shown}  ({_count(findings, 'finding')})"
    else:
        line = f"valid    {text_shown}" + (f"  ({_count(notes, 'note')})" if notes else "")
    details = {"findings": [f._asdict() for f in findings], "notes": [f._asdict() for f in notes]}
    output.answer(line, {"text": text, "valid": not invalid, **details})
    output.bad += bool(findings)
    if not output.jsonl:
        of_notes = [note._replace(message=f"note: {note.message}") for note in notes]
        for figure in (*figures(text, findings), *figures(text, of_notes, "note")):
            click.echo(figure, err=True)
        if findings and findings[0].kind == "scheme-missing":
            _suggest(text)


def _count(findings: list[Finding], noun: str) -> str:
    is_limited = findings[-1].kind == "more"
    count = len(findings) - is_limited
    return f"{'the first ' if is_limited else ''}{count} {noun}{'s' if count > 1 else ''}"


def _of_its_scheme(text: str, edition: str, zone: bool, limit: int | None) -> list[Finding]:
    """Findings by the scheme's own rules; zone identifiers are ignored, because no scheme defines them."""
    value, begin, end = URIReference(text, zone=True) if zone else None, len(text), len(text)
    if value is not None and value.zone is not None:
        end = text.index("]")
        begin = text.index("%", text.index("["))
    findings = default_registry().check(text[:begin] + text[end:], edition, limit)

    def shift(at: int) -> int:
        return at if at <= begin else at + end - begin

    return [finding._replace(start=shift(finding.start), end=shift(finding.end)) for finding in findings]


def _suggest(text: str) -> None:
    """Suggest the URI with the scheme that people leave out (RFC 3986 4.5), or how to read a file."""
    from overthere.repairs import repair

    if os.path.isfile(text):
        print_message(f"{printable(text)} is a file; to check its lines: overthere check < {printable(text)}")
        return
    try:
        repaired = repair(text, scheme="http")
    except InvalidURI:
        return
    print_message(f"did you mean {printable(mask(str(repaired)))}?  A URI begins with its scheme (RFC 3986 4.5)")


def _check_column(column: Any, rule: str, zone: bool, names: bool, scheme: bool) -> Any:
    """Return a struct of `valid`, `error` and `error_at`, with the reasons of `parse`, which `check` does not have."""
    import pyarrow as pa

    from overthere import columns
    from overthere.columns.rowwise import compute, to_pyarrow

    parsed = to_pyarrow(columns.parse(column, (), rule, zone=zone))
    kinds, places = parsed.flatten()
    null = parsed.is_null()
    valid = compute().if_else(null, None, kinds.is_null())
    if scheme:
        good = to_pyarrow(columns.check(column, rule, scheme=True))
        rows = compute().and_(valid, compute().invert(good))
        kinds, places = _with_schemes(to_pyarrow(column), kinds, places, rows)
        valid = good
    if names:
        named = to_pyarrow(columns.check_host_name(column))
        _, name_kinds, at = named.flatten()
        places = compute().coalesce(places, at)
        text = compute().coalesce(kinds.cast(pa.string()), name_kinds.cast(pa.string()))
        kinds = text.dictionary_encode()
    return pa.StructArray.from_arrays([valid, kinds, places], ["valid", "error", "error_at"], mask=null)


def _with_schemes(column: Any, kinds: Any, places: Any, rows: Any) -> tuple[Any, Any]:
    """Return kinds and places, with those of the `rows` that violate their schemes."""
    import pyarrow as pa

    from overthere.columns.rowwise import compute

    findings = [default_registry().check(text, limit=1)[0] for text in column.filter(rows).to_pylist()]
    new = pa.array([f.kind for f in findings], pa.string()), pa.array([f.start for f in findings], places.type)
    kinds = compute().replace_with_mask(kinds.cast(pa.string()), rows, new[0]).dictionary_encode()
    return kinds, compute().replace_with_mask(places, rows, new[1])
