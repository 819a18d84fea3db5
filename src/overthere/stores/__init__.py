"""Objects of stores: read by ranges, listed in pages, and put in one piece.

`s3:`, `gs:` and `az:` are opened by obstore, other schemes by fsspec.  Both take their credentials from the environment
alone: a URI holds none.  `model` tells what is an object; `opening` opens and lists.
"""
