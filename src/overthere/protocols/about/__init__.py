"""about: a blank page, or a place inside the application (RFC 6694)."""
