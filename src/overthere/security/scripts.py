"""Host names beyond US-ASCII: their A-labels, and their look-alikes (RFC 3987 7.5, 8; UTS 39)."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from importlib import import_module
from typing import Any

from overthere.ground.caches import bounded_cache
from overthere.ground.unicode_forms import normalize_unicode
from overthere.values.hosts.idn import to_unicode

__all__ = ["canonical", "judge", "scripts_of"]

# First words of the names of characters (Unicode, which never changes names) that are not their scripts' own.
_SCRIPT_OF_WORD = {"CJK": "HAN", "IDEOGRAPHIC": "HAN", "HENTAIGANA": "HIRAGANA", "TURNED": "LATIN", "MASU": None}
# Modifiers (Lm), such as the prolonged sound mark of Japanese, belong to several scripts or to all.
_LETTERS = frozenset(("Lu", "Ll", "Lt", "Lo"))
# UTS 39 5.2, "Highly Restrictive": one script, or Latin with one of these.
_TOGETHER = (
    frozenset(("LATIN", "HAN", "HIRAGANA", "KATAKANA")),
    frozenset(("LATIN", "HAN", "BOPOMOFO")),
    frozenset(("LATIN", "HAN", "HANGUL")),
)


@bounded_cache(4096)
def _script(char: str) -> str | None:
    """The script of a letter, as the name of the character says it; None for what belongs to all scripts.

    Scripts that begin with the same word (old, linear, ol) count as one.
    """
    if unicodedata.category(char) not in _LETTERS:
        return None
    word = unicodedata.name(char, "").split(" ")[0].split("-")[0]
    return _SCRIPT_OF_WORD.get(word, word or None)


def scripts_of(label: str) -> frozenset[str]:
    """The scripts of a label's letters (UTS 39 5.1); digits, hyphens and marks are of all scripts.

    >>> sorted(scripts_of("p\\u0430ypal-1")), sorted(scripts_of("\\u65e5\\u672c\\u306e"))
    (['CYRILLIC', 'LATIN'], ['HAN', 'HIRAGANA'])
    """
    return frozenset(script for script in map(_script, label) if script is not None)


def judge(name: str) -> Iterator[tuple[str, str]]:
    """Kinds of concern and what they are about, of a host's name whose escapes are decoded."""
    mapped = normalize_unicode("NFKC", name).replace("\u3002", ".").lower()
    if not name.isascii() and mapped != normalize_unicode("NFC", name).lower():
        yield "host-mapped", _show_text(mapped)
    labels = [_unicode(label) for label in mapped.split(".")]
    foreign = [label for label in labels if not label.isascii()]
    if not foreign:
        return
    mixed = [label for label in foreign if _is_mixed(scripts_of(label))]
    for label in mixed:
        yield "host-mixed-script", f"{_show_text(label)} ({_words(scripts_of(label))})"
    # A whole name in one script looks like no name of US-ASCII: its last label gives it away.
    alike = [_look_alike(label) if labels[-1].isascii() else None for label in labels]
    if any(alike):
        name = ".".join(like or label for like, label in zip(alike, labels, strict=True))
        yield "host-confusable", f"{_show_text(name)}, and is {_show_text('.'.join(labels))}"
    elif not mixed:
        scripts = frozenset[str]().union(*map(scripts_of, foreign))
        yield "host-script", f"{_show_text('.'.join(labels))} ({_words(scripts) or 'no letters'})"


def _is_mixed(scripts: frozenset[str]) -> bool:
    return len(scripts) > 1 and not any(scripts <= together for together in _TOGETHER)


def _words(scripts: frozenset[str]) -> str:
    return ", ".join(sorted(script.capitalize() for script in scripts))


def _show_text(text: str) -> str:
    shown = "".join(c if c.isprintable() else "\ufffd" for c in text)
    return f'"{shown}"' if len(shown) <= 100 else f'"{shown[:100]}…"'


def _unicode(label: str) -> str:
    """A label in its own script (RFC 5891 5.4); as it is if it is no valid A-label."""
    if not label.startswith("xn--") or len(label) > 63 or not label.isascii():
        return label
    with suppress(UnicodeError):
        return to_unicode(label)
    try:  # browsers show what IDNA 2008 refuses, such as symbols, by its code points
        return label[4:].encode().decode("punycode")
    except UnicodeError:
        return label


@cache
def _confusables() -> Any:
    try:
        return import_module("confusable_homoglyphs.confusables")
    except ImportError:
        return None


def _look_alike(label: str) -> str | None:
    """The label of US-ASCII that looks the same (UTS 39 4), if each letter of another script has a look-alike there."""
    if label.isascii() or len(label) > 63 or "LATIN" in scripts_of(label) or _confusables() is None:
        return None
    letters = [char if char.isascii() else _ascii(char) for char in label]
    return "".join(letter or "" for letter in letters) if all(letters) else None


@bounded_cache(4096)
def _ascii(char: str) -> str | None:
    alike = (row["c"] for row in _confusables().confusables_data.get(char, ()))
    return next((text.lower() for text in alike if text.isascii() and text.isalnum()), None)


def canonical(name: str) -> str:
    """A decoded name as it is looked up, for comparing."""
    from overthere.values.hosts.address import client_name

    return ".".join(map(_unicode, client_name(name, decoded=True).split(".")))
