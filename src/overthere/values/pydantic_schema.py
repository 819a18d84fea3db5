"""The pydantic v2 schema of values and templates: validation from text, constraints, serialisation, JSON Schema."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from sys import maxsize
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, Self, cast

from overthere.ground.errors import InvalidURI
from overthere.ground.exact import exact

if TYPE_CHECKING:
    from pydantic_core import CoreSchema, SchemaSerializer

    from overthere.ground.kinds import Finding


@cache
def serializer() -> SchemaSerializer:
    """Return a serializer for values in untyped fields: JSON is the text.  Raises: AttributeError without pydantic."""
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
# A URI stays as written: settings of a model for its texts (`str_to_lower`, `str_max_length`) do not apply.
_UNLIMITED = {
    "type": "str", "to_lower": False, "to_upper": False, "strip_whitespace": False, "min_length": 0,
    "max_length": maxsize,
}  # fmt: skip


class Check(Protocol):
    """A property that a valid value must have."""

    @property
    def pattern(self) -> str | None:
        """An expression of JSON Schema that every text with that property matches; None if it cannot be expressed."""

    def __call__(self, value: Any) -> None:
        """Raise an error of pydantic for a value without the property."""


def schema(cls: type[Any]) -> CoreSchema:
    """Return the core schema of a value type: its own instances pass, text is checked, JSON is the text.

    An invalid text is a validation error of the type `overthere_KIND` with the finding in its context.
    """
    return cast("CoreSchema", TextSchema(cls))


def failure(finding: Finding) -> Exception:
    """Return the error of pydantic for a finding."""
    from pydantic_core import PydanticCustomError

    context: Any = {**finding._asdict(), "finding": str(finding)}
    kind = f"overthere_{finding.kind}".replace("-", "_")
    return PydanticCustomError(kind, "{finding}", context)  # pyright: ignore[reportArgumentType]


def any_case(text: str) -> str:
    """Return an expression of JSON Schema, which has no flags, that matches a text in any case.

    >>> any_case("a+1")
    '[aA]\\\\+1'
    """
    return "".join(f"[{c.lower()}{c.upper()}]" if c.isascii() and c.isalpha() else re.escape(c) for c in text)


class TextSchema(dict[str, Any]):
    """A core schema that reads a text and takes constraints of the text: a str schema within a function.

    pydantic puts a constraint of `Field` into a copy of the schema if its type has that constraint, and otherwise
    around it, where the value is not a str any more.  So a copy has the type "str" until it has its constraint, and
    sets it in the inner schema.  The inner schema has the type "url" for `UrlConstraints`, which checks it.
    """

    def __init__(
        self, kind: type[Any], text: Mapping[str, Any] | None = None, checks: Iterable[Check] = (),
        metadata: Mapping[str, Any] = {},
    ) -> None:  # fmt: skip
        from pydantic_core import core_schema

        self.kind = kind
        self.rule: str = getattr(kind, "rule", "URI-Template")
        self.checks: tuple[Check, ...] = tuple(checks)
        self.open: bool = False
        """Whether it is a copy that waits for a constraint of a text."""
        self.text: _InnerSchema = _InnerSchema(self, text or {})
        inner: Any = self.text
        functions = metadata.get("pydantic_js_functions", ())[1:]  # after that of the schema that is copied
        function_schema = core_schema.no_info_wrap_validator_function(
            self.read,
            inner,
            serialization=core_schema.to_string_ser_schema(),
            metadata={**metadata, "pydantic_js_functions": [self.json_schema, *functions]},
        )
        super().__init__(function_schema)

    def copy(self) -> Self:
        copied = type(self)(self.kind, self.text, self.checks, self["metadata"])
        copied.update(self._additions())
        copied.open = True
        return copied

    def __deepcopy__(self, memo: object) -> Self:
        copied = self.copy()
        copied.open = False
        return copied

    def with_check(self, check: Check) -> Self:
        extended = type(self)(self.kind, self.text, (*self.checks, check), self["metadata"])
        extended.update({key: value for key, value in self._additions().items() if key != "ref"})
        return extended

    def _additions(self) -> dict[str, Any]:
        """Return what others may have set, such as a serializer; the rest is made anew, and metadata is passed on."""
        return {key: value for key, value in self.items() if key not in ("function", "schema", "metadata")}

    def __reduce__(self) -> tuple[object, ...]:
        """Pickle its parts, for pickle would set items before attributes; cloudpickle takes along a model's schema."""
        additions = iter(self._additions().items())
        return type(self), (self.kind, dict(self.text), self.checks), {"open": self.open}, None, additions

    def __getitem__(self, key: str) -> Any:
        return "str" if self.open and key == "type" else super().__getitem__(key)

    def __setitem__(self, key: str, value: Any) -> None:
        if self.open and key not in self and key not in ("ref", "metadata", "serialization"):
            self.text.limit(key, value)
            self.open = False
        else:
            super().__setitem__(key, value)

    def read(self, value: Any, limits: Callable[[str], str]) -> Any:
        """Return the value of a text within its limits."""
        is_value = isinstance(value, self.kind)
        if not is_value and not isinstance(value, str):
            from pydantic import AnyUrl
            from pydantic_core import PydanticCustomError, Url

            if not isinstance(value, (AnyUrl, Url)):
                raise PydanticCustomError("overthere_type", "text must be a valid {rule}", {"rule": self.rule})
        text = exact(value, self.rule) if isinstance(value, str) else str(value)
        if self.text.limited:
            text = limits(text)
        try:
            result = value if is_value and text == str(value) else self.kind(text)
        except InvalidURI as error:
            raise failure(error.finding) from None
        for check in self.checks:
            check(result)
        return result

    def json_schema(self, core: object, handler: object) -> dict[str, Any]:
        inner = self.text
        json = {"type": "string", "format": _FORMATS[self.rule]}
        json.update({name: inner[key] for key, name in _TEXT.items() if inner[key] != _UNLIMITED[key]})
        json.update(self["metadata"].get("pydantic_js_updates", {}))  # a description, examples
        if isinstance(extra := self["metadata"].get("pydantic_js_extra", {}), Mapping):
            json.update(extra)
        else:
            extra(json)
        rule = inner.get("pattern")
        patterns = [rule.pattern if isinstance(rule, re.Pattern) else rule, *(check.pattern for check in self.checks)]
        match [{"pattern": schema} for schema in patterns if schema is not None]:
            case []:
                return json
            case [schema]:
                return json | schema
            case schemas:
                return json | {"allOf": schemas}


class _InnerSchema(dict[str, Any]):
    """The inner str schema; `UrlConstraints` reads it as a schema of a URL."""

    def __init__(self, outer: TextSchema, text: Mapping[str, Any]) -> None:
        super().__init__(_UNLIMITED | dict(text))
        self.outer = outer
        self.limited: bool = self != _UNLIMITED

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
                message = f"a {self.outer.rule} stays as it is written: UrlConstraints cannot set {key}"
                raise PydanticUserError(message, code="invalid-annotated-type")
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
