"""Sessions with a person: telnet, rlogin, tn3270 (RFC 1738 3.8; RFC 4248)."""
