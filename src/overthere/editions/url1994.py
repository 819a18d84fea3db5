"""draft-ietf-uri-url-03, T. Berners-Lee, 21 March 1994: Uniform Resource Locators, with the prefix "URL:".

`check` follows the BNF exactly.  `split`, `parts` and `host_of` follow the prose, which is newer:
the prefix is optional, schemes are case-insensitive, the last "@" ends the login.  Numbers such as 94-10
are those of docs/decisions.md.  The document does not number its sections; they are cited by their headings.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from overthere.editions.model import Edition
from overthere.grammar.library import grammar
from overthere.ground.display import name_of
from overthere.ground.errors import KINDS, CodingError, Finding, InvalidURI, NotSpecified
from overthere.ground.redact import hides_secrets
from overthere.kernel import percent_decode, percent_encode
from overthere.kernel.reference import BROKEN_ESCAPE, Parts
from overthere.values.normalize import Rung

if TYPE_CHECKING:
    from collections.abc import Callable

    from overthere.schemes.registry import Registry
    from overthere.values.resolve import Target

DOCUMENT = "draft-ietf-uri-url-03"
_RESOLUTION = "RFC 1630 (partial forms)"

_PREFIX = re.compile("url:", re.IGNORECASE)
_SCHEME = re.compile("([A-Za-z][A-Za-z0-9+.-]*):")
_ESCAPE = re.compile("%([0-9A-Fa-f]{2})")
_FTPTYPE = re.compile("(?s)(.*);type=([^;/]*)")
_FTPTYPE_BNF = re.compile("(?s)(.*)!([AID])")
_GTYPE = re.compile("(?s)%(?!09)[0-9A-Fa-f]{2}|(?!%09).")
_VERSION = re.compile("[0-9]*")

# Only these schemes have a search part (BNF: httpaddress, gopheraddress, waisindex).
_SCHEMES_WITH_SEARCH = ("http", "gopher", "wais")


def _check(text: str, rule: str, limit: int | None) -> list[Finding]:
    from overthere.values.derivation import check_rule, parts_of_any

    if limit != 0 and rule == EDITION.top and not _PREFIX.match(text) and _SCHEME.match(text):
        # PrePrefix: the missing prefix is reported, and the URL is read without it.
        expected = grammar("url1994").describe(grammar("url1994").automaton(rule).expected(""))
        message = KINDS["not-derivable"].message.format(it=name_of(text[:1]))
        first = Finding("not-derivable", 0, 1, "prefix", rule, expected, f"{DOCUMENT}, BNF", message)
        return [first, *_check(text, "url", None if limit is None else limit - 1)]
    return check_rule(grammar("url1994"), text, rule, f"{DOCUMENT}, BNF", limit, parts_of_any(_split, _parts))


# -- Reading: URL SYNTAX


def _split(text: str) -> Parts:
    """Split into scheme, the part after the double slash, path, search, fragment identifier (URL SYNTAX).

    The prefix is dropped (94-13), the text after "#" is removed first (94-20), the login ends at "/" or "?" (94-26).
    The path keeps the slash between the login and the path; `parts` removes it.
    """
    prefix = _PREFIX.match(text)
    text_left, hash_, fragment = text[prefix.end() if prefix else 0 :].partition("#")
    scheme_match = _SCHEME.match(text_left)
    scheme = scheme_match[1] if scheme_match else None
    text_left = text_left[scheme_match.end() if scheme_match else 0 :]
    authority = None
    if text_left.startswith("//"):
        end = min((at for at in (text_left.find("/", 2), text_left.find("?", 2)) if at >= 0), default=len(text_left))
        authority, text_left = text_left[2:end], text_left[end:]
    query = None
    kind = (scheme or "").lower()
    # 94-10: an encoded tab begins a gopher search; with it, a "?" belongs to the Gopher+ string.
    if kind in _SCHEMES_WITH_SEARCH and not (kind == "gopher" and "%09" in text_left):
        text_left, mark, search = text_left.partition("?")
        query = search if mark else None
    return Parts(scheme, authority, text_left, query, fragment if hash_ else None)


def is_scheme(text: str) -> bool:
    """Whether a text begins with a scheme and its colon."""
    return _SCHEME.match(text) is not None


@hides_secrets
class Login(NamedTuple):
    """The Internet protocol parts; None is undefined, which is not empty."""

    user: str | None = None
    password: str | None = None
    host: str | None = None
    port: str | None = None


def split_login(login: str) -> Login:
    """Split `<user>:<password>@<host>:<port>`; the last "@" ends the password (94-2).

    >>> split_login("foo:@host.com:80")[2:], split_login("host.com")
    (('host.com', '80'), Login(user=None, password=None, host='host.com', port=None))
    """
    userinfo, at, hostport = login.rpartition("@")
    user, mark, password = userinfo.partition(":")
    host, colon, port = hostport.partition(":")
    return Login(user if at else None, password if mark else None, host, port if colon else None)


def _login(authority: str | None) -> dict[str, str | None]:
    """Return the Internet protocol parts by name."""
    return (Login() if authority is None else split_login(authority))._asdict()


def _path_after_login(parts: Parts) -> str | None:
    """The path without the slash after the login; None if nothing follows the login."""
    if parts.authority is None:
        return parts.path
    return parts.path.removeprefix("/") if parts.path else None


def _scheme_specific(parts: Parts) -> str:
    """Everything after the scheme, for schemes that do not have the common syntax."""
    return parts.path if parts.authority is None else f"//{parts.authority}{parts.path}"


# -- Reading: Specific Schemes


def _common_parts(parts: Parts) -> dict[str, str | None]:
    """The parts of any scheme: Internet protocol parts, and "the rest of the locator is known as the path"."""
    return {**_login(parts.authority), "path": _path_after_login(parts)}


def _http(parts: Parts) -> dict[str, str | None]:
    """HTTP: the path, which the client does not understand, and the search part."""
    return {**_common_parts(parts), "search": parts.query}


def _ftp(parts: Parts) -> dict[str, str | None]:
    """FTP, Data type: a suffix, `;type=` by the prose, otherwise the `!A`, `!I`, `!D` of the BNF (94-4, 94-5)."""
    ftptype = None
    if match := _FTPTYPE.fullmatch(parts.path) or _FTPTYPE_BNF.fullmatch(parts.path):
        parts, ftptype = parts._replace(path=match[1]), match[2]
    elif not parts.path and (match := _FTPTYPE.fullmatch(parts.authority or "")):
        # 94-6: the slash may be missing; then the type follows the login.
        parts, ftptype = parts._replace(authority=match[1]), match[2]
    return {**_common_parts(parts), "ftptype": ftptype}


def _gopher(parts: Parts) -> dict[str, str | None]:
    """GOPHER: type, selector, and after encoded tabs the search and the Gopher+ string (94-10, 94-11).

    The Gopher+ string is everything after that, because a filled-out form has tabs too.
    """
    path = _path_after_login(parts)
    login = _login(parts.authority)
    if not path:
        return {**login, "gtype": None, "selector": None, "search": parts.query, "gopher+_string": None}
    type_match = _GTYPE.match(path)
    fields: list[str | None] = [*path[type_match.end() if type_match else 0 :].split("%09", 2)]
    selector, search, gopher_plus = [*fields, None, None][:3]
    if parts.query is not None:
        search = parts.query
    return {
        **login,
        "gtype": type_match[0] if type_match else None,
        "selector": selector,
        "search": search,
        "gopher+_string": gopher_plus,
    }


def _mail(parts: Parts) -> dict[str, str | None]:
    """MAILTO: "an RFC822 addr-spec mail address"; BNF midaddress (94-16)."""
    return {"addr-spec": _scheme_specific(parts)}


def _cid(parts: Parts) -> dict[str, str | None]:
    """BNF cidaddress (94-16)."""
    return {"content-identifier": _scheme_specific(parts)}


def _news(parts: Parts) -> dict[str, str | None]:
    """NEWS: an article has an "@", a group does not; "*" is neither."""
    text = _scheme_specific(parts)
    article = "@" in text
    return {"groupart": text, "group": None if article or text == "*" else text, "article": text if article else None}


def _nntp(parts: Parts) -> dict[str, str | None]:
    """NNTP: server, group and number by the prose; without a server, the local one (BNF; 94-9)."""
    group, slash, digits = (_path_after_login(parts) or "").partition("/")
    return {**_login(parts.authority), "group": group, "digits": digits if slash else None}


def _prospero(parts: Parts) -> dict[str, str | None]:
    """PROSPERO: the version follows "%00"; it is the longest run of digits; attributes follow it (94-18)."""
    hsoname, version, attributes = _path_after_login(parts), None, None
    if hsoname is not None:
        hsoname, null, tail = hsoname.partition("%00")
        if null:
            digits = _VERSION.match(tail)
            version = digits[0] if digits else ""
            attributes = tail[len(version) :] or None
    return {**_login(parts.authority), "hsoname": hsoname, "version": version, "attributes": attributes}


def _wais(parts: Parts) -> dict[str, str | None]:
    """WAIS: database, and either a search or the type and the encoded fields of the identifier (`wpath_fields`)."""
    path = _path_after_login(parts)
    pieces: list[str | None] = [] if path is None else [*path.split("/", 2)]
    database, wtype, wpath = [*pieces, None, None, None][:3]
    return {**_login(parts.authority), "database": database, "wtype": wtype, "wpath": wpath, "search": parts.query}


def _afs(parts: Parts) -> dict[str, str | None]:
    """BNF afsaddress, "left in as historical note"."""
    return {"cellname": parts.authority, "path": _path_after_login(parts)}


_SCHEMES: dict[str, Callable[[Parts], dict[str, str | None]]] = {
    "http": _http,
    "ftp": _ftp,
    "afs": _afs,
    "news": _news,
    "nntp": _nntp,
    "mid": _mail,
    "cid": _cid,
    "mailto": _mail,
    "wais": _wais,
    "prospero": _prospero,
    "telnet": _common_parts,
    "rlogin": _common_parts,
    "tn3270": _common_parts,
    "gopher": _gopher,
}


def _parts(text: str) -> dict[str, str | None]:
    """Return the parts by the BNF's names; "gopher+_string" is the name in GOPHER, Overall summary."""
    parts = _split(text)
    if parts.scheme is None:
        raise _refusal(text, "scheme-missing", 0, 0, "scheme", "Scheme")
    # 94-22: schemes are case-insensitive.
    read = _SCHEMES.get(parts.scheme.lower(), _common_parts)
    return {"scheme": parts.scheme, **read(parts), "fragmentid": parts.fragment}


def _host(text: str) -> str | None:
    """The host after the double slash; mail, news and AFS URLs have no host that a client would contact."""
    return None if _split(text).scheme is None else _parts(text).get("host")


def wpath_fields(wpath: str) -> list[tuple[str, str]]:
    """Return the fields of a WAIS identifier in order: field number, contents as written (94-19).

    >>> wpath_fields("1=host%3A210;9=a/b;")
    [('1', 'host%3A210'), ('9', 'a/b')]
    """
    fields = wpath.removesuffix(";").split(";") if wpath else []
    return [(number, contents) for number, _, contents in (field.partition("=") for field in fields)]


def _refusal(text: str, kind: str, start: int, end: int, rule: str, section: str) -> InvalidURI:
    row = KINDS[kind]
    message = row.message.format(it=repr(text[start:end]))
    return InvalidURI(text, Finding(kind, start, end, row.component, rule, "", f"{DOCUMENT}, {section}", message))


# -- ENCODING PROHIBITED CHARACTERS: escapes are ISO Latin 1

_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
# Characters of `safe` and `extra` that are nowhere delimiters, without space and double quote, always escaped (94-1).
_NEVER_DELIMITERS = _LETTERS + "$-_.&'(),"
_XALPHAS = _NEVER_DELIMITERS + "@+"
_UNESCAPED = {
    "xalphas": _XALPHAS,
    "segment": _XALPHAS,
    "path": _XALPHAS + "/",
    "selector": _XALPHAS + "/",
    "hsoname": _XALPHAS + "/",
    "database": _XALPHAS,
    "wtype": _XALPHAS,
    "article": _XALPHAS,
    "fragmentid": _XALPHAS,
    "search": _NEVER_DELIMITERS + "@",  # "+" joins words
    "user": _NEVER_DELIMITERS + "+",  # "@" ends the login
    "password": _NEVER_DELIMITERS + "+",
    "group": _NEVER_DELIMITERS + "+",  # "@" would make it an article
    "gopher+_string": _XALPHAS + "/!",  # as GOPHER prints it
}


def _encode(data: str | bytes, component: str) -> str:
    """Escape data: "two hexadecimal digits giving the ISO Latin 1 code for that character"."""
    if component not in _UNESCAPED:
        raise CodingError(f"{component!r} cannot hold data; use one of {', '.join(_UNESCAPED)} ({DOCUMENT})")
    if isinstance(data, str):
        data = latin1(data)
    elif not isinstance(data, bytes):
        raise TypeError(f"encode() takes text or bytes, not {type(data).__name__}")
    text = percent_encode(data, _UNESCAPED[component])
    return _INVALID_SLASH.sub("%2F", text) if component in _PATHS else text


_PATHS = ("path", "selector", "hsoname")
_INVALID_SLASH = re.compile("(?<![^/])/")
"""A slash that the rule `path` does not allow: at the beginning, or after a slash (94-27)."""


def _decode(text: str) -> str:
    """Decode escapes, always to characters of ISO Latin 1 (94-24)."""
    data = latin1(text)
    if broken := BROKEN_ESCAPE.search(text):
        raise CodingError(f'two hexadecimal digits must follow the "%" at {broken.start()} ({DOCUMENT})')
    return percent_decode(data).decode("latin-1")


def latin1(text: str) -> bytes:
    """Encode a text.  Raises: CodingError for a character outside ISO Latin 1."""
    try:
        return text.encode("latin-1")
    except UnicodeEncodeError as error:
        name = f"U+{ord(text[error.start]):04X}"
        raise CodingError(f"{name} at {error.start} is not in ISO Latin 1 ({DOCUMENT}, Encoding)") from None


# -- Normal form


def _normalize(text: str, rung: Rung, registry: Registry | None) -> str:
    """Normalize as far as the document implies it; it does not define equivalence.

    CASE: prefix, scheme and hexadecimal digits as it prints them ("URL:", lower case, 0-9 A-F; 94-13, 94-22, 94-23).
    PERCENT: "% signs can be selectively and reversibly expanded" if the character is allowed and not a delimiter.
    Hosts are not folded; ports are not dropped, because no default is stated; dot-segments are not removed.
    """
    _parts(text)
    if broken := BROKEN_ESCAPE.search(text):
        raise _refusal(text, "pct-encoded", broken.start(), broken.start() + 1, "escape", "Encoding")
    if rung < Rung.CASE:
        return text
    text = _ESCAPE.sub(lambda m: m[0].upper(), text)
    prefix = _PREFIX.match(text)
    start = prefix.end() if prefix else 0
    colon = text.index(":", start)
    text = text[:start].upper() + text[start:colon].lower() + text[colon:]
    if rung < Rung.PERCENT:
        return text
    expanded = _ESCAPE.sub(lambda m: c if (c := chr(int(m[1], 16))) in _NEVER_DELIMITERS else m[0], text)
    return expanded if reading_of(expanded) == reading_of(text) else text


def reading_of(text: str) -> dict[str, str | None]:
    """Return the parts with expanded escapes, which must not change (`ftp://h/a!%49` has no type, `a!I` has)."""
    return {name: part and _ESCAPE.sub(lambda m: chr(int(m[1], 16)), part) for name, part in _parts(text).items()}


def _resolve(base: str, reference: str, strict: bool) -> Target:
    raise NotSpecified(f"{DOCUMENT} leaves this to {_RESOLUTION}")


EDITION = Edition(
    name="url-1994",
    title="Uniform Resource Locators (URL)",
    date="March 1994",
    document=DOCUMENT,
    top="prefixedurl",
    class_rules=(
        *("alpha", "digit", "safe", "extra", "reserved", "national", "punctuation"),
        *("hex", "alphanum", "xalpha", "xpalpha"),
    ),
    sections={
        "URL syntax (PrePrefix, Scheme, Internet protocol parts, Path)": "overthere.editions.url1994.EDITION.split",
        "Encoding prohibited characters": "overthere.editions.url1994.EDITION.encode, .decode, .normalize",
        "Specific schemes (FTP to WAIS)": "overthere.editions.url1994.EDITION.parts",
        "Gopher+ string": "overthere/editions/url1994.abnf, gopherplus-summary",
        "BNF for specific URL schemes": "overthere/editions/url1994.abnf",
        "Wrappers for URIs in plain text": "overthere.editions.context1994 (extract, unwrap, safer)",
    },
    read_grammar=lambda: grammar("url1994"),
    check_text=_check,
    split_text=_split,
    resolve_text=_resolve,
    normalize_text=_normalize,
    encode_data=_encode,
    decode_text=_decode,
    parts_of=_parts,
    host_of=_host,
    charset="iso-8859-1",
    ports={},
    empty_reference="not specified",
    elsewhere={"resolve": _RESOLUTION},
)
