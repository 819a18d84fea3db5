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

# RFC 3977 9.8: the characters that none of these terminals has.  The byte order mark is excluded by 3.1.
_NOT_EXACT = re.compile(r"[^\x22-\x29+\x2d-\x3e\x40-\x5a\x5e-\x7e\x80-\ud7ff\ue000-\ufefe\uff00-\U0010ffff]")
_NOT_WILD = re.compile(r"[^\x22-\x2b\x2d-\x5a\x5e-\x7e\x80-\ud7ff\ue000-\ufefe\uff00-\U0010ffff]")
_NOT_ID = re.compile(r"[^\x21-\x3d\x3f-\x7e]")


class NewsRole(Role):
    """The commands, which have different replies (RFC 3977 3.2), and their responses."""

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
    """The list of all newsgroups, filtered by the client."""
    GROUP = "GROUP"
    OVER = "OVER"
    XOVER = "XOVER"
    OVERVIEW = "overview"
    LISTGROUP = "LISTGROUP"
    NUMBERS = "numbers"
    NUMBERS_OF_GROUP = "numbers of GROUP"
    """The first and last number, from the reply to GROUP."""
    ASK_ARTICLE = "ARTICLE"
    ARTICLE = "article"
    QUIT = "QUIT"


_MAX_COMMAND, _MAX_ARGUMENTS, _MAX_ID, _MAX_DIGITS = 512, 497, 248, 16


def steps(locator: NewsLocator | NNTPLocator, credentials: Credentials) -> Iterator[Step]:
    """Return the dialogue with the locator's server.

    Without a server it is "a configured default server" (RFC 5538 4), which locators do not have: the plan has only
    the place.  A caller that knows the server puts it into the locator (`at_server`), as opening does with its
    policy's.
    """
    if locator.query is not None:
        raise PlanRefused(f'{locator.scheme} URIs cannot have a query: write "?" as "%3F"', "RFC 5538 2.3, 4")
    requests = list(_nntp(locator) if isinstance(locator, NNTPLocator) else _news(locator))
    if locator.host is None or _names_no_server(locator):
        yield _at_the_configured_server(locator)
        return
    yield connect(locator.host, PORT if locator.port is None else locator.port, "RFC 5538 2, RFC 3977 3.4.1")
    yield Receive(source="RFC 3977 5.1", what="the greeting", until="reply", role=NewsRole.GREETING)
    yield Send(source="RFC 3977 5.2", data=b"CAPABILITIES\r\n", role=NewsRole.ASK_CAPABILITIES)
    yield _receive_block(NewsRole.CAPABILITIES, "the capabilities", "RFC 3977 5.2", "101")
    # Sent to a server that switches modes, or is older than CAPABILITIES; before any login (5.3.2).
    after = ("MODE-READER", "500")
    yield Send(source="RFC 3977 3.4.2", data=b"MODE READER\r\n", after=after, role=NewsRole.MODE)
    yield from _login(locator, credentials)
    yield from requests
    yield Send(source="RFC 3977 5.4", data=b"QUIT\r\n", role=NewsRole.QUIT)


def configured(locator: Locator, policy: Policy) -> Locator:
    """Return the locator with the policy's news server, if the locator has none and the policy has one (RFC 5538 4)."""
    return locator if policy.news_server is None else at_server(locator, policy.news_server)


def at_server(locator: Locator, server: str) -> Locator:
    """Return the locator with the configured server, if it needs that; otherwise the locator itself.

    server: a host, or host and port as in a URI.  A port in the locator takes precedence.

    Raises: PlanRefused if the server is invalid.

    >>> str(at_server(URI("news:a@b").locator, "news.example:8119").uri())
    'news://news.example:8119/a@b'
    """
    if not isinstance(locator, NewsLocator | NNTPLocator) or not _names_no_server(locator):
        return locator
    host = port = None
    with suppress(ValueError):
        server_uri = URI(f"nntp://{server}")
        if server_uri.userinfo is None and server_uri.authority == server:
            host, port = server_uri.host, int(server_uri.port_text) if server_uri.port_text else None
    if not host:
        raise PlanRefused(f"{server!r} is not a news server: give a host, or host:port", "RFC 5538 2.1")
    return replace(locator, host=host, port=port if locator.port is None else locator.port, written=None)


def _names_no_server(locator: NewsLocator | NNTPLocator) -> bool:
    return locator.host is None or (locator.host == "" and isinstance(locator, NewsLocator))


def _news(locator: NewsLocator) -> Iterator[Step]:
    """Return the requests for an article, the overview of a newsgroup, or the matching newsgroups (RFC 5538 4)."""
    if locator.message_id is not None:
        reference = b"<" + _message_id(locator.message_id) + b">"
        yield _command("ARTICLE", reference, "RFC 5538 4, RFC 3977 6.2.1", NewsRole.ASK_ARTICLE)
        yield _receive_block(NewsRole.ARTICLE, "the article", "RFC 3977 6.2.1")
    elif locator.is_set:
        pattern = locator.group or "*"
        pattern_argument = b"" if pattern == "*" else b" " + _argument(pattern, "group", _NOT_WILD, locator.charset)
        yield _command("LIST", b"ACTIVE" + pattern_argument, "RFC 5538 4, RFC 3977 7.6.3", NewsRole.LIST_ACTIVE)
        yield _receive_block(NewsRole.NEWSGROUPS, "the newsgroups", "RFC 3977 7.6.3", "215")
        # A server of RFC 977 lists all of them, because LIST has no arguments there; the client filters the list.
        yield Send(source="RFC 977 3.6", data=b"LIST\r\n", after=("500", "501"), role=NewsRole.LIST)
        yield _receive_block(NewsRole.ALL_NEWSGROUPS, "the newsgroups", "RFC 977 3.6", "215")
    else:
        yield from _overview(_newsgroup_octets(locator))


def _nntp(locator: NNTPLocator) -> Iterator[Step]:
    """Return the requests for an article by number, or for a newsgroup like "an equivalent 'news' URL" (RFC 5538 3)."""
    if not locator.group:
        raise PlanRefused("an nntp URI needs a newsgroup", "RFC 5538 3")
    if locator.article_number is None:
        yield from _overview(_newsgroup_octets(locator), locator.article_range)
        return
    digits = str(locator.article_number)
    if len(digits) > _MAX_DIGITS:
        raise PlanRefused(f"the article number has {len(digits)} digits, more than {_MAX_DIGITS}", "RFC 3977 6")
    yield _command("GROUP", _newsgroup_octets(locator), "RFC 3977 6.1.1", NewsRole.GROUP)
    yield _command("ARTICLE", digits.encode(), "RFC 5538 3, RFC 3977 6.2.1", NewsRole.ASK_ARTICLE)
    yield _receive_block(NewsRole.ARTICLE, "the article", "RFC 3977 6.2.1")


def _newsgroup_octets(locator: NewsLocator | NNTPLocator) -> bytes:
    """Encode the newsgroup: in UTF-8 (RFC 3977 3.1), or the charset of 1994, for an "8-bit byte" (RFC 977 2.3)."""
    return _argument(locator.group or "", "group", _NOT_EXACT, locator.charset)


def _overview(group: bytes, numbers: tuple[int, int | None] | None = None) -> Iterator[Step]:
    """Request the overview; a server without it lists the numbers, one of RFC 977 states first and last for GROUP."""
    yield _command("GROUP", group, "RFC 3977 6.1.1", NewsRole.GROUP)
    first, last = numbers or (1, None)
    note = "" if numbers else Cited("of all its articles; the answer to GROUP shows the newest", "RFC 3977 6.1.1")
    range_argument = _argument(f"{first}-{'' if last is None else last}", "article_range", _NOT_EXACT)
    yield _command("OVER", range_argument, "RFC 5538 4, RFC 3977 8.3", NewsRole.OVER, note)
    yield _receive_block(NewsRole.OVERVIEW, "the overview of the newsgroup", "RFC 3977 8.3", "224")
    # A server older than RFC 3977 may know the command by its first name only.
    yield _command("XOVER", range_argument, "RFC 2980 2.8", NewsRole.XOVER, after=("500",))
    yield _receive_block(NewsRole.OVERVIEW, "the overview of the newsgroup", "RFC 2980 2.8", "224")
    # All articles are the default; older servers know no range (RFC 3977 6.1.2.2).
    group_argument = group + b" " + range_argument if numbers else group
    yield _command("LISTGROUP", group_argument, "RFC 3977 6.1.2", NewsRole.LISTGROUP, after=("500", "502", "503"))
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
        description = "newsgroup" if number is None else "article"
        where = f"{locator.group}" if number is None else f"{number} of {locator.group}"
    elif locator.message_id is not None:
        description, where = "article", f"<{locator.message_id}>"
    else:
        description, where = "newsgroups" if locator.is_set else "newsgroup", locator.group or "*"
    return Place(source=source, what=description, where=locator.native(where), note=note)


def _login(locator: NewsLocator | NNTPLocator, credentials: Credentials) -> Iterator[Step]:
    """Log in (RFC 4643 2.3) as the URI's user (RFC 5538 7), otherwise as the caller's, otherwise not at all."""
    user, password, charset, password_charset = locator.user, locator.password, locator.charset, locator.charset
    if user is None and password is None:
        user, password, charset, password_charset = credentials.user, credentials.password, "utf-8", "utf-8"
        if user is None:
            return
    elif password is None and credentials.user in (None, user):
        password, password_charset = credentials.password, "utf-8"
    note = "" if password is not None else "the server may ask for a password; ask the user for it"
    yield _command("AUTHINFO", b"USER " + _word(user or "", "user", charset), "RFC 4643 2.3", NewsRole.USER, note)
    if password is not None:
        note = Cited("the password is sent in clear text", "RFC 5538 7")
        password_argument = b"PASS " + _word(password, "password", password_charset)
        step = _command("AUTHINFO", password_argument, "RFC 4643 2.3", NewsRole.PASSWORD, note, after=("381",))
        yield replace(step, secret=(len("AUTHINFO PASS "), len(step.data) - len(CRLF)))


def _message_id(text: str) -> bytes:
    """Encode a message-id: printable US-ASCII, between 3 and 250 bytes with the brackets (RFC 3977 3.6)."""
    if not 0 < len(text) <= _MAX_ID:
        raise PlanRefused(f"message_id has {len(text):,} characters instead of 1 to {_MAX_ID}", "RFC 3977 3.6")
    return _argument(text, "message_id", _NOT_ID)


def _word(text: str, part: str, charset: str) -> bytes:
    """Encode a user or a password: at least one byte, no white space."""
    if not text:
        raise PlanRefused(f"{part} is empty, which NNTP does not allow", "RFC 4643 3, RFC 3977 9.2")
    return guarded(text, part, "RFC 3977 3.1", delimiters=b" ", charset=charset)


def _argument(text: str, part: str, excluded: re.Pattern[str], charset: str = "utf-8") -> bytes:
    octets = guarded(text, part, "RFC 3977 3.1", delimiters=b" ", charset=charset)
    if match := excluded.search(text):
        raise PlanRefused(f"{part} holds {match[0]!r}, which NNTP does not allow there", "RFC 3977 9.8")
    return octets


def _receive_block(role: NewsRole, description: str, source: str, *after: str) -> Receive:
    """Return the step that receives a block of lines (RFC 3977 3.1.1)."""
    return Receive(source=source, what=description, until="dot", after=after, role=role)


def _command(
    keyword: str, octets: bytes, source: str, role: NewsRole, note: str = "", after: tuple[str, ...] = ()
) -> Send:
    """Return the step that sends a command line (RFC 3977 3.1)."""
    data = keyword.encode() + b" " + octets + CRLF
    if len(octets) > _MAX_ARGUMENTS or len(data) > _MAX_COMMAND:
        raise PlanRefused(
            f"the arguments of {keyword} have {len(octets):,} octets, more than {_MAX_ARGUMENTS}", "RFC 3977 3.1"
        )
    return Send(source=source, data=data, note=note, after=after, role=role)
