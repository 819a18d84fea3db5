"""AFS: the global file tree, as the system mounts it (RFC 1738 4)."""
