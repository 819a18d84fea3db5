"""One text as the five documents and browsers read it, with the host that each contacts."""

from __future__ import annotations

from collections.abc import Sequence

from overthere.anatomy import Explanation, explain
from overthere.editions.readings import PARTS, Reading, disagreements
from overthere.web.model import Example, Input, View
from overthere.web.views.anatomy import TEXT


def readings(text: str, base: str) -> Explanation:
    """Return the value of the view, as `overthere explain --format jsonl` prints it."""
    return explain(text, base or None)


def usual_names(results: Sequence[Reading]) -> dict[str, list[str]]:
    """Return the parts that are read differently, each with the documents of the most frequent reading."""
    return {part: max(groups.values(), key=len) for part, groups in disagreements(results).items()}


def browser_cells(explanation: Explanation) -> dict[str, tuple[str | None, bool]]:
    """Return for each part what a browser reads, and whether RFC 3986 differs; a browser reads empty as undefined."""
    href, rfc3986 = explanation.whatwg, explanation.readings[-1]
    if href is None:
        return {}
    host, path = rfc3986.host, rfc3986.path or ("/" if rfc3986.host else "")
    values = (href.hostname, href.pathname, href.search[1:], href.hash[1:], href.href, None)
    rfc3986_values = (host and host.lower(), path, rfc3986.query, rfc3986.fragment, href.href, None)
    return {
        part: (value if part == "path" else value or None, (value or None) != (rfc3986_value or None))
        for part, value, rfc3986_value in zip(PARTS, values, rfc3986_values, strict=True)
    }


def differing_parts(explanation: Explanation) -> list[str]:
    """Return the parts that documents and browsers do not all read alike."""
    parts = usual_names(explanation.readings).keys() | {
        part for part, (_, differs) in browser_cells(explanation).items() if differs
    }
    return [part for part in PARTS if part in parts]


BASE = Input("base", "Base", "Needed for a relative reference.", default="")

VIEW = View(
    "editions",
    "Five documents",
    "One text as the documents of 1994, 1738, 1997, 2003, RFC 3986 and browsers read it: the differences, and the "
    "host that each would contact.",
    (TEXT, BASE),
    readings,
    python="from overthere import explain\nprint(explain({text}[, {base}]))",
    command="overthere explain[ --base {base}] -- {text}",
    examples=(
        Example("Whose host is it?", {"text": "http://trusted.example\\@evil.example/"}),
        Example("An FTP user with a ?", {"text": "ftp://u?x@h/"}),
        Example("A number for a host", {"text": "http://0x7f.1/"}),
        Example("A query alone", {"text": "?y", "base": "http://a/b/c/d;p?q"}),
    ),
)
