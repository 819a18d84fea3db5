"""Hosts: addresses in any spelling, and what they reach (RFC 3986 3.2.2, 7.4)."""
