"""overthere canonical: canonical forms beyond the ladder, by name or from a TOML file."""

from __future__ import annotations

import click

from overthere.canonical import FORMS, Canonical, Step, raw_uri
from overthere.cli.common import Answer, Output, format_option, texts_argument
from overthere.cli.table_options import Table, table_options
from overthere.ground.display import printable
from overthere.ground.option_files import read_text
from overthere.ground.redact import mask
from overthere.iri import IRI
from overthere.values.uri import URI

_KNOWN_FORMS = f"known: {', '.join(FORMS)}, or a file NAME.toml"


def form_named(name: str) -> Canonical:
    """A named form, or one read from a TOML file.  Raises: UsageError."""
    if name in FORMS:
        return FORMS[name]
    if not name.endswith(".toml"):
        raise click.UsageError(f"unknown form {name!r}: {_KNOWN_FORMS}")
    try:
        return Canonical.from_toml(read_text(name))
    except (OSError, ValueError) as error:
        raise click.UsageError(f"{name}: {error}") from None


@click.command()
@texts_argument
@click.option(
    "--form",
    "names",
    multiple=True,
    help="The name of a form, or a TOML file; several apply in order.  [required, or --idna]",
)
@click.option("--changes", is_flag=True, help="Report each step that changed something, and its risk.")
@click.option("--key", is_flag=True, help="Write the form's comparison key, which may not be a URI (SURT).")
@click.option("--raw", is_flag=True, help="Accept raw text and turn it into URIs first, as Safe Browsing does.")
@click.option("--idna", is_flag=True, help="First convert host names in letters or escapes to A-labels (RFC 5891 4).")
@format_option
@table_options
def command(
    texts: tuple[str, ...], names: tuple[str, ...], changes: bool, key: bool, raw: bool, idna: bool, form: str,
    table: Table | None,
) -> None:  # fmt: skip
    """Write the canonical form of each URI; one a line.

    Ready forms: surt, safe-browsing, w3lib, url-normalize, crawler-commons, tracking.  Exit 1 if a text was not a URI.
    """
    if not names and not idna:
        raise click.UsageError(f"--form is missing: {_KNOWN_FORMS}")
    form_steps = Canonical(Step("host-idna")) if idna else Canonical()
    for name in names:
        form_steps += form_named(name)
    if table is not None:
        table.refuse(changes=changes, raw=raw)
        table.apply(texts, "canonicalize", form_steps, key=key)
        return

    by_letters = Step("host-idna") in form_steps.steps

    def answer(text: str) -> Answer:
        letters = by_letters and not text.isascii()
        uri = raw_uri(text) if raw else IRI(text) if letters else URI(text)
        canonical = form_steps.key(uri) if key else str(form_steps(uri))
        if not changes:
            return Answer(canonical, {"text": text, "canonical": canonical})
        applied = form_steps.changes(uri)
        rows = [
            {"step": item.step.name, "before": item.before, "after": item.after, "breaks": item.step.breaks}
            for item in applied
        ]
        notes = [
            f"  {item.step.name}: {printable(mask(item.after))!r} (may break: {item.step.breaks}; {item.step.source})"
            for item in applied
        ]
        return Answer(canonical, {"text": text, "canonical": canonical, "changes": rows}, notes)

    Output(form).answer_each(texts, "texts", answer)
