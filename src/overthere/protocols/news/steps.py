"""news and nntp: the commands of a URI (RFC 5538 3 and 4; RFC 3977; RFC 4643 2.3 for the login)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace

from overthere.access.policy import Policy
from overthere.access.steps import CRLF, Credentials, Place, Receive, Role, Send, Step, connect, guarded
from overthere.ground.errors import Cited, PlanRefused
from overthere.schemes.known.news import PORT, NewsLocator
from overthere.schemes.known.nntp import NNTPLocator
from overthere.schemes.locator import Locator
from overthere.values.uri import URI

__all__ = ["NewsRole", "at_server", "configured", "steps"]

# RFC 3977 9.8: the characters that none of these terminals has.  The byte order mark is excluded by 3.1.
_NOT_EXACT = re.compile(r"[^\x22-\x29+\x2d-\x3e\x40-\x5a\x5e-\x7e\x80-\ud7ff\ue000-\ufefe\uff00-\U0010ffff]")
_NOT_WILD = re.compile(r"[^\x22-\x2b\x2d-\x5a\x5e-\x7e\x80-\ud7ff\ue000-\ufefe\uff00-\U0010ffff]")
_NOT_ID = re.compile(r"[^\x21-\x3d\x3f-\x7e]")


class NewsRole(Role):
    """The commands, each with replies of its own (RFC 3977 3.2), and what is received for them."""

    GREETING = "greeting"
    ASK_CAPABILITIES = "CAPABILITIES"
    CAPABILITIES = "capabilities"
    MODE = "MODE READER"
    USER = "AUTHINFO USER"
    PASSWORD = "AUTHINFO PASS"
    LIST_ACTIVE = "LIST ACTIVE"
    NEWSGROUPS = "newsgroups"
    LIST = "LIST"
    ALL_NEWSGROUPS = "all newsgroups"
    """Of which those that match are taken."""
    GROUP = "GROUP"
    OVER = "OVER"
    XOVER = "XOVER"
    OVERVIEW = "overview"
    LISTGROUP = "LISTGROUP"
    NUMBERS = "numbers"
    NUMBERS_OF_GROUP = "numbers of GROUP"
    """The first and the last, which the answer to GROUP has told."""
    ASK_ARTICLE = "ARTICLE"
    ARTICLE = "article"
    QUIT = "QUIT"


_MOST_OF_COMMAND, _MOST_OF_ARGUMENTS, _MOST_OF_ID, _MOST_DIGITS = 512, 497, 248, 16


def steps(locator: NewsLocator | NNTPLocator, credentials: Credentials) -> Iterator[Step]:
    """The dialogue with the server that the locator names.

    Without one it is "a configured default server" (RFC 5538 4), which no locator holds: the plan names the place
    alone.  A caller that knows the server puts it into the locator (`at_server`), as opening does with that of its
    policy.
    """
    if locator.query is not None:
        raise PlanRefused(f'{locator.scheme} URIs cannot have a query: write "?" as "%3F"', "RFC 5538 2.3, 4")
    asked = list(_nntp(locator) if isinstance(locator, NNTPLocator) else _news(locator))
    if locator.host is None or _names_no_server(locator):
        yield _at_the_configured_server(locator)
        return
    yield connect(locator.host, locator.port or PORT, "RFC 5538 2, RFC 3977 3.4.1")
    yield Receive(source="RFC 3977 5.1", what="the greeting", until="reply", role=NewsRole.GREETING)
    yield Send(source="RFC 3977 5.2", data=b"CAPABILITIES\r\n", role=NewsRole.ASK_CAPABILITIES)
    yield _receive_block(NewsRole.CAPABILITIES, "the capabilities", "RFC 3977 5.2", "101")
    # To a server that switches modes, or that is older than CAPABILITIES; before any login (5.3.2).
    after = ("MODE-READER", "500")
    yield Send(source="RFC 3977 3.4.2", data=b"MODE READER\r\n", after=after, role=NewsRole.MODE)
    yield from _login(locator, credentials)
    yield from asked
    yield Send(source="RFC 3977 5.4", data=b"QUIT\r\n", role=NewsRole.QUIT)


def configured(locator: Locator, policy: Policy) -> Locator:
    """The locator on the news server of the policy, where it names none and there is one (RFC 5538 4)."""
    return locator if policy.news_server is None else at_server(locator, policy.news_server)


def at_server(locator: Locator, server: str) -> Locator:
    """The locator on the server that is configured, where it is for that one; else itself.

    server: a host, or host and port as a URI has them.  A port in the locator goes first.

    Raises: PlanRefused if that is no server.

    >>> str(at_server(URI("news:a@b").locator, "news.example:8119").uri())
    'news://news.example:8119/a@b'
    """
    if not isinstance(locator, NewsLocator | NNTPLocator) or not _names_no_server(locator):
        return locator
    host = port = None
    with suppress(ValueError):
        there = URI(f"nntp://{server}")
        if there.userinfo is None and there.authority == server:
            host, port = there.host, int(there.port_text) if there.port_text else None
    if not host:
        raise PlanRefused(f"{server!r} is not a news server: give a host, or host:port", "RFC 5538 2.1")
    return replace(locator, host=host, port=locator.port or port, written=None)


def _names_no_server(locator: NewsLocator | NNTPLocator) -> bool:
    return locator.host is None or (locator.host == "" and isinstance(locator, NewsLocator))


def _news(locator: NewsLocator) -> Iterator[Step]:
    """RFC 5538 4: an article, an overview of a newsgroup, or the names of those that match."""
    if locator.message_id is not None:
        yield _article(b"<" + _message_id(locator.message_id) + b">", "RFC 5538 4, RFC 3977 6.2.1")
        yield _receive_block(NewsRole.ARTICLE, "the article", "RFC 3977 6.2.1")
    elif locator.is_set:
        pattern = locator.group or "*"
        wanted = b"" if pattern == "*" else b" " + _argument(pattern, "group", _NOT_WILD, locator.charset)
        yield _command("LIST", b"ACTIVE" + wanted, "RFC 5538 4, RFC 3977 7.6.3", NewsRole.LIST_ACTIVE)
        yield _receive_block(NewsRole.NEWSGROUPS, "the newsgroups", "RFC 3977 7.6.3", "215")
        # A server of RFC 977 lists them all, for LIST has no arguments there; those that match are taken.
        yield Send(source="RFC 977 3.6", data=b"LIST\r\n", after=("500", "501"), role=NewsRole.LIST)
        yield _receive_block(NewsRole.ALL_NEWSGROUPS, "the newsgroups", "RFC 977 3.6", "215")
    else:
        yield from _overview(_newsgroup_octets(locator))


def _nntp(locator: NNTPLocator) -> Iterator[Step]:
    """RFC 5538 3: an article by its number, or the newsgroup as "an equivalent 'news' URL" has it."""
    if not locator.group:
        raise PlanRefused("an nntp URI needs a newsgroup", "RFC 5538 3")
    if locator.article_number is None:
        yield from _overview(_newsgroup_octets(locator), locator.article_range)
        return
    digits = str(locator.article_number)
    if len(digits) > _MOST_DIGITS:
        raise PlanRefused(f"the article number has {len(digits)} digits, more than {_MOST_DIGITS}", "RFC 3977 6")
    yield _group(_newsgroup_octets(locator))
    yield _article(digits.encode(), "RFC 5538 3, RFC 3977 6.2.1")
    yield _receive_block(NewsRole.ARTICLE, "the article", "RFC 3977 6.2.1")


def _newsgroup_octets(locator: NewsLocator | NNTPLocator) -> bytes:
    """The octets of the newsgroup: UTF-8 (RFC 3977 3.1), or those that 1994 says, for an "8-bit byte" (RFC 977 2.3)."""
    return _argument(locator.group or "", "group", _NOT_EXACT, locator.charset)


def _overview(group: bytes, numbers: tuple[int, int | None] | None = None) -> Iterator[Step]:
    """The overview; from a server that has none the numbers alone, from one of RFC 977 those that GROUP has told."""
    yield _group(group)
    first, last = numbers or (1, None)
    note = "" if numbers else Cited("of all its articles; the answer to GROUP shows the newest", "RFC 3977 6.1.1")
    asked = _argument(f"{first}-{'' if last is None else last}", "article_range", _NOT_EXACT)
    yield _command("OVER", asked, "RFC 5538 4, RFC 3977 8.3", NewsRole.OVER, note)
    yield _receive_block(NewsRole.OVERVIEW, "the overview of the newsgroup", "RFC 3977 8.3", "224")
    # A server older than RFC 3977 may know the command by its first name only.
    yield _command("XOVER", asked, "RFC 2980 2.8", NewsRole.XOVER, after=("500",))
    yield _receive_block(NewsRole.OVERVIEW, "the overview of the newsgroup", "RFC 2980 2.8", "224")
    # All articles are the default; older servers know no range (RFC 3977 6.1.2.2).
    listed = group + b" " + asked if numbers else group
    yield _command("LISTGROUP", listed, "RFC 3977 6.1.2", NewsRole.LISTGROUP, after=("500", "502", "503"))
    yield _receive_block(NewsRole.NUMBERS, "the numbers of its articles", "RFC 3977 6.1.2", "211")
    yield Receive(
        source="RFC 977 3.2",
        what="the first and last number, from the answer to GROUP",
        until="known",
        after=("500", "501", "502", "503"),
        role=NewsRole.NUMBERS_OF_GROUP,
    )


def _at_the_configured_server(locator: NewsLocator | NNTPLocator) -> Place:
    port = "" if locator.port is None else f", port {locator.port}"
    note = f"on the configured news server{port}; a server in the locator takes precedence"
    source = "RFC 5538 4"
    if isinstance(locator, NNTPLocator):
        source, number = "1994 NNTP", locator.article_number
        what = "newsgroup" if number is None else "article"
        where = f"{locator.group}" if number is None else f"{number} of {locator.group}"
    elif locator.message_id is not None:
        what, where = "article", f"<{locator.message_id}>"
    else:
        what, where = "newsgroups" if locator.is_set else "newsgroup", locator.group or "*"
    return Place(source=source, what=what, where=locator.native(where), note=note)


def _login(locator: NewsLocator | NNTPLocator, credentials: Credentials) -> Iterator[Step]:
    """RFC 4643 2.3, for whom the URI names (RFC 5538 7), else whom the caller names; else without a login."""
    user, password, charset, said = locator.user, locator.password, locator.charset, locator.charset
    if user is None and password is None:
        user, password, charset, said = credentials.user, credentials.password, "utf-8", "utf-8"
        if user is None:
            return
    elif password is None and credentials.user in (None, user):
        password, said = credentials.password, "utf-8"
    note = "" if password is not None else "the server may ask for a password; ask the user for it"
    yield _command("AUTHINFO", b"USER " + _word(user or "", "user", charset), "RFC 4643 2.3", NewsRole.USER, note)
    if password is not None:
        note = Cited("the password is sent in clear text", "RFC 5538 7")
        told = b"PASS " + _word(password, "password", said)
        step = _command("AUTHINFO", told, "RFC 4643 2.3", NewsRole.PASSWORD, note, after=("381",))
        yield replace(step, secret=(len("AUTHINFO PASS "), len(step.data) - len(CRLF)))


def _group(group: bytes) -> Send:
    return _command("GROUP", group, "RFC 3977 6.1.1", NewsRole.GROUP)


def _article(reference: bytes, source: str) -> Send:
    return _command("ARTICLE", reference, source, NewsRole.ASK_ARTICLE)


def _message_id(text: str) -> bytes:
    """RFC 3977 3.6: between 3 and 250 octets with the brackets, printable US-ASCII."""
    if not 0 < len(text) <= _MOST_OF_ID:
        raise PlanRefused(f"message_id has {len(text):,} characters instead of 1 to {_MOST_OF_ID}", "RFC 3977 3.6")
    return _argument(text, "message_id", _NOT_ID)


def _word(text: str, part: str, charset: str) -> bytes:
    """A user or a password: octets without white space, one at least."""
    if not text:
        raise PlanRefused(f"{part} is empty, which NNTP does not allow", "RFC 4643 3, RFC 3977 9.2")
    return guarded(text, part, "RFC 3977 3.1", delimiters=b" ", charset=charset)


def _argument(text: str, part: str, excluded: re.Pattern[str], charset: str = "utf-8") -> bytes:
    octets = guarded(text, part, "RFC 3977 3.1", delimiters=b" ", charset=charset)
    if match := excluded.search(text):
        raise PlanRefused(f"{part} holds {match[0]!r}, which NNTP does not allow there", "RFC 3977 9.8")
    return octets


def _receive_block(role: NewsRole, what: str, source: str, *after: str) -> Receive:
    """A block of lines (RFC 3977 3.1.1)."""
    return Receive(source=source, what=what, until="dot", after=after, role=role)


def _command(
    keyword: str, octets: bytes, source: str, role: NewsRole, note: str = "", after: tuple[str, ...] = ()
) -> Send:
    """One line of RFC 3977 3.1."""
    data = keyword.encode() + b" " + octets + CRLF
    if len(octets) > _MOST_OF_ARGUMENTS or len(data) > _MOST_OF_COMMAND:
        raise PlanRefused(
            f"the arguments of {keyword} have {len(octets):,} octets, more than {_MOST_OF_ARGUMENTS}", "RFC 3977 3.1"
        )
    return Send(source=source, data=data, note=note, after=after, role=role)
