"""The news client for news and nntp URIs (RFC 3977; RFC 4643 2.3)."""

from __future__ import annotations

import re
from collections.abc import Callable, Generator
from typing import Any, NamedTuple

from overthere.access.errors import AccessFailed, LimitExceeded, ProtocolError, ResourceMissing, ResourceUnavailable
from overthere.access.planning import Plan
from overthere.access.policy import Policy
from overthere.access.steps import Connect, Place, Receive, Role, Send, Step, readable
from overthere.access.wire import Data, Dial, Dialogue, Effect, Entry, Hangup, Head, Item, Wire, Write
from overthere.ground.errors import NotSpecified, Unwritable
from overthere.mail.words import words
from overthere.protocols.news.steps import NewsRole
from overthere.schemes.known.news import NewsLocator
from overthere.schemes.known.nntp import NNTPLocator

Matches = Callable[[str], re.Match[str] | None]


def dialogue(plan: Plan, policy: Policy) -> Dialogue:
    """Execute the plan; each command waits for its reply.

    Raises: NotSpecified without a server; ResourceMissing or ResourceUnavailable if the server refuses;
    ProtocolError, LimitExceeded.
    """
    wire, reply, answers = Wire(policy.max_line), Reply(0, ""), frozenset[str]()
    details: dict[str, Any] = {}
    has_head = False
    for step in plan.steps:
        where = step.line()
        if step.after and answers.isdisjoint(step.after):
            continue
        if reply.code == 381 and step.role is not NewsRole.PASSWORD:
            message = f"the server requires a password: {reply.code} {reply.text}"
            raise ResourceMissing(message, "381", "RFC 4643 2.3", where=where)
        match step:
            case Place():
                raise NotSpecified(
                    f"{where} needs a configured news server (RFC 5538 4): set "
                    'news_server="news.example" in the policy, or NNTPSERVER for the command line'
                )
            case Connect(host=host, port=port):
                yield Dial(host, port)
            case Receive(role=NewsRole.GREETING):
                reply = yield from _reply(wire, step, _GREETING)
            case Send(data=data, role=NewsRole.QUIT):
                yield Write(data, courtesy=True)
            case Send(data=data, role=role):
                yield Write(data)
                reply = yield from _reply(wire, step, _ACCEPTED_CODES[role])
                answers = frozenset((str(reply.code),))
                if role is NewsRole.GROUP:
                    details = _group(reply)
            case Receive(role=NewsRole.CAPABILITIES):
                answers = yield from _capabilities(wire, where)
            case Receive(role=NewsRole.NUMBERS_OF_GROUP, what=context):
                has_head = True
                yield from _numbers_of_group(plan, details, context)
            case Receive():
                has_head, answers = True, frozenset()
                yield from _content(wire, plan, step, reply, details)
            case _:
                raise AssertionError(step)
    if not has_head:  # 423: the newsgroup exists, but the requested range has no articles
        yield Head(listing=True, details={**details, "reply": f"{reply.code} {reply.text}"})
    yield Hangup()


class Reply(NamedTuple):
    """The first line of a response: its code and its text (RFC 3977 3.2)."""

    code: int
    text: str


_GREETING = frozenset((200, 201))
# The replies to a command after which the dialogue continues.  Older servers do not know CAPABILITIES, and some not
# MODE READER or logins; if that is a problem, the next command fails (RFC 3977 3.4.2, RFC 4643 2.2).
_OLD_SERVER_CODES = frozenset((401, 403, 480, 483, 500, 501, 503))
_ACCEPTED_CODES: dict[Role | None, frozenset[int]] = {
    NewsRole.ASK_CAPABILITIES: frozenset((101, 502)) | _OLD_SERVER_CODES,
    NewsRole.MODE: _GREETING | _OLD_SERVER_CODES,
    NewsRole.USER: frozenset((281, 381, 500, 502)),
    NewsRole.PASSWORD: frozenset((281,)),
    NewsRole.GROUP: frozenset((211,)),
    NewsRole.ASK_ARTICLE: frozenset((220,)),
    NewsRole.OVER: frozenset((224, 423, 500, 503)),
    NewsRole.XOVER: frozenset((224, 420, 423, 500, 502, 503)),
    NewsRole.LISTGROUP: frozenset((211, 500, 501, 502, 503)),
    NewsRole.LIST: frozenset((215,)),
    NewsRole.LIST_ACTIVE: frozenset((215, 500, 501)),
}


def _reply(wire: Wire, step: Step, accepted: frozenset[int]) -> Generator[Effect, Any, Reply]:
    """Read a reply (3.1): a code of three digits, a space, text.  Raises for a code that is not accepted."""
    where = step.line()
    line = yield from wire.line(where)
    match = _REPLY.match(line)
    if match is None:
        raise ProtocolError(f"the server's answer has no code: {readable(line)}", "RFC 3977 3.2", where=where)
    reply = Reply(int(match[1]), line[4:].decode("utf-8", "replace"))
    if reply.code in accepted:
        return reply
    text = f"{reply.code} {readable(line[4:])}"
    if reply.code < 400:
        raise ProtocolError(f"the server's answer belongs to another command: {text}", step.source, where=where)
    hint = _ERROR_TEXTS.get(reply.code, "")
    # Service temporarily unavailable; internal fault (RFC 3977 3.2.1, 5.1.1).
    kind = ResourceUnavailable if reply.code in (400, 403) else ResourceMissing
    raise kind(f"{hint}: {text}" if hint else text, str(reply.code), "RFC 3977 3.2", where=where)


_REPLY = re.compile(rb"([1-5][0-9][0-9])(?= |$)")
_ERROR_TEXTS = {
    411: "there is no such newsgroup",
    423: "the newsgroup has no article of that number",
    430: "the server has no article of that message-id",
    480: "the server requires a login",
    481: "the login was rejected",
    483: "the server requires an encrypted connection",
}


def _capabilities(wire: Wire, where: str) -> Generator[Effect, Any, frozenset[str]]:
    """Read the capabilities (5.2): the labels, each the first word of a line."""
    labels: set[str] = set()
    for _ in range(1000):
        line = yield from wire.line(where)
        if line == b".":
            return frozenset(labels)
        labels.update(line.upper().decode("latin-1").split()[:1])
    raise LimitExceeded("a list of more than 1,000 capabilities", "RFC 3977 5.2", where=where)


def _group(reply: Reply) -> dict[str, Any]:
    """Parse the reply to GROUP (6.1.1): the estimated number of articles, the lowest and the highest number."""
    match = _GROUP.match(reply.text)
    return {} if match is None else dict(zip(("number", "low", "high"), map(int, match.groups()), strict=True))


_GROUP = re.compile(r"([0-9]{1,16}) ([0-9]{1,16}) ([0-9]{1,16})(?= |$)")


_MAX_NUMBERS = 1_000_000


def _numbers_of_group(plan: Plan, details: dict[str, Any], where: str) -> Dialogue:
    """List all numbers from first to last in the newsgroup (RFC 977 3.2.1); some articles may be missing.

    Raises: LimitExceeded for more than a million; ProtocolError if the server did not say the numbers.
    """
    locator = plan.locator
    assert isinstance(locator, NewsLocator | NNTPLocator)
    if not details:
        raise ProtocolError("the answer to GROUP has no numbers", "RFC 977 3.2.1", where=where)
    first, last = details["low"], details["high"]
    if isinstance(locator, NNTPLocator) and locator.article_range is not None:
        range_start, range_end = locator.article_range
        first, last = max(first, range_start), last if range_end is None else min(last, range_end)
    if last - first >= _MAX_NUMBERS:
        raise LimitExceeded(f"{last - first + 1:,} numbers, more than {_MAX_NUMBERS:,}", "RFC 977 3.2.1", where=where)
    yield Head(listing=True, details={**details, "numbers": "first to last, by GROUP; some may be missing (RFC 977)"})
    if details["number"] > 0:
        for number in range(first, last + 1):
            article = _number(str(number), locator)
            assert article is not None
            yield Item(article)


def wildmat(pattern: str) -> Matches:
    """Return a function that matches whole names by a pattern of `*` and `?` (RFC 3977 4.2).

    Each piece between two `*` matches at its first place only, without backtracking: the cost is at most the
    characters of the name times those of the pattern.

    >>> bool(wildmat("comp.*s*.l?st")("comp.infosystems.list"))
    True
    """
    first, *later = (re.escape(piece).replace(r"\?", ".") for piece in pattern.split("*"))
    middle = "".join(f"(?>.*?{piece})" for piece in later[:-1])
    return re.compile(f"(?s){first}{middle}{f'.*{later[-1]}' if later else ''}").fullmatch


def _content(wire: Wire, plan: Plan, step: Receive, reply: Reply, details: dict[str, Any]) -> Dialogue:
    context = step.what
    details = {**details, "reply": f"{reply.code} {reply.text}"}
    locator = plan.locator
    assert isinstance(locator, NewsLocator | NNTPLocator)
    if step.role is NewsRole.ARTICLE:
        if match := _ARTICLE.match(reply.text):
            details |= {"number": int(match[1]), "message_id": match[2]}
        yield Head("message/rfc822", "scheme", details=details)
        yield from _article_text(wire, context)
        return
    matches: Matches | None = None
    if step.role is NewsRole.ALL_NEWSGROUPS and locator.group and locator.group != "*":
        matches = wildmat(locator.native(locator.group))
        details["names"] = "filtered from the server's list of all newsgroups (RFC 977 3.6)"
    yield Head(listing=True, details=details)
    entry = _ENTRIES[step.role]
    while (line := (yield from wire.line(context))) != b".":
        # Bytes that are not UTF-8 are kept, so that the name can be sent to the server again.
        text = (line[1:] if line.startswith(b".") else line).decode("utf-8", "surrogateescape")
        item = entry(text, locator)
        if item is None:
            raise ProtocolError(f"an invalid line in {context}: {readable(line)}", "RFC 3977 3.1.1", where=context)
        if matches is None or matches(item.name):
            yield Item(item)


_ARTICLE = re.compile(r"([0-9]{1,16}) <([^<>\0-\x20\x7f]{1,248})>(?= |$)")


def _article_text(wire: Wire, context: str) -> Dialogue:
    """Yield the lines up to a period alone, a doubled first period as one (3.1.1).

    A line ends with CR LF here: a bare LF in an article is part of its text.

    Raises: LimitExceeded for a line longer than `wire.max_line`; AccessFailed if the connection ends first.
    """
    searched = 0
    while True:
        end = wire.buffer.rfind(b"\r\n", searched) + 2
        if end < 2:
            searched = max(0, len(wire.buffer) - 1)
            if searched > wire.max_line:
                raise LimitExceeded(f"a line of more than {wire.max_line:,} octets", where=context)
            if not (yield from wire.fill()):
                raise AccessFailed("the server closed the connection before the end", where=context)
            continue
        lines = b"\r\n" + bytes(wire.buffer[:end])
        last = lines.find(b"\r\n.\r\n")
        if last >= 0:
            lines = lines[: last + 2]
            end = last + 3
        del wire.buffer[:end]
        searched = 0
        if len(lines) > 2:
            yield Data(lines.replace(b"\r\n.", b"\r\n")[2:])
        if last >= 0:
            return


# -- listings


def _newsgroup(text: str, locator: NewsLocator | NNTPLocator) -> Entry | None:
    """Parse a line of LIST ACTIVE (7.6.3): name, highest and lowest number, status."""
    match = _ACTIVE.match(text)
    if match is None:
        return None
    details = {"low": int(match[3]), "high": int(match[2]), "status": match[4]} if match[2] else {}
    return Entry(match[1], _same_server_uri(locator, group=match[1]), "newsgroup", details)


_ACTIVE = re.compile(r"([^ \t]+)(?:[ \t]+([0-9]{1,16})[ \t]+([0-9]{1,16})[ \t]+([^ \t]+))?")


def _overview(text: str, locator: NewsLocator | NNTPLocator) -> Entry | None:
    """Parse a line of OVER (8.3.2): number, Subject, From, Date, Message-ID, References, bytes, lines; some missing."""
    number, subject, author, date, message_id, _, octets, lines = (text.split("\t", 8) + [""] * 8)[:8]
    article = _number(number, locator)
    if article is None:
        return None
    match = _MESSAGE_ID.fullmatch(message_id)
    details = {
        **article.details,
        "from": _decoded_words(author),
        "date": date,
        "message_id": match[1] if match else None,
        "bytes": int(octets) if _DIGITS.fullmatch(octets) else None,
        "lines": int(lines) if _DIGITS.fullmatch(lines) else None,
    }
    uri = (_same_server_uri(locator, message_id=match[1]) if match else None) or article.uri
    details = {name: value for name, value in details.items() if value not in (None, "")}
    return Entry(_decoded_words(subject), uri, "article", details)


_MESSAGE_ID = re.compile(r"[ \t]*<([^<>]+)>[ \t]*")
_DIGITS = re.compile("[0-9]{1,16}")


def _number(text: str, locator: NewsLocator | NNTPLocator) -> Entry | None:
    """Parse a line of LISTGROUP (6.1.2.2): a number."""
    if not _DIGITS.fullmatch(text):
        return None
    number = int(text)
    uri = _same_server_uri(locator, group=locator.group and locator.native(locator.group), article_number=number)
    return Entry(str(number), uri, "article", {"number": number})


_ENTRIES: dict[Role | None, Callable[[str, NewsLocator | NNTPLocator], Entry | None]] = {
    NewsRole.NEWSGROUPS: _newsgroup,
    NewsRole.ALL_NEWSGROUPS: _newsgroup,
    NewsRole.OVERVIEW: _overview,
    NewsRole.NUMBERS: _number,
}


def _same_server_uri(locator: NewsLocator | NNTPLocator, **parts: Any) -> str | None:
    """Return a URI on the same server, for the same user, without the password; None if a URI cannot express it."""
    kind = NewsLocator if "message_id" in parts else NNTPLocator
    try:
        user = locator.user and locator.native(locator.user)
        return str(kind(host=locator.host, port=locator.port, user=user, **parts).uri())
    except Unwritable:
        return None


def _decoded_words(text: str) -> str:
    """Decode the encoded words of a header field, for people."""
    return words(text).encode("utf-8", "surrogateescape").decode("utf-8", "replace")
