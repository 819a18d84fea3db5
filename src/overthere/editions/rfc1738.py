"""RFC 1738, December 1994: ten schemes, each with its own production, and the common Internet syntax.

`check` and `is_valid` follow section 5 exactly; `split`, `parts` and `host_of` follow the
prose of section 3, and first remove the wrapper of the Appendix.
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from overthere.editions.coding1738 import decode_text, encode_data
from overthere.editions.model import Edition
from overthere.editions.other_resolutions import rfc1808
from overthere.editions.url1994 import split_login
from overthere.grammar.library import grammar
from overthere.ground.errors import Finding, InvalidURI
from overthere.ground.redact import hides_secrets
from overthere.kernel.reference import Parts
from overthere.values.derivation import check_rule, parts_of_any
from overthere.values.normalize import Rung

if TYPE_CHECKING:
    from overthere.schemes.registry import Registry

# 3.2 to 3.11; mailto, news and file have none.
PORTS = {"ftp": 21, "http": 80, "gopher": 70, "nntp": 119, "telnet": 23, "wais": 210, "prospero": 1525}


def _check(text: str, rule: str, limit: int | None) -> list[Finding]:
    return check_rule(grammar("rfc1738"), text, rule, "RFC 1738 5", limit, parts_of_any(_split, _parts))


# -- Appendix: URLs in context

_SPACE = re.compile(r"[ \t\n\v\f\r]+")
_HYPHEN_BREAK = re.compile(r"-[ \t\v\f]*[\r\n][ \t\n\v\f\r]*")
_WRAPPER = re.compile(r"(?i)<url:([^<>]*)>")


@hides_secrets
class WrappedURL(NamedTuple):
    """A URL that is written as `<URL:...>` in running text."""

    url: str
    fragment: str | None
    """The fragment/anchor identifier, which is inside the brackets but is not part of the URL."""
    without_hyphens: str | None
    """The URL without the hyphens at its line breaks, which "may or may not" belong to it; None without hyphens."""


def extract(text: str) -> list[WrappedURL]:
    """Return the URLs in a text that are written as `<URL:...>`; white space inside is ignored (Appendix).

    >>> [found.url for found in extract("pick it up from <URL:ftp://ds.in\\n    ternic.net/rfc>.")]
    ['ftp://ds.internic.net/rfc']
    """
    return [_read_wrapper(match[1]) for match in _WRAPPER.finditer(text)]


def _read_wrapper(inside: str) -> WrappedURL:
    url, sharp, fragment = _SPACE.sub("", inside).partition("#")
    joined = _HYPHEN_BREAK.sub("", inside)
    without_hyphens = None if joined == inside else _SPACE.sub("", joined).partition("#")[0]
    return WrappedURL(url, fragment if sharp else None, without_hyphens)


def unwrap(text: str) -> str:
    """Remove a URL's wrapper `<URL:...>` or prefix `URL:`, which are not part of the URL (Appendix).

    >>> unwrap("<URL:news:*>"), unwrap("URL:news:*"), unwrap("news:*")
    ('news:*', 'news:*', 'news:*')
    """
    if match := _WRAPPER.fullmatch(text.strip(" \t\n\v\f\r")):
        return _SPACE.sub("", match[1])
    return text[4:] if text[:4].lower() == "url:" else text


# -- 2.1 and 3.1: the main parts

_SCHEME = re.compile(r"([A-Za-z0-9+.-]+):")
# 3.5, 3.6: there is no connection to a host, so "//" has no meaning.
_WITHOUT_LOGIN = ("mailto", "news")
# 3.3, 3.9: "?" begins a search; it cannot be in a user name, because these schemes have none.
_SCHEMES_WITH_SEARCH = ("http", "wais")
_LOGIN = {False: re.compile("//([^/]*)"), True: re.compile("//([^/?]*)")}


class _SchemeParts(NamedTuple):
    """A text split by its scheme's syntax; None is undefined."""

    scheme: str | None
    login: str | None
    path: str | None
    """With a login: the text after the "/", None without "/".  Without a login: everything."""
    search: str | None
    fragment: str | None


def _split_by_scheme(text: str) -> _SchemeParts:
    """Split a URL (3.1): after `//` the login up to the next "/"; then the url-path, without that "/".

    A fragment is removed first (Appendix; decision 1738-16).  "?" is a delimiter only in schemes that reserve it,
    http and wais (3.3, 3.9); in others it may be in a user name or a path (decision 1738-7).
    """
    url, sharp, fragment_text = unwrap(text).partition("#")
    fragment = fragment_text if sharp else None
    match = _SCHEME.match(url)
    if match is None:
        return _SchemeParts(None, None, url, None, fragment)
    scheme, after_scheme = match[1], url[match.end() :]
    kind = scheme.lower()
    searched = kind in _SCHEMES_WITH_SEARCH
    login = None if kind in _WITHOUT_LOGIN else _LOGIN[searched].match(after_scheme)
    if login is None:
        return _SchemeParts(scheme, None, after_scheme, None, fragment)
    path, search = after_scheme[login.end() :], None
    # A document of a WAIS database has a type and a path; only a database is searched.
    if searched and not (kind == "wais" and re.match("/[^/?]*/", path)):
        path, mark, search_text = path.partition("?")
        search = search_text if mark else None
    return _SchemeParts(scheme, login[1], path[1:] if path else None, search, fragment)


def _split(text: str) -> Parts:
    """Split by 2.1 and 3.1.  The path is the url-path: "the "/" between the host (or port) and the url-path is NOT
    part of" it.  Without a scheme there is only a path: "relative links are not described in this document" (2.3).

    >>> _split("http://h/p?a/b"), _split("ftp://u?x@h/").authority
    (Parts(scheme='http', authority='h', path='p', query='a/b', fragment=None), 'u?x@h')
    """
    parts = _split_by_scheme(text)
    return Parts(parts.scheme, parts.login, parts.path or "", parts.search, parts.fragment)


def _host(text: str) -> str | None:
    """The host of the login (3.1); "" or "localhost" in a file URL is the machine that interprets it (3.10)."""
    login = _split_by_scheme(text).login
    return None if login is None else split_login(login).host


# -- 3.2 to 3.11: the parts of each scheme

_FTP = re.compile(r"(?is)(.*?)(?:;type=([^/;]*))?")
_GOPHER = re.compile(r"(?s)(%[0-9A-Fa-f][0-9A-Fa-f]|.)(.*)")
# Schemes whose form in section 3 has a user and a password.
_SCHEMES_WITH_USER = ("ftp", "telnet")


def _ftp(read: _SchemeParts) -> dict[str, str | None]:
    """3.2.2: the type code is optional and case-insensitive (decision 1738-8)."""
    match = None if read.path is None else _FTP.fullmatch(read.path)
    return {"fpath": match and match[1], "ftptype": match and match[2]}


def _http(read: _SchemeParts) -> dict[str, str | None]:
    """3.3: everything after the first "?" is the searchpart (decision 1738-6)."""
    return {"hpath": read.path, "search": read.search}


def _gopher(read: _SchemeParts) -> dict[str, str | None]:
    """3.4.1: one character of type, then selector, search and Gopher+ string, separated by the first two %09."""
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
    """3.6: an article if it has an "@", otherwise a group, except that "*" is all groups."""
    text = read.path or ""
    article = text if "@" in text else None
    return {"grouppart": text, "group": text if article is None and text != "*" else None, "article": article}


def _nntp(read: _SchemeParts) -> dict[str, str | None]:
    """3.7: the article number may be omitted (decision 1738-9)."""
    group, slash, number = (read.path or "").partition("/")
    return {"group": None if read.path is None else group, "digits": number if slash else None}


def _telnet(read: _SchemeParts) -> dict[str, str | None]:
    """3.8: nothing may follow the final "/"; if a text does, it is shown."""
    return {"urlpath": read.path} if read.path else {}


def _wais(read: _SchemeParts) -> dict[str, str | None]:
    """3.9: a database, a search in it, or a document in it; its wpath is opaque."""
    if read.search is not None or read.path is None:
        return {"database": read.path, "search": read.search, "wtype": None, "wpath": None}
    database, *fields = read.path.split("/", 2)
    wtype, wpath = (*fields, None, None)[:2]
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
    """Return the scheme's parts (3).  Another scheme, and one of the ten without its required "//", has generic parts:
    after "//" those of the common syntax (decision 1738-10), otherwise the schemepart.

    A user name, a password or a port that the scheme does not allow is listed only if the text has it,
    and so is a fragment: it is not part of a URL (2.2).
    """
    scheme_parts = _split_by_scheme(text)
    if scheme_parts.scheme is None:
        url = unwrap(text).partition("#")[0]
        raise InvalidURI(url, _check(url, "genericurl", 1)[0])
    kind = scheme_parts.scheme.lower()
    parts: dict[str, str | None] = {"scheme": scheme_parts.scheme}
    if scheme_parts.login is not None:
        login = split_login(scheme_parts.login)  # its parts hold no ":", "@" and "/" (3.1)
        if kind in _SCHEMES_WITH_USER or kind not in _SCHEMES or login.user is not None:
            parts |= {"user": login.user, "password": login.password}
        parts["host"] = login.host
        if kind != "file" or login.port is not None:
            parts["port"] = login.port
    if scheme_parts.login is None and kind not in _WITHOUT_LOGIN:
        parts["schemepart"] = scheme_parts.path
    elif kind in _SCHEMES:
        parts |= _SCHEMES[kind](scheme_parts)
    else:
        parts["urlpath"] = scheme_parts.path
    return parts if scheme_parts.fragment is None else {**parts, "fragment": scheme_parts.fragment}


# -- Equivalence

_ESCAPE = re.compile("%[0-9A-Fa-f][0-9A-Fa-f]")


@cache
def _unescape_table() -> dict[str, str]:
    """2.2: "a URL has the same interpretation when an octet is represented by a character and when it encoded",
    except for reserved characters; unsafe ones "must always be encoded" (decision 1738-14)."""
    return {f"%{ord(char):02X}": char for char in grammar("rfc1738").charset("unreserved")}


_TYPE_CODE = re.compile("(?i);type=[aid]$")
_HOSTPORT = re.compile(r"(?s)((?:[^/@]*@)?)([^/:]*)(?::([0-9]+))?(.*)")


def _without_defaults(scheme: str, text: str) -> str:
    """Write optional parts in one way (3.2 to 3.11): no default port; "/" as the path of ftp, http and telnet; that
    without the type "1" in gopher; no "localhost" in file; ftp's type code in lower case (3.2.2, 5; 1738-8)."""
    match = _HOSTPORT.fullmatch(text, 2)
    if scheme in _WITHOUT_LOGIN or match is None:
        return text
    user, host, port, path = match.groups()
    if port is not None and port.lstrip("0") != str(PORTS.get(scheme)):
        host = f"{host}:{port}"
    if path == "" and scheme in ("ftp", "http", "gopher", "telnet"):
        path = "/"
    if scheme == "ftp":
        path = _TYPE_CODE.sub(lambda typed: typed[0].lower(), path)
    if path == "/1" and scheme == "gopher":
        path = "/"
    if scheme == "file" and host.lower() == "localhost":
        host = ""
    return f"//{user}{host}{path}"


def _normalize(text: str, rung: Rung, registry: Registry | None) -> str:
    """Normalize: schemes (2.1) and hexadecimal digits (2.2) are case-insensitive, and an escape of a character that is
    neither reserved nor unsafe means that character.  The document has no dot-segments, and does not fold hosts.

    The scheme rung also normalizes optional parts (3.2 to 3.11).  A fragment stays; it is not part of a URL.
    """
    url, sharp, fragment = unwrap(text).partition("#")
    if findings := _check(url, "url", 1):
        raise InvalidURI(url, findings[0])
    scheme, _, text_after_scheme = url.partition(":")
    if rung >= Rung.CASE:
        scheme, text_after_scheme = scheme.lower(), _ESCAPE.sub(lambda match: match[0].upper(), text_after_scheme)
    if rung >= Rung.PERCENT:
        text_after_scheme = _ESCAPE.sub(lambda match: _unescape_table().get(match[0], match[0]), text_after_scheme)
    if rung >= Rung.SCHEME and scheme in _SCHEMES:
        text_after_scheme = _without_defaults(scheme, text_after_scheme)
    return f"{scheme}:{text_after_scheme}{sharp}{fragment}"


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
        "Appendix (URLs in context)": "overthere.editions.rfc1738 (extract, unwrap)",
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
