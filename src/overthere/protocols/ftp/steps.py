"""FTP: the commands for a URL (RFC 1738 3.2; RFC 959; RFC 1635 for anonymous; RFC 2428 for EPSV)."""

from __future__ import annotations

import re
from collections.abc import Iterator

from overthere.access.steps import CRLF, Credentials, OpenData, Receive, Role, Send, Step, connect, guarded
from overthere.ground.errors import Cited, PlanRefused
from overthere.schemes.known.ftp import PORT, FTPLocator


class FTPRole(Role):
    """The replies and commands that the dialogue distinguishes."""

    GREETING = "greeting"
    NULL_CWD = "null CWD"
    """CWD with the null argument, which RFC 1738 3.2.2 prints and some servers reject."""
    TYPE = "TYPE"
    NAMES = "names"
    FILE = "file"
    QUIT = "QUIT"


# RFC 959 5.3.2, type-code.
_TYPE_CODE = re.compile("(?ai)[AE](?: [NTC])?|I|L [0-9]{1,3}")


def steps(locator: FTPLocator, credentials: Credentials) -> Iterator[Step]:
    """Return the dialogue of RFC 1738 3.2.2, with a command for each element of the path.

    Raises: PlanRefused for a byte that FTP commands cannot contain, for a type code that RFC 959 does not define,
    and for a query, which FTP does not have.

    >>> from overthere import plan
    >>> [step.line() for step in plan("ftp://myname@host.dom//etc/motd").steps[3:6]]
    ['send CWD ', 'send CWD etc', 'send TYPE I']
    """
    if locator.query is not None:
        raise PlanRefused(
            'an ftp URL cannot have a query: write "?" in a name as "%3F"', "RFC 1738 3.2.2, RFC 3986 3.3"
        )
    yield connect(locator.host, PORT if locator.port is None else locator.port, "RFC 1738 3.2")
    yield Receive(source="RFC 959 5.4", what="the greeting", until="reply", role=FTPRole.GREETING)
    yield from _login(locator, credentials)
    for directory in locator.directories:
        role = None if directory else FTPRole.NULL_CWD
        yield _command("CWD", directory, "directories", "RFC 1738 3.2.2", charset=locator.charset, role=role)
    yield from _access(locator.name or "", locator.type, locator.charset)
    yield Send(source="RFC 959 4.1.1", data=b"QUIT\r\n", role=FTPRole.QUIT)


def _access(name: str, code: str | None, charset: str) -> Iterator[Step]:
    """List a directory for type "d" or an empty name, which RETR does not accept; otherwise get the file (3.2.2)."""
    kind = None if code is None else code.upper()
    if kind is not None and kind != "D" and not _TYPE_CODE.fullmatch(code or ""):
        raise PlanRefused(
            f"type {code!r} is not a, i or d, nor a type code of RFC 959", "RFC 1738 3.2.2; RFC 959 5.3.2"
        )
    if kind == "D" or not name:
        # A list of names needs the type A N (RFC 1123 4.1.2.7), which is the default (RFC 959 4.1.2).
        note = "" if kind == "D" else Cited("an empty name is not a file: list the directory", "RFC 959 5.3.2")
        yield OpenData(source="RFC 2428 3")
        yield _command("NLST", name, "name", "RFC 1738 3.2.2", note, charset)
        yield Receive(source="RFC 959 4.1.3", what="the names", until="data close", role=FTPRole.NAMES)
    else:
        note = "" if kind else Cited("the type is guessed from the name", "RFC 1738 3.2.3")
        yield _command("TYPE", type_code(name, code), "type", "RFC 1738 3.2.2", note, role=FTPRole.TYPE)
        yield OpenData(source="RFC 2428 3")
        yield _command("RETR", name, "name", "RFC 1738 3.2.2", charset=charset)
        yield Receive(source="RFC 959 4.1.3", what="the file", until="data close", role=FTPRole.FILE)


def _login(locator: FTPLocator, credentials: Credentials) -> Iterator[Step]:
    """Log in as the URL says, otherwise as the caller says, otherwise by the conventions for anonymous FTP (3.2.1)."""
    is_secret, note, charset, password_charset = True, "", locator.charset, locator.charset
    if locator.user is not None or locator.password is not None:
        user, password = locator.user or "", locator.password
        if password is None and credentials.user in (None, user):
            password, password_charset = credentials.password, "utf-8"
        if password is None and user == "anonymous":
            password, is_secret = credentials.address, False
    elif credentials.user is not None:
        user, password, charset, password_charset = credentials.user, credentials.password, "utf-8", "utf-8"
    else:
        user, password, is_secret, password_charset = "anonymous", credentials.address, False, "utf-8"
        if password is None:
            # An address without a host, like clients that do not reveal the user's address.
            password = "anonymous@"
            note = Cited("an e-mail address as the password is a courtesy, and some servers require it", "RFC 1635")
    if password is None:
        note = Cited("the server may ask for a password; ask the user for it", "RFC 1738 3.2.1")
        yield _command("USER", user, "user", "RFC 1738 3.2.1", note, charset)
        return
    yield _command("USER", user, "user", "RFC 1738 3.2.1", charset=charset)
    data = b"PASS " + argument(password, "password", password_charset) + CRLF
    yield Send(
        source="RFC 1738 3.2.1", data=data, secret=(5, len(data) - 2) if is_secret else None, note=note, after=("331",)
    )


def _command(
    verb: str, data: str, part: str, source: str, note: str = "", charset: str = "utf-8", role: FTPRole | None = None
) -> Send:
    """Return the step of a command; only NLST omits an empty argument (RFC 959 5.3.1; RFC 1738 3.2.2 for CWD)."""
    encoded = argument(data, part, charset)
    line = verb.encode() + (b" " + encoded if data or verb != "NLST" else b"") + CRLF
    return Send(source=source, data=line, note=note, role=role)


def argument(data: str, part: str, charset: str = "utf-8") -> bytes:
    """Encode an argument; bytes that end a command are rejected, and FF, which begins a Telnet command (RFC 854).

    part: its name in the locator; charset: the locator's.  Raises: PlanRefused (RFC 959 2.3).

    >>> argument("caf\\xe9", "name"), argument("caf\\xe9", "name", "latin-1")
    (b'caf\\xc3\\xa9', b'caf\\xe9')
    """
    return guarded(data, part, "RFC 959 5.3.2", delimiters=b"\xff", charset=charset)


# Text by name.  The last four are printable by RFC 1635 (The Packaging and Naming of Files).
_TEXT = frozenset(
    ("asc", "css", "csv", "htm", "html", "sgm", "sgml", "text", "tsv", "txt", "atox", "hqx", "shar", "uu")
)


def type_code(name: str, code: str | None) -> str:
    """Return the type code for TYPE: that of the URL, otherwise by the name.

    >>> type_code("README", "a"), type_code("README", None)
    ('A', 'I')
    """
    return code.upper() if code else guessed_type(name)


def guessed_type(name: str) -> str:
    """Return "A" for a name with a text suffix, otherwise "I" (3.2.3), which does not change any byte.

    >>> guessed_type("README.TXT"), guessed_type("a.txt.Z"), guessed_type("README")
    ('A', 'I', 'I')
    """
    before, _, suffix = name.rpartition(".")
    return "A" if before and suffix.lower() in _TEXT else "I"
