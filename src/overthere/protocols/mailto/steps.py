"""mailto: a draft for a person to send (RFC 6068 3)."""

from __future__ import annotations

import re
from collections.abc import Iterator

from overthere.access.steps import Compose, Credentials, Step, guarded
from overthere.ground.errors import Cited, PlanRefused
from overthere.ground.redact import mask
from overthere.schemes.addr_spec import split_at
from overthere.schemes.known.mailto import MailtoLocator, is_unsafe, mailboxes
from overthere.values.hosts.idn import to_ascii

# RFC 822 6.1 without white space and comments, with letters beyond US-ASCII (RFC 6068 2, items 3 to 5): no
# character that would separate addresses in a header field.
_WORD = r"[A-Za-z0-9!#$%&'*+\-/=?^_`{|}~\u00a0-\u2027\u202a-\ud7ff\ue000-\U0010ffff]"
_LOCAL = re.compile(rf'(?:{_WORD}|\.|"(?:[^"\\\0-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]|\\[\t -~])*")+')
_DOMAIN = re.compile(rf"(?:{_WORD}|\.)+|\[[!-Z^-~]*\]")

_LISTS = {"to": "To", "cc": "Cc", "bcc": "Bcc"}
_SINGLE_FIELDS = {"subject": "Subject", "in-reply-to": "In-Reply-To", "body": "Body"}
_LINE_END = re.compile("\r\n|\r|\n")


def steps(locator: MailtoLocator, credentials: Credentials) -> Iterator[Step]:
    """Return one draft, with the allowed header fields, each once except Keywords (RFC 6068 2 to 4; RFC 5322 3.6)."""
    ignored: list[tuple[str, str]] = []
    lists: dict[str, list[str]] = {name: [] for name in _LISTS}
    # A message contains US-ASCII (RFC 822) or UTF-8 (RFC 6068 2, item 5), in every edition.
    lists["to"] += (_address(locator.native(text)) for text in locator.addresses)
    single: dict[str, str] = {}
    keywords: list[str] = []
    for field, value in ((locator.native(name), locator.native(value)) for name, value in locator.headers):
        name = field.lower()
        if is_unsafe(name, value) or name in single:
            ignored.append((field, value))
        elif name in lists:
            lists[name] += map(_in_ascii, mailboxes(value))
        elif name in _SINGLE_FIELDS:
            single[name] = value
        else:
            keywords.append(value)
    headers = [("From", credentials.address)] if credentials.address is not None else []
    guarded(credentials.address or "", "address", "RFC 5322 2.2")
    headers += [(_LISTS[name], _join(addresses, name)) for name, addresses in lists.items() if addresses]
    headers += [(_SINGLE_FIELDS[name], value) for name, value in single.items() if name != "body"]
    yield Compose(
        source="RFC 6068 3",
        headers=(*headers, *(("Keywords", value) for value in keywords)),
        body=_LINE_END.sub("\r\n", single.get("body", "")),
        ignored=tuple(ignored),
        note=Cited("nothing is sent until a person has reviewed all of it", "RFC 6068 7"),
    )


def _address(text: str) -> str:
    """Check an address before the "?", which must be an addr-spec."""
    local, domain = split_at(text)
    if domain is None or not _LOCAL.fullmatch(local) or not _DOMAIN.fullmatch(domain):
        masked = mask(text)[:80]
        raise PlanRefused(f"addresses contains {masked!r}, which is not an addr-spec", "RFC 6068 2; RFC 5322 3.4.1")
    return _in_ascii(text)


def _in_ascii(mailbox: str) -> str:
    """Convert the domain of an address to the ASCII form of IDNA, which a message must use (RFC 6068 2, item 4)."""
    prefix, opening, address_part = mailbox.rpartition("<")
    address, closing, suffix = address_part.partition(">")
    local, domain = split_at(address)
    if domain is None or domain.isascii():
        return mailbox
    if len(domain) > 255:
        raise PlanRefused(f"{domain[:80]!r}... is longer than a domain name", "RFC 1034 3.1")
    try:
        name = to_ascii(domain)
    except UnicodeError as error:
        raise PlanRefused(f"{domain[:80]!r} is not a valid domain name: {error}", "RFC 6068 2; RFC 5891 4") from None
    return f"{prefix}{opening}{local}@{name}{closing}{suffix}"


def _join(addresses: list[str], name: str) -> str:
    """Join addresses for a header field, and check that they can be separated again at the same places."""
    value = ", ".join(addresses)
    if mailboxes(value) != tuple(addresses):
        raise PlanRefused(f"{name} holds a quotation, comment or bracket that is not closed", "RFC 5322 3.4")
    return value
