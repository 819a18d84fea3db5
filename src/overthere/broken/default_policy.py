"""What requests use unless options say otherwise: their policy, that of untrusted URIs, and two services."""

from __future__ import annotations

from overthere.access.policy import Policy

__all__ = ["GITHUB_API", "PATIENT", "WAYBACK"]

PATIENT = Policy(total_timeout=60.0)
"""A server that drips its answer must not hold up a check of thousands."""
GITHUB_API = "https://api.github.com"
WAYBACK = "https://archive.org/wayback/available"
