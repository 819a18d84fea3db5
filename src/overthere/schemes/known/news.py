"""news: articles and newsgroups of Netnews (1994 NEWS; RFC 1738 3.6; RFC 5538; message-ids: RFC 5536 3.1.3)."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from overthere.ground.errors import CodingError
from overthere.kernel.reference import Parts
from overthere.schemes.in_text import MAILBOX
from overthere.schemes.locator import Given, Locator, Writer
from overthere.schemes.model import Example, NormalRule, Scheme, default_port

PORT = 119
"""The default port (RFC 5538 2)."""
# RFC 5538 4 and Appendix A.  The article is the msg-id-core of RFC 5536 3.1.3 as RFC 3986 can write it: each of its
# characters may be escaped ("it is not wrong to encode others"), and those that no segment holds are.
SYNTAX = """
news-uri      = "news:" [ "//" authority "/" ] ( news-article / newsgroups )
newsgroups    = *( ALPHA / DIGIT / "-" / "+" / "_" / "." / pct-encoded / "*" )
news-article  = news-dot-atom "@" ( news-dot-atom / "%5B" *news-mdtext "%5D" )
news-dot-atom = 1*news-atext *( ( "." / "%2E" ) 1*news-atext )
news-atext    = ALPHA / DIGIT / "!" / "$" / "&" / "'" / "*" / "+" / "-" / "=" / "_" / "~"
              / "%2" ( "1" / %x33-37 / "A" / "B" / "D" / "F" ) / "%3" ( DIGIT / "D" / "F" )
              / "%4" ( %x31-39 / %x41-46 / %x61-66 ) / "%5" ( DIGIT / "A" / "E" / "F" )
              / "%6" HEXDIG / "%7" ( DIGIT / %x41-45 / %x61-65 )
news-mdtext   = unreserved / sub-delims / ":" / "@"
              / "%2" ( %x31-39 / %x41-46 / %x61-66 ) / "%3" ( DIGIT / %x41-44 / %x61-64 / "F" )
              / "%4" HEXDIG / "%5" ( DIGIT / "A" / "E" / "F" )
              / "%6" HEXDIG / "%7" ( DIGIT / %x41-45 / %x61-65 )
"""

# Characters that stay unescaped in an article and in the name of a group.
_IN_ARTICLE = {"url-1994": "@+", "rfc1738": ";/?:&=", "rfc3986": "!$&'()*+,;=:@"}
_IN_GROUP = "+*"


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class NewsLocator(Locator):
    """An article, a newsgroup or a set of newsgroups, on a server or on the one that is configured (RFC 5538 4).

    >>> from overthere import URI
    >>> URI("news:example.group.this").locator
    NewsLocator(group='example.group.this')
    >>> URI("news://news.gmane.org/p0624081dc30b8699bf9b@%5B10.20.30.108%5D").locator
    NewsLocator(host='news.gmane.org', message_id='p0624081dc30b8699bf9b@[10.20.30.108]')
    """

    user: str | None = None
    password: str | None = None
    host: str | None = None
    """None and "" mean the configured server, the default of "news" (RFC 5538 2.1, 4)."""
    port: int | None = None
    group: str | None = None
    """A newsgroup, or a pattern of their names: "*" is any characters, "?" any one (RFC 5538 4, RFC 3977 4.2).  "" and
    "*" mean all groups.  None for an article, and if nothing follows the server."""
    message_id: str | None = None
    """The Message-ID of an article, without "<" and ">"; its case matters (RFC 5538 2.3)."""
    scheme: str = field(default="news", kw_only=True)

    @property
    def is_set(self) -> bool:
        """Whether it names a set of newsgroups (RFC 5538 4).

        >>> NewsLocator(group="example.*").is_set, NewsLocator(group="example.this").is_set
        (True, False)
        """
        return self.message_id is None and (not self.group or "*" in self.group or "?" in self.group)

    @classmethod
    def split(cls, parts: Given) -> NewsLocator:
        if parts.edition == "rfc3986":
            text = parts.path
            article = text if text is not None and "@" in text else None
        else:
            text, article = parts.named.get("groupart", parts.named.get("grouppart")), parts.named["article"]
        group = None
        if article is None and text is not None:
            if parts.edition == "rfc3986" and "/" in text:
                expected = 'a newsgroup or a message-id; "/" in one is written "%2F"'
                raise parts.refuse(text, expected, "news-uri", "RFC 5538 4")
            group = parts.decode(text)
        server = {**parts.login(), "host": parts.host}
        return cls(**server, group=group, message_id=parts.decode(article), **parts.rest())

    def join(self, to: Writer) -> str:
        if self.host is not None and to.edition != "rfc3986":
            raise CodingError("a news URL names no server there")
        text = "" if self.host is None else to.authority(self.host, self.port, self.user, self.password)
        if self.message_id is not None:
            # In the older editions only the last "@" separates the domain.
            local_part, at, domain = self.message_id.rpartition("@")
            keep = _IN_ARTICLE[to.edition]
            target = to.text(local_part, keep) + at + to.text(domain, keep)
        elif self.group is not None:
            if to.edition != "rfc3986" and self.group != "*" and self.is_set:
                raise CodingError('of sets of newsgroups it knows "*" alone')
            target = self.group if self.group == "*" else to.text(self.group, _IN_GROUP, drop="~")
        else:
            return text
        return f"{text}/{target}" if text else target


def _default_server(parts: Parts) -> Parts:
    if parts.authority != "" or not parts.path.startswith("/") or parts.path.startswith("//"):
        return parts
    return parts._replace(authority=None, path=parts.path[1:])


def _all_groups(parts: Parts) -> Parts:
    empty = parts.path == ("" if parts.authority is None else "/")
    return parts._replace(path=parts.path + "*") if empty else parts


_NEEDLESS_IN_ARTICLE = re.compile("%(?:2[1467-9A-C]|3[ABD]|40)")
_NEEDLESS_IN_GROUP = re.compile("%2[AB]")


def _no_needless_escapes(parts: Parts) -> Parts:
    if "%" not in parts.path:
        return parts
    needless = _NEEDLESS_IN_ARTICLE if "@" in parts.path else _NEEDLESS_IN_GROUP
    return parts._replace(path=needless.sub(lambda match: chr(int(match[0][1:], 16)), parts.path))


SCHEME = Scheme(
    name="news",
    title="Netnews: newsgroups, and articles by their Message-ID",
    documents={"url-1994": "NEWS", "rfc1738": "RFC 1738 3.6", "rfc3986": "RFC 5538"},
    locator=NewsLocator,
    syntax=SYNTAX,
    rules={"url-1994": ("newsaddress",), "rfc1738": ("newsurl",), "rfc3986": ("news-uri",)},
    port=PORT,
    lines=True,
    shape=rf"[A-Za-z0-9+_-]{{1,64}}\.[A-Za-z0-9]|{MAILBOX}|\*",
    linkable=True,
    access="news",
    normal=(
        default_port(PORT, "RFC 5538 2"),
        NormalRule(
            "an empty host means the configured server, like no host", "RFC 3986 3.2.2, RFC 5538 2.1", _default_server
        ),
        NormalRule("needless escapes are decoded", "RFC 5538 4", _no_needless_escapes),
        NormalRule('no newsgroup means all of them, "*"', "RFC 5538 4", _all_groups),
    ),
    examples=(
        Example("news:comp.infosystems.www.servers.unix", "RFC 3986 1.1.2"),
        Example("news:*", "RFC 1738 3.6", "all available newsgroups"),
        Example("news://news.server.example/*", "RFC 5538 4", "all newsgroups of that server"),
        Example("news://news.server.example/", "RFC 5538 4", "the same"),
        Example("news://wild.server.example/example.group.th%3Fse", "RFC 5538 4", '"?" is any one character'),
        Example("news:example.group.*", "RFC 5538 4"),
        Example("news:example.group.this", "RFC 5538 4"),
        Example("news://news.server.example/example.group.this", "RFC 5538 3"),
        Example("news://news.gmane.org/gmane.ietf.tools", "RFC 5538 Appendix B"),
        Example("news://news.gmane.org/p0624081dc30b8699bf9b@%5B10.20.30.108%5D", "RFC 5538 Appendix B", "an article"),
        Example("news:EFGJG4.7A@deshaw.com", "draft-gilman-news-url-01 4", "an article"),
    ),
    notes=(
        "Without a server the configured one is used (RFC 5538 4).",
        "The case of Message-IDs matters (RFC 5538 2.3); servers differ on that of newsgroups (RFC 5536 3.1.4).",
        "Articles expire, and a server may have another under the same Message-ID (RFC 5538 7).",
    ),
)
