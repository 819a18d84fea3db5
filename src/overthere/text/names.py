"""The words of a text that count as schemes: registered names, and words with a typical continuation."""

from __future__ import annotations

import re
from functools import cache, lru_cache
from typing import NamedTuple

from overthere.schemes.in_text import MAILBOX, NESTED, PHONE
from overthere.schemes.registry import Registry

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
"""Schemes that no registry describes: a pattern of the text after the colon, without "//".  Described schemes have
`Scheme.shape`, so that `Breaking news:` is not a URI.  Each pattern reads a bounded number of characters."""


class Names(NamedTuple):
    """The schemes of a registry and of IANA, as words before a colon."""

    shapes: dict[str, str]
    """By scheme, in lower case: a pattern of the text after the colon, if it is not "//"."""
    need_hosts: frozenset[str]
    """Schemes whose URIs name nothing without a host."""
    registered: frozenset[str]
    """Schemes that IANA has registered, or the registry knows."""

    def shape_of(self, scheme: str) -> re.Pattern[str] | None:
        """Return the pattern of a lower-case scheme; None if it has none."""
        shape = self.shapes.get(scheme)
        return None if shape is None else _compile_shape(shape)


def names(registry: Registry | None = None) -> Names:
    """Return the names of a registry, by default the default one.

    >>> "http" in names().need_hosts, names().shape_of("tel").match("+1"), names().shape_of("http")
    (True, <re.Match object; span=(0, 2), match='+1'>, None)
    """
    return _names(Registry.default() if registry is None else registry)


@lru_cache(8)
def _names(registry: Registry) -> Names:
    text_schemes = registry.in_text()
    shapes = {**OTHERS, **{name: scheme.shape for name, scheme in text_schemes.items()}}
    return Names(
        {name: shape for name, shape in shapes.items() if shape},
        frozenset(name for name, scheme in text_schemes.items() if scheme.needs_host),
        registered_schemes(registry),
    )


@lru_cache(8)
def registered_schemes(registry: Registry) -> frozenset[str]:
    """Return the schemes that IANA or a registry knows, without loading any."""
    from overthere.schemes.iana import registrations

    return frozenset(registrations()) | frozenset(registry)


@cache
def _compile_shape(shape: str) -> re.Pattern[str]:
    return re.compile(shape)
