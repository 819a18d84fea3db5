"""A bounded cache of results, whose texts are neither long nor many; and a property that is computed once."""

from __future__ import annotations

import functools
from collections.abc import Callable
from functools import lru_cache, wraps
from typing import TYPE_CHECKING, Any, ParamSpec, Protocol, TypeVar, cast

__all__ = ["LONGEST", "CachedFunction", "bounded_cache", "cached_property"]

P = ParamSpec("P")
T = TypeVar("T", covariant=True)
V = TypeVar("V")
LONGEST = 1000
"""Characters of a text that is kept as a key: no host name is longer that means anything, and few URIs are."""


class CachedFunction(Protocol[P, T]):
    """A function that remembers, as `functools.lru_cache` makes it."""

    def __call__(self, *args: P.args, **named: P.kwargs) -> T: ...

    def cache_info(self) -> Any:
        """Hits, misses, the most that are kept, and how many are."""

    def cache_clear(self) -> None:
        """Forget all."""


def bounded_cache(most: int, longest: int = LONGEST) -> Callable[[Callable[P, T]], CachedFunction[P, T]]:
    """`functools.lru_cache(most)` for a function of texts; a call whose texts have more characters is not remembered.

    longest: characters of all texts of a call together.

    >>> @bounded_cache(2, longest=3)
    ... def double(text):
    ...     return text * 2
    >>> double("ab"), double("ab"), double("abcd"), double.cache_info().hits, double.cache_info().currsize
    ('abab', 'abab', 'abcdabcd', 1, 1)
    """

    def decorate(function: Callable[P, T]) -> CachedFunction[P, T]:
        cached: Any = lru_cache(most)(function)

        @wraps(function)
        def call_cached(*args: P.args, **named: P.kwargs) -> T:
            left = longest
            for one in (*args, *named.values()) if named else args:
                if isinstance(one, str | bytes):
                    left -= len(one)
            answer: T = (function if left < 0 else cached)(*args, **named)
            return answer

        made: Any = call_cached
        made.cache_info, made.cache_clear = cached.cache_info, cached.cache_clear
        return cast("CachedFunction[P, T]", made)

    return decorate


class cached_property(functools.cached_property[V]):  # noqa: N801 - it stands for that of Python
    """That of Python without its lock (before 3.12): a forked child might find it held by a thread of its parent."""

    if not TYPE_CHECKING:

        def __get__(self, instance: Any, owner: type[Any] | None = None) -> Any:
            if instance is None:
                return self
            value = instance.__dict__[self.attrname] = self.func(instance)
            return value
