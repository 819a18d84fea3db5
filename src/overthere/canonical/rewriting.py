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
from overthere.schemes.model import lower_except_escapes
from overthere.values.encoding import decode_bytes
from overthere.values.hosts.address import literal
from overthere.values.hosts.idn import a_labels
from overthere.values.normalize import normal_form

_SUB_DELIMS = "!$&'()*+,;="
_PATH = "/:@" + _SUB_DELIMS
_QUERY = _PATH + "?"
_PAIR_SAFE = _QUERY.replace("&", "").replace("=", "")
_HEX = {ord(c): int(c, 16) for c in "0123456789abcdefABCDEF"}
_ESCAPES = re.compile("(?:%[0-9A-Fa-f]{2})+")
_WWW = re.compile(r"(?:www[0-9]*\.)+", re.IGNORECASE)
_PERCENT = 0x25
_NAT64 = IPv6Network("64:ff9b::/96")


def compose(parts: Parts) -> str:
    """Join components to a text that is read back as the same components."""
    return recompose(guard_path(parts))


def unescape_fully(text: str | bytes) -> bytes:
    """Decode escapes until no escape remains.

    Escapes do not overlap, so their order does not matter: one pass with a stack has the result of repeated passes.

    >>> unescape_fully("%25%32%35"), unescape_fully("a%252541")
    (b'%', b'aA')
    """
    data = text.encode() if isinstance(text, str) else text
    if b"%" not in data:
        return data
    stack = bytearray()
    for byte in data:
        stack.append(byte)
        while len(stack) > 2 and stack[-3] == _PERCENT and stack[-2] in _HEX and stack[-1] in _HEX:
            stack[-3:] = bytes([_HEX[stack[-2]] * 16 + _HEX[stack[-1]]])
    return bytes(stack)


def _with_host(parts: Parts, change: object) -> Parts:
    if parts.authority is None:
        return parts
    userinfo, host, port = split_authority(parts.authority)
    changed = change(host)  # type: ignore[operator]
    return parts if changed == host else _with_authority(parts, userinfo, changed, port)


def _with_authority(parts: Parts, userinfo: str | None, host: str, port: str | None) -> Parts:
    prefix = "" if userinfo is None else userinfo + "@"
    return parts._replace(authority=prefix + host + ("" if port is None else ":" + port))


def normalize_at_rung(parts: Parts, rung: str) -> Parts:
    return split(normal_form(recompose(parts), Rung[rung]))


def remove_dots(parts: Parts) -> Parts:
    """Normalize an absolute path at the rung PATH, which includes case and escapes."""
    if not parts.path.startswith("/"):
        return parts
    return parts._replace(path=split(kernel.normalize(recompose(parts), Rung.PATH)).path)


def drop_fragment(parts: Parts) -> Parts:
    return parts if parts.fragment is None else parts._replace(fragment=None)


def drop_userinfo(parts: Parts, empty: bool = False) -> Parts:
    if parts.authority is None:
        return parts
    userinfo, _, host_port = parts.authority.rpartition("@")
    is_unchanged = host_port == parts.authority or (empty and userinfo not in ("", ":"))
    return parts if is_unchanged else parts._replace(authority=host_port)


def drop_port(parts: Parts, only: str = "default") -> Parts:
    if parts.authority is None:
        return parts
    userinfo, host, port = split_authority(parts.authority)
    if port is None:
        return parts
    if only == "web":
        if port.lstrip("0") != {"http": "80", "https": "443"}.get((parts.scheme or "").lower()):
            return parts
    elif only == "default" and port:
        scheme = default_registry().get(parts.scheme or "")
        if scheme is None or scheme.port is None or port.lstrip("0") != str(scheme.port):
            return parts
    elif only == "empty" and port:
        return parts
    return _with_authority(parts, userinfo, host, None)


def drop_www(parts: Parts) -> Parts:
    """Remove www., www1. and similar labels at the beginning, but keep two labels."""

    def change(host: str) -> str:
        match = _WWW.match(host)
        if match is None:
            return host
        shortened = host[match.end() :]
        # At least two labels stay: otherwise the last removed label is kept.
        return shortened if "." in shortened else host[host.rfind(".", 0, match.end() - 1) + 1 :]

    return _with_host(parts, change)


def upgrade_to_https(parts: Parts) -> Parts:
    if parts.scheme is None or parts.scheme.lower() != "http":
        return parts
    return drop_port(parts)._replace(scheme="https")


def lower_host(parts: Parts) -> Parts:
    return _with_host(parts, lower_except_escapes)


def clean_host_dots(parts: Parts) -> Parts:
    def change(host: str) -> str:
        return host if host.startswith("[") else re.sub(r"\.{2,}", ".", host).strip(".")

    return _with_host(parts, change)


def ipv4(parts: Parts) -> Parts:
    def change(host: str) -> str:
        address = None if host.startswith("[") else literal(host)
        return str(address) if isinstance(address, IPv4Address) else host

    return _with_host(parts, change)


def host_idna(parts: Parts) -> Parts:
    """Write a host name, given in letters, escapes or A-labels, as A-labels; an invalid one stays."""

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
    # Without an authority "/." guards a leading "//" (`guard_path`): it is removed with the second slash.
    guarded = parts.authority is None and parts.path.startswith("/.//")
    return parts._replace(path=re.sub("/{2,}", "/", parts.path[2:] if guarded else parts.path))


def lower_path(parts: Parts) -> Parts:
    return parts._replace(path=lower_except_escapes(parts.path))


def lower_query(parts: Parts) -> Parts:
    return parts if parts.query is None else parts._replace(query=lower_except_escapes(parts.query))


def add_root_slash(parts: Parts) -> Parts:
    return parts if parts.path or parts.authority is None else parts._replace(path="/")


def drop_trailing_slash(parts: Parts) -> Parts:
    path = parts.path.rstrip("/")
    return parts._replace(path=path or ("/" if parts.path else ""))


def drop_index_names(parts: Parts, names: tuple[str, ...]) -> Parts:
    folder, slash, name = parts.path.rpartition("/")
    return parts._replace(path=folder + slash) if slash and name in names else parts


def _with_query(parts: Parts, change: object) -> Parts:
    return parts if parts.query is None else parts._replace(query=change(parts.query))  # type: ignore[operator]


def sort_parameters(parts: Parts, by: str = "name") -> Parts:
    return _with_query(parts, sorted_pairs if by == "pair" else lambda query: Parameters(query).sorted().query)


def sorted_pairs(query: str) -> str:
    """Sort pairs by names as written, then by values; a pair without "=" comes before one with an empty value.

    >>> sorted_pairs("page2=2&page=1&page&page=")
    'page&page=&page=1&page2=2'
    """
    return "&".join(sorted(query.split("&"), key=lambda pair: pair.split("=", 1)))


def drop_parameters(parts: Parts, names: tuple[str, ...]) -> Parts:
    return _with_query(parts, lambda query: Parameters(query).without(*names).query)


def keep_parameters(parts: Parts, names: tuple[str, ...]) -> Parts:
    def change(query: str) -> str | None:
        removed = set(Parameters(Parameters(query).without(*names).query).raw)
        return "&".join(text for text in query.split("&") if text not in removed) or None

    return _with_query(parts, change)


def drop_empty_parameters(parts: Parts, valueless: bool = False) -> Parts:
    def change(query: str) -> str | None:
        pairs = [text for text in query.split("&") if (text.partition("=")[2] if valueless else text.strip("="))]
        return "&".join(pairs) or None

    return _with_query(parts, change)


def drop_empty_values(parts: Parts) -> Parts:
    return _with_query(parts, lambda query: re.sub("(^|&)([^&=]*)=(?=&|$)", r"\1\2", query))


def drop_empty_query(parts: Parts) -> Parts:
    return parts._replace(query=None) if parts.query == "" else parts


def rewrite_parameters(parts: Parts) -> Parts:
    def change(query: str) -> str | None:
        pairs = []
        for text in query.split("&"):
            name, _, value = text.replace("+", " ").partition("=")
            if text:
                pairs.append((decode_bytes(name), decode_bytes(value)))
        return "&".join(f"{quote_plus(name)}={quote_plus(value)}" for name, value in sorted(pairs)) or None

    return _with_query(parts, change)


def rewrite_query(parts: Parts) -> Parts:
    """Remove empty parameters and escapes that are not required; keep "%2B", and write "=" in a value as "%3D"."""

    def change(query: str) -> str | None:
        pairs = []
        for text in filter(None, query.split("&")):
            name, equals, value = text.partition("=")
            pairs.append(_rewrite_escapes(name, "+", _PAIR_SAFE) + equals + _rewrite_escapes(value, "+", _PAIR_SAFE))
        return "&".join(pairs) or None

    return _with_query(parts, change)


def rewrite_fragment(parts: Parts) -> Parts:
    fragment = parts.fragment and quote(decode_bytes(parts.fragment), "=")
    return parts._replace(fragment=fragment or None)


def rewrite_path(parts: Parts, keep: str = "/?") -> Parts:
    return parts._replace(path=_rewrite_escapes(parts.path, keep, _PATH))


def _rewrite_escapes(text: str, keep: str, safe: str) -> str:
    """Decode escapes of unreserved characters and `safe`, but not of `keep`; escape "=" unless it is in `safe`."""
    protected = {f"%{ord(c):02X}" for c in keep}

    def run(match: re.Match[str]) -> str:
        text = match[0].upper()
        pieces = [text[at : at + 3] for at in range(0, len(text), 3)]
        return "".join(p if p in protected else quote(bytes.fromhex(p[1:]), safe=safe) for p in pieces)

    return _ESCAPES.sub(run, text if "=" in safe else text.replace("=", "%3D"))


def unescape(parts: Parts) -> Parts:
    def change(host: str) -> str:
        return host if host.startswith("[") else quote(unescape_fully(host).lower(), safe=_SUB_DELIMS)

    parts = _with_host(parts, change)
    query = None if parts.query is None else quote(unescape_fully(parts.query), safe=_QUERY)
    return parts._replace(path=quote(unescape_fully(parts.path), safe=_PATH), query=query)


def nfc(parts: Parts) -> Parts:
    """Convert the characters of UTF-8 escapes to Normalization Form C, and escape them again; other bytes stay."""

    def compose_run(match: re.Match[str]) -> str:
        before = decode_bytes(match[0]).decode(errors="surrogateescape")
        after = normalize_unicode("NFC", before)
        return match[0] if after == before else quote(after, safe="", errors="surrogateescape")

    def change(text: str | None) -> str | None:
        # A letter before the escapes may combine with an escaped mark.
        return None if text is None else re.sub("[A-Za-z0-9]?(?:%[0-9A-Fa-f]{2})+", compose_run, text)

    return parts._replace(path=change(parts.path) or "", query=change(parts.query), fragment=change(parts.fragment))
