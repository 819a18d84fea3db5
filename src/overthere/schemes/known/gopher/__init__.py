"""gopher: menus, documents, searches and Gopher+ items (1994 GOPHER; RFC 1738 3.4; RFC 4266; RFC 1436; Gopher+)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import ClassVar

from overthere.ground.errors import CodingError, Unwritable
from overthere.kernel.reference import Parts
from overthere.schemes.known.gopher.plus import Attributes, Form, GopherPlus, Unknown, View, read
from overthere.schemes.locator import Given, Locator, Writer
from overthere.schemes.model import Example, NormalRule, Scheme, default_port, last_segment, slash_for_empty_path

__all__ = ["PORT", "SCHEME", "GopherLocator"]

PORT = 70
"""The default port (RFC 4266 2.1)."""
# RFC 4266 2.1, 2.2, 2.3 over the characters of RFC 3986, where "?" begins a query.  A selector has no tab, CR or LF
# (2.1), and neither has a search (RFC 1436 Appendix); a Gopher+ string has them in a form that is filled out (2.9).
SYNTAX = """
gopher-uri        = "gopher:" "//" host [ ":" port ] [ "/" [ gopher-path ] ]
gopher-path       = gophertype gopher-selector [ gopher-tab gopher-search [ gopher-tab gopherplus-string ] ]
gophertype        = gopher-character
gopher-selector   = *gopher-character
gopher-search     = *gopher-character
gopherplus-string = *( pchar / "/" )
gopher-tab        = "%09"
gopher-character  = unreserved / sub-delims / ":" / "@" / "/" / gopher-octet
gopher-octet      = "%" ( %x31-39 / "A" / "B" / "C" / "D" / "E" / "F" ) HEXDIG
gopher-octet      =/ "%0" ( %x30-38 / "B" / "C" / "E" / "F" )
"""

_TYPED = re.compile("(?s)(%(?!09)[0-9A-Fa-f]{2}|(?!%09).)(.*)")


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class GopherLocator(Locator):
    """An item of a Gopher server, and the request for it (RFC 4266 2.1).

    >>> from overthere import URI
    >>> URI("gopher://host/7a_gopher_selector%09foobar").locator
    GopherLocator(host='host', type='7', selector=b'a_gopher_selector', search=b'foobar')
    >>> URI("gopher://host/0a_gopher_selector%09%09!").locator.plus
    Attributes(names=(), directory=False, joined=False)
    >>> str(GopherLocator(host="h", type="0", selector=b"s", plus=View("application/postscript", "En_US")).uri())
    'gopher://h/0s%09%09+application/postscript%20En_US'
    """

    host: str = ""
    port: int | None = None
    type: str | None = None
    """One character, an octet as ISO Latin 1; None where the path is empty, and then it is "1" (`gophertype`)."""
    as_written: ClassVar[frozenset[str]] = Locator.as_written | {"type"}
    selector: bytes = b""
    """"A sequence of octets" (2.1), without a charset; US-ASCII text is accepted too."""
    search: bytes | None = None
    """The search string, also octets; at least b"" if there is a Gopher+ string (2.3)."""
    plus: GopherPlus | None = None
    """The request in the Gopher+ string; the string itself is accepted too, as text or octets."""
    scheme: str = field(default="gopher", kw_only=True)

    def __post_init__(self) -> None:
        Locator.__post_init__(self)
        for name in ("selector", "search", "plus"):
            value: object = getattr(self, name)
            if isinstance(value, str):
                try:
                    value = value.encode("ascii")
                except UnicodeEncodeError:
                    raise CodingError(f"{name} must be octets: pass bytes for {value!r} (RFC 4266 2.1)") from None
                object.__setattr__(self, name, value)
            if name == "plus" and isinstance(value, bytes):
                object.__setattr__(self, name, read(value))
        if self.plus is not None and self.search is None:
            object.__setattr__(self, "search", b"")

    @property
    def gophertype(self) -> str:
        """The type: "if the path is empty, it defaults to "1"" (RFC 4266 2.1)."""
        return "1" if self.type is None else self.type

    def filled(
        self, *values: str | bytes | Sequence[str | bytes], file: bytes | None = None, charset: str = "ascii"
    ) -> GopherLocator:
        """Return the same item with its form filled out (RFC 4266 2.9), in the view of this locator.

        values: an answer to each question; a sequence of lines if it asks for lines.
        file: the content of a file that the form requires.  charset: the charset of text.

        >>> from overthere import URI
        >>> str(URI("gopher://h/0form%09%09%3F").locator.filled("New York", "USA").uri())
        'gopher://h/0form%09%09+%091%0D%0A+-1%0D%0ANew%20York%0D%0AUSA%0D%0A.%0D%0A'
        """
        view = self.plus if isinstance(self.plus, View) else View()
        return replace(self, plus=view.filled(*values, file=file, charset=charset), written=None)

    @classmethod
    def split(cls, parts: Given) -> GopherLocator:
        host = parts.host
        if host is None:
            raise parts.refuse(parts.path, '"//" and a host', "gopher-uri", "RFC 4266 2.1")
        if parts.user is not None or parts.password is not None:
            if parts.edition != "url-1994" or parts.password is not None:
                raise parts.refuse(parts.user, "neither user nor password", "gopher-uri", "RFC 4266 2.1")
            host = f"{parts.user}@{host}"  # a hostname may hold "@" by the BNF of 1994, and here no user goes before
        kind, fields = _split_path(parts)
        if parts.edition == "url-1994" and fields[1] is not None and "%09" not in parts.text:
            fields[1] = fields[1].replace("+", " ")  # BNF: search, whose words "+" joins in every scheme (94-17)
        selector, search, plus = (None if text is None else parts.octets(text) for text in fields)
        return cls(
            host=host,
            port=parts.port,
            type=None if kind is None else parts.octets(kind).decode("latin-1"),
            selector=selector or b"",
            search=search,
            plus=None if plus is None else read(plus),
            **parts.rest(),
        )

    def join(self, to: Writer) -> str:
        text = to.authority(self.host, self.port)
        old = to.edition == "url-1994"
        if self.type is None and self.plus is None and not self.selector:
            if self.search is None:
                return text if old else f"{text}/"
            if old:  # by the BNF a search needs no path
                return text + "?" + to.text(self.search, "@").replace("%20", "+")
        # Within the path no characters are reserved (2.1), but in RFC 3986 "?" ends it; in 1994 it is "%3F" too.
        keep = "!$&'()*+,;=:@/" + ("?" if to.edition == "rfc1738" else "")
        try:
            kind = self.gophertype.encode("latin-1")
        except UnicodeEncodeError:
            raise CodingError(f"the type {self.type!r} is not one octet") from None
        text += "/" + to.text(kind, keep.replace("/", "") if old else keep)
        text += to.text(self.selector, keep)
        if self.search is not None:
            text += "%09" + to.text(self.search, keep)
        if self.plus is not None:
            if not isinstance(self.plus, View | Attributes | Form | Unknown):
                raise Unwritable(f"{self.plus!r} is not a Gopher+ string (RFC 4266 2.3)")
            text += "%09" + to.text(self.plus.string, keep)
        return text


def _split_path(parts: Given) -> tuple[str | None, list[str | None]]:
    """Type, and selector, search and Gopher+ string: parted by the first and second "%09" (RFC 4266 2.1)."""
    named = parts.named
    if parts.edition != "rfc3986":
        return named["gtype"], [named["selector"], named["search"], named["gopher+_string"]]
    if not parts.path:
        return None, [None, None, None]
    match = _TYPED.fullmatch(parts.path)
    if match is None:
        raise parts.refuse(parts.path, "a type before the first %09", "gophertype", "RFC 4266 2.1")
    return match[1], [*match[2].split("%09", 2), None, None][:3]


def _without_type(parts: Parts) -> Parts:
    return parts._replace(path="/") if parts.authority is not None and parts.path == "/1" else parts


def _file_name(segments: tuple[str, ...]) -> str:
    """Return the last part of the selector, which is behind the type and before a search (RFC 4266 2.1)."""
    front = "/".join(segments).partition("%09")[0]
    return last_segment(tuple(front[3 if front[:1] == "%" else 1 :].split("/")))


SCHEME = Scheme(
    name="gopher",
    title="The Gopher protocol",
    documents={"url-1994": "GOPHER", "rfc1738": "RFC 1738 3.4", "rfc3986": "RFC 4266"},
    locator=GopherLocator,
    syntax=SYNTAX,
    rules={"url-1994": ("gopheraddress-prose", "gopheraddress"), "rfc1738": ("gopherurl",), "rfc3986": ("gopher-uri",)},
    port=PORT,
    lines=True,
    own_octets=frozenset(b"\t"),
    linkable=True,
    file_name=_file_name,
    access="gopher",
    normal=(
        default_port(PORT, "RFC 4266 2.1"),
        slash_for_empty_path("RFC 4266 2.1"),
        NormalRule('the type "1" of an empty selector is left out', "RFC 4266 2.1", _without_type),
    ),
    examples=(
        Example("gopher://spinaltap.micro.umn.edu/00/Weather/California/Los%20Angeles", "RFC 2396 1.3"),
        Example("gopher://host/0a_gopher_selector", "1994 GOPHER", "a document"),
        Example("gopher://host/7a_gopher_selector%09foobar", "1994 GOPHER", "a search"),
        Example("gopher://host/0a_gopher_selector%09%09some_gplus_stuff", "1994 GOPHER", "a Gopher+ item"),
        Example("gopher://host/0a_gopher_selector%09%09!", "1994 GOPHER", "a Gopher+ item's attributes"),
        Example("gopher://host/0a_gopher_selector%09%09+application/postscript%20Es_ES", "1994 GOPHER", "another view"),
        Example("gopher://host/0a_gopher_selector%09%09!+ABSTRACT%20+SMELL", "RFC 4266 2.7", "two attributes"),
        Example("gopher://host/0a_gopher_selector%09%09%3F", "1994 GOPHER", "a form to fill out"),
        Example(
            "gopher://host/0a_gopher_selector%09%09+%091%0D%0A+-1%0D%0Aask_item1_value%0D%0Aask_item2_value%0D%0A.%0D%0A",
            "RFC 4266 2.9",
            "a form that is filled out",
        ),
        Example("gopher://host/8login", "RFC 1436 Appendix", "a telnet session"),
    ),
    notes=(
        "The first character of the path is the type; a selector often begins with the same character (RFC 4266 2.1).",
        'A "/" in a selector may stand for no hierarchy (1994 GOPHER): relative references keep the type of their '
        "base (RFC 1808 2.3).",
        "A completed form sends lines chosen by the URI: beware of ports other than 70 (RFC 1738 6).",
    ),
)
