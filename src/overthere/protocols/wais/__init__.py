"""WAIS: Z39.50 of 1988 as implemented by freeWAIS (RFC 1625; RFC 4156)."""
