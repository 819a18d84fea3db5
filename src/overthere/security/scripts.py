"""Non-ASCII host names: their A-labels, and their look-alikes (RFC 3987 7.5, 8; UTS 39)."""

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

# First words of character names (which Unicode never changes) that do not name the character's script.
_SCRIPT_OF_WORD = {"CJK": "HAN", "IDEOGRAPHIC": "HAN", "HENTAIGANA": "HIRAGANA", "TURNED": "LATIN", "MASU": None}
# Modifiers (Lm), such as the prolonged sound mark of Japanese, belong to several scripts or to all.
_LETTERS = frozenset(("Lu", "Ll", "Lt", "Lo"))
# UTS 39 5.2, "Highly Restrictive": one script, or Latin with one of these.
_COMPATIBLE_SCRIPTS = (
    frozenset(("LATIN", "HAN", "HIRAGANA", "KATAKANA")),
    frozenset(("LATIN", "HAN", "BOPOMOFO")),
    frozenset(("LATIN", "HAN", "HANGUL")),
)


@bounded_cache(4096)
def _script(char: str) -> str | None:
    """Return the script of a letter, from the character's name; None for characters of all scripts.

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
    """Yield the kinds of concern and their subjects for a host name whose escapes are decoded."""
    mapped = normalize_unicode("NFKC", name).replace("\u3002", ".").lower()
    if not name.isascii() and mapped != normalize_unicode("NFC", name).lower():
        yield "host-mapped", quote(mapped)
    labels = [_to_u_label(label) for label in mapped.split(".")]
    foreign = [label for label in labels if not label.isascii()]
    if not foreign:
        return
    mixed = [label for label in foreign if _is_mixed(scripts_of(label))]
    for label in mixed:
        yield "host-mixed-script", f"{quote(label)} ({_list_scripts(scripts_of(label))})"
    # A name that is wholly in one script does not look like US-ASCII: its last label gives it away.
    look_alikes = [_look_alike(label) if labels[-1].isascii() else None for label in labels]
    if any(look_alikes):
        name = ".".join(look_alike or label for look_alike, label in zip(look_alikes, labels, strict=True))
        yield "host-confusable", f"{quote(name)}, and is {quote('.'.join(labels))}"
    elif not mixed:
        scripts = frozenset[str]().union(*map(scripts_of, foreign))
        yield "host-script", f"{quote('.'.join(labels))} ({_list_scripts(scripts) or 'no letters'})"


def _is_mixed(scripts: frozenset[str]) -> bool:
    return len(scripts) > 1 and not any(scripts <= compatible for compatible in _COMPATIBLE_SCRIPTS)


def _list_scripts(scripts: frozenset[str]) -> str:
    return ", ".join(sorted(script.capitalize() for script in scripts))


def quote(text: str, length: int = 100) -> str:
    """Return a text in quotes, shortened to a number of characters."""
    printable = "".join(c if c.isprintable() else "\ufffd" for c in text)
    return f'"{printable}"' if len(printable) <= length else f'"{printable[:length]}…"'


def _to_u_label(label: str) -> str:
    """Return a label in its own script (RFC 5891 5.4); unchanged if it is not a valid A-label."""
    if not label.startswith("xn--") or len(label) > 63 or not label.isascii():
        return label
    with suppress(UnicodeError):
        return to_unicode(label)
    try:  # browsers show labels that IDNA 2008 rejects, such as symbols, by their code points
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
    """Return the US-ASCII label that looks the same (UTS 39 4), if every letter of another script has a look-alike."""
    if label.isascii() or len(label) > 63 or "LATIN" in scripts_of(label) or _confusables() is None:
        return None
    letters = [char if char.isascii() else _ascii_look_alike(char) for char in label]
    return "".join(letter or "" for letter in letters) if all(letters) else None


@bounded_cache(4096)
def _ascii_look_alike(char: str) -> str | None:
    look_alikes = (row["c"] for row in _confusables().confusables_data.get(char, ()))
    return next((text.lower() for text in look_alikes if text.isascii() and text.isalnum()), None)


def canonical(name: str) -> str:
    """Return a decoded name as it is looked up, for comparison."""
    from overthere.values.hosts.address import client_name

    return ".".join(map(_to_u_label, client_name(name, decoded=True).split(".")))
