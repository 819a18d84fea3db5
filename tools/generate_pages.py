"""The documentation pages that are derived: the table of errors."""

from __future__ import annotations

from overthere.ground.errors import KINDS

ERRORS_HEAD = """\
# Errors

Every finding of `overthere.check` and every `InvalidURI` has one of these kinds.
The table is `KINDS` in `src/overthere/ground/kinds.py`; this page is written by `make docs`.

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
