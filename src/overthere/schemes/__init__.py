"""The schemes: a file for each or for a family, the registry, and IANA's list (RFC 3986 1.1.1, 3.1).

A scheme's file holds, in this order: its syntax, its locator (fields, split, join), its normal form, and the value
`SCHEME`, with its documents, rules, facts and examples.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

# No module of its own is imported before it is used: another thread that begins with one of them holds its lock and
# waits for this one, which up to CPython 3.14 ends as a deadlock.
if TYPE_CHECKING:
    from overthere.schemes.known.git import git_url
    from overthere.schemes.locator import GenericLocator, Given, Locator, Writer
    from overthere.schemes.model import Access, Example, NormalRule, Scheme
    from overthere.schemes.registry import Registry

__all__ = [
    "Access", "Example", "GenericLocator", "Given", "Locator", "NormalRule", "Registry", "Scheme", "Writer",
    "git_url", "port_of", "scheme",
]  # fmt: skip


def scheme(name: str) -> Scheme:
    """The scheme of that name, in any case, in the default registry; `known` says whether there is more than its name.

    Raises: RegistryError for an invalid name or one with two claims.

    >>> scheme("gopher").port, scheme("xmpp").title, scheme("xmpp").known
    (70, 'Extensible Messaging and Presence Protocol', False)
    """
    from overthere.schemes.registry import Registry

    return Registry.default().scheme(name)


def port_of(name: str, registry: Registry | None = None) -> int | None:
    """The default port of a scheme that a registry knows, the default one unless given; None for others."""
    from overthere.schemes.registry import Registry

    found = (Registry.default() if registry is None else registry).get(name)
    return None if found is None else found.port


def __getattr__(name: str) -> object:
    from importlib import import_module

    if name in ("GenericLocator", "Given", "Locator", "Writer"):
        return getattr(import_module("overthere.schemes.locator"), name)
    if name in ("Access", "Example", "NormalRule", "Scheme"):
        return getattr(import_module("overthere.schemes.model"), name)
    if name == "git_url":
        return import_module("overthere.schemes.known.git").git_url
    if name == "Registry":
        return import_module("overthere.schemes.registry").Registry
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
