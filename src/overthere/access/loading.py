"""The protocol of a scheme, out of the package that the scheme names (`Scheme.access`), each part as it is needed.

A plan loads what is sent alone; how answers are read is loaded when the plan is carried out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from overthere.errors import RegistryError

if TYPE_CHECKING:
    from overthere.access.planning import Plan
    from overthere.access.policy import Policy
    from overthere.access.steps import Credentials, Step
    from overthere.access.wire import Dialogue
    from overthere.schemes.locator import Locator
    from overthere.schemes.model import Scheme

__all__ = ["configured", "dialogue_of", "package", "steps_of"]


def package(access: str) -> str:
    """The whole name of the package that a scheme names.

    >>> package("ftp"), package("overthere_finger.protocol")
    ('overthere.protocols.ftp', 'overthere_finger.protocol')
    """
    return access if "." in access else f"overthere.protocols.{access}"


def steps_of(scheme: Scheme) -> Callable[[Locator, Credentials], Iterable[Step]]:
    """What makes the steps of a plan.  Raises: RegistryError if it is not there."""
    found: Callable[[Locator, Credentials], Iterable[Step]] | None = _function(scheme, "steps", "steps")
    if found is None:
        raise RegistryError(f"the access of {scheme.name!r} has no steps: {scheme.access!r}")
    return found


def dialogue_of(scheme: Scheme) -> Callable[[Plan, Policy], Dialogue]:
    """What carries the plan out; without one of its own, the dialogue that takes each step as it stands."""
    found: Callable[[Plan, Policy], Dialogue] | None = _function(scheme, "dialogue", "dialogue")
    if found is not None:
        return found
    from overthere.access.generic import dialogue

    return dialogue


def configured(scheme: Scheme, locator: Locator, policy: Policy) -> Locator:
    """The locator with what the policy has configured for URIs of its scheme; most are whole as they are.

    Raises: PlanRefused for what is configured and cannot be meant.
    """
    function = _function(scheme, "steps", "configured")
    found: Locator = locator if function is None else function(locator, policy)
    return found


def _function(scheme: Scheme, module: str, name: str) -> Any:
    """None where there is no such module, or no such function in it.  Raises: RegistryError where it is not loaded."""
    if not isinstance(scheme.access, str):
        return getattr(scheme.access, name, None)
    where = f"{package(scheme.access)}.{module}"
    try:
        return getattr(import_module(where), name, None) if find_spec(where) else None
    except ImportError as error:
        raise RegistryError(f"the access of {scheme.name!r}, {where}: {error}") from error
