"""jdbc: a database, in the terms of a driver of Java (java.sql.DriverManager; registered nowhere)."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import ClassVar

from overthere.schemes.inner_locator import InnerLocator
from overthere.schemes.model import Example, Scheme
from overthere.schemes.shapes import NESTED

__all__ = ["JDBCLocator", "SCHEME"]

DOCUMENT = "Java SE, java.sql.DriverManager"
RULES = {"rfc3986": ("jdbc-uri",)}
# "jdbc:subprotocol:subname"; what may be in the two, each driver says.
SYNTAX = """
jdbc-uri    = "jdbc:" subprotocol ":" subname [ "?" query ]
subprotocol = 1*( unreserved / pct-encoded / sub-delims / "@" )
subname     = *( pchar / "/" )
"""
_PARTS = re.compile("([^:/?]+):(.*)", re.DOTALL)


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class JDBCLocator(InnerLocator):
    """For which driver, and what that one reads: opaque, as written.

    >>> from overthere import URI
    >>> there = URI("jdbc:postgresql://h:5432/db?ssl=true").locator
    >>> there.subprotocol, there.subname, there.inner.host
    ('postgresql', '//h:5432/db?ssl=true', 'h')
    """

    scheme: str = field(default="jdbc", kw_only=True)
    document: ClassVar[str] = DOCUMENT
    expected: ClassVar[str] = 'a subprotocol, ":" and a subname'

    @classmethod
    def takes(cls, text: str) -> bool:
        return _PARTS.fullmatch(text) is not None

    @property
    def subprotocol(self) -> str:
        """The name of a driver, or of a kind of them."""
        return self.text.partition(":")[0]

    @property
    def subname(self) -> str:
        """What the driver reads; with "//" it is often the rest of a URI, which `inner` is."""
        return self.text.partition(":")[2]


EXAMPLES = (
    Example("jdbc:postgresql://db.example.com:5432/test?ssl=true", "of our own", "with a URI within"),
    Example("jdbc:sqlite:sample.db", "of our own", "a file"),
    Example("jdbc:oracle:thin:@db.example.com:1521:xe", "of our own", "a form of the driver's own"),
)

SCHEME = Scheme(
    name="jdbc",
    title="Databases of Java drivers",
    documents={"rfc3986": DOCUMENT},
    locator=JDBCLocator,
    syntax=SYNTAX,
    rules=RULES,
    shape=NESTED,
    unspoken="a connection takes the driver that the subprotocol names, in Java",
    examples=EXAMPLES,
    notes=(
        "IANA has no such scheme: it is as it is met.",
        "The subname is opaque: it is never normalized beyond RFC 3986, and its driver alone says what it means.",
        "A password often stands in it, as userinfo or as a parameter.",
    ),
)
