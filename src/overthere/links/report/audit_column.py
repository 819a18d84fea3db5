"""The column `audit`: findings of `overthere.audit` on the targets."""

from __future__ import annotations

from overthere.ground.caches import bounded_cache
from overthere.links.faults import note_kind
from overthere.links.report.batch import AnyBatch
from overthere.schemes.registry import Registry
from overthere.security import harmless, kinds


@bounded_cache(1 << 14)
def _audit_target(target: str, registry: Registry | None) -> str | None:
    try:
        return " ".join(kinds(target, registry=registry)) or None
    except Exception as error:
        note_kind(error)
        return "audit-failed"


def fill_audit(batch: AnyBatch, registry: Registry | None = None) -> AnyBatch:
    """Return the batch with its column `audit` filled; an invalid reference is audited as written."""
    targets = zip(batch.column("target"), batch.column("reference"), strict=True)
    texts = [reference if target is None else target for target, reference in targets]
    kinds = {text: None if harmless(text) else _audit_target(text, registry) for text in {*texts} - {None}}
    return batch.with_texts("audit", [kinds.get(text) for text in texts])
