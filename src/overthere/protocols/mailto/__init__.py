"""A message draft for a person to send (RFC 6068)."""
