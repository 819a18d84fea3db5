"""The column `audit`: findings of `overthere.audit` on the targets."""

from __future__ import annotations

from typing import Any

from overthere.columns.rowwise import compute
from overthere.ground.caches import bounded_cache
from overthere.links.faults import note_kind
from overthere.schemes.registry import Registry
from overthere.security import harmless, kinds

__all__ = ["fill_audit"]


@bounded_cache(1 << 14)
def _audit_target(target: str, registry: Registry | None) -> str | None:
    try:
        return " ".join(kinds(target, registry=registry)) or None
    except Exception as error:
        note_kind(error)
        return "audit-failed"


def fill_audit(batch: Any, registry: Registry | None = None) -> Any:
    """Return the batch with its column `audit` filled; an invalid reference is audited as written."""
    import pyarrow as pa

    pc = compute()

    texts = pc.coalesce(batch.column("target"), batch.column("reference"))
    encoded = pc.dictionary_encode(texts)
    kinds = [None if harmless(text) else _audit_target(text, registry) for text in encoded.dictionary.to_pylist()]
    audit = pa.array(kinds, pa.string()).take(encoded.indices)
    return batch.set_column(batch.schema.get_field_index("audit"), "audit", audit)
