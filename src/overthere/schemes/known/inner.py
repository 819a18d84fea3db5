"""Schemes whose URIs contain another URI after the colon: view-source and jdbc."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar

from overthere.kernel.reference import Parts
from overthere.schemes.in_text import NESTED
from overthere.schemes.locator import Given, Locator, Writer
from overthere.schemes.model import Example, NormalRule, Scheme

if TYPE_CHECKING:
    from overthere.values.uri import URI


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class InnerLocator(Locator):
    """The text after the colon, as written, with its query.  A scheme's own locator names its document.

    >>> from overthere import URI
    >>> there = URI("view-source:http://h/a?b").locator
    >>> there, there.inner
    (ViewSourceLocator(text='http://h/a?b'), URI('http://h/a?b'))
    """

    text: str = ""
    as_written: ClassVar[frozenset[str]] = Locator.as_written | {"text"}
    document: ClassVar[str] = ""
    expected: ClassVar[str] = "a URI"

    @classmethod
    def split(cls, parts: Given) -> InnerLocator:
        text = (parts.path or "") + ("" if parts.query is None else f"?{parts.query}")
        if parts.host is not None or not cls.takes(text):
            raise parts.refuse(text or None, cls.expected, f"{parts.scheme}-uri", cls.document)
        return cls(text, **parts.rest(query=False))

    @classmethod
    def takes(cls, text: str) -> bool:
        """Whether the text after the colon is valid in the scheme."""
        from overthere.values.uri import URI

        return URI.can_parse(text)

    def join(self, to: Writer) -> str:
        return to.raw(self.text)

    @property
    def inner(self) -> URI | None:
        """The inner URI without a fragment, which belongs to the outer URI; None if the text is not a valid URI."""
        from overthere.values.uri import URI

        return URI.parse(self.text)


_VIEW_SOURCE_DOCUMENT = "draft-yevstifeyev-view-source-uri"
_INNER_SCHEME = re.compile("[A-Za-z][A-Za-z0-9+.-]*:")
_VIEW_SOURCE_SYNTAX = """
view-source-uri = "view-source:" scheme ":" hier-part [ "?" query ]
"""


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class ViewSourceLocator(InnerLocator):
    """A view of the source of the resource that `inner` identifies.

    >>> from overthere import URI
    >>> URI("view-source:http://example.com/#top").locator
    ViewSourceLocator(text='http://example.com/', fragment='top')
    """

    scheme: str = field(default="view-source", kw_only=True)
    document: ClassVar[str] = _VIEW_SOURCE_DOCUMENT


def _lower_scheme(parts: Parts) -> Parts:
    match = _INNER_SCHEME.match(parts.path) if parts.authority is None else None
    return parts if match is None else parts._replace(path=match[0].lower() + parts.path[match.end() :])


VIEW_SOURCE = Scheme(
    name="view-source",
    title="The source of a document",
    documents={"rfc3986": _VIEW_SOURCE_DOCUMENT},
    locator=ViewSourceLocator,
    syntax=_VIEW_SOURCE_SYNTAX,
    rules={"rfc3986": ("view-source-uri",)},
    shape=NESTED,
    locates_nothing=f"it names a view of another URI's resource: retrieve the inner URI ({_VIEW_SOURCE_DOCUMENT})",
    normal=(NormalRule("the inner scheme is in lower case", "RFC 3986 6.2.2.1", _lower_scheme),),
    examples=(Example("view-source:http://example.com/?a", "of our own", "the source of the page"),),
    notes=(
        "The draft has expired; browsers support the scheme, but pages cannot link to it.",
        "Only the scheme of the inner URI is normalized; use inner.normalize() for the rest.",
    ),
)
"""view-source: the source of what another URI locates (draft-yevstifeyev-view-source-uri, and browsers)."""

_JDBC_DOCUMENT = "Java SE, java.sql.DriverManager"
# "jdbc:subprotocol:subname"; what may be in the two, each driver says.
_JDBC_SYNTAX = """
jdbc-uri    = "jdbc:" subprotocol ":" subname [ "?" query ]
subprotocol = 1*( unreserved / pct-encoded / sub-delims / "@" )
subname     = *( pchar / "/" )
"""
_PARTS = re.compile("([^:/?]+):(.*)", re.DOTALL)


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class JDBCLocator(InnerLocator):
    """A driver, and the text that only it reads: opaque, as written.

    >>> from overthere import URI
    >>> there = URI("jdbc:postgresql://h:5432/db?ssl=true").locator
    >>> there.subprotocol, there.subname, there.inner.host
    ('postgresql', '//h:5432/db?ssl=true', 'h')
    """

    scheme: str = field(default="jdbc", kw_only=True)
    document: ClassVar[str] = _JDBC_DOCUMENT
    expected: ClassVar[str] = 'a subprotocol, ":" and a subname'

    @classmethod
    def takes(cls, text: str) -> bool:
        return _PARTS.fullmatch(text) is not None

    @property
    def subprotocol(self) -> str:
        """The name of a driver or of a kind of drivers."""
        return self.text.partition(":")[0]

    @property
    def subname(self) -> str:
        """The text that the driver reads; with "//" it is often the rest of a URI: `inner`."""
        return self.text.partition(":")[2]


JDBC = Scheme(
    name="jdbc",
    title="Databases of Java drivers",
    documents={"rfc3986": _JDBC_DOCUMENT},
    locator=JDBCLocator,
    syntax=_JDBC_SYNTAX,
    rules={"rfc3986": ("jdbc-uri",)},
    shape=NESTED,
    unspoken="a connection takes the driver that the subprotocol names, in Java",
    examples=(
        Example("jdbc:postgresql://db.example.com:5432/test?ssl=true", "of our own", "with a URI within"),
        Example("jdbc:sqlite:sample.db", "of our own", "a file"),
        Example("jdbc:oracle:thin:@db.example.com:1521:xe", "of our own", "a syntax of the driver's own"),
    ),
    notes=(
        "IANA does not have this scheme; this is how clients use it.",
        "The subname is opaque: it is never normalized beyond RFC 3986, and only its driver knows what it means.",
        "It often contains a password, as userinfo or as a parameter.",
    ),
)
"""jdbc: a database, in the terms of a driver of Java (java.sql.DriverManager; registered nowhere)."""
