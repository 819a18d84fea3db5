"""data: the content is in the URI (RFC 2397)."""
