"""mid: a message, or a body part of it, by its message identifier (1994 MID; RFC 2392, before it RFC 2111)."""

from __future__ import annotations

from dataclasses import dataclass, field

from overthere.schemes.addr_spec import URL_ADDR_SPEC
from overthere.schemes.in_text import MAILBOX
from overthere.schemes.locator import Given, Locator, Writer
from overthere.schemes.model import Example, Scheme

# RFC 2392 2.
SYNTAX = f"""{URL_ADDR_SPEC}
mid-uri        = "mid:" url-message-id [ "/" url-content-id ]
url-message-id = url-addr-spec
url-content-id = url-addr-spec
"""
_CID_SYNTAX = f"""{URL_ADDR_SPEC}
cid-uri        = "cid:" url-content-id
url-content-id = url-addr-spec
"""


def _write_identifier(identifier: str, to: Writer) -> str:
    """The URL encoding of an addr-spec, "/" included (RFC 2392 2); in 1994 by its xalphas."""
    return to.text(identifier, "@+" if to.edition == "url-1994" else "!$&'()*+,;=:@")


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class MidLocator(Locator):
    """A message, or a part of it (RFC 2392 2).

    >>> from overthere import URI
    >>> there = URI("mid:960830.1639@XIson.com/partA.960830.1639@XIson.com").locator
    >>> there.message_id, there.content_id
    ('960830.1639@XIson.com', 'partA.960830.1639@XIson.com')
    """

    message_id: str = ""
    """The identifier of the message, decoded, without the angle brackets."""
    content_id: str | None = None
    """The identifier of the body part, decoded; None for the whole message."""
    scheme: str = field(default="mid", kw_only=True)

    @classmethod
    def split(cls, parts: Given) -> MidLocator:
        if parts.edition == "url-1994":
            # BNF midaddress: an addr-spec alone (94-16).
            message, slash, part = parts.named["addr-spec"] or "", "", ""
        else:
            message, slash, part = (parts.path or "").partition("/")
        message_id, content_id = parts.decode(message), parts.decode(part)
        # Dots alone are no identifier, and may be a dot-segment, which normal forms do not have (RFC 3986 6.2.2.3).
        if not message_id.strip(".") or parts.host is not None:
            raise parts.refuse(None if parts.host is None else "//", "a message-id", "url-message-id", "RFC 2392 2")
        if slash and not content_id.strip("."):
            raise parts.refuse("/", 'a content-id behind the "/"', "url-content-id", "RFC 2392 2")
        return cls(message_id=message_id, content_id=content_id if slash else None, **parts.rest())

    def join(self, to: Writer) -> str:
        part = "" if self.content_id is None else f"/{_write_identifier(self.content_id, to)}"
        return _write_identifier(self.message_id, to) + part

    @property
    def headers(self) -> tuple[tuple[str, str], ...]:
        """The header fields that it refers to: that of the message, and that of the part if there is one.

        >>> MidLocator(message_id="a@b", content_id="c@d").headers
        (('Message-ID', '<a@b>'), ('Content-ID', '<c@d>'))
        """
        message = ("Message-ID", f"<{self.message_id}>")
        return (message,) if self.content_id is None else (message, ("Content-ID", f"<{self.content_id}>"))


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class CidLocator(Locator):
    """A body part (RFC 2392 2).

    >>> from overthere import URI
    >>> there = URI("cid:foo4%25foo1@bar.net").locator
    >>> there, there.headers
    (CidLocator(content_id='foo4%foo1@bar.net'), (('Content-ID', '<foo4%foo1@bar.net>'),))
    """

    content_id: str = ""
    """The identifier, decoded, without the angle brackets."""
    scheme: str = field(default="cid", kw_only=True)

    @classmethod
    def split(cls, parts: Given) -> CidLocator:
        raw = parts.named["content-identifier"] if parts.edition == "url-1994" else parts.path
        content_id = parts.decode(raw or "")
        if not content_id.strip(".") or parts.host is not None:
            raise parts.refuse(None if parts.host is None else "//", "a content-id", "url-content-id", "RFC 2392 2")
        return cls(content_id=content_id, **parts.rest())

    def join(self, to: Writer) -> str:
        return _write_identifier(self.content_id, to)

    @property
    def headers(self) -> tuple[tuple[str, str], ...]:
        """The header field that it refers to, with angle brackets around the identifier."""
        return (("Content-ID", f"<{self.content_id}>"),)


SCHEME = Scheme(
    name="mid",
    title="Message identifier for electronic mail",
    documents={"url-1994": "BNF midaddress", "rfc3986": "RFC 2392"},
    locator=MidLocator,
    syntax=SYNTAX,
    rules={"url-1994": ("midaddress",), "rfc3986": ("mid-uri",)},
    local=True,
    shape=MAILBOX,
    access="mail",
    examples=(
        Example("mid:960830.1639@XIson.com/partA.960830.1639@XIson.com", "RFC 2392 2", "a part of a message"),
        Example("mid:970701.32784@VIers.none.com", "RFC 2392 2", "a message that is printed there"),
    ),
    notes=("It names no host: the message must be in a local store (RFC 2392 2).",),
)

CID = Scheme(
    name="cid",
    title="Content identifier of a MIME body part",
    documents={"url-1994": "BNF cidaddress", "rfc3986": "RFC 2392"},
    locator=CidLocator,
    syntax=_CID_SYNTAX,
    rules={"url-1994": ("cidaddress",), "rfc3986": ("cid-uri",)},
    local=True,
    shape=MAILBOX,
    access="mail",
    examples=(
        Example(
            "cid:foo4%25foo1@bar.net", "RFC 2392 2", "the field Content-ID has foo4%foo1@bar.net between angle brackets"
        ),
        Example("cid:foo4*foo1@bar.net", "RFC 2392 2", "an image in the same message"),
    ),
    notes=(
        "The part is searched in the message that refers to it; a whole store may be searched too (RFC 2392 2).",
        "Parts of one multipart/alternative may have the same identifier; that type's rules choose one (RFC 2392 2).",
    ),
)
"""cid: a body part, mostly of the message that refers to it (1994 CID; RFC 2392, before it RFC 2111)."""
