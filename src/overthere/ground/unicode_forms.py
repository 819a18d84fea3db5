"""Unicode normalization forms in linear time (UAX 15): the only module that calls `unicodedata` for them.

`unicodedata.normalize` sorts a run of combining marks by insertion: 64,000 of them in one host took seconds
and blocked the interpreter. Marks in canonical order are fast: here the marks of a long text are sorted
first, which does not change the result (UAX 15, D108 and D109 of the Unicode Standard: the ordering is stable).
"""

from __future__ import annotations

import unicodedata
from typing import Literal

NormalForm = Literal["NFC", "NFD", "NFKC", "NFKD"]

_SHORT = 64
"""The length up to which a text is fast in any order."""


def normalize_unicode(form: NormalForm, text: str) -> str:
    """Return a text in a normal form of Unicode, the same as `unicodedata.normalize`.

    >>> normalize_unicode("NFC", "u\\u0308"), normalize_unicode("NFKC", "\\uff21")
    ('ü', 'A')
    """
    if len(text) > _SHORT and not text.isascii():
        text = _with_ordered_marks(form, text)
    return unicodedata.normalize(form, text)


def is_normalized(form: NormalForm, text: str) -> bool:
    """Whether a text is in a normal form of Unicode.

    >>> is_normalized("NFC", "\\xfc"), is_normalized("NFC", "u\\u0308")
    (True, False)
    """
    if len(text) > _SHORT and not text.isascii():
        return normalize_unicode(form, text) == text
    return unicodedata.is_normalized(form, text)


def _with_ordered_marks(form: NormalForm, text: str) -> str:
    """Return an equivalent text with its marks in canonical order; the same text if it has no marks."""
    decomposing: NormalForm = "NFKD" if "K" in form else "NFD"
    parts = {char: unicodedata.normalize(decomposing, char) for char in set(text)}
    # Only a text with marks is decomposed, so that others stay fast.
    if not any(unicodedata.combining(char) for part in parts.values() for char in part[:1] + part[-1:]):
        return text
    ordered: list[str] = []
    run: list[str] = []
    for composed in text:
        for char in parts[composed]:
            if unicodedata.combining(char):
                run.append(char)
                continue
            ordered += sorted(run, key=unicodedata.combining)
            run.clear()
            ordered.append(char)
    return "".join(ordered + sorted(run, key=unicodedata.combining))
