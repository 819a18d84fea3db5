"""draft-fielding-uri-rfc2396bis-01, March 2003: URI; opaque parts, registries and servers, IPv6, the ladder."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from overthere import kernel
from overthere.editions.model import Edition
from overthere.editions.resolution_steps import (
    Excess,
    Lines,
    base_parts,
    equal_schemes,
    handle_excess,
    recompose_target,
    remove_segments,
)
from overthere.grammar.library import grammar
from overthere.ground.caches import bounded_cache
from overthere.ground.errors import CodingError, Finding, InvalidURI
from overthere.ground.late_imports import default_registry
from overthere.kernel.reference import Parts, guard_path, recompose, split, split_authority
from overthere.values import encoding
from overthere.values.derivation import check_rule, parts_of_any
from overthere.values.normalize import Rung
from overthere.values.resolve import Target

if TYPE_CHECKING:
    from overthere.schemes.registry import Registry

DOCUMENT = "draft-fielding-uri-rfc2396bis-01"


def _derives(rule: str, text: str) -> bool:
    return grammar("uri2003").automaton(rule).accepts(text)


def _check(text: str, rule: str, limit: int | None) -> list[Finding]:
    return check_rule(grammar("uri2003"), text, rule, DOCUMENT, limit, parts_of_any(split, _parts))


# -- 3: components


def opaque_part(text: str) -> str | None:
    """Return the opaque-part of an absolute URI, with or without a fragment; None if it has a hier-part (3).

    A "?" is part of an opaque part, which has no query, although Appendix B splits there (decision 03-15).

    >>> opaque_part("mailto:a?b"), opaque_part("x:/a?b"), opaque_part("x:?b"), opaque_part("x:?[b]")
    ('a?b', None, None, '?[b]')
    """
    parts = split(text)
    if parts.scheme is None or parts.authority is not None or parts.path.startswith("/"):
        return None
    opaque = recompose(parts._replace(scheme=None, fragment=None))
    # Both rules match "?b": the left-most one applies (4.3), unless only the other one matches.
    return None if opaque == "" or (opaque.startswith("?") and _derives("hier-part", opaque)) else opaque


class _Server(NamedTuple):
    """The parts of `<userinfo>@<host>:<port>` (3.2.2); an omitted host is None."""

    userinfo: str | None
    host: str | None
    port: str | None

    def __str__(self) -> str:
        prefix = "" if self.userinfo is None else f"{self.userinfo}@"
        suffix = "" if self.port is None else f":{self.port}"
        return f"{prefix}{self.host or ''}{suffix}"


def _server(authority: str | None) -> _Server | None:
    """Split an authority that is a server; None if it is a reg-name, which has no parts (3.2; 03-4)."""
    if authority is None or not _derives("server", authority):
        return None
    userinfo, host, port = split_authority(authority)
    return _Server(userinfo, host or None, port)


def host_kind(host: str) -> str:
    """Return the first of "IPv6reference", "IPv4address" and "hostname" that matches, otherwise "reg-name" (3.2.2).

    A hostname whose last label is a number is called "reg-name-like": "the rightmost domain label [...] will
    never start with a digit", although the rule allows it (decision 03-2).

    >>> host_kind("10.0.0.1"), host_kind("256.1.1.1"), host_kind("3com.com"), host_kind("a_b")
    ('IPv4address', 'reg-name-like', 'hostname', 'reg-name')
    """
    for rule in ("IPv6reference", "IPv4address", "hostname"):
        if _derives(rule, host):
            return "reg-name-like" if rule == "hostname" and host.rpartition(".")[2].isdigit() else rule
    return "reg-name"


def _parts(text: str) -> dict[str, str | None]:
    """Return the generic parts (3); the document does not define schemes."""
    parts = split(text)
    if parts.scheme is None:
        raise InvalidURI(text, _check(text, "absolute-URI", 1)[0])
    if (opaque := opaque_part(text)) is not None:
        return {"scheme": parts.scheme, "opaque-part": opaque, "fragment": parts.fragment}
    server = _server(parts.authority)
    userinfo, host, port = server or (None, None, None)
    return {
        "scheme": parts.scheme,
        "authority": parts.authority,
        "server": None if server is None else parts.authority,
        "userinfo": userinfo,
        "host": host,
        "port": port,
        "reg-name": parts.authority if server is None else None,
        "path": parts.path,
        "query": parts.query,
        "fragment": parts.fragment,
    }


def _host(text: str) -> str | None:
    """The host of a server (3.2.2), "" if it is omitted; None for a reg-name, which has no host (decision 03-4)."""
    server = _server(split(text).authority)
    return None if server is None else server.host or ""


# -- 6.2: the comparison ladder

_ESCAPE = re.compile("%[0-9A-Fa-f][0-9A-Fa-f]")
# 2.3: "ALPHA (%41-%5A and %61-%7A), DIGIT (%30-%39), underscore (%5F), or tilde (%7E)" (decision 03-1).
_UNESCAPED = {f"%{b:02X}": chr(b) for b in range(128) if chr(b).isalnum() or chr(b) in "_~"}


def escape_normalization(text: str) -> str:
    """Write escapes with upper-case digits; unescape letters, digits, "_" and "~", no other mark (6.2.2.2, 2.3).

    >>> escape_normalization("%7e%7a%2d%2e%3a")
    '~z%2D%2E%3A'
    """
    return _ESCAPE.sub(lambda m: _UNESCAPED.get(m[0].upper(), m[0].upper()), text) if "%" in text else text


def _with_hostname(authority: str) -> str:
    """Lower the hostname (6.2.2.1), but not a reg-name, which belongs to the scheme (3.2.1), or an IPv6reference."""
    server = _server(authority)
    if server is None or server.host is None or not _derives("hostname", server.host):
        return authority
    return str(server._replace(host=server.host.lower()))


def _case(parts: Parts) -> Parts:
    """Lower scheme and hostname: "the scheme and hostname are case insensitive" (6.2.2.1)."""
    authority = parts.authority
    return parts._replace(
        scheme=parts.scheme and parts.scheme.lower(), authority=authority and _with_hostname(authority)
    )


def _escapes(parts: Parts) -> Parts:
    """Normalize escapes (6.2.2.2); a reg-name that becomes a hostname by this (`%41.com`) is lowered at once."""
    scheme, authority, path, query, fragment = parts
    if authority and "%" in authority:
        authority = _with_hostname(escape_normalization(authority))
    return Parts(
        scheme,
        authority,
        escape_normalization(path),
        query and escape_normalization(query),
        fragment and escape_normalization(fragment),
    )


def _segments(parts: Parts) -> Parts:
    """Remove "." and ".." from the abs-path of an absolute URI, not from a reference or an opaque part (6.2.2.3).

    The document resolves the text after the first "/" as a relative reference; as this could look like a URI or
    a net-path, merge's steps 3 to 6 are used directly (decision 03-11).  ".." above the root stays (03-8).
    """
    if parts.scheme is None or not parts.path.startswith("/") or "/." not in parts.path:
        return parts
    return guard_path(parts._replace(path=remove_segments(parts.path)))


def _scheme_rules(parts: Parts, registry: Registry) -> Parts:
    """Remove the scheme's default port (6.2.3), or an empty one, which means the same; only of a server (3.2.2)."""
    server = _server(parts.authority)
    if parts.scheme is None or server is None or server.port is None:
        return parts
    facts = registry.get(parts.scheme)
    default = None if facts is None else facts.port
    if default is None or (server.port and server.port.lstrip("0") != str(default)):
        return parts
    return parts._replace(authority=str(server._replace(port=None)))


_STEPS = (_case, _escapes, _segments)


def _normalize(text: str, rung: Rung, registry: Registry | None) -> str:
    """Normalize up to a rung (6.2); PROTOCOL (6.2.4) would need the result of an access, so it is SCHEME here."""
    if findings := _check(text, "URI-reference", 1):
        raise InvalidURI(text, findings[0])
    parts = split(text)
    for step in _STEPS[:rung]:
        parts = step(parts)
    if rung >= Rung.SCHEME:
        parts = _scheme_rules(parts, default_registry() if registry is None else registry)
    return recompose(parts)


# -- 5.2: resolution


def resolve(
    base: str, reference: str, strict: bool = True, *, excess: Excess = "keep", lines: Lines | None = None
) -> Target:
    """Resolve by 5.2, line by line; `strict` is its "validating"; schemes are case-insensitive (decision 03-9).

    excess: the handling of ".." above the root, out of the three of merge, step 7 (decision 03-8).
    lines: records the steps.

    Raises: NoBase if the base has no scheme; Unreachable with `excess="refuse"`.

    >>> resolve("http://a", "g").uri, resolve("x:", "g").uri, resolve("http://a/b/c/d;p?q", "?y").uri
    ('http://a/g', 'x:/g', 'http://a/b/c/d;p?y')
    """
    steps, at = Lines() if lines is None else lines, "5.2"
    base_uri, ref = base_parts(base, DOCUMENT), split(reference)
    if not strict and equal_schemes(ref, base_uri):
        ref = ref._replace(scheme=None)
    if steps.add_condition(at, "defined(R.scheme)", ref.scheme is not None):
        return recompose_target(at, ref, steps)
    steps.add(at, "T.scheme = Base.scheme", base_uri.scheme)
    if steps.add_condition(at, "defined(R.authority)", ref.authority is not None):
        return recompose_target(at, ref._replace(scheme=base_uri.scheme), steps)
    path = ref.path
    if steps.add_condition(at, 'R.path == ""', path == ""):
        if not steps.add_condition(at, "defined(R.query)", ref.query is not None):
            return Target(None, ref.fragment, True)
        path = base_uri.path
        steps.add(at, "T.path = Base.path", path)
    elif not steps.add_condition(at, 'R.path starts-with "/"', path.startswith("/")):
        path = _merge(base_uri.path, path, excess, steps)
        steps.add(at, "T.path = merge(Base.path, R.path)", path)
    steps.add(at, "T.authority = Base.authority", base_uri.authority)
    return recompose_target(at, Parts(base_uri.scheme, base_uri.authority, path, ref.query, ref.fragment), steps)


def _merge(base_path: str, path: str, excess: Excess, steps: Lines) -> str:
    """Merge paths by steps 1 to 8; step 1 gives "/" to a base without authority too (decision 03-10)."""
    buffer = base_path[: base_path.rfind("/") + 1] if base_path else "/"
    statement = "the base's path without its last segment" if base_path else 'the base\'s path is empty: "/"'
    steps.add_buffer("5.2 merge 1", statement, buffer)
    buffer += path
    steps.add_buffer("5.2 merge 2", "the reference's path is appended", buffer)
    buffer = remove_segments(buffer, steps, ("5.2 merge 3", "5.2 merge 4", "5.2 merge 5", "5.2 merge 6"))
    if excess == "keep" and buffer.removeprefix("/").startswith("../"):
        steps.add("5.2 merge 7", 'the buffer still begins with "..", which is kept', buffer)
    return handle_excess(buffer, excess)


# -- 2: characters and escapes

# Component -> its rule, and the characters that it reserves, which are escaped in data (2.2).
_DATA = {
    "userinfo": ("userinfo", ";:@?/[]"),  # 3.2
    "reg-name": ("reg-name", ";:@?/[]"),  # 3.2
    "path": ("abs-path", ";=?"),  # 3.3; its slashes delimit segments
    "segment": ("segment", "/;=?"),  # 3.3
    "rel-segment": ("rel-segment", "/;=?"),  # 3.3, and no ":" (5)
    "pchar": ("pchar", "/;=?"),  # 3.3
    "query": ("query", ";/?:@&=+,$"),  # 3.4
    "fragment": ("fragment", ""),  # 4.1 reserves none
    "opaque-part": ("uric-no-slash", "[];?:@&=+$,"),  # only the scheme knows which are not reserved there (2.4.2)
    "unreserved": ("unreserved", ""),
}


@bounded_cache(16)
def _safe_characters(component: str) -> str:
    if component not in _DATA:
        raise CodingError(f"{component!r} cannot hold data; use one of {', '.join(_DATA)} ({DOCUMENT} 2.4.2)")
    rule, reserved = _DATA[component]
    allowed = grammar("uri2003").charset("pchar" if rule == "abs-path" else rule)
    return "".join(sorted((allowed | ({"/"} if rule == "abs-path" else set())) - set(reserved)))


def _encode(data: str | bytes, component: str) -> str:
    """Escape every byte that the component does not allow or reserves (2.4); text is encoded as UTF-8 (6.3)."""
    safe = _safe_characters(component)
    data_bytes = data if isinstance(data, bytes) else encoding.decode_bytes(encoding.encode(data))  # rejects surrogates
    return kernel.percent_encode(data_bytes, safe)


EDITION = Edition(
    name="uri-2003",
    title="Uniform Resource Identifier (URI): Generic Syntax",
    date="March 2003",
    document=DOCUMENT,
    # 3 and 4: "the URI" is absolute and without a fragment; everything else is a URI-reference.
    top="absolute-URI",
    class_rules=("reserved", "unreserved", "mark", "excluded", "delims", "unwise", "uric", "uric-no-slash", "pchar"),
    sections={
        "2 to 5 (the grammar; Appendix A is empty)": "overthere/editions/uri2003.abnf",
        "2.1, 2.4, 6.3 (charset, escapes)": "overthere.editions.uri2003 (encode, decode)",
        "3 (components)": "overthere.editions.uri2003 (parts)",
        "4.2, 5.2, Appendix C (current document, resolution)": "overthere.editions.uri2003 (resolve)",
        "4.3, Appendix B (the expression)": "overthere.kernel.reference.split",
        "5.1 (establishing a base)": "overthere.base",
        "6.2 (the comparison ladder)": "overthere.editions.uri2003 (normalize)",
        "Appendix E (delimiting URI in context)": "overthere.editions.context1997.delimited",
    },
    read_grammar=lambda: grammar("uri2003"),
    check_text=_check,
    split_text=split,
    resolve_text=resolve,
    normalize_text=_normalize,
    encode_data=_encode,
    decode_text=encoding.decode,
    parts_of=_parts,
    host_of=_host,
    charset="undefined",  # 2.1; where 6.3 lets a producer choose, UTF-8
    ports={"http": 80},  # 6.2.3
    empty_reference="the current document",  # 4.2, 5.2
)
