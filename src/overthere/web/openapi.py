"""The OpenAPI document of the views' JSON, generated from the views."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from functools import cache
from inspect import getdoc
from types import NoneType, UnionType
from typing import Any, get_args, get_origin, get_type_hints

import overthere
from overthere.web.model import TEXT, Input, View
from overthere.web.views import VIEWS


@cache
def document() -> dict[str, Any]:
    """Return the document as JSON data.

    >>> sorted(document()["paths"])[:2]
    ['/anatomy.json', '/audit.json']
    """
    schemas: dict[str, Any] = {
        "Error": {
            "type": "object",
            "required": ["error"],
            "properties": {"error": {"type": "string", "description": "The problem, in words."}},
        }
    }
    paths = {f"/{view.name}.json": _path(view, schemas) for view in VIEWS.values()}
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "overthere, the explainer",
            "version": overthere.__version__,
            "description": "How the specifications of URIs read a text. Each view answers with JSON here, and with a "
            "page under its name without .json. Nothing is fetched, stored or logged; passwords are masked.",
            "license": {"name": "MIT", "identifier": "MIT"},
        },
        "servers": [{"url": "/"}],
        "paths": paths,
        "components": {"schemas": schemas},
    }


def _path(view: View, schemas: dict[str, Any]) -> dict[str, Any]:
    schemas[view.name] = _schema_of(get_type_hints(view.answer)["return"], schemas)
    responses = {
        "200": _response("The content of the view.", view.name),
        "400": _response("An input is missing, unknown, or has an invalid value.", "Error"),
        "413": _response("An input is too long.", "Error"),
        "501": _response("An extra of the package is not installed.", "Error"),
        "503": _response("The answer took too long.", "Error"),
    }
    description = {"summary": view.title, "description": view.lead}
    body = {
        "type": "object", "properties": {field.name: _schema(field, field.limit) for field in view.inputs},
        "required": [field.name for field in view.inputs if field.default is None], "additionalProperties": False,
    }  # fmt: skip
    if not body["required"]:
        del body["required"]
    return {
        "get": {
            **description,
            "operationId": view.name,
            "parameters": [
                {
                    "name": field.name,
                    "in": "query",
                    "required": field.default is None,
                    "description": field.help or field.label,
                    "schema": _schema(field, min(field.limit, TEXT)),
                }
                for field in view.inputs
            ],
            "responses": responses,
        },
        "post": {
            **description,
            "operationId": f"{view.name}.post",
            "requestBody": {"required": True, "content": {"application/x-www-form-urlencoded": {"schema": body}}},
            "responses": {**responses, "415": _response("The content is not a form.", "Error")},
        },
    }


_TYPES: Mapping[Any, str] = {str: "string", int: "integer", bool: "boolean", NoneType: "null"}


def _schema_of(hint: Any, schemas: dict[str, Any]) -> dict[str, Any]:
    """Return the schema of `as_data` for a type; named tuples are added to the schemas."""
    origin, arguments = get_origin(hint), get_args(hint)
    if hint in _TYPES:
        return {"type": _TYPES[hint]}
    if origin is UnionType:
        return {"anyOf": [_schema_of(part, schemas) for part in arguments]}
    if origin is not None:
        return {"type": "array", "items": _schema_of(arguments[0], schemas)}
    if issubclass(hint, Enum):
        return {"enum": list(hint.__members__)}
    if not issubclass(hint, tuple):  # has a to_dict()
        return {"type": "object", "description": getdoc(hint)}
    if hint.__name__ not in schemas:
        schemas[hint.__name__] = {}
        hints = get_type_hints(hint)
        schemas[hint.__name__] = {
            "type": "object", "description": getdoc(hint),
            "properties": {name: _schema_of(part, schemas) for name, part in hints.items()}, "required": list(hints),
        }  # fmt: skip
    return {"$ref": f"#/components/schemas/{hint.__name__}"}


def _schema(field: Input, limit: int) -> dict[str, Any]:
    schema: dict[str, Any] = {"type": "string", "maxLength": limit}
    if field.kind == "choice":
        schema = {"type": "string", "enum": [value for value, _ in field.choices]}
    if field.default is not None:
        schema["default"] = field.default
    return schema


def _response(description: str, schema: str) -> dict[str, Any]:
    return {
        "description": description,
        "content": {"application/json": {"schema": {"$ref": f"#/components/schemas/{schema}"}}},
    }
