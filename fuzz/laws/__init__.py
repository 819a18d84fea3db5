"""The laws that the Python targets of `make fuzz` hold to, a file for each subject.

Each has `check(data)`, which raises AssertionError where its law is broken and what the fault raises where it is a
fault; `seeds()`, the inputs to begin with; `WORDS`, what to put into them; and `LONGEST`, octets of an input.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from importlib import import_module
from typing import Protocol, cast

__all__ = ["NAMES", "UNGUIDED", "Law", "law"]

# A note would hide a mistake in a reader: here it is raised.
os.environ["OVERTHERE_FAULTS"] = "raise"

NAMES = (
    "kernels", "values", "edits", "columns", "arrow",
    "html", "xml", "css", "json", "markdown", "text",
    "mail", "warc", "records", "archives", "tables",
    "dialogues", "terminal", "patterns", "schemes", "integrations",
    "letter", "shortest", "older", "names", "keys", "guards", "dropin",
)  # fmt: skip
UNGUIDED = ("patterns", "shortest", "older", "arrow", "tables")
"""Targets that run no line that coverage counts, so that all seeds would be dropped: mutated without coverage."""


class Law(Protocol):
    """The attributes of each of these files."""

    WORDS: tuple[bytes, ...]
    LONGEST: int
    AFTER: str
    """Where the test of a finding belongs."""

    def check(self, data: bytes) -> None:
        """Judge one input.  Raises: AssertionError where the law is broken."""

    def seeds(self) -> Iterable[bytes]:
        """The inputs to begin with."""


def law(name: str) -> Law:
    """The file of that name."""
    return cast("Law", import_module(f"laws.{name}"))
