"""Prospero, version 5, over ARDP (RFC 4157)."""
