"""nntp: an article by its number in a newsgroup of a server (1994 NNTP; RFC 1738 3.7; RFC 5538; RFC 3977)."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from overthere.kernel.reference import Parts
from overthere.schemes.known.news import PORT
from overthere.schemes.locator import Given, Locator, Writer
from overthere.schemes.model import Example, NormalRule, Scheme, default_port

# RFC 5538 3 and Appendix A; its server is `"//" authority`, which "nntp" URIs have "non-empty", for "there is no
# default <host>" (2.1).
SYNTAX = """
nntp-uri       = "nntp:" "//" nntp-server "/" group [ "/" article-number ]
nntp-server    = [ userinfo "@" ] ( IP-literal / IPv4address / nntp-reg-name ) [ ":" port ]
nntp-reg-name  = 1*( unreserved / pct-encoded / sub-delims )
group          = 1*( group-char / pct-encoded )
group-char     = ALPHA / DIGIT / "-" / "+" / "_" / "."
article-number = 1*16DIGIT
"""

# RFC 5538 3 and RFC 3977 6 allow 16 digits; the older editions set no limit.
_NUMBER = {"url-1994": re.compile("[0-9]+"), "rfc1738": re.compile("[0-9]+"), "rfc3986": re.compile("[0-9]{1,16}")}

_RANGE = re.compile("([0-9]{1,16})-([0-9]{1,16})?")


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class NNTPLocator(Locator):
    """An article by its number, or a newsgroup, of a server (RFC 5538 3).

    >>> from overthere import URI
    >>> URI("nntp://news.server.example/example.group.this/12345").locator
    NNTPLocator(host='news.server.example', group='example.group.this', article_number=12345)
    """

    user: str | None = None
    password: str | None = None
    host: str | None = None
    """None only in the draft of 1994, whose BNF has no server: the local server (decision 94-9)."""
    port: int | None = None
    group: str | None = None
    """The name of the newsgroup; None if nothing follows the server."""
    article_number: int | None = None
    """None for the newsgroup itself.  The number of an article differs between servers (RFC 5538 2.1)."""
    article_range: tuple[int, int | None] | None = None
    """First and last number; a last None means all from the first on.  No edition's grammar allows ranges, but
    newsreaders support them (draft-gilman-news-url 2): they are read, and `Scheme.check` reports them."""
    scheme: str = field(default="nntp", kw_only=True)

    @classmethod
    def split(cls, parts: Given) -> NNTPLocator:
        group, digits = parts.named.get("group"), parts.named.get("digits")
        source = {"rfc1738": "RFC 1738 3.7", "rfc3986": "RFC 5538 2.1"}.get(parts.edition)
        if source and parts.host is None:
            raise parts.refuse(parts.path, '"//" and a server', "nntp-uri", source)
        if parts.edition == "rfc3986":
            if not parts.host:
                raise parts.refuse(
                    None, "the host of a server, for which there is no default", "nntp-server", "RFC 5538 2.1"
                )
            if parts.path is not None:
                group, slash, number = parts.path.partition("/")
                digits = number if slash else None
        server = {**parts.login(), "host": parts.host}
        numbers = _RANGE.fullmatch(digits or "") if parts.edition == "rfc3986" else None
        if numbers is not None:
            first, last = int(numbers[1]), int(numbers[2]) if numbers[2] else None
            return cls(**server, group=parts.decode(group), article_range=(first, last), **parts.rest())
        return cls(**server, group=parts.decode(group), article_number=_number(digits, parts), **parts.rest())

    def join(self, to: Writer) -> str:
        text = "" if self.host is None else to.authority(self.host, self.port, self.user, self.password)
        if self.group is not None:
            text += ("/" if text else "") + to.text(self.group, "+", drop="~")
        if self.article_range is not None and self.article_number is None:
            first, last = (*self.article_range, None)[:2]
            return f"{text}/{first}-{'' if last is None else last}"
        return text if self.article_number is None else f"{text}/{self.article_number}"


def _number(digits: str | None, parts: Given) -> int | None:
    try:
        if digits is None or _NUMBER[parts.edition].fullmatch(digits):
            return None if digits is None else int(digits)
    except ValueError:  # thousands of digits
        pass
    raise parts.refuse(digits, "one article number, of at most 16 digits", "article-number", "RFC 5538 3")


def _plus(parts: Parts) -> Parts:
    return parts._replace(path=parts.path.replace("%2B", "+"))


_NUMBERED = re.compile("(/[^/]*+/)(?:0(?=[0-9]))++([0-9]++)")


def _no_zeros(parts: Parts) -> Parts:
    match = _NUMBERED.fullmatch(parts.path)
    return parts._replace(path=match[1] + match[2]) if match and parts.authority is not None else parts


SCHEME = Scheme(
    name="nntp",
    title="Netnews: articles by their number on a server",
    documents={"url-1994": "NNTP", "rfc1738": "RFC 1738 3.7", "rfc3986": "RFC 5538"},
    locator=NNTPLocator,
    syntax=SYNTAX,
    rules={"url-1994": ("nntpaddress", "nntpaddress-prose"), "rfc1738": ("nntpurl",), "rfc3986": ("nntp-uri",)},
    port=PORT,
    lines=True,
    linkable=True,
    hierarchical=True,
    access="news",
    normal=(
        default_port(PORT, "RFC 5538 2"),
        NormalRule('"+" is not escaped, because "no percent-encoding is necessary"', "RFC 5538 3", _plus),
        NormalRule("an article number has no leading zeros", "RFC 3977 6", _no_zeros),
    ),
    examples=(
        Example("nntp://news.server.example/example.group.this/12345", "RFC 5538 3"),
        Example("nntp://wild.server.example/example.group.n%2Fa/12345", "RFC 5538 3"),
        Example("nntp://news.server.example/example.group.this", "RFC 5538 3", "the newsgroup"),
        Example("nntp://news.gmane.org/gmane.ietf.tools/742", "RFC 5538 Appendix B"),
    ),
    notes=(
        "The number of an article is valid on one server only: the scheme news is better supported (RFC 5538 2.1, 3).",
        "Many servers serve local clients only (1994 NNTP, RFC 1738 3.7, RFC 5538 2.1).",
    ),
)
