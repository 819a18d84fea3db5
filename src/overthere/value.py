"""What every value type has beside its components: meaning, decoding, and the manners of a Python value.

Values are immutable, hashable, ordered and compared by their text (RFC 3986 6.2.1), and say nothing of a
password in their repr.
"""

from __future__ import annotations

from overthere.kernel import Components

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Callable
    from ipaddress import IPv4Address, IPv6Address
    from typing import Self

    from overthere.kernel.components import Component

__all__ = ["Value"]


class Value(Components):
    """The base of URIReference and IRIReference."""

    __slots__ = ()
    __match_args__ = ("scheme", "authority", "path", "query", "fragment")

    @property
    def ip(self) -> IPv4Address | IPv6Address | None:
        """The address of an IPv4address or IPv6address (with its zone, where `ipaddress` can hold it), else None."""
        import ipaddress

        host = self.host or ""
        match self.host_kind:
            case "IPv4address":
                return ipaddress.IPv4Address(host)
            case "IPv6address":
                from overthere.encoding import decode

                address, percent, zone = host[1:-1].partition("%25")
                try:
                    return ipaddress.IPv6Address(f"{address}%{decode(zone)}" if percent else address)
                except ValueError:  # a zone that `ipaddress` does not hold, such as one with "/"
                    return ipaddress.IPv6Address(address)
            case _:
                return None

    @property
    def segments(self) -> tuple[str, ...]:
        """The raw segments of the path (3.3): `()` for an empty path, `("",)` for "/", `("a", "")` for "/a/"."""
        path = self.path
        return tuple(path.removeprefix("/").split("/")) if path else ()

    def decoded_bytes(self, component: Component = "path") -> bytes | None:
        """The octets that a component stands for (2.1); None if it is undefined."""
        from overthere.encoding import decode_bytes

        span = self.span(component)
        return None if span is None else decode_bytes(str(self)[slice(*span)])

    def decoded(self, component: Component = "path", charset: str = "utf-8", errors: str = "strict") -> str | None:
        """The characters that a component stands for (2.5: UTF-8 unless said otherwise); None if it is undefined.

        What is decoded cannot be told from what was delimited: "%2F" and "/" look alike afterwards (2.2).

        Raises: CodingError if the octets are not in that charset.
        """
        from overthere.encoding import decode

        span = self.span(component)
        return None if span is None else decode(str(self)[slice(*span)], charset=charset, errors=errors)

    def __repr__(self) -> str:
        from overthere.redact import mask

        zone = ", zone=True" if self.zone is not None else ""
        return f"{type(self).__name__}({mask(str(self))!r}{zone})"

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"{type(self).__name__} is immutable; replace({name}=...) makes a new one")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"{type(self).__name__} is immutable")

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: object) -> Self:
        return self

    def __reduce__(self) -> tuple[Callable[..., Components], tuple[type[Components], str, bool]]:
        return _restore, (type(self), str(self), self.zone is not None)

    @classmethod
    def __get_pydantic_core_schema__(cls, source: object, handler: object) -> object:
        from overthere.pydantic_schema import schema

        return schema(cls)


def _restore(cls: type[Components], text: str, zone: bool) -> Components:
    return cls(text, zone=zone)
