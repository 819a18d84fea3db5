"""The column functions in Rust, with the rows that need a scheme's facts finished in Python."""

from __future__ import annotations

from typing import Any

from overthere import _native
from overthere.columns import plain
from overthere.normalize import Rung

__all__ = ["check", "field", "first_bad", "parts", "text"]

field, first_bad = plain.field, plain.first_bad


def check(column: Any, rule: str, *, zone: bool, threads: int) -> Any:
    """Whether each row follows the rule."""
    return _native.column_check(column, rule, zone, threads)


def parts(column: Any, names: list[str], rule: str | None, *, zone: bool, threads: int) -> Any:
    """The named components, unchecked if `rule` is None."""
    return _native.column_parts(column, names, rule, zone, threads)


def text(column: Any, operation: str, *, details: bool, threads: int, **how: Any) -> Any:
    """One text column out of another."""
    if operation == "normalize" and how["rung"] > Rung.SYNTAX:
        return plain.text(column, operation, details=details, threads=threads, **how)
    return _native.column_text(column, operation, details=details, threads=threads, **how)
