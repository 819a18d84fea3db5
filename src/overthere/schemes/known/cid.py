"""cid: a body part, mostly of the message that refers to it (1994 CID; RFC 2392, before it RFC 2111)."""

from __future__ import annotations

from dataclasses import dataclass, field

from overthere.schemes.addr_spec import URL_ADDR_SPEC
from overthere.schemes.known.mid import write_identifier
from overthere.schemes.locator import Given, Locator, Writer
from overthere.schemes.model import Example, Scheme
from overthere.schemes.shapes import MAILBOX

__all__ = ["SCHEME", "CidLocator"]

RULES = {"url-1994": ("cidaddress",), "rfc3986": ("cid-uri",)}
# RFC 2392 2.
SYNTAX = f"""{URL_ADDR_SPEC}
cid-uri        = "cid:" url-content-id
url-content-id = url-addr-spec
"""


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class CidLocator(Locator):
    """Which body part (RFC 2392 2).

    >>> from overthere import URI
    >>> there = URI("cid:foo4%25foo1@bar.net").locator
    >>> there, there.headers
    (CidLocator(content_id='foo4%foo1@bar.net'), (('Content-ID', '<foo4%foo1@bar.net>'),))
    """

    content_id: str = ""
    """The identifier, decoded, without the angle brackets."""
    scheme: str = field(default="cid", kw_only=True)

    @classmethod
    def split(cls, given: Given) -> CidLocator:
        raw = given.named["content-identifier"] if given.edition == "url-1994" else given.path
        if not raw or given.host is not None:
            raise given.refuse(None if given.host is None else "//", "a content-id", "url-content-id", "RFC 2392 2")
        return cls(content_id=given.decode(raw), **given.rest())

    def join(self, to: Writer) -> str:
        return write_identifier(self.content_id, to)

    @property
    def headers(self) -> tuple[tuple[str, str], ...]:
        """The header field that is meant, with the angle brackets that enclose the identifier there."""
        return (("Content-ID", f"<{self.content_id}>"),)


EXAMPLES = (
    Example(
        "cid:foo4%25foo1@bar.net", "RFC 2392 2", "the field Content-ID has foo4%foo1@bar.net between angle brackets"
    ),
    Example("cid:foo4*foo1@bar.net", "RFC 2392 2", "an image in the same message"),
)

SCHEME = Scheme(
    name="cid",
    title="Content identifier of a MIME body part",
    documents={"url-1994": "BNF cidaddress", "rfc3986": "RFC 2392"},
    locator=CidLocator,
    syntax=SYNTAX,
    rules=RULES,
    local=True,
    shape=MAILBOX,
    access="mail",
    examples=EXAMPLES,
    notes=(
        "The part is looked for in the message that refers to it; a whole store may be searched (RFC 2392 2).",
        "Parts of one multipart/alternative may bear the same identifier: its rules choose (RFC 2392 2).",
    ),
)
