"""Error messages shorten the value of an option, whatever the option."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import pyarrow as pa
import pytest

import overthere
from overthere import IRI, URI, Policy, Template, URIReference, columns

LONG = "a" * 100_000
MOST = 2500
VALUES = (URI("http://h/"), IRI("http://h/"), URIReference("a"), Template("{a}"), Policy(), URI)
# They open URIs, files or a server's socket.
LEFT_OUT = frozenset(("open", "aopen", "AsyncResource", "Resource"))


def calls() -> Iterator[tuple[str, Any, Any]]:
    """Each public function and method, with the first arguments of its call."""
    for name in sorted(set(overthere.__all__) - LEFT_OUT):
        if callable(function := getattr(overthere, name)):
            yield name, function, "http://h/"
    for name in columns.__all__:
        if callable(function := getattr(columns, name)):
            yield f"columns.{name}", function, pa.array(["http://h/"])
    for value in VALUES:
        for name in dir(value):
            if not name.startswith("_") and callable(function := getattr(value, name)):
                yield f"{value}.{name}", function, None


@pytest.mark.parametrize(("name", "function", "first"), [pytest.param(*call, id=call[0]) for call in calls()])
def test_messages_are_short(name: str, function: Any, first: Any) -> None:
    long: dict[str, str] = {}
    with suppress(ValueError, TypeError):
        for option in inspect.signature(function).parameters.values():
            arguments = () if first is None or option.name in ("column", "text") else (first,)
            for positional in ((*arguments, LONG), arguments):
                named = {} if positional != arguments else {option.name: LONG}
                try:
                    function(*positional, **named)
                except Exception as error:  # documented exceptions are tested elsewhere
                    if len(str(error)) > MOST:
                        long[option.name] = str(error)[:100]
    assert long == {}
