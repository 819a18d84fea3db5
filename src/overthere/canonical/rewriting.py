"""The steps of canonical forms: rewrite hosts, paths, queries and escapes in linear time."""

from __future__ import annotations

import re
from ipaddress import AddressValueError, IPv4Address, IPv6Address, IPv6Network
from urllib.parse import quote, quote_plus

from overthere import kernel
from overthere.forms import Parameters
from overthere.ground.late_imports import default_registry
from overthere.ground.rung import Rung
from overthere.ground.unicode_forms import normalize_unicode
from overthere.kernel.reference import Parts, guard_path, recompose, split, split_authority
from overthere.values.encoding import decode_bytes
from overthere.values.hosts.address import literal
from overthere.values.hosts.idn import a_labels
from overthere.values.normalize import normal_form

__all__ = ["unescape_fully", "compose"]

_SUB = "!$&'()*+,;="
_PATH = "/:@" + _SUB
_QUERY = _PATH + "?"
_IN_PAIRS = _QUERY.replace("&", "").replace("=", "")
_HEX = {ord(c): int(c, 16) for c in "0123456789abcdefABCDEF"}
_RUN = re.compile("(?:%[0-9A-Fa-f]{2})+")
_WWW = re.compile(r"(?:www[0-9]*\.)+", re.IGNORECASE)
_PERCENT = 0x25
_NAT64 = IPv6Network("64:ff9b::/96")


def compose(parts: Parts) -> str:
    """The text of components, such that it is read back as these."""
    return recompose(guard_path(parts))


def unescape_fully(text: str | bytes) -> bytes:
    """Octets from which no escape can be taken any more.

    No two escapes overlap, so that their order says nothing: one pass over a stack gives what repeated passes give.

    >>> unescape_fully("%25%32%35"), unescape_fully("a%252541")
    (b'%', b'aA')
    """
    octets = text.encode() if isinstance(text, str) else text
    if b"%" not in octets:
        return octets
    stack = bytearray()
    for octet in octets:
        stack.append(octet)
        while len(stack) > 2 and stack[-3] == _PERCENT and stack[-2] in _HEX and stack[-1] in _HEX:
            stack[-3:] = bytes([_HEX[stack[-2]] * 16 + _HEX[stack[-1]]])
    return bytes(stack)


def _with_host(parts: Parts, change: object) -> Parts:
    if parts.authority is None:
        return parts
    user, host, port = split_authority(parts.authority)
    changed = change(host)  # type: ignore[operator]
    return parts if changed == host else _authority(parts, user, changed, port)


def _authority(parts: Parts, user: str | None, host: str, port: str | None) -> Parts:
    before = "" if user is None else user + "@"
    return parts._replace(authority=before + host + ("" if port is None else ":" + port))


def ladder(parts: Parts, rung: str) -> Parts:
    return split(normal_form(recompose(parts), Rung[rung]))


def remove_dots(parts: Parts) -> Parts:
    if not parts.path.startswith("/"):
        return parts
    return parts._replace(path=split(kernel.normalize(recompose(parts), Rung.PATH)).path)


def drop_fragment(parts: Parts) -> Parts:
    return parts if parts.fragment is None else parts._replace(fragment=None)


def drop_userinfo(parts: Parts, empty: bool = False) -> Parts:
    if parts.authority is None:
        return parts
    user, _, rest = parts.authority.rpartition("@")
    kept = rest == parts.authority or (empty and user not in ("", ":"))
    return parts if kept else parts._replace(authority=rest)


def drop_port(parts: Parts, only: str = "default") -> Parts:
    if parts.authority is None:
        return parts
    user, host, port = split_authority(parts.authority)
    if port is None:
        return parts
    if only == "web":
        if port.lstrip("0") != {"http": "80", "https": "443"}.get((parts.scheme or "").lower()):
            return parts
    elif only == "default" and port:
        known = default_registry().get(parts.scheme or "")
        if known is None or known.port is None or port.lstrip("0") != str(known.port):
            return parts
    elif only == "empty" and port:
        return parts
    return _authority(parts, user, host, None)


def drop_www(parts: Parts) -> Parts:
    """www., www1. and their like, as often as they stand in front."""

    def change(host: str) -> str:
        found = _WWW.match(host)
        if found is None:
            return host
        rest = host[found.end() :]
        # Two labels stay at least: the last of those that would go comes back.
        return rest if "." in rest else host[host.rfind(".", 0, found.end() - 1) + 1 :]

    return _with_host(parts, change)


def https(parts: Parts) -> Parts:
    if parts.scheme is None or parts.scheme.lower() != "http":
        return parts
    return drop_port(parts)._replace(scheme="https")


def lower_host(parts: Parts) -> Parts:
    return _with_host(parts, lambda host: _RUN.sub(lambda m: m[0].upper(), host.lower()))


def host_dots(parts: Parts) -> Parts:
    def change(host: str) -> str:
        return host if host.startswith("[") else re.sub(r"\.{2,}", ".", host).strip(".")

    return _with_host(parts, change)


def ipv4(parts: Parts) -> Parts:
    def change(host: str) -> str:
        found = None if host.startswith("[") else literal(host)
        return str(found) if isinstance(found, IPv4Address) else host

    return _with_host(parts, change)


def host_idna(parts: Parts) -> Parts:
    """A name in letters, in escapes or in A-labels is one name; what is none stays."""

    def change(host: str) -> str:
        try:
            return a_labels(host)
        except UnicodeError:
            return host

    return _with_host(parts, change)


def ipv6(parts: Parts, dotted: bool = False) -> Parts:
    def change(host: str) -> str:
        if not host.startswith("[") or "%" in host:
            return host
        try:
            address = IPv6Address(host[1:-1])
        except AddressValueError:
            return host
        if dotted and (address.ipv4_mapped is not None or address in _NAT64):
            return str(IPv4Address(address.packed[12:]))
        if address.ipv4_mapped is not None:  # RFC 5952 5: mixed notation where the prefix is known
            return f"[::ffff:{address.ipv4_mapped}]"
        return f"[{address}]"

    return _with_host(parts, change)


def collapse_slashes(parts: Parts) -> Parts:
    if "//" not in parts.path:
        return parts
    # "/." stands before "//" where no authority does (`guard_path`); with the second slash it goes.
    guarded = parts.authority is None and parts.path.startswith("/.//")
    return parts._replace(path=re.sub("/{2,}", "/", parts.path[2:] if guarded else parts.path))


def lower_path(parts: Parts) -> Parts:
    return parts._replace(path=_lower_escapes(parts.path))


def lower_query(parts: Parts) -> Parts:
    return parts if parts.query is None else parts._replace(query=_lower_escapes(parts.query))


def _lower_escapes(text: str) -> str:
    return _RUN.sub(lambda m: m[0].upper(), text.lower())


def root_slash(parts: Parts) -> Parts:
    return parts if parts.path or parts.authority is None else parts._replace(path="/")


def trailing_slash(parts: Parts) -> Parts:
    path = parts.path.rstrip("/")
    return parts._replace(path=path or ("/" if parts.path else ""))


def index_names(parts: Parts, names: tuple[str, ...]) -> Parts:
    folder, slash, name = parts.path.rpartition("/")
    return parts._replace(path=folder + slash) if slash and name in names else parts


def _parameters(parts: Parts, change: object) -> Parts:
    return parts if parts.query is None else parts._replace(query=change(parts.query))  # type: ignore[operator]


def sort_parameters(parts: Parts, by: str = "name") -> Parts:
    return _parameters(parts, sorted_pairs if by == "pair" else lambda query: Parameters(query).sorted().query)


def sorted_pairs(query: str) -> str:
    """Pairs by their names as they are written, then by their values; without a value before an empty one.

    >>> sorted_pairs("page2=2&page=1&page&page=")
    'page&page=&page=1&page2=2'
    """
    return "&".join(sorted(query.split("&"), key=lambda pair: pair.split("=", 1)))


def drop_parameters(parts: Parts, names: tuple[str, ...]) -> Parts:
    return _parameters(parts, lambda query: Parameters(query).without(*names).query)


def keep_parameters(parts: Parts, names: tuple[str, ...]) -> Parts:
    def change(query: str) -> str | None:
        gone = set(Parameters(Parameters(query).without(*names).query).raw)
        return "&".join(text for text in query.split("&") if text not in gone) or None

    return _parameters(parts, change)


def empty_parameters(parts: Parts, valueless: bool = False) -> Parts:
    def change(query: str) -> str | None:
        kept = [text for text in query.split("&") if (text.partition("=")[2] if valueless else text.strip("="))]
        return "&".join(kept) or None

    return _parameters(parts, change)


def empty_values(parts: Parts) -> Parts:
    return _parameters(parts, lambda query: re.sub("(^|&)([^&=]*)=(?=&|$)", r"\1\2", query))


def empty_query(parts: Parts) -> Parts:
    return parts._replace(query=None) if parts.query == "" else parts


def rewrite_parameters(parts: Parts) -> Parts:
    def change(query: str) -> str | None:
        pairs = []
        for text in query.split("&"):
            name, _, value = text.replace("+", " ").partition("=")
            if text:
                pairs.append((decode_bytes(name), decode_bytes(value)))
        return "&".join(f"{quote_plus(name)}={quote_plus(value)}" for name, value in sorted(pairs)) or None

    return _parameters(parts, change)


def rewrite_query(parts: Parts) -> Parts:
    """Escapes in names and values only where they must be, for "+", and for "=" in values; no empty parameters."""

    def change(query: str) -> str | None:
        found = []
        for text in filter(None, query.split("&")):
            name, equals, value = text.partition("=")
            found.append(_rewrite_escapes(name, "+", _IN_PAIRS) + equals + _rewrite_escapes(value, "+", _IN_PAIRS))
        return "&".join(found) or None

    return _parameters(parts, change)


def rewrite_fragment(parts: Parts) -> Parts:
    written = parts.fragment and quote(decode_bytes(parts.fragment), "=")
    return parts._replace(fragment=written or None)


def rewrite_path(parts: Parts, keep: str = "/?") -> Parts:
    return parts._replace(path=_rewrite_escapes(parts.path, keep, _PATH))


def _rewrite_escapes(text: str, keep: str, safe: str) -> str:
    """Escapes of unreserved characters and `safe` taken away, but for those of `keep`; digits of others in capitals."""
    kept = {f"%{ord(c):02X}" for c in keep}

    def run(match: re.Match[str]) -> str:
        text = match[0].upper()
        pieces = [text[at : at + 3] for at in range(0, len(text), 3)]
        return "".join(p if p in kept else quote(bytes.fromhex(p[1:]), safe=safe) for p in pieces)

    return _RUN.sub(run, text if "=" in safe else text.replace("=", "%3D"))


def unescape(parts: Parts) -> Parts:
    def change(host: str) -> str:
        return host if host.startswith("[") else quote(unescape_fully(host).lower(), safe=_SUB)

    parts = _with_host(parts, change)
    query = None if parts.query is None else quote(unescape_fully(parts.query), safe=_QUERY)
    return parts._replace(path=quote(unescape_fully(parts.path), safe=_PATH), query=query)


def nfc(parts: Parts) -> Parts:
    """What escapes of UTF-8 mean, in Normalization Form C, escaped again; other octets stay as they are."""

    def compose_run(match: re.Match[str]) -> str:
        before = decode_bytes(match[0]).decode(errors="surrogateescape")
        after = normalize_unicode("NFC", before)
        return match[0] if after == before else quote(after, safe="", errors="surrogateescape")

    def change(text: str | None) -> str | None:
        # A letter in front may be the base of the mark that is escaped.
        return None if text is None else re.sub("[A-Za-z0-9]?(?:%[0-9A-Fa-f]{2})+", compose_run, text)

    return parts._replace(path=change(parts.path) or "", query=change(parts.query), fragment=change(parts.fragment))
