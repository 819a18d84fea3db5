"""Loads the protocol package that a scheme names (`Scheme.access`), module by module on demand.

Making a plan loads only the steps; the code that reads answers is loaded when the plan is executed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType
from typing import TYPE_CHECKING, Any

from overthere.ground.errors import RegistryError

if TYPE_CHECKING:
    from overthere.access.planning import Plan
    from overthere.access.policy import Policy
    from overthere.access.steps import Credentials, Step
    from overthere.access.wire import Dialogue
    from overthere.schemes.locator import Locator
    from overthere.schemes.model import Scheme
    from overthere.schemes.registry import Registry
    from overthere.values.uri import URI


def package(access: str) -> str:
    """Return the full name of the package that a scheme names.

    >>> package("ftp"), package("overthere_finger.protocol")
    ('overthere.protocols.ftp', 'overthere_finger.protocol')
    """
    return access if "." in access else f"overthere.protocols.{access}"


def steps_of(scheme: Scheme) -> Callable[[Locator, Credentials], Iterable[Step]]:
    """Return the function that makes the steps of a plan.  Raises: RegistryError if it does not exist."""
    function: Callable[[Locator, Credentials], Iterable[Step]] | None = _function(scheme, "steps")
    if function is None:
        raise RegistryError(f"the access of {scheme.name!r} has no module of steps: {scheme.access!r}")
    return function


def dialogue_of(scheme: Scheme) -> Callable[[Plan, Policy], Dialogue]:
    """Return the dialogue that executes a plan: the scheme's, otherwise the generic one.

    Raises: RegistryError if the scheme has a module for it without a dialogue.
    """
    function: Callable[[Plan, Policy], Dialogue] | None = _function(scheme, "dialogue")
    if function is not None:
        return function
    from overthere.access.generic import dialogue

    return dialogue


def configure(scheme: Scheme, locator: Locator, policy: Policy) -> Locator:
    """Complete a locator with the policy's configuration for its scheme; most locators stay as they are.

    Raises: PlanRefused for an invalid configuration.
    """
    if isinstance(scheme.access, str):
        function = getattr(_module(scheme.name, scheme.access, "steps"), "configured", None)
    else:
        function = scheme.access and scheme.access.configured
    complete: Locator = locator if function is None else function(locator, policy)
    return complete


def by_proxy() -> Callable[[Plan, Policy, URI, Registry], Plan]:
    """Return the function that leads a plan through a proxy, which is a part of HTTP."""
    function: Callable[[Plan, Policy, URI, Registry], Plan] = import_module(f"{package('http')}.proxy").through_proxy
    return function


def _function(scheme: Scheme, name: str) -> Any:
    """Return the function `name` in the module `name`; None if there is no such module."""
    if not isinstance(scheme.access, str):
        return getattr(scheme.access, name, None)
    module = _module(scheme.name, scheme.access, name)
    if module is None or hasattr(module, name):
        return getattr(module, name, None)
    raise RegistryError(f"the access of {scheme.name!r}, {module.__name__}, has no function {name!r}")


def _module(scheme: str, access: str, name: str) -> ModuleType | None:
    module_name = f"{package(access)}.{name}"
    try:
        return import_module(module_name) if find_spec(module_name) else None
    except ImportError as error:
        raise RegistryError(f"the access of {scheme!r}, {module_name}: {error}") from error
