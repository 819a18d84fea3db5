"""Locators: the parts of a scheme's URI as typed data, parsed and written by an edition.

A locator holds data: escapes are decoded by the edition's charset, which the locator stores, so that the octets
for a server are known.  Octets that are not UTF-8 are lone surrogates, as in Python's file names.  The host stays
as written, and so does every part that the scheme does not define (`query`, `fragment`).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import KW_ONLY, dataclass, field, fields
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple, Self, overload

from overthere.ground.errors import CodingError
from overthere.ground.redact import mask, mask_part, mask_texts
from overthere.kernel.reference import split
from overthere.schemes.parts import Given, Writer, octets_of, reading

if TYPE_CHECKING:
    from collections.abc import Iterator

    from overthere.editions.model import Edition
    from overthere.schemes.registry import Registry
    from overthere.values.known_secrets import Secrets
    from overthere.values.uri import URI

__all__ = ["GenericLocator", "Given", "Locator", "Writer", "SourceText", "reading"]


class SourceText(NamedTuple):
    """The text that a locator was read from, and its edition."""

    text: str
    edition: str

    def __repr__(self) -> str:
        return f"SourceText(text={mask(self.text)!r}, edition={self.edition!r})"


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class Locator(ABC):
    """The base of the schemes' locators.  Immutable; `dataclasses.replace` makes another.

    Two locators of one class are equal if they represent the same octets, whatever charset decoded them.  A subclass is
    a dataclass with `eq=False`, to inherit this comparison.

    >>> from overthere import URI, edition
    >>> old = edition("url-1994").locator("ftp://h/caf%E9")
    >>> old.name, old.charset, old == URI("ftp://h/caf%E9").locator, old == URI("ftp://h/caf%C3%A9").locator
    ('café', 'latin-1', True, False)
    """

    _: KW_ONLY
    scheme: str
    """In lower case."""
    query: str | None = None
    """As written, if the scheme does not define one."""
    fragment: str | None = None
    """As written; schemes do not define it (RFC 3986 3.5)."""
    written: SourceText | None = field(default=None, compare=False)
    charset: str = field(default="utf-8", compare=False)
    """The charset of the octets: "latin-1" if the edition of 1994 read it, otherwise "utf-8"."""
    generic: ClassVar[bool] = False
    """Whether it has only the parts of the generic syntax."""
    searched: ClassVar[bool] = False
    """Whether 1994 and RFC 1738 also have the query, as `search`."""
    as_written: ClassVar[frozenset[str]] = frozenset(("scheme", "host", "query", "fragment"))
    """The parts that are kept as written, including escapes."""

    def __post_init__(self) -> None:
        for part in fields(self):
            value = getattr(self, part.name)
            if isinstance(value, list):
                object.__setattr__(self, part.name, tuple(value))

    @classmethod
    @abstractmethod
    def split(cls, parts: Given) -> Self:
        """Read the parts that an edition has split.  Raises: InvalidURI if the scheme cannot be read."""

    @abstractmethod
    def join(self, to: Writer) -> str:
        """Everything between the scheme's colon and the undefined query and fragment, as `to` writes it."""

    def for_writing(self) -> Self:
        """A copy with parts as the scheme's document requires, for example line breaks; most schemes change nothing."""
        return self

    @overload
    def uri(self, edition: Literal["rfc3986"] = ..., *, registry: Registry | None = None) -> URI: ...
    @overload
    def uri(self, edition: str | Edition, *, registry: Registry | None = None) -> URI | str: ...
    def uri(self, edition: str | Edition = "rfc3986", *, registry: Registry | None = None) -> URI | str:
        """The URI of this locator: the original text if the parts are unchanged, otherwise a new one.

        edition: the edition whose rules apply; for any but RFC 3986 the result is text.
        registry: where the scheme is looked up (default: the default registry).

        Raises: Unwritable if that edition cannot express it; the message names the part, or how it would be read.

        >>> from overthere import URI
        >>> from dataclasses import replace
        >>> there = URI("ftp://h/%2Fetc/m%6Ftd").locator
        >>> there.directories, str(there.uri()), str(replace(there, name="a b").uri())
        (('/etc',), 'ftp://h/%2Fetc/m%6Ftd', 'ftp://h/%2Fetc/a%20b')
        """
        from overthere.schemes.writing import write

        return write(self, edition, registry)

    def octets(self, data: str) -> bytes:
        """Return the octets of a text of this locator, as a server receives them.

        Raises: CodingError for a character that the charset does not have.
        """
        return octets_of(data, self.charset)

    def native(self, data: str) -> str:
        """Return a text of this locator for a program or a file system of this machine: UTF-8, other octets as lone
        surrogates, like `os.fsdecode`.  Raises: CodingError, as `octets`."""
        return data if data.isascii() else self.octets(data).decode("utf-8", "surrogateescape")

    def says(self, other: Locator) -> bool:
        """Whether another is equal: the same class, and the same octets part by part."""
        return type(other) is type(self) and self._compared_parts() == other._compared_parts()

    def _compared_parts(self) -> tuple[Any, ...]:
        """Return what is compared: the octets of decoded parts, and the characters of others."""
        values = ((part.name, getattr(self, part.name)) for part in fields(self) if part.compare)
        return tuple(
            _comparable_part(v) if name in self.as_written else _in_octets(v, self.charset) for name, v in values
        )

    def __eq__(self, other: object) -> bool:
        return self.says(other) if isinstance(other, Locator) else NotImplemented

    def __hash__(self) -> int:
        return hash((type(self), self._compared_parts()))

    @property
    def edition(self) -> str:
        """The edition that read it; RFC 3986 if it was not read."""
        return "rfc3986" if self.written is None else self.written.edition

    def to_dict(self) -> dict[str, Any]:
        """Return the parts with a value as JSON data: octets as ISO Latin 1 text, a password as `***`.

        >>> from overthere import URI
        >>> URI("ftp://u:p@h/a/b").locator.to_dict()
        {'user': 'u', 'password': '***', 'host': 'h', 'directories': ['a'], 'name': 'b'}
        """
        visible_parts: dict[str, Any] = {}
        for name, value in self._shown_parts():
            visible_parts[name] = _as_builtin(value)
        masked: dict[str, Any] = self._secrets().mask_in(visible_parts)
        return masked

    def _shown_parts(self) -> Iterator[tuple[str, Any]]:
        """Yield the parts with a value in displayable form; the charset only if it matters."""
        is_utf8 = True
        for part in sorted(fields(self), key=lambda part: (part.name == "charset", bool(part.kw_only))):
            value = getattr(self, part.name)
            if part.name in ("scheme", "written") or value is None or value == part.default:
                continue
            if part.name != "charset":
                is_utf8 = is_utf8 and _in_octets(value, "utf-8") == value
            if part.name != "charset" or not is_utf8:
                yield part.name, _mask_part(part.name, value)

    def _secrets(self) -> Secrets:
        """Return the passwords of the text that was read, which may occur in parts other than `password`."""
        from overthere.values.known_secrets import Secrets

        return Secrets.from_texts("" if self.written is None else self.written.text)

    def __repr__(self) -> str:
        arguments = [f"{name}={value!r}" for name, value in self._shown_parts()]
        return self._secrets().mask(f"{type(self).__name__}({', '.join(arguments)})")


def _comparable_part(raw_part: Any) -> Any:
    """Normalise "~" in a written part: it is unreserved today and always escaped in RFC 1738 (2.2)."""
    return raw_part.replace("%7E", "~").replace("%7e", "~") if isinstance(raw_part, str) else raw_part


def _in_octets(value: Any, charset: str) -> Any:
    if isinstance(value, tuple):
        return tuple(_in_octets(item, charset) for item in value)
    if not isinstance(value, str) or value.isascii():
        return value
    try:
        return octets_of(value, charset)
    except CodingError:  # made by hand, without octets in this charset
        return value


def _mask_part(name: str, value: Any) -> Any:
    """Return the displayable form of a part (RFC 3986 7.5)."""
    if name in ("password", "secret"):
        return "***"
    return mask_part(name, value) if isinstance(value, str) else mask_texts(value)


def _as_builtin(value: Any) -> Any:
    if isinstance(value, bytes):
        return value.decode("latin-1")
    if isinstance(value, tuple):
        as_dict = getattr(value, "_asdict", None)
        if as_dict is not None:
            return {name: _as_builtin(item) for name, item in as_dict().items() if item is not None}
        return [_as_builtin(item) for item in value]
    return value if isinstance(value, str | int | None) else str(value)


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class GenericLocator(Locator):
    """A URI of an unknown scheme: the components of the generic syntax, as written (RFC 3986 3)."""

    authority: str | None = None
    path: str = ""

    as_written: ClassVar[frozenset[str]] = Locator.as_written | {"authority", "path"}
    generic: ClassVar[bool] = True
    searched: ClassVar[bool] = True

    @classmethod
    def split(cls, parts: Given) -> GenericLocator:
        text = parts.text
        if parts.edition != "rfc3986":
            from overthere.editions.rfc1738 import unwrap

            text = unwrap(text)  # without "URL:"
        components = split(text)
        rest = {**parts.rest(), "query": components.query, "fragment": components.fragment}
        return cls(components.authority, components.path, **rest)

    def join(self, to: Writer) -> str:
        path = to.raw(self.path)
        return path if self.authority is None else f"//{self.authority}{path}"
