"""The pydantic v2 schema of the value types: validation from text, serialisation, JSON Schema `format`."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pydantic_core import CoreSchema, SchemaSerializer

    from overthere.kernel import Components

__all__ = ["schema", "serializer"]


@cache
def serializer() -> SchemaSerializer:
    """The serializer of a value whose field has no type: JSON is the text.  Raises: AttributeError without pydantic."""
    try:
        from pydantic_core import SchemaSerializer, core_schema
    except ImportError:
        raise AttributeError("pydantic is not installed") from None
    return SchemaSerializer(core_schema.any_schema(serialization=core_schema.to_string_ser_schema()))


_FORMATS = {"URI": "uri", "URI-reference": "uri-reference", "IRI": "iri", "IRI-reference": "iri-reference"}


def schema(cls: type[Components]) -> CoreSchema:
    """The core schema of a value type: its own instances pass, text is checked, JSON is the text.

    An invalid text is a validation error of the type `overthere_KIND` with the finding in its context.
    """
    from pydantic_core import PydanticCustomError, core_schema

    from overthere.ground.errors import InvalidURI

    def read(value: Any) -> Components:
        if isinstance(value, cls):
            return value
        if not isinstance(value, str):
            raise PydanticCustomError("overthere_type", "text must be a valid {rule}", {"rule": cls.rule})
        try:
            return cls(value)
        except InvalidURI as error:
            kind = "overthere_" + error.kind.replace("-", "_")
            context = {**error.finding._asdict(), "finding": str(error)}
            raise PydanticCustomError(kind, "{finding}", context) from None  # pyright: ignore[reportArgumentType]

    return core_schema.no_info_plain_validator_function(
        read,
        serialization=core_schema.to_string_ser_schema(),
        json_schema_input_schema=core_schema.str_schema(),
        metadata={"pydantic_js_functions": [lambda _, __: {"type": "string", "format": _FORMATS[cls.rule]}]},
    )
