"""A view: named inputs of limited length, and a function from them to data."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from typing import Any, Literal

from overthere.ground.errors import OverthereError

__all__ = ["DOCUMENT", "TEXT", "BadInput", "Example", "Input", "View", "as_data"]

TEXT = 8192
"""Code points of an input of one line; browsers and servers take URIs of about that length."""
DOCUMENT = 262_144
"""Code points of a document that is pasted."""


class BadInput(OverthereError, ValueError):
    """An input of a view that is not there, is not known, or is too long."""

    def __init__(self, message: str, *, too_long: bool = False) -> None:
        super().__init__(message)
        self.too_long = too_long


@dataclass(frozen=True)
class Input:
    """One input of a view."""

    name: str
    label: str
    help: str = ""
    default: str | None = None
    """What stands for it where it is not given; None: it has to be given."""
    kind: Literal["line", "area", "choice"] = "line"
    limit: int = TEXT
    choices: Sequence[tuple[str, str]] = ()
    """Values with what they are called."""

    def check(self, given: str | None) -> str:
        """The input as the view takes it.  Raises: BadInput."""
        if given is None:
            if self.default is None:
                raise BadInput(f"{self.name} is missing: {self.label}")
            return self.default
        if len(given) > self.limit:
            raise BadInput(
                f"{self.name} has {len(given):,} characters, and at most {self.limit:,} are read here; "
                "the command line has no such limit",
                too_long=True,
            )
        if self.kind == "choice" and given not in (value for value, _ in self.choices):
            raise BadInput(f"{self.name} is one of: {', '.join(value for value, _ in self.choices)}")
        return given


@dataclass(frozen=True)
class Example:
    """Inputs that are worth a look."""

    title: str
    inputs: Mapping[str, str]


@dataclass(frozen=True)
class View:
    """One page, its permanent link and its JSON."""

    name: str
    """In the link, and of the template."""
    title: str
    lead: str
    """What is to be seen, in a sentence."""
    inputs: tuple[Input, ...]
    answer: Callable[..., Any]
    """Takes the inputs by name; gives a dataclass."""
    examples: tuple[Example, ...] = ()

    def __call__(self, given: Mapping[str, str]) -> Any:
        """The data of the view.

        Raises: BadInput; ModuleNotFoundError where an extra is missing that the view needs.
        """
        known = {one.name for one in self.inputs}
        for name in given:
            if name not in known:
                shown = name if len(name) <= 40 else f"{name[:40]}…"
                raise BadInput(f"there is no input {shown!r}; there is {', '.join(sorted(known))}")
        return self.answer(**{one.name: one.check(given.get(one.name)) for one in self.inputs})

    @property
    def is_input_required(self) -> bool:
        """Whether it says nothing without an input."""
        return any(one.default is None for one in self.inputs)


def as_data(value: Any) -> Any:
    """What JSON can hold of a view's data: dataclasses as objects, tuples as lists."""
    if is_dataclass(value) and not isinstance(value, type):
        return {one.name: as_data(getattr(value, one.name)) for one in fields(value)}
    if isinstance(value, Mapping):
        return {str(key): as_data(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [as_data(item) for item in value]
    return value
