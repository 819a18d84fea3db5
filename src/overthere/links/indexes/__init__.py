"""Indexes of web archives (CDXJ, CDX, columnar, lists of paths): which records there are, and where."""

from overthere.links.indexes.conditions import Where
from overthere.links.indexes.entry import Entry
from overthere.links.indexes.reading import index_kind, read_index

__all__ = ["Entry", "Where", "index_kind", "read_index"]
