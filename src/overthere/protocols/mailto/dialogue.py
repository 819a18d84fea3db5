"""mailto: writes the draft of a URI as a message (RFC 6068 3; RFC 5322; RFC 2047; RFC 6532)."""

from __future__ import annotations

import re
from email import policy as policies
from email.header import Header
from email.message import EmailMessage

from overthere.access.planning import Plan
from overthere.access.policy import Policy
from overthere.access.steps import Compose
from overthere.access.wire import Data, Dialogue, Head
from overthere.ground.errors import PlanRefused
from overthere.schemes.known.mailto import mailboxes

__all__ = ["dialogue", "draft"]


def dialogue(plan: Plan, policy: Policy) -> Dialogue:
    """The draft.  No connection is made, and nothing is sent: that is a person's to do (RFC 6068 3 and 7).

    Raises: PlanRefused for an address that fits into no line.
    """
    for step in plan.steps:
        assert isinstance(step, Compose)
        octets = draft(step)
        # RFC 6532 3.7: a message whose header fields hold more than US-ASCII.
        head, _, _ = octets.partition(b"\r\n\r\n")
        media_type = "message/rfc822" if head.isascii() else "message/global"
        details = {"headers": step.headers, "body": step.body, "ignored": step.ignored}
        yield Head(media_type, "scheme", len(octets), details=details)
        yield Data(octets)


def draft(step: Compose) -> bytes:
    """The message, without what its sender adds when it is sent (Date, Message-ID, mostly From).

    Each field is what it was when it is read again: `email` would read encoded words in addresses and drop quotation
    marks, so that other people are written to.

    >>> from overthere import plan
    >>> (step,) = plan("mailto:chris@example.com?subject=caf%C3%A9&body=Hi")
    >>> draft(step).decode().splitlines()
    ['To: chris@example.com', 'Subject: =?utf-8?b?Y2Fmw6k=?=', 'Content-Type: text/plain; charset="utf-8"',
     'Content-Transfer-Encoding: 7bit', 'MIME-Version: 1.0', '', 'Hi']
    """
    fields = [_field(name, value) for name, value in step.headers]
    body = EmailMessage(policies.SMTP.clone(cte_type="7bit"))
    body.set_content(step.body)
    return b"".join(fields) + body.as_bytes()


_ADDRESSES = frozenset(("From", "To", "Cc", "Bcc"))
_IDENTIFIERS = frozenset(("In-Reply-To",))


def _field(name: str, value: str) -> bytes:
    """A header field with its line end: addresses and identifiers as they are, texts in encoded words if need be."""
    if name in _ADDRESSES:
        value = ", ".join(map(_mailbox, mailboxes(value)))
    elif name not in _IDENTIFIERS and not value.isascii():
        value = _encode_words(value, name)
    line = _fold_field(name, value)
    if line is None and name not in _ADDRESSES | _IDENTIFIERS:
        line = _fold_field(name, _encode_words(value, name))
    if line is None:
        raise PlanRefused(f"{name} contains a word that is too long for a line of a message", "RFC 5322 2.1.1")
    try:
        return line.encode() + b"\r\n"
    except UnicodeEncodeError:
        raise PlanRefused(f"{name} holds octets that are not UTF-8", "RFC 6532 3.1") from None


def _mailbox(text: str) -> str:
    """The display name in encoded words; where another part is beyond US-ASCII, all stays UTF-8 (RFC 6532 3.2)."""
    if text.isascii():
        return text
    phrase, _, rest = text.rpartition("<")
    phrase = phrase.strip(" \t")
    if not rest.endswith(">") or not rest.isascii():
        return text
    if _QUOTED.fullmatch(phrase):
        return f"{_encode_words(_PAIR.sub(chr(92) + '1', phrase[1:-1]))} <{rest}"
    return text if _SPECIAL.search(phrase) else f"{_encode_words(phrase)} <{rest}"


_QUOTED = re.compile(r'"(?:[^"\\]|\\.)*"')
_PAIR = re.compile(r"\\(.)")
_SPECIAL = re.compile(r'["()<>@,;:\\\[\]]|=\?')


def _encode_words(text: str, name: str = "") -> str:
    """name: of the field in whose first line the first word stands."""
    try:
        return Header(text, "utf-8", header_name=name, maxlinelen=75).encode(linesep="\r\n").replace("\r\n ", " ")
    except UnicodeEncodeError:
        return text


def _fold_field(name: str, value: str) -> str | None:
    """A field in lines of 78 characters, where there is white space to begin a new one at (RFC 5322 2.2.3); None where
    one would have more than 998 octets (2.1.1)."""
    lines = [""]
    for word in _WORDS.findall(f"{name}: {value}"):
        if len(lines[-1]) + len(word) <= 78 or lines in ([""], [f"{name}:"]) or lines[-1].endswith("\\"):
            lines[-1] += word
        else:
            lines.append(word)
    return "\r\n".join(lines) if all(len(line.encode("utf-8", "replace")) <= 998 for line in lines) else None


# A word with the leading white space; what is at the end stays with the last one.
_WORDS = re.compile(r"(?<![ \t])[ \t]*+[^ \t]++(?:[ \t]++$)?+")
