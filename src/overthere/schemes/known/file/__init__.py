"""file: a file on a host (RFC 1738 3.10; RFC 8089, with the forms of its appendices as they are met)."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass, field, replace
from os import PathLike
from typing import TYPE_CHECKING

from overthere.kernel.reference import Parts, remove_dot_segments
from overthere.schemes.locator import Given, Locator, Writer
from overthere.schemes.model import Example, NormalRule, Scheme, slash_for_empty_path

if TYPE_CHECKING:
    from overthere.schemes.known.file.paths import Platform

__all__ = ["SCHEME", "FileLocator"]

DOCUMENTS = {"rfc1738": "RFC 1738 3.10", "rfc3986": "RFC 8089"}

RULES = {"rfc1738": ("fileurl",), "rfc3986": ("file-uri",)}
# RFC 8089 2; below it the rules of Appendix F, which are not normative, each with a name of its own.
SYNTAX = """
file-uri       = file-scheme ":" file-hier-part
file-scheme    = "file"
file-hier-part = ( "//" auth-path ) / local-path
auth-path      = [ file-auth ] path-absolute
local-path     = path-absolute
file-auth      = "localhost" / host

nonstandard-file-uri  = file-scheme ":" ( ( "//" nonstandard-auth-path ) / nonstandard-local-path )
nonstandard-auth-path = [ nonstandard-file-auth ] path-absolute
                      / [ nonstandard-file-auth ] file-absolute
                      / unc-authority path-absolute
nonstandard-local-path = [ drive-letter ] path-absolute / file-absolute
nonstandard-file-auth = "localhost" / [ userinfo "@" ] host
unc-authority         = 2*3"/" file-host
file-host             = inline-ip / IPv4address / reg-name
inline-ip             = "%5B" ( IPv6address / IPvFuture ) "%5D"
file-absolute         = "/" drive-letter path-absolute
drive-letter          = ALPHA ":" / ALPHA "|"
"""

_DRIVE = re.compile("[A-Za-z]:")
# E.2: without an authority a path may begin with the drive.  E.2.2: in old texts "|" stands for the colon.
_DRIVE_PATH = re.compile("[A-Za-z][:|]/")


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class FileLocator(Locator):
    """A file, by the names on the way to it, and the host that has it (RFC 8089 2).

    >>> from overthere import URI
    >>> there = URI("file:///c:/My%20Notes/a.txt").locator
    >>> there, there.to_path("windows")
    (FileLocator(host='', segments=('c:', 'My Notes', 'a.txt')), 'c:\\\\My Notes\\\\a.txt')
    """

    host: str | None = None
    """As written; "" in `file:///x`, None in `file:/x`; both, and "localhost", are the machine that interprets it."""
    segments: tuple[str, ...] = ()
    """The path from the root, decoded; `("",)` for "/" alone, a final "" after a final "/", () without any path."""
    user: str | None = None
    """E.1, not of the standard."""
    password: str | None = None
    """E.1, not of the standard."""
    scheme: str = field(default="file", kw_only=True)

    @classmethod
    def split(cls, parts: Given) -> FileLocator:
        path, rule, source = parts.path, RULES[parts.edition][0], DOCUMENTS[parts.edition]
        if parts.port is not None:
            port = f":{parts.port}"
            raise parts.refuse(port if port in parts.text else None, "no port", rule, source)
        if parts.host is None:
            path = parts.path if parts.edition == "rfc3986" else None
            if path is not None and path.startswith("/"):
                path = path[1:]
            elif path is None or not _DRIVE_PATH.match(path):
                expected = '"//", a host or none, and "/"' if parts.edition == "rfc1738" else "an absolute path"
                raise parts.refuse(parts.path or parts.named.get("schemepart"), expected, rule, source)
        if path is not None and _DRIVE_PATH.match(path):
            path = f"{path[0]}:{path[2:]}"
        login = parts.login()
        return cls(
            host=parts.host,
            segments=() if path is None else tuple(map(parts.decode, path.split("/"))),
            user=login["user"],
            password=login["password"],
            **parts.rest(),
        )

    def join(self, to: Writer) -> str:
        login = self.user is not None or self.password is not None
        # An fsegment of RFC 1738 has no ";"; D.4: "$" should be escaped, being reserved since RFC 3986.
        keep = "!&'()*+,=:@" if to.edition == "rfc1738" else "!&'()*+,;=:@"
        path = "".join("/" + to.text(segment, keep) for segment in self.segments)
        if self.host is None and not login:
            return path
        return to.authority(self.host or "", None, self.user, self.password) + path

    @property
    def drive(self) -> str | None:
        """The drive letter, as written, where the first segment is one (D.2, E.2)."""
        first = self.segments[0] if self.segments else ""
        return first[0] if _DRIVE.fullmatch(first) else None

    def is_local(self, names: Collection[str] = ()) -> bool:
        """Whether the file is on the machine from which the URI is interpreted (RFC 8089 3).

        names: fully qualified domain names that resolve to that machine; none is looked up.
        Raises: TypeError for a text in place of a collection.

        >>> FileLocator(host="LocalHost").is_local(), FileLocator(host="a.example").is_local(["A.example"])
        (True, True)
        """
        from overthere.values.hosts.name import decoded_host

        if isinstance(names, str):
            raise TypeError(f"names takes a collection, such as [{names!r}]")
        return decoded_host(self.host).lower() in {"", "localhost", *(name.lower() for name in names)}

    def to_path(self, platform: Platform | None = None, *, names: Collection[str] = ()) -> str:
        """The path by which the platform's programs open the file: see `file_paths.to_path`."""
        from overthere.schemes.known.file.paths import to_path

        if self.charset != "utf-8":
            return replace(self, segments=tuple(map(self.native, self.segments)), charset="utf-8").to_path(
                platform, names=names
            )
        return to_path(self, platform, names)

    @classmethod
    def from_path(
        cls, path: str | bytes | PathLike[str] | PathLike[bytes], platform: Platform | None = None
    ) -> FileLocator:
        """The locator of an absolute path: see `file_paths.from_path`."""
        from overthere.schemes.known.file.paths import from_path

        return from_path(path, platform)


def _empty_host(parts: Parts) -> Parts:
    """The guard against "//" without an authority, "/." (decision 3986-1), is needed no more."""
    is_localhost = parts.authority is None or parts.authority.lower() == "localhost"
    if not is_localhost or not parts.path.startswith("/"):
        return parts
    return parts._replace(authority="", path=remove_dot_segments(parts.path))


def _rooted_drive(parts: Parts) -> Parts:
    if parts.authority is None and _DRIVE_PATH.match(parts.path):
        return parts._replace(authority="", path="/" + parts.path)
    return parts


SCHEME = Scheme(
    name="file",
    title="Host-specific file names",
    documents=DOCUMENTS,
    locator=FileLocator,
    syntax=SYNTAX,
    rules=RULES,
    local=True,
    host_of_files=True,
    shape="/[^/\\s]",
    hierarchical=True,
    access="file",
    normal=(
        slash_for_empty_path("RFC 3986 6.2.3"),
        NormalRule('no host and "localhost" are written as the empty host', "RFC 8089 2, RFC 1738 3.10", _empty_host),
        NormalRule("a drive letter is the first segment of an absolute path", "RFC 8089 E.2", _rooted_drive),
    ),
    examples=(
        Example("file:///path/to/file", "RFC 8089 B", "the most common format"),
        Example("file:/path/to/file", "RFC 8089 B", "the minimal representation"),
        Example("file://host.example.com/path/to/file", "RFC 8089 B", "a file on another host"),
        Example("file:///c:/path/to/file", "RFC 8089 E.2", "the drive letter is the first segment"),
        Example(
            "file://vms.host.edu/disk$user/my/notes/note12345.txt",
            "RFC 1738 3.10",
            "what DISK$USER:[MY.NOTES]NOTE123456.TXT might become",
        ),
    ),
    notes=(
        "A file on another host cannot be retrieved: the scheme has no protocol (RFC 1738 3.10).",
        "The case of a drive letter is kept, as that of every name (RFC 8089 2).",
    ),
)
