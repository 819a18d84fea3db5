"""Mail addresses and message identifiers in URIs: the escaped addr-spec of RFC 822 and RFC 5322."""

from __future__ import annotations

# RFC 822 3.3 (atom) and RFC 5322 3.2.3 (atext) name the same characters: those that a path of any scheme may hold as
# they are, and the escapes of them all.
ATEXT = """
raw-atext = ALPHA / DIGIT / "!" / "$" / "'" / "*" / "+" / "-" / "_" / "~"
pct-atext = "%2" ( "1" / %x33-37 / "A" / "B" / "D" / "F" ) / "%3" ( DIGIT / "D" / "F" )
          / "%4" ( %x31-39 / %x41-46 / %x61-66 ) / "%5" ( DIGIT / "A" / "E" / "F" )
          / "%6" HEXDIG / "%7" ( DIGIT / %x41-45 / %x61-65 )
pct-dot   = "." / "%2E"
"""

# RFC 2392 2: the "URL encoding of RFC 822 addr-spec".  RFC 822 6.1 and 3.3, without the white space and the comments
# that may stand between its words and are no part of it (A.1.4).  "/" is always escaped.
URL_ADDR_SPEC = f"""{ATEXT}
url-addr-spec  = local-part-822 ( "@" / "%40" ) domain-822
local-part-822 = word-822 *( pct-dot word-822 )
domain-822     = sub-domain-822 *( pct-dot sub-domain-822 )
word-822       = atom-822 / "%22" *( qtext-822 / "%5C" char-822 ) "%22"
sub-domain-822 = atom-822 / "%5B" *( dtext-822 / "%5C" char-822 ) "%5D"
atom-822       = 1*( raw-atext / "&" / "=" / pct-atext )
raw-822        = unreserved / sub-delims / ":" / "@"
char-822       = raw-822 / "%" %x30-37 HEXDIG
qtext-822      = raw-822 / "%0" not-D / "%2" not-2 / "%5" not-C / "%" ( "1" / "3" / "4" / "6" / "7" ) HEXDIG
dtext-822      = raw-822 / "%0" not-D / "%5" ( DIGIT / "A" / "E" / "F" ) / "%" ( "1" / %x32-34 / "6" / "7" ) HEXDIG
not-2          = "0" / "1" / %x33-39 / %x41-46 / %x61-66
not-C          = DIGIT / "A" / "B" / "D" / "E" / "F"
not-D          = DIGIT / "A" / "B" / "C" / "E" / "F"
"""


def split_at(address: str) -> tuple[str, str | None]:
    """An addr-spec, decoded, at the "@" between local part and domain; None if there is none.

    A quoted local part may hold "@", and so may a domain literal, but that holds no "[" (RFC 5322 3.4.1).

    >>> split_at('"not@me"@example.org'), split_at("joe@[a@b]"), split_at("joe")
    (('"not@me"', 'example.org'), ('joe', '[a@b]'), ('joe', None))
    """
    at = address.rfind("@[") if address.endswith("]") else address.rfind("@")
    return (address, None) if at < 0 else (address[:at], address[at + 1 :])
