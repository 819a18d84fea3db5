"""overthere schemes: the table of the known schemes, or the page of one."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import click
from rich import box
from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from overthere.cli.common import format_option, width
from overthere.cli.styles import HEADING, SIDE
from overthere.ground.display import printable
from overthere.ground.errors import OverthereError
from overthere.schemes import Registry
from overthere.schemes.iana import REGISTRY_DATE, registrations
from overthere.schemes.page import page

_READINGS = {"url-1994": "1994", "rfc1738": "RFC 1738", "rfc3986": "today"}


@click.command()
@click.argument("names", nargs=-1, metavar="[NAME...]")
@click.option("--all", "everything", is_flag=True, help="Also list every name in IANA's registry.")
@format_option
def command(names: tuple[str, ...], everything: bool, form: str) -> None:
    """List the schemes: defining documents, port, status in IANA's registry.

    With NAME, show everything about that scheme: rules, parts, normal form, examples. Exit 1 if it is neither known nor
    registered.
    """
    console = Console(width=width(), highlight=False, markup=False)
    registry = Registry.default()
    if names:
        try:
            pages = [page(registry.scheme(name)) for name in names]
        except OverthereError as error:
            raise click.UsageError(str(error)) from None
    else:
        pages = [_row(name) for name in (sorted({*registry, *registrations()}) if everything else registry)]
    if form == "jsonl":
        for scheme_page in pages:
            click.echo(json.dumps(scheme_page))
    elif names:
        for scheme_page in pages:
            _print_page(console, scheme_page)
    else:
        _print_table(console, pages)
    if names and not all(page["known"] or page["status"] != "not registered" for page in pages):
        raise SystemExit(1)


def _row(name: str) -> dict[str, Any]:
    """Return the page of a scheme; for a broken claim, a row with the error."""
    try:
        return page(Registry.default().scheme(name))
    except OverthereError as error:
        return {"scheme": name, "title": str(error), "status": "error"}


def _print_table(console: Console, pages: list[dict[str, Any]]) -> None:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1))
    table.add_column("scheme", no_wrap=True, style=HEADING)
    table.add_column("port", justify="right", no_wrap=True)
    table.add_column("title", ratio=2)
    wide = console.width >= 100  # in fewer columns the titles are not readable next to these
    if wide:
        table.add_column("1994", no_wrap=True)
        table.add_column("RFC 1738", ratio=1)
    table.add_column("today", ratio=1)
    table.add_column("IANA", no_wrap=True)
    for row in pages:
        documents = row.get("documents", {})
        before = ("yes" if "url-1994" in documents else "", documents.get("rfc1738", "").removeprefix("RFC 1738 "))
        table.add_row(
            row["scheme"], str(row.get("port", "")), Text(printable(row["title"])), *(before if wide else ()),
            documents.get("rfc3986", row.get("reference", "")), row["status"],
        )  # fmt: skip
    console.print(table)


def _print_page(console: Console, page: dict[str, Any]) -> None:
    console.print(Text(f"{page['scheme']}  {printable(page['title'])}", style=HEADING))
    for name, value in _facts(page):
        line = Text(f"  {name:<13} ", style=SIDE)
        line.append(printable(value), style="default not dim")
        console.print(line)
    for name, rules in page.get("rules", {}).items():
        console.print(Text(f"\n  Rules, {_READINGS[name]}", style=HEADING))
        for rule in rules:
            console.print(Padding(Text(rule), (0, 0, 0, 4), expand=False))
    _section(
        console,
        "Equivalent spellings (RFC 3986 6.2.3)",
        [f"{rule['what']} ({rule['source']})" for rule in page.get("normal_form", ())],
    )
    _section(console, "Examples", list(_examples(page)))
    _section(console, "Notes", page.get("notes", []))
    console.print()


def _facts(page: dict[str, Any]) -> Iterator[tuple[str, str]]:
    reference = f", {page['reference']}" if "reference" in page else ""
    yield "IANA", f"{page['status']}{reference} (registry of {REGISTRY_DATE})"
    for name, document in page.get("documents", {}).items():
        yield _READINGS[name], document
    if "port" in page:
        yield "port", str(page["port"])
    if page["known"]:
        yield "parts", ", ".join(page["locator"]["parts"])
        kinds = [kind for kind in ("hierarchical", "interactive") if page[kind]]
        yield "kind", " and ".join(kinds) or "neither hierarchical nor interactive"
    else:
        yield "known here", "name only: read by the generic syntax (RFC 3986 3)"
    if "locates_nothing" in page:
        yield "retrieval", f"none: {page['locates_nothing']}"
    if "unspoken" in page:
        yield "retrieval", f"not here: {page['unspoken']}"


def _examples(page: dict[str, Any]) -> Iterator[str]:
    for example in page.get("examples", ()):
        yield f"{example['uri']}  ({example['source']})" + (f": {example['note']}" if example["note"] else "")
        yield f"  {example['locator']}"


def _section(console: Console, title: str, lines: list[str]) -> None:
    if lines:
        console.print(Text(f"\n  {title}", style=HEADING))
    for line in lines:
        inner = len(line) - len(line.lstrip(" "))
        console.print(Padding(Text(printable(line.lstrip(" "))), (0, 0, 0, 4 + inner), expand=False))
