"""The default policy of requests: that of untrusted URIs, with a time limit for each request."""

from __future__ import annotations

from overthere.access.policy import Policy

__all__ = ["PATIENT"]

PATIENT = Policy(total_timeout=60.0)
"""A server that drips its answer must not hold up a check of thousands."""
