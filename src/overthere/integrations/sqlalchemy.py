"""SQLAlchemy: column types whose values are URIs, stored as their text.

class Base(DeclarativeBase):
    type_annotation_map = TYPES                 # Mapped[URI], Mapped[IRI | None] and so on

Column("uri", URIType(length=2048))             # VARCHAR(2048); TEXT without a length
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

from overthere.ground.extras import brought_by
from overthere.iri import IRI, IRIReference
from overthere.values.uri import URI, URIReference

with brought_by("sqlalchemy"):
    from sqlalchemy import String, Text, TypeDecorator, Unicode, UnicodeText

if TYPE_CHECKING:
    from sqlalchemy import Dialect
    from sqlalchemy.types import TypeEngine

__all__ = ["IRIReferenceType", "IRIType", "TYPES", "URIReferenceType", "URIType"]

V = TypeVar("V", bound=URIReference | IRIReference)


class _ValueType(TypeDecorator[V]):
    """A column of valid texts; a text is checked before it is sent.

    SQLAlchemy wraps an InvalidURI of a statement in a StatementError.  An invalid stored text raises InvalidURI when
    its row is read.
    """

    impl: TypeEngine[Any] | type[TypeEngine[Any]] = Text
    cache_ok: bool | None = True
    kind: ClassVar[type[Any]]

    def __init_subclass__(cls) -> None:
        cls.cache_ok = cls.__dict__.get("cache_ok", True)  # SQLAlchemy looks for it in each class

    def __init__(self, length: int | None = None) -> None:
        super().__init__(length)
        self.length = length

    @property
    def python_type(self) -> type[Any]:
        return self.kind

    def load_dialect_impl(self, dialect: Dialect) -> TypeEngine[Any]:
        text, string = (UnicodeText, Unicode) if issubclass(self.kind, IRIReference) else (Text, String)
        return dialect.type_descriptor(text() if self.length is None else string(self.length))

    def process_bind_param(self, value: V | str | None, dialect: Dialect) -> str | None:
        # A value with a zone is an error too: its text could not be read again.
        return None if value is None else str(self.kind(str(value) if isinstance(value, self.kind) else value))

    def process_result_value(self, value: str | None, dialect: Dialect) -> V | None:
        return None if value is None else self.kind(value)

    def coerce_compared_value(self, op: Any, value: Any) -> TypeEngine[Any]:
        """Compare as text: a text that is compared with the column may be invalid, as in `like("https://%")`."""
        return Text() if isinstance(value, str) else self


class URIType(_ValueType[URI]):
    """URIs.  length: the most characters of a VARCHAR; None: a TEXT."""

    kind = URI


class URIReferenceType(_ValueType[URIReference]):
    """URI-references.  length: the most characters of a VARCHAR; None: a TEXT."""

    kind = URIReference


class IRIType(_ValueType[IRI]):
    """IRIs.  length: the most characters of a VARCHAR; None: a TEXT."""

    kind = IRI


class IRIReferenceType(_ValueType[IRIReference]):
    """IRI-references.  length: the most characters of a VARCHAR; None: a TEXT."""

    kind = IRIReference


TYPES: dict[Any, TypeEngine[Any]] = {
    kind.kind: kind() for kind in (URIType, URIReferenceType, IRIType, IRIReferenceType)
}
"""For `type_annotation_map` of a declarative base."""
