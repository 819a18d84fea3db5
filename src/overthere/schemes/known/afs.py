"""afs: a file of the Andrew File System (1994 BNF, afsaddress, "left in as historical note"; RFC 1738 4).

RFC 1738 4 keeps the name and defines nothing; it is provisionally registered so.  The shape is that of 1994.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

from overthere.schemes.locator import Given, Locator, Writer
from overthere.schemes.model import Example, Scheme

DOCUMENTS = {"url-1994": "1994 BNF, afsaddress", "rfc3986": "1994 BNF, afsaddress (RFC 1738 4)"}

RULES = {"url-1994": ("afsaddress",), "rfc3986": ("afs-uri",)}
# afsaddress with the host and the segments of RFC 3986; a cell has a name, and neither user nor port.
SYNTAX = """
afs-uri  = "afs:" "//" cellname "/" afs-path
cellname = 1*( unreserved / pct-encoded / sub-delims )
afs-path = segment *( "/" segment )
"""


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class AFSLocator(Locator):
    """A file by its cell and the names on the way to it.

    >>> from overthere import URI
    >>> URI("afs://cern.ch/user/t/timbl").locator
    AFSLocator(cellname='cern.ch', segments=('user', 't', 'timbl'))
    """

    cellname: str = ""
    """As written."""
    segments: tuple[str, ...] = ()
    """The path below the cell, decoded; a final "" after a final "/", () without any path."""
    scheme: str = field(default="afs", kw_only=True)
    as_written: ClassVar[frozenset[str]] = Locator.as_written | {"cellname"}

    @classmethod
    def split(cls, parts: Given) -> AFSLocator:
        cellname = parts.named.get("cellname") if parts.edition == "url-1994" else parts.host
        rule, source = RULES[parts.edition][0], DOCUMENTS[parts.edition]
        if cellname is None:
            raise parts.refuse(parts.path, '"//" and the name of a cell', rule, source)
        if parts.user is not None or parts.port is not None:
            raise parts.refuse(None, "the name of a cell alone", rule, source)
        segments = () if parts.path is None else tuple(map(parts.decode, parts.path.split("/")))
        return cls(cellname=cellname, segments=segments, **parts.rest())

    def join(self, to: Writer) -> str:
        keep = "" if to.edition == "url-1994" else "!$&'()*+,;=:@"
        return f"//{self.cellname}" + "".join("/" + to.text(segment, keep) for segment in self.segments)


SCHEME = Scheme(
    name="afs",
    title="Andrew File System",
    documents=DOCUMENTS,
    locator=AFSLocator,
    syntax=SYNTAX,
    rules=RULES,
    local=True,
    hierarchical=True,
    access="afs",
    examples=(
        Example("afs://cern.ch/user/t/timbl", "1994 BNF, afsaddress", "in that shape; the document prints none"),
    ),
    notes=("No document defines this scheme: 1994 prints its form, RFC 1738 4 keeps its name for later.",),
)
