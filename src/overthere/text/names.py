"""The words of a text that count as schemes: registered names, and usual forms of others."""

from __future__ import annotations

import re
from functools import cache, lru_cache
from typing import NamedTuple

from overthere.schemes.registry import Registry
from overthere.schemes.shapes import MAILBOX, NESTED, PHONE

__all__ = ["OTHERS", "Names", "names", "registered_schemes"]

OTHERS: dict[str, str] = {
    "acct": MAILBOX,
    "doi": r"10\.[0-9]",
    "im": MAILBOX,
    "jar": NESTED,
    "magnet": r"\?[a-z]",
    "pres": MAILBOX,
    "sms": PHONE,
    "xmpp": rf"{MAILBOX}|[A-Za-z0-9-]{{1,63}}\.[A-Za-z0-9]",
}
"""Schemes of which this package knows no more than how what follows the colon begins, without "//"; those that a
registry knows have it in `Scheme.shape`: `Breaking news:` is no URI.  Each looks at a bounded number of characters."""


class Names(NamedTuple):
    """What a registry, and IANA's, say of the words before a colon."""

    shapes: dict[str, str]
    """By scheme, in lower case: how what follows the colon begins, where no "//" does."""
    need_hosts: frozenset[str]
    """Schemes that name nothing without a host."""
    registered: frozenset[str]
    """Schemes that IANA has registered, or the registry knows."""

    def shape_of(self, scheme: str) -> re.Pattern[str] | None:
        """The shape of a scheme, in lower case; None if it has none."""
        shape = self.shapes.get(scheme)
        return None if shape is None else _compile_shape(shape)


def names(registry: Registry | None = None) -> Names:
    """Those of a registry, the default one unless given.

    >>> "http" in names().need_hosts, names().shape_of("tel").match("+1"), names().shape_of("http")
    (True, <re.Match object; span=(0, 2), match='+1'>, None)
    """
    return _names(Registry.default() if registry is None else registry)


@lru_cache(8)
def _names(registry: Registry) -> Names:
    known = registry.in_text()
    shapes = {**OTHERS, **{name: one.shape for name, one in known.items()}}
    return Names(
        {name: shape for name, shape in shapes.items() if shape},
        frozenset(name for name, one in known.items() if one.needs_host),
        registered_schemes(registry),
    )


@lru_cache(8)
def registered_schemes(registry: Registry) -> frozenset[str]:
    """Schemes that IANA has registered, or that a registry knows; none of them is loaded."""
    from overthere.schemes.iana import registrations

    return frozenset(registrations()) | frozenset(registry)


@cache
def _compile_shape(shape: str) -> re.Pattern[str]:
    return re.compile(shape)
