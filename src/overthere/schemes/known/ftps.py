"""ftps: FTP by TLS from its first octet, as clients have it (no document of its own; FTP over TLS: RFC 4217)."""

from __future__ import annotations

from dataclasses import dataclass, field

from overthere.schemes.known.ftp import SCHEME as FTP
from overthere.schemes.known.ftp import FTPLocator
from overthere.schemes.model import Example, Scheme, default_port, slash_for_empty_path

__all__ = ["FTPSLocator", "SCHEME"]

PORT = 990
"""ftps in IANA's registry of ports: the control connection over TLS."""
SOURCE = "IANA's port numbers: ftps, 990"


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class FTPSLocator(FTPLocator):
    """The same parts as those of ftp.

    >>> from overthere import URI
    >>> URI("ftps://joe@h/a/b;type=i").locator
    FTPSLocator(user='joe', host='h', directories=('a',), name='b', type='i')
    """

    scheme: str = field(default="ftps", kw_only=True)


EXAMPLES = (Example("ftps://joe@ftp.example.com/pub/a.txt", "of our own"),)

SCHEME = Scheme(
    name="ftps",
    title="File Transfer Protocol over TLS",
    documents={"rfc3986": "as clients have it; RFC 1738 3.2, RFC 4217"},
    locator=FTPSLocator,
    syntax=FTP.syntax.replace('"ftp:"', '"ftps:"').replace("ftp-uri", "ftps-uri"),
    rules={"rfc3986": tuple(rule.replace("ftp-uri", "ftps-uri") for rule in FTP.rules["rfc3986"])},
    port=PORT,
    tls=True,
    protocol="ftp",
    needs_host=True,
    anonymous=FTP.anonymous,
    lines=True,
    own_octets=FTP.own_octets,
    linkable=True,
    file_name=FTP.file_name,
    hierarchical=True,
    unspoken="a transfer takes FTP over TLS (RFC 4217), which is not spoken here: FTP is, without",
    normal=(default_port(PORT, SOURCE), slash_for_empty_path("RFC 1738 3.2.2"), FTP.normal[-1]),
    examples=EXAMPLES,
    notes=(
        "IANA has no such scheme, and RFC 4217 names none: it is as it is met.",
        "Some clients take it for FTP at port 21 with AUTH TLS, which RFC 4217 has: the port says which.",
        "It is no sftp, which is another protocol.",
    ),
)
