"""Parts of the documentation generated from the package: the table of errors, and the figure of the first page."""

from __future__ import annotations

import re
from importlib.resources import files

from overthere import explain
from overthere.ground.errors import KINDS
from overthere.web import drawing

FIRST = "https://example.com:8443/over/there?name=ferret#nose"
"""The URI of docs/index.md."""

ERRORS_HEAD = """\
# Errors

Every finding of `overthere.check` and every `InvalidURI` has one of these kinds.
The table is `KINDS` in `src/overthere/ground/kinds.py`; this page is written by `make docs`.
A text that `URI` rejects may be taken by another call: [which call do I need?](which.md)

```python
>>> from overthere import URI, InvalidURI, check
>>> [finding.kind for finding in check("http://h:8o/a b")]
['port-char', 'space']
>>> try:
...     URI("http://h:8o/")
... except InvalidURI as error:
...     print(error.figure())
http://h:8o/
          ^
a port cannot contain "o" (at 10, in the port; expected a digit; RFC 3986 3.2.3)

```

"""


def errors() -> str:
    lines = [ERRORS_HEAD]
    for kind, row in KINDS.items():
        message = row.message.replace("{it}", "…")
        lines += [f"## {kind}", "", f"{message[0].upper()}{message[1:]}.", ""]
        lines += [f"- Component: {row.component}", f"- Rule: `{row.rule}`", f"- Document: {row.source}"]
        if row.bad:
            lines += [f"- Example: `{visible(row.bad)}`", f"- Correct: `{visible(row.good)}`"]
        lines.append("")
    return "\n".join(lines).rstrip() + "\n"


def visible(text: str) -> str:
    return text.replace("\t", "\\t")


def _colours(colours: dict[str, str], back: str) -> str:
    """Rules for an image, which follows the system; the page around it may not, so it has its own background."""
    rules = [f".c-{name}{{--c:{colours[name]}}}" for name in ("scheme", "authority", "path", "query", "fragment")]
    return f"svg{{background:{back}}}text{{fill:{colours['quiet']}}}{''.join(rules)}"


def figure() -> str:
    """docs/pictures/parts.svg: the figure of RFC 3986 3 for the URI of the first page, in the explainer's colours."""
    drawn = str(drawing.figure(explain(FIRST)))
    sheet = files("overthere.web").joinpath("static", "style.css").read_text()
    light, dark = (dict(re.findall(r"--(\w+): (#[0-9a-f]{6});", part)) for part in sheet.split("@media", 2)[:2])
    style = (
        f"svg{{font:16px monospace}}path{{fill:none;stroke:var(--c);stroke-width:1.5}}.c text{{fill:var(--c)}}"
        f".leader{{stroke-width:1;stroke-dasharray:2 2}}{_colours(light, '#fff')}"
        f"@media(prefers-color-scheme:dark){{{_colours(light | dark, '#131416')}}}"
    )
    head, _, tail = drawn.partition(">")
    return f'{head} xmlns="http://www.w3.org/2000/svg"><style>{style}</style>{tail}\n'
