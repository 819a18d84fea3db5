"""AFS: the one tree of names that all cells share, as the system mounts it (RFC 1738 4)."""
