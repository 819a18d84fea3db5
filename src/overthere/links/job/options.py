"""Checks the options of a job before it begins."""

from __future__ import annotations

from overthere.ground.codings import zstd_library
from overthere.ground.errors import NotSpecified
from overthere.ground.exact import exact
from overthere.ground.extras import need
from overthere.links.documents.kinds import TYPES
from overthere.links.model import Options


def check_options(options: Options) -> None:
    """Raise the errors of options, before any worker does: NotSpecified for an unknown edition; ValueError for an
    unknown kind; ModuleNotFoundError for a missing package of the extras `links` and `whatwg`.
    """
    from overthere.editions import NAMES

    if exact(options.edition, "edition") not in NAMES:
        raise NotSpecified(f"unknown edition {options.edition!r}; known: {', '.join(NAMES)}")
    if options.kind is not None and options.kind not in TYPES:
        raise ValueError(f"unknown kind {options.kind!r}; known: {', '.join(TYPES)}")
    need("links", "brotli", "markdown_it", "webencodings")
    zstd_library()
    if options.whatwg:
        need("whatwg", "ada_url")
