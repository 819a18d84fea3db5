"""Messages and their parts that are at hand (RFC 2392)."""
