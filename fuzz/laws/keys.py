"""Keys of block lists and archives by the prose of their pages, and forms that are done once.

Safe Browsing: "URLs and Hashing", its canonicalization and its suffix and prefix expressions.  SURT: the labels of the
host in reverse, ")", path and query in small letters, parameters by name and value.  Components are those of
the URI before anything is unescaped (docs/canonical.md); differences of IDNA are left to tests.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterator
from itertools import product
from urllib.parse import unquote

from laws.letter import parse, without_dots
from laws.names import known_rules, split_host
from overthere import URI, InvalidURI
from overthere.canonical import FORMS, SAFE_BROWSING, SURT, lookup_expressions
from seeds import cases

AFTER = "a row to tests/cases/canonical.toml"
LONGEST = 256
WORDS = tuple(
    word.encode()
    for word in (
        "http://", "https://h.example/", "www.", "www2.", "..", ".", "/../", "/./", "//", "%25", "%2525", "%2F", "%2e",
        "%3F", "%23", "%41", "%0a", "%20", "%7F", "%80", "?", "#f", "&", "=", "page=1&page2=2", ";", ":80", ":8080",
        ":443", ":", "u:p@", "0x7f", "017", "3279880203", "1.2.3.4", "127.1", "[::ffff:1.2.3.4]", "[64:ff9b::102:304]",
        "[2001:DB8::1]", "b%C3%BCcher.example", "xn--bcher-kva.example", "a.b.c.d.e.f.co.uk", "/a/b/c/d/e.html", "A",
        "/..", "x:", "urn:x:", "ftp://", "//", "%", "/", "&phpsessid=0123456789abcdef0123456789abcdef", "'", "[", "+",
    )
)  # fmt: skip
_NAT64 = ipaddress.IPv6Network("64:ff9b::/96")
_SESSION = re.compile("sid|session|cfid|cftoken|asp", re.IGNORECASE)
"""SURT drops session identifiers, which no definition describes."""
_NAME = re.compile(r"[a-z0-9._-]+")
"""Hosts that both pages define; neither defines escaped delimiters in a host."""
_NOT_ONCE = re.compile("sid|session|cfid|cftoken|asp", re.IGNORECASE)
"""Where SURT changes more the second time: each time it drops one identifier of a session, as the Internet Archive's
`surt` does."""
_LETTERS, _LABELS = "b%C3%BCcher", "xn--bcher-kva"


# -- what both share


def _unescape_fully(text: str) -> bytes:
    """Repeatedly percent-unescape, until no more percent-escapes."""
    octets = text.encode()
    while True:
        after = re.sub(rb"%([0-9A-Fa-f]{2})", lambda match: bytes([int(match[1], 16)]), octets)
        if after == octets:
            return octets
        octets = after


def _escape(octets: bytes) -> str:
    """Percent-escape <= 32, >= 127, "#" and "%", with upper case digits."""
    return "".join(f"%{o:02X}" if o <= 32 or o >= 127 or o in b"#%" else chr(o) for o in octets)


def _cut_authority(text: str) -> tuple[str, str]:
    """The host, and the port with its colon."""
    host = text.rpartition("@")[2]
    match = re.fullmatch(r"(\[.*\]|[^:]*)(:[0-9]*)?", host)
    assert match is not None, text
    return match[1], match[2] or ""


def _host(text: str, dotted: bool) -> str | None:
    """The canonical host; None for one that is left to IDNA, or has no octets."""
    if text.startswith("["):
        try:
            address = ipaddress.IPv6Address(text[1:-1])
        except ValueError:
            return text.lower()
        if dotted and (address.ipv4_mapped or address in _NAT64):
            return str(ipaddress.IPv4Address(int(address) & 0xFFFFFFFF))
        return f"[{address}]" if dotted else text.lower()
    octets = _unescape_fully(text).lower()
    if any(octet >= 128 for octet in octets) or not octets.strip(b"."):
        return None
    octets = re.sub(rb"\.+", b".", octets).strip(b".")
    return _dotted_address(octets.decode()) or octets.decode()


def _dotted_address(host: str) -> str | None:
    """Any legal encoding of an address: octal, hexadecimal, fewer than four parts; four numbers with dots."""
    parts = host.split(".")
    numbers = []
    for part in parts:
        if re.fullmatch("0x[0-9a-f]*", part):
            numbers.append(int(part[2:] or "0", 16))
        elif re.fullmatch("0[0-7]*", part):
            numbers.append(int(part, 8))
        elif re.fullmatch("[1-9][0-9]{0,39}", part):
            numbers.append(int(part))
        else:
            return None
    *first, last = numbers
    if len(parts) > 4 or any(len(part) >= 40 for part in parts):
        return None
    if any(number > 255 for number in first) or last >= 256 ** (5 - len(parts)):
        return None
    value = last + sum(number << (24 - 8 * place) for place, number in enumerate(first))
    return str(ipaddress.IPv4Address(value))


def _path(text: str) -> bytes:
    """ "/./" and "/../" resolved, runs of slashes one slash, in what is unescaped."""
    octets = _unescape_fully(text).decode("latin-1") or "/"
    return re.sub("/+", "/", without_dots(octets)).encode("latin-1")


# -- Safe Browsing


def safe_browsing(text: str) -> tuple[str, str, str, str | None] | None:
    """The scheme, the host, the path and the query of the key; None where the page is not enough."""
    parts = parse(text)
    if parts.scheme is None or parts.authority is None:
        return None
    host = _host(_cut_authority(parts.authority)[0], dotted=True)
    if host is None:
        return None
    query = None if parts.query is None else _escape(_unescape_fully(parts.query))
    return parts.scheme.lower(), _escape(host.encode()), _escape(_path(parts.path)), query


def expressions(host: str, path: str, query: str | None) -> set[str]:
    """The host and up to four suffixes, from eTLD+1 on; the path with and without query, and four folders."""
    hosts = {host}
    labels = host.split(".")
    parts = split_host(host, known_rules(labels[-1]))
    if parts is not None and parts.registrable_domain is not None and not host.startswith("["):
        least = parts.registrable_domain.count(".") + 1
        hosts |= {".".join(labels[-count:]) for count in range(least, min(least + 3, len(labels)) + 1)}
    paths = {path} if query is None else {path, f"{path}?{query}"}
    folders = path.split("/")[1:-1]
    paths |= {"/" + "".join(folder + "/" for folder in folders[:count]) for count in range(min(3, len(folders)) + 1)}
    return {name + each for name, each in product(hosts, paths)}


# -- SURT


def surt(text: str) -> str | None:
    """None where its definition is not enough."""
    parts = parse(text)
    if parts.scheme is None or parts.scheme.lower() not in ("http", "https") or parts.authority is None:
        return None
    name, port = _cut_authority(parts.authority)
    host = _host(name, dotted=False)
    if host is None or not _NAME.fullmatch(host) or _SESSION.search(_escape(_unescape_fully(text))):
        return None
    while (match := re.match(r"www[0-9]*\.", host)) and "." in host[match.end() :]:
        host = host[match.end() :]
    if _dotted_address(host) not in (None, host):
        return None  # which the definition does not know as an address
    number = port[1:].lstrip("0")
    if not port[1:] or number == {"http": "80", "https": "443"}[parts.scheme.lower()]:
        port = ""
    path = _escape(_path(parts.path)).lower()
    path = path.rstrip("/") or "/"
    query = _escape(_unescape_fully(parts.query or "")).lower()
    pairs = sorted((pair.partition("=") for pair in query.split("&")), key=lambda pair: (pair[0], pair[1], pair[2]))
    query = "&".join("".join(pair) for pair in pairs)
    return f"{','.join(reversed(_escape(host.encode()).split('.')))}{port}){path}{'?' if query else ''}{query}".lower()


# -- the law


def check(data: bytes) -> None:
    """data: a URI."""
    text = data.decode("utf-8", "replace")
    try:
        uri = URI(text)
    except InvalidURI:
        return
    _check_idempotent(uri)
    if (expected := safe_browsing(text)) is not None:
        scheme, host, path, query = expected
        key = f"{scheme}://{host}{path}" + ("" if query is None else f"?{query}")
        assert SAFE_BROWSING.key(uri) == key, f"{text!r}: {SAFE_BROWSING.key(uri)!r}, by the page {key!r}"
        if _NAME.fullmatch(host) or host.startswith("["):
            found = lookup_expressions(uri)
            assert len(found) == len(set(found)) <= 30, f"{text!r}: {found}"
            by_page = expressions(host, path, query)
            assert set(found) == by_page, f"{text!r}: {sorted(found)}, by the page {sorted(by_page)}"
    if (wanted_surt := surt(text)) is not None:
        assert SURT.key(uri) == wanted_surt, f"{text!r}: {SURT.key(uri)!r}, by its definition {wanted_surt!r}"


def _check_idempotent(uri: URI) -> None:
    """A form done twice is the form done once; one host has one key, in A-labels and in escapes."""
    for name, form in FORMS.items():
        key = form(uri)
        if name == "surt" and _NOT_ONCE.search(unquote(str(uri))):
            continue
        if name == "crawler-commons" and uri.scheme.lower() not in ("http", "https", "ftp"):
            continue  # its result is defined for these; other schemes have empty pieces of a query of their own
        assert form(key) == key, f"{name} of {str(uri)!r}: {str(key)!r}, and again {str(form(key))!r}"
        assert form.key(key) == form.key(uri), f"{name} of {str(uri)!r}: {form.key(uri)!r}, again {form.key(key)!r}"
    if re.fullmatch(_LABELS + r"(\.[a-z][a-z0-9]{,62})+", uri.host or "") and uri.authority == uri.host:
        for name in ("surt", "safe-browsing"):
            other = str(uri).replace(f"//{_LABELS}", f"//{_LETTERS}", 1)
            keys = [FORMS[name].key(each) for each in (str(uri), other)]
            assert keys[0] == keys[1], f"{name}: {str(uri)!r} and {other!r} have the keys {keys}"


def seeds() -> Iterator[bytes]:
    for file, row in cases():
        if file == "canonical" and isinstance(row.get("uri"), str):
            yield row["uri"].encode()
        if file in ("parse", "normalize", "security") and isinstance(row.get("text"), str) and row["text"].isascii():
            yield row["text"].encode()
    for host, tail in product(
        ("h", "www.a.co.uk", "0x7f.1", "[::ffff:1.2.3.4]", "xn--bcher-kva.a"), ("", "/a/..//b%2f?b&a=1&a")
    ):
        yield f"http://{host}{tail}".encode()
    yield from (
        b"http:/..//a",
        b"http:a/../b",
        b"urn:x:y?q#f",
        b"http://h/?page=1&page2=2",
        b"http://a.b.c.d.e.f.g.com/1.html",
    )
