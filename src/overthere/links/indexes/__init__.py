"""Indexes of web archives (CDXJ, CDX, columnar, lists of paths): the records of the archives, and their places."""

from overthere.links.indexes.conditions import Where
from overthere.links.indexes.entry import Entry
from overthere.links.indexes.reading import index_kind, read_index

__all__ = ["Entry", "Where", "index_kind", "read_index"]
