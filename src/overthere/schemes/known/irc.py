"""irc: a channel or a person on Internet Relay Chat (draft-butcher-irc-url-04; URL Schemes for IRC, ircdocs.horse).

Its locator and facts serve ircs too.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from overthere.ground.errors import CodingError
from overthere.schemes.host_locator import wants_host
from overthere.schemes.locator import Given, Locator, Writer
from overthere.schemes.model import Example, Scheme, default_port

DOCUMENT = "draft-butcher-irc-url-04"
PORTS = {"irc": 6667, "ircs": 6697}
"""The default ports of today (URL Schemes for IRC, Server Ports; RFC 7194)."""


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class IRCLocator(Locator):
    """A server or network, and the channel to join or the person to talk to.

    >>> from overthere import URI
    >>> there = URI("irc://irc.example.com/%23help,isnetwork?key=x").locator
    >>> there, there.is_user
    (IRCLocator(host='irc.example.com', entity='#help', flags=('isnetwork',), query='key=x'), False)
    """

    user: str | None = None
    password: str | None = None
    host: str = ""
    """A server, or with the flag "isnetwork" the name of a network."""
    port: int | None = None
    entity: str | None = None
    """A channel, or with the flag "isuser" a person, "nick!user@host"; "" after a bare "/"; None without it."""
    flags: tuple[str, ...] = ()
    """The flags after it, separated by commas: "isuser" or "ischannel", "isserver" or "isnetwork"; unknown ones as
    written."""
    scheme: str = field(default="irc", kw_only=True)

    @classmethod
    def split(cls, parts: Given) -> IRCLocator:
        wants_host(parts, DOCUMENT)
        entity, *flags = ("" if parts.path is None else parts.path).split(",")
        return cls(
            **parts.login(),
            entity=None if parts.path is None else parts.decode(entity),
            flags=tuple(map(parts.decode, flags)),
            **parts.rest(),
        )

    def join(self, to: Writer) -> str:
        text = to.authority(self.host, self.port, self.user, self.password)
        if self.entity is None:
            if self.flags:
                raise CodingError("flags follow an entity, which may be empty")
            return text
        # Slashes stay: "/" is not a delimiter within the name of a channel.
        return f"{text}/" + ",".join(to.text(item, "!$&'()*+;=:@/") for item in (self.entity, *self.flags))

    @property
    def is_user(self) -> bool:
        """Whether the entity is a person and not a channel."""
        return "isuser" in (flag.lower() for flag in self.flags)


def _facts(name: str, **fields: Any) -> Scheme:
    """The scheme of one of the two names."""
    return Scheme(
        name=name,
        documents={"rfc3986": DOCUMENT},
        locator=IRCLocator,
        syntax=f"""
{name}-uri   = "{name}:" "//" [ userinfo "@" ] irc-host [ ":" port ] [ "/" irc-name *( "," irc-name ) ] [ "?" query ]
irc-host  = IP-literal / IPv4address / 1*( unreserved / pct-encoded / sub-delims )
irc-name  = *( unreserved / pct-encoded / "!" / "$" / "&" / "'" / "(" / ")" / "*" / "+" / ";" / "=" / ":" / "@" / "/" )
""",
        rules={"rfc3986": (f"{name}-uri",)},
        port=PORTS[name],
        needs_host=True,
        lines=True,
        linkable=True,
        interactive=True,
        unspoken="a conversation takes Internet Relay Chat (RFC 1459, RFC 2812), which overthere does not speak",
        normal=(default_port(PORTS[name], "URL Schemes for IRC, Server Ports; RFC 3986 6.2.3"),),
        notes=(
            'Only IRC clients read "#name" as a channel, others as a fragment: write "%23name".',
            "The draft has expired; IANA lists the name as provisional.",
            "No message is ever sent on behalf of a URI (URL Schemes for IRC, Security Considerations).",
        ),
        **fields,
    )


SCHEME = _facts(
    "irc",
    title="Internet Relay Chat",
    examples=(
        Example("irc://irc.example.com/%23help", "of our own", "a channel"),
        Example("irc://irc.example.com/joe,isuser", "of our own", "a person"),
    ),
)

IRCS = _facts(
    "ircs",
    title="Internet Relay Chat over TLS",
    tls=True,
    protocol="irc",
    examples=(Example("ircs://irc.example.com:6697/%23help", "of our own", "a channel"),),
)
"""ircs: Internet Relay Chat over TLS (draft-butcher-irc-url-04; RFC 7194)."""
