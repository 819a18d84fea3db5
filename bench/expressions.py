"""The two regular expressions that the column engines are given; RE2 and the regex crate of Rust read both."""

from __future__ import annotations

import re

from overthere.kernel.classes import CHARSETS, PATTERNS

# RFC 3986, Appendix B, with the authority cut as 3.2 cuts it.
APPENDIX_B = (
    r"^(?:(?P<scheme>[^:/?#]+):)?"
    r"(?://(?:[^/?#]*@)?(?P<host>\[[^\]/?#]*\]|[^/?#:@]*)(?::(?P<port>[^/?#@]*))?)?"
    r"(?P<path>[^?#]*)(?:\?(?P<query>[^#]*))?(?:#(?P<fragment>(?s:.*)))?$"
)

HOST = re.sub(r"\?P<(?!host>)\w+>", "?:", APPENDIX_B)
"""The same with one group."""


def _one_or_more(rule: str) -> str:
    return rf"(?:[{re.escape(CHARSETS[rule])}]|%[0-9A-Fa-f][0-9A-Fa-f])"


_HOST = rf"\[(?:{PATTERNS['IPv6address']}|{PATTERNS['IPvFuture']})\]|{_one_or_more('reg-name')}*"
_FIRST = _one_or_more("pchar")

# RFC 3986, Appendix A: the rule URI, whole.  The path after an authority and the path without one are two groups,
# for no expression of these engines can look ahead.
URI = (
    r"^(?P<scheme>[A-Za-z][A-Za-z0-9+.\-]*):"
    rf"(?://(?:{_one_or_more('userinfo')}*@)?(?P<host>{_HOST})(?::(?P<port>[0-9]*))?(?P<path>(?:/{_one_or_more('path')}*)?)"
    rf"|(?P<alone>(?:/(?:{_FIRST}{_one_or_more('path')}*)?|{_FIRST}{_one_or_more('path')}*)?))"
    rf"(?:\?(?P<query>{_one_or_more('query')}*))?(?:#(?P<fragment>{_one_or_more('fragment')}*))?$"
)
