"""Checks the options of a job before it begins."""

from __future__ import annotations

from overthere.editions import known_edition
from overthere.ground.codings import zstd_library
from overthere.ground.extras import need
from overthere.ground.rung import Rung
from overthere.links.documents.kinds import TYPES
from overthere.links.model import Options

_LARGEST = 1 << 62
"""A number that native code can hold, also with the size of a header added."""


def check_options(options: Options) -> None:
    """Raise the errors of options, before any worker does: NotSpecified for an unknown edition; ValueError for an
    unknown kind or rung, and for a limit or a depth out of range; ModuleNotFoundError for a missing package of the
    extras `links` and `whatwg`.
    """
    known_edition(options.edition)
    if options.kind is not None and options.kind not in TYPES:
        raise ValueError(f"unknown kind {options.kind!r}; known: {', '.join(TYPES)}")
    if options.rung not in tuple(Rung):
        raise ValueError(f"unknown rung {options.rung!r:.100}; known: {', '.join(Rung.__members__)}")
    for name in ("limit", "depth"):
        number = getattr(options, name)
        if not isinstance(number, int) or not 0 <= number <= _LARGEST:
            raise ValueError(f"{name} must be a whole number from 0 to {_LARGEST}, not {number!r:.100}")
    need("links", "brotli", "markdown_it", "webencodings")
    zstd_library()
    if options.whatwg:
        need("whatwg", "ada_url")
