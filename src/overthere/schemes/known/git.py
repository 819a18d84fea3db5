"""git: a repository by the protocol of git (git-clone(1), GIT URLS; gitprotocol-pack(5))."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import ClassVar

from overthere.ground.errors import CodingError, Finding, InvalidURI, Unwritable
from overthere.ground.exact import exact
from overthere.schemes.host_locator import HostLocator, decoded
from overthere.schemes.known.http import HTTPLocator
from overthere.schemes.known.ssh import SSHLocator
from overthere.schemes.model import Example, Scheme, default_port
from overthere.values.encoding import IN_SEGMENT, encode
from overthere.values.uri import URI

DOCUMENT = "git-clone(1), GIT URLS"
PORT = 9418
"""The default port (gitprotocol-pack(5), Git Transport)."""
# git://host.xz[:port]/path/to/repo.git/ and git://host.xz[:port]/~[user]/path/to/repo.git/; it has no authentication.
SYNTAX = """
git-uri  = "git:" "//" git-host [ ":" port ] 1*( "/" segment )
git-host = IP-literal / IPv4address / 1*( unreserved / pct-encoded / sub-delims )
"""


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class GitLocator(HostLocator):
    """The host and the path of a repository.

    >>> from overthere import URI
    >>> URI("git://git.example.com/~joe/project.git").locator.segments
    ('~joe', 'project.git')
    """

    scheme: str = field(default="git", kw_only=True)
    document: ClassVar[str] = DOCUMENT


SCHEME = Scheme(
    name="git",
    title="Git repositories",
    documents={"rfc3986": DOCUMENT},
    locator=GitLocator,
    syntax=SYNTAX,
    rules={"rfc3986": ("git-uri",)},
    port=PORT,
    needs_host=True,
    no_userinfo=DOCUMENT,
    linkable=True,
    unspoken="a clone takes the protocol of git (gitprotocol-pack(5)), which overthere does not speak",
    normal=(default_port(PORT, "gitprotocol-pack(5); RFC 3986 6.2.3"),),
    examples=(
        Example("git://git.example.com/group/project.git", "git-clone(1), of our own"),
        Example("git://git.example.com:9418/~joe/project.git", "git-clone(1), of our own", "under a user's home"),
    ),
    notes=(
        "The server is not authenticated, and the connection is not secured (git-clone(1)).",
        "git+ssh, git+https and the like are other schemes, unknown here: RFC 3986 3.1 gives a "
        '"+" in a scheme no meaning.',
    ),
)

_URL = re.compile(r"(?:ssh|git|https?|(git\+ssh|ssh\+git))://", re.IGNORECASE)
_OTHER_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")
_SCP = re.compile(r"(?:([A-Za-z0-9._~+-]+)@)?([A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\]):(.+)", re.DOTALL)
_HELPER = re.compile("[A-Za-z0-9+.-]*::")
_DRIVE = re.compile(r"[A-Za-z]:(?:[\\/]|\Z)")


def git_url(text: str) -> SSHLocator | GitLocator | HTTPLocator:
    """The place of a repository as git takes it, in parts: `user@host:path`, which is ssh, and ssh:, git:, http: and
    https: URLs (git-clone(1), GIT URLS).

    text: in `user@host:path` every character of the path stands for itself; in a URL it may be an escape.

    Returns: a locator with `user`, `host`, `port`, `path` and `uri()`.  The path begins with "/": code forges read
    `host:a` and `ssh://host/a` alike, while other servers take the first from the home folder of the user.

    Raises: InvalidURI for a path of this machine: one without a colon, with a slash before the first colon, or with a
    drive of Windows; for other schemes and the program of `ext::`; for a host or user that would be an option of ssh;
    and for an invalid URL.

    >>> from overthere.schemes import git_url
    >>> git_url("git@github.com:joe/project.git")
    SSHLocator(user='git', host='github.com', path='/joe/project.git')
    >>> git_url("git@github.com:joe/project.git") == git_url("ssh://git@github.com/joe/project.git")
    True
    >>> git_url("https://github.com/joe/project.git").path
    '/joe/project.git'
    """
    text = exact(text, "git_url()")
    before, colon, _ = text.partition(":")
    scp = _SCP.fullmatch(text)
    if url := _URL.match(text):
        locator = URI(f"ssh{text[url.end(1) :]}" if url[1] else text).locator
        assert isinstance(locator, SSHLocator | GitLocator | HTTPLocator)
        if not isinstance(locator, SSHLocator) or not (locator.user or decoded(locator.host)).startswith("-"):
            return locator
        problem = "its host or user begins with a hyphen, as an option of ssh does"
    elif not colon:
        problem = "there is no colon, so it is a path of this machine"
    elif _DRIVE.match(text):
        problem = "it begins with a drive of Windows, so it is a path of this machine"
    elif _HELPER.match(text):
        problem = f"{before!r} is a program that git would start (gitremote-helpers(7))"
    elif _OTHER_URL.match(text):
        problem = f"{before!r} is not one of ssh, git, http and https"
    elif "/" in before:
        problem = "a slash is before the first colon, so it is a path of this machine"
    else:
        problem = "expected user@host:path"
        try:
            if scp is not None:
                path = encode(scp[3].lstrip("/"), "path", keep=f"{IN_SEGMENT}/")
                return git_url(str(SSHLocator(scp[1], host=scp[2], path=f"/{path}").uri()))
        except (Unwritable, CodingError):
            pass
    message = f"not the URL of a repository: {problem}"
    raise InvalidURI(text, Finding("scheme-syntax", 0, len(before), "any", "any", "", DOCUMENT, message))
