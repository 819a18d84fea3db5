"""pydantic: requirements of a field for its URI, and URLs of pydantic's own types.

class Hook(BaseModel):
    target: Annotated[URI, Require(schemes={"https"}, userinfo=False, public=True), Field(max_length=2048)]

Without requirements, the value classes are field types by themselves (`values/pydantic_schema.py`).
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any, TypeVar, cast

from overthere.ground.errors import OverthereError
from overthere.ground.extras import brought_by
from overthere.ground.kinds import Finding
from overthere.ground.rung import Rung
from overthere.values.hosts.address import client_name, forbidden, has_delimiter, literal, older_name
from overthere.values.pydantic_schema import TextSchema, any_case, failure
from overthere.values.uri import URI, URIReference

with brought_by("pydantic"):
    from pydantic import AnyUrl, GetCoreSchemaHandler, PydanticUserError, ValidationError

if TYPE_CHECKING:
    from pydantic_core import CoreSchema

__all__ = ["ChangedURL", "Require", "any_url"]

Url = TypeVar("Url", bound=AnyUrl)

_NOT_PUBLIC = re.compile(r"(?:.*\.)?(?:localhost|local|internal|home\.arpa|test|invalid|onion|alt)|[^.]*", re.DOTALL)
"""Names that are not in the public DNS (RFC 6761, 6762, 8375, 9476), and names of a single label."""
_REQUIREMENTS = {True: "required", False: "not allowed"}
_END = "(?:[/?#]|$)"
_DOT = r"(?:\.|%2[eE])?"
_MAPPED = r"(?:[!$&-.0-9;=_a-zA-Z~]|%[0-7])*(?:[^\0-\x7f]|%[89a-fA-F])[^/?#@:\[\]]*"
"""A host with a non-ASCII character: clients map it to another name (UTS 46 4), which no expression can know."""


@dataclass(frozen=True, kw_only=True)
class Require:
    """Requirements of a field of a value type: `Annotated[URI, Require(schemes={"https"})]`.

    A value that violates one is a validation error of the type `overthere_require_scheme`, `..._host`, `..._port`,
    `..._userinfo`, `..._rung` or `..._public`, with place, component and section in its context.  The JSON Schema has
    a `pattern`: every accepted text matches it; it does not know `rung`, addresses and default ports.
    """

    schemes: Collection[str] | None = None
    """The allowed schemes, without case (RFC 3986 3.1)."""
    host: bool | Collection[str] | None = None
    """True: not empty; False: no host; or the allowed hosts, as clients map them (".example": all hosts below it)."""
    port: bool | Collection[int] | None = None
    """True: with a port; False: without; or the allowed ports, of which the scheme's own may be omitted (3.2.3)."""
    userinfo: bool | None = None
    """False: without userinfo (RFC 3986 7.5: it is deprecated); True: with userinfo."""
    rung: Rung | str | None = None
    """The value must be in the normal form of this rung (6.2)."""
    public: bool = False
    """The host must not be a non-public address, in any spelling (7.4), nor a name that only local networks know.  No
    name is looked up: when the URI is opened, a guard must judge the addresses."""
    pattern: str | None = field(init=False, repr=False)
    """The expression of the JSON Schema; None if it would not require anything."""

    def __post_init__(self) -> None:
        """Raise TypeError for text instead of a collection, and for items of a wrong type; ValueError for an unknown
        rung or no requirement."""
        rules: Any = {"schemes": (str, str.lower), "host": (str, _client_host), "port": (int, int)}
        for name, (kind, normalize_item) in rules.items():
            value = getattr(self, name)
            if isinstance(value, (str, bytes)):
                raise TypeError(f"{name} takes a collection, not one text")
            if value is not None and not isinstance(value, bool):
                if not value:
                    raise ValueError(f"{name} is empty: nothing would be allowed")
                if not all(isinstance(item, kind) for item in value):
                    raise TypeError(f"{name} takes a collection of {kind.__name__}")
                normalized = frozenset(map(normalize_item, value))
                if "" in normalized:
                    raise ValueError(f"{name} has a name that is empty, or has only characters that clients ignore")
                object.__setattr__(self, name, normalized)
        rung = self.rung if self.rung is None else Rung(self.rung)  # type: ignore[arg-type]  # also from its name
        if rung is Rung.PROTOCOL:
            raise ValueError("the rung PROTOCOL takes evidence, which a text does not have (RFC 3986 6.2.4)")
        object.__setattr__(self, "rung", rung)
        if all(getattr(self, item.name) == item.default for item in fields(self) if item.init):
            raise ValueError("Require() requires nothing")
        object.__setattr__(self, "pattern", self._pattern())

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        field_schema: Any = handler(source)
        schema = self._add_to(handler.resolve_ref_schema(field_schema), source)
        if "serialization" in field_schema:  # a reference to a named type has its own
            schema["serialization"] = field_schema["serialization"]
        return cast("CoreSchema", schema)

    def _add_to(self, schema: Any, source: Any) -> Any:
        if isinstance(schema, TextSchema) and schema.rule != "URI-Template":
            return schema.with_check(self)
        if schema["type"] in ("nullable", "default"):
            return {**schema, "schema": self._add_to(schema["schema"], source)}
        message = f"Require applies to URI, URIReference, IRI or IRIReference, not to {source!r}"
        raise PydanticUserError(message, code="invalid-annotated-type")

    def __call__(self, value: Any) -> None:
        """Raise pydantic_core.PydanticCustomError for the first requirement that a value violates."""
        for name, component, message, expected, source in self._problems(value):
            behind = 0 if value.scheme is None else len(value.scheme) + 1
            start, end = (0, len(str(value))) if component == "any" else value.span(component) or (behind, behind)
            if name == "rung":  # the first difference from the normal form
                pairs = zip(f"{value}\0", f"{value.normalize(self.rung)}\1", strict=False)
                start = next(index for index, (char, normal_char) in enumerate(pairs) if char != normal_char)
            kind = f"require-{name}"
            raise failure(Finding(kind, start, end, component, component, expected, source, message))

    def _problems(self, value: Any) -> Iterator[tuple[str, str, str, str, str]]:
        """Yield requirement, component, message, expected values, and section of each violation."""
        host = client_name(value.host or "").removesuffix(".")
        if self.schemes is not None and (value.scheme or "").lower() not in self.schemes:
            message = "there is no scheme" if value.scheme is None else f"the scheme {value.scheme!r} is not allowed"
            yield "scheme", "scheme", message, _join(self.schemes), "RFC 3986 3.1"
        if self.userinfo is not None and self.userinfo != (value.userinfo is not None):
            yield "userinfo", "userinfo", f"userinfo is {_REQUIREMENTS[self.userinfo]}", "", "RFC 3986 3.2.1, 7.5"
        if isinstance(self.host, bool):
            if self.host != bool(value.host):
                yield "host", "host", f"a host is {_REQUIREMENTS[self.host]}", "", "RFC 3986 3.2.2"
        elif self.host is not None and not self._is_named(value.host or "", host):
            message = f"the host {value.host!r} is not allowed" if value.host else "there is no host"
            yield "host", "host", message, _join(self.host), "RFC 3986 3.2.2"
        if isinstance(self.port, bool):
            if self.port != (value.port_text is not None):
                yield "port", "port", f"a port is {_REQUIREMENTS[self.port]}", "", "RFC 3986 3.2.3"
        elif self.port is not None and (port := value.effective_port) not in self.port:
            message = "no port is known" if port is None else f"the port {port} is not allowed"
            yield "port", "port", message, _join(self.port), "RFC 3986 3.2.3"
        if self.public and (reason := _why_not_public(value.host)):
            yield "public", "host", f"the host is not public: {reason}", "", "RFC 3986 7.4"
        if self.rung is not None and str(value.normalize(self.rung)) != str(value):
            yield "rung", "any", f"it is not in the normal form of the rung {self.rung}", "", "RFC 3986 6.2"

    def _is_named(self, host_text: str, host: str) -> bool:
        """Whether a host is allowed; never a host that some reader ends or splits before the part that is allowed."""
        if not host_text.startswith("[") and has_delimiter(host):
            return False
        allowed = cast("Collection[str]", self.host)
        names = {host, older_name(host_text).removesuffix(".")}  # a client contacts one of them
        return all(any(name == rule or (rule[0] == "." and name.endswith(rule)) for rule in allowed) for name in names)

    def _pattern(self) -> str | None:
        """Return `pattern`: scheme, then an authority, which is optional if nothing requires one."""
        if all(value is None for value in (self.schemes, self.host, self.port, self.userinfo)) and not self.public:
            return None
        schemes = "|".join(map(any_case, sorted(self.schemes or ())))
        scheme = f"(?:{schemes}):" if schemes else "(?:[^:/?#]+:)?"
        userinfo = {None: "(?:[^/?#@]*@)?", True: "[^/?#@]*@", False: ""}[self.userinfo]
        any_host = r"(?:\[[^\]]*\]|[^/?#@:\[\]]+)"
        if self.host is False:
            host = ""
        elif self.host is None and not self.public:
            host = f"{any_host}?"
        elif isinstance(self.host, frozenset):
            host = f"(?:(?:{'|'.join(map(_host_pattern, sorted(self.host)))}){_DOT}|{_MAPPED})"
        else:
            host = any_host
        if isinstance(self.port, frozenset):  # without a port, or with an empty one, the scheme's port applies
            port = f"(?::(?:0*(?:{'|'.join(map(str, sorted(self.port)))}))?)?"
        elif self.port is None:
            port = "(?::[0-9]*)?"
        else:
            port = ":[0-9]*" if self.port else ""
        authority = f"//{userinfo}{host}{port}{_END}"
        if self.host or self.port or self.userinfo or self.public:
            return f"^{scheme}{authority}"
        without_authority = "/(?:[^/]|$)|[^/]|$"
        if schemes:
            return f"^{scheme}(?:{authority}|{without_authority})"
        return f"^(?:{scheme}{authority}|[^:/?#]+:(?:{without_authority})|[^:/?#]+{_END}|[?#]|$|/(?:[^/]|$))"


def _host_pattern(name: str) -> str:
    """Return a pattern for a name in any case, also with escaped characters (RFC 3986 6.2.2.2)."""
    expression = "[^/?#@:]*" if name.startswith(".") else ""
    for char in name:
        octets = "|".join(any_case(f"{ord(variant):02X}") for variant in dict.fromkeys((char, char.upper())))
        expression += f"(?:{any_case(char)}|%(?:{octets}))"
    return expression


def _client_host(name: str) -> str:
    dot = "." if name.startswith(".") else ""
    return dot + client_name(name.removeprefix("."), decoded=True).removesuffix(".")


def _join(values: Collection[object]) -> str:
    return ", ".join(sorted(map(str, values)))


def _why_not_public(host: str | None) -> str | None:
    name = client_name(host or "").rstrip(".")
    if not name:
        return "there is none"
    address = literal(host or "")
    if address is not None:
        range_name = forbidden(address)
        return range_name and f"{address} is {range_name}"
    if delimiter := has_delimiter(name):
        return f"a name cannot contain {delimiter!r}"
    return "a name of local networks" if _NOT_PUBLIC.fullmatch(name) else None


class ChangedURL(OverthereError, ValueError):
    """pydantic reads a URL from the text that differs from the URI of RFC 3986."""


def any_url(uri: URIReference | str, kind: type[Url] = AnyUrl) -> Url:  # type: ignore[assignment]
    """Return a URL of pydantic, for a field that takes one; conversely, a field of the type URI accepts an `AnyUrl`.

    pydantic reads by the URL Standard, which repairs and rewrites: `http://h` becomes `http://h/`.  Changes that keep
    the URI equivalent by its scheme (RFC 3986 6.2.3) are accepted; others are errors.

    Raises: pydantic.ValidationError if it is not such a URL; ChangedURL; InvalidURI for a text that is not a URI.

    >>> any_url("HTTP://Example.com")
    AnyUrl('http://example.com/')
    """
    source = URI(str(uri))
    try:
        url = kind(str(source))
    except ValidationError as error:
        redacted = source.redacted()  # the original input would show a password
        errors: Any = [{**details, "input": redacted} for details in error.errors(include_url=False)]
        raise ValidationError.from_exception_data(kind.__name__, errors) from None
    if not source.equivalent(URI(str(url)), Rung.SCHEME):
        raise ChangedURL(f"pydantic reads another URL: {URI(str(url)).redacted()!r} in place of {source.redacted()!r}")
    return url
