"""The plan view: exactly what opening a URI would send; nothing is opened."""

from __future__ import annotations

from typing import NamedTuple

from overthere.access.planning import Plan, plan
from overthere.ground.errors import OverthereError
from overthere.values.uri import URI
from overthere.web.model import Example, View
from overthere.web.views.anatomy import TEXT

_WIDTH = 16
"""Octets per line of a dump."""
_LIMIT = 64 * _WIDTH
"""Maximum octets of a dump."""


class PlanAnswer(NamedTuple):
    """The plan of a URI, or the reason why there is no plan."""

    text: str
    plan: Plan | None
    refused: str | None = None


def view_plan(text: str) -> PlanAnswer:
    """Return the value of the view, whose plan is as `overthere plan --format jsonl` prints it."""
    try:
        return PlanAnswer(text, plan(URI(text, zone=True)))
    except OverthereError as error:
        return PlanAnswer(text, None, str(error))


def dump(data: str) -> tuple[list[str], int]:
    """Return octets (as ISO Latin 1) in lines of offset, hexadecimal and US-ASCII; and the number of omitted octets.

    >>> dump("GET /\\r\\n")
    (['0000  47 45 54 20 2f 0d 0a                             GET /..'], 0)
    """
    octets = data.encode("latin-1", "replace")
    lines = [
        f"{at:04x}  {row.hex(' '):<47}  {''.join(chr(o) if 0x20 <= o < 0x7F else '.' for o in row)}"
        for at in range(0, min(len(octets), _LIMIT), _WIDTH)
        for row in (octets[at : at + _WIDTH],)
    ]
    return lines, max(0, len(octets) - _LIMIT)


VIEW = View(
    "plan",
    "Plan",
    "The exact dialogue of opening the URI: each step with its octets and RFC section. Nothing is opened.",
    (TEXT,),
    view_plan,
    python="from overthere import plan\nprint(plan({text}))",
    command="overthere plan -- {text}",
    examples=(
        Example("HTTP", {"text": "http://example.com:8042/over/there?name=ferret#nose"}),
        Example("FTP", {"text": "ftp://joe:secret@ftp.example/pub/file;type=a"}),
        Example("Gopher", {"text": "gopher://gopher.example/7/search%09museum"}),
        Example("LDAP", {"text": "ldap://ldap.example/o=Museum?cn?sub?(cn=Babs*)"}),
        Example("A newline smuggled in", {"text": "gopher://h/0a%0D%0AQUIT"}),
    ),
)
