"""The pairs of a query by its scheme: whether "+" is a space, and the line ends in values."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, cast

from overthere.ground.caches import bounded_cache
from overthere.ground.late_imports import default_registry
from overthere.values.form_pairs import Pairs, flat, plain_value

if TYPE_CHECKING:
    from overthere.schemes.registry import Registry

LINE_END = re.compile(r"\r\n|\r|\n")
HALF_LINE_BREAK = re.compile(r"(?<!%0[dD])%0[aA]|%0[dD](?!%0[aA])")
"""An escape that is only half of a line break (RFC 6068 5)."""


def plus_of(scheme: str | None, registry: Registry | None = None) -> bool:
    """Whether "+" in a query of this scheme is a space, as in the forms of HTML; it is unless the scheme says
    otherwise.

    registry: the known schemes; None: the default registry.

    >>> plus_of("https"), plus_of("mailto"), plus_of(None)
    (True, False, True)
    """
    return _default_plus(scheme) if registry is None else _plus(scheme, registry)


def _plus(scheme: str | None, registry: Registry) -> bool:
    entry = None if scheme is None else registry.get(scheme.lower())
    return entry is None or entry.plus


@bounded_cache(64)
def _default_plus(scheme: str | None) -> bool:
    return _plus(scheme, default_registry())


def native_facts(scheme: str) -> tuple[int | None, tuple[str | None, bool] | None, bool, bool]:
    """Return the facts of a scheme of the default registry that the native kernel caches.

    Returns: the default port; the rules of the scheme rung (`CommonRules`), None if it has other rules; whether "+" in
    a query is a space; whether parameters are lines of text.

    >>> native_facts("unknown")
    (None, (None, False), True, False)
    """
    entry = default_registry().get(scheme) if scheme else None
    if entry is None:
        return None, (None, False), True, False
    rules = None if entry.compared else entry.common_rules
    return entry.port, rules, entry.plus, bool(entry.text_parameters)


def pairs_of(scheme: str | None, pairs: Pairs) -> Pairs:
    """Return pairs of data for a query of this scheme: in texts of mail, lines are separated by CR LF (RFC 6068 5).

    >>> pairs_of("mailto", {"body": "a\\nb"})
    {'body': ['a\\r\\nb']}
    """
    if scheme is None or (entry := default_registry().get(scheme.lower())) is None or not entry.text_parameters:
        return pairs

    def value(item: object) -> Any:
        item = plain_value(item)
        return LINE_END.sub("\r\n", item) if isinstance(item, str) else item

    if not isinstance(pairs, Mapping):
        return [(name, value(item)) for name, item in flat(pairs)]
    mapping = cast("Mapping[str, Any]", pairs)
    return {name: [value(item) for _, item in flat({name: values})] for name, values in mapping.items()}
