"""Unicode normalization forms in linear time (UAX 15): the only module that calls `unicodedata` for them.

`unicodedata.normalize` sorts a run of combining marks by insertion, so that 64,000 of them in one host took seconds
and held the interpreter. Marks that stand in their canonical order cost it nothing: here a long text is put in that
order first, which changes no result (UAX 15, D108 and D109 of the Unicode Standard: canonical ordering is stable).
"""

from __future__ import annotations

import unicodedata
from typing import Literal

__all__ = ["NormalForm", "is_normalized", "normalize_unicode"]

NormalForm = Literal["NFC", "NFD", "NFKC", "NFKD"]

_SHORT = 64
"""Characters among which any order is sorted quickly."""


def normalize_unicode(form: NormalForm, text: str) -> str:
    """A text in a normal form of Unicode, exactly as `unicodedata.normalize` gives it.

    >>> normalize_unicode("NFC", "u\\u0308"), normalize_unicode("NFKC", "\\uff21")
    ('ü', 'A')
    """
    if len(text) > _SHORT and not text.isascii():
        text = _in_order(form, text)
    return unicodedata.normalize(form, text)


def is_normalized(form: NormalForm, text: str) -> bool:
    """Whether a text is in a normal form of Unicode.

    >>> is_normalized("NFC", "\\xfc"), is_normalized("NFC", "u\\u0308")
    (True, False)
    """
    if len(text) > _SHORT and not text.isascii():
        return normalize_unicode(form, text) == text
    return unicodedata.is_normalized(form, text)


def _in_order(form: NormalForm, text: str) -> str:
    """An equivalent text whose marks stand in their canonical order; the same text if it has no marks."""
    decomposing: NormalForm = "NFKD" if "K" in form else "NFD"
    parts = {char: unicodedata.normalize(decomposing, char) for char in set(text)}
    # Of a character that a mark may follow nothing is decomposed: without marks it costs what it did.
    if not any(unicodedata.combining(char) for part in parts.values() for char in part[:1] + part[-1:]):
        return text
    done: list[str] = []
    run: list[str] = []
    for whole in text:
        for char in parts[whole]:
            if unicodedata.combining(char):
                run.append(char)
                continue
            done += sorted(run, key=unicodedata.combining)
            run.clear()
            done.append(char)
    return "".join(done + sorted(run, key=unicodedata.combining))
