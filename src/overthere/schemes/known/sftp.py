"""sftp: a file or directory by the SSH File Transfer Protocol (draft-ietf-secsh-scp-sftp-ssh-uri-04)."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

from overthere.ground.errors import CodingError
from overthere.schemes.host_locator import path_of
from overthere.schemes.known.ssh import DOCUMENT, PORT, SSHLocator, syntax
from overthere.schemes.locator import Given, Writer
from overthere.schemes.model import Example, Scheme, default_port

__all__ = ["SCHEME", "SFTPLocator"]

RULES = {"rfc3986": ("sftp-uri",)}
_TYPE = re.compile("(.*);type=([aidAID])", re.DOTALL)


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class SFTPLocator(SSHLocator):
    """A file or a directory, and where the session goes.

    >>> from overthere import URI
    >>> there = URI("sftp://joe@h/pub/;type=d").locator
    >>> there, there.segments
    (SFTPLocator(user='joe', host='h', path='/pub/', type='d'), ('pub', ''))
    """

    type: str | None = None
    """How it is transferred: "a" as text, "i" as octets, "d" a list of the directory; None if it is not said."""
    scheme: str = field(default="sftp", kw_only=True)

    @classmethod
    def _path(cls, given: Given) -> dict[str, Any]:
        path = path_of(given)
        typed = _TYPE.fullmatch(path)
        return {"path": typed[1], "type": typed[2]} if typed else {"path": path}

    def join(self, to: Writer) -> str:
        if self.type is not None and self.type not in set("aidAID"):
            raise CodingError('the type is "a", "i" or "d"')
        return SSHLocator.join(self, to) + ("" if self.type is None else f";type={self.type}")


EXAMPLES = (
    Example("sftp://user@host.example.com/~/file.txt", DOCUMENT, "in the home directory"),
    Example("sftp://user@host.example.com/dir/path/file.txt", DOCUMENT),
    Example(
        "sftp://user;fingerprint=ssh-dss-c1-b1-30-29-d7-b8-de-6c-97-77-10-d7-46-41-63-87@host.example.com:2222/;type=d",
        DOCUMENT,
        "a list of a directory",
    ),
)


def _file_name(segments: tuple[str, ...]) -> str:
    name = segments[-1] if segments else ""
    typed = _TYPE.fullmatch(name)
    return typed[1] if typed else name


SCHEME = Scheme(
    name="sftp",
    title="Files by the SSH File Transfer Protocol",
    documents={"rfc3986": DOCUMENT},
    locator=SFTPLocator,
    syntax=syntax("sftp"),
    rules=RULES,
    port=PORT,
    needs_host=True,
    linkable=True,
    hierarchical=True,
    file_name=_file_name,
    unspoken="a transfer takes the SSH File Transfer Protocol (draft-ietf-secsh-filexfer) over the Secure Shell "
    "protocol (RFC 4251), which is not spoken here",
    normal=(default_port(PORT, f"{DOCUMENT}; RFC 3986 6.2.3"),),
    examples=EXAMPLES,
    notes=(
        "The draft has expired; IANA has the name as provisional.",
        "It is no FTP: ftps is FTP over TLS.",
        "A password in a URI is seen by everybody who sees the URI (RFC 3986 7.5).",
    ),
)
