"""The rules by which a URI ends in running text, and which words are taken for schemes.

Where the delimiters are angle brackets or quotes they say where the URI ends (RFC 3986 Appendix C).  Where they are
white space, "punctuation marks that might be mistaken for part of the URI" stand at its end, and nothing but these
rules tells them from it:

1. A URI ends before the first character that no IRI can hold (RFC 3987 2.2), before a "%" without two digits, before
   a second "#", and before brackets outside of an IP-literal.  A "[" right behind a host makes it none, for a name
   goes on there (`http://h[1-9].example/`), unless it opens an end: `[url]http://h.example[/url]`.
2. Beyond US-ASCII it ends before white space, quotation marks, brackets, formatting characters, and the stops and
   commas of the East Asian scripts, although ucschar has them.
3. It ends before `&lt;`, `&gt;`, `&quot;` and their numbers: they stand for delimiters.
4. It ends before a ")" whose "(" is not in it, and, if an apostrophe stands before it, before the next apostrophe.
5. It ends before a comma or semicolon after which another URI begins at once.
6. Where the text is source code or JSON, an escape right before the scheme is no part of it: `Usage:\\nhttp://h/`.
7. At its end are taken off: `. , ; : ! ? '` and "(", other scripts' punctuation; and `*`, `_`, `~` where there are
   several of one or the same stands before the URI, for they are emphasis then.
"""

from __future__ import annotations

import re
from functools import cache
from unicodedata import category

from overthere.kernel.classes import UCSCHAR

__all__ = [
    "ABBREVIATED",
    "AUTHORITY",
    "COUNTRY_CODES_ALIKE",
    "ENDS",
    "GENERIC_NAMES",
    "MAIL_DOMAIN",
    "NEEDS_HOST",
    "SHAPES",
    "registered",
    "run",
    "shaped",
    "trimmed",
]

ENDS = (
    (0xA0, 0xA0), (0xAB, 0xAB), (0xAD, 0xAD), (0xBB, 0xBB), (0x1680, 0x1680), (0x180E, 0x180E),
    (0x2000, 0x200B), (0x200E, 0x200F), (0x2018, 0x201F), (0x2028, 0x202F), (0x2039, 0x203A), (0x2045, 0x2046),
    (0x205F, 0x2064), (0x2066, 0x206F), (0x2329, 0x232A), (0x2768, 0x2775), (0x27E6, 0x27EF), (0x2983, 0x2998),
    (0x3000, 0x3003), (0x3008, 0x3011), (0x3014, 0x301B), (0x301D, 0x301F), (0xFD3E, 0xFD3F), (0xFE10, 0xFE19),
    (0xFE35, 0xFE44), (0xFE47, 0xFE48), (0xFE50, 0xFE5E), (0xFEFF, 0xFEFF), (0xFF01, 0xFF02), (0xFF07, 0xFF09),
    (0xFF0C, 0xFF0C), (0xFF0E, 0xFF0E), (0xFF1A, 0xFF1C), (0xFF1E, 0xFF1F), (0xFF3B, 0xFF3B), (0xFF3D, 0xFF3D),
    (0xFF5B, 0xFF5B), (0xFF5D, 0xFF5D), (0xFF5F, 0xFF64),
)  # fmt: skip
"""Rule 2, in the order of the code points.  U+200C and U+200D are not among them: words are spelt with them."""


def _letters() -> str:
    """What of ucschar is left, as the inside of a character class."""
    left: list[tuple[int, int]] = []
    for low, high in UCSCHAR:
        for first, last in ENDS:
            if low <= first <= high:
                left.append((low, first - 1))
                low = last + 1
        left.append((low, high))
    return "".join(f"\\U{low:08x}-\\U{high:08x}" for low, high in left if low <= high)


_U = _letters()
_ESCAPED = "%[0-9A-Fa-f]{2}"
_ENTITY = "&(?!(?:lt|gt|quot|#3[49]|#6[02]|#[xX](?:22|27|3[cCeE]));)"
# Rule 5; no scheme holds a comma or semicolon, so what is looked at here is looked at once.
_LIST = "[,;](?![A-Za-z][A-Za-z0-9+.-]*+://)"


def _pieces(apostrophe: str) -> re.Pattern[str]:
    """What can follow the scheme, up to a parenthesis or "#"."""
    return re.compile(rf"(?:[A-Za-z0-9\-._~!$*+=:@/?{apostrophe}{_U}]++|{_ESCAPED}|{_ENTITY}|{_LIST})*+")


_PIECES = {False: _pieces("'"), True: _pieces("")}

# Userinfo, host, port; no parentheses and apostrophes, and in the host no sub-delims: there they belong to the text.
AUTHORITY = re.compile(
    rf"(?:(?:[A-Za-z0-9\-._~!$&*+,;=:{_U}]++|{_ESCAPED})*+@)?+"
    rf"(?P<host>\[[0-9A-Za-z:.\-_~!$&*+,;=]++\]|(?:[A-Za-z0-9\-._~{_U}]++|{_ESCAPED})*+)"
    rf"(?P<port>:[0-9]*+)?+(?P<bad>(?:[@A-Za-z0-9\-_~:{_U}]|\[(?!/))[^\s/<>\"]*+)?+"
)
# A label begins and ends with a letter or digit (RFC 952, RFC 1123 2.1), the last one is no number.
_LABEL = rf"[A-Za-z0-9{_U}]++(?:[\-_]++[A-Za-z0-9{_U}]++)*+"
_TOP = rf"(?:[xX][nN]--[A-Za-z0-9-]+|[A-Za-z{_U}]{{2,63}}+)(?![A-Za-z0-9\-_{_U}])"
ABBREVIATED = re.compile(rf"(?i:www|ftp)(?=\.{_LABEL}\.)(?:\.(?!{_TOP}(?!\.[A-Za-z0-9{_U}])){_LABEL})++\.{_TOP}")
"""The authority of an abbreviated reference: "www" or "ftp", a name, a top-level domain."""
MAIL_DOMAIN = re.compile(
    r"(?:[A-Za-z0-9]++(?:-++[A-Za-z0-9]++)*+\.(?=[A-Za-z0-9]))++[A-Za-z]{2,63}+(?![A-Za-z0-9_@-]|\.[A-Za-z0-9])"
)

NEEDS_HOST = frozenset(("http", "https", "ws", "wss", "ftp"))
"""Schemes that name nothing without a host (RFC 9110 4.2.1, RFC 6455 3, RFC 1738 3.2)."""

_PHONE = r"\+[0-9(]|[0-9A-Fa-f*#().-]{1,32};phone-context="
_MAILBOX = r"[A-Za-z0-9.!$&'*+/=?^_`{|}~%:;-]{1,256}@[A-Za-z0-9\[%]"
_TOKEN = "[A-Za-z0-9!#$&^_.+%-]{1,127}"
_NESTED = r"[A-Za-z][A-Za-z0-9+.-]{1,30}:"

SHAPES: dict[str, str] = {
    "about": r"(?:blank|srcdoc|config|legacy-compat)\b",
    "acct": _MAILBOX,
    "blob": _NESTED,
    "cid": _MAILBOX,
    "data": rf"(?:{_TOKEN}/{_TOKEN})?(?:;[A-Za-z0-9!#$&^_.+=%-]{{1,99}}){{0,9}},",
    "did": r"[a-z0-9]{1,64}:[A-Za-z0-9._%-]",
    "doi": r"10\.[0-9]",
    "file": "/[^/\\s]",
    "geo": r"-?[0-9]{1,3}(?:\.[0-9]{1,32})?,-?[0-9]",
    "im": _MAILBOX,
    "jar": _NESTED,
    "magnet": r"\?[a-z]",
    "mailto": r"[A-Za-z0-9%?!$&'*+._~-]",
    "mid": _MAILBOX,
    "news": rf"[A-Za-z0-9+_-]{{1,64}}\.[A-Za-z0-9]|{_MAILBOX}|\*",
    "pres": _MAILBOX,
    "sip": rf"{_MAILBOX}|{_PHONE}",
    "sips": rf"{_MAILBOX}|{_PHONE}",
    "sms": _PHONE,
    "tag": r"[A-Za-z0-9.@_-]{1,256},[0-9]{4}(?:-[0-9]{2}){0,2}:",
    "tel": _PHONE,
    "urn": r"[A-Za-z0-9][A-Za-z0-9-]{1,31}:[A-Za-z0-9%!$&'(*+,._~:@;=/-]",
    "view-source": _NESTED,
    "xmpp": rf"{_MAILBOX}|[A-Za-z0-9-]{{1,63}}\.[A-Za-z0-9]",
}
"""Schemes whose URIs need no "//", and how what follows the colon begins: `Breaking news:` is no URI.

Each looks at a bounded number of characters.
"""


@cache
def shaped(scheme: str) -> re.Pattern[str] | None:
    """The shape of a scheme, in lower case; None if it has none."""
    return re.compile(SHAPES[scheme]) if scheme in SHAPES else None


@cache
def registered() -> frozenset[str]:
    """Schemes that IANA has registered, that this package knows, or that an installed package declares."""
    from overthere.schemes.iana import registrations
    from overthere.schemes.registry import Registry

    return frozenset(registrations()) | frozenset(Registry.default())


GENERIC_NAMES = frozenset(("com", "edu", "net", "org", "gov", "mil", "int", "arpa", "info", "biz"))
"""Top-level domains by which a bare host is known (RFC 1591 2, and two of 2001)."""
COUNTRY_CODES_ALIKE = frozenset(
    (
        "am", "as", "bz", "cc", "cs", "do", "gz", "hs", "in", "is", "it", "js", "la", "lz", "md", "me", "mk", "ml",
        "mm", "mo", "my", "pl", "pm", "ps", "py", "rb", "rs", "sc", "sh", "so", "st", "tf", "to", "ts", "vb",
        "vi", "xz",
    )
)  # fmt: skip
"""Two letters that name files, objects or words as often as countries."""


def run(text: str, at: int, apostrophe: bool, *, fragment: bool = True) -> int:
    """Where what can be a path, query and fragment from `at` on ends, by rules 1 to 5.

    apostrophe: whether one stands before the URI.
    """
    pieces = _PIECES[apostrophe]
    depth = 0
    while True:
        match = pieces.match(text, at)
        at = match.end() if match else at
        mark = text[at : at + 1]
        if mark == "(":
            depth += 1
        elif mark == ")" and depth:
            depth -= 1
        elif mark == "#" and fragment:
            fragment = False
        else:
            return at
        at += 1


_CLOSING = ".,;:!?'("
_EMPHASIS = "*_~"


def trimmed(text: str, start: int, end: int) -> int:
    """Where text[start:end] ends without the punctuation of the sentence (rule 7).

    >>> trimmed("http://h/...", 0, 12)
    9
    """
    before = text[start - 1 : start]
    while end > start:
        last = text[end - 1]
        if last in _CLOSING or (last > "\x7f" and category(last)[0] == "P"):
            end -= 1
        elif last in _EMPHASIS:
            begin = end
            while begin > start and text[begin - 1] == last:
                begin -= 1
            if end - begin == 1 and before != last:
                break
            end = begin
        else:
            break
    return end
