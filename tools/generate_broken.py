"""docs/broken-kinds.md: the kinds of findings of `overthere broken`, and the links that it does not judge."""

from __future__ import annotations

from overthere.broken.model import KINDS, PASSED

HEAD = """\
# Kinds of broken links

Every finding of `overthere broken` has one of these kinds; "…" is its subject. The table is `KINDS` in
`src/overthere/broken/model.py`; `make docs` writes this page.

- error: the link is broken, and the check fails.
- warning: the link works but should be written differently, or the server gave no clear answer.
- note: the result is unknown, or servers handle it correctly anyway. `--notes` prints them.
"""
PASSED_HEAD = """\
## Not judged

The summary counts these; they cause no findings:
"""


def page() -> str:
    lines = [HEAD]
    for level in ("error", "warning", "note"):
        lines += [f"## {level.capitalize()}", "", "| Kind | Message | Document |", "|---|---|---|"]
        for kind, row in KINDS.items():
            if row.level == level:
                lines.append(f"| `{kind}` | {row.words.replace('{it}', '…')} | {row.source} |")
        lines.append("")
    lines += [PASSED_HEAD, *(f"- {words}" for words in dict.fromkeys(PASSED.values()))]
    return "\n".join(lines) + "\n"
