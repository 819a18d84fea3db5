"""The page of what overthere.audit finds, kind by kind."""

from __future__ import annotations

from generate_pages import visible
from overthere.security import KINDS, LEVELS

HEAD = """\
# What is worth care in a URI

`overthere.audit` and `overthere audit` read the security sections of the documents as findings, each with its place,
its level and its paragraph. The text need not be a URI: what people paste into browsers is audited too.
The table is `KINDS` in `src/overthere/security/table.py`; this page is written by `make docs`.

```python
>>> from overthere.security import audit, kinds, level_of
>>> for finding in audit("http://www.bank.example@0x7f.1/%2e%2e/"):
...     print(level_of(finding), finding.kind, finding.start, finding.source)
error userinfo-host 7 RFC 3986 7.6; RFC 9110 4.2.4
error address-rare 24 RFC 3986 7.4
warning address-loopback 24 RFC 3986 7.4, 1.1; RFC 6890
error dot-segments-encoded 31 RFC 3986 6.2.2.2, 6.2.2.3, 7.3
>>> kinds("http://joe:secret@h.example:8080/", level="warning")
('password',)

```

- error: somebody is deceived, or a secret is shown.
- warning: it may be so, and honest URIs seldom have it.
- note: honest URIs have it often.

No message shows a password. `overthere audit --format sarif` writes SARIF 2.1.0 for code scanners; `--level`, `--only`
and `--ignore` choose; `--file FILE` looks at the URIs in a file and tells line and column. It exits 1 if anything is
found at the level.

What is not found: whether a name leads to a private address (nothing is looked up), whether a name looks like another
name of US-ASCII, and what a scheme that nobody has registered does.
"""


def page() -> str:
    lines = [HEAD]
    for level in reversed(LEVELS):
        lines += [f"## {level.capitalize()}", ""]
        for kind, row in KINDS.items():
            if row.level != level:
                continue
            message = row.message.replace("{it}", "…")
            lines += [f"### {kind}", "", f"{message[0].upper()}{message[1:]}. {row.means}", ""]
            lines += [f"- Component: {row.component}; rule: `{row.rule}`", f"- Document: {row.source}"]
            if row.older:
                lines.append(f"- Before it: {row.older}")
            if row.bad:
                lines += [f"- Has it: `{_show_text(row.bad)}`", f"- Has not: `{_show_text(row.good)}`"]
            lines.append("")
    return "\n".join(lines).rstrip() + "\n"


def _show_text(text: str) -> str:
    """A text on one line of a page, what is not seen by its escape."""
    text = visible(text)
    text = "".join(c if c.isprintable() else f"\\u{ord(c):04x}" for c in text)
    return text if len(text) <= 90 else f"{text[:40]}… ({len(text):,} characters)"
