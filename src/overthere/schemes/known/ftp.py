"""ftp: files and directories by the File Transfer Protocol (1994 FTP; RFC 1738 3.2, still in force; RFC 959)."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace

from overthere.kernel.reference import Parts
from overthere.schemes.locator import Given, Locator, Writer
from overthere.schemes.model import Example, NormalRule, Scheme, default_port, last_segment, slash_for_empty_path

PORT = 21
"""The default port (RFC 1738 3.2)."""
DOCUMENTS = {"url-1994": "1994 FTP", "rfc1738": "RFC 1738 3.2", "rfc3986": "RFC 1738 3.2"}

RULES = {"url-1994": ("ftpaddress", "ftpaddress-prose"), "rfc1738": ("ftpurl",), "rfc3986": ("ftp-uri",)}
# RFC 1738 5 over the characters of RFC 3986: "?" begins a query there, ";" stays reserved.  Userinfo and port are
# generic now (RFC 3986 3.2, for RFC 1738 3.1); a host there must be, for ftp has no default for it (3.2.2).
SYNTAX = """
ftp-uri  = "ftp:" "//" [ userinfo "@" ] ftp-host [ ":" port ] [ "/" fpath [ ";type=" ftptype ] ]
ftp-host = IP-literal / 1*( unreserved / pct-encoded / sub-delims )
fpath    = fsegment *( "/" fsegment )
fsegment = *( unreserved / pct-encoded / "!" / "$" / "&" / "'" / "(" / ")" / "*" / "+" / "," / "=" / ":" / "@" )
ftptype  = "A" / "I" / "D"
"""


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class FTPLocator(Locator):
    """A file or directory on a server, and how it is transferred (RFC 1738 3.2.2).

    >>> from overthere import URI
    >>> URI("ftp://myname@host.dom/%2Fetc/motd").locator
    FTPLocator(user='myname', host='host.dom', directories=('/etc',), name='motd')
    """

    user: str | None = None
    """For the USER command; "" is not None: `ftp://@h/` has an empty name (3.1)."""
    password: str | None = None
    """For the PASS command; "" is not None."""
    host: str = ""
    """As written."""
    port: int | None = None
    """None for 21, the default."""
    directories: tuple[str, ...] = ()
    """The arguments of CWD, one by one, decoded: one may be empty or hold "/"."""
    name: str | None = None
    """The file in the last of them; "" after a final "/"; None if there is no path at all."""
    type: str | None = None
    """"A" or "a" for text, "I" or "i" for octets, "D" or "d" for a list of names; None leaves it to the client.
    In 1994 any type code of RFC 959."""
    scheme: str = field(default="ftp", kw_only=True)

    @classmethod
    def split(cls, parts: Given) -> FTPLocator:
        if parts.host is None:
            expected, rule = '"//" and a host', RULES[parts.edition][0]
            raise parts.refuse(parts.path or parts.named.get("schemepart"), expected, rule, DOCUMENTS[parts.edition])
        path, kind = parts.path, parts.named.get("ftptype")
        if parts.edition == "rfc3986" and path is not None:
            path, kind = _without_type(parts, path)
        *directories, name = map(parts.decode, (path or "").split("/"))
        return cls(
            **parts.login(),
            directories=tuple(directories),
            name=None if path is None else name,
            type=parts.decode(kind),
            **parts.rest(),
        )

    def join(self, to: Writer) -> str:
        text = to.authority(self.host, self.port, self.user, self.password)
        pieces = (*self.directories, self.name or "")
        # In 1994 the type is "a suffix to the URL", whether there is a path or not; in RFC 1738 the path goes before.
        if self.name is not None or self.directories or (self.type is not None and to.edition != "url-1994"):
            # "/" and ";" are reserved within a name (3.2.2); "!A" of the BNF of 1994 is never written.
            keep = "" if to.edition == "url-1994" else "!$&'()*+,=:@"
            text += "/" + "/".join(to.text(piece, keep) for piece in pieces)
        return text if self.type is None else f"{text};type={to.text(self.type)}"


def _without_type(parts: Given, path: str) -> tuple[str, str | None]:
    """The fpath and the type code, which is the last thing in the path (RFC 1738 5).  "type" has no case, and may
    be escaped, being unreserved (RFC 3986 2.3)."""
    before, semicolon, last = path.rpartition(";")
    word, equals, code = last.partition("=")
    if semicolon and equals and "/" not in last and parts.decode(word).lower() == "type":
        return before, code
    return path, None


_TYPED = re.compile("(?is)(.*;)(type=[aid])")


def _lower_type(parts: Parts) -> Parts:
    match = _TYPED.fullmatch(parts.path)
    return parts._replace(path=match[1] + match[2].lower()) if match else parts


def _file_name(segments: tuple[str, ...]) -> str:
    """The name without its type code (RFC 1738 3.2.2)."""
    return re.sub(r"(?i);type=[^;]*$", "", last_segment(segments))


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class FTPSLocator(FTPLocator):
    """The parts of an ftps URI: the same as for ftp.

    >>> from overthere import URI
    >>> URI("ftps://joe@h/a/b;type=i").locator
    FTPSLocator(user='joe', host='h', directories=('a',), name='b', type='i')
    """

    scheme: str = field(default="ftps", kw_only=True)


SCHEME = Scheme(
    name="ftp",
    title="File Transfer Protocol",
    documents=DOCUMENTS,
    locator=FTPLocator,
    syntax=SYNTAX,
    rules=RULES,
    port=PORT,
    redirected_from=("http",),
    needs_host=True,
    anonymous=frozenset(("anonymous", "ftp")),
    lines=True,
    own_octets=frozenset(b"/"),
    linkable=True,
    file_name=_file_name,
    hierarchical=True,
    access="ftp",
    normal=(
        default_port(PORT, "RFC 1738 3.2"),
        slash_for_empty_path("RFC 1738 3.2.2"),
        NormalRule("the type code is written in lower case", "RFC 1738 5", _lower_type),
    ),
    examples=(
        Example("ftp://myname@host.dom/%2Fetc/motd", "RFC 1738 3.2.2", "CWD /etc, RETR motd"),
        Example("ftp://myname@host.dom/etc/motd", "RFC 1738 3.2.2", "CWD etc, RETR motd"),
        Example("ftp://myname@host.dom//etc/motd", "RFC 1738 3.2.2", "CWD with no argument, CWD etc, RETR motd"),
        Example("ftp://@host.com/", "RFC 1738 3.1", "an empty user name and no password"),
        Example("ftp://foo:@host.com/", "RFC 1738 3.1", "an empty password"),
        Example("ftp://info.cern.ch/pub/www/doc;type=d", "RFC 1738 Appendix", "the names in the directory"),
        Example("ftp://ftp.is.co.za/rfc/rfc1808.txt", "RFC 3986 1.1.2"),
    ),
    notes=(
        "Each directory is a CWD of its own; a path is not a Unix file name (RFC 1738 3.2.4).",
        "Everybody who sees the URI sees its password (RFC 3986 7.5).",
    ),
)

FTPS = replace(
    SCHEME,
    name="ftps",
    title="File Transfer Protocol over TLS",
    documents={"rfc3986": "as clients use it; RFC 1738 3.2, RFC 4217"},
    locator=FTPSLocator,
    syntax=SCHEME.syntax.replace('"ftp:"', '"ftps:"').replace("ftp-uri", "ftps-uri"),
    rules={"rfc3986": tuple(rule.replace("ftp-uri", "ftps-uri") for rule in SCHEME.rules["rfc3986"])},
    port=990,
    tls=True,
    protocol="ftp",
    redirected_from=(),
    access=None,
    unspoken="a transfer takes FTP over TLS (RFC 4217), which overthere does not speak; it speaks FTP without TLS",
    normal=(
        default_port(990, "IANA's port numbers: ftps, 990"),
        slash_for_empty_path("RFC 1738 3.2.2"),
        SCHEME.normal[-1],
    ),
    examples=(Example("ftps://joe@ftp.example.com/pub/a.txt", "of our own"),),
    notes=(
        "Neither IANA nor RFC 4217 defines this scheme; this is how clients use it.",
        "Some clients read it as FTP at port 21 with AUTH TLS, as in RFC 4217: the port shows which.",
        "It is not sftp, which is another protocol.",
    ),
)
"""ftps: FTP by TLS from its first octet, as clients use it (no document of its own; FTP over TLS: RFC 4217)."""
