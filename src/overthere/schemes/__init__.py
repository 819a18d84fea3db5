"""The schemes: a file for each or for a family, the registry, and IANA's list (RFC 3986 1.1.1, 3.1).

A scheme's file holds, in this order: its syntax, its locator (fields, split, join), its normal form, and the value
`SCHEME`, with its documents, rules, facts and examples.
"""

from __future__ import annotations

from overthere import lazy_names

# No module of its own is imported before it is used: another thread that begins with one of them holds its lock and
# waits for this one, which up to CPython 3.14 ends as a deadlock.
_HOMES = {
    "Access": "model", "Example": "model", "GenericLocator": "locator", "Given": "locator", "Locator": "locator",
    "NormalRule": "model", "Registry": "registry", "Scheme": "model", "Writer": "locator", "git_url": "known.git",
    "port_of": "registry", "scheme": "registry",
}  # fmt: skip

__all__ = sorted(_HOMES)

__getattr__, __dir__ = lazy_names(__name__, _HOMES)
