"""A view: named inputs of limited length, and a function from them to a value of the library, also as JSON."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any, Literal

from overthere.ground.display import printable
from overthere.ground.errors import OverthereError
from overthere.ground.figure import shorten
from overthere.ground.redact import mask
from overthere.values.known_secrets import Secrets

TEXT = 8192
"""Maximum code points of a one-line input; browsers and servers accept URIs of about that length."""
DOCUMENT = 262_144
"""Maximum code points of a pasted document."""
_TERMS = frozenset(("component", "kind", "rung", "source"))
"""Fields whose values are terms of the library: they stay, even if a password has the same text."""


class BadInput(OverthereError, ValueError):
    """An input of a view that is missing, unknown or too long; its message shows no secret and no invisible character:
    a URI that is sent without the name of an input is a name."""

    def __init__(self, message: str, *, too_long: bool = False) -> None:
        super().__init__(printable(mask(message)))
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

    def check(self, value: str | None) -> str:
        """Return the value for the view.  Raises: BadInput."""
        if value is None:
            if self.default is None:
                raise BadInput(f"{self.name} is missing: {self.label}")
            return self.default
        if len(value) > self.limit:
            raise BadInput(
                f"{self.name} has {len(value):,} characters, and the limit here is {self.limit:,}; "
                "the command line has no such limit",
                too_long=True,
            )
        if self.kind == "choice" and value not in (choice for choice, _ in self.choices):
            raise BadInput(f"{self.name} is one of: {', '.join(choice for choice, _ in self.choices)}")
        return value


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
    """A sentence on what the page shows."""
    inputs: tuple[Input, ...]
    answer: Callable[..., Any]
    """Takes the inputs by name; returns a value of the library, or a named tuple of several."""
    examples: tuple[Example, ...] = ()
    python: str = ""
    """The same in Python: `{name}` is an input as a literal; text in `[]` is left out if its input is empty."""
    command: str = ""
    """The same on the command line; ` -- ` is left out if no input begins with "-"."""
    masked: bool = True
    """Whether the page masks secrets of the inputs; otherwise `answer` returns none."""

    def __call__(self, values: Mapping[str, str]) -> Any:
        """Return the library's value for these inputs, with their secrets.

        Raises: BadInput; ModuleNotFoundError if an extra is missing that the view needs.
        """
        known_names = {field.name for field in self.inputs}
        for name in values:
            if name not in known_names:
                raise BadInput(f"unknown input '{shorten(mask(name), 40)}'; known: {', '.join(sorted(known_names))}")
        return self.answer(**{field.name: field.check(values.get(field.name)) for field in self.inputs})

    def data(self, values: Mapping[str, str]) -> Any:
        """Return the value as JSON data, with secrets masked.  Raises: as calling the view."""
        return as_data(self(values), self.hiding(values))

    def hiding(self, values: Mapping[str, str]) -> Callable[[str], str]:
        """Return a function that masks the secrets of these inputs in a text."""
        if not self.masked:
            return str
        secrets = Secrets.from_texts(*values.values())
        return lambda text: secrets.mask(mask(text))

    def example_of(self, name: str) -> str:
        """Return the placeholder of an empty field: the first example of an input."""
        return next((example.inputs[name] for example in self.examples if example.inputs.get(name)), "")

    @property
    def is_input_required(self) -> bool:
        """Whether the view has no answer without an input."""
        return any(field.default is None for field in self.inputs)


def as_data(value: Any, hide: Callable[[str], str] = str) -> Any:
    """Return a value as JSON data: its `to_dict()`, or its fields as an object; tuples become lists.

    hide: applied to each text except terms of the library.
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
