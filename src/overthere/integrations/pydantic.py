"""pydantic: what a field requires of its URI, and URLs of pydantic's own types.

class Hook(BaseModel):
    target: Annotated[URI, Require(schemes={"https"}, userinfo=False, public=True), Field(max_length=2048)]

The values themselves are types of fields without it (`values/pydantic_schema.py`).
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
_WISHES = {True: "required", False: "not allowed"}
_END = "(?:[/?#]|$)"
_DOT = r"(?:\.|%2[eE])?"
_MAPPED = r"(?:[!$&-.0-9;=_a-zA-Z~]|%[0-7])*(?:[^\0-\x7f]|%[89a-fA-F])[^/?#@:\[\]]*"
"""A host with a character beyond US-ASCII: clients map it to another name (UTS 46 4), which no expression knows."""


@dataclass(frozen=True, kw_only=True)
class Require:
    """Requirements of a field of a value type: `Annotated[URI, Require(schemes={"https"})]`.

    A value without it is a validation error of the type `overthere_require_scheme`, `..._host`, `..._port`,
    `..._userinfo`, `..._rung` or `..._public`, with place, component and section in its context.  The JSON Schema has
    a `pattern`: every text that is accepted matches it; it does not know `rung`, addresses and default ports.
    """

    schemes: Collection[str] | None = None
    """The allowed schemes, without case (RFC 3986 3.1)."""
    host: bool | Collection[str] | None = None
    """True: one that is not empty; False: none; or the allowed ones, as clients map them (".example": all below it)."""
    port: bool | Collection[int] | None = None
    """True: one is written; False: none is; or the allowed ones, where a scheme's own need not be written (3.2.3)."""
    userinfo: bool | None = None
    """False: none (RFC 3986 7.5: it is deprecated); True: it is there."""
    rung: Rung | str | None = None
    """The value is in the normal form of this rung (6.2)."""
    public: bool = False
    """The host is neither an address that is not public, in any spelling (7.4), nor a name that only local networks
    know.  No name is looked up: where the URI is opened, a guard has to judge the addresses."""
    pattern: str | None = field(init=False, repr=False)
    """The expression of the JSON Schema; None if it would say nothing."""

    def __post_init__(self) -> None:
        """Raises: TypeError for a text in place of a collection; ValueError for an unknown rung or no choice at all."""
        for name in ("schemes", "host", "port"):
            value = getattr(self, name)
            if isinstance(value, (str, bytes)):
                raise TypeError(f"{name} takes a collection, such as {{{value!r}}}")
            if value is not None and not isinstance(value, bool):
                if not value:
                    raise ValueError(f"{name} is empty: nothing would be allowed")
                known = _client_host if name == "host" else str.lower
                lowered = frozenset(known(one) if isinstance(one, str) else one for one in value)
                if "" in lowered:
                    raise ValueError(f"{name} has a name that is empty, or has only characters that clients ignore")
                object.__setattr__(self, name, lowered)
        rung = self.rung if self.rung is None else Rung(self.rung)  # type: ignore[arg-type]  # its name too
        if rung is Rung.PROTOCOL:
            raise ValueError("the rung PROTOCOL takes evidence, which a text does not have (RFC 3986 6.2.4)")
        object.__setattr__(self, "rung", rung)
        if all(getattr(self, one.name) == one.default for one in fields(self) if one.init):
            raise ValueError("Require() requires nothing")
        object.__setattr__(self, "pattern", self._pattern())

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return cast("CoreSchema", self._add_to(handler.resolve_ref_schema(handler(source)), source))

    def _add_to(self, schema: Any, source: Any) -> Any:
        if isinstance(schema, TextSchema) and schema.rule != "URI-Template":
            return schema.with_check(self)
        if schema["type"] in ("nullable", "default"):
            return {**schema, "schema": self._add_to(schema["schema"], source)}
        why = f"Require applies to URI, URIReference, IRI or IRIReference, not to {source!r}"
        raise PydanticUserError(why, code="invalid-annotated-type")

    def __call__(self, value: Any) -> None:
        """Raises: pydantic_core.PydanticCustomError for the first requirement that a value does not meet."""
        for name, component, why, expected, source in self._problems(value):
            behind = 0 if value.scheme is None else len(value.scheme) + 1
            at, end = (0, len(str(value))) if component == "any" else value.span(component) or (behind, behind)
            if name == "rung":  # where the normal form differs
                pairs = zip(f"{value}\0", f"{value.normalize(self.rung)}\1", strict=False)
                at = next(place for place, (one, other) in enumerate(pairs) if one != other)
            kind = f"require-{name}"
            raise failure(Finding(kind, at, end, component, component, expected, source, why))

    def _problems(self, value: Any) -> Iterator[tuple[str, str, str, str, str]]:
        """Requirement, component, message, what is expected, and the section."""
        host = client_name(value.host or "").removesuffix(".")
        if self.schemes is not None and (value.scheme or "").lower() not in self.schemes:
            why = "there is no scheme" if value.scheme is None else f"the scheme {value.scheme!r} is not allowed"
            yield "scheme", "scheme", why, _join(self.schemes), "RFC 3986 3.1"
        if self.userinfo is not None and self.userinfo != (value.userinfo is not None):
            yield "userinfo", "userinfo", f"userinfo is {_WISHES[self.userinfo]}", "", "RFC 3986 3.2.1, 7.5"
        if isinstance(self.host, bool):
            if self.host != bool(value.host):
                yield "host", "host", f"a host is {_WISHES[self.host]}", "", "RFC 3986 3.2.2"
        elif self.host is not None and not self._is_named(value.host or "", host):
            why = f"the host {value.host!r} is not allowed" if value.host else "there is no host"
            yield "host", "host", why, _join(self.host), "RFC 3986 3.2.2"
        if isinstance(self.port, bool):
            if self.port != (value.port_text is not None):
                yield "port", "port", f"a port is {_WISHES[self.port]}", "", "RFC 3986 3.2.3"
        elif self.port is not None and (port := value.effective_port) not in self.port:
            why = "no port is known" if port is None else f"the port {port} is not allowed"
            yield "port", "port", why, _join(self.port), "RFC 3986 3.2.3"
        if self.public and (reason := _why_not_public(value.host)):
            yield "public", "host", f"the host is not public: {reason}", "", "RFC 3986 7.4"
        if self.rung is not None and str(value.normalize(self.rung)) != str(value):
            yield "rung", "any", f"it is not in the normal form of the rung {self.rung}", "", "RFC 3986 6.2"

    def _is_named(self, written: str, host: str) -> bool:
        """Whether `host` has a host; never one that some reader ends or divides before the part that is named."""
        if not written.startswith("[") and has_delimiter(host):
            return False
        named = cast("Collection[str]", self.host)
        names = {host, older_name(written).removesuffix(".")}  # a client asks for one of them
        return all(any(name == one or (one[0] == "." and name.endswith(one)) for one in named) for name in names)

    def _pattern(self) -> str | None:
        """See `pattern`: scheme, then an authority or, if nothing requires one, none."""
        if all(one is None for one in (self.schemes, self.host, self.port, self.userinfo)) and not self.public:
            return None
        schemes = "|".join(map(any_case, sorted(self.schemes or ())))
        scheme = f"(?:{schemes}):" if schemes else "(?:[^:/?#]+:)?"
        userinfo = {None: "(?:[^/?#@]*@)?", True: "[^/?#@]*@", False: ""}[self.userinfo]
        filled = r"(?:\[[^\]]*\]|[^/?#@:\[\]]+)"
        if self.host is False:
            host = ""
        elif self.host is None and not self.public:
            host = f"{filled}?"
        elif isinstance(self.host, frozenset):
            host = f"(?:(?:{'|'.join(map(_host_pattern, sorted(self.host)))}){_DOT}|{_MAPPED})"
        else:
            host = filled
        if isinstance(self.port, frozenset):  # without one, or with an empty one, that of the scheme
            port = f"(?::(?:0*(?:{'|'.join(map(str, sorted(self.port)))}))?)?"
        elif self.port is None:
            port = "(?::[0-9]*)?"
        else:
            port = ":[0-9]*" if self.port else ""
        authority = f"//{userinfo}{host}{port}{_END}"
        if self.host or self.port or self.userinfo or self.public:
            return f"^{scheme}{authority}"
        rest = "/(?:[^/]|$)|[^/]|$"
        if schemes:
            return f"^{scheme}(?:{authority}|{rest})"
        return f"^(?:{scheme}{authority}|[^:/?#]+:(?:{rest})|[^:/?#]+{_END}|[?#]|$|/(?:[^/]|$))"


def _host_pattern(name: str) -> str:
    """A name in any case, its characters also as escapes (RFC 3986 6.2.2.2)."""
    written = "[^/?#@:]*" if name.startswith(".") else ""
    for char in name:
        octets = "|".join(any_case(f"{ord(one):02X}") for one in dict.fromkeys((char, char.upper())))
        written += f"(?:{any_case(char)}|%(?:{octets}))"
    return written


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
        why = forbidden(address)
        return why and f"{address} is {why}"
    if wrong := has_delimiter(name):
        return f"a name cannot contain {wrong!r}"
    return "a name of local networks" if _NOT_PUBLIC.fullmatch(name) else None


class ChangedURL(OverthereError, ValueError):
    """pydantic reads another URL out of the text than RFC 3986 does."""


def any_url(uri: URIReference | str, kind: type[Url] = AnyUrl) -> Url:  # type: ignore[assignment]
    """A URL of pydantic, for a field that takes one; the other way, a field of the type URI takes an `AnyUrl`.

    pydantic reads by the URL Standard, which repairs and rewrites: `http://h` becomes `http://h/`.  Such changes keep
    the URI equivalent by its scheme (RFC 3986 6.2.3); others do not, and are errors.

    Raises: pydantic.ValidationError if it is not such a URL; ChangedURL; InvalidURI for a text that is not a URI.

    >>> any_url("HTTP://Example.com")
    AnyUrl('http://example.com/')
    """
    given = URI(str(uri))
    try:
        made = kind(str(given))
    except ValidationError as error:
        shown = given.redacted()  # the other would show a password
        found: Any = [{**one, "input": shown} for one in error.errors(include_url=False)]
        raise ValidationError.from_exception_data(kind.__name__, found) from None
    if not given.equivalent(URI(str(made)), Rung.SCHEME):
        raise ChangedURL(f"pydantic reads another URL: {URI(str(made)).redacted()!r} in place of {given.redacted()!r}")
    return made
