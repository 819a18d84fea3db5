"""Objects of stores: read by ranges, listed in pages, and put in one piece.

`s3:`, `gs:` and `az:` are opened by obstore, other schemes by fsspec.  Both take their credentials only from the
environment: a URI holds none.  `model` defines what an object is; `opening` opens and lists.
"""
