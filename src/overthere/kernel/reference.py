"""RFC 3986 in Python: each algorithm of the document is a function with the document's name.

This kernel runs everywhere, and is the oracle for tests of the native one.  The character classes come
from the grammar (`classes.py`, generated); every loop is linear in the text.
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, Literal, NamedTuple

from overthere.ground.errors import GrammarError
from overthere.ground.redact import mask, masked_repr
from overthere.kernel.classes import CHARSETS, IPRIVATE, PATTERNS, UCSCHAR

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    Step = tuple[str, Callable[["Parts"], "Parts"]]

name = "reference"

Form = Literal["uri", "network-path", "absolute-path", "relative-path", "same-document"]

# The groups of the expressions that `parse` matches.
GROUPS = {"scheme": 1, "authority": 2, "userinfo": 3, "host": 4, "port": 5, "path": 6, "query": 7, "fragment": 8}

SIX = ("scheme", "host", "port", "path", "query", "fragment")
"""The components that are returned unless the caller names some."""


class Parts(NamedTuple):
    """The five components (RFC 3986 3); None is undefined, which is not empty."""

    scheme: str | None
    authority: str | None
    path: str
    query: str | None
    fragment: str | None

    def __repr__(self) -> str:
        # In RFC 1738 the slash before a path is not part of the path.
        slash = "/" if self.authority is not None and self.path[:1] not in ("", "/") else ""
        text = recompose(self._replace(path=slash + self.path))
        if (masked := mask(text)) == text:
            return masked_repr(self)
        masked_parts = split(masked)
        return masked_repr(masked_parts._replace(path=masked_parts.path.removeprefix(slash)))


# -- Appendix B: parsing a URI reference with a regular expression

APPENDIX_B = re.compile(r"(?s)(?:([^:/?#]+):)?(?://([^/?#]*))?([^?#]*)(?:\?([^#]*))?(?:#(.*))?")


def split(text: str) -> Parts:
    """Split any text into the five components (Appendix B), unchecked.

    >>> split("http://www.ics.uci.edu/pub/ietf/uri/#Related")
    Parts(scheme='http', authority='www.ics.uci.edu', path='/pub/ietf/uri/', query=None, fragment='Related')
    """
    match = APPENDIX_B.fullmatch(text)
    assert match is not None  # the expression matches everything
    return Parts(*match.groups())


def split_authority(authority: str) -> tuple[str | None, str, str | None]:
    """Return userinfo, host and port of an authority (3.2); a second "@" belongs to the userinfo (decision 3986-10)."""
    userinfo, at, host_port = authority.rpartition("@")
    host, bracket, port_part = host_port.rpartition("]")
    tail, colon, port = port_part.partition(":")
    return userinfo if at else None, host + bracket + tail, port if colon else None


# -- The grammar of Appendix A as expressions over its own character classes.  "%" is in every class
# that allows pct-encoded; the two characters after it are checked once, afterwards.


def _character_class(rule: str, extra: str = "") -> str:
    return f"[{re.escape(CHARSETS[rule])}{extra}%]"


def class_ranges(ranges: tuple[tuple[int, int], ...]) -> str:
    """Write ranges of code points as the inside of a character class."""
    return "".join(f"{chr(a)}-{chr(b)}" for a, b in ranges)


@cache
def expression(rule: str) -> re.Pattern[str]:
    """Return the expression for URI, URI-reference, IRI or IRI-reference (4.1; RFC 3987 2.2)."""
    if rule not in ("URI", "URI-reference", "IRI", "IRI-reference"):
        raise GrammarError(f"the kernel reads URI, URI-reference, IRI and IRI-reference, not {rule!r:.100}")
    ucschar = class_ranges(UCSCHAR) if rule.startswith("IRI") else ""
    iprivate = class_ranges(IPRIVATE) if rule.startswith("IRI") else ""
    scheme = f"(?:([{CHARSETS['ALPHA']}][{re.escape(CHARSETS['scheme'])}]*+):)"
    if rule.endswith("-reference"):
        # Without a scheme, the first segment of a path has no colon (4.2, path-noscheme).
        scheme += "?+(?(1)|(?![^:/?#]*+:))"
    userinfo, reg_name = _character_class("userinfo", ucschar), _character_class("reg-name", ucschar)
    return re.compile(
        rf"{scheme}"
        rf"(?://((?:({userinfo}*+)@)?(\[[^\[\]/?#@]*+\]|{reg_name}*+)(?::([0-9]*+))?)(?![^/?#])|(?!//))"
        rf"({_character_class('path', ucschar)}*+)"
        rf"(?:\?({_character_class('query', ucschar + iprivate)}*+))?"
        rf"(?:\#({_character_class('fragment', ucschar)}*+))?"
    )


@cache
def ip_literal(zone: bool = False) -> re.Pattern[str]:
    """Return the expression for IP-literal (3.2.2); with `zone`, also IPv6addrz of RFC 6874 2."""
    v6 = PATTERNS["IPv6address"]
    zone_id = rf"(?:%25(?:[{re.escape(CHARSETS['unreserved'])}]|%[0-9A-Fa-f][0-9A-Fa-f])++)?" if zone else ""
    return re.compile(rf"\[(?:{v6}{zone_id}|{PATTERNS['IPvFuture']})\]")


@cache
def ipv4_address() -> re.Pattern[str]:
    """Return the expression for IPv4address (3.2.2)."""
    return re.compile(PATTERNS["IPv4address"])


# RFC 3987 4.1: LRM, RLM, LRE, RLE, PDF, LRO and RLO are not part of an IRI, although ucschar holds them.
BIDI_CONTROLS = "\u200e\u200f\u202a-\u202e"
_BIDI = re.compile(f"[{BIDI_CONTROLS}]")

BROKEN_ESCAPE = re.compile(r"%(?![0-9A-Fa-f][0-9A-Fa-f])")


def parse(text: str, rule: str = "URI-reference", zone: bool = False) -> re.Match[str] | None:
    """Split and check in one step: return the match, whose `GROUPS` are the components; None if `rule` rejects it."""
    match = expression(rule).fullmatch(text)
    if match is None:
        return None
    if "%" in text and BROKEN_ESCAPE.search(text):
        return None
    # A bracket can only be in an IP-literal: no other class has `[`.
    if "[" in text and not ip_literal(zone).fullmatch(match[4]):
        return None
    if rule.startswith("IRI") and not text.isascii() and _BIDI.search(text):
        return None
    return match


def host_kind(host: str) -> str:
    """Return the first alternative of 3.2.2 that a valid host matches: its rule name, such as "IPv6address"."""
    if host.startswith("["):
        return "IPvFuture" if host[1] in "vV" else "IPv6address"
    return "IPv4address" if ipv4_address().fullmatch(host) else "reg-name"


# -- 5.2, 5.3: reference resolution


def form_of(parts: Parts) -> Form:
    """Return the kind of reference by its syntax (4.1, 4.2, 4.4).

    >>> form_of(split("//h/p")), form_of(split("?q")), form_of(split("#f"))
    ('network-path', 'relative-path', 'same-document')
    """
    if parts.scheme is not None:
        return "uri"
    if parts.authority is not None:
        return "network-path"
    if parts.path.startswith("/"):
        return "absolute-path"
    return "same-document" if parts.path == "" and parts.query is None else "relative-path"


def transform_references(base: Parts, ref: Parts, strict: bool = True) -> Parts:
    """Return the target's components, by 5.2.2 line by line.  Not strict: a scheme equal to the base's is ignored."""
    scheme = ref.scheme
    if not strict and scheme is not None and base.scheme is not None and scheme.lower() == base.scheme.lower():
        scheme = None
    if scheme is not None:
        return Parts(scheme, ref.authority, remove_dot_segments(ref.path), ref.query, ref.fragment)
    if ref.authority is not None:
        return Parts(base.scheme, ref.authority, remove_dot_segments(ref.path), ref.query, ref.fragment)
    if ref.path == "":
        query = base.query if ref.query is None else ref.query
        return Parts(base.scheme, base.authority, base.path, query, ref.fragment)
    path = ref.path if ref.path.startswith("/") else merge_paths(base, ref.path)
    return Parts(base.scheme, base.authority, remove_dot_segments(path), ref.query, ref.fragment)


def merge_paths(base: Parts, path: str) -> str:
    """Merge a relative path with the base's path (5.2.3).

    >>> merge_paths(split("http://a"), "g"), merge_paths(split("x:a/b"), "g")
    ('/g', 'a/g')
    """
    if base.authority is not None and base.path == "":
        return "/" + path
    return base.path[: base.path.rfind("/") + 1] + path


def remove_dot_segments(path: str) -> str:
    """Remove the dot-segments of a path (5.2.4); the steps A to E are those of the document.

    >>> remove_dot_segments("/a/b/c/./../../g"), remove_dot_segments("mid/content=5/../6")
    ('/a/g', 'mid/6')
    """
    if "/." not in path and not path.startswith("."):
        return path
    output: list[str] = []
    i, end = 0, len(path)
    # 2A, 2D: only before the first segment, for every later one begins with "/".
    while path.startswith(("../", "./"), i):
        i += 3 if path.startswith("../", i) else 2
    if path[i : i + 3] in (".", ".."):
        return ""
    while i < end:
        # 2E: the first segment with its initial "/" (if any), up to the next "/".
        j = path.find("/", i + 1)
        segment = path[i:] if j < 0 else path[i:j]
        i = end if j < 0 else j
        if segment == "/.":
            # 2B: "/./" and a final "/." are replaced by "/".
            if i == end:
                output.append("/")
        elif segment == "/..":
            # 2C: the same, and the last segment and its preceding "/" (if any) leave the output.
            if output:
                output.pop()
            if i == end:
                output.append("/")
        else:
            output.append(segment)
    return "".join(output)


def recompose(parts: Parts) -> str:
    """Join components to a text, by 5.3 line by line."""
    scheme, authority, path, query, fragment = parts
    result = ""
    if scheme is not None:
        result += scheme + ":"
    if authority is not None:
        result += "//" + authority
    result += path
    if query is not None:
        result += "?" + query
    if fragment is not None:
        result += "#" + fragment
    return result


def guard_path(parts: Parts) -> Parts:
    """Rewrite the path so that it is read back as a path; only this function does so (decision 3986-1).

    "//" at the start without an authority becomes "/.//"; a colon in the first segment without a scheme
    gets "./" before it.  Removing dot-segments (5.2.4) undoes both.

    >>> recompose(guard_path(Parts("foo", None, "//g", None, None)))
    'foo:/.//g'
    """
    if parts.authority is not None:
        return parts
    if parts.path.startswith("//"):
        return parts._replace(path="/." + parts.path)
    if parts.scheme is None and ":" in parts.path.partition("/")[0]:
        return parts._replace(path="./" + parts.path)
    return parts


def resolve(base: str, reference: str, strict: bool = True) -> str:
    """Resolve a reference (5.2, 5.3); both texts must be valid.  The base's fragment is ignored (5.1)."""
    return recompose(guard_path(transform_references(split(base), split(reference), strict)))


# -- 6.2: the comparison ladder

_ESCAPE = re.compile(r"%[0-9A-Fa-f][0-9A-Fa-f]")
_UNRESERVED = {f"%{ord(c):02X}": c for c in CHARSETS["unreserved"]}


def _upper_escapes(text: str) -> str:
    return _ESCAPE.sub(lambda m: m[0].upper(), text) if "%" in text else text


def _lower_host(host: str) -> str:
    address, percent, zone = host.partition("%25") if host.startswith("[") else (host, "", "")
    return _upper_escapes(address.lower()) + percent + zone  # a zone identifier keeps its case (RFC 6874 2)


def _with_host(authority: str, host: str) -> str:
    userinfo, _, port = split_authority(authority)
    return f"{'' if userinfo is None else userinfo + '@'}{host}{'' if port is None else ':' + port}"


def case_normalization(parts: Parts) -> Parts:
    """Write hexadecimal digits of escapes in upper case, scheme and host in lower case (6.2.2.1)."""
    scheme, authority, path, query, fragment = parts
    if authority is not None and ("%" in authority or not authority.islower()):
        authority = _upper_escapes(authority)
        authority = _with_host(authority, _lower_host(split_authority(authority)[1]))
    return Parts(
        scheme and scheme.lower(),
        authority,
        _upper_escapes(path),
        query and _upper_escapes(query),
        fragment and _upper_escapes(fragment),
    )


def _unescape(text: str) -> str:
    return _ESCAPE.sub(lambda m: _UNRESERVED.get(m[0].upper(), m[0]), text) if "%" in text else text


def percent_encoding_normalization(parts: Parts) -> Parts:
    """Decode escapes of unreserved characters (6.2.2.2), and lower letters that appear in the host by this."""
    scheme, authority, path, query, fragment = parts
    # Few texts have an escape in the authority: the others skip this work.
    if authority is not None and "%" in authority:
        if "[" not in authority:
            authority = _unescape(authority)
            authority = _with_host(authority, _lower_host(split_authority(authority)[1]))
        else:  # an escape in brackets belongs to a zone identifier, its "%25" to the syntax
            userinfo, at, host_port = authority.rpartition("@")
            authority = _unescape(userinfo) + at + host_port
    return Parts(scheme, authority, _unescape(path), query and _unescape(query), fragment and _unescape(fragment))


def path_segment_normalization(parts: Parts) -> Parts:
    """Remove dot-segments (6.2.2.3), but not from a relative-path reference, where they depend on the base."""
    if parts.scheme is None and parts.authority is None and not parts.path.startswith("/"):
        return parts
    path = remove_dot_segments(parts.path)
    return parts if path == parts.path else guard_path(parts._replace(path=path))


def _no_empty_port(parts: Parts) -> Parts:
    """Remove the colon of an empty port, for every scheme (6.2.3, 3.2.3)."""
    if parts.authority is not None and parts.authority.endswith(":"):
        userinfo, host, port = split_authority(parts.authority)
        if port == "":
            return parts._replace(authority=host if userinfo is None else f"{userinfo}@{host}")
    return parts


def _port_by_value(parts: Parts) -> Parts:
    """Remove leading zeros of the port, which is a number (3.2.3; decision 3986-8)."""
    if parts.authority is not None and ":0" in parts.authority:
        userinfo, host, port = split_authority(parts.authority)
        if port and (plain := port.lstrip("0") or "0") != port:
            return parts._replace(authority=f"{'' if userinfo is None else userinfo + '@'}{host}:{plain}")
    return parts


def scheme_steps(rules: Iterable[Step]) -> tuple[Step, ...]:
    """Return the steps of 6.2.3, each with the paragraph that allows it: a scheme's rules between the general ones.

    rules: the scheme's rules, as (paragraph, function from components to components).
    """
    return (("RFC 3986 6.2.3", _no_empty_port), *rules, ("RFC 3986 3.2.3", _port_by_value))


def scheme_based_normalization(parts: Parts, steps: Iterable[Step]) -> Parts:
    """Apply a scheme's `steps` (6.2.3; `scheme_steps`) to components that are normal by the generic rungs."""
    for _, apply in steps:
        parts = apply(parts)
    return parts


STEPS = (case_normalization, percent_encoding_normalization, path_segment_normalization)


def normalize(text: str, rung: int) -> str:
    """Normalize a valid text at a generic rung of the ladder: 0 nothing, 1 case, 2 percent, 3 path."""
    parts = before = split(text)
    for step in STEPS[:rung]:
        if step is not percent_encoding_normalization or "%" in text:
            parts = step(parts)
    return text if parts == before else recompose(parts)
