"""Shapes after the colon that several schemes share in running text: mailboxes and telephone numbers.

Each looks at a bounded number of characters.
"""

from __future__ import annotations

NESTED = r"[A-Za-z][A-Za-z0-9+.-]{1,30}:"
"""The scheme of a URI within."""
MAILBOX = r"[A-Za-z0-9.!$&'*+/=?^_`{|}~%:;-]{1,256}@[A-Za-z0-9\[%]"
"""A local part and what a domain begins with (RFC 5322 3.4.1)."""
PHONE = r"\+[0-9(]|[0-9A-Fa-f*#().-]{1,32};phone-context="
"""A global number, or a local one with its context (RFC 3966 3)."""
