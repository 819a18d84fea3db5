"""RFC 1738, December 1994: ten schemes, each with its own production, and the common Internet syntax.

`check` and `is_valid` follow section 5 to the letter; what reads (`split`, `parts`, `host_of`) follows the
prose of section 3, and takes the wrapper of the Appendix off first.
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from overthere.editions.coding1738 import decode_text, encode_data
from overthere.editions.model import Edition
from overthere.editions.other_resolutions import rfc1808
from overthere.grammar.library import grammar
from overthere.ground.errors import Finding, InvalidURI
from overthere.kernel.reference import Parts
from overthere.values.derivation import check_rule, parts_of_any
from overthere.values.normalize import Rung

if TYPE_CHECKING:
    from overthere.schemes.registry import Registry

__all__ = ["EDITION", "WrappedURL", "unwrap", "extract"]

# 3.2 to 3.11; mailto, news and file have none.
PORTS = {"ftp": 21, "http": 80, "gopher": 70, "nntp": 119, "telnet": 23, "wais": 210, "prospero": 1525}


def _check(text: str, rule: str, limit: int | None) -> list[Finding]:
    return check_rule(grammar("rfc1738"), text, rule, "RFC 1738 5", limit, parts_of_any(_split, _parts))


# -- Appendix: URLs in context

_SPACE = re.compile(r"[ \t\n\v\f\r]+")
_AT_BREAK = re.compile(r"-[ \t\v\f]*[\r\n][ \t\n\v\f\r]*")
_WRAPPER = re.compile(r"(?i)<url:([^<>]*)>")


class WrappedURL(NamedTuple):
    """A URL that stood in running text as `<URL:...>`."""

    url: str
    fragment: str | None
    """The fragment/anchor identifier, which stands inside the brackets but is not part of the URL."""
    without_hyphens: str | None
    """The URL without the hyphens at its line breaks, which "may or may not" belong to it; None if there is none."""


def extract(text: str) -> list[WrappedURL]:
    """The URLs in a text, written as `<URL:...>`; white space inside is ignored (Appendix).

    >>> [found.url for found in extract("pick it up from <URL:ftp://ds.in\\n    ternic.net/rfc>.")]
    ['ftp://ds.internic.net/rfc']
    """
    return [_read_wrapper(match[1]) for match in _WRAPPER.finditer(text)]


def _read_wrapper(inside: str) -> WrappedURL:
    url, sharp, fragment = _SPACE.sub("", inside).partition("#")
    other = _AT_BREAK.sub("", inside)
    without = None if other == inside else _SPACE.sub("", other).partition("#")[0]
    return WrappedURL(url, fragment if sharp else None, without)


def unwrap(text: str) -> str:
    """The text without its wrapper `<URL:...>` or its prefix `URL:`, which are not part of the URL (Appendix).

    >>> unwrap("<URL:news:*>"), unwrap("URL:news:*"), unwrap("news:*")
    ('news:*', 'news:*', 'news:*')
    """
    if match := _WRAPPER.fullmatch(text.strip(" \t\n\v\f\r")):
        return _SPACE.sub("", match[1])
    return text[4:] if text[:4].lower() == "url:" else text


# -- 2.1 and 3.1: the main parts

_SCHEME = re.compile(r"([A-Za-z0-9+.-]+):")
# 3.5, 3.6: no connection to a host, so no "//" with a meaning.
_WITHOUT_LOGIN = ("mailto", "news")
# 3.3, 3.9: where "?" begins a search, and cannot stand in a user name because none is allowed.
_SEARCHED = ("http", "wais")
_LOGIN = {False: re.compile("//([^/]*)"), True: re.compile("//([^/?]*)")}


class _SchemeParts(NamedTuple):
    """A text cut by its scheme; None is undefined."""

    scheme: str | None
    login: str | None
    path: str | None
    """After the login: what follows the "/"; None if there is no "/".  Without a login: all there is."""
    search: str | None
    fragment: str | None


def _read(text: str) -> _SchemeParts:
    """3.1: after `//` the login up to the next "/"; then the url-path, which the "/" is not part of.

    A fragment is cut off first (Appendix; decision 1738-16).  "?" delimits only where a scheme reserves it for
    that, http and wais (3.3, 3.9); elsewhere it may stand in a user name as in a path (decision 1738-7).
    """
    url, sharp, fragment_text = unwrap(text).partition("#")
    fragment = fragment_text if sharp else None
    match = _SCHEME.match(url)
    if match is None:
        return _SchemeParts(None, None, url, None, fragment)
    scheme, rest = match[1], url[match.end() :]
    kind = scheme.lower()
    searched = kind in _SEARCHED
    login = None if kind in _WITHOUT_LOGIN else _LOGIN[searched].match(rest)
    if login is None:
        return _SchemeParts(scheme, None, rest, None, fragment)
    tail, search = rest[login.end() :], None
    # A document of a WAIS database has a type and a path; only a database is searched.
    if searched and not (kind == "wais" and re.match("/[^/?]*/", tail)):
        tail, mark, after = tail.partition("?")
        search = after if mark else None
    return _SchemeParts(scheme, login[1], tail[1:] if tail else None, search, fragment)


def _split(text: str) -> Parts:
    """2.1 and 3.1.  The path is the url-path: "the "/" between the host (or port) and the url-path is NOT part of"
    it.  Without a scheme there is only a path: "relative links are not described in this document" (2.3).

    >>> _split("http://h/p?a/b"), _split("ftp://u?x@h/").authority
    (Parts(scheme='http', authority='h', path='p', query='a/b', fragment=None), 'u?x@h')
    """
    read = _read(text)
    return Parts(read.scheme, read.login, read.path or "", read.search, read.fragment)


def _login(login: str) -> tuple[str | None, str | None, str, str | None]:
    """3.1: `<user>:<password>@<host>:<port>`; within user and password ":", "@" and "/" are encoded."""
    before, at, hostport = login.rpartition("@")
    user, mark, password = before.partition(":")
    host, colon, port = hostport.partition(":")
    return user if at else None, password if mark else None, host, port if colon else None


def _host(text: str) -> str | None:
    """3.1, 3.10: the host of the login; "" or "localhost" in a file URL is the machine that interprets it."""
    login = _read(text).login
    return None if login is None else _login(login)[2]


# -- 3.2 to 3.11: the parts of each scheme

_FTP = re.compile(r"(?is)(.*?)(?:;type=([^/;]*))?")
_GOPHER = re.compile(r"(?s)(%[0-9A-Fa-f][0-9A-Fa-f]|.)(.*)")
# Schemes whose form in section 3 has a user and a password.
_USERS = ("ftp", "telnet")


def _ftp(read: _SchemeParts) -> dict[str, str | None]:
    """3.2.2: the type code may be omitted, and is one without regard to case (decision 1738-8)."""
    match = None if read.path is None else _FTP.fullmatch(read.path)
    return {"fpath": match and match[1], "ftptype": match and match[2]}


def _http(read: _SchemeParts) -> dict[str, str | None]:
    """3.3: what follows the first "?" is the searchpart, whatever it holds (decision 1738-6)."""
    return {"hpath": read.path, "search": read.search}


def _gopher(read: _SchemeParts) -> dict[str, str | None]:
    """3.4.1: one character of type, then selector, search and Gopher+ string, cut at the first and second %09."""
    match = _GOPHER.fullmatch(read.path or "")
    parts: list[str | None] = [None, None, None, None]
    if match is not None:
        texts = [match[1], *match[2].split("%09", 2)]
        parts[: len(texts)] = texts
    return dict(zip(("gtype", "selector", "search", "gopher+_string"), parts, strict=True))


def _mailto(read: _SchemeParts) -> dict[str, str | None]:
    """3.5: one encoded addr-spec; "there are no reserved characters"."""
    return {"encoded822addr": read.path}


def _news(read: _SchemeParts) -> dict[str, str | None]:
    """3.6: an article if there is an "@", else a group, but "*" is all groups."""
    text = read.path or ""
    article = text if "@" in text else None
    return {"grouppart": text, "group": text if article is None and text != "*" else None, "article": article}


def _nntp(read: _SchemeParts) -> dict[str, str | None]:
    """3.7: the article number may be omitted (decision 1738-9)."""
    group, slash, number = (read.path or "").partition("/")
    return {"group": None if read.path is None else group, "digits": number if slash else None}


def _telnet(read: _SchemeParts) -> dict[str, str | None]:
    """3.8: nothing follows the final "/"; what does all the same is shown."""
    return {"urlpath": read.path} if read.path else {}


def _wais(read: _SchemeParts) -> dict[str, str | None]:
    """3.9: a database, a search in it, or a document of it; its wpath is opaque."""
    if read.search is not None or read.path is None:
        return {"database": read.path, "search": read.search, "wtype": None, "wpath": None}
    database, *rest = read.path.split("/", 2)
    wtype, wpath = (*rest, None, None)[:2]
    return {"database": database, "search": None, "wtype": wtype, "wpath": wpath}


def _file(read: _SchemeParts) -> dict[str, str | None]:
    """3.10: `file://<host>/<path>`."""
    return {"fpath": read.path}


def _prospero(read: _SchemeParts) -> dict[str, str | None]:
    """3.11: the hsoname, and from the first ";" on the field specifications."""
    path, mark, fields = (read.path or "").partition(";")
    return {"ppath": None if read.path is None else path, "fieldspec": mark + fields if mark else None}


_SCHEMES = {
    "ftp": _ftp,
    "http": _http,
    "gopher": _gopher,
    "mailto": _mailto,
    "news": _news,
    "nntp": _nntp,
    "telnet": _telnet,
    "wais": _wais,
    "file": _file,
    "prospero": _prospero,
}


def _parts(text: str) -> dict[str, str | None]:
    """3: the scheme's parts; of another scheme, and of one of the ten that does not go on with "//" although it
    has to, the generic ones: after "//" always those of the common syntax (decision 1738-10), else the schemepart.

    A user name, a password or a port that the scheme does not allow is listed only where the text has it,
    and a fragment likewise: it is not part of a URL (2.2).
    """
    read = _read(text)
    if read.scheme is None:
        url = unwrap(text).partition("#")[0]
        raise InvalidURI(url, _check(url, "genericurl", 1)[0])
    kind = read.scheme.lower()
    found: dict[str, str | None] = {"scheme": read.scheme}
    if read.login is not None:
        user, password, host, port = _login(read.login)
        if kind in _USERS or kind not in _SCHEMES or user is not None:
            found |= {"user": user, "password": password}
        found["host"] = host
        if kind != "file" or port is not None:
            found["port"] = port
    if read.login is None and kind not in _WITHOUT_LOGIN:
        found["schemepart"] = read.path
    elif kind in _SCHEMES:
        found |= _SCHEMES[kind](read)
    else:
        found["urlpath"] = read.path
    return found if read.fragment is None else {**found, "fragment": read.fragment}


# -- What means the same

_ESCAPE = re.compile("%[0-9A-Fa-f][0-9A-Fa-f]")


@cache
def _unescape_table() -> dict[str, str]:
    """2.2: "a URL has the same interpretation when an octet is represented by a character and when it encoded",
    but for reserved characters; unsafe ones "must always be encoded" (decision 1738-14)."""
    return {f"%{ord(char):02X}": char for char in grammar("rfc1738").charset("unreserved")}


_TYPED = re.compile("(?i);type=[aid]$")
_HOSTPORT = re.compile(r"(?s)((?:[^/@]*@)?)([^/:]*)(?::([0-9]+))?(.*)")


def _defaults(scheme: str, rest: str) -> str:
    """What may be omitted (3.2 to 3.11): the default port; of ftp, http and telnet the only "/", of gopher that and
    the type "1"; of file the name "localhost".  The type code of ftp has no case (3.2.2, 5; 1738-8)."""
    match = _HOSTPORT.fullmatch(rest, 2)
    if scheme in _WITHOUT_LOGIN or match is None:
        return rest
    user, host, port, path = match.groups()
    if port is not None and port.lstrip("0") != str(PORTS.get(scheme)):
        host = f"{host}:{port}"
    if path == "" and scheme in ("ftp", "http", "gopher", "telnet"):
        path = "/"
    if scheme == "ftp":
        path = _TYPED.sub(lambda typed: typed[0].lower(), path)
    if path == "/1" and scheme == "gopher":
        path = "/"
    if scheme == "file" and host.lower() == "localhost":
        host = ""
    return f"//{user}{host}{path}"


def _normalize(text: str, rung: Rung, registry: Registry | None) -> str:
    """2.1: schemes have no case.  2.2: hexadecimal digits have none, and an escape of a character that is neither
    reserved nor unsafe means that character.  The document has no dot-segments, and does not fold hosts.

    At the scheme rung, what 3.2 to 3.11 allow to be omitted.  A fragment stays as it is; it is not part of a URL.
    """
    url, sharp, fragment = unwrap(text).partition("#")
    if findings := _check(url, "url", 1):
        raise InvalidURI(url, findings[0])
    scheme, _, rest = url.partition(":")
    if rung >= Rung.CASE:
        scheme, rest = scheme.lower(), _ESCAPE.sub(lambda match: match[0].upper(), rest)
    if rung >= Rung.PERCENT:
        rest = _ESCAPE.sub(lambda match: _unescape_table().get(match[0], match[0]), rest)
    if rung >= Rung.SCHEME and scheme in _SCHEMES:
        rest = _defaults(scheme, rest)
    return f"{scheme}:{rest}{sharp}{fragment}"


EDITION = Edition(
    name="rfc1738",
    title="Uniform Resource Locators (URL)",
    date="December 1994",
    document="RFC 1738",
    top="url",
    class_rules=("safe", "extra", "national", "punctuation", "reserved", "unreserved", "uchar", "xchar"),
    sections={
        "2.1, 3.1 (main parts, common Internet scheme syntax)": "overthere.editions.rfc1738 (split, host_of)",
        "2.2 (characters, octets, escapes)": "overthere.editions.coding1738, overthere.editions.rfc1738 (normalize)",
        "3.2 to 3.11 (specific schemes)": "overthere.editions.rfc1738 (parts, normalize)",
        "5 (BNF for specific URL schemes)": "overthere/editions/rfc1738.abnf",
        "Appendix (URLs in context)": "overthere.editions.rfc1738 (extract, bare)",
    },
    read_grammar=lambda: grammar("rfc1738"),
    check_text=_check,
    split_text=_split,
    resolve_text=rfc1808,  # 2.3: "relative links are not described in this document"; RFC 1808 does
    normalize_text=_normalize,
    encode_data=encode_data,
    decode_text=decode_text,
    parts_of=_parts,
    host_of=_host,
    charset="octets",
    ports=PORTS,
    empty_reference="not specified",
    elsewhere={"resolve": "RFC 1808"},
)
