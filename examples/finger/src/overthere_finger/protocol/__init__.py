"""Finger: one line is sent, and what comes until the server closes is the answer (RFC 1288 2.1)."""
