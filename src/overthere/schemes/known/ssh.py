"""ssh: a Secure Shell session (draft-ietf-secsh-scp-sftp-ssh-uri-04).

sftp has the same authority, and may say how a file is transferred.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any, ClassVar, Self

from overthere.ground.errors import CodingError
from overthere.schemes.host_locator import HasSegments, path_of, wants_host
from overthere.schemes.locator import Given, Locator, Writer
from overthere.schemes.model import Example, Scheme, default_port

DOCUMENT = "draft-ietf-secsh-scp-sftp-ssh-uri-04"
PORT = 22
"""The default port of ssh and of sftp."""


def _syntax(name: str) -> str:
    """The rules of ssh or sftp; the host, which may be empty in RFC 3986, is what there is to connect to."""
    return f"""
{name}-uri  = "{name}:" "//" [ ssh-info "@" ] ssh-host [ ":" port ] path-abempty
ssh-info   = [ userinfo ] [ ";" c-param *( "," c-param ) ]
ssh-host   = IP-literal / IPv4address / 1*( unreserved / pct-encoded / sub-delims )
c-param    = paramname "=" paramvalue
paramname  = *( ALPHA / DIGIT / "-" )
paramvalue = *( ALPHA / DIGIT / "-" )
"""


_PARAMETERS = re.compile("[A-Za-z0-9-]*=[A-Za-z0-9-]*(?:,[A-Za-z0-9-]*=[A-Za-z0-9-]*)*")
_WORD = re.compile("[A-Za-z0-9-]*")
_TYPE = re.compile("(.*);type=([aidAID])", re.DOTALL)


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class SSHLocator(HasSegments, Locator):
    """The host and the user of a session, and the fingerprint of the host's key.

    >>> from overthere import URI
    >>> URI("ssh://joe;fingerprint=ssh-dss-c1-b1@h:2222").locator
    SSHLocator(user='joe', parameters=(('fingerprint', 'ssh-dss-c1-b1'),), host='h', port=2222)
    """

    user: str | None = None
    password: str | None = None
    parameters: tuple[tuple[str, str], ...] = ()
    """The parameters of the connection, after the user: name and value, as written (3.1)."""
    host: str = ""
    port: int | None = None
    path: str = ""
    """As written, with the slash that begins it: git and others name files with it; a session does not use it."""
    scheme: str = field(default="ssh", kw_only=True)
    as_written: ClassVar[frozenset[str]] = Locator.as_written | {"path", "parameters"}

    @classmethod
    def split(cls, parts: Given) -> Self:
        wants_host(parts, DOCUMENT)
        # As userinfo may hold ";" too, the parameters are what has their form behind the last one.
        info = "" if parts.user is None else parts.user
        info += "" if parts.password is None else f":{parts.password}"
        front, mark, last = info.rpartition(";")
        parameters: tuple[tuple[str, str], ...] = ()
        if mark and _PARAMETERS.fullmatch(last):
            info = front
            pairs = (parameter.partition("=") for parameter in last.split(","))
            parameters = tuple((name, value) for name, _, value in pairs)
        user, colon, password = info.partition(":")
        return cls(
            user=parts.decode(user) if user or (parts.user is not None and not parameters) or colon else None,
            password=parts.decode(password) if colon else None,
            parameters=parameters,
            host=parts.host or "",
            port=parts.port,
            **cls._path(parts),
            **parts.rest(),
        )

    @classmethod
    def _path(cls, parts: Given) -> dict[str, Any]:
        return {"path": path_of(parts)}

    def join(self, to: Writer) -> str:
        keep = "!$&'()*+="
        login = to.text(self.user or "", keep, ";,")
        login += "" if self.password is None else ":" + to.text(self.password, keep, ";,")
        for name, value in self.parameters:
            if not (_WORD.fullmatch(name) and _WORD.fullmatch(value)):
                raise CodingError('a parameter has letters, digits and "-" alone')
        login += ";" + ",".join(map("=".join, self.parameters)) if self.parameters else ""
        at = "@" if login or self.user is not None else ""
        return f"//{login}{at}{self.host}" + ("" if self.port is None else f":{self.port}") + to.raw(self.path)

    @property
    def fingerprint(self) -> str | None:
        """The fingerprint of the host's key: the algorithm and the octets in hexadecimal digits, all separated by "-"
        (3.1)."""
        return next((value for name, value in self.parameters if name == "fingerprint"), None)


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class SFTPLocator(SSHLocator):
    """A file or a directory, and the host that has it.

    >>> from overthere import URI
    >>> there = URI("sftp://joe@h/pub/;type=d").locator
    >>> there, there.segments
    (SFTPLocator(user='joe', host='h', path='/pub/', type='d'), ('pub', ''))
    """

    type: str | None = None
    """How it is transferred: "a" as text, "i" as octets, "d" as a list of the directory; None if it is not given."""
    scheme: str = field(default="sftp", kw_only=True)

    @classmethod
    def _path(cls, parts: Given) -> dict[str, Any]:
        path = path_of(parts)
        typed = _TYPE.fullmatch(path)
        return {"path": typed[1], "type": typed[2]} if typed else {"path": path}

    def join(self, to: Writer) -> str:
        if self.type is not None and self.type not in set("aidAID"):
            raise CodingError('the type is "a", "i" or "d"')
        return SSHLocator.join(self, to) + ("" if self.type is None else f";type={self.type}")


def _file_name(segments: tuple[str, ...]) -> str:
    name = segments[-1] if segments else ""
    typed = _TYPE.fullmatch(name)
    return typed[1] if typed else name


SCHEME = Scheme(
    name="ssh",
    title="Secure Shell session",
    documents={"rfc3986": DOCUMENT},
    locator=SSHLocator,
    syntax=_syntax("ssh"),
    rules={"rfc3986": ("ssh-uri",)},
    port=PORT,
    needs_host=True,
    linkable=True,
    interactive=True,
    unspoken="a session takes the Secure Shell protocol (RFC 4251), which overthere does not speak",
    normal=(default_port(PORT, f"{DOCUMENT}; RFC 3986 6.2.3"),),
    examples=(
        Example("ssh://user@host.example.com", DOCUMENT),
        Example("ssh://user@host.example.com:2222", DOCUMENT, "another port"),
        Example(
            "ssh://user;fingerprint=ssh-dss-c1-b1-30-29-d7-b8-de-6c-97-77-10-d7-46-41-63-87@host.example.com",
            DOCUMENT,
            "with the fingerprint of the host's key",
        ),
        Example("ssh://git@host.example/group/project.git", "of our own", "as git is given it"),
    ),
    notes=(
        "The draft has expired; IANA lists the name as provisional.",
        "Everybody who sees the URI sees its password (RFC 3986 7.5).",
        "The form of scp and git, user@host:path, is not a URI.",
    ),
)

SFTP = Scheme(
    name="sftp",
    title="Files by the SSH File Transfer Protocol",
    documents={"rfc3986": DOCUMENT},
    locator=SFTPLocator,
    syntax=_syntax("sftp"),
    rules={"rfc3986": ("sftp-uri",)},
    port=PORT,
    needs_host=True,
    linkable=True,
    hierarchical=True,
    file_name=_file_name,
    unspoken="a transfer takes the SSH File Transfer Protocol (draft-ietf-secsh-filexfer) over the Secure Shell "
    "protocol (RFC 4251), which overthere does not speak",
    normal=(default_port(PORT, f"{DOCUMENT}; RFC 3986 6.2.3"),),
    examples=(
        Example("sftp://user@host.example.com/~/file.txt", DOCUMENT, "in the home directory"),
        Example("sftp://user@host.example.com/dir/path/file.txt", DOCUMENT),
        Example(
            "sftp://user;fingerprint=ssh-dss-c1-b1-30-29-d7-b8-de-6c-97-77-10-d7-46-41-63-87@host.example.com:2222/;type=d",
            DOCUMENT,
            "a list of a directory",
        ),
    ),
    notes=(
        "The draft has expired; IANA lists the name as provisional.",
        "It is not FTP; ftps is FTP over TLS.",
        "Everybody who sees the URI sees its password (RFC 3986 7.5).",
    ),
)
"""sftp: a file or a directory by the SSH File Transfer Protocol (draft-ietf-secsh-scp-sftp-ssh-uri-04)."""
