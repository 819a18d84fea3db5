"""A URI for people, in one line of a terminal or a page."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING

from overthere.ground.display import columns, printable
from overthere.ground.redact import mask

if TYPE_CHECKING:
    from overthere.values.conveniences import Conveniences

_UNITS = re.compile(r"(?:%[0-9A-Fa-f]{2})+|.", re.DOTALL)
"""Units that are shown as a whole or not at all."""


def display(value: Conveniences, width: int) -> str:
    """Return the IRI without userinfo and secrets, the middle after the host cut if it exceeds `width` columns.

    The host stays as written: A-labels show which name is contacted, U-labels may look like another.
    """
    from overthere.iri import IRIReference, to_iri_text
    from overthere.values.uri import URIReference

    zone, text = value.zone is not None, mask(str(value), userinfo=True)
    uri = URIReference.parse(text, zone=zone)
    iri = IRIReference(text if uri is None else to_iri_text(uri, False), zone=zone)
    text, (start, _) = printable(str(iri)), iri.span("path") or (0, 0)
    if columns(text) <= width:
        return text
    head, units = text[:start], _UNITS.findall(text, start)
    room = max(0, width - columns(head) - 1)
    front = _fitting_units(units, room // 2)
    back = _fitting_units(reversed(units[len(front) :]), room - columns("".join(front)))
    return "".join((head, *front, "…", *reversed(back)))


def _fitting_units(units: Iterable[str], room: int) -> list[str]:
    """Return the first units that fit into the room."""
    fitting: list[str] = []
    for unit in units:
        room -= columns(unit)
        if room < 0:
            break
        fitting.append(unit)
    return fitting
