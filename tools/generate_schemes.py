"""docs/schemes.md: every built-in scheme, with the plans of its examples."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from overthere.access import plan
from overthere.ground.display import printable
from overthere.ground.errors import OverthereError
from overthere.schemes import Registry
from overthere.schemes.iana import REGISTRY_DATE
from overthere.schemes.page import page
from overthere.schemes.registry import BUILT_IN

HEAD = """\
# The schemes

For each scheme: the parts of its URIs, the documents that define it, equivalent spellings, and the plan of opening its
examples. `make docs` writes this page from the schemes themselves; `overthere schemes`, `overthere schemes NAME` and
`overthere plan URI` show the same.

```python
>>> from overthere import URI, plan
>>> there = URI("ftp://myname@host.dom/%2Fetc/motd").locator
>>> there.directories, there.name
(('/etc',), 'motd')
>>> from dataclasses import replace
>>> str(replace(there, name="a b").uri())
'ftp://myname@host.dom/%2Fetc/a%20b'
>>> from overthere import edition
>>> edition("url-1994").locator("ftp://h/pub/a!I").type, edition("rfc1738").locator("ftp://h/pub/a!I").name
('I', 'a!I')

```

The editions of 1994 and of RFC 1738 read the schemes that they define by their own rules, and others by the generic
syntax. The drafts of 1997 and 2003 and RFC 3986 define no schemes: there a scheme's current document applies.
"""

READINGS = {"url-1994": "1994", "rfc1738": "RFC 1738", "rfc3986": "today"}


def schemes() -> str:
    """The page."""
    registry = Registry.default()
    pages = [page(registry.scheme(name)) for name in BUILT_IN]
    return "\n".join([HEAD, *_table(pages), *(line for page in pages for line in _section(page)), ""])


def _table(pages: list[dict[str, Any]]) -> Iterator[str]:
    yield f"The column IANA is the status in IANA's registry of {REGISTRY_DATE}."
    yield ""
    yield "| scheme | port | 1994 | RFC 1738 | today | IANA |"
    yield "|---|---|---|---|---|---|"
    for section in pages:
        documents = section["documents"]
        cells = [
            f"[{section['scheme']}](#{section['scheme'].replace('.', '')})",
            str(section.get("port", "")),
            *(
                documents.get(name, "").removeprefix("RFC 1738 ") if name == "rfc1738" else documents.get(name, "")
                for name in READINGS
            ),
            section["status"],
        ]
        yield f"| {' | '.join(cells)} |"
    yield ""


def _section(page: dict[str, Any]) -> Iterator[str]:
    yield f"## {page['scheme']}"
    yield ""
    kinds = [kind for kind in ("hierarchical", "interactive") if page[kind]]
    parts = ", ".join(f"`{part}`" for part in page["locator"]["parts"])
    reference = f", {page['reference']}" if "reference" in page else ""
    kind = f" {' and '.join(kinds).capitalize()}." if kinds else ""
    yield f"{page['title']}. IANA: {page['status']}{reference}.{kind}"
    yield ""
    yield f"`{page['locator']['type']}`: {parts}"
    yield ""
    for name, rules in page.get("rules", {}).items():
        yield f"Rules, {READINGS[name]} ({page['documents'][name]}):"
        yield from ("", "```abnf", *rules, "```", "")
    if "normal_form" in page:
        yield "Equivalent spellings:"
        yield from ("", *(f"- {rule['what']} ({rule['source']})" for rule in page["normal_form"]), "")
    for example in page.get("examples", ()):
        note = f": {example['note']}" if example["note"] else ""
        yield f"`{example['uri']}` ({example['source']}){note}"
        yield from ("", "```text", example["locator"], *_plan(example["uri"]), "```", "")
    if "notes" in page:
        yield from (*(f"- {note}" for note in page["notes"]), "")


def _plan(uri: str) -> list[str]:
    try:
        return [printable(line) for line in plan(uri).render(110).split("\n")[1:]]
    except OverthereError as error:
        return [str(error)]
