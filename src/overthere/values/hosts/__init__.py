"""Hosts: what is an address in whatever spelling, and where it leads (RFC 3986 3.2.2, 7.4)."""
