"""overthere split: the components of each text (RFC 3986 3, Appendix B)."""

from __future__ import annotations

import click

from overthere import columns
from overthere.cli.common import Output, format_option, inputs, texts_argument
from overthere.cli.reading import Reading, reading_options
from overthere.cli.tables import Table, table_options
from overthere.editions import edition
from overthere.errors import InvalidURI
from overthere.kernel.reference import split, split_authority
from overthere.redact import mask
from overthere.showing import printable

_COMPONENTS = ("scheme", "authority", "userinfo", "host", "port", "path", "query", "fragment")
_DOMAIN = ("subdomain", "registrable_domain", "public_suffix")


@click.command()
@texts_argument
@click.option(
    "--component",
    "names",
    multiple=True,
    type=click.Choice(_COMPONENTS + _DOMAIN),
    help=f"Only this component, or part of the host's name by publicsuffix.org's list.  Repeat.  "
    f"Without: {', '.join(columns.SIX)}.",
)
@click.option("--strict", is_flag=True, help="Refuse what is no URI.")
@click.option("--reference", is_flag=True, help="With --strict: allow relative references.")
@reading_options()
@format_option
@table_options
def command(
    texts: tuple[str, ...],
    names: tuple[str, ...],
    strict: bool,
    reference: bool,
    reading: Reading,
    form: str,
    table: Table | None,
) -> None:
    """Take each text apart; any text has components (Appendix B), those that are undefined are not shown."""
    if reference and not strict:
        raise click.UsageError("--reference is for --strict; without it any text is split")
    if reading.is_older:
        if names or strict:
            raise click.UsageError("--component and --strict are for RFC 3986: an edition names its own parts")
        _by_edition(reading.by, texts, form)
        return
    if (reading.zone or reading.iri) and not strict:
        raise click.UsageError(f"--{'zone' if reading.zone else 'iri'} is for --strict; without it any text is split")
    names = tuple(dict.fromkeys(names)) or columns.SIX
    if table is not None:
        if told := set(names) & set(_DOMAIN):
            raise click.UsageError(f"--column takes components, not {', '.join(sorted(told))}")
        table.refuse(iri=reading.iri)
        rule = "URI-reference" if reference else "URI"
        table.run(
            texts, lambda c: columns.parse(c, names, rule, zone=reading.zone) if strict else columns.split(c, names)
        )
        return
    output = Output(form)
    for text in inputs(texts, "URIs"):
        try:
            if strict:
                reading.kind(relative=reference)(text, zone=reading.zone)
        except InvalidURI as error:
            output.refuse(text, error)
            continue
        parts = split(text)
        userinfo, host, port = (None,) * 3 if parts.authority is None else split_authority(parts.authority)
        whole = {**parts._asdict(), "userinfo": userinfo, "host": host, "port": port}
        if set(names) & set(_DOMAIN):
            whole |= _domain(host)
        chosen = {name: whole[name] for name in names}
        lines = [f"  {name:<9}  " + (value or '""') for name, value in chosen.items() if value is not None]
        output.answer("\n".join([printable(mask(text)), *lines]), {"text": text, **chosen})
    output.done()


def _domain(host: str | None) -> dict[str, str | None]:
    from overthere.hosts.domains import suffix_list

    try:
        cut = suffix_list().cut(host) if host else None
    except ModuleNotFoundError as error:
        raise click.ClickException(str(error)) from None
    return dict.fromkeys(_DOMAIN) if cut is None else dict(cut._asdict())


def _by_edition(by: str, texts: tuple[str, ...], form: str) -> None:
    """The parts by the names of the document's own rules."""
    output = Output(form)
    for text in inputs(texts, "URIs"):
        try:
            parts = edition(by).parts(text)
        except InvalidURI as error:
            output.refuse(text, error)
            continue
        said = {name: value for name, value in parts.items() if value is not None}
        width = max(map(len, said))
        lines = [f"  {name:<{width}}  " + (value or '""') for name, value in said.items()]
        output.answer("\n".join([printable(mask(text)), *lines]), {"text": text, "edition": by, **parts})
    output.done()
