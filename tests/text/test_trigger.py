"""overthere.text.trigger: the native search finds what the regular expression finds, and so the same URIs."""

from __future__ import annotations

import inspect
import random
import re
from collections.abc import Callable, Iterator
from itertools import product
from typing import Any

import pytest

from growth import seconds
from overthere import kernel
from overthere.text import find
from overthere.text.names import names
from overthere.text.rules import COUNTRY_CODES, GENERIC_NAMES
from overthere.text.trigger import compile_trigger
from support import ROOT, cases

UNCACHED: Any = inspect.unwrap(compile_trigger)

Search = Callable[[str, int], "re.Match[str] | None"]

SCHEMES: list[frozenset[str]] = [
    frozenset(names().shapes), frozenset(), frozenset(("http", "mailto")), frozenset("xy"), frozenset(("a+", "b.c")),
    frozenset(("", "ab")), frozenset(("é", "http")),
]  # fmt: skip
TOPS = GENERIC_NAMES | COUNTRY_CODES
OPTIONS = list(product(SCHEMES, (True, False), (False, True), (False, True)))
WIDTHS = ["", "é", "\u0436", "\ud800", "\U0001f600", "\udfff\U0010ffff"]
"""Prefixes that make CPython store a text in one, two or four bytes per character; two hold lone surrogates."""
BITS = [
    *"<>\"':/@.?#|\\ \t\n\r\f\v\x1c\x1f\x85\xa0\u1680\u2003\u2028\u202f\u205f\u3000\u200b_%+-^`{}[]09azAZ", "\0",
    "\x7f", "www", "www.", "WWW", "fTp", "ftp.", "w", "W", "f", "t", "p", "http", "HTTP:", "://", ":///", "mailto:",
    "rl", "le", "Tel:", "url:", "x:", "a+:", "b.C:", "é:", "ſ", "K", "İ", "日", "\u0301", "<a", "<w", '"a', "a@b",
    "x" * 63, "x" * 7, "h.com", "a.de", ".org", ".Co.UK", "b-c", "\ud800", "\U0001f600",
]  # fmt: skip


def searches(options: tuple[frozenset[str], bool, bool, bool], patch: pytest.MonkeyPatch) -> tuple[Search, Search]:
    """The search of this kernel, and the search by the regular expression."""
    native = UNCACHED(*options)
    with patch.context() as context:
        context.setattr(kernel, "Trigger", None)
        return native, UNCACHED(*options)


def spans(search: Search, text: str) -> Iterator[tuple[int, int]]:
    """The spans of all matches, except ASCII hosts with an unknown last label, which a search may skip."""
    at = 0
    while match := search(text, at):
        if not (match[0][0].isalnum() and match[0].isascii() and match[0].rpartition(".")[2].lower() not in TOPS):
            yield match.span()
        at = match.start() + 1


def random_texts(count: int) -> Iterator[str]:
    chosen = random.Random(17)
    for number in range(count):
        text = "".join(chosen.choices(BITS, k=chosen.randrange(1, 40)))
        place = chosen.randrange(len(text) + 1)
        yield text[:place] + WIDTHS[number % len(WIDTHS)] + text[place:]


def test_the_native_search_finds_the_same_places(monkeypatch: pytest.MonkeyPatch) -> None:
    pairs = [searches(options, monkeypatch) for options in OPTIONS]
    assert kernel.name != "native" or pairs[0][0] != pairs[0][1]
    rows = (row for file in sorted((ROOT / "tests" / "cases").glob("*.toml")) for row in cases(file.stem))
    texts = [value for row in rows for value in row.values() if isinstance(value, str)]
    texts += [text + width for text in texts for width in WIDTHS[1:]]
    texts += [path.read_text() for path in sorted((ROOT / "tests").glob("text/*.py"))]
    for number, text in enumerate([*texts, *random_texts(40_000)]):
        native, plain = pairs[number % len(pairs)]
        assert list(spans(native, text)) == list(spans(plain, text)), (OPTIONS[number % len(pairs)], text)


def test_every_character_at_every_border(monkeypatch: pytest.MonkeyPatch) -> None:
    """The expression defines what is white space and what is a letter."""
    codes = {*range(0x3200), *range(0xD7F0, 0xE010), *range(0xFE00, 0x1_0100), 0x1F600, 0x10FFFF}
    codes |= {code for code in range(0x110000) if chr(code).isspace()}
    forms = '<a@: <@a: <@w@w@w@. <f@t@p. @<a: <a>@: <a @>: <a|@>: "a@: "@a: "ab:@/ "ab:@>/ "u@rl: "url@: @: @b: u@: '
    forms += "url@: @url: x@url: rl@://? rl:@///a ://@ ///@ :///@ @www.a www@.a www.@ a@@ @@a"
    chars = [chr(code) for code in sorted(codes)]
    texts = [forms.replace("@", char) + forms.replace("@", char + "@") for char in chars]
    for options in OPTIONS[:4] + OPTIONS[8:10]:
        native, plain = searches(options, monkeypatch)
        for text in ("\n".join(texts[:128]), "\n".join(texts[:256]), "\n".join(texts[:0x3000]), "\n".join(texts)):
            assert list(spans(native, text)) == list(spans(plain, text))


def test_quoted_schemes_of_every_length(monkeypatch: pytest.MonkeyPatch) -> None:
    native, plain = searches(OPTIONS[0], monkeypatch)
    for length in range(70):
        for text in (f'"{"a" * length}:', f'{" " * length}"ab:', f'"{"a" * length}', "http:"[: length % 6]):
            assert list(spans(native, text)) == list(spans(plain, text))


def test_both_searches_lead_to_the_same_uris(monkeypatch: pytest.MonkeyPatch) -> None:
    options: list[dict[str, Any]] = [
        {}, {"mail": True}, {"abbreviated": False}, {"hosts": True}, {"mail": True, "hosts": True}, {"schemes": ["x"]},
        {"schemes": ["http", "mailto"], "mail": True}, {"schemes": ["é"]}, {"rules": "gfm"}, {"rules": "commonmark"},
    ]  # fmt: skip
    texts = [row["text"] + width for row in (*cases("text"), *cases("gfm")) for width in WIDTHS]
    texts += random_texts(4000)
    calls = [(text, options[number % len(options)]) for number, text in enumerate(texts)]
    calls += [(row["text"], row.get("options", {})) for row in cases("text")]
    matches = [list(find(text, **kwargs)) for text, kwargs in calls]
    monkeypatch.setattr(kernel, "Trigger", None)
    monkeypatch.setattr("overthere.text.compile_trigger", UNCACHED)
    for (text, kwargs), results in zip(calls, matches, strict=True):
        assert results == list(find(text, **kwargs)), (text, kwargs)


@pytest.mark.parametrize("width", ["", "\u0436", "\U0001f600"])
@pytest.mark.parametrize("unit", [":", "www.", "http:", "<", "<a ", "<w w", '"', '"a', "a@", ".", "://", "w", "<a\n"])
def test_searching_long_texts_is_linear(unit: str, width: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A quadratic search of a million characters would take minutes."""
    native, _ = searches(OPTIONS[1], monkeypatch)
    text = width + unit * (1_000_000 // len(unit))
    assert seconds(lambda text: sum(1 for _ in spans(native, text)), text) < 5
