"""Functions that a value, a verb and a column share, and docs/reference/everything.md, which is generated from them.

The page also lists what other libraries call it, from the tables that the hints of AttributeErrors use.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

import overthere
from overthere import columns
from overthere.cli.app import ELSEWHERE as VERBS_ELSEWHERE
from overthere.values.conveniences import ELSEWHERE as MEMBERS_ELSEWHERE

REFERENCE = Path(__file__).resolve().parent.parent / "docs" / "reference"


class Alike(NamedTuple):
    """One thing that can be done in several ways."""

    what: str
    values: tuple[str, ...]
    """Names below `overthere`."""
    verb: str = ""
    column: str = ""
    """A function of `overthere.columns`."""


ALIKE = (
    Alike("find all that is wrong", ("check", "URI.can_parse", "URI.parse"), "check", "check"),
    Alike("see the parts, drawn", ("explain",), "explain"),
    Alike("split into components", ("URI",), "split", "parse"),
    Alike("put together from parts", ("URI.build",), "build"),
    Alike("resolve a reference", ("URI.join", "URIReference.resolve"), "resolve", "resolve"),
    Alike("find the shortest reference", ("URI.relate",), "relate", "relate"),
    Alike("normalise", ("URI.normalize", "URI.changes"), "normalize", "normalize"),
    Alike("compare", ("URI.equivalent", "lowest_rung"), "compare", "lowest_rung"),
    Alike("make a canonical form", ("canonical.Canonical",), "canonical", "canonicalize"),
    Alike("repair", ("repair",), "repair", "repair"),
    Alike("read what a person typed", ("typed",)),
    Alike("judge a web address", ("web_address",), "check", "check_host_name"),
    Alike("percent-encode data", ("encode",), "encode", "encode"),
    Alike("decode", ("decode", "decode_bytes"), "decode", "decode"),
    Alike("read a query parameter", ("URI.parameters",), "parameters", "parameter"),
    Alike("set query parameters", ("URI.with_parameters",), "parameters", "with_parameters"),
    Alike("add query parameters", ("URI.add_parameters",), "parameters", "add_parameters"),
    Alike("remove query parameters", ("URI.without_parameters",), "parameters", "without_parameters"),
    Alike("find the registrable domain", ("URI.registrable_domain",), "split", "registrable_domain"),
    Alike("find the public suffix", ("URI.public_suffix",), "split", "public_suffix"),
    Alike("change an IRI to a URI", ("IRIReference.to_uri",), "normalize", "to_uri"),
    Alike("expand or match a template", ("Template",), "template"),
    Alike("see what opening would do", ("plan",), "plan"),
    Alike("open", ("open", "aopen"), "get"),
    Alike("find suspicious things", ("audit",), "audit"),
    Alike("find URIs in text", ("find",), "find"),
    Alike("extract links", ("links.extract", "links.batches"), "links"),
    Alike("find broken links", ("broken.check",), "broken"),
    Alike("look up a scheme", ("scheme",), "schemes"),
    Alike("compare the five documents", ("edition",), "editions"),
)


def see_also(name: str) -> str:
    """The other ways to do what `overthere.NAME` does, as reStructuredText, or ""."""
    short = name.removeprefix("overthere.")
    for entry in ALIKE:
        if short in entry.values:
            links = [f":obj:`~overthere.{other}`" for other in entry.values if other != short]
            links += [f":doc:`overthere {entry.verb} </cli/{entry.verb}>`"] * bool(entry.verb)
            links += [f":func:`overthere.columns.{entry.column}`"] * bool(entry.column)
            return f"See also: {', '.join(links)}" if links else ""
    return ""


def _elsewhere() -> Iterator[tuple[str, str]]:
    for name, place in overthere._ELSEWHERE.items():
        yield name, f"`overthere.{place}`"
    for name, place in MEMBERS_ELSEWHERE.items():
        yield name, f"`uri.{place}`" if re.fullmatch(r"[\w.]+(\(.*\))?", place) and place != "str()" else place
    for name, place in VERBS_ELSEWHERE.items():
        yield f"{name} (command line)", f"`overthere {place}`"


@cache
def _pages() -> dict[str, str]:
    """The page of the reference that has a name."""
    page_of: dict[str, str] = {}
    for page in sorted(REFERENCE.glob("*.md")):
        for name in re.findall(r"^\.\. auto\w+:: overthere\.([\w.]+)", page.read_text("utf-8"), re.MULTILINE):
            page_of.setdefault(name, page.name)
    return page_of


def _link(name: str) -> str:
    """Raises: KeyError for a name that no page of the reference has."""
    return f"[`{name}`]({_pages()[name]})"


def page() -> str:
    rows = sorted({(name, replacement.replace("str()", "`str(uri)`")) for name, replacement in _elsewhere()})
    return (
        "# Everything by name\n\n"
        "How the same is called in Python, on the command line and in columns, and what names of other libraries are "
        "here. (`make docs` writes this page from the tables of hints.)\n\n"
        "## The same to a value, on the command line, in a column\n\n"
        "| to | in Python | verb | in a column |\n|---|---|---|---|\n"
        + "".join(
            f"| {entry.what} | {', '.join(_link(name) for name in entry.values)} "
            f"| {f'[{entry.verb}](../cli/{entry.verb}.md)' if entry.verb else ''} "
            f"| {f'[`{getattr(columns, entry.column).__name__}`](columns.md)' if entry.column else ''} |\n"
            for entry in ALIKE
        )
        + "\n## What other libraries call it\n\n"
        "Names of urllib, yarl, httpx, furl, w3lib, rfc3986, hyperlink, werkzeug, Starlette, JavaScript and others. In "
        "Python an AttributeError says the same; `uri` is a `URI`.\n\n"
        "| elsewhere | here |\n|---|---|\n" + "".join(f"| `{name}` | {replacement} |\n" for name, replacement in rows)
    )
