"""Objects of stores: read by ranges, listed in pages, and put in one piece.

`s3:`, `gs:` and `az:` are opened by obstore, other schemes by fsspec.  Both take their credentials from the environment
alone: a URI holds none.
"""

from __future__ import annotations

from overthere.stores.model import Listed, StoreError, is_folder, is_object, is_web
from overthere.stores.opening import list_objects, look_up, open_object, open_range, permit, store_of

__all__ = [
    "Listed", "StoreError", "is_folder", "is_object", "is_web", "list_objects", "look_up", "open_object", "open_range",
    "permit", "store_of",
]  # fmt: skip
