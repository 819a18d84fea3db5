"""draft-fielding-url-syntax-05, 2 May 1997: one generic syntax for all URLs, between RFC 1738 with 1808 and RFC 2396.

Its top rule is absoluteURL: "the URL" is "only the absolute URL after the fragment identifier (if any) is removed and
after any relative URL is resolved" (3).  Documents contain URL-references.  Sections are cited by number;
the second 1.4 is called "Syntax Notation" (decision 97-17).
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from overthere.editions.model import Edition
from overthere.editions.resolution_steps import Lines, all_but_last, recompose_target, remove_segments
from overthere.editions.url1994 import split_login
from overthere.grammar.library import grammar
from overthere.ground.errors import KINDS, CodingError, Finding, InvalidURI, NoBase
from overthere.ground.late_imports import default_registry
from overthere.ground.redact import hides_secrets
from overthere.ground.rung import Rung
from overthere.kernel import percent_decode, percent_encode
from overthere.kernel.reference import APPENDIX_B, BROKEN_ESCAPE, Parts, recompose
from overthere.values.resolve import Target

if TYPE_CHECKING:
    from overthere.schemes.registry import Registry

NAME = "url-1997"
DOCUMENT = "draft-fielding-url-syntax-05"

_SCHEME = re.compile("[A-Za-z0-9+.-]+")
_ESCAPE = re.compile("%[0-9A-Fa-f][0-9A-Fa-f]")


@hides_secrets
class Site(NamedTuple):
    """The parts of a site (4.3.1); None is undefined, which is not empty."""

    user: str | None
    password: str | None
    host: str | None
    port: str | None


# -- 4.4, Appendix B: parsing


def split(text: str) -> Parts:
    """Split by Appendix B; the component `authority` is the document's site.  Only the scheme is checked.

    The text before the first colon is a scheme if the rule allows it, otherwise it begins a path (97-6, 97-7).

    >>> split("//h?q").authority, split("x_y:z").path, split("+:z").scheme
    ('h', 'x_y:z', '+')
    """
    match = APPENDIX_B.fullmatch(text)
    assert match is not None  # the expression matches everything
    parts = Parts(*match.groups())
    if parts.scheme is None or _SCHEME.fullmatch(parts.scheme):
        return parts
    # Without a scheme name and slashes it is a relative-path reference (5): everything up to "?" or "#" is its path.
    without_fragment, mark, _ = text.partition("#")
    path, question, query = without_fragment.partition("?")
    return Parts(None, None, path, query if question else None, parts.fragment if mark else None)


def split_site(site: str) -> Site:
    """Split `<user>:<password>@<host>:<port>` (4.3.1); an empty site has no host and no other parts.

    No part may contain "@" or ":".  If one does, the last "@" ends user and password, as in later editions, and the
    first ":" ends the user or the host: brackets have no meaning yet ("IPv6 ... not yet been determined").

    >>> split_site("foo:@host.com"), split_site("@host.com").user, split_site("host.com").user
    (Site(user='foo', password='', host='host.com', port=None), '', None)
    """
    if site == "":
        return Site(None, None, None, None)
    return Site(*split_login(site))


def _join_site(site: Site) -> str:
    user, password, host, port = site
    login = "" if user is None else user + ("" if password is None else ":" + password) + "@"
    return login + (host or "") + ("" if port is None else ":" + port)


def _parts(text: str) -> dict[str, str | None]:
    """Return the generic components of any scheme, and their subparts (4.3).

    A segment with parameters is listed with them (4.3.2), numbered from 1: "segment[2]", "param[2][1]".
    """
    parts = split(text)
    if parts.scheme is None:
        kind = KINDS["scheme-missing"]
        raise InvalidURI(
            text, Finding("scheme-missing", 0, 0, "scheme", "absoluteURL", "", f"{DOCUMENT} 4.1", kind.message)
        )
    site = Site(None, None, None, None) if parts.authority is None else split_site(parts.authority)
    parts_by_name: dict[str, str | None] = {"scheme": parts.scheme, "site": parts.authority, **site._asdict()}
    parts_by_name["path"] = parts.path
    for i, segment in enumerate(parts.path.removeprefix("/").split("/"), 1):
        if ";" in segment:
            parts_by_name[f"segment[{i}]"] = segment
            parts_by_name |= {f"param[{i}][{j}]": param for j, param in enumerate(segment.split(";")[1:], 1)}
    parts_by_name["query"] = parts.query
    parts_by_name["fragment"] = parts.fragment
    return parts_by_name


def _host(text: str) -> str | None:
    """The host (4.3.1); None if the site is undefined or empty ("without any host (as in some file URLs)", F.3)."""
    site = split(text).authority
    return (split_site(site).host or None) if site is not None else None


def _named_parts(text: str) -> dict[str, str | None]:
    """Return the components of any text, including references."""
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
    """Resolve by 5.2, steps 1 to 7.  The site is `authority` in `Parts`.

    repair: treat a base with a site and no path as one with the path "/" in 6a (decision 97-1).
    lines: records the steps.

    Raises: NoBase if the base is not empty and has no scheme.

    >>> resolve("http://a", "g").uri, resolve("http://a", "g", repair=True).uri
    ('http://ag', 'http://a/g')
    """
    steps = Lines() if lines is None else lines
    base_url, ref = split(base), split(reference)  # 1
    if base != "" and base_url.scheme is None:
        raise NoBase(f"the base URL has no scheme ({DOCUMENT} 5.2)")
    empty = ref[:4] == (None, None, "", None)
    if steps.add_condition("5.2 2", "scheme, site, path and query are all undefined or empty", empty):
        return Target(None, ref.fragment, True)
    # 5.1.4: without a base all references are absolute
    if base == "" or steps.add_condition("5.2 3", "the reference has a scheme", ref.scheme is not None):
        return Target(reference, ref.fragment, False)
    steps.add("5.2 3", "the scheme is the base's", base_url.scheme)
    ref = ref._replace(scheme=base_url.scheme)
    if not steps.add_condition("5.2 4", "the reference has a site", ref.authority is not None):
        steps.add("5.2 4", "the site is the base's", base_url.authority)
        ref = ref._replace(authority=base_url.authority)
        if not steps.add_condition("5.2 5", 'the path begins with "/"', ref.path.startswith("/")):
            ref = _merge(base_url, ref, repair, steps)
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
    """Unescape unreserved characters, which can be escaped "without changing the semantics" (2.3, 2.4.2)."""
    plain = grammar("url1997").charset("unreserved")
    return _ESCAPE.sub(lambda m: c if (c := chr(int(m[0][1:], 16))) in plain else m[0], text)


def _case(parts: Parts) -> Parts:
    """Lower scheme (4.1) and host (6); write escapes with upper-case digits, which mean the same octet (2.4.1)."""
    site = parts.authority
    if site is not None:
        site_parts = split_site(_upper(site))
        site = _join_site(site_parts._replace(host=site_parts.host and site_parts.host.lower()))
    query = parts.query
    return Parts(parts.scheme and parts.scheme.lower(), site, _upper(parts.path), query and _upper(query), None)


def _percent(parts: Parts) -> Parts:
    """Unescape unreserved characters, unless that changes the meaning of a relative reference (decision 97-21).

    In a relative-path reference a segment "." or ".." has a meaning (5), also in its query (5.2 step 6, decision 97-2),
    and a colon may end a scheme name.
    """
    scheme, site, path, query, _ = parts
    if scheme is None and site is None and not path.startswith("/"):
        path, query = _unescape_relative(path), query and _unescape_relative(query)
        if split(path).scheme is not None:
            first, slash, other_segments = parts.path.partition("/")
            path = first + slash + _unescape_relative(other_segments)
        return Parts(None, None, path, query, None)
    return Parts(scheme, site and _unescape(site), _unescape(path), query and _unescape(query), None)


def _unescape_relative(text: str) -> str:
    return "/".join(piece if (unescaped := _unescape(piece)) in (".", "..") else unescaped for piece in text.split("/"))


def _default_port(parts: Parts, registry: Registry) -> Parts:
    """Remove "an explicit ":port", where the port is the default for the scheme" (6); an empty one stays."""
    if parts.scheme is None or not parts.authority:
        return parts
    site, facts = split_site(parts.authority), registry.get(parts.scheme)
    port = None if facts is None else facts.port
    if port is None or not site.port or site.port.lstrip("0") != str(port):
        return parts
    return parts._replace(authority=_join_site(site._replace(port=None)))


def _normalize(text: str, rung: Rung, registry: Registry | None) -> str:
    """Normalize only by 2.3, 4.1 and 6: dots stay, and so does the fragment, which is not part of the URL (3)."""
    if findings := _check(text, "URL-reference", 1):
        raise InvalidURI(text, findings[0])
    original = parts = split(text)
    for step, min_rung in ((_case, Rung.CASE), (_percent, Rung.PERCENT)):
        if rung >= min_rung:
            parts = step(parts)
    if rung >= Rung.SCHEME:
        parts = _default_port(parts, default_registry() if registry is None else registry)
    return recompose(parts._replace(fragment=original.fragment))


# -- 2.1, 2.2, 2.4: escapes

# Component -> the rule of its characters, and the characters that its section reserves (decision 97-14).
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
def _safe_characters(component: str) -> str:
    rule, reserved = _DATA[component]
    extra = "/" if component == "path" else ""
    return "".join(sorted((grammar("url1997").charset(rule) | set(extra)) - set(reserved)))


def _encode(data: str | bytes, component: str) -> str:
    """Escape the characters that a component reserves or forbids (2.2, 2.4); text is US-ASCII (2.1), bytes are any."""
    if component not in _DATA:
        raise CodingError(f"{component!r} cannot hold data; use one of {', '.join(_DATA)} ({DOCUMENT} 2.4)")
    if isinstance(data, str):
        try:
            data = data.encode("ascii")
        except UnicodeEncodeError as error:
            name = f"U+{ord(error.object[error.start]):04X}"
            raise CodingError(f"{name} at {error.start} cannot be encoded: {_OUTSIDE_ASCII}") from None
    return percent_encode(data, _safe_characters(component))


_OUTSIDE_ASCII = f"beyond US-ASCII the mapping is outside the scope of {DOCUMENT} (2.1)"


def _decode(text: str) -> str:
    """Decode escapes to US-ASCII (2.1, 2.4.1); an octet above 7F is not a character here."""
    if broken := BROKEN_ESCAPE.search(text):
        raise CodingError(f'two hexadecimal digits must follow the "%" at {broken.start()} ({DOCUMENT} 2.4.1)')
    try:
        data = percent_decode(text.encode("ascii"))
    except UnicodeEncodeError as error:
        raise CodingError(
            f"U+{ord(text[error.start]):04X} at {error.start} is not valid in a URL: {_OUTSIDE_ASCII}"
        ) from None
    try:
        return data.decode("ascii")
    except UnicodeDecodeError as error:
        byte = data[error.start]
        raise CodingError(f"the octet %{byte:02X} at {error.start} is not a character: {_OUTSIDE_ASCII}") from None


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
