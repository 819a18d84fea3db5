"""finger: what a host tells about its users (draft-ietf-uri-url-finger-03; RFC 1288)."""

from __future__ import annotations

from dataclasses import dataclass, field

from overthere.schemes import Example, Given, Locator, Scheme, Writer
from overthere.schemes.model import default_port, slash_for_empty_path

__all__ = ["SCHEME", "FingerLocator"]

DRAFT = "draft-ietf-uri-url-finger-03"
PORT = 79
"""The default port (section 1)."""
RULES = {"rfc3986": ("finger-uri",)}
# 1: finger://host[:port][/<request>], without a user; 2: a space and a slash in the request are encoded.
SYNTAX = """
finger-uri      = "finger:" "//" finger-hostport [ "/" request ]
finger-hostport = host [ ":" port ]
request         = *pchar
"""


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class FingerLocator(Locator):
    """Whom to ask a host about, and through which others (RFC 1288 2.3).

    >>> from overthere import Registry
    >>> registry = Registry.empty().with_(SCHEME)  # or the default one, once the package is installed
    >>> registry.locator("finger://host1.bigstate.edu/%2FW%20someuser")
    FingerLocator(host='host1.bigstate.edu', user='someuser', verbose=True)
    >>> registry.locator("finger://host2.bigstate.edu/someuser@host1.bigstate.edu")
    FingerLocator(host='host2.bigstate.edu', user='someuser', through=('host1.bigstate.edu',))
    """

    host: str = ""
    """As written."""
    port: int | None = None
    user: str | None = None
    """Decoded; "" asks for a list of all who are there; None if there is no request, which asks for the same."""
    verbose: bool = False
    """Whether the request begins with the token "/W", which asks for more (RFC 1288 2.5.4)."""
    through: tuple[str, ...] = ()
    """The hosts that the request is passed on to, in the order of the request (RFC 1288 2.4)."""
    scheme: str = field(default="finger", kw_only=True)

    @classmethod
    def split(cls, given: Given) -> FingerLocator:
        if given.host is None:
            raise given.refuse(given.path, '"//" and a host', "finger-uri", f"{DRAFT} 1")
        if given.user is not None:
            raise given.refuse(given.user, "no user name before the host", "finger-hostport", f"{DRAFT} 1")
        request = given.decode(given.path)
        token, space, rest = (request or "").partition(" ")
        verbose = token == "/W" and (rest != "" or space == "")
        user, *through = (rest if verbose else request or "").split("@")
        return cls(
            host=given.host,
            port=given.port,
            user=None if request is None else user,
            verbose=verbose,
            through=tuple(through),
            **given.rest(),
        )

    def join(self, to: Writer) -> str:
        text = to.authority(self.host, self.port)
        # 2: "/" and a space are encoded; "?" begins a query today.
        return text if self.user is None else text + "/" + to.text(self.request, "!$&'()*+,;=:@")

    @property
    def request(self) -> str:
        """What is asked, decoded, without the line end.

        >>> FingerLocator(host="h", user="someuser", verbose=True, through=("a", "b")).request
        '/W someuser@a@b'
        """
        whom = (self.user or "") + "".join(f"@{host}" for host in self.through)
        token = "/W " if self.verbose and whom else "/W" if self.verbose else ""
        return token + whom


EXAMPLES = (
    Example("finger://space.mit.edu/nasanews", f"{DRAFT} 3", "one user"),
    Example("finger://status.nlak.net", f"{DRAFT} 3", "a null request: all who are there"),
    Example("finger://host2.bigstate.edu/someuser@host1.bigstate.edu", f"{DRAFT} 3", "host2 asks host1"),
    Example("finger://host1.bigstate.edu/%2FW%20someuser", f"{DRAFT} 3", "one user, and more about him"),
)

SCHEME = Scheme(
    name="finger",
    title="Finger user information",
    documents={"rfc3986": DRAFT},
    locator=FingerLocator,
    syntax=SYNTAX,
    rules=RULES,
    port=PORT,
    needs_host=True,
    no_userinfo=f"{DRAFT} 1",
    lines=True,
    linkable=True,
    access="overthere_finger.protocol",
    normal=(default_port(PORT, f"{DRAFT} 1"), slash_for_empty_path("RFC 3986 6.2.3; RFC 1288 2.3, a null request")),
    examples=EXAMPLES,
    notes=("A port other than 79 may be some other service, which takes the request for its own (section 4).",),
)
