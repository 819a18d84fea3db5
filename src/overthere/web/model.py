"""A view: named inputs of limited length, a function from them to a value of the library, and its JSON."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any, Literal

from overthere.ground.errors import OverthereError
from overthere.ground.redact import mask
from overthere.values.known_secrets import Secrets

__all__ = ["DOCUMENT", "TEXT", "BadInput", "Example", "Input", "View", "as_data"]

TEXT = 8192
"""Maximum code points of an input of one line; browsers and servers take URIs of about that length."""
DOCUMENT = 262_144
"""Maximum code points of a pasted document."""
_TERMS = frozenset(("component", "kind", "rung", "source"))
"""Fields whose values are terms of the library: a password that reads the same does not mask them."""


class BadInput(OverthereError, ValueError):
    """An input of a view that is missing, unknown or too long."""

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
    """The value of a missing input; None: the input is required."""
    kind: Literal["line", "area", "choice"] = "line"
    limit: int = TEXT
    choices: Sequence[tuple[str, str]] = ()
    """Values with their labels."""

    def check(self, given: str | None) -> str:
        """The input as the view takes it.  Raises: BadInput."""
        if given is None:
            if self.default is None:
                raise BadInput(f"{self.name} is missing: {self.label}")
            return self.default
        if len(given) > self.limit:
            raise BadInput(
                f"{self.name} has {len(given):,} characters, and the limit here is {self.limit:,}; "
                "the command line has no such limit",
                too_long=True,
            )
        if self.kind == "choice" and given not in (value for value, _ in self.choices):
            raise BadInput(f"{self.name} is one of: {', '.join(value for value, _ in self.choices)}")
        return given


@dataclass(frozen=True)
class Example:
    """Inputs with a title."""

    title: str
    inputs: Mapping[str, str]


@dataclass(frozen=True)
class View:
    """One page, its permanent link and its JSON."""

    name: str
    """In the link, and of the template."""
    title: str
    lead: str
    """What the page shows, in a sentence."""
    inputs: tuple[Input, ...]
    answer: Callable[..., Any]
    """Takes the inputs by name; gives a value of the library, or a named tuple of some."""
    examples: tuple[Example, ...] = ()
    python: str = ""
    """The same in Python: `{name}` is an input as a literal; what is in `[]` is left out where its input is empty."""
    command: str = ""
    """The same on the command line; ` -- ` is left out where no input begins with "-"."""
    masked: bool = True
    """Whether secrets of the inputs are masked in what is shown; otherwise `answer` gives none."""

    def __call__(self, given: Mapping[str, str]) -> Any:
        """The library's value for these inputs; secrets are in it.

        Raises: BadInput; ModuleNotFoundError where an extra is missing that the view needs.
        """
        known = {one.name for one in self.inputs}
        for name in given:
            if name not in known:
                shown = name if len(name) <= 40 else f"{name[:40]}…"
                raise BadInput(f"unknown input {shown!r}; known: {', '.join(sorted(known))}")
        return self.answer(**{one.name: one.check(given.get(one.name)) for one in self.inputs})

    def data(self, given: Mapping[str, str]) -> Any:
        """The same as JSON can hold it, with secrets masked.  Raises: as calling the view."""
        return as_data(self(given), self.hiding(given))

    def hiding(self, given: Mapping[str, str]) -> Callable[[str], str]:
        """What masks the secrets of these inputs in a text."""
        if not self.masked:
            return str
        secrets = Secrets.from_texts(*given.values())
        return lambda text: secrets.mask(mask(text))

    def example_of(self, name: str) -> str:
        """What an empty field shows: the first example of an input."""
        return next((one.inputs[name] for one in self.examples if one.inputs.get(name)), "")

    @property
    def is_input_required(self) -> bool:
        """Whether the view has no answer without an input."""
        return any(one.default is None for one in self.inputs)


def as_data(value: Any, hide: Callable[[str], str] = str) -> Any:
    """What JSON can hold of a value: its `to_dict()`, or its fields as an object; tuples are lists.

    hide: applied to each text but the library's own terms.
    """
    if isinstance(value, Enum):
        return value.name
    if isinstance(value, str):
        return hide(value)
    if hasattr(value, "to_dict"):
        value = value.to_dict()
    elif hasattr(value, "_asdict"):
        value = value._asdict()
    if isinstance(value, Mapping):
        return {str(key): as_data(item, str if key in _TERMS else hide) for key, item in value.items()}
    return [as_data(item, hide) for item in value] if isinstance(value, list | tuple) else value
