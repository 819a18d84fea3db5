"""The three late imports that go up a floor.

A value answers by what is built upon it: a URI that is refused says all that is wrong, its scheme rung goes by the
registry of schemes, and a reference is repaired before it is resolved.  Each of these is named here once, and
nothing else (docs/decisions.md, "Floors").
"""

from __future__ import annotations

from functools import cache
from importlib import import_module

TYPE_CHECKING = False

if TYPE_CHECKING:
    from overthere.ground.errors import InvalidURI
    from overthere.schemes.registry import Registry
    from overthere.values.uri import URIReference

__all__ = ["default_registry", "refusal", "repair_reference"]


@cache
def default_registry() -> Registry:
    """The registry of schemes where none was passed: the built-in schemes and those of installed packages."""
    return import_module("overthere.schemes.registry").Registry.default()  # type: ignore[no-any-return]


def refusal(text: str, rule: str, zone: bool) -> InvalidURI:
    """The exception for a text that `rule` does not derive, of which the grammar tells what is wrong."""
    return import_module("overthere.values.findings").refusal(text, rule, zone)  # type: ignore[no-any-return]


def repair_reference(text: str) -> URIReference:
    """The reference that a text can only mean.  Raises: InvalidURI, as `overthere.repair`."""
    repair = import_module("overthere.repairs").repair
    return repair(text, relative=True, idna=False, limit=0).uri  # type: ignore[no-any-return]
