"""Plans and access: the steps of opening a URI, and the resource that it returns (RFC 3986 1.2.2, 7)."""

from __future__ import annotations

from overthere.access.gateways import Gateways
from overthere.access.planning import Plan, plan
from overthere.access.steps import (
    CRLF,
    Compose,
    Connect,
    Content,
    Credentials,
    Interact,
    OpenData,
    Place,
    Receive,
    Role,
    Send,
    Step,
    connect,
    guarded,
)
from overthere.ground.errors import Cited

__all__ = [
    "CRLF", "Cited", "Compose", "Connect", "Content", "Credentials", "Gateways", "Interact", "OpenData", "Place",
    "Plan", "Receive", "Role", "Send", "Step", "connect", "guarded", "plan",
]  # fmt: skip
