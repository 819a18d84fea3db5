"""The audit view: security findings in a URI, at their places."""

from __future__ import annotations

from typing import NamedTuple

from overthere.ground.errors import Finding
from overthere.ground.extras import missing_message
from overthere.security import audit
from overthere.security.parts import split_text
from overthere.web.model import Example, View
from overthere.web.runs import Place
from overthere.web.views.anatomy import TEXT


class Audit(NamedTuple):
    """The security findings on a text."""

    text: str
    findings: list[Finding]
    skipped: list[str]
    """Checks that were skipped because an extra is not installed."""


def view_audit(text: str) -> Audit:
    """Return the value of the view."""
    return Audit(text, audit(text, limit=100), _skipped_checks())


def places_in(text: str) -> list[Place]:
    """Return the places of the components of any text."""
    parts = split_text(text)
    names = ("userinfo", "host", "port", "path", "query", "fragment")
    places = [Place(name, *span) for name in names if (span := getattr(parts, name)) is not None]
    return [*places, *([Place("scheme", parts.start, parts.start + len(parts.scheme))] if parts.scheme else ())]


def _skipped_checks() -> list[str]:
    from importlib.util import find_spec

    checks = [
        (missing_message("confusable_homoglyphs", "audit"), "look-alike names are not checked"),
        (missing_message("ada_url", "whatwg"), "differences from the host that browsers read are not checked"),
    ]
    return [f"{missing_package}: {why}" for why, missing_package in checks if find_spec(why.split()[0]) is None]


VIEW = View(
    "audit",
    "Audit",
    "Security findings in a URI (RFC 3986 7): misleading hosts, secrets, and parts that software reads differently.",
    (TEXT,),
    view_audit,
    python="from overthere import audit\nfor finding in audit({text}):\n    print(finding)",
    command="overthere audit -- {text}",
    examples=(
        Example("Whose bank?", {"text": "http://www.bank.example@0x7f.1/"}),
        Example("A password", {"text": "ftp://joe:secret@h.example/"}),
        Example("Letters of two scripts", {"text": "http://p\u0430ypal.example/"}),
        Example("Dots that climb", {"text": "http://h.example/a/%2e%2e/%2e%2e/etc/passwd%00.png"}),
    ),
)
