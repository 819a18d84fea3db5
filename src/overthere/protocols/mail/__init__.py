"""Local messages and their parts (RFC 2392)."""
