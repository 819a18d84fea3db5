"""Rules for where a URI ends in running text, and which names count as hosts.

Angle brackets and quotes mark the end of a URI (RFC 3986 Appendix C).  White space does not: "punctuation marks that
might be mistaken for part of the URI" may precede it, and these rules separate them from the URI:

1. A URI ends before the first character that an IRI cannot contain (RFC 3987 2.2), before a "%" without two digits,
   before a second "#", and before brackets outside of an IP-literal.  A host directly before a "[" is not read as a
   host, because the name continues (`http://h[1-9].example/`), unless a closing tag begins there: `http://h[/url]`.
2. Beyond US-ASCII it ends before white space, quotation marks, brackets, formatting characters, and the stops and
   commas of the East Asian scripts, although ucschar has them.
3. It ends before `&lt;`, `&gt;`, `&quot;` and their numeric forms, which represent delimiters.
4. It ends before a ")" whose "(" is not in it, and, if an apostrophe precedes it, before the next apostrophe.
5. It ends before a comma or semicolon that another URI follows directly, and before a full-width bar.
6. In source code and JSON, an escape directly before the scheme does not belong to it: `Usage:\\nhttp://h/`.
7. At its end these are removed: `. , ; : ! ? '` and "(", and punctuation of other scripts; and `*`, `_`, `~` if there
   are several of one, or the same precedes the URI, because they mark emphasis.

Two more rules apply to a name without a scheme (4.5) and to a mail address:

8. Neither begins nor ends inside a word, in any script. Scripts that do not separate words by spaces (Chinese,
   Japanese, Thai, Lao, Khmer, Burmese; UAX #29 4.1) have no such words: a name may be between their letters, and has
   none of them itself unless it begins with "www." or "ftp.".  The last label of a host, in URIs too, has one script:
   after US-ASCII letters, letters of these scripts and of Korean, whose particles follow the word directly, belong to
   the text (`http://example.com\uc744`); in a path they cannot be distinguished.
9. Names without "www." or "ftp." count if the last label is in `GENERIC_NAMES` or `COUNTRY_CODES`, in lower case;
   in another case only before a path. Optionally also those that publicsuffix.org lists, except `FILES`. A code that
   is as often a file, an object or a word (`COUNTRY_CODES_ALIKE`) counts after a label of `SECOND_LEVEL`,
   `example.co.in`; a code that is a word (`COUNTRY_CODES_WORDS`) also before a path. Four numbers are as often a
   version as an address, and "//" begins a comment as often as a reference (4.2): neither is reported.
"""

from __future__ import annotations

import re
from functools import cache
from unicodedata import category

from overthere.kernel.classes import UCSCHAR

ENDS = (
    (0xA0, 0xA0), (0xAB, 0xAB), (0xAD, 0xAD), (0xBB, 0xBB), (0x1680, 0x1680), (0x180E, 0x180E),
    (0x2000, 0x200B), (0x200E, 0x200F), (0x2018, 0x201F), (0x2028, 0x202F), (0x2039, 0x203A), (0x2045, 0x2046),
    (0x205F, 0x2064), (0x2066, 0x206F), (0x2329, 0x232A), (0x2768, 0x2775), (0x27E6, 0x27EF), (0x2983, 0x2998),
    (0x3000, 0x3003), (0x3008, 0x3011), (0x3014, 0x301B), (0x301D, 0x301F), (0xFD3E, 0xFD3F), (0xFE10, 0xFE19),
    (0xFE35, 0xFE44), (0xFE47, 0xFE48), (0xFE50, 0xFE5E), (0xFEFF, 0xFEFF), (0xFF01, 0xFF02), (0xFF07, 0xFF09),
    (0xFF0C, 0xFF0C), (0xFF0E, 0xFF0E), (0xFF1A, 0xFF1C), (0xFF1E, 0xFF1F), (0xFF3B, 0xFF3B), (0xFF3D, 0xFF3D),
    (0xFF5B, 0xFF5D), (0xFF5F, 0xFF64),
)  # fmt: skip
"""Rule 2, in the order of the code points.  U+200C and U+200D are not among them: words are spelt with them."""


def _letters() -> str:
    """Return the characters of ucschar without `ENDS`, as the inside of a character class."""
    remaining: list[tuple[int, int]] = []
    for low, high in UCSCHAR:
        for first, last in ENDS:
            if low <= first <= high:
                remaining.append((low, first - 1))
                low = last + 1
        remaining.append((low, high))
    return "".join(f"\\U{low:08x}-\\U{high:08x}" for low, high in remaining if low <= high)


_U = _letters()
_ESCAPED = "%[0-9A-Fa-f]{2}"
_ENTITY = "&(?!(?:lt|gt|quot|#3[49]|#6[02]|#[xX](?:22|27|3[cCeE]));)"
# Rule 5; a scheme cannot have a comma or semicolon, so that every character is read once here.
_LIST = "[,;](?![A-Za-z][A-Za-z0-9+.-]*+://)"


# The classes of letters take milliseconds to compile: each expression is compiled on first use.
@cache
def _pieces(is_quoted: bool) -> re.Pattern[str]:
    """Return the pattern of text after the scheme, up to a parenthesis or "#"."""
    apostrophe = "" if is_quoted else "'"
    return re.compile(rf"(?:[A-Za-z0-9\-._~!$*+=:@/?{apostrophe}{_U}]++|{_ESCAPED}|{_ENTITY}|{_LIST})*+")


# Rule 8; the letters of scripts that do not separate words by spaces.
_SPACELESS = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u2e80-\u2fdf\u3005-\u3007\u3021-\u30ff\u31f0-\u31ff\u3400-\u4dbf"
    "\u4e00-\u9fff\ua9e0-\ua9ff\uaa60-\uaa7f\uf900-\ufaff\uff66-\uff9f\U00020000-\U0003ffff"
)
# Combining marks, which are not in `\w` (general category M, with the letters between them).
_MARKS = (
    "\u0300-\u036f\u0483-\u0489\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a\u064b-\u065f\u0670"
    "\u06d6-\u06dc\u06df-\u06e8\u06ea-\u06ed\u0711-\u07f3\u07fd\u0816-\u082d\u0859-\u085b\u0898-\u08e1\u08e3-\u0963"
    "\u0981-\u09e3\u09fe-\u0a75\u0a81-\u0ae3\u0afa-\u0b63\u0b82-\u0bd7\u0c00-\u0c63\u0c81-\u0c83\u0cbc-\u0d4d\u0d57"
    "\u0d62\u0d63\u0d81-\u0df3\u0f18\u0f19\u0f35\u0f37\u0f39\u0f3e-\u0f84\u0f86-\u0fbc\u0fc6\u135d-\u135f"
    "\u1712-\u1734\u1752-\u1773\u180b-\u180d\u180f-\u193b\u1a17-\u1a1b\u1a55-\u1a7f\u1ab0-\u1b44\u1b6b-\u1b73"
    "\u1b80-\u1bf3\u1c24-\u1c37\u1cd0-\u1cd2\u1cd4-\u1dff\u20d0-\u20f0\u2cef-\u2cf1\u2d7f-\u2dff"
)
WORD = rf"(?u:[^\W{_SPACELESS}]|[{_MARKS}])"
"""A character of a word."""
_HANGUL = "\u1100-\u11ff\u3131-\u318e\uac00-\ud7a3"


@cache
def attached_pattern() -> re.Pattern[str]:
    """Return the pattern of a host's last label that begins with US-ASCII and continues with such letters (rule 8)."""
    return re.compile(rf"(?<=\.)[A-Za-z]{{2,63}}+(?=[{_SPACELESS}{_HANGUL}])[^.]*+\.*+\Z")


@cache
def attached_letter_pattern() -> re.Pattern[str]:
    """Return the pattern of a letter of those scripts."""
    return re.compile(f"[{_SPACELESS}{_HANGUL}]")


@cache
def word_pattern() -> re.Pattern[str]:
    """A character of a word."""
    return re.compile(WORD)


_AFTER_NAME = rf"(?!(?![{_HANGUL}]){WORD})"
NAME = rf"(?u:[^\W_{_SPACELESS}]|[{_MARKS}])"
"""A letter, its marks, or a digit of a name."""


# Userinfo, host, port.  The host has no sub-delims, which belong to the text; the userinfo has only paired parentheses
# (rule 4), and no apostrophe if one precedes the URI.
@cache
def authority_pattern(is_quoted: bool) -> re.Pattern[str]:
    """Return the pattern of an authority, with the groups host, port, and bad for text that cannot belong to it.

    is_quoted: whether an apostrophe precedes the URI.
    """
    apostrophe = "" if is_quoted else "'"
    user = rf"[A-Za-z0-9\-._~!$&*+,;=:{apostrophe}{_U}]++|{_ESCAPED}"
    return re.compile(
        rf"(?:(?:{user}|\((?:{user})*+\))*+@)?+"
        rf"(?P<host>\[[0-9A-Za-z:.\-_~!$&*+,;=]++\]|(?:[A-Za-z0-9\-._~{_U}]++|{_ESCAPED})*+)"
        rf"(?P<port>:[0-9]*+)?+(?P<bad>(?:[@A-Za-z0-9\-_~:{_U}]|\[(?!/))[^\s/<>\"]*+)?+"
    )


CUTTING = frozenset("[|^{`#%\\")


@cache
def cut_pattern() -> re.Pattern[str]:
    """Return the pattern of a character that a URI cannot have here, before text that may continue it (rule 1)."""
    return re.compile(rf"(?:[\[|^{{`#%]|\\(?![abefnrtvxuU0-7\"'\\]))(?=[A-Za-z0-9\-._~%/?#&=+:@\[\]{{}}|^{_U}])")


# A label begins and ends with a letter or digit (RFC 952, RFC 1123 2.1); the last one is not a number.
_LABEL = rf"[A-Za-z0-9{_U}]++(?:[\-_]++[A-Za-z0-9{_U}]++)*+"
_TOP = (
    rf"(?:(?:[xX][nN]--[A-Za-z0-9-]++|[A-Za-z]{{2,63}}+)(?!-){_AFTER_NAME}|[A-Za-z{_U}]{{2,63}}+(?![A-Za-z0-9\-_{_U}]))"
)


@cache
def abbreviated_pattern() -> re.Pattern[str]:
    """The authority of an abbreviated reference: "www" or "ftp", a name, a top-level domain."""
    return re.compile(rf"(?i:www|ftp)(?=\.{_LABEL}\.)(?:\.(?!{_TOP}(?!\.[A-Za-z0-9{_U}])){_LABEL})++\.{_TOP}")


@cache
def mail_domain_pattern() -> re.Pattern[str]:
    """The domain of a mail address."""
    return re.compile(
        r"(?:[A-Za-z0-9]++(?:-++[A-Za-z0-9]++)*+\.(?=[A-Za-z0-9]))++[A-Za-z]{2,63}+(?![@-]|\.[A-Za-z0-9])" + _AFTER_NAME
    )


GENERIC_NAMES = frozenset(("com", "edu", "net", "org", "gov", "mil", "int", "arpa", "info", "biz"))
"""Top-level domains by which a bare host is known (RFC 1591 2, and two of 2001)."""
COUNTRY_CODES = frozenset(
    """
    ac ad ae af ag ai al am ao aq ar as at au aw ax az ba bb bd be bf bg bh bi bj bm bn bo br bs bt bw by bz ca cc cd cf
    cg ch ci ck cl cm cn co cr cu cv cw cx cy cz de dj dk dm do dz ec ee eg er es et eu fi fj fk fm fo fr ga gb gd ge gf
    gg gh gi gl gm gn gp gq gr gs gt gu gw gy hk hm hn hr ht hu id ie il im in io iq ir is it je jm jo jp ke kg kh ki km
    kn kp kr kw ky kz la lb lc li lk lr ls lt lu lv ly ma mc md me mg mh mk ml mm mn mo mp mq mr ms mt mu mv mw mx my mz
    na nc ne nf ng ni nl no np nr nu nz om pa pe pf pg ph pk pl pm pn pr ps pt pw py qa re ro rs ru rw sa sb sc sd se sg
    sh si sk sl sm sn so sr ss st su sv sx sy sz tc td tf tg th tj tk tl tm tn to tr tt tv tw tz ua ug uk us uy uz va vc
    ve vg vi vn vu wf ws ye yt za zm zw
    \u0440\u0444 \u0443\u043a\u0440 \u0431\u0435\u043b \u0431\u0433 \u0441\u0440\u0431 \u043c\u043a\u0434
    \u0435\u044e \u049b\u0430\u0437 \u043c\u043e\u043d \u03b5\u03bb \u03b5\u03c5 \u0570\u0561\u0575
    \u10d2\u10d4 \ud55c\uad6d
    """.split()  # noqa: SIM905
)
"""Delegated country codes (RFC 1591 2): of ISO 3166-1, eu, su, uk, and those in scripts that separate words by spaces
and are written from left to right."""
SECOND_LEVEL = frozenset(("ac", "co", "com", "edu", "go", "gob", "gov", "ne", "net", "or", "org"))
"""Labels under which countries register names."""
COUNTRY_CODES_WORDS = frozenset(
    "ad at be br by ca eg hr id ie im io li ms nc no nu pk pr pt re ro sa sd se si sk sv td th tm tr tt us va".split()  # noqa: SIM905
)
"""Two letters that are words, attributes of objects or elements of HTML as often as countries."""
FILES = frozenset(("mov", "zip"))
"""Top-level domains that nearly always are file extensions: a host without a scheme cannot have them."""
COUNTRY_CODES_ALIKE = frozenset((
    "am", "as", "bz", "cc", "cs", "do", "gz", "hs", "in", "is", "it", "js", "la", "lz", "md", "me", "mk", "ml", "mm",
    "mo", "my", "pl", "pm", "ps", "py", "rb", "rs", "sc", "sh", "so", "st", "tf", "to", "ts", "vb", "vi", "xz",
))  # fmt: skip
"""Two letters that name files, objects or words as often as countries."""


def run(text: str, at: int, apostrophe: bool, *, fragment: bool = True) -> int:
    """Return the end of the path, query and fragment that begin at `at`, by rules 1 to 5.

    apostrophe: whether an apostrophe precedes the URI.
    """
    pieces = _pieces(apostrophe)
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


def trim_end(text: str, start: int, end: int) -> int:
    """Return the end of text[start:end] without the punctuation of the sentence (rule 7).

    >>> trim_end("http://h/...", 0, 12)
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
