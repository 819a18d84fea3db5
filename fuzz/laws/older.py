"""The languages of the four older documents, by recognisers of their BNF, written only from the documents.

Beside the print stand the decisions on what contradicts itself (docs/decisions.md): 94-2, 94-3, 94-13, 94-14, 94-16 and
94-28; 1738-1 and 1738-2; 97-6 and 97-19; 03-5.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache, lru_cache
from itertools import pairwise
from typing import NamedTuple

from laws.kernels import WORDS as GENERIC
from overthere import Registry, edition
from seeds import cases

AFTER = "a row to the file of the edition in tests/cases, or to tests/cases/bnf.toml"
LONGEST = 96
WORDS = (
    *GENERIC, b"URL:", b"ftp://", b"gopher://h/0", b"mailto:", b"news:", b"nntp:", b"wais://h/d", b"prospero://h/",
    b"telnet://", b"file://", b"mid:", b"cid:", b"!A", b";type=a", b"%09", b"%00", b"1=x;", b"localhost", b"a.b",
    b";", b"=", b"+", b"*", b"!", b"(", b"\"", b"$", b",", b"-", b"_", b"1.2.3.4", b"u:p@", b"x-y:", b"[::1]", b"a.",
)  # fmt: skip

_LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
_DIGITS = "0123456789"
_HEX = _DIGITS + "abcdefABCDEF"

# In the notation of RFC 822 with "|", as the documents have it; {name} is a set of characters, given in Python.
_1994 = """
prefixedurl = "URL:" url
url = httpaddress | ftpaddress | newsaddress | nntpaddress | prosperoaddress | telnetaddress | gopheraddress
    | waisaddress | mailtoaddress | midaddress | cidaddress
httpaddress = 'http:' "//" hostport [ "/" path ] [ "?" search ]
ftpaddress = 'ftp:' "//" login "/" path [ "!" ftptype ]
afsaddress = 'afs:' "//" cellname "/" path
newsaddress = 'news:' groupart
nntpaddress = 'nntp:' group "/" digits
midaddress = 'mid:' addr-spec
cidaddress = 'cid:' content-identifier
mailtoaddress = 'mailto:' xalphas "@" hostname
waisaddress = waisindex | waisdoc
waisindex = 'wais:' "//" hostport "/" database [ "?" search ]
waisdoc = 'wais:' "//" hostport "/" database "/" wtype "/" wpath
wpath = digits "=" path ";" [ wpath ]
groupart = "*" | group | article
group = ialpha [ "." group ]
article = xalphas "@" host
database = xalphas
wtype = xalphas
prosperoaddress = prosperolink
prosperolink = 'prospero:' "//" hostport "/" hsoname [ "%00" version [ attributes ] ]
hsoname = path
version = digits
attributes = attribute [ attributes ]
attribute = alphanums
telnetaddress = 'telnet:' "//" login
gopheraddress = 'gopher:' "//" hostport [ "/" gtype [ selector ] ] [ "?" search ]
login = [ user [ ":" password ] "@" ] hostport
hostport = host [ ":" port ]
host = hostname | hostnumber
ftptype = 'A' | 'I' | 'D'
cellname = hostname
hostname = ialpha [ "." hostname ]
hostnumber = digits "." digits "." digits "." digits
port = digits
selector = path
path = void | segment [ "/" path ]
segment = 1*xpalpha
search = xalphas [ "+" search ]
user = xalphas
password = xalphas
gtype = xalpha
xalpha = {plain} | escape
xalphas = 1*xalpha
xpalpha = xalpha | "+"
ialpha = {alpha} [ xalphas ]
escape = "%" {hex} {hex}
digits = 1*{digit}
alphanums = 1*{alphanum}
void =
addr-spec = xalphas "@" xalphas
content-identifier = xalphas "@" xalphas
"""

_1738 = """
genericurl = any-scheme ":" schemepart
any-scheme = 1*{scheme}
schemepart = *xchar | ip-schemepart
ip-schemepart = "//" login [ "/" urlpath ]
login = [ user [ ":" password ] "@" ] hostport
hostport = host [ ":" port ]
host = hostname | hostnumber
hostname = *( domainlabel "." ) toplabel
domainlabel = {alphanum} | {alphanum} *( {alphanum} | "-" ) {alphanum}
toplabel = {alpha} | {alpha} *( {alphanum} | "-" ) {alphanum}
hostnumber = digits "." digits "." digits "." digits
port = digits
user = *( uchar | ";" | "?" | "&" | "=" )
password = *( uchar | ";" | "?" | "&" | "=" )
urlpath = *xchar
ftpurl = "ftp://" login [ "/" fpath [ ";type=" ftptype ] ]
fpath = fsegment *( "/" fsegment )
fsegment = *( uchar | "?" | ":" | "@" | "&" | "=" )
ftptype = "A" | "I" | "D"
fileurl = "file://" [ host | "localhost" ] "/" fpath
httpurl = "http://" hostport [ "/" hpath [ "?" search ] ]
hpath = hsegment *( "/" hsegment )
hsegment = *( uchar | ";" | ":" | "@" | "&" | "=" )
search = *( uchar | ";" | ":" | "@" | "&" | "=" )
gopherurl = "gopher://" hostport [ "/" [ gtype [ selector [ "%09" search [ "%09" gopherplus-string ] ] ] ] ]
gtype = xchar
selector = *xchar
gopherplus-string = *xchar
mailtourl = "mailto:" encoded822addr
encoded822addr = 1*xchar
newsurl = "news:" grouppart
grouppart = "*" | group | article
group = {alpha} *{groupchar}
article = 1*( uchar | ";" | "/" | "?" | ":" | "&" | "=" ) "@" host
nntpurl = "nntp://" hostport "/" group [ "/" digits ]
telneturl = "telnet://" login [ "/" ]
waisurl = waisdatabase | waisindex | waisdoc
waisdatabase = "wais://" hostport "/" database
waisindex = "wais://" hostport "/" database "?" search
waisdoc = "wais://" hostport "/" database "/" wtype "/" wpath
database = *uchar
wtype = *uchar
wpath = *uchar
prosperourl = "prospero://" hostport "/" ppath *fieldspec
ppath = psegment *( "/" psegment )
psegment = *( uchar | "?" | ":" | "@" | "&" | "=" )
fieldspec = ";" fieldname "=" fieldvalue
fieldname = *( uchar | "?" | ":" | "@" | "&" )
fieldvalue = *( uchar | "?" | ":" | "@" | "&" )
escape = "%" {hex} {hex}
uchar = {unreserved} | escape
xchar = {unreserved} | {reserved} | escape
digits = 1*{digit}
"""

_1997 = """
printed-URL-reference = [ printed-absoluteURL | printed-relativeURL ] [ "#" fragment ]
printed-absoluteURL = printed-generic-URL | printed-opaque-URL
printed-opaque-URL = scheme ":" *urlc
printed-generic-URL = scheme ":" printed-relativeURL
printed-relativeURL = net-path | abs-path | rel-path
net-path = "//" site [ abs-path ]
abs-path = "/" rel-path
rel-path = [ path-segments ] [ "?" query ]
scheme = 1*{scheme}
site = [ [ user [ ":" password ] "@" ] hostport ]
user = *( {unreserved} | escaped | ";" | "&" | "=" | "+" )
password = *( {unreserved} | escaped | ";" | "&" | "=" | "+" )
hostport = host [ ":" port ]
host = hostname | hostnumber
hostname = *( domainlabel "." ) toplabel
domainlabel = {alphanum} | {alphanum} *( {alphanum} | "-" ) {alphanum}
toplabel = {alpha} | {alpha} *( {alphanum} | "-" ) {alphanum}
hostnumber = 1*{digit} "." 1*{digit} "." 1*{digit} "." 1*{digit}
port = *{digit}
path = [ "/" ] path-segments
path-segments = segment *( "/" segment )
segment = *pchar *( ";" param )
param = *pchar
pchar = {unreserved} | escaped | ":" | "@" | "&" | "=" | "+"
query = *urlc
fragment = *urlc
urlc = {reserved} | {unreserved} | escaped
escaped = "%" {hex} {hex}
opaque-rest = *urlc
"""

_2003 = """
absolute-URI = scheme ":" ( hier-part | opaque-part )
hier-part = [ net-path | abs-path ] [ "?" query ]
net-path = "//" authority [ abs-path ]
abs-path = "/" path-segments
opaque-part = uric-no-slash *uric
uric = {reserved} | {unreserved} | escaped
uric-no-slash = {unreserved} | escaped | {no-slash}
scheme = {alpha} *{scheme}
authority = server | reg-name
reg-name = 1*( {unreserved} | escaped | {reg} )
server = [ [ userinfo "@" ] hostport ]
userinfo = *( {unreserved} | escaped | {user} )
hostport = host [ ":" port ]
host = IPv6reference | IPv4address | hostname
port = *{digit}
hostname = domainlabel qualified
qualified = *( "." domainlabel ) [ "." toplabel "." ]
domainlabel = {alphanum} [ 0*61( {alphanum} | "-" ) {alphanum} ]
toplabel = {alpha} [ 0*61( {alphanum} | "-" ) {alphanum} ]
IPv4address = dec-octet "." dec-octet "." dec-octet "." dec-octet
dec-octet = {digit} | {1-9} {digit} | "1" {digit} {digit} | "2" {0-4} {digit} | "25" {0-5}
IPv6reference = "[" IPv6address "]"
IPv6address = 6*6( h4 ":" ) ls32
    | "::" 5*5( h4 ":" ) ls32
    | [ h4 ] "::" 4*4( h4 ":" ) ls32
    | [ 0*1( h4 ":" ) h4 ] "::" 3*3( h4 ":" ) ls32
    | [ 0*2( h4 ":" ) h4 ] "::" 2*2( h4 ":" ) ls32
    | [ 0*3( h4 ":" ) h4 ] "::" h4 ":" ls32
    | [ 0*4( h4 ":" ) h4 ] "::" ls32
    | [ 0*5( h4 ":" ) h4 ] "::" h4
    | [ 0*6( h4 ":" ) h4 ] "::"
ls32 = h4 ":" h4 | IPv4address
h4 = 1*4{hex}
path-segments = segment *( "/" segment )
segment = *pchar
pchar = {unreserved} | escaped | {reg}
query = *( pchar | "/" | "?" )
URI-reference = [ absolute-URI | relative-URI ] [ "#" fragment ]
absolute-URI-reference = absolute-URI [ "#" fragment ]
fragment = *( pchar | "/" | "?" )
relative-URI = [ net-path | abs-path | rel-path ] [ "?" query ]
rel-path = rel-segment [ abs-path ]
rel-segment = 1*( {unreserved} | escaped | {rel} )
escaped = "%" {hex} {hex}
"""

_COMMON = {"alpha": _LETTERS, "digit": _DIGITS, "hex": _HEX, "alphanum": _LETTERS + _DIGITS,
           "scheme": _LETTERS + _DIGITS + "+-."}  # fmt: skip
_SETS: dict[str, dict[str, str]] = {
    "url-1994": {"plain": _LETTERS + _DIGITS + "$-_@.&+" + "\"'(), "},
    "rfc1738": {"unreserved": _LETTERS + _DIGITS + "$-_.+" + "!*'(),", "reserved": ";/?:@&=",
                "groupchar": _LETTERS + _DIGITS + "-.+_"},
    "url-1997": {"unreserved": _LETTERS + _DIGITS + "$-_.!~*'(),", "reserved": ";/?:@&=+"},
    "uri-2003": {"unreserved": _LETTERS + _DIGITS + "-_.!~*'()", "reserved": "[];/?:@&=+$,",
                 "no-slash": "[];?:@&=+$,", "reg": ";:@&=+$,", "user": ";:&=+$,", "rel": ";@&=+$,",
                 "1-9": "123456789", "0-4": "01234", "0-5": "012345"},
}  # fmt: skip
_PRINTED = {"url-1994": _1994, "rfc1738": _1738, "url-1997": _1997, "uri-2003": _2003}
_TEN = ("http", "ftp", "news", "nntp", "telnet", "gopher", "wais", "mailto", "file", "prospero")
_TOPS = {
    "url-1994": (
        "prefixedurl", "url", "httpaddress", "ftpaddress", "afsaddress", "newsaddress", "nntpaddress", "midaddress",
        "cidaddress", "mailtoaddress", "waisindex", "waisdoc", "prosperolink", "telnetaddress", "gopheraddress",
    ),
    "rfc1738": ("genericurl", *(f"{name}url" for name in _TEN), "url"),
    "url-1997": ("printed-URL-reference", "printed-absoluteURL", "path", "site", "URL-reference", "absoluteURL"),
    "uri-2003": ("URI-reference", "absolute-URI", "absolute-URI-reference", "authority"),
}  # fmt: skip
"""The rules that are checked for every text, by edition."""
_SHORT = 24


# -- a recogniser: each expression gives the places at which it can end, so that no text takes long


class Node(NamedTuple):
    """kind: "text", "any case", "set", "rule", "and", "or" or "many"; `many` so often at least and at most."""

    kind: str
    text: str = ""
    parts: tuple[Node, ...] = ()
    least: int = 0
    most: int = 1 << 20


@cache
def _rules(name: str) -> dict[str, Node]:
    sets = _COMMON | _SETS[name]
    rules: dict[str, Node] = {}
    for line in re.split(r"\n(?=[\w-]+ =)", _PRINTED[name].strip()):
        rule, _, body = line.partition(" =")
        tokens = re.findall(r'"[^"]+"|\'[^\']+\'|\{[^}]+\}|\d*\*\d*|[\[\]()|]|[\w-]+', body)
        rules[rule] = _alternatives(tokens, sets)
        assert not tokens, (rule, tokens)
    return rules


def _alternatives(tokens: list[str], sets: dict[str, str]) -> Node:
    rows = [_row(tokens, sets)]
    while tokens and tokens[0] == "|":
        tokens.pop(0)
        rows.append(_row(tokens, sets))
    return rows[0] if len(rows) == 1 else Node("or", parts=tuple(rows))


def _row(tokens: list[str], sets: dict[str, str]) -> Node:
    parts = []
    while tokens and tokens[0] not in "|])":
        parts.append(_item(tokens, sets))
    return Node("and", parts=tuple(parts))


def _item(tokens: list[str], sets: dict[str, str]) -> Node:
    token = tokens.pop(0)
    if token in "[(":
        inner = _alternatives(tokens, sets)
        tokens.pop(0)
        return inner if token == "(" else Node("many", parts=(inner,), most=1)
    if "*" in token and token[0] not in "\"'{":
        least, _, most = token.partition("*")
        return Node("many", parts=(_item(tokens, sets),), least=int(least or 0), most=int(most or 1 << 20))
    match token[0]:
        case '"':
            return Node("any case", token[1:-1].lower())
        case "'":
            return Node("text", token[1:-1])
        case "{":
            return Node("set", sets[token[1:-1]])
        case _:
            return Node("rule", token)


def _ends(name: str, node: Node, text: str, at: int) -> frozenset[int]:
    match node.kind:
        case "text":
            return frozenset([at + len(node.text)]) if text.startswith(node.text, at) else frozenset()
        case "any case":
            end = at + len(node.text)
            return frozenset([end]) if text[at:end].lower() == node.text else frozenset()
        case "set":
            return frozenset([at + 1]) if at < len(text) and text[at] in node.text else frozenset()
        case "rule":
            return _ends_of_rule(name, node.text, text, at)
        case "or":
            return frozenset().union(*(_ends(name, part, text, at) for part in node.parts))
        case "and":
            ends = frozenset([at])
            for part in node.parts:
                ends = frozenset().union(*(_ends(name, part, text, place) for place in ends))
            return ends
        case _:
            return _repetitions(name, node, text, at)


def _repetitions(name: str, node: Node, text: str, at: int) -> frozenset[int]:
    """The places after each number of repetitions, until one adds none."""
    (part,) = node.parts
    places, ends, count = frozenset([at]), set[int](), 0
    while places:
        if count >= node.least:
            if places <= ends:
                break
            ends |= places
        if count == node.most:
            break
        places = frozenset().union(*(_ends(name, part, text, place) for place in places))
        count += 1
    return frozenset(ends)


@lru_cache(1 << 14)
def _ends_of_rule(name: str, rule: str, text: str, at: int) -> frozenset[int]:
    return _ends(name, _rules(name)[rule], text, at)


def _derives(name: str, rule: str, text: str) -> bool:
    return len(text) in _ends_of_rule(name, rule, text, 0)


# -- what the prose adds to the print


def derives(name: str, rule: str, text: str) -> bool:
    """Whether the document derives a text from a rule."""
    match name, rule:
        case "rfc1738", "url":
            # 1738-1: a new scheme is not one of the ten.
            ten = any(_derives(name, f"{scheme}url", text) for scheme in _TEN)
            return ten or (text.partition(":")[0].lower() not in _TEN and _derives(name, "genericurl", text))
        case "url-1997", "URL-reference":
            return _reference_1997(text)
        case "url-1997", "absoluteURL":
            return _absolute_1997(text)
        case _:
            return _derives(name, rule, text)


def _reference_1997(text: str) -> bool:
    tail, mark, fragment = text.partition("#")
    if mark and not _derives("url-1997", "fragment", fragment):
        return False
    scheme, colon, _ = tail.partition(":")
    if colon and _derives("url-1997", "scheme", scheme):  # 97-6
        return _absolute_1997(tail)
    return _rest_1997(tail, "printed-relativeURL")


def _absolute_1997(text: str) -> bool:
    scheme, colon, tail = text.partition(":")
    if not colon or not _derives("url-1997", "scheme", scheme):
        return False
    return _rest_1997(tail, "printed-relativeURL") or (
        not tail.startswith("//") and _derives("url-1997", "opaque-rest", tail)
    )


def _rest_1997(tail: str, rule: str) -> bool:
    """4.4: two slashes begin a site, and nothing else (97-19)."""
    return _derives("url-1997", "net-path" if tail.startswith("//") else rule, tail)


# -- the law


@cache
def _lower(name: str) -> tuple[str, ...]:
    """The other rules, under the names that the package has for them too."""
    names = {rule.lower() for rule in edition(name).grammar.rules}
    return tuple(rule for rule in _rules(name) if rule.lower() in names and rule not in _TOPS[name])


def check(data: bytes) -> None:
    """data: texts, each on its line; each is checked against the top rules, a short one against every rule."""
    for text in data.decode("latin-1").split("\n")[:3]:
        for name, rules in _TOPS.items():
            by = edition(name)
            for rule in (*rules, *(_lower(name) if len(text) <= _SHORT else ())):
                expected, actual = derives(name, rule, text), by.is_valid(text, rule)
                assert actual is expected, f"{name} {rule} {text!r}: is_valid says {actual}, the document {expected}"
        _check_tops(text)


def _check_tops(text: str) -> None:
    """Texts of one rule of 2003 also match the wider rules."""
    for low, high in pairwise(("absolute-URI", "absolute-URI-reference", "URI-reference")):
        by = edition("uri-2003")
        assert not by.is_valid(text, low) or by.is_valid(text, high), f"{text!r} is derived by {low}, not by {high}"


def seeds() -> Iterator[bytes]:
    registry = Registry.default()
    texts = [example.text for name in registry for example in registry.scheme(name).examples]
    for _, row in cases():
        texts += [row[key] for key in ("text", "reference", "base") if isinstance(row.get(key), str)]
        texts += [text for key in ("yes", "no") for text in row.get(key, ()) if isinstance(text, str)]
    yield from {text.encode() for text in texts if text.isascii() and "\n" not in text and len(text) <= LONGEST}
