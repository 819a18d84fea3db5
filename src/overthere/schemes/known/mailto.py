"""mailto: a message to somebody, with header fields and a body set (1994 MAILTO; RFC 1738 3.5; RFC 2368; RFC 6068)."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace

from overthere.ground.errors import CodingError
from overthere.kernel.reference import Parts
from overthere.schemes.addr_spec import ATEXT, split_at
from overthere.schemes.locator import Given, Locator, Writer
from overthere.schemes.model import Example, NormalRule, Scheme, lower_except_escapes, on_path
from overthere.values.scheme_query import LINE_END

# RFC 6068 2, with the escapes that its items 1 to 5 ask for: white space in quoted pairs alone, of a domain name only
# UTF-8 is escaped, and "," in an address is, for a bare one parts two.  A line break is "%0D%0A" (5).
SYNTAX = f"""{ATEXT}
mailto-uri     = "mailto:" [ mail-to ] [ hfields ]
mail-to        = mail-addr-spec *( "," mail-addr-spec )
mail-addr-spec = mail-local "@" mail-domain
mail-local     = 1*mail-atext *( pct-dot 1*mail-atext ) / "%22" *mail-qcontent "%22"
mail-atext     = raw-atext / pct-atext / pct-utf8
mail-qcontent  = mail-raw / pct-qtext / pct-utf8 / "%5C" ( mail-raw / pct-qtext / "%22" / "%5C" / "%20" / "%09" )
mail-raw       = unreserved / "!" / "$" / "'" / "(" / ")" / "*" / "+" / ":" / "@"
mail-domain    = 1*mail-label *( "." 1*mail-label ) / "%5B" *( mail-raw / "%22" / pct-dtext ) "%5D"
mail-label     = raw-atext / pct-utf8
pct-qtext      = pct-dtext / "%5B" / "%5D"
pct-dtext      = "%2" ( "1" / %x33-39 / %x41-46 / %x61-66 ) / "%3" HEXDIG / "%4" HEXDIG
               / "%5" ( DIGIT / "A" / "E" / "F" ) / "%6" HEXDIG / "%7" ( DIGIT / %x41-45 / %x61-65 )
pct-utf8       = "%C" ( %x32-39 / %x41-46 / %x61-66 ) pct-tail / "%D" HEXDIG pct-tail
               / "%E0%" ( "A" / "B" ) HEXDIG pct-tail / "%E" ( %x31-39 / "A" / "B" / "C" / "E" / "F" ) 2pct-tail
               / "%ED%" ( "8" / "9" ) HEXDIG pct-tail / "%F0%" ( "9" / "A" / "B" ) HEXDIG 2pct-tail
               / "%F" ( "1" / "2" / "3" ) 3pct-tail / "%F4%8" HEXDIG 2pct-tail
pct-tail       = "%" ( "8" / "9" / "A" / "B" ) HEXDIG
hfields        = "?" hfield *( "&" hfield )
hfield         = *qchar "=" *( qchar-no-line / "%0D%0A" )
qchar-no-line  = unreserved / pct-no-line / "!" / "$" / "'" / "(" / ")" / "*" / "+" / "," / ";" / ":" / "@"
pct-no-line    = "%0" ( DIGIT / "B" / "C" / "E" / "F" ) / "%" ( %x31-39 / "A" / "B" / "C" / "D" / "E" / "F" ) HEXDIG
qchar          = unreserved / pct-encoded / "!" / "$" / "'" / "(" / ")" / "*" / "+" / "," / ";" / ":" / "@"
"""

# 4 and 6.1: the fields that the document calls safe or shows; 9: Bcc is no longer forbidden.
_SAFE_FIELDS = frozenset(["to", "cc", "bcc", "subject", "keywords", "in-reply-to", "body"])
# Invalid in header fields (RFC 5322 3.2.5, 3.6.8): controls, line separators, octets that are not UTF-8.
_NO_TEXT = re.compile("[\0-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")
_NO_BODY = re.compile("[\0\ud800-\udfff]")


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class MailtoLocator(Locator):
    """The recipients and the content of a message (RFC 6068 2).

    >>> from overthere import URI
    >>> there = URI("mailto:bill+ietf@example.org,joe@example.com?Subject=caf%C3%A9&body=1+1").locator
    >>> there.addresses, there.subject, there.body
    (('bill+ietf@example.org', 'joe@example.com'), 'café', '1+1')
    """

    addresses: tuple[str, ...] = ()
    """The text before the "?", split at its unescaped commas and decoded: addr-specs; a single one in 1994 and RFC
    1738."""
    headers: tuple[tuple[str, str], ...] = ()
    """The pairs of hfname and hfvalue in their order, decoded; "+" is a plus (5)."""
    scheme: str = field(default="mailto", kw_only=True)

    @classmethod
    def split(cls, parts: Given) -> MailtoLocator:
        if parts.edition != "rfc3986":
            # RFC 1738 3.5: "there are no reserved characters".
            address = parts.named.get("addr-spec" if parts.edition == "url-1994" else "encoded822addr")
            return cls(addresses=(parts.decode(address),) if address else (), **parts.rest())
        if parts.host is not None:
            raise parts.refuse("//", 'addresses, and not "//" and a host', "mailto-uri", "RFC 6068 2")
        headers: list[tuple[str, str]] = []
        for hfield in () if parts.query is None else parts.query.split("&"):
            name, equals, value = hfield.partition("=")
            if not equals:
                field_text = f"&{hfield}" if headers else f"?{hfield}"
                raise parts.refuse(field_text, '"=" between name and value of a header field', "hfield", "RFC 6068 2")
            headers.append((parts.decode(name), parts.decode(value)))
        return cls(
            addresses=tuple(map(parts.decode, parts.path.split(","))) if parts.path else (),
            headers=tuple(headers),
            **parts.rest(query=False),
        )

    def join(self, to: Writer) -> str:
        text = ",".join(_write_address(item, to) for item in self.addresses)
        hfields: list[str] = []
        keep = "!$'()*+,:@"  # 2, item 1: not ";"
        for item in self.headers:
            if not isinstance(item, tuple) or len(item) != 2:  # pyright: ignore[reportUnnecessaryIsInstance]
                raise CodingError(f"a header field must be a pair of name and value, not {item!r}")
            hfields.append(f"{to.text(item[0], keep)}={to.text(item[1], keep)}")
        return f"{text}?{'&'.join(hfields)}" if hfields else text

    def for_writing(self) -> MailtoLocator:
        """A copy with "\\r\\n" for each line break in a value; it is written "%0D%0A" (5).

        >>> str(MailtoLocator(("a@b",), headers=(("body", "one\\ntwo"),)).uri())
        'mailto:a@b?body=one%0D%0Atwo'
        """
        headers = ((name, LINE_END.sub("\r\n", value)) for name, value in self.headers)
        return replace(self, headers=tuple(headers))

    def header(self, name: str) -> str | None:
        """The first value of a header field; the case of its name is ignored (2).  None if it is not there.

        >>> MailtoLocator(headers=(("Subject", "x"),)).header("subject")
        'x'
        """
        return next((value for header, value in self.headers if header.lower() == name.lower()), None)

    @property
    def subject(self) -> str | None:
        """The subject; None if it is not given."""
        return self.header("subject")

    @property
    def body(self) -> str | None:
        """The text of the message, lines separated by CR LF (5); None if it is not given."""
        return self.header("body")

    @property
    def to(self) -> tuple[str, ...]:
        """The addresses, and those of the header field of that name: both are equivalent (2)."""
        return (*self.addresses, *self._mailboxes("to"))

    @property
    def cc(self) -> tuple[str, ...]:
        """The recipients of a copy."""
        return self._mailboxes("cc")

    @property
    def bcc(self) -> tuple[str, ...]:
        """Recipients hidden from the other recipients of the message, though the URI shows them (7)."""
        return self._mailboxes("bcc")

    def _mailboxes(self, name: str) -> tuple[str, ...]:
        return tuple(item for header, value in self.headers if header.lower() == name for item in mailboxes(value))

    @property
    def unsafe(self) -> tuple[tuple[str, str], ...]:
        """The header fields that a message must not contain: those that must be ignored (From, Date, Resent-*, MIME,
        trace and routing fields; 3), those not recognized (3, 4), and values with line breaks (5), controls or octets
        that are not UTF-8.

        >>> MailtoLocator(headers=(("From", "me@here"), ("cc", "a@b"), ("subject", "a\\r\\nBcc: c@d"))).unsafe
        (('From', 'me@here'), ('subject', 'a\\r\\nBcc: c@d'))
        """
        return tuple((name, value) for name, value in self.headers if is_unsafe(name.lower(), value))


def is_unsafe(name: str, value: str) -> bool:
    """Whether a header field, its name in lower case, is one of `MailtoLocator.unsafe`."""
    return name not in _SAFE_FIELDS or (_NO_BODY if name == "body" else _NO_TEXT).search(value) is not None


def _write_address(address: str, to: Writer) -> str:
    if to.edition == "rfc1738":
        return to.text(address, ";/?:@&=")
    local, domain = split_at(address)
    # BNF xalphas; RFC 6068 2, item 1.
    keep = "+" if to.edition == "url-1994" else "!$'()*+:"
    text = to.text(local, keep)
    return text if domain is None else f"{text}@{to.text(domain, keep)}"


_CLOSES = {'"': '"', "(": ")", "<": ">", "[": "]", ":": ";"}


def mailboxes(value: str) -> tuple[str, ...]:
    """The addresses of a header field, split at the commas outside of quoted strings, comments, angle brackets, groups
    and domain literals (RFC 5322 3.4).

    >>> mailboxes('"Doe, Joe" <joe@example.com>, bob@example.com (Bob, him)')
    ('"Doe, Joe" <joe@example.com>', 'bob@example.com (Bob, him)')
    """
    parts: list[str] = []
    start, skip = 0, False
    open_: list[str] = []
    for at, char in enumerate(value):
        within = open_[-1] if open_ else ""
        if skip or (char == "\\" and within in ('"', ")", "]")):
            skip = not skip
        elif char == within:
            open_.pop()
        elif within == ")":
            open_ += ")" if char == "(" else ""
        elif within not in ('"', "]") and char in _CLOSES and not (char == ":" and open_):
            open_.append(_CLOSES[char])
        elif char == "," and not open_:
            parts.append(value[start:at])
            start = at + 1
    return tuple(part for text in (*parts, value[start:]) if (part := text.strip(" \t\r\n")))


# -- The normal form


def _to_before_the_question_mark(parts: Parts) -> Parts:
    hfields = [] if parts.query is None else parts.query.split("&")
    at = [number for number, hfield in enumerate(hfields) if hfield[:3].lower() == "to="]
    # A field that is given twice "varies widely" (2), and one that is no list of addr-specs does not fit in the path.
    if parts.authority is not None or len(at) != 1:
        return parts
    addresses = ",".join(filter(None, (parts.path, hfields.pop(at[0])[3:])))
    if not SCHEME.grammar.automaton("mail-to").accepts(addresses):
        return parts
    return parts._replace(path=addresses, query="&".join(hfields) if hfields else None)


def _lower_domains(path: str) -> str:
    addresses = [address.rpartition("@") for address in path.split(",")]
    lowered = (
        # A domain literal keeps its case (RFC 822 3.4.7: dtext).
        f"{local}{at}{domain if not at or domain.endswith('%5D') else lower_except_escapes(domain)}"
        for local, at, domain in addresses
    )
    return ",".join(lowered)


def _lower_names(parts: Parts) -> Parts:
    if not parts.query:
        return parts
    hfields = (field.partition("=") for field in parts.query.split("&"))
    return parts._replace(
        query="&".join(f"{lower_except_escapes(name)}{equals}{value}" for name, equals, value in hfields)
    )


SCHEME = Scheme(
    name="mailto",
    title="Electronic mail address",
    documents={"url-1994": "MAILTO", "rfc1738": "RFC 1738 3.5", "rfc3986": "RFC 6068"},
    locator=MailtoLocator,
    syntax=SYNTAX,
    rules={
        # 94-3: the second colon that the BNF prints belongs to the addr-spec.
        "url-1994": ("mailtoaddress", "mailtoaddress-printed"),
        "rfc1738": ("mailtourl",),
        "rfc3986": ("mailto-uri",),
    },
    plus=False,
    text_parameters=("body",),
    shape="[A-Za-z0-9%?!$&'*+._~-]",
    linkable=True,
    access="mailto",
    normal=(
        NormalRule(
            'addresses of the header field "to" are written before the "?"', "RFC 6068 2", _to_before_the_question_mark
        ),
        NormalRule("the domain name of an address is in lower case", "RFC 3986 6.2.3", on_path(_lower_domains)),
        NormalRule("the name of a header field is in lower case", "RFC 6068 2", _lower_names),
    ),
    examples=(
        Example("mailto:chris@example.com", "RFC 6068 6.1"),
        Example("mailto:infobot@example.com?body=send%20current-issue%0D%0Asend%20index", "RFC 6068 6.1", "two lines"),
        Example("mailto:list@example.org?In-Reply-To=%3C3469A91.D10AF4C@example.com%3E", "RFC 6068 6.1", "an answer"),
        Example("mailto:joe@example.com?cc=bob@example.com&body=hello", "RFC 6068 6.1"),
        Example("mailto:gorby%25kremvax@example.com", "RFC 6068 6.1", 'a "%" in the address'),
        Example("mailto:addr1@an.example,addr2@an.example", "RFC 6068 2"),
        Example("mailto:?to=addr1@an.example,addr2@an.example", "RFC 6068 2", "the same"),
        Example("mailto:%22not%40me%22@example.org", "RFC 6068 6.2", "a quoted local part"),
        Example(
            "mailto:user@%E7%B4%8D%E8%B1%86.example.org?subject=Test&body=NATTO",
            "RFC 6068 6.3",
            "the message goes to user@xn--99zt52a.example.org",
        ),
        Example("mailto:John.Doe@example.com", "RFC 3986 1.1.2"),
    ),
    notes=(
        "Nothing is sent: a draft is shown, and a person decides (RFC 6068 3 and 7).",
        "Header fields that would forge, route or encode the message are ignored (RFC 6068 3 and 4).",
        "Everybody who sees the URI sees every address in it, also those of bcc (RFC 6068 7).",
    ),
)
