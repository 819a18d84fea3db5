"""Shared foundations: errors and their table, exact text, secrets, display, files, charsets."""
