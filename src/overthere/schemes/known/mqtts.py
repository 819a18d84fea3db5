"""mqtts: a broker of MQTT over TLS, as clients have it (no document; the protocol: OASIS MQTT 5.0)."""

from __future__ import annotations

from overthere.schemes.known.mqtt import facts
from overthere.schemes.model import Example

__all__ = ["SCHEME"]

SCHEME = facts(
    "mqtts",
    title="MQTT broker over TLS",
    tls=True,
    protocol="mqtt",
    examples=(Example("mqtts://joe@broker.example.com/home/temperature", "of our own"),),
    notes=("No document gives the path a meaning: many clients take it for a topic, others for nothing.",),
)
