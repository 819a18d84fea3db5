"""wais: databases, searches and documents of WAIS servers (1994 WAIS; RFC 1738 3.9; RFC 4156; RFC 1625)."""

from __future__ import annotations

from dataclasses import dataclass, field

from overthere.ground.errors import CodingError
from overthere.schemes.host_locator import host_without_user
from overthere.schemes.known.wais.identifier import WAISField, from_fields, to_fields
from overthere.schemes.locator import Given, Locator, Writer
from overthere.schemes.model import Example, Scheme, default_port

__all__ = ["SCHEME", "WAISLocator"]

PORT = 210
"""The default port (RFC 4156 2)."""
# RFC 4156 2: three forms, none with a user.  It has no rules for the parts: these allow the characters of RFC 3986 |
# that are not delimiters there; the wpath is opaque and may contain "/", and "=" and ";" as in 1994.
SYNTAX = """
wais-uri      = "wais:" "//" wais-hostport "/" database [ "?" query / "/" wtype "/" wpath ]
wais-hostport = host [ ":" port ]
database      = *pchar
wtype         = *pchar
wpath         = *( pchar / "/" )
"""


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class WAISLocator(Locator):
    """A database to be searched, a search in it, or a document of it (RFC 4156 2).

    >>> from overthere import URI
    >>> URI("wais://quake.think.com/wais-discussion-archives?lynch").locator
    WAISLocator(host='quake.think.com', database='wais-discussion-archives', search='lynch')
    >>> URI("wais://vm/docs/TEXT/1=vm%3A210;3=0%2079%20b.txt;").locator.fields
    (WAISField(number=1, data=b'vm:210'), WAISField(number=3, data=b'0 79 b.txt'))
    """

    host: str = ""
    port: int | None = None
    database: str | None = None
    """Its name; None if no slash follows the host."""
    search: str | None = None
    """The words to search for, separated by spaces."""
    wtype: str | None = None
    """The type of a document, as the server calls it: "TEXT", "GIF", ..."""
    wpath: bytes | None = None
    """The document-id as the server gave it: octets that only the server interprets."""
    as_fields: bool = field(default=False, compare=False)
    """Whether the document-id is written as its numbered fields (1994), if there is a choice."""
    scheme: str = field(default="wais", kw_only=True)

    @property
    def fields(self) -> tuple[WAISField, ...]:
        """The numbered fields of the document-id, in their order (1994 WAIS); () if it has none."""
        return to_fields(self.wpath or b"")

    @property
    def words(self) -> tuple[str, ...]:
        """The words of the search, which "+" joins in the URI (1994, BNF: search).

        >>> from overthere import URI
        >>> URI("wais://h/d?sheep+C%2B%2B").locator.words
        ('sheep', 'C++')
        """
        return tuple(word for word in (self.search or "").split(" ") if word)

    @classmethod
    def split(cls, parts: Given) -> WAISLocator:
        named = parts.named
        host = host_without_user(parts, "no user name before the host", "RFC 4156 2")
        database, wtype, wpath = named.get("database"), named.get("wtype"), named.get("wpath")
        search = named.get("search")
        if parts.edition == "rfc3986":
            pieces = [] if parts.path is None else [*parts.path.split("/", 2)]
            database, wtype, wpath = [*pieces, None, None, None][:3]
            search = parts.query if wtype is None else None  # a document is not searched
        if wtype is not None and search is not None:
            expected = "no search after a document, which is found by its identifier"
            raise parts.refuse(f"?{search}", expected, "waisdoc", "RFC 4156 2")
        if search is not None and parts.edition != "rfc1738":
            search = search.replace("+", " ")  # 1994; in RFC 1738 2.2 "+" is unreserved, and means itself
        docid = None if wpath is None else from_fields(wpath, parts.octets)
        return cls(
            host=host,
            port=parts.port,
            database=parts.decode(database),
            search=parts.decode(search),
            wtype=parts.decode(wtype),
            wpath=docid if docid is not None or wpath is None else parts.octets(wpath),
            as_fields=docid is not None,
            **parts.rest(query=wtype is not None),
        )

    def join(self, to: Writer) -> str:
        if "@" in self.host and to.edition != "url-1994":
            raise CodingError(f"the host {self.host!r} would be read as a user and a host")
        keep = {"url-1994": "@", "rfc1738": ""}.get(to.edition, "!$&'()*+,;=:@")
        text = to.authority(self.host, self.port)
        if self.database is not None:
            text += "/" + to.text(self.database, keep)
        if self.wtype is not None:
            text += "/" + to.text(self.wtype, keep)
            text += "" if self.wpath is None else "/" + self._wpath(self.wpath, to)
        if self.search is None:
            return text
        if to.edition == "rfc1738":
            return f"{text}?{to.text(self.search, ';:@&=')}"
        plus = to.text(self.search, "!$&'()*,;=:@/?" if to.edition == "rfc3986" else "@").replace("%20", "+")
        return f"{text}?{plus}"

    def _wpath(self, docid: bytes, to: Writer) -> str:
        """1994 knows only the fields; RFC 1738 has neither "=" nor ";" in a wpath; today either may be written."""
        if to.edition == "url-1994" or (to.edition == "rfc3986" and self.as_fields):
            keep = "@+" if to.edition == "url-1994" else "!$&'()*+,:@"
            text = "".join(f"{field.number}={to.text(field.data, keep)};" for field in self.fields)
            if to.edition == "url-1994" or from_fields(text) == docid:
                return text
        return to.text(docid, "" if to.edition == "rfc1738" else "!$&'()*+,:@")


SCHEME = Scheme(
    name="wais",
    title="Wide Area Information Servers",
    documents={"url-1994": "WAIS", "rfc1738": "RFC 1738 3.9", "rfc3986": "RFC 4156"},
    locator=WAISLocator,
    syntax=SYNTAX,
    rules={"url-1994": ("waisaddress",), "rfc1738": ("waisurl",), "rfc3986": ("wais-uri",)},
    port=PORT,
    own_octets=frozenset((*range(0x20), 0x7F)),
    linkable=True,
    access="wais",
    normal=(default_port(PORT, "RFC 4156 2"),),
    examples=(
        Example("wais://quake.think.com/wais-discussion-archives?lynch", "1994, References", "a search"),
        Example("wais://quake.think.com/wais-discussion-archives", "RFC 4156 2", "the database, to be searched"),
        Example(
            "wais://vm/docs/TEXT/1=vm%3A210;2=%2Fsrv%2Fdocs;3=0%2079%20%2Fsrv%2Fb.txt;7=%00;",
            "1994 WAIS",
            "a document by the fields of its identifier",
        ),
        Example(
            "wais://vm/docs/TEXT/%01%06vm%3A210%07%01%00", "RFC 4156 2", "a document by the octets of its document-id"
        ),
    ),
    notes=(
        "Not for arbitrary Z39.50 services, although the protocol is based on Z39.50-1988 (RFC 4156 2).",
        "There is neither privacy nor authentication in the protocol (RFC 4156 3).",
    ),
)
