"""Plans and access: the steps of opening a URI, and the resource that it returns (RFC 3986 1.2.2, 7)."""

from __future__ import annotations

from overthere import lazy_names

_HOMES = {
    "CRLF": "steps", "Cited": "planning", "Compose": "steps", "Connect": "steps", "Content": "steps",
    "Credentials": "steps", "Gateways": "gateways", "Interact": "steps", "OpenData": "steps", "Place": "steps",
    "Plan": "planning", "Receive": "steps", "Role": "steps", "Send": "steps", "Step": "steps", "connect": "steps",
    "guarded": "steps", "plan": "planning",
}  # fmt: skip

__all__ = sorted(_HOMES)

__getattr__, __dir__ = lazy_names(__name__, _HOMES)
