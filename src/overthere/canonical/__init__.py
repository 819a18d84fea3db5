"""Canonical forms beyond the comparison ladder: named steps, each with its risk."""

from __future__ import annotations

from overthere.canonical.expressions import hash_prefixes, lookup_expressions
from overthere.canonical.forms import (
    CRAWLER_COMMONS,
    FORMS,
    SAFE_BROWSING,
    SURT,
    TRACKING,
    TRACKING_NAMES,
    URL_NORMALIZE,
    W3LIB,
)
from overthere.canonical.model import Applied, Canonical, Step
from overthere.canonical.raw import raw_uri
from overthere.canonical.table import STEPS

__all__ = [
    "CRAWLER_COMMONS", "FORMS", "SAFE_BROWSING", "STEPS", "SURT", "TRACKING", "TRACKING_NAMES", "URL_NORMALIZE",
    "W3LIB", "Applied", "Canonical", "Step", "hash_prefixes", "lookup_expressions", "raw_uri",
]  # fmt: skip
