"""Mail: drafts for a person to send, and messages and their parts that are at hand (RFC 6068; RFC 2392)."""
