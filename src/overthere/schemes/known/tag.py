"""tag: a name, given by an authority that held a domain name or a mail address on a stated day (RFC 4151)."""

from __future__ import annotations

import datetime
import re
from dataclasses import dataclass, field
from typing import NamedTuple

from overthere.schemes.locator import Given, Locator, Writer
from overthere.schemes.model import Example, Scheme

# RFC 4151 2.1, without the fragment.
SYNTAX = """
tagURI        = "tag:" taggingEntity ":" specific
taggingEntity = authorityName "," date
authorityName = DNSname / emailAddress
date          = year [ "-" month [ "-" day ] ]
year          = 4DIGIT
month         = 2DIGIT
day           = 2DIGIT
DNSname       = DNScomp *( "." DNScomp )
DNScomp       = alphaNum [ *( alphaNum / "-" ) alphaNum ]
emailAddress  = 1*( alphaNum / "-" / "." / "_" ) "@" DNSname
alphaNum      = DIGIT / ALPHA
specific      = *( pchar / "/" / "?" )
"""

_TAG = re.compile("(?s)([^,]*),([0-9]{4})(?:-([0-9]{2})(?:-([0-9]{2}))?)?:(.*)")


class TagDate(NamedTuple):
    """The date of a tag as written; it may lack the day, or the month too (RFC 4151 2.1).

    >>> TagDate(2004, 5).first_day, str(TagDate(2004, 5))
    (datetime.date(2004, 5, 1), '2004-05')
    """

    year: int
    month: int | None = None
    day: int | None = None

    def __str__(self) -> str:
        month_and_day = [f"{number:02}" for number in (self.month, self.day) if number is not None]
        return "-".join([f"{self.year:04}", *month_and_day])

    @property
    def first_day(self) -> datetime.date:
        """The day it stands for: a missing part is 01.  Raises: ValueError if there is no such day."""
        return datetime.date(self.year, 1 if self.month is None else self.month, 1 if self.day is None else self.day)


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class TagLocator(Locator):
    """The authority that minted the tag, a day on which it held its name, and what it named (RFC 4151 2.1).

    Everything is kept as written: tags are equal if they are the same character by character (2.4).

    >>> from overthere import URI
    >>> there = URI("tag:sandro@w3.org,2004-05:Sandro").locator
    >>> there
    TagLocator(authority_name='sandro@w3.org', date=TagDate(year=2004, month=5, day=None), specific='Sandro')
    >>> there.email_address, there.dns_name
    ('sandro@w3.org', None)
    """

    authority_name: str
    """A domain name or a mail address."""
    date: TagDate
    specific: str = ""
    """With the "?" and the text after it: a tag has no query."""
    scheme: str = field(default="tag", kw_only=True)

    @classmethod
    def split(cls, parts: Given) -> TagLocator:
        specific_part = parts.text.partition("#")[0].partition(":")[2]
        match = _TAG.fullmatch(specific_part)
        if match is None:
            raise parts.refuse(specific_part or None, 'a name, ",", a date and ":"', "taggingEntity", "RFC 4151 2.1")
        name, year, month, day, specific = match.groups()
        date = TagDate(int(year), None if month is None else int(month), None if day is None else int(day))
        return cls(name, date, specific, **parts.rest(query=False))

    def join(self, to: Writer) -> str:
        return f"{self.authority_name},{self.date}:{self.specific}"

    @property
    def email_address(self) -> str | None:
        """The name if it is a mail address, otherwise None."""
        return self.authority_name if "@" in self.authority_name else None

    @property
    def dns_name(self) -> str | None:
        """The name if it is a domain name, otherwise None."""
        return None if "@" in self.authority_name else self.authority_name


SCHEME = Scheme(
    name="tag",
    title="tag",
    documents={"rfc3986": "RFC 4151"},
    locator=TagLocator,
    syntax=SYNTAX,
    rules={"rfc3986": ("tagURI",)},
    shape="[A-Za-z0-9.@_-]{1,256},[0-9]{4}(?:-[0-9]{2}){0,2}:",
    linkable=True,
    locates_nothing="a tag is only a name: there is no authoritative way to resolve it (RFC 4151 2.3)",
    examples=(
        Example("tag:timothy@hpl.hp.com,2001:web/externalHome", "RFC 4151 2.1"),
        Example("tag:sandro@w3.org,2004-05:Sandro", "RFC 4151 2.1"),
        Example("tag:my-ids.com,2001-09-15:TimKindberg:presentations:UBath2004-05-19", "RFC 4151 2.1"),
        Example("tag:blogger.com,1999:blog-555", "RFC 4151 2.1"),
        Example("tag:yaml.org,2002:int", "RFC 4151 2.1"),
    ),
    notes=("Tags are equal only if they are the same character by character (RFC 4151 2.4): compare them as text.",),
)
