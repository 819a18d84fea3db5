"""mqtt: a broker of MQTT, and perhaps a topic, as clients use it (no document; the protocol: OASIS MQTT 5.0).

Its locator and facts serve mqtts too.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

from overthere.schemes.host_locator import HostLocator, decoded
from overthere.schemes.model import Example, Scheme, default_port

PORTS = {"mqtt": 1883, "mqtts": 8883}
"""The ports that IANA lists for mqtt and secure-mqtt."""


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class MQTTLocator(HostLocator):
    """A broker, a user, and the path that clients read as a topic.

    >>> from overthere import URI
    >>> there = URI("mqtt://joe@h/home/temp%20in").locator
    >>> there, there.topic
    (MQTTLocator(user='joe', host='h', path='/home/temp%20in'), 'home/temp in')
    """

    scheme: str = field(default="mqtt", kw_only=True)
    document: ClassVar[str] = "as clients use it"

    @property
    def topic(self) -> str | None:
        """The path after the first slash, decoded; None if it is empty."""
        return decoded(self.path[1:]) or None


def _facts(name: str, **fields: Any) -> Scheme:
    """The scheme of one of the two names."""
    return Scheme(
        name=name,
        documents={"rfc3986": "as clients use it; OASIS MQTT 5.0 names no scheme"},
        locator=MQTTLocator,
        syntax=f"""
{name}-uri  = "{name}:" "//" [ userinfo "@" ] mqtt-host [ ":" port ] path-abempty [ "?" query ]
mqtt-host = IP-literal / IPv4address / 1*( unreserved / pct-encoded / sub-delims )
""",
        rules={"rfc3986": (f"{name}-uri",)},
        port=PORTS[name],
        needs_host=True,
        linkable=True,
        unspoken="a subscription takes MQTT (OASIS MQTT 5.0), which overthere does not speak",
        normal=(default_port(PORTS[name], "IANA's port numbers; RFC 3986 6.2.3"),),
        notes=("No document defines the path: many clients read it as a topic, others ignore it.",),
        **fields,
    )


SCHEME = _facts(
    "mqtt",
    title="MQTT broker",
    examples=(Example("mqtt://joe@broker.example.com/home/temperature", "of our own"),),
)

MQTTS = _facts(
    "mqtts",
    title="MQTT broker over TLS",
    tls=True,
    protocol="mqtt",
    examples=(Example("mqtts://joe@broker.example.com/home/temperature", "of our own"),),
)
"""mqtts: a broker of MQTT over TLS, as clients use it (no document; the protocol: OASIS MQTT 5.0)."""
