"""A cache of results with limits for the number and length of its keys; and a property that is computed once."""

from __future__ import annotations

import functools
from collections.abc import Callable
from functools import lru_cache, wraps
from typing import TYPE_CHECKING, Any, ParamSpec, Protocol, TypeVar, cast

P = ParamSpec("P")
T = TypeVar("T", covariant=True)
V = TypeVar("V")
LONGEST = 1000
"""The most characters in a cached key: valid host names are shorter, and so are most URIs."""


class CachedFunction(Protocol[P, T]):
    """A function with a cache, such as `functools.lru_cache` returns."""

    def __call__(self, *args: P.args, **named: P.kwargs) -> T: ...

    def cache_info(self) -> Any:
        """Return hits, misses, maximal size and current size."""

    def cache_clear(self) -> None:
        """Empty the cache."""


def bounded_cache(most: int, longest: int = LONGEST) -> Callable[[Callable[P, T]], CachedFunction[P, T]]:
    """Decorate a function of texts with `functools.lru_cache(most)`; a call with longer texts is not cached.

    longest: the most characters in all texts of a call together.

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
            remaining = longest
            for argument in (*args, *named.values()) if named else args:
                if isinstance(argument, str | bytes):
                    remaining -= len(argument)
            answer: T = (function if remaining < 0 else cached)(*args, **named)
            return answer

        result: Any = call_cached
        result.cache_info, result.cache_clear = cached.cache_info, cached.cache_clear
        return cast("CachedFunction[P, T]", result)

    return decorate


class cached_property(functools.cached_property[V]):  # noqa: N801 - it replaces Python's
    """Python's cached_property without its lock (before 3.12), which a forked child might inherit locked."""

    if not TYPE_CHECKING:

        def __get__(self, instance: Any, owner: type[Any] | None = None) -> Any:
            if instance is None:
                return self
            value = instance.__dict__[self.attrname] = self.func(instance)
            return value
