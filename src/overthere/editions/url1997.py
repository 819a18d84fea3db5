"""draft-fielding-url-syntax-05, 2 May 1997: one generic syntax for all URLs, between RFC 1738 with 1808 and RFC 2396.

Its top rule is absoluteURL: "the URL" is "only the absolute URL after the fragment identifier (if any) is removed and
after any relative URL is resolved" (3).  What stands in documents is a URL-reference.  Sections are cited by number;
the second 1.4 is called "Syntax Notation" (decision 97-17).
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from overthere.editions.model import Edition
from overthere.editions.resolution_steps import Lines, all_but_last, recompose_target, remove_segments
from overthere.grammar.library import grammar
from overthere.ground.errors import KINDS, CodingError, Finding, InvalidURI, NoBase
from overthere.ground.late_imports import default_registry
from overthere.ground.rung import Rung
from overthere.kernel import percent_decode, percent_encode
from overthere.kernel.reference import APPENDIX_B, BROKEN_ESCAPE, Parts, recompose
from overthere.values.resolve import Target

if TYPE_CHECKING:
    from overthere.schemes.registry import Registry

__all__ = ["EDITION", "Site", "resolve", "split", "split_site"]

NAME = "url-1997"
DOCUMENT = "draft-fielding-url-syntax-05"

_SCHEME = re.compile("[A-Za-z0-9+.-]+")
_ESCAPE = re.compile("%[0-9A-Fa-f][0-9A-Fa-f]")


class Site(NamedTuple):
    """The parts of a site (4.3.1); None is undefined, which is not empty."""

    user: str | None
    password: str | None
    host: str | None
    port: str | None


# -- 4.4, Appendix B: parsing


def split(text: str) -> Parts:
    """Appendix B; the component `authority` is the document's site.  Only the scheme is checked.

    The text before the first colon is a scheme if the rule allows it, otherwise it begins a path (97-6, 97-7).

    >>> split("//h?q").authority, split("x_y:z").path, split("+:z").scheme
    ('h', 'x_y:z', '+')
    """
    match = APPENDIX_B.fullmatch(text)
    assert match is not None  # the expression matches everything
    parts = Parts(*match.groups())
    if parts.scheme is None or _SCHEME.fullmatch(parts.scheme):
        return parts
    # Without a scheme name and slashes it is a relative-path reference (5): all up to "?" or "#" is its path.
    before, mark, _ = text.partition("#")
    path, question, query = before.partition("?")
    return Parts(None, None, path, query if question else None, parts.fragment if mark else None)


def split_site(site: str) -> Site:
    """4.3.1: `<user>:<password>@<host>:<port>`; an empty site has no host, and none of the others.

    No part may hold "@" or ":".  Where one does, the last "@" ends user and password, as in later editions, and the
    first ":" ends the user or the host: brackets mean nothing yet ("IPv6 ... not yet been determined").

    >>> split_site("foo:@host.com"), split_site("@host.com").user, split_site("host.com").user
    (Site(user='foo', password='', host='host.com', port=None), '', None)
    """
    if site == "":
        return Site(None, None, None, None)
    login, at, hostport = site.rpartition("@")
    user, one, password = login.partition(":")
    host, two, port = hostport.partition(":")
    return Site(user if at else None, password if one else None, host, port if two else None)


def _join_site(site: Site) -> str:
    user, password, host, port = site
    login = "" if user is None else user + ("" if password is None else ":" + password) + "@"
    return login + (host or "") + ("" if port is None else ":" + port)


def _parts(text: str) -> dict[str, str | None]:
    """4.3: the generic components of any scheme, and their subparts.

    A segment that has parameters is listed with them (4.3.2), numbered from 1: "segment[2]", "param[2][1]".
    """
    parts = split(text)
    if parts.scheme is None:
        kind = KINDS["scheme-missing"]
        raise InvalidURI(
            text, Finding("scheme-missing", 0, 0, "scheme", "absoluteURL", "", f"{DOCUMENT} 4.1", kind.message)
        )
    site = Site(None, None, None, None) if parts.authority is None else split_site(parts.authority)
    found: dict[str, str | None] = {"scheme": parts.scheme, "site": parts.authority, **site._asdict()}
    found["path"] = parts.path
    for i, segment in enumerate(parts.path.removeprefix("/").split("/"), 1):
        if ";" in segment:
            found[f"segment[{i}]"] = segment
            found |= {f"param[{i}][{j}]": param for j, param in enumerate(segment.split(";")[1:], 1)}
    found["query"] = parts.query
    found["fragment"] = parts.fragment
    return found


def _host(text: str) -> str | None:
    """4.3.1; none where the site is undefined or empty ("without any host (as in some file URLs)", F.3)."""
    site = split(text).authority
    return (split_site(site).host or None) if site is not None else None


def _named_parts(text: str) -> dict[str, str | None]:
    """The components of any text, of a reference too."""
    parts = split(text)
    if parts.scheme is not None:
        return _parts(text)
    site = {} if parts.authority is None else split_site(parts.authority)._asdict()
    return {"site": parts.authority, **site, "path": parts.path, "query": parts.query, "fragment": parts.fragment}


def _check(text: str, rule: str, limit: int | None) -> list[Finding]:
    from overthere.values.derivation import check_rule

    return check_rule(grammar("url1997"), text, rule, DOCUMENT, limit, _named_parts)


# -- 5.2: resolution


def resolve(
    base: str, reference: str, strict: bool = True, *, repair: bool = False, lines: Lines | None = None
) -> Target:
    """5.2, steps 1 to 7.  The site is `authority` in `Parts`.

    repair: a base with a site and no path counts as one with the path "/" in 6a (decision 97-1).
    lines: where the steps are recorded.

    Raises: NoBase if the base is not empty and has no scheme.

    >>> resolve("http://a", "g").uri, resolve("http://a", "g", repair=True).uri
    ('http://ag', 'http://a/g')
    """
    steps = Lines() if lines is None else lines
    own, ref = split(base), split(reference)  # 1
    if base != "" and own.scheme is None:
        raise NoBase(f"the base URL has no scheme ({DOCUMENT} 5.2)")
    empty = ref[:4] == (None, None, "", None)
    if steps.add_condition("5.2 2", "scheme, site, path and query are all undefined or empty", empty):
        return Target(None, ref.fragment, True)
    # 5.1.4: without a base all references are absolute
    if base == "" or steps.add_condition("5.2 3", "the reference has a scheme", ref.scheme is not None):
        return Target(reference, ref.fragment, False)
    steps.add("5.2 3", "the scheme is the base's", own.scheme)
    ref = ref._replace(scheme=own.scheme)
    if not steps.add_condition("5.2 4", "the reference has a site", ref.authority is not None):
        steps.add("5.2 4", "the site is the base's", own.authority)
        ref = ref._replace(authority=own.authority)
        if not steps.add_condition("5.2 5", 'the path begins with "/"', ref.path.startswith("/")):
            ref = _merge(own, ref, repair, steps)
    return recompose_target("5.2 7", ref, steps)


def _merge(base: Parts, ref: Parts, repair: bool, steps: Lines) -> Parts:
    buffer = all_but_last(base, repair)
    steps.add_buffer("5.2 6a", "the base's path without its last segment", buffer)
    buffer += ref.path
    steps.add_buffer("5.2 6b", "the reference's path is appended", buffer)
    if ref.query is not None:  # decision 97-2
        buffer += "?" + ref.query
        steps.add_buffer("5.2 6c", 'the query is appended with its "?", and is part of the path', buffer)
    buffer = remove_segments(buffer, steps, ("5.2 6d", "5.2 6e", "5.2 6f", "5.2 6g"))
    if buffer.removeprefix("/").startswith("../"):
        steps.add("5.2 6h", 'the buffer still begins with "..", which is kept', buffer)
    path, mark, query = buffer.partition("?")
    steps.add("5.2 6i", "the path", path)
    return ref._replace(path=path, query=query if mark else None)


# -- 2.3, 4.1, 6: normal form


def _upper(text: str) -> str:
    return _ESCAPE.sub(lambda m: m[0].upper(), text)


def _unescape(text: str) -> str:
    """2.3, 2.4.2: every unreserved character, for it can be escaped "without changing the semantics"."""
    plain = grammar("url1997").charset("unreserved")
    return _ESCAPE.sub(lambda m: c if (c := chr(int(m[0][1:], 16))) in plain else m[0], text)


def _case(parts: Parts) -> Parts:
    """Scheme (4.1) and host (6) in lower case; the digits of an escape name the same octet in both (2.4.1)."""
    site = parts.authority
    if site is not None:
        cut = split_site(_upper(site))
        site = _join_site(cut._replace(host=cut.host and cut.host.lower()))
    query = parts.query
    return Parts(parts.scheme and parts.scheme.lower(), site, _upper(parts.path), query and _upper(query), None)


def _percent(parts: Parts) -> Parts:
    """Unreserved characters unescaped, but where that would make another reference of a relative one (decision 97-21).

    In a relative-path reference a segment "." or ".." has a meaning (5), in its query too (5.2 step 6, decision 97-2),
    and a colon may end a scheme name.
    """
    scheme, site, path, query, _ = parts
    if scheme is None and site is None and not path.startswith("/"):
        path, query = _relative(path), query and _relative(query)
        if split(path).scheme is not None:
            first, slash, rest = parts.path.partition("/")
            path = first + slash + _relative(rest)
        return Parts(None, None, path, query, None)
    return Parts(scheme, site and _unescape(site), _unescape(path), query and _unescape(query), None)


def _relative(text: str) -> str:
    return "/".join(piece if (new := _unescape(piece)) in (".", "..") else new for piece in text.split("/"))


def _default_port(parts: Parts, registry: Registry) -> Parts:
    """6: "an explicit ":port", where the port is the default for the scheme" goes; an empty one stays."""
    if parts.scheme is None or not parts.authority:
        return parts
    site, facts = split_site(parts.authority), registry.get(parts.scheme)
    port = None if facts is None else facts.port
    if port is None or not site.port or site.port.lstrip("0") != str(port):
        return parts
    return parts._replace(authority=_join_site(site._replace(port=None)))


def _normalize(text: str, rung: Rung, registry: Registry | None) -> str:
    """2.3, 4.1 and 6, nothing more: dots stay, and the fragment, which is no part of the URL (3), is not touched."""
    if findings := _check(text, "URL-reference", 1):
        raise InvalidURI(text, findings[0])
    own = parts = split(text)
    for step, least in ((_case, Rung.CASE), (_percent, Rung.PERCENT)):
        if rung >= least:
            parts = step(parts)
    if rung >= Rung.SCHEME:
        parts = _default_port(parts, default_registry() if registry is None else registry)
    return recompose(parts._replace(fragment=own.fragment))


# -- 2.1, 2.2, 2.4: escapes

# Component -> the rule of its characters, and those that its section calls reserved within it (decision 97-14).
_DATA = {
    "user": ("user", ""),
    "password": ("password", ""),
    "path": ("pchar", ";=?"),
    "segment": ("pchar", "/;=?"),
    "param": ("pchar", "/;=?"),
    "query": ("urlc", "/&=+"),
    "fragment": ("urlc", ""),
    "unreserved": ("unreserved", ""),
}


@cache
def _safe(component: str) -> str:
    rule, reserved = _DATA[component]
    more = "/" if component == "path" else ""
    return "".join(sorted((grammar("url1997").charset(rule) | set(more)) - set(reserved)))


def _encode(data: str | bytes, component: str) -> str:
    """2.2, 2.4: what a component reserves, or cannot hold, is escaped; text is US-ASCII (2.1), octets are any."""
    if component not in _DATA:
        raise CodingError(f"{component!r} cannot hold data; use one of {', '.join(_DATA)} ({DOCUMENT} 2.4)")
    if isinstance(data, str):
        try:
            data = data.encode("ascii")
        except UnicodeEncodeError as error:
            shown = f"U+{ord(error.object[error.start]):04X}"
            raise CodingError(f"{shown} at {error.start} cannot be encoded: {_OUTSIDE}") from None
    return percent_encode(data, _safe(component))


_OUTSIDE = f"beyond US-ASCII the mapping is outside the scope of {DOCUMENT} (2.1)"


def _decode(text: str) -> str:
    """2.1, 2.4.1: escapes to octets, octets to US-ASCII; an octet above 7F is no character here."""
    if broken := BROKEN_ESCAPE.search(text):
        raise CodingError(f'two hexadecimal digits must follow the "%" at {broken.start()} ({DOCUMENT} 2.4.1)')
    try:
        octets = percent_decode(text.encode("ascii"))
    except UnicodeEncodeError as error:
        raise CodingError(
            f"U+{ord(text[error.start]):04X} at {error.start} is not valid in a URL: {_OUTSIDE}"
        ) from None
    try:
        return octets.decode("ascii")
    except UnicodeDecodeError as error:
        octet = octets[error.start]
        raise CodingError(f"the octet %{octet:02X} at {error.start} is not a character: {_OUTSIDE}") from None


EDITION = Edition(
    name=NAME,
    title="Uniform Resource Locators (URL): Generic Syntax and Semantics",
    date="2 May 1997",
    document=DOCUMENT,
    top="absoluteURL",
    class_rules=(
        *("reserved", "unreserved", "mark", "control", "space", "delims", "unwise"),
        *("urlc", "pchar", "hex", "alphanum", "alpha", "lowalpha", "upalpha", "digit"),
    ),
    sections={
        "1.4 (syntax notation), 2, 3, 4.1 to 4.3, Appendix A": "overthere/editions/url1997.abnf",
        "2.1, 2.2, 2.4 (characters and octets, when to escape)": "overthere.editions.url1997, encode and decode",
        "4.3 (components)": "overthere.editions.url1997, parts",
        "4.4, Appendix B (parsing a reference)": "overthere.editions.url1997.split",
        "3, 5.2, Appendix C (references, resolution)": "overthere.editions.url1997 (resolve)",
        "2.3, 4.1, 6 (normalization and equivalence)": "overthere.editions.url1997, normalize",
        "5.1, Appendix D (establishing a base URL)": "overthere.editions.context1997.base_url",
        "Appendix E (delimiting URLs in context)": "overthere.editions.context1997.delimited",
    },
    read_grammar=lambda: grammar("url1997"),
    check_text=_check,
    split_text=split,
    resolve_text=resolve,
    normalize_text=_normalize,
    encode_data=_encode,
    decode_text=_decode,
    parts_of=_parts,
    host_of=_host,
    charset="undefined",
    ports={},
    empty_reference="the current document",
)
