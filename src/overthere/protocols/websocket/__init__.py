"""WebSocket (RFC 6455)."""
