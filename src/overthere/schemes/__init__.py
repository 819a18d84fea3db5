"""What is particular to a scheme (RFC 3986 1.1.1: each scheme's specification may restrict the generic syntax)."""
