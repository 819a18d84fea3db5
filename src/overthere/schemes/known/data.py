"""data: the content itself, in the URI (RFC 2397)."""

from __future__ import annotations

import re
from binascii import Error as BinasciiError
from binascii import a2b_base64, b2a_base64
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial

from overthere.ground import charsets
from overthere.ground.errors import CodingError
from overthere.kernel import percent_decode, percent_encode
from overthere.schemes.locator import Given, Locator, Writer
from overthere.schemes.model import Example, NormalRule, Scheme, lower_except_escapes, on_path

# RFC 2397 3: dataurl.  `token` is that of RFC 2045 5.1, escaped; a value is a token, or with escapes what a quoted
# string could hold; behind ";base64" stands what RFC 2045 6.8 encodes, with the white space between that it permits.
SYNTAX = """
data-uri       = "data:" [ mediatype ] ( "," *urlchar / ";base64," base64 )
mediatype      = [ data-token "/" data-token ] *( ";" parameter )
parameter      = data-token "=" value
value          = 1*( raw-token / "%" %x30-37 HEXDIG )
data-token     = 1*( raw-token / pct-token )
raw-token      = unreserved / "!" / "$" / "&" / "'" / "*" / "+"
pct-token      = "%2" ( "1" / %x33-37 / "A" / "B" / "D" / "E" ) / "%3" DIGIT
               / "%4" ( %x31-39 / %x41-46 / %x61-66 ) / "%5" ( DIGIT / "A" / "E" / "F" )
               / "%6" HEXDIG / "%7" ( DIGIT / %x41-45 / %x61-65 )
urlchar        = unreserved / pct-encoded / sub-delims / ":" / "@" / "/" / "?"

base64         = white *( 4base64-digit )
                 [ base64-digit base64-4-bits 2base64-pad / 2base64-digit base64-2-bits base64-pad ]
base64-digit   = ( ALPHA / DIGIT / "+" / "/" / "%2" ( "B" / "F" ) / "%3" DIGIT / "%4" ( %x31-39 / %x41-46 / %x61-66 )
               / "%5" ( DIGIT / "A" ) / "%6" ( %x31-39 / %x41-46 / %x61-66 ) / "%7" ( DIGIT / "A" ) ) white
; the last digit before the padding ends with four, or with two, zero bits
base64-4-bits  = ( %s"A" / %s"Q" / %s"g" / %s"w" / "%41" / "%51" / "%67" / "%77" ) white
base64-2-bits  = ( %s"A" / %s"E" / %s"I" / %s"M" / %s"Q" / %s"U" / %s"Y" / %s"c" / %s"g" / %s"k" / %s"o" / %s"s" / %s"w"
               / "0" / "4" / "8" / "%4" ( "1" / "5" / "9" / "D" ) / "%5" ( "1" / "5" / "9" )
               / "%6" ( "3" / "7" / "B" / "F" ) / "%7" ( "3" / "7" ) / "%3" ( "0" / "4" / "8" ) ) white
base64-pad     = ( "=" / "%3D" ) white
white          = *( "%20" / "%09" / "%0D" / "%0A" )
"""

TOKEN = re.compile(r"[!#$%&'*+\-.0-9A-Z^_`a-z{|}~]+")
"""RFC 2045 5.1: a type, a subtype, an attribute, or a value without quotes."""
_MEDIA_TYPE = re.compile(f"{TOKEN.pattern}/{TOKEN.pattern}")
_US_ASCII = ";charset=US-ASCII"
_CONTROL = re.compile("[\0-\x08\x0a-\x1f\x7f]")
_QUOTED = re.compile(r'(?s)"((?:[^"\\\r]|\\.)*)"')
_PAIR = re.compile(r"(?s)\\(.)")
_WHITE = b" \t\r\n"
_BROKEN = re.compile(rb"%(?![0-9A-Fa-f]{2})")  # stays as it is
_NOT_BASE64 = re.compile(rb"[^A-Za-z0-9+/=]")


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class DataLocator(Locator):
    """A media type and octets (RFC 2397 2).

    >>> from overthere import URI
    >>> URI("data:,A%20brief%20note").locator
    DataLocator(data=b'A brief note')
    >>> there = URI("data:text/plain;charset=iso-8859-7;base64,vtO+").locator
    >>> there.parameters, there.base64, there.text()
    ((('charset', 'iso-8859-7'),), True, 'ΎΣΎ')
    """

    media_type: str | None = None
    """Type and subtype, "text/plain"; None if they are left out."""
    parameters: tuple[tuple[str, str], ...] = ()
    """Attributes and values in their order, decoded, a quoted string without its quotes (RFC 2045 5.1)."""
    base64: bool = False
    """Whether the data is written in base64."""
    data: bytes = b""
    """The content, decoded from base64 or escapes."""
    scheme: str = field(default="data", kw_only=True)

    @classmethod
    def split(cls, parts: Given) -> DataLocator:
        if parts.host is not None:
            raise parts.refuse("//", "a media type, or a comma and the data", "data-uri", "RFC 2397 3")
        # The text after a "?" is data too: urlchar contains it.
        full_path = parts.path or ""
        if parts.query is not None:
            full_path = f"{full_path}?{parts.query}"
        head, comma, raw = full_path.partition(",")
        if not comma:
            raise parts.refuse(None, "a comma before the data", "data-uri", "RFC 2397 3")
        kind, *pieces = head.split(";")
        base64 = bool(pieces) and parts.decode(pieces[-1]).lower() == "base64"
        if base64:
            pieces.pop()
        if kind and "/" not in kind:
            raise parts.refuse(kind, 'a media type of type, "/" and subtype', "mediatype", "RFC 2397 3")
        parameters: list[tuple[str, str]] = []
        for piece in pieces:
            attribute, equals, value = piece.partition("=")
            if not equals:
                raise parts.refuse(f";{piece}", '"=" between attribute and value', "parameter", "RFC 2397 3")
            parameters.append((parts.decode(attribute), _unquote(parts.decode(value))))
        octets = raw.encode("utf-8", "surrogatepass")
        if b"%" in octets:
            octets = percent_decode(_BROKEN.sub(b"%25", octets))
        if base64:
            try:
                octets = _from_base64(octets)
            except CodingError as error:
                raise parts.refuse(f",{raw}", f"base64 behind the comma: {error}", "base64", "RFC 2045 6.8") from None
        return cls(parts.decode(kind) or None, tuple(parameters), base64, octets, **parts.rest(query=False))

    def join(self, to: Writer) -> str:
        parts: list[str] = []
        if self.media_type is not None:
            kind, slash, subtype = self.media_type.partition("/")
            if not slash:
                raise CodingError(f'a media type must be type, "/" and subtype, not {self.media_type!r}')
            parts.append(f"{to.text(kind, _UNESCAPED)}/{to.text(subtype, _UNESCAPED)}")
        for pair in self.parameters:
            if not isinstance(pair, tuple) or len(pair) != 2:  # pyright: ignore[reportUnnecessaryIsInstance]
                raise CodingError(f"a parameter must be a pair of attribute and value, not {pair!r}")
            parts.append(f";{to.text(pair[0], _UNESCAPED)}={to.text(_quote(pair[1]), _UNESCAPED)}")
        text = "".join(parts)
        if self.base64:
            return f"{text};base64,{b2a_base64(self.data, newline=False).decode('ascii')}"
        # A "/" before a dot would begin a dot-segment, which generic software removes (RFC 3986 6.2.2.3).
        return f"{text},{percent_encode(self.data, _SAFE.replace('/', '') if b'/.' in self.data else _SAFE)}"

    def parameter(self, attribute: str) -> str | None:
        """The first value of an attribute, whose case is ignored (RFC 2045 5.1); None if it is not there."""
        return next((value for name, value in self.parameters if name.lower() == attribute.lower()), None)

    @property
    def content_type(self) -> str:
        """The media type with its parameters as a header field has them, defaults included (RFC 2397 2).

        A parameter that no field can hold is left out; a media type not of two tokens is the default (RFC 2045 5.2).

        >>> DataLocator().content_type, DataLocator(parameters=(("charset", "x y"),)).content_type
        ('text/plain;charset=US-ASCII', 'text/plain;charset="x y"')
        """
        parameters = "".join(
            f";{attribute}={value if TOKEN.fullmatch(value) else _in_quotes(value)}"
            for attribute, value in self.parameters
            if TOKEN.fullmatch(attribute) and not _CONTROL.search(value)
        )
        if self.media_type is None:
            return f"text/plain{parameters or _US_ASCII}"
        return self.media_type + parameters if _MEDIA_TYPE.fullmatch(self.media_type) else f"text/plain{_US_ASCII}"

    @property
    def text_charset(self) -> str | None:
        """The named charset; for other text US-ASCII, the default (RFC 2397 2, RFC 2046 4.1.2); otherwise None."""
        named = self.parameter("charset")
        text = self.media_type is None or self.media_type.lower().startswith("text/")
        return "US-ASCII" if named is None and text else named

    def text(self, charset: str | None = None) -> str:
        """The data as characters.

        charset: overrides the charset of the media type.

        Raises: CodingError without a charset, if it is unknown, or if the data is not valid in it.

        >>> DataLocator("text/plain", (("charset", "utf-8"),), data=b"caf\\xc3\\xa9").text()
        'café'
        """
        name = self.text_charset if charset is None else charset
        if name is None:
            raise CodingError(f"{self.media_type} has no charset (RFC 2046 4.1.2)")
        if charsets.codec(name) is None:
            raise CodingError(f"the charset {name!r} is not known")
        try:
            return charsets.text(self.data, name)
        except UnicodeError as error:
            raise CodingError(f"the data is not {name}: {error}") from None


_UNESCAPED = "!$&'*+"
_SAFE = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~!$&'()*+,;=:@/?"


def _unquote(value: str) -> str:
    match = _QUOTED.fullmatch(value)
    return _PAIR.sub(r"\1", match[1]) if match else value


def _in_quotes(value: str) -> str:
    return '"' + re.sub(r'(["\\\r])', r"\\\1", value) + '"'


def _quote(value: str) -> str:
    """3: escapes serve instead of quotes, but for what would be read as a quoted string, or is empty."""
    return _in_quotes(value) if not value or _QUOTED.fullmatch(value) else value


def _from_base64(octets: bytes) -> bytes:
    """RFC 2045 6.8: white space is ignored; whatever else is not in the alphabet "indicates a transmission error"."""
    digits = octets.translate(None, _WHITE)
    if stray := _NOT_BASE64.search(digits):
        raise CodingError(f"{stray[0].decode('latin-1')!a} is not in its alphabet")
    try:
        data = a2b_base64(digits)
    except BinasciiError:
        data = b""
    reencoded = b2a_base64(data, newline=False)
    if reencoded == digits:
        return data
    if len(reencoded) == len(digits) and reencoded.rstrip(b"=")[:-1] == digits.rstrip(b"=")[:-1]:
        raise CodingError("the bits before the padding are not zero")
    raise CodingError("the number of digits must be a multiple of four, padded with =")


# -- The normal form


def _rule(summary: str, source: str, change: Callable[[list[str]], list[str]]) -> NormalRule:
    """Return a rule on the text before the comma, split at semicolons."""
    return NormalRule(summary, source, on_path(partial(_change_head, change)))


def _change_head(change: Callable[[list[str]], list[str]], path: str) -> str:
    head, comma, data = path.partition(",")
    return ";".join(change(head.split(";"))) + comma + data if comma else path


def _lower_names(head: list[str]) -> list[str]:
    named = [attribute_text.partition("=") for attribute_text in head[1:]]
    lowered = [
        f"{lower_except_escapes(name)}{equals}{value}" if equals or name.lower() == "base64" else name
        for name, equals, value in named
    ]
    return [lower_except_escapes(head[0]), *lowered]


def _lower_charset(head: list[str]) -> list[str]:
    if head[0] and not head[0].lower().startswith("text/"):
        return head
    return [lower_except_escapes(part) if part[:8].lower() == "charset=" else part for part in head]


def _without_text_plain(head: list[str]) -> list[str]:
    has_charset = any(part[:8].lower() == "charset=" for part in head)
    return ["", *head[1:]] if has_charset and head[0].lower() == "text/plain" else head


_DEFAULTS = (["", "charset=us-ascii"], ["", "charset=us-ascii", "base64"])


def _without_us_ascii(head: list[str]) -> list[str]:
    return ["", *head[2:]] if [attribute.lower() for attribute in head] in _DEFAULTS else head


_TYPE = "[A-Za-z0-9!#$&^_.+%-]{1,127}"
_SHAPE = rf"(?:{_TYPE}/{_TYPE})?(?:;[A-Za-z0-9!#$&^_.+=%-]{{1,99}}){{0,9}},"


def _file_name(segments: tuple[str, ...]) -> str:
    """Content without a name."""
    return "data"


SCHEME = Scheme(
    name="data",
    title="Data in the URI itself",
    documents={"rfc3986": "RFC 2397"},
    locator=DataLocator,
    syntax=SYNTAX,
    rules={"rfc3986": ("data-uri",)},
    content=True,
    shape=_SHAPE,
    file_name=_file_name,
    access="data",
    normal=(
        _rule("type, subtype, attributes and base64 are in lower case", "RFC 2397 3, RFC 2045 5.1", _lower_names),
        _rule("the charset of text is in lower case", "RFC 2046 4.1.2", _lower_charset),
        _rule("text/plain with a charset is left out", "RFC 2397 2", _without_text_plain),
        _rule("charset=US-ASCII alone is left out", "RFC 2397 2", _without_us_ascii),
    ),
    examples=(
        Example("data:,A%20brief%20note", "RFC 2397 4"),
        Example("data:application/vnd-xxx-query,select_vcount,fcol_from_fieldtable/local", "RFC 2397 4"),
        Example("data:text/plain;charset=iso-8859-7,%be%d3%be", "RFC 2397 4, without its misprint %fg", "Greek"),
        Example("data:;charset=UTF-8;base64,Y2Fmw6k=", "RFC 2397 2", "text/plain is left out"),
        Example("data:,", "RFC 2397 3", "nothing at all"),
    ),
    notes=(
        'The data continues after a "?", which begins a query in the generic syntax; "#" ends it (RFC 2397 3).',
        "It is useful for short values only (RFC 2397 2).",
        "Firewalls do not see a media type that arrives this way (RFC 2397 6).",
    ),
)
