"""Selects the requested rows of the link table."""

from __future__ import annotations

from overthere.links.report.batch import AnyBatch

CHOICES = {
    "valid": "references with a target",
    "invalid": "references without one",
    "mapped": "references that are not valid URI-references but have the target of an IRI",
    "same-document": "references to the document itself",
    "external": "targets with another host than the base",
    "internal": "targets with the host of the base",
    "parts": "references to a part of the same message",
    "notes": "problems with documents",
    "audit": "targets with findings of the audit",
    "browser": "references where browsers open another target",
}
"""name -> the rows that it selects."""


def select(batch: AnyBatch, names: tuple[str, ...]) -> AnyBatch:
    """Return the rows of a batch that at least one of the names selects; without names, all.

    Raises: ValueError for an unknown name.
    """
    for name in names:
        if name not in CHOICES:
            raise ValueError(f"unknown choice {name!r}; known: {', '.join(CHOICES)}")
    return batch.select(list(names)) if names else batch
