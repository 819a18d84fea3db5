"""Untrusted text on a terminal: no control characters, no binary content, listings in columns."""

from __future__ import annotations

import io
import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain, islice

from overthere.access.resource import Resource
from overthere.access.wire import Entry
from overthere.ground import charsets
from overthere.ground.display import columns, printable
from overthere.ground.redact import password_spans

_LINES = re.compile(r"[^\n\t]+")
_LAYOUT_ENTRIES = 500
"""Entries of a listing that determine its column widths."""


class Binary(Exception):
    """The content is not text."""


class Display:
    """Octets to text that a terminal may be given, piece by piece: controls are shown as U+FFFD."""

    def __init__(self, resource: Resource) -> None:
        self.named: bool = "charset=" in (resource.media_type or "").lower()
        self.charset: str = resource.charset()
        self.decoder: io.IncrementalNewlineDecoder | None = None
        self.last: str = "\n"

    def show(self, octets: bytes, final: bool = False) -> str:
        """The text of the next piece; of the last one with a line end.  Raises: Binary."""
        if self.decoder is None:
            self.decoder = self._decoder(octets[:4096])
        text = _LINES.sub(lambda match: printable(match[0]), self.decoder.decode(octets, final))
        self.last = text[-1:] or self.last
        return text + "\n" if final and self.last != "\n" else text

    def _decoder(self, start: bytes) -> io.IncrementalNewlineDecoder:
        """By the charset that is named; where none is, UTF-8 if it can be that, else ISO Latin 1."""
        charset = self.charset
        try:
            text = charsets.decoder(charset, "replace" if self.named else "strict").decode(start)
        except UnicodeDecodeError:
            charset, text = "latin-1", start.decode("latin-1")
        controls = sum(not c.isprintable() and c not in "\t\n\f\r\x1b\b" for c in text)
        if "\0" in text or controls > len(text) / 10:
            raise Binary
        return io.IncrementalNewlineDecoder(charsets.decoder(charset, "replace"), translate=True)


def one_line(text: str) -> str:
    """Text that a server may have written, in one line."""
    return printable(" ".join(text.split()))


def without_password(uri: str) -> str:
    """A URI without the password that it holds: those who open it give their own."""
    for start, end in reversed(password_spans(uri)):
        uri = uri[:start].removesuffix(":") + uri[end:]
    return uri


# Servers pad names with blanks to put dates behind them.
_BLANKS = re.compile(" {3,}")
TAB = "\t"


def format_listing(entries: Iterable[Entry], width: int) -> Iterator[str]:
    """Yield a listing in columns: kind, name and URI; a line that names nothing has no URI."""
    remaining = iter(entries)
    first = list(islice(remaining, _LAYOUT_ENTRIES))
    kinds = max((columns(printable(entry.kind)) for entry in first), default=0)
    shown_names = (_BLANKS.sub("  ", printable(entry.name)).rstrip() for entry in first if entry.uri is not None)
    names = max(map(columns, shown_names), default=0)
    names = min(names, max(16, width // 2 - kinds))
    for entry in chain(first, remaining):
        kind, name = printable(entry.kind), _BLANKS.sub("  ", printable(entry.name)).rstrip()
        line = f"{_pad(kind, kinds)}  " if kinds else ""
        if entry.uri is None:
            yield (line + name).rstrip()
        else:
            yield f"{line}{_pad(_shorten(name, names), names)}  {printable(without_password(entry.uri))}"
        yield from _attributes(entry.details.get("attributes"))


def _attributes(attributes: object) -> Iterator[str]:
    """Yield a line for each attribute of an entry in a directory or Gopher+; octets are only counted."""
    if not isinstance(attributes, Mapping):
        return
    for name, values in attributes.items():
        for value in values if isinstance(values, list | tuple) else [values]:
            text = f"({len(value):,} octets)" if isinstance(value, bytes) else str(value)
            yield from (f"    {printable(f'{name}: {line}'.replace(TAB, '  '))}" for line in text.splitlines() or [""])


def _pad(text: str, width: int) -> str:
    return text + " " * (width - columns(text))


def _shorten(text: str, width: int) -> str:
    if columns(text) <= width:
        return text
    text = text[:width]
    while text and columns(text) >= width:
        text = text[:-1]
    return text + "…"
