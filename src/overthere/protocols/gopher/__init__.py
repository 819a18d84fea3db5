"""Gopher and Gopher+ (RFC 1436; Gopher+; RFC 4266)."""
