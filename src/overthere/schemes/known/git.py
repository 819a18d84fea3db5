"""git: a repository by the protocol of git (git-clone(1), GIT URLS; gitprotocol-pack(5))."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

from overthere.schemes.host_locator import HostLocator
from overthere.schemes.model import Example, Scheme, default_port

__all__ = ["PORT", "SCHEME", "GitLocator"]

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
