"""The hot operations on text: one interface, picked once at import.

`name` says which implementation serves.  `OVERTHERE_KERNEL=reference` asks for the plain one.
"""

from overthere.kernel.reference import (
    normalize,
    parse,
    percent_decode,
    percent_encode,
    remove_dot_segments,
    resolve,
    split,
)

name = "reference"

__all__ = [
    "name",
    "normalize",
    "parse",
    "percent_decode",
    "percent_encode",
    "remove_dot_segments",
    "resolve",
    "split",
]
