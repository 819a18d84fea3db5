"""WAIS: Z39.50 of 1988 as freeWAIS speaks it (RFC 1625; RFC 4156)."""
