"""Resolution step by step, by RFC 3986 and by the drafts of 1997 and 2003."""

from __future__ import annotations

from dataclasses import dataclass

from overthere.editions.resolution_trace import TRACES, trace
from overthere.ground.display import printable
from overthere.ground.errors import Finding
from overthere.ground.redact import mask
from overthere.values.findings import check_uri
from overthere.values.known_secrets import Secrets
from overthere.web.model import Example, Input, View

__all__ = ["VIEW", "Resolution"]


@dataclass(frozen=True)
class Step:
    """One step, as it is taken on this input."""

    step: str
    """The document's own number."""
    statement: str
    value: str | None
    """What it gives; None is undefined, and what gives buffers only."""
    output: str | None
    """The output buffer, or the one buffer of the older documents."""
    input: str | None
    """The input buffer (RFC 3986 5.2.4)."""
    kind: str
    """ "buffers", "question" or "statement"."""


@dataclass(frozen=True)
class Algorithm:
    """How one document resolves it."""

    name: str
    document: str
    section: str
    steps: list[Step]
    left_out: int
    """Steps that are not listed."""
    target: str | None
    problem: str | None


@dataclass(frozen=True)
class Resolution:
    """The three algorithms; passwords are masked."""

    reference: str
    base: str
    algorithms: list[Algorithm]
    targets: list[str]
    """The different targets, the most usual first."""
    invalid: list[str]
    """What is wrong with the texts by RFC 3986; the algorithms take them all the same."""


def resolution(reference: str, base: str) -> Resolution:
    """The data of the view."""
    secrets = Secrets.from_texts(base, reference)

    def make_visible(text: str | None) -> str | None:
        return None if text is None else printable(secrets.mask(mask(text)))

    algorithms = []
    for name in reversed(list(TRACES)):
        found = trace(name, base, reference)
        steps = [
            Step(
                line.step, printable(secrets.mask(line.statement)), make_visible(line.value), make_visible(line.output),
                make_visible(line.input), _kind(line.value, line.output),
            )
            for line in found.lines
        ]  # fmt: skip
        algorithms.append(
            Algorithm(name, found.document, found.section, steps, found.left_out, make_visible(found.target),
                      make_visible(found.problem))
        )  # fmt: skip
    targets = [one.target for one in algorithms if one.target is not None]
    wrong = [
        f"the {what}: {printable(finding.message)} (at {finding.start}; {finding.source})"
        for what, finding in _wrong(reference, base)
    ]
    return Resolution(
        make_visible(reference) or "", make_visible(base) or "", algorithms,
        sorted(dict.fromkeys(targets), key=lambda one: -targets.count(one)), wrong,
    )  # fmt: skip


def _kind(value: str | None, output: str | None) -> str:
    return "buffers" if output is not None else "question" if value in ("yes", "no") else "statement"


def _wrong(reference: str, base: str) -> list[tuple[str, Finding]]:
    return [
        *(("base", one) for one in check_uri(base, "URI", True, limit=3)),
        *(("reference", one) for one in check_uri(reference, "URI-reference", True, limit=3)),
    ]


VIEW = View(
    "resolution",
    "Resolution",
    "RFC 3986 5.2.2 and 5.2.4 as they run on the input, with both buffers line by line; and the same by the drafts of "
    "1997 and 2003.",
    (
        Input("reference", "Reference", "Relative or not."),
        Input("base", "Base", "The URI that the reference stands in.", default="http://a/b/c/d;p?q"),
    ),
    resolution,
    (
        Example("The RFC's table", {"reference": "/a/b/c/./../../g", "base": "http://a/b/c/d;p?q"}),
        Example("A query alone", {"reference": "?y", "base": "http://a/b/c/d;p?q"}),
        Example("Above the root", {"reference": "../../../g", "base": "http://a/b/c/d;p?q"}),
        Example("Dots in a query", {"reference": "g?y/../x", "base": "http://a/b/c/d;p?q"}),
    ),
)
