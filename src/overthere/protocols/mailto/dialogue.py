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


def dialogue(plan: Plan, policy: Policy) -> Dialogue:
    """Yield the draft.  No connection is made, and nothing is sent: a person must do that (RFC 6068 3 and 7).

    Raises: PlanRefused for an address that is too long for a line.
    """
    for step in plan.steps:
        assert isinstance(step, Compose)
        message = draft(step)
        # RFC 6532 3.7: the type of a message with non-ASCII header fields.
        head, _, _ = message.partition(b"\r\n\r\n")
        media_type = "message/rfc822" if head.isascii() else "message/global"
        details = {"headers": step.headers, "body": step.body, "ignored": step.ignored}
        yield Head(media_type, "scheme", len(message), details=details)
        yield Data(message)


def draft(step: Compose) -> bytes:
    """Return the message, without the fields that are added when it is sent (Date, Message-ID, mostly From).

    Each field keeps its value when it is read again: `email` would decode encoded words in addresses and drop
    quotation marks, which would change the recipients.

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


_ADDRESS_FIELDS = frozenset(("From", "To", "Cc", "Bcc"))
_IDENTIFIER_FIELDS = frozenset(("In-Reply-To",))


def _field(name: str, value: str) -> bytes:
    """Write a header field with its line end: addresses and identifiers unchanged, texts in encoded words if needed."""
    if name in _ADDRESS_FIELDS:
        value = ", ".join(map(_mailbox, mailboxes(value)))
    elif name not in _IDENTIFIER_FIELDS and not value.isascii():
        value = _encode_words(value, name)
    line = _fold_field(name, value)
    if line is None and name not in _ADDRESS_FIELDS | _IDENTIFIER_FIELDS:
        line = _fold_field(name, _encode_words(value, name))
    if line is None:
        raise PlanRefused(f"{name} contains a word that is too long for a line of a message", "RFC 5322 2.1.1")
    try:
        return line.encode() + b"\r\n"
    except UnicodeEncodeError:
        raise PlanRefused(f"{name} holds octets that are not UTF-8", "RFC 6532 3.1") from None


def _mailbox(text: str) -> str:
    """Encode a mailbox's display name; if another part is beyond US-ASCII, everything stays UTF-8 (RFC 6532 3.2)."""
    if text.isascii():
        return text
    phrase, _, address = text.rpartition("<")
    phrase = phrase.strip(" \t")
    if not address.endswith(">") or not address.isascii():
        return text
    if _QUOTED_STRING.fullmatch(phrase):
        return f"{_encode_words(_QUOTED_PAIR.sub(chr(92) + '1', phrase[1:-1]))} <{address}"
    return text if _SPECIALS.search(phrase) else f"{_encode_words(phrase)} <{address}"


_QUOTED_STRING = re.compile(r'"(?:[^"\\]|\\.)*"')
_QUOTED_PAIR = re.compile(r"\\(.)")
_SPECIALS = re.compile(r'["()<>@,;:\\\[\]]|=\?')


def _encode_words(text: str, name: str = "") -> str:
    """Write encoded words.  name: the field name, if the text begins on the field's first line."""
    try:
        return Header(text, "utf-8", header_name=name, maxlinelen=75).encode(linesep="\r\n").replace("\r\n ", " ")
    except UnicodeEncodeError:
        return text


def _fold_field(name: str, value: str) -> str | None:
    """Fold a field into lines of 78 characters, at white space (RFC 5322 2.2.3); return None if a line would have
    more than 998 bytes (2.1.1)."""
    lines = [""]
    for word in _WORDS.findall(f"{name}: {value}"):
        if len(lines[-1]) + len(word) <= 78 or lines in ([""], [f"{name}:"]) or lines[-1].endswith("\\"):
            lines[-1] += word
        else:
            lines.append(word)
    return "\r\n".join(lines) if all(len(line.encode("utf-8", "replace")) <= 998 for line in lines) else None


# A word with its leading white space; the last one also with the white space at the end.
_WORDS = re.compile(r"(?<![ \t])[ \t]*+[^ \t]++(?:[ \t]++$)?+")
