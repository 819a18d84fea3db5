"""What asking may do unless a policy is given: as for URIs of others, and no request may take an hour."""

from __future__ import annotations

from overthere.access.policy import Policy

__all__ = ["PATIENT"]

PATIENT = Policy(total_timeout=60.0)
"""A server that drips its answer must not hold up a check of thousands."""
