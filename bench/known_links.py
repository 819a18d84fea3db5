"""A crawl of pages with known links, and how many of them a link extractor finds correctly.

A page holds one row: of tests/cases (references with their targets, including 5.4; places in HTML; invalid references),
or of the short lists below (bases, charsets).
"""

from __future__ import annotations

import contextlib
import gzip
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from html import escape
from typing import NamedTuple

from overthere import URI, InvalidURI, Rung, URIReference
from overthere.base import to_reference
from overthere.values.normalize import normal_form
from pages import Page
from standard import cases, invalid, targets

GROUPS = ("targets", "bases", "charsets", "places", "refused")
_AT = "http://h.example/d/e?q=1"


class KnownPage(NamedTuple):
    """A page and its correct result: exactly these targets, or none."""

    group: str
    uri: str
    content: bytes
    targets: tuple[str, ...]
    told: str = "utf-8"
    coding: str = ""


# RFC 3986 5.1.1 and the HTML Standard, "document base URL" and "frozen base URL".
_BASES: tuple[tuple[str, str], ...] = (
    ('<a href="x">', "http://h.example/d/x"),
    ('<base href="http://o.example/a/b"><a href="x">', "http://o.example/a/x"),
    ('<base href="../b/"><a href="x">', "http://h.example/b/x"),
    ('<base href="//o.example/"><a href="x">', "http://o.example/x"),
    ('<base href="?b=1"><a href="">', "http://h.example/d/e?b=1"),
    ('<base href="b/#f"><a href="#s">', "http://h.example/d/b/#s"),
    ('<base href="b/#f"><a href="">', "http://h.example/d/b/"),
    ('<base target="_top"><base href="b/"><a href="x">', "http://h.example/d/b/x"),
    ('<base href="b/"><base href="c/"><a href="x">', "http://h.example/d/b/x"),
    ('<a href="x"><base href="b/">', "http://h.example/d/b/x"),
    ('<body><p><base href="b/"><a href="x">', "http://h.example/d/b/x"),
    ('<!-- <base href="b/"> --><a href="x">', "http://h.example/d/x"),
    ('<base href=" b/&#10;"><a href="x">', "http://h.example/d/b/x"),
    ('<BASE HREF="b/"><A HREF="x">', "http://h.example/d/b/x"),
    ('<base href="http://[x/"><a href="x">', "http://h.example/d/x"),
    ('<base href=""><a href="x">', "http://h.example/d/x"),
    # Where no tree has it, or another tree (HTML 4.12.3, 13.2.6).
    ('<template><base href="no/"></template><base href="b/"><a href="x">', "http://h.example/d/b/x"),
    ('<svg><base href="no/"/></svg><base href="b/"><a href="x">', "http://h.example/d/b/x"),
    ('<math><base href="no/"/></math><base href="b/"><a href="x">', "http://h.example/d/b/x"),
    ('<svg><foreignObject><base href="b/"><a href="x">', "http://h.example/d/b/x"),
    ('<math><mi><base href="b/"></mi></math><a href="x">', "http://h.example/d/b/x"),
    ('<frameset><base href="no/"><frame src="x"></frameset>', "http://h.example/d/x"),
    ('<base href="b/"><frameset><frame src="x"></frameset>', "http://h.example/d/b/x"),
    ('<p><base href="no/"></p><frameset><frame src="x"></frameset>', "http://h.example/d/x"),
    ('<base href="b/"><p><base href="no/"></p><frameset><frame src="x">', "http://h.example/d/b/x"),
    ('<input type="hidden"><base href="no/"><frameset><frame src="x">', "http://h.example/d/x"),
    ('<p>a<frameset><base href="b/"><a href="x">', "http://h.example/d/b/x"),
    ('<input><frameset><base href="b/"><a href="x">', "http://h.example/d/b/x"),
    ('<template><frameset></template><base href="b/"><a href="x">', "http://h.example/d/b/x"),
    ('<table><tr><base href="b/"></table><a href="x">', "http://h.example/d/b/x"),
    ('<select><base href="b/"></select><a href="x">', "http://h.example/d/b/x"),
    ('<noscript><base href="b/"></noscript><a href="x">', "http://h.example/d/b/x"),
    ('<body></body></html><base href="b/"><a href="x">', "http://h.example/d/b/x"),
)

# RFC 3987 3.1: text beyond US-ASCII becomes UTF-8 first; the HTML Standard says in which charset the document is.
_CHARSETS: tuple[tuple[str, str, str], ...] = (
    ("utf-8", "utf-8", ""), ("windows-1252", "windows-1252", ""), ("windows-1252", "iso-8859-1", ""),
    ("windows-1252", "", '<meta charset="windows-1252">'), ("utf-8", "", '<meta charset="utf-8">'),
    ("utf-8", "utf-8", '<meta charset="windows-1252">'), ("utf-16", "", ""), ("utf-16", "utf-8", ""),
    ("windows-1252", "", '<meta http-equiv="Content-Type" content="text/html; charset=iso-8859-1">'),
)  # fmt: skip


def _anchor(reference: str) -> bytes:
    return f'<!DOCTYPE html><title>t</title><p><a href="{escape(reference)}">x</a>'.encode()


def _invalid_references() -> Iterable[str]:
    for text in dict.fromkeys(invalid()):
        try:
            URIReference(text)
        except InvalidURI:
            if text.isascii() and text.isprintable() and text == text.strip():  # else HTML or RFC 3987 make one of it
                yield text


def _places() -> Iterable[KnownPage]:
    for row in cases("html"):
        base = URI(_AT).join(row["base"]) if "base" in row else URI(_AT)
        pairs = (
            [(URI(_AT), text) for text in row["targets"]]
            if "targets" in row
            else [(base, text) for _, text in row["is"]]
        )
        places = []
        for (place, _), (target, text) in zip(row["is"], pairs, strict=True):
            with contextlib.suppress(InvalidURI):
                if place != "base href":  # whose targets are not used
                    places.append(str(target.join(text)))
        if places:
            yield KnownPage("places", _AT, row["html"].encode(), tuple(places))


def known_pages() -> list[KnownPage]:
    """All of them."""
    rows = [KnownPage("targets", base, _anchor(reference), (target,)) for base, reference, target in targets()]
    rows += [KnownPage("bases", _AT, html.encode(), (target,)) for html, target in _BASES]
    html = '<title>t</title><p><a href="/caf\u00e9">'
    for charset, told, meta in _CHARSETS:
        rows.append(KnownPage("charsets", _AT, (meta + html).encode(charset), ("http://h.example/caf%C3%A9",), told))
    rows.append(KnownPage("charsets", _AT, _anchor("x"), ("http://h.example/d/x",), "utf-8", "gzip"))
    rows += _places()
    return rows + [KnownPage("refused", _AT, _anchor(text), ()) for text in _invalid_references()]


def page(row: KnownPage) -> Page:
    """The page as it is fetched."""
    body = gzip.compress(row.content, mtime=0) if row.coding else row.content
    media = f"text/html; charset={row.told}" if row.told else "text/html"
    headers = [("Content-Type", media), ("Content-Length", str(len(body)))]
    headers += [("Content-Encoding", row.coding)] if row.coding else []
    return Page(row.uri, row.group, row.told, "200 OK", tuple(headers), body, body)


@lru_cache(maxsize=1 << 20)
def comparison_key(target: str) -> str:
    """The key of targets that mean the same to a retrieval: the scheme's normal form without fragment."""
    text = target.partition("#")[0]
    reference, _ = to_reference(text)
    try:
        return text if reference is None else str(normal_form(str(reference), Rung.SCHEME))
    except ValueError:
        return text


def right(rows: Sequence[KnownPage], answers: Sequence[Sequence[str]]) -> dict[str, tuple[int, int]]:
    """The number of correct pages and of all pages, by group."""
    counts = {group: [0, 0] for group in GROUPS}
    for row, answer in zip(rows, answers, strict=True):
        expected, actual = {comparison_key(text) for text in row.targets}, {comparison_key(text) for text in answer}
        counts[row.group][0] += expected <= actual if row.targets else not actual
        counts[row.group][1] += 1
    return {group: (count, of) for group, (count, of) in counts.items()}


def count_shared(ours: Mapping[int, Iterable[str]], other: Mapping[int, Iterable[str]]) -> dict[str, int]:
    """The number of pairs of page and target in `own` that are also in `other`; and the number only in `other`."""
    both = ours_only = theirs_only = 0
    for at in ours.keys() | other.keys():
        a, b = {comparison_key(text) for text in ours.get(at, ())}, {comparison_key(text) for text in other.get(at, ())}
        both, ours_only, theirs_only = both + len(a & b), ours_only + len(a), theirs_only + len(b - a)
    return {"shared": both, "shared_of": ours_only, "only_peer": theirs_only}
