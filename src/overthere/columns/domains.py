"""Registrable domains of whole columns: each distinct host is looked up once (publicsuffix.org)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from overthere.columns.plain import compute, taken
from overthere.hosts.domains import suffix_list

if TYPE_CHECKING:
    from overthere.columns import ArrowColumn

__all__ = ["PARTS", "part"]

PARTS = ("subdomain", "registrable_domain", "public_suffix")


def part(column: Any, name: str, *, private: bool = True, threads: int | None = None) -> ArrowColumn:
    """One of `PARTS` of each row's host, as text; null without a host, for an address, and where there is none."""
    import pyarrow as pa

    from overthere import columns

    compute()
    hosts = taken(columns.host(column, threads=threads))
    index, rules = PARTS.index(name), suffix_list()

    def one(chunk: Any) -> Any:
        if pa.types.is_dictionary(chunk.type):
            coded = chunk
        else:
            kind = pa.large_string() if pa.types.is_string_view(chunk.type) else chunk.type
            coded = chunk.cast(kind).dictionary_encode()
        cuts = list[str | None]()
        for host in coded.dictionary.to_pylist():
            cut = rules.cut(host, private=private) if host else None
            cuts.append(None if cut is None else cut[index])
        made = pa.array(cuts, pa.large_string() if pa.types.is_large_string(coded.type.value_type) else pa.string())
        return made.take(coded.indices)

    if isinstance(hosts, pa.ChunkedArray):
        chunks: ArrowColumn = pa.chunked_array(
            [one(chunk) for chunk in hosts.chunks], None if hosts.num_chunks else pa.string()
        )
        return chunks
    whole: ArrowColumn = one(hosts)
    return whole
