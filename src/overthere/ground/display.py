"""Displays text that may contain anything: visible, shortened, with a place underlined."""

from __future__ import annotations

from collections.abc import Sequence

from overthere.ground.redact import MASK, Span, mask

__all__ = ["shorten", "columns", "name_of", "printable", "printable_name", "underline", "visible"]


def printable(text: str) -> str:
    """`text` with one visible character for each that has none (controls, surrogates, formatting)."""
    return text if text.isprintable() else text.translate(_PrintableCharacters())


class _PrintableCharacters(dict[int, int]):
    """A table for `str.translate`, which needs little memory for a long text."""

    def __missing__(self, code: int) -> int:
        self[code] = code if chr(code).isprintable() else 0xFFFD
        return self[code]


def visible(text: str) -> str:
    """The same for each line of a text."""
    return text if text.isprintable() else "\n".join(map(printable, text.split("\n")))


def columns(text: str) -> int:
    """How many columns of a terminal the text takes."""
    if text.isascii():
        return len(text)
    from unicodedata import combining, east_asian_width

    return sum(0 if combining(c) else 2 if east_asian_width(c) in "WF" else 1 for c in text)


def printable_name(name: str) -> str:
    """A file's name for a person; one that begins like a command of a CI service, `::error::`, gets `./` before it."""
    text = printable(name)
    return f"./{text}" if text.lstrip().startswith("::") else text


def shorten(text: str, most: int = 1000) -> str:
    """`text`, or its beginning and how much was left out.

    >>> shorten("abcdefgh", 5)
    'abcde… (3 more characters)'
    """
    return text if len(text) <= most else f"{text[:most]}… ({len(text) - most:,} more characters)"


def underline(text: str, start: int, end: int, width: int = 80, hidden: Sequence[Span] = ()) -> str:
    """Two lines: `text`, cut to `width` around the place, and carets below text[start:end]; `hidden` is masked."""
    for low, high in reversed(hidden):
        shift = high - low - len(MASK)
        if start >= high:
            start -= shift
        elif start > low:
            start = low
        end = end - shift if end >= high else low + len(MASK) if end > low else end
    text = mask(text, hidden)
    margin = max(8, (width - 24) // 2)
    left = max(0, min(start - margin, len(text) - 2 * margin))
    right = min(len(text), max(end if end - start < 24 else start, start) + margin)
    before = printable(("…" if left else "") + text[left:start])
    place = printable(text[start : min(end, right)])
    after = printable(text[min(end, right) : right] + ("…" if right < len(text) else ""))
    return f"{before}{place}{after}\n{' ' * columns(before)}{'^' * max(1, columns(place))}"


def name_of(text: str) -> str:
    """How a message names an offending character or run: quoted if visible, else by code point.

    An octet that was not in the charset stands in a text as a lone surrogate (PEP 383), and is named as an octet.

    >>> name_of("|"), name_of("\\t"), name_of("\\udcff")
    ('"|"', 'U+0009', 'octet 0xFF')
    """
    if len(text) > 8:
        return f"{name_of(text[:8])} and {len(text) - 8} more"
    if text and text.isprintable() and not text.isspace():
        return f"'{text}'" if '"' in text else f'"{text}"'
    return " ".join(f"octet 0x{ord(c) - 0xDC00:02X}" if "\udc80" <= c <= "\udcff" else f"U+{ord(c):04X}" for c in text)
