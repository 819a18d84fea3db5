"""Selects the requested rows of the link table."""

from __future__ import annotations

from typing import Any

from overthere import columns
from overthere.columns.rowwise import compute

__all__ = ["CHOICES", "select"]

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


def select(batch: Any, names: tuple[str, ...]) -> Any:
    """Return the rows of a batch that at least one of the names selects; without names, all."""
    if not names:
        return batch
    pc = compute()

    mask = _mask(batch, names[0])
    for name in names[1:]:
        mask = pc.or_(mask, _mask(batch, name))
    return batch.filter(mask)


def _mask(batch: Any, name: str) -> Any:
    import pyarrow as pa

    pc = compute()

    reference, target, error = (batch.column(n) for n in ("reference", "target", "error"))
    match name:
        case "valid":
            return pc.is_valid(target)
        case "invalid":
            # With an edition that has a "current document", such a reference is valid and has no target.
            return pc.and_(pc.and_(pc.is_valid(reference), pc.is_valid(error)), pc.is_null(target))
        case "mapped":
            return pc.and_(pc.is_valid(target), pc.is_valid(error))
        case "same-document":
            return pc.fill_null(batch.column("same_document"), False)
        case "external" | "internal":
            hosts = [pa.array(columns.host(column)) for column in (target, batch.column("base"))]
            target_host, base_host = (pc.utf8_lower(pc.fill_null(host.cast(pa.string()), "")) for host in hosts)
            same = pc.equal(target_host, base_host)
            return pc.and_(pc.is_valid(target), same if name == "internal" else pc.invert(same))
        case "parts":
            return pc.is_valid(batch.column("part"))
        case "notes":
            return pc.is_null(reference)
        case "audit" | "browser":
            return pc.is_valid(batch.column(name))
        case _:
            raise ValueError(f"unknown choice {name!r}; known: {', '.join(CHOICES)}")
