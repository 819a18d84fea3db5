"""The page of what `overthere broken` finds, kind by kind, and of what it does not judge."""

from __future__ import annotations

from overthere.broken.model import KINDS, PASSED

HEAD = """\
# What can be wrong with a link

Every finding of `overthere broken` has one of these kinds; "…" is what it is about. The table is `KINDS` in
`src/overthere/broken/model.py`; this page is written by `make docs`.

- error: it leads nowhere, and the check fails.
- warning: it leads somewhere, and should be written otherwise; or a server would not say.
- note: nobody knows, or a server does it right anyway. `--notes` prints them.
"""
PASSED_HEAD = """\
## What is not judged

The summary counts these, and nothing is found:
"""


def page() -> str:
    lines = [HEAD]
    for level in ("error", "warning", "note"):
        lines += [f"## {level.capitalize()}", "", "| Kind | What is said | Document |", "|---|---|---|"]
        for kind, row in KINDS.items():
            if row.level == level:
                lines.append(f"| `{kind}` | {row.words.replace('{it}', '…')} | {row.source} |")
        lines.append("")
    lines += [PASSED_HEAD, *(f"- {words}" for words in dict.fromkeys(PASSED.values()))]
    return "\n".join(lines) + "\n"
