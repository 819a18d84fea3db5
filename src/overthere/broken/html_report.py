"""Findings as an HTML page that loads no other resource; a script without data of findings filters them."""

from __future__ import annotations

import hashlib
from base64 import b64encode
from collections import Counter
from collections.abc import Iterable, Iterator
from html import escape
from importlib.resources import files
from itertools import groupby
from typing import TextIO

from overthere.broken.model import Broken
from overthere.broken.report import advice, describe_count
from overthere.ground.display import printable
from overthere.ground.redact import mask

_LEVELS = ("error", "warning", "note")


def html_page(findings: Iterable[Broken], file: TextIO) -> None:
    """Write a page with the findings of each document, readable without its script; untrusted text is always escaped.

    It is US-ASCII with character references, so that it reads the same in every charset.
    """
    for part in _parts(list(findings)):
        file.write(f"{part.encode('ascii', 'xmlcharrefreplace').decode()}\n")


def _parts(findings: list[Broken]) -> Iterator[str]:
    style, script = ((files("overthere.broken") / f"html_report.{end}").read_text("utf-8") for end in ("css", "js"))
    policy = f"default-src 'none'; style-src {_hash(style)}; script-src {_hash(script)}; base-uri 'none'"
    policy += "; form-action 'none'"
    yield '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">'
    yield f'<meta http-equiv="Content-Security-Policy" content="{policy}">'
    yield '<meta name="viewport" content="width=device-width, initial-scale=1">'
    yield f"<title>Broken links</title>\n<style>{style}</style>\n</head>\n<body>\n<main>\n<h1>Broken links</h1>"
    levels, kinds = (Counter(getattr(finding, name) for finding in findings) for name in ("level", "kind"))
    if findings:
        summed = ", ".join(describe_count(levels[level], level) for level in _LEVELS if levels[level])
        sources = len({finding.source for finding in findings})
        yield f"<p>{summed} in {describe_count(sources, 'document')}. Only errors make the check fail.</p>"
        yield '<form role="search" aria-label="Findings" hidden>'
        yield '<label>Text<input type="search" name="text" autocomplete="off" spellcheck="false"></label>'
        yield _select("Level", [level for level in _LEVELS if levels[level]], levels)
        yield _select("Kind", sorted(kinds), kinds)
        yield '<output aria-live="polite"></output>\n</form>'
    else:
        yield "<p>No broken links.</p>"
    for source, group in groupby(findings, lambda finding: finding.source):
        yield f"<section>\n<h2>{_text(source)}</h2>\n<ul>"
        yield from map(_item, group)
        yield "</ul>\n</section>"
    yield "</main>"
    if findings:
        yield f"<script>{script}</script>"
    yield "</body>\n</html>"


def _item(finding: Broken) -> str:
    """The list item of a finding, which without a reference is about the document."""
    place = "" if finding.line is None else f' <span class="place">line {finding.line}, column {finding.column}</span>'
    reference = "" if finding.reference is None else f"<p><code>{_text(finding.reference)}</code></p>"
    message = ". ".join(filter(None, (mask(finding.why), advice(finding))))
    section = f' <span class="place">({_text(finding.paragraph)})</span>' if finding.paragraph else ""
    return (
        f'<li data-level="{finding.level}" data-kind="{finding.kind}">'
        f'<p><span class="level {finding.level}">{finding.level}</span> {finding.kind}{place}</p>'
        f"{reference}<p>{_text(message)}{section}</p></li>"
    )


def _select(label: str, values: Iterable[str], counts: Counter[str]) -> str:
    options = "".join(f'<option value="{value}">{value} ({counts[value]:,})</option>' for value in values)
    return f'<label>{label}<select name="{label.lower()}"><option value="">all</option>{options}</select></label>'


def _text(text: str) -> str:
    """Untrusted text as HTML, isolated from the text direction around it."""
    return f"<bdi>{escape(printable(mask(text)))}</bdi>"


def _hash(text: str) -> str:
    """The hash by which a browser allows this script or style and no other (CSP 3, 6.7.3)."""
    return f"'sha256-{b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
