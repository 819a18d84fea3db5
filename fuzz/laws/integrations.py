"""Faces of other libraries: they accept what the values accept, refuse in the words of both, and show no password."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Annotated, Any, NamedTuple

from django.conf import settings
from django.core.exceptions import ValidationError as DjangoError
from pydantic import Field, TypeAdapter, UrlConstraints
from pydantic import ValidationError as PydanticError
from sqlalchemy.dialects import sqlite

from overthere import IRI, URI, InvalidURI, IRIReference, OverthereError, Template, URIReference
from overthere.ground.redact import mask
from overthere.integrations.django import URIFormField, URIValidator
from overthere.integrations.fsspec import OverthereFileSystem
from overthere.integrations.jsonschema import checker
from overthere.integrations.pydantic import Require
from overthere.integrations.sqlalchemy import URIReferenceType, URIType
from overthere.integrations.tldextract import extract
from overthere.text import ConnectionString
from seeds import cases

WORDS = (
    b"http://", b"https://", b"//", b"joe:s3cr3t-pw@", b"h.example", b"%68.example", b"H.EXAMPLE.", b".", b":443",
    b":0080", b":", b",", b"@", b"[::1]", b"[", b"]", b"127.1", b"0x7f.1", b"localhost", b"co.uk", b"github.io", b"/",
    b"?", b"#", b"%", b"%2e", b"{x}", b"{?q*}", b"{", b"data:", b"data:text/plain;base64,", b"urn:a:b", b"\xc3\xbc",
    b"\xe3\x80\x82", b"\xff", b"\0", b" ", b"postgresql://", b"..", b"a",
)  # fmt: skip
LONGEST = 512
AFTER = "a row to the test of it in tests/integrations"

_PASSWORD = "s3cr3t-pw"
settings.configure(USE_I18N=False)


class _Type(NamedTuple):
    """A type of a field, and what it means by itself."""

    adapter: TypeAdapter[Any]
    kind: Callable[[str], object]
    pattern: str | None


def _type(kind: Any, *kwargs: Any) -> _Type:
    adapter = TypeAdapter[Any](Annotated[kind, *kwargs] if kwargs else kind)
    schema = adapter.json_schema()
    return _Type(adapter, kind, schema.get("pattern"))


_TYPES = [
    *map(_type, (URI, URIReference, IRI, IRIReference, Template)),
    _type(URI, Field(max_length=20, min_length=4)),
    _type(URIReference, UrlConstraints(allowed_schemes=["http", "urn"], max_length=100)),
    *(
        _type(kind, Require(**required))
        for kind in (URIReference, IRIReference)
        for required in (
            {"schemes": ["http", "urn"]}, {"host": True}, {"host": False}, {"host": {"h.example", ".uk", "[::1]"}},
            {"port": True}, {"port": False}, {"port": {80, 443}}, {"userinfo": False}, {"userinfo": True},
            {"rung": "scheme"}, {"public": True}, {"schemes": ["https"], "host": {".example"}, "userinfo": False},
        )
    ),
]  # fmt: skip
_FIELD, _VALIDATOR, _CHECKER = URIFormField(strip=False, schemes=None), URIValidator(), checker()
_FILES = OverthereFileSystem()
_DIALECT = sqlite.dialect()
_FORMATS = {
    "uri": URI,
    "uri-reference": URIReference,
    "iri": IRI,
    "iri-reference": IRIReference,
    "uri-template": Template,
}


def _accepts(kind: Callable[[str], object], text: str) -> bool:
    try:
        kind(text)
    except InvalidURI:
        return False
    return True


def check(data: bytes) -> None:
    """data: the text."""
    text = data.decode("utf-8", "surrogateescape")
    valid = _accepts(URI, text)
    for checked_type in _TYPES:
        _check_type(checked_type, text)
    for call in (_VALIDATOR, _FIELD.clean):
        message = ""
        try:
            call(text)
        except DjangoError as error:
            message = str(error)
        assert valid is not bool(message), f"{call}: {message}"
        _check_secret(text, message)
    for name, kind in _FORMATS.items():
        assert _CHECKER.conforms(text, name) == _accepts(kind, text), name
    for column, kind in ((URIType(), URI), (URIReferenceType(), URIReference)):
        if _accepts(kind, text):
            assert column.process_bind_param(text, _DIALECT) == text
            assert column.process_result_value(text, _DIALECT) == kind(text)
    _check_domain(text)
    _check_connection(text)
    if text.startswith("data:"):
        with suppress(OverthereError):
            _FILES.cat_file(text)


def _check_secret(text: str, message: str) -> None:
    """A message contains no password that `mask` hides in the text."""
    assert _PASSWORD not in message or _PASSWORD in mask(text), message


def _check_type(kind: _Type, text: str) -> None:
    try:
        value = kind.adapter.validate_python(text)
    except PydanticError as error:
        (detail,) = error.errors(include_input=False)
        _check_secret(text, f"{detail['msg']}{detail.get('ctx')}")
        return
    assert value == kind.kind(text), kind
    assert str(value) == text, kind
    assert kind.adapter.validate_python(value) is value, kind
    assert kind.pattern is None or re.search(kind.pattern, text), f"{kind.pattern} does not match what {kind} accepts"


def _check_domain(text: str) -> None:
    parts = extract(text)
    joined = ".".join(part for part in (parts.subdomain, parts.domain, parts.suffix) if part)
    assert parts.fqdn in ("", joined), parts
    if _accepts(URI, text):
        assert extract(URI(text)) == parts or "//" not in text.partition(":")[2][:2], parts


def _check_connection(text: str) -> None:
    string: ConnectionString | InvalidURI
    try:
        string = ConnectionString(text)
    except InvalidURI as error:
        string = error
    if isinstance(string, InvalidURI):
        assert 0 <= string.start <= string.end <= len(text), string
        _check_secret(text, f"{string}{string!r}")
        return
    uris = list(string.uris)
    assert len(uris) == len(string.hosts) > 0
    assert [uri.host for uri in uris] == [host.host for host in string.hosts]
    assert string.uri is None or len(uris) == 1 or "," in (string.uri.host or ""), string


def seeds() -> Iterator[bytes]:
    yield from (
        b"postgresql://joe:s3cr3t-pw@h1:1,h2:2/db?a=b",
        b"http://h.example:443/",
        b"joe.github.io",
        b"data:,a%20b",
    )
    yield from (b"/{user}{?q*}", b"https://joe:s3cr3t-pw@0x7f.1/", b"urn:a:b", b"//[::1]:80/", b"http://a.b.co.uk./x")
    for file, row in cases():
        if file in ("parse", "check"):
            yield from (
                row[key].encode("utf-8", "surrogatepass") for key in ("text", "uri") if isinstance(row.get(key), str)
            )
