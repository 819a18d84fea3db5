"""The news client for news and nntp URIs (RFC 3977; RFC 4643 2.3)."""

from __future__ import annotations

import re
from collections.abc import Callable, Generator
from typing import Any, NamedTuple

from overthere.access.errors import AccessFailed, LimitExceeded, ProtocolError, ResourceMissing
from overthere.access.planning import Plan
from overthere.access.policy import Policy
from overthere.access.steps import Connect, Place, Receive, Role, Send, Step, readable
from overthere.access.wire import Data, Dial, Dialogue, Effect, Entry, Hangup, Head, Item, Wire, Write
from overthere.ground.errors import NotSpecified, Unwritable
from overthere.mail.words import words
from overthere.protocols.news.steps import NewsRole
from overthere.schemes.known.news import NewsLocator
from overthere.schemes.known.nntp import NNTPLocator

__all__ = ["dialogue", "wildmat"]

Matches = Callable[[str], re.Match[str] | None]


def dialogue(plan: Plan, policy: Policy) -> Dialogue:
    """The plan, each command answered before the next.

    Raises: NotSpecified without a server; ResourceMissing where the server refuses; ProtocolError, LimitExceeded.
    """
    wire, reply, answers = Wire(policy.max_line), Reply(0, ""), frozenset[str]()
    details: dict[str, Any] = {}
    said = False
    for step in plan.steps:
        where = step.line()
        if step.after and answers.isdisjoint(step.after):
            continue
        if reply.code == 381 and step.role is not NewsRole.PASSWORD:
            told = f"the server requires a password: {reply.code} {reply.text}"
            raise ResourceMissing(told, "381", "RFC 4643 2.3", where=where)
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
                reply = yield from _reply(wire, step, _GOES_ON[role])
                answers = frozenset((str(reply.code),))
                if role is NewsRole.GROUP:
                    details = _group(reply)
            case Receive(role=NewsRole.CAPABILITIES):
                answers = yield from _capabilities(wire, where)
            case Receive(role=NewsRole.NUMBERS_OF_GROUP, what=what):
                said = True
                yield from _numbers_of_group(plan, details, what)
            case Receive():
                said, answers = True, frozenset()
                yield from _content(wire, plan, step, reply, details)
            case _:
                raise AssertionError(step)
    if not said:  # 423: the newsgroup is there, and none of its articles is asked for
        yield Head(listing=True, details={**details, "reply": f"{reply.code} {reply.text}"})
    yield Hangup()


class Reply(NamedTuple):
    """The first line of a response: its code and what follows (RFC 3977 3.2)."""

    code: int
    text: str


_GREETING = frozenset((200, 201))
# The replies to a command under which the dialogue goes on.  Older servers know no CAPABILITIES, nor all of them the
# other two, and do without: what they will not give then, the next command tells (RFC 3977 3.4.2, RFC 4643 2.2).
_OLDER = frozenset((401, 403, 480, 483, 500, 501, 503))
_GOES_ON: dict[Role | None, frozenset[int]] = {
    NewsRole.ASK_CAPABILITIES: frozenset((101, 502)) | _OLDER,
    NewsRole.MODE: _GREETING | _OLDER,
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


def _reply(wire: Wire, step: Step, taken: frozenset[int]) -> Generator[Effect, Any, Reply]:
    """3.1: a code of three digits, a space, text."""
    where = step.line()
    line = yield from wire.line(where)
    match = _REPLY.match(line)
    if match is None:
        raise ProtocolError(f"the server's answer has no code: {readable(line)}", "RFC 3977 3.2", where=where)
    reply = Reply(int(match[1]), line[4:].decode("utf-8", "replace"))
    if reply.code in taken:
        return reply
    told = f"{reply.code} {readable(line[4:])}"
    if reply.code < 400:
        raise ProtocolError(f"the server's answer belongs to another command: {told}", step.source, where=where)
    why = _WHY.get(reply.code, "")
    raise ResourceMissing(f"{why}: {told}" if why else told, str(reply.code), "RFC 3977 3.2", where=where)


_REPLY = re.compile(rb"([1-5][0-9][0-9])(?= |$)")
_WHY = {
    411: "there is no such newsgroup",
    423: "the newsgroup has no article of that number",
    430: "the server has no article of that message-id",
    480: "the server requires a login",
    481: "the login was rejected",
    483: "the server requires an encrypted connection",
}


def _capabilities(wire: Wire, where: str) -> Generator[Effect, Any, frozenset[str]]:
    """5.2: the labels, each the first word of a line."""
    labels: set[str] = set()
    for _ in range(1000):
        line = yield from wire.line(where)
        if line == b".":
            return frozenset(labels)
        labels.update(line.upper().decode("latin-1").split()[:1])
    raise LimitExceeded("a list of more than 1,000 capabilities", "RFC 3977 5.2", where=where)


def _group(reply: Reply) -> dict[str, Any]:
    """6.1.1: how many articles there are about, the lowest number and the highest."""
    match = _GROUP.match(reply.text)
    return {} if match is None else dict(zip(("number", "low", "high"), map(int, match.groups()), strict=True))


_GROUP = re.compile(r"([0-9]{1,16}) ([0-9]{1,16}) ([0-9]{1,16})(?= |$)")


_MOST_NUMBERS = 1_000_000


def _numbers_of_group(plan: Plan, details: dict[str, Any], where: str) -> Dialogue:
    """RFC 977 3.2.1: the first and last number in the newsgroup; an article between them may have gone.

    Raises: LimitExceeded for more than a million.
    """
    locator = plan.locator
    assert isinstance(locator, NewsLocator | NNTPLocator)
    first, last = details.get("low", 1), details.get("high", 0)
    if isinstance(locator, NNTPLocator) and locator.article_range is not None:
        wanted, end = locator.article_range
        first, last = max(first, wanted), last if end is None else min(last, end)
    if last - first >= _MOST_NUMBERS:
        raise LimitExceeded(f"{last - first + 1:,} numbers, more than {_MOST_NUMBERS:,}", "RFC 977 3.2.1", where=where)
    yield Head(listing=True, details={**details, "numbers": "first to last, by GROUP; some may be missing (RFC 977)"})
    if details.get("number", 1) > 0:
        for number in range(first, last + 1):
            article = _number(str(number), locator)
            assert article is not None
            yield Item(article)


def _newsgroup_filter(locator: NewsLocator | NNTPLocator) -> Matches | None:
    """The names to take from a list of all newsgroups, where a pattern was to be matched."""
    if not locator.group or locator.group == "*":
        return None
    return wildmat(locator.native(locator.group))


def wildmat(pattern: str) -> Matches:
    """Which names a pattern of `*` and `?` matches whole (RFC 3977 4.2).

    Each piece between two `*` is taken at the first place that has it, and never again at another: no name costs more
    than its characters times those of the pattern.

    >>> bool(wildmat("comp.*s*.l?st")("comp.infosystems.list"))
    True
    """
    first, *rest = (re.escape(piece).replace(r"\?", ".") for piece in pattern.split("*"))
    inner = "".join(f"(?>.*?{piece})" for piece in rest[:-1])
    return re.compile(f"(?s){first}{inner}{f'.*{rest[-1]}' if rest else ''}").fullmatch


def _content(wire: Wire, plan: Plan, step: Receive, reply: Reply, details: dict[str, Any]) -> Dialogue:
    what = step.what
    details = {**details, "reply": f"{reply.code} {reply.text}"}
    locator = plan.locator
    assert isinstance(locator, NewsLocator | NNTPLocator)
    if step.role is NewsRole.ARTICLE:
        if match := _ARTICLE.match(reply.text):
            details |= {"number": int(match[1]), "message_id": match[2]}
        yield Head("message/rfc822", "scheme", details=details)
        yield from _block(wire, what)
        return
    wanted = _newsgroup_filter(locator) if step.role is NewsRole.ALL_NEWSGROUPS else None
    if wanted is not None:
        details["names"] = "filtered from the server's list of all newsgroups (RFC 977 3.6)"
    yield Head(listing=True, details=details)
    entry = _ENTRIES[step.role]
    while (line := (yield from wire.line(what))) != b".":
        # Octets that are not UTF-8 are kept: the name asks the server for the same group again.
        text = (line[1:] if line.startswith(b".") else line).decode("utf-8", "surrogateescape")
        item = entry(text, locator)
        if item is None:
            raise ProtocolError(f"an invalid line in {what}: {readable(line)}", "RFC 3977 3.1.1", where=what)
        if wanted is None or wanted(item.name):
            yield Item(item)


_ARTICLE = re.compile(r"([0-9]{1,16}) <([^<>\0-\x20\x7f]{1,248})>(?= |$)")


def _block(wire: Wire, what: str) -> Dialogue:
    """3.1.1: the lines up to a period alone, a doubled first period as one.

    A line ends with CR LF here: a bare LF in an article is the author's, and ends nothing.

    Raises: LimitExceeded for a longer line than the wire takes; AccessFailed if the end comes first.
    """
    looked = 0
    while True:
        end = wire.held.rfind(b"\r\n", looked) + 2
        if end < 2:
            looked = max(0, len(wire.held) - 1)
            if looked > wire.max_line:
                raise LimitExceeded(f"a line of more than {wire.max_line:,} octets", where=what)
            if not (yield from wire.fill()):
                raise AccessFailed("the server closed the connection before the end", where=what)
            continue
        lines = b"\r\n" + bytes(wire.held[:end])
        last = lines.find(b"\r\n.\r\n")
        if last >= 0:
            lines = lines[: last + 2]
            end = last + 3
        del wire.held[:end]
        looked = 0
        if len(lines) > 2:
            yield Data(lines.replace(b"\r\n.", b"\r\n")[2:])
        if last >= 0:
            return


# -- listings


def _newsgroup(text: str, locator: NewsLocator | NNTPLocator) -> Entry | None:
    """7.6.3: name, highest and lowest number, status."""
    match = _ACTIVE.match(text)
    if match is None:
        return None
    details = {"low": int(match[3]), "high": int(match[2]), "status": match[4]} if match[2] else {}
    return Entry(match[1], _same_server_uri(locator, group=match[1]), "newsgroup", details)


_ACTIVE = re.compile(r"([^ \t]+)(?:[ \t]+([0-9]{1,16})[ \t]+([0-9]{1,16})[ \t]+([^ \t]+))?")


def _overview(text: str, locator: NewsLocator | NNTPLocator) -> Entry | None:
    """8.3.2: number, Subject, From, Date, Message-ID, References, octets, lines; trailing ones may be left out."""
    number, subject, author, date, message_id, _, octets, lines = (text.split("\t", 8) + [""] * 8)[:8]
    article = _number(number, locator)
    if article is None:
        return None
    match = _MESSAGE_ID.fullmatch(message_id)
    details = {
        **article.details,
        "from": _words(author),
        "date": date,
        "message_id": match[1] if match else None,
        "bytes": int(octets) if _DIGITS.fullmatch(octets) else None,
        "lines": int(lines) if _DIGITS.fullmatch(lines) else None,
    }
    uri = (_same_server_uri(locator, message_id=match[1]) if match else None) or article.uri
    details = {name: value for name, value in details.items() if value not in (None, "")}
    return Entry(_words(subject), uri, "article", details)


_MESSAGE_ID = re.compile(r"[ \t]*<([^<>]+)>[ \t]*")
_DIGITS = re.compile("[0-9]{1,16}")


def _number(text: str, locator: NewsLocator | NNTPLocator) -> Entry | None:
    """6.1.2.2: a number."""
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


def _same_server_uri(locator: NewsLocator | NNTPLocator, **named: Any) -> str | None:
    """A URI on the same server, for the same user, whose password is not told again; None if none says it."""
    kind = NewsLocator if "message_id" in named else NNTPLocator
    try:
        user = locator.user and locator.native(locator.user)
        return str(kind(host=locator.host, port=locator.port, user=user, **named).uri())
    except Unwritable:
        return None


def _words(text: str) -> str:
    """A header field for people."""
    return words(text).encode("utf-8", "surrogateescape").decode("utf-8", "replace")
