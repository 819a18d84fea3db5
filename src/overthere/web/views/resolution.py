"""Resolution step by step, by RFC 3986 and by the drafts of 1997 and 2003."""

from __future__ import annotations

from typing import NamedTuple

from overthere.editions.resolution_trace import TRACES, Trace, trace
from overthere.ground.errors import Finding
from overthere.values.findings import check_uri
from overthere.web.model import Example, Input, View


class Resolution(NamedTuple):
    """A reference resolved by each algorithm."""

    reference: str
    base: str
    traces: list[Trace]
    targets: list[str]
    """The distinct targets, the most frequent first."""
    findings_base: list[Finding]
    """According to RFC 3986; the algorithms accept invalid texts too."""
    findings_reference: list[Finding]


def resolution(reference: str, base: str) -> Resolution:
    """Return the value of the view."""
    traces = [trace(name, base, reference) for name in reversed(list(TRACES))]
    targets = [each.target for each in traces if each.target is not None]
    return Resolution(
        reference, base, traces, sorted(dict.fromkeys(targets), key=lambda target: -targets.count(target)),
        check_uri(base, "URI", True, limit=3), check_uri(reference, "URI-reference", True, limit=3),
    )  # fmt: skip


VIEW = View(
    "resolution",
    "Resolution",
    "RFC 3986 5.2.2 and 5.2.4 run on the input, both buffers line by line; and the drafts of 1997 and 2003.",
    (
        Input("reference", "Reference", "Relative or not."),
        Input("base", "Base", "The URI of the document that has the reference.", default="http://a/b/c/d;p?q"),
    ),
    resolution,
    python="from overthere import URI\nprint(URI({base}).join({reference}))",
    command="overthere resolve --base {base} -- {reference}",
    examples=(
        Example("The RFC's table", {"reference": "/a/b/c/./../../g", "base": "http://a/b/c/d;p?q"}),
        Example("A query alone", {"reference": "?y", "base": "http://a/b/c/d;p?q"}),
        Example("Above the root", {"reference": "../../../g", "base": "http://a/b/c/d;p?q"}),
        Example("Dots in a query", {"reference": "g?y/../x", "base": "http://a/b/c/d;p?q"}),
    ),
)
