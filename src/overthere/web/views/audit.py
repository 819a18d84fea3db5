"""The audit view: security findings in a URI, at their places."""

from __future__ import annotations

from dataclasses import dataclass

from overthere.ground.display import printable
from overthere.ground.extras import missing_message
from overthere.ground.redact import mask
from overthere.security import KINDS, audit, level_of
from overthere.security.parts import split_text
from overthere.web.model import Example, View
from overthere.web.runs import Place, Run, runs
from overthere.web.views.anatomy import TEXT

__all__ = ["VIEW", "Audit"]


@dataclass(frozen=True)
class Concern:
    """One thing to be careful about."""

    number: int
    kind: str
    level: str
    """ "note", "warning" or "error"."""
    start: int
    end: int
    component: str
    message: str
    means: str
    """What can come of it."""
    source: str
    older: str
    """The same in the documents before RFC 3986."""


@dataclass(frozen=True)
class Audit:
    """Everything in the text that is worth care; passwords are masked."""

    text: str
    runs: list[Run]
    concerns: list[Concern]
    notes: list[str]
    """What could not be looked for."""


def view_audit(text: str) -> Audit:
    """The data of the view."""
    found = audit(text, limit=100)
    concerns = []
    for number, one in enumerate(found, 1):
        row = KINDS[one.kind]
        concerns.append(
            Concern(
                number, one.kind, level_of(one), one.start, one.end, one.component, printable(one.message),
                row.means, one.source, row.older,
            )
        )  # fmt: skip
    parts = split_text(text)
    spans = {
        "userinfo": parts.userinfo, "host": parts.host, "port": parts.port, "path": parts.path, "query": parts.query,
        "fragment": parts.fragment,
    }  # fmt: skip
    places = [Place(name, *span) for name, span in spans.items() if span is not None]
    if parts.scheme:
        places.append(Place("scheme", parts.start, parts.start + len(parts.scheme)))
    return Audit(
        printable(mask(text)), runs(text, places, [(one.start, one.end) for one in found]), concerns, _skipped_kinds()
    )


def _skipped_kinds() -> list[str]:
    from importlib.util import find_spec

    lacking = [
        (missing_message("confusable_homoglyphs", "audit"), "names that look like others are not looked for"),
        (missing_message("ada_url", "whatwg"), "where browsers read another host is not looked for"),
    ]
    return [f"{what}: {why}" for why, what in lacking if find_spec(why.split()[0]) is None]


VIEW = View(
    "audit",
    "Audit",
    "What to be careful about in a URI (RFC 3986 7): who is meant by it, what it carries, what readers make of it "
    "differently.",
    (TEXT,),
    view_audit,
    (
        Example("Whose bank?", {"text": "http://www.bank.example@0x7f.1/"}),
        Example("A password", {"text": "ftp://joe:secret@h.example/"}),
        Example("Letters of two scripts", {"text": "http://p\u0430ypal.example/"}),
        Example("Dots that climb", {"text": "http://h.example/a/%2e%2e/%2e%2e/etc/passwd%00.png"}),
    ),
)
