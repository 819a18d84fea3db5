"""docs/audit.md: the kinds of findings of `overthere.audit`."""

from __future__ import annotations

from generate_pages import visible
from overthere.security import KINDS, LEVELS

HEAD = """\
# Audit: security findings

`overthere.audit` and `overthere audit` report what is suspicious in a URI by the security sections of the documents.
Each finding has a place, a level and a section. The text need not be a valid URI: any text that people paste into
browsers can be audited.
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

- error: it deceives people or shows a secret.
- warning: it may do so, and is rare in honest URIs.
- note: it is common in honest URIs.

No message shows a password. `overthere audit --format sarif` writes SARIF 2.1.0 for code scanners; `--level`, `--only`
and `--ignore` select findings; `--file FILE` audits the URIs in a file and reports line and column. It exits 1 if
there is a finding at the level or above.

Not reported: names that lead to private addresses (nothing is looked up), ASCII names that look like other ASCII names,
and the effects of unregistered schemes.
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
                lines.append(f"- Earlier: {row.older}")
            if row.bad:
                lines += [f"- Example: `{_show_text(row.bad)}`", f"- Without it: `{_show_text(row.good)}`"]
            lines.append("")
    return "\n".join(lines).rstrip() + "\n"


def _show_text(text: str) -> str:
    """A text on one line of a page, with escapes for invisible characters."""
    text = visible(text)
    text = "".join(c if c.isprintable() else f"\\u{ord(c):04x}" for c in text)
    return text if len(text) <= 90 else f"{text[:40]}… ({len(text):,} characters)"
