"""A text and the places of its components, in plain Python: the base of every value type.

The text is never changed; the match that checked it knows the places.  `rust/python/src/components.rs` is the
same class in Rust; `overthere.value.Value` adds members that need not be fast.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Literal, Self, TypeVar

from overthere.ground.exact import exact
from overthere.kernel.reference import (
    GROUPS,
    Form,
    Parts,
    form_of,
    guard_path,
    host_kind,
    recompose,
    transform_references,
)
from overthere.kernel.reference import parse as match_of

if TYPE_CHECKING:
    import re
    from collections.abc import Callable

__all__ = [
    "Component", "Components", "Form", "HostKind", "front", "front_classmethod", "front_property", "parse", "resolve",
]  # fmt: skip

F = TypeVar("F", bound="Callable[..., object]")
Component = Literal["scheme", "authority", "userinfo", "host", "port", "path", "query", "fragment"]
HostKind = Literal["reg-name", "IPv4address", "IPv6address", "IPvFuture"]

# No transport has ports with more digits; `port_text` still returns them.
_PORT_DIGITS = 18


class Components:
    """The components of a text that follows `rule`; None is undefined, "" is empty."""

    __slots__ = ("_match",)
    _match: re.Match[str]

    rule: ClassVar[str] = "URI-reference"
    """The grammar rule that a text must follow to become a value of this class."""

    def __new__(cls, text: str | Components, *, zone: bool = False) -> Self:
        text, zone = cls._exact_text(text, zone)
        match = match_of(text, cls.rule, zone)
        if match is None:
            from overthere.ground.late_imports import refusal

            raise refusal(text, cls.rule, zone)
        self = object.__new__(cls)
        _set_match(self, match)
        return self

    @classmethod
    def parse(cls, text: str | Components, *, zone: bool = False) -> Self | None:
        """Parse a text; return None if it is invalid, without computing why (the class would raise InvalidURI).

        Raises: TypeError if it is not text.

        >>> from overthere import URI
        >>> URI.parse("http://a/b"), URI.parse("http://a b/")
        (URI('http://a/b'), None)
        """
        return cls(text, zone=zone) if cls.can_parse(text, zone=zone) else None

    @classmethod
    def can_parse(cls, text: str | Components, *, zone: bool = False) -> bool:
        """Whether a text is valid for this class.

        Raises: TypeError if it is not text.

        >>> from overthere import URI, URIReference
        >>> URI.can_parse("//a/b"), URIReference.can_parse("//a/b")
        (False, True)
        """
        text, zone = cls._exact_text(text, zone)
        return match_of(text, cls.rule, zone) is not None

    @classmethod
    def _exact_text(cls, text: str | Components, zone: bool) -> tuple[str, bool]:
        """Return the exact text of the class's argument, and whether it may have a zone."""
        if type(text) is str:
            return text, bool(zone)
        if isinstance(text, Components):
            return str(text), bool(zone) or "%25" in (text.host or "")
        if not issubclass(type(text), str):
            raise TypeError(
                f"{cls.__name__}() takes text (RFC 3986 2: characters, not octets), not {type(text).__name__}"
            )
        return exact(text, cls.__name__), bool(zone)

    # -- the components, as written

    @property
    def scheme(self) -> str | None:
        """The scheme as written (RFC 3986 3.1), or None."""
        return self._match[1]

    @property
    def authority(self) -> str | None:
        """The authority (3.2) without its "//", or None."""
        return self._match[2]

    @property
    def userinfo(self) -> str | None:
        """The userinfo (3.2.1) without its "@", or None."""
        return self._match[3]

    @property
    def host(self) -> str | None:
        """The host (3.2.2), brackets included; None without an authority, "" if it is empty."""
        return self._match[4]

    @property
    def port_text(self) -> str | None:
        """The port's digits as written (3.2.3), "" after a bare colon, or None."""
        return self._match[5]

    @property
    def path(self) -> str:
        """The path (3.3); it is always defined, and may be empty."""
        return self._match[6]

    @property
    def query(self) -> str | None:
        """The query (3.4) without its "?", or None."""
        return self._match[7]

    @property
    def fragment(self) -> str | None:
        """The fragment (3.5) without its "#", or None."""
        return self._match[8]

    def _parts(self) -> Parts:
        return Parts._make(self._match.group(1, 2, 6, 7, 8))

    # -- the meaning of components

    @property
    def port(self) -> int | None:
        """The port as a number; None if undefined, empty or of more than 18 digits."""
        text = self._match[5]
        if not text:
            return None
        if len(text) > _PORT_DIGITS and len(text := text.lstrip("0") or "0") > _PORT_DIGITS:
            return None
        return int(text)

    @property
    def host_kind(self) -> HostKind | None:
        """The alternative of 3.2.2 that the host is, the first that matches; None without an authority."""
        host = self._match[4]
        return None if host is None else host_kind(host)  # type: ignore[return-value]

    @property
    def zone(self) -> str | None:
        """The zone identifier of an IPv6 address as written (RFC 6874), or None."""
        host = self._match[4]
        if host is None or not host.startswith("["):
            return None
        _, percent, zone = host[1:-1].partition("%25")
        return zone if percent else None

    @property
    def form(self) -> Form:
        """The kind of reference by its syntax (4.1, 4.2, 4.4)."""
        return form_of(self._parts())

    def span(self, component: Component) -> tuple[int, int] | None:
        """The place of a component in the text, (start, end) in code points; None if it is undefined.

        Raises: KeyError for an unknown component; TypeError if it is not text.
        """
        group = GROUPS.get(name := exact(component, "span()"))
        if group is None:
            raise KeyError(f"{name!r:.100} is not a component; the components are {', '.join(GROUPS)}")
        span = self._match.span(group)
        return None if span[0] < 0 else span

    # -- comparison and hashing by the text

    def __str__(self) -> str:
        return self._match.string

    def __hash__(self) -> int:
        return hash(self._match.string)

    def __eq__(self, other: object) -> bool:
        return self._match.string == other._match.string if isinstance(other, Components) else NotImplemented

    def __lt__(self, other: object) -> bool:
        return self._match.string < other._match.string if isinstance(other, Components) else NotImplemented

    def __le__(self, other: object) -> bool:
        return self._match.string <= other._match.string if isinstance(other, Components) else NotImplemented

    def __gt__(self, other: object) -> bool:
        return self._match.string > other._match.string if isinstance(other, Components) else NotImplemented

    def __ge__(self, other: object) -> bool:
        return self._match.string >= other._match.string if isinstance(other, Components) else NotImplemented


def front(function: F) -> F:
    """Return the function itself: this kernel has no fast paths."""
    return function


front_property = property
front_classmethod = classmethod


def parse(text: str, rule: str = "URI-reference", zone: bool = False) -> Components | None:
    """Return the components of a text; None if it does not follow `rule` (URI, URI-reference, IRI, IRI-reference)."""
    match = match_of(exact(text, "parse()"), rule, bool(zone))
    if match is None:
        return None
    components = object.__new__(Components)
    _set_match(components, match)
    return components


def resolve(base: Components, ref: Components, strict: bool = True) -> str:
    """Resolve a reference (5.2, 5.3) and return the target's text; the base's fragment is ignored (5.1)."""
    return recompose(guard_path(transform_references(base._parts(), ref._parts(), strict)))


_set_match: Callable[[Components, re.Match[str]], None] = Components.__dict__["_match"].__set__
