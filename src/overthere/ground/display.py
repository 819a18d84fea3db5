"""Displays text that may contain anything: visible, shortened, with a place underlined."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence

from overthere.ground.redact import MASK, Span, mask


def printable(text: str) -> str:
    """Replace each invisible character (controls, surrogates, formatting) by a visible one."""
    return text if text.isprintable() else text.translate(_PrintableCharacters())


class _PrintableCharacters(dict[int, int]):
    """A table for `str.translate`, filled on demand: it needs little memory for a long text."""

    def __missing__(self, code: int) -> int:
        self[code] = code if chr(code).isprintable() else 0xFFFD
        return self[code]


_NOT_TEXT = re.compile("[\ufffd\udc80-\udcff]")
_OCTET = re.compile("\ufffd([0-9A-F]{2})".encode())


def file_name(path: str) -> str:
    """Return a path as text that no other path has: U+FFFD and two digits for each octet that is not UTF-8, and for
    those of U+FFFD itself.

    >>> file_name("caf\\udce9"), file_path(file_name("caf\\udce9")) == "caf\\udce9"
    ('caf\ufffdE9', True)
    """
    if path.isascii():
        return path
    text = os.fsencode(path).decode("utf-8", "surrogateescape")
    return _NOT_TEXT.sub(
        lambda odd: "".join(map("\ufffd{:02X}".format, odd[0].encode("utf-8", "surrogateescape"))), text
    )


def file_path(name: str) -> str:
    """Return the path with the name that `file_name` made."""
    octets = _OCTET.sub(lambda octet: bytes.fromhex(octet[1].decode()), name.encode("utf-8", "surrogatepass"))
    return os.fsdecode(octets) if "\ufffd" in name else name


def visible(text: str) -> str:
    """Do the same as `printable` for each line of a text."""
    return text if text.isprintable() else "\n".join(map(printable, text.split("\n")))


def columns(text: str) -> int:
    """Return the number of terminal columns of a text."""
    if text.isascii():
        return len(text)
    from unicodedata import combining, east_asian_width

    return sum(0 if combining(c) else 2 if east_asian_width(c) in "WF" else 1 for c in text)


def printable_name(name: str) -> str:
    """Make a file name printable; put `./` before one that looks like a command of a CI service, `::error::`."""
    text = printable(name)
    return f"./{text}" if text.lstrip().startswith("::") else text


def shorten(text: str, most: int = 1000) -> str:
    """Shorten a long text to its beginning and the number of omitted characters.

    >>> shorten("abcdefgh", 5)
    'abcde… (3 more characters)'
    """
    return text if len(text) <= most else f"{text[:most]}… ({len(text) - most:,} more characters)"


def underline(text: str, start: int, end: int, width: int = 80, hidden: Sequence[Span] = ()) -> str:
    """Return `text`, cut to `width` around the place, and a line of carets below text[start:end]; mask `hidden`."""
    for low, high in reversed(hidden):
        shift = high - low - len(MASK)
        if start >= high:
            start -= shift
        elif start > low:
            start = low
        end = end - shift if end >= high else low + len(MASK) if end > low else end
    text = mask(text, hidden)
    margin = max(8, (width - 24) // 2)
    first = max(0, min(start - margin, len(text) - 2 * margin))
    last = min(len(text), max(end if end - start < 24 else start, start) + margin)
    before = printable(("…" if first else "") + text[first:start])
    place = printable(text[start : min(end, last)])
    after = printable(text[min(end, last) : last] + ("…" if last < len(text) else ""))
    return f"{before}{place}{after}\n{' ' * columns(before)}{'^' * max(1, columns(place))}"


def name_of(text: str) -> str:
    """Return the name of an offending character or run for a message: quoted if visible, otherwise its code point.

    A lone surrogate represents a byte that was not in the charset (PEP 383), and is named as an octet.

    >>> name_of("|"), name_of("\\t"), name_of("\\udcff")
    ('"|"', 'U+0009', 'octet 0xFF')
    """
    if len(text) > 8:
        return f"{name_of(text[:8])} and {len(text) - 8} more"
    if text and text.isprintable() and not text.isspace():
        return f"'{text}'" if '"' in text else f'"{text}"'
    return " ".join(f"octet 0x{ord(c) - 0xDC00:02X}" if "\udc80" <= c <= "\udcff" else f"U+{ord(c):04X}" for c in text)
