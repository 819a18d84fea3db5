"""The three late imports that go up a floor.

Values need three things from higher floors: the findings of an invalid text, the registry of schemes for the scheme
rung, and the repair of a reference before it is resolved.  Only these are imported late, and only here
(docs/decisions.md, "Floors").
"""

from __future__ import annotations

from functools import cache
from importlib import import_module

TYPE_CHECKING = False

if TYPE_CHECKING:
    from overthere.ground.errors import InvalidURI
    from overthere.schemes.registry import Registry
    from overthere.values.uri import URIReference


@cache
def default_registry() -> Registry:
    """Return the default registry: the built-in schemes and those of installed packages."""
    return import_module("overthere.schemes.registry").Registry.default()  # type: ignore[no-any-return]


def refusal(text: str, rule: str, zone: bool) -> InvalidURI:
    """Return the exception for a text that does not follow `rule`; the grammar computes its finding."""
    return import_module("overthere.values.findings").refusal(text, rule, zone)  # type: ignore[no-any-return]


def repair_reference(text: str) -> URIReference:
    """Return the only reference that a text can mean.  Raises: InvalidURI, the same as `overthere.repair`."""
    repair = import_module("overthere.repairs").repair
    return repair(text, relative=True, idna=False, limit=0).uri  # type: ignore[no-any-return]
