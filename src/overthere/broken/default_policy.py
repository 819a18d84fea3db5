"""Defaults for requests: the policy, which is safe for untrusted URIs, and two services."""

from __future__ import annotations

from overthere.access.policy import Policy

PATIENT = Policy(total_timeout=60.0)
"""The time limit stops a server that sends its response slowly from delaying a check of thousands of URIs."""
GITHUB_API = "https://api.github.com"
WAYBACK = "https://archive.org/wayback/available"
