"""The pydantic v2 schema of values and templates: validation from text, constraints, serialisation, JSON Schema."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, Self, cast

from overthere.ground.errors import InvalidURI
from overthere.ground.exact import exact

if TYPE_CHECKING:
    from pydantic_core import CoreSchema, SchemaSerializer

    from overthere.ground.kinds import Finding

__all__ = ["Check", "TextSchema", "any_case", "failure", "schema", "serializer"]


@cache
def serializer() -> SchemaSerializer:
    """The serializer of a value whose field has no type: JSON is the text.  Raises: AttributeError without pydantic."""
    try:
        from pydantic_core import SchemaSerializer, core_schema
    except ImportError:
        raise AttributeError("pydantic is not installed") from None
    return SchemaSerializer(core_schema.any_schema(serialization=core_schema.to_string_ser_schema()))


_FORMATS = {
    "URI": "uri", "URI-reference": "uri-reference", "IRI": "iri", "IRI-reference": "iri-reference",
    "URI-Template": "uri-template",
}  # fmt: skip
_TEXT = {"min_length": "minLength", "max_length": "maxLength"}
"""Constraints of a text, and their names in JSON Schema."""


class Check(Protocol):
    """What a value has to be besides valid."""

    @property
    def pattern(self) -> str | None:
        """An expression of JSON Schema that every text with that property matches; None: there is no such one."""

    def __call__(self, value: Any) -> None:
        """Raises: an error of pydantic for a value without the property."""


def schema(cls: type[Any]) -> CoreSchema:
    """The core schema of a value type: its own instances pass, text is checked, JSON is the text.

    An invalid text is a validation error of the type `overthere_KIND` with the finding in its context.
    """
    return cast("CoreSchema", TextSchema(cls))


def failure(finding: Finding) -> Exception:
    """The error of pydantic for a finding."""
    from pydantic_core import PydanticCustomError

    context: Any = {**finding._asdict(), "finding": str(finding)}
    kind = f"overthere_{finding.kind}".replace("-", "_")
    return PydanticCustomError(kind, "{finding}", context)  # pyright: ignore[reportArgumentType]


def any_case(text: str) -> str:
    """An expression of JSON Schema, which has no flags, that matches a text in any case.

    >>> any_case("a+1")
    '[aA]\\\\+1'
    """
    return "".join(f"[{c.lower()}{c.upper()}]" if c.isascii() and c.isalpha() else re.escape(c) for c in text)


class TextSchema(dict[str, Any]):
    """A core schema that reads a text, and whose constraints are those of the text: a str schema within a function.

    pydantic puts a constraint of `Field` into a copy of the schema if its type has that constraint, and otherwise
    around it, where the value is no str any more.  So a copy is of the type "str" until it has its constraint, and sets
    it in the schema within.  That one is of the type "url" to `UrlConstraints`, which looks there.
    """

    def __init__(self, kind: type[Any], text: Mapping[str, Any] | None = None, checks: Iterable[Check] = ()) -> None:
        from pydantic_core import core_schema

        self.kind = kind
        self.rule: str = getattr(kind, "rule", "URI-Template")
        self.checks: tuple[Check, ...] = tuple(checks)
        self.open: bool = False
        """Whether it waits for a constraint of a text."""
        self.text: _InnerSchema = _InnerSchema(self, text or {})
        inner: Any = self.text
        made = core_schema.no_info_wrap_validator_function(
            self.read,
            inner,
            serialization=core_schema.to_string_ser_schema(),
            metadata={"pydantic_js_functions": [self.json_schema]},
        )
        super().__init__(made)

    def copy(self) -> Self:
        made = type(self)(self.kind, self.text, self.checks)
        made.update({key: value for key, value in self.items() if key not in made})
        made.open = True
        return made

    def __deepcopy__(self, memo: object) -> Self:
        made = self.copy()
        made.open = False
        return made

    def with_check(self, check: Check) -> Self:
        made = type(self)(self.kind, self.text, (*self.checks, check))
        made.update({key: value for key, value in self.items() if key not in made and key != "ref"})
        return made

    def __getitem__(self, key: str) -> Any:
        return "str" if self.open and key == "type" else super().__getitem__(key)

    def __setitem__(self, key: str, value: Any) -> None:
        if self.open and key not in self and key not in ("ref", "metadata", "serialization"):
            self.text.limit(key, value)
            self.open = False
        else:
            super().__setitem__(key, value)

    def read(self, value: Any, limits: Callable[[str], str]) -> Any:
        """The value, by the limits of its text."""
        own = isinstance(value, self.kind)
        if not own and not isinstance(value, str):
            from pydantic import AnyUrl
            from pydantic_core import PydanticCustomError, Url

            if not isinstance(value, (AnyUrl, Url)):
                raise PydanticCustomError("overthere_type", "text must be a valid {rule}", {"rule": self.rule})
        text = exact(value, self.rule) if isinstance(value, str) else str(value)
        if self.text.limited:
            text = limits(text)
        try:
            made = value if own and text == str(value) else self.kind(text)
        except InvalidURI as error:
            raise failure(error.finding) from None
        for check in self.checks:
            check(made)
        return made

    def json_schema(self, core: object, handler: object) -> dict[str, Any]:
        inner = self.text
        made = {"type": "string", "format": _FORMATS[self.rule]}
        made.update({name: inner[key] for key, name in _TEXT.items() if key in inner})
        own = inner.get("pattern")
        patterns = [own.pattern if isinstance(own, re.Pattern) else own, *(check.pattern for check in self.checks)]
        match [{"pattern": one} for one in patterns if one is not None]:
            case []:
                return made
            case [one]:
                return made | one
            case more:
                return made | {"allOf": more}


class _InnerSchema(dict[str, Any]):
    """The str schema within; `UrlConstraints` take it for one of a URL."""

    def __init__(self, outer: TextSchema, text: Mapping[str, Any]) -> None:
        # A URI is as it is written: what a model does with its texts (`str_to_lower`) does not count.
        own = {"type": "str", "to_lower": False, "to_upper": False, "strip_whitespace": False}
        super().__init__(own | dict(text))
        self.outer = outer
        self.limited: bool = self != own

    def __getitem__(self, key: str) -> Any:
        return "url" if key == "type" else super().__getitem__(key)

    def limit(self, key: str, value: Any) -> None:
        super().__setitem__(key, value)
        self.limited = True

    def __setitem__(self, key: str, value: Any) -> None:
        from pydantic import PydanticUserError

        match key:
            case "allowed_schemes":
                self.outer.checks += (_Schemes(tuple(value)),)
            case "host_required":
                self.outer.checks += (_HostRequired(),) if value else ()
            case "default_host" | "default_port" | "default_path":
                why = f"a {self.outer.rule} stays as it is written: UrlConstraints cannot set {key}"
                raise PydanticUserError(why, code="invalid-annotated-type")
            case "preserve_empty_path":
                pass
            case _:
                self.limit(key, value)


class _Schemes(NamedTuple):
    """`UrlConstraints(allowed_schemes=...)`, without case (RFC 3986 3.1)."""

    names: tuple[str, ...]

    @property
    def pattern(self) -> str:
        return f"^(?:{'|'.join(map(any_case, self.names))}):"

    def __call__(self, value: Any) -> None:
        from pydantic_core import PydanticKnownError

        if (value.scheme or "").lower() not in {name.lower() for name in self.names}:
            *first, last = map(repr, self.names or ("",))
            expected = f"{', '.join(first)} or {last}" if first else last
            raise PydanticKnownError("url_scheme", {"expected_schemes": expected})


class _HostRequired(NamedTuple):
    """`UrlConstraints(host_required=True)`."""

    @property
    def pattern(self) -> str:
        return r"^[^:/?#]*:?//(?:[^/?#@]*@)?[^/?#@:]"

    def __call__(self, value: Any) -> None:
        from pydantic_core import PydanticKnownError

        if not value.host:
            raise PydanticKnownError("url_parsing", {"error": "empty host"})
