"""One text as the five documents and browsers read it, with the host that each would contact."""

from __future__ import annotations

from dataclasses import dataclass

from overthere.editions import edition, whatwg
from overthere.editions.readings import MARKS, Reading, disagreements, notes, read
from overthere.ground.display import printable
from overthere.ground.redact import mask, mask_equal_length, shorten_masks
from overthere.web.model import Example, Input, View
from overthere.web.views.anatomy import TEXT

__all__ = ["VIEW", "Readings"]

_PARTS = ("host", "path", "query", "fragment", "target", "says")


@dataclass(frozen=True)
class Cell:
    """One part as one document reads it."""

    part: str
    value: str | None
    """None is undefined."""
    differs: bool
    """Whether the documents do not agree on this part."""
    usual: bool
    """Whether most of them say this."""


@dataclass(frozen=True)
class Row:
    """What one document, or a browser, makes of the text."""

    name: str
    document: str
    date: str
    valid: str
    """ "ok", "-" for not valid by the letter, "n/a" where there is no production for such a text."""
    cells: list[Cell]
    note: str | None
    """Why there are no parts, or no target."""


@dataclass(frozen=True)
class Readings:
    """The readings side by side; passwords are masked."""

    text: str
    base: str | None
    rows: list[Row]
    differ: list[str]
    """The parts on which they do not agree."""
    notes: list[str]
    whatwg: bool
    """Whether the reading of browsers is at hand (the extra `whatwg`)."""


def readings(text: str, base: str) -> Readings:
    """The data of the view."""
    given = (text,) if not base else (text, base)
    veiled = mask_equal_length(*given)
    # The letter is that of the text itself: a mask could change it.
    own, parts = read(*given), read(*veiled)
    groups = disagreements(parts)
    usual = {part: max(held.items(), key=lambda one: len(one[1]))[1] for part, held in groups.items()}
    rows = [_row(one, shown, usual) for one, shown in zip(own, parts, strict=True)]
    told = [printable(note) for note in notes(parts, shorten_masks)]
    differ = list(groups)
    if whatwg.available():
        row = _browser(veiled, parts[-1])
        rows.append(row)
        if row.cells[0].differs and parts[-1].host is not None:
            told.append(f"a browser asks {row.cells[0].value or 'no host'}")
        unlike = {cell.part for cell in row.cells if cell.differs}
        differ = [part for part in _PARTS if part in differ or part in unlike]
    return Readings(
        printable(mask(text)), printable(mask(base)) if base else None, rows, differ, told, whatwg.available()
    )


def _row(own: Reading, shown: Reading, usual: dict[str, list[str]]) -> Row:
    document = edition(own.edition)
    cells = [
        Cell(part, _visible(getattr(shown, part)), part in usual, own.edition in usual.get(part, (own.edition,)))
        for part in _PARTS
    ]
    return Row(own.edition, document.document, document.date, MARKS[own.valid], cells, _visible(own.note))


def _browser(veiled: tuple[str, ...], today: Reading) -> Row:
    """WHATWG's URL Standard, whose host is compared with that of RFC 3986."""
    found = whatwg.read(*veiled)
    document = "URL Standard (WHATWG)"
    if found is None:
        cells = [Cell(part, None, False, True) for part in _PARTS]
        return Row("whatwg", document, "browsers", "-", cells, "a browser refuses it")
    values = (
        found.hostname or None, found.pathname, found.search[1:] or None, found.hash[1:] or None, found.href, None
    )  # fmt: skip
    others = (today.host and today.host.lower(), today.path or ("/" if today.host else ""), today.query, today.fragment)
    cells = [
        Cell(part, _visible(value), unlike, not unlike)
        for part, value, unlike in zip(_PARTS, values, [*map(_unlike, values, others), False, False], strict=True)
    ]
    return Row("whatwg", document, "browsers", "ok", cells, None)


def _unlike(browser: str | None, other: str | None) -> bool:
    """Whether a browser reads something else than RFC 3986 does; empty is undefined to it."""
    return (browser or None) != (other or None)


def _visible(value: str | None) -> str | None:
    return None if value is None else printable(shorten_masks(value))


BASE = Input("base", "Base", "A relative reference needs one.", default="")

VIEW = View(
    "editions",
    "Five documents",
    "The same text as the documents of 1994, 1738, 1997, 2003 and RFC 3986 read it, and browsers: what differs, and "
    "the host that each would ask.",
    (TEXT, BASE),
    readings,
    (
        Example("Whose host is it?", {"text": "http://trusted.example\\@evil.example/"}),
        Example("An FTP user with a ?", {"text": "ftp://u?x@h/"}),
        Example("A number for a host", {"text": "http://0x7f.1/"}),
        Example("A query alone", {"text": "?y", "base": "http://a/b/c/d;p?q"}),
    ),
)
