"""smb: shares, directories and files by SMB (draft-crhertel-smb-url-12)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

from overthere.schemes.host_locator import HasSegments, path_of, wants_host
from overthere.schemes.locator import Given, Locator, Writer
from overthere.schemes.model import Example, Scheme

DOCUMENT = "draft-crhertel-smb-url-12"
# [[domain;]user[:password]@]: what a ";" in userinfo means.  An empty host is the browse list of workgroups.
SYNTAX = """
smb-uri = "smb:" "//" authority path-abempty [ "?" query ]
"""


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class SMBLocator(HasSegments, Locator):
    """A workgroup, or a server, a share of it, and a path in the share.

    >>> from overthere import URI
    >>> there = URI("smb://CORP;joe@server/share/a%20b/c.txt").locator
    >>> there, there.share, there.segments
    (SMBLocator(domain='CORP', user='joe', host='server', path='/share/a%20b/c.txt'), 'share', ('share', 'a b', 'c.txt'))
    """  # noqa: E501

    domain: str | None = None
    """The authentication domain, before a ";"."""
    user: str | None = None
    password: str | None = None
    host: str = ""
    """A server or a workgroup; "" is all workgroups."""
    port: int | None = None
    path: str = ""
    """As written, with its leading slash; "" without a path."""
    scheme: str = field(default="smb", kw_only=True)
    as_written: ClassVar[frozenset[str]] = Locator.as_written | {"path"}

    @classmethod
    def split(cls, parts: Given) -> SMBLocator:
        wants_host(parts, DOCUMENT, hostless=True)
        login = parts.login()
        domain, mark, user = (parts.user or "").partition(";")
        if mark:
            login |= {"user": parts.decode(user), "domain": parts.decode(domain)}
        return cls(**login, path=path_of(parts), **parts.rest())

    def join(self, to: Writer) -> str:
        keep = "!$&'()*+,="
        login = "" if self.domain is None else to.text(self.domain, keep, ";") + ";"
        login += to.text(self.user or "", keep, ";")
        login += "" if self.password is None else ":" + to.text(self.password, keep + ";")
        at = "" if self.user is None and self.domain is None and self.password is None else "@"
        return f"//{login}{at}{self.host}" + ("" if self.port is None else f":{self.port}") + to.raw(self.path)

    @property
    def share(self) -> str | None:
        """The first segment of the path, decoded; None without one."""
        return next(filter(None, self.segments), None)


SCHEME = Scheme(
    name="smb",
    title="SMB file shares",
    documents={"rfc3986": DOCUMENT},
    locator=SMBLocator,
    syntax=SYNTAX,
    rules={"rfc3986": ("smb-uri",)},
    linkable=True,
    hierarchical=True,
    unspoken="a file takes the protocol SMB ([MS-SMB2]), which overthere does not speak",
    examples=(
        Example("smb://server/share/directory/file.txt", "of our own"),
        Example("smb://CORP;joe@server/share", "of our own", "as joe of the domain CORP"),
        Example("smb://", DOCUMENT, "all workgroups"),
    ),
    notes=(
        "The draft has expired; IANA lists the name as provisional.",
        "There is no single default port: 445 is SMB over TCP, and 139 over NetBIOS.",
        "Most servers ignore the case of share and file names; the normal form keeps it, because servers differ.",
    ),
)
