"""Files and directories of this machine (RFC 1738 3.10; RFC 8089)."""
