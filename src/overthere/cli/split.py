"""overthere split: the components of each text (RFC 3986 3, Appendix B)."""

from __future__ import annotations

import re
from typing import Any

import click

from overthere.cli.common import Answer, Output, format_option, texts_argument
from overthere.cli.reading_options import Reading, reading_options
from overthere.cli.table_options import Table, table_options
from overthere.editions import edition
from overthere.ground.display import printable
from overthere.ground.redact import mask
from overthere.kernel.reference import SIX, split, split_authority

_COMPONENTS = ("scheme", "authority", "userinfo", "host", "port", "path", "query", "fragment")
_DOMAIN = ("subdomain", "registrable_domain", "public_suffix")
_SEGMENT = re.compile("segment:(-?[1-9][0-9]{0,2})")


class _Name(click.Choice[str]):
    """A component, or a segment by its number."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        return value if _SEGMENT.fullmatch(value) else super().convert(value, param, ctx)


@click.command()
@texts_argument
@click.option(
    "--component",
    "names",
    multiple=True,
    type=_Name((*_COMPONENTS, "segments", *_DOMAIN)),
    help=f"Only this component, or part of the host's name by publicsuffix.org's list.  segments: those of the path, "
    f"separated by tabs; segment:1 is the first, segment:-1 the last.  Repeat.  "
    f"Without: {', '.join(SIX)}.  With a single one, print its values, one a line, empty if undefined.",
)
@click.option("--strict", is_flag=True, help="Reject texts that are not valid URIs.")
@click.option("--reference", is_flag=True, help="With --strict: allow relative references.")
@reading_options()
@format_option
@table_options
def command(
    texts: tuple[str, ...], names: tuple[str, ...], strict: bool, reference: bool, reading: Reading, form: str,
    table: Table | None,
) -> None:  # fmt: skip
    """Split each text; any text has components (Appendix B). Undefined ones are not shown."""
    if reference and not strict:
        raise click.UsageError("--reference needs --strict; without it any text is split")
    if reading.is_older:
        if names or strict:
            raise click.UsageError("--component and --strict need RFC 3986; other editions name their own parts")
        _by_edition(reading.by, texts, form)
        return
    if (reading.zone or reading.iri) and not strict:
        raise click.UsageError(f"--{'zone' if reading.zone else 'iri'} needs --strict; without it any text is split")
    chosen = bool(names)
    names = tuple(dict.fromkeys(names)) or SIX
    if table is not None:
        table.refuse(iri=reading.iri)
        rule = "URI-reference" if reference else "URI"
        if set(names) & set(_DOMAIN):
            _domain(None)  # report a missing package first
        table.run(texts, lambda c: _columns(c, names, rule if strict else None, reading.zone))
        return

    def answer(text: str) -> Answer:
        if strict:
            reading.kind(relative=reference)(text, zone=reading.zone)
        parts = split(text)
        userinfo, host, port = (None,) * 3 if parts.authority is None else split_authority(parts.authority)
        named = {**parts._asdict(), "userinfo": userinfo, "host": host, "port": port}
        if set(names) & set(_DOMAIN):
            named |= _domain(host)
        segments = parts.path.removeprefix("/").split("/") if parts.path else []
        selected: dict[str, Any] = {name: named[name] if name in named else _segment(segments, name) for name in names}
        printed = {name: "\t".join(value) if isinstance(value, list) else value for name, value in selected.items()}
        if chosen and len(names) == 1:  # data for the next program: one value per line, an empty line for a missing one
            return Answer(printed[names[0]] or "", {"text": text, **selected})
        lines = [f"  {name:<9}  " + (printed[name] or '""') for name in names if selected[name] not in (None, [])]
        return Answer("\n".join([printable(mask(text)), *lines]), {"text": text, **selected})

    Output(form).answer_each(texts, "URIs", answer)


def _segment(segments: list[str], name: str) -> list[str] | str | None:
    """The segments, or the one of that number; None if the path has fewer."""
    if name == "segments":
        return segments
    number = int(name.partition(":")[2])
    place = number - 1 if number > 0 else len(segments) + number
    return segments[place] if 0 <= place < len(segments) else None


def _columns(column: Any, names: tuple[str, ...], rule: str | None, zone: bool) -> Any:
    """A struct of components and parts of the host's name, in the order of `names`."""
    from overthere import columns

    components = [name for name in names if name in _COMPONENTS]
    paths = [name for name in names if name.startswith("segment")]
    if (paths or not components) and "path" not in components:
        components.append("path")
    struct = columns.split(column, components) if rule is None else columns.parse(column, components, rule, zone=zone)
    if components == list(names):
        return struct
    import pyarrow as pa

    from overthere.columns.rowwise import compute, to_pyarrow

    flat_column = to_pyarrow(struct)
    fields = dict(zip([field.name for field in flat_column.type], flat_column.flatten(), strict=True))
    valid = fields["error"].is_null() if rule else pa.array([True] * len(flat_column))
    for name in set(names) & set(_DOMAIN):
        part = to_pyarrow(getattr(columns, name)(column)).cast(pa.string())
        fields[name] = compute().if_else(valid, part, None)
    for name in paths:
        fields[name] = _segment_column(fields["path"], name)
    labels = [*names, *(name for name in fields if name not in (*names, *_COMPONENTS))]
    return pa.StructArray.from_arrays([fields[name] for name in labels], labels, mask=flat_column.is_null())


def _segment_column(path: Any, name: str) -> Any:
    """Return `_segment` of each row; null without a path."""
    import pyarrow as pa

    from overthere.columns.rowwise import compute

    pc = compute()
    path = pc.cast(path, "large_string")
    rootless = pc.replace_substring_regex(path, "^/", "")
    if name == "segments":
        parts = pc.split_pattern(rootless, "/")
        return pc.if_else(pc.equal(path, ""), pa.scalar([], parts.type), parts)
    number = int(name.partition(":")[2])
    skipped = f"(?:[^/]*/){{{number - 1}}}" if number > 0 else f"(?:/[^/]*){{{-number - 1}}}"
    before, after = (f"^{skipped}", "(?:/|$)") if number > 0 else ("(?:^|/)", f"{skipped}$")
    part = pc.struct_field(pc.extract_regex(rootless, f"(?s){before}(?P<part>[^/]*){after}"), "part")
    return pc.if_else(pc.equal(path, ""), None, part)


def _domain(host: str | None) -> dict[str, str | None]:
    from overthere.values.hosts.domains import suffix_list

    try:
        rules = suffix_list()
    except ModuleNotFoundError as error:
        raise click.ClickException(str(error)) from None
    domain = rules.split(host) if host else None
    return dict.fromkeys(_DOMAIN) if domain is None else dict(domain._asdict())


def _by_edition(by: str, texts: tuple[str, ...], form: str) -> None:
    """The parts by the names of the document's own rules."""

    def answer(text: str) -> Answer:
        parts = edition(by).parts(text)
        defined = {name: value for name, value in parts.items() if value is not None}
        width = max(map(len, defined))
        lines = [f"  {name:<{width}}  " + (value or '""') for name, value in defined.items()]
        return Answer("\n".join([printable(mask(text)), *lines]), {"text": text, "edition": by, **parts})

    Output(form).answer_each(texts, "URIs", answer)
