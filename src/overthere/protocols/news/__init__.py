"""Network news over NNTP (RFC 3977; RFC 4643; RFC 5538; RFC 977)."""
