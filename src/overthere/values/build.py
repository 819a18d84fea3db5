"""Builds a URI from parts, so that it reads back as those parts (RFC 3986 5.3).

Text is checked and data is encoded; the argument and its type decide which, nothing is guessed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from ipaddress import IPv4Address, IPv6Address
from typing import TypeAlias

from overthere import forms
from overthere.forms import Pairs
from overthere.ground.display import name_of, printable, shorten
from overthere.ground.errors import KINDS, Finding, InvalidURI
from overthere.ground.exact import exact
from overthere.ground.redact import Span, mask
from overthere.kernel.reference import Parts, recompose
from overthere.values.encoding import encode
from overthere.values.form_pairs import number_text, write_pairs
from overthere.values.scheme_query import pairs_of, plus_of

# A delimiter of the authority inside a host argument, except in an IP-literal.
_DELIMITER_IN_HOST = re.compile(r"(?:\[[^\]]*\])?+[^:@]*[:@]")

Userinfo: TypeAlias = "str | bytes | tuple[str | bytes, str | bytes]"


def _rejection(
    kind: str, text: str, start: int, end: int, component: str = "", secret: Span | None = None, advice: str = ""
) -> InvalidURI:
    row = KINDS[kind]
    message = row.message.format(it=name_of(text[start:end])) + advice
    finding = Finding(kind, start, end, component or row.component, row.rule, "", row.source, message)
    return InvalidURI(text, finding, secret)


def _password(authority: str, start: int) -> Span | None:
    """Return the span of a password in an authority argument, whatever else the argument holds."""
    colon, at = authority.find(":"), authority.rfind("@")
    return (start + colon + 1, start + at) if 0 <= colon < at - 1 else None


def _exact_or_none(component: str, value: object) -> str | None:
    return None if value is None else exact(value, component)


def authority_of(*, userinfo: str | None, host: str | None, port: int | str | None) -> str | None:
    """Return an authority from its parts (3.2); it ends in a colon and the port if there is one.

    Raises: InvalidURI for userinfo or a port without a host, and for a delimiter in host or port; TypeError.
    """
    userinfo, host = _exact_or_none("userinfo", userinfo), _exact_or_none("host", host)
    if isinstance(port, bool) or not isinstance(port, int | str | None):
        raise TypeError(f"port must be text or an int, not {type(port).__name__}")
    port = exact(port, "port") if isinstance(port, str) else port
    port_part = "" if port is None else ":" + (port if isinstance(port, str) else number_text(port, "a port"))
    userinfo_part = "" if userinfo is None else f"{userinfo}@"
    if host is None:
        if userinfo_part or port_part:
            text = f"//{userinfo_part}{port_part}"
            raise _rejection("host-missing", text, 2 + len(userinfo_part), len(text), secret=_password(text[2:], 2))
        return None
    text, start = f"//{userinfo_part}{host}{port_part}", 2 + len(userinfo_part)
    if delimiter := _DELIMITER_IN_HOST.match(host):
        offset = start + delimiter.end() - 1
        raise _rejection("delimiter", text, offset, offset + 1, "host", _password(text[2:], 2), _address_advice(host))
    if "@" in port_part:
        offset = start + len(host) + port_part.index("@")
        raise _rejection("delimiter", text, offset, offset + 1, "port", _password(text[2:], 2))
    return userinfo_part + host + port_part


def assemble(scheme: str | None, authority: str | None, path: str, query: str | None, fragment: str | None) -> str:
    """Compose a text (5.3) that is read back as these components; its grammar is checked by its reader.

    Raises: InvalidURI; its offsets are those of the text that would have resulted.
    """
    scheme, authority, path = (
        _exact_or_none("scheme", scheme),
        _exact_or_none("authority", authority),
        exact(path, "path"),
    )
    parts = Parts(scheme, authority, path, _exact_or_none("query", query), _exact_or_none("fragment", fragment))
    text = recompose(parts)
    if authority is not None and path and not path.startswith("/"):
        start = 2 + len(authority) + (0 if scheme is None else len(scheme) + 1)
        raise _rejection(
            "path-rootless", text, start, start + 1, advice=f': write "/{shorten(printable(mask(path)), 40)}"'
        )
    if authority is None and path.startswith("//"):
        start = 0 if scheme is None else len(scheme) + 1
        raise _rejection("path-slashes", text, start, start + 2)
    if authority is None and scheme is None and ":" in path.partition("/")[0]:
        colon = path.index(":")
        raise _rejection("path-colon", text, colon, colon + 1)
    for place, (value, marks) in enumerate(zip(parts, (":/?#", "/?#", "?#", "#", ""), strict=True)):
        component = Parts._fields[place]
        for delimiter in marks if value else "":
            if value and delimiter in value:
                start = len(recompose(Parts._make((*parts[: place + 1], *_UNDEFINED[place + 1 :])))) - len(value)
                offset = max(0, start - (not place)) + value.index(delimiter)
                secret = _password(value, start) if component == "authority" else None
                raise _rejection("delimiter", text, offset, offset + 1, component, secret)
    return text


_UNDEFINED = (None, None, "", None, None)


def build(
    *,
    scheme: str | None,
    authority: str | None,
    userinfo: Userinfo | None,
    user: str | bytes | None,
    password: str | bytes | None,
    host: str | bytes | IPv4Address | IPv6Address | None,
    port: int | str | None,
    path: str | bytes | None,
    segments: Iterable[str | bytes] | None,
    keep: str,
    rooted: bool | None,
    query: str | bytes | Pairs | None,
    fragment: str | bytes | None,
) -> str:
    """Return the text for `URIReference.build`, whose documentation explains each argument."""
    scheme = _exact_or_none("scheme", scheme)
    login = {name: data for name, data in (("user", user), ("password", password)) if data is not None}
    if login and userinfo is not None:
        raise TypeError(f"userinfo already contains {' and '.join(login)}")
    userinfo = edit_login(None, login) if login else userinfo_text(userinfo)
    if authority is not None and not (userinfo is host is port is None):
        raise TypeError("authority already contains userinfo, host and port")
    if path is not None and segments is not None:
        raise TypeError("give either path or segments, not both")
    if authority is None:
        authority = authority_of(userinfo=userinfo, host=host_text(host), port=port)
    if segments is not None:
        rooted = authority is not None if rooted is None else rooted
        relative = not rooted and scheme is None and authority is None
        segment_list = segments if isinstance(segments, str | bytes) else list(segments)
        path = written_path(segment_list, keep=exact(keep, "keep"), begins=not rooted, relative=relative)
        path = "/" + path if rooted and segment_list else path
    elif rooted is not None or keep:
        raise TypeError("rooted and keep need segments; they do not go with path")
    path, fragment = _text_or_data(path, "path"), _text_or_data(fragment, "fragment")
    return assemble(scheme, authority, "" if path is None else path, query_text(query, scheme), fragment)


def query_text(query: str | bytes | Pairs | None, scheme: str | None) -> str | None:
    """Return text unchanged, octets and pairs as data, written as the scheme requires; `Parameters` unchanged."""
    if query is None or isinstance(query, str | bytes):
        return _text_or_data(query, "query")
    if isinstance(query, forms.Parameters):
        return query.query
    return "&".join(write_pairs(pairs_of(scheme, query), plus=plus_of(scheme)))


def _text_or_data(value: str | bytes | None, component: str) -> str | None:
    # The slashes in a path of octets separate its segments; data with a slash belongs in segments=.
    return encode(value, component, keep="/" if component == "path" else "") if isinstance(value, bytes) else value


def userinfo_text(value: Userinfo | None) -> str | None:
    """Return text unchanged, octets and (user, password) as data."""
    if isinstance(value, tuple):
        if len(value) != 2:
            raise TypeError(f"userinfo must be text, bytes or (user, password), not a tuple of {len(value)}")
        user, password = value
        # The first colon separates the two (3.2.1), so the name must not contain one.
        return f"{encode(user, 'userinfo')}:{encode(password, 'userinfo')}"
    return _text_or_data(value, "userinfo")


def edit_login(userinfo: str | None, login: Mapping[str, str | bytes | None]) -> str | None:
    """Return a userinfo with another "user" or "password", which are data; None as the user removes both.

    >>> edit_login("joe:x", {"password": "p:/w"}), edit_login(None, {"password": "x"}), edit_login("a:b", {"user": ""})
    ('joe:p%3A%2Fw', ':x', ':b')
    >>> edit_login("a:b", {"user": None}), edit_login("a:b", {"password": None}), edit_login(None, {"password": None})
    (None, 'a', None)
    """
    encoded = {name: None if data is None else encode(data, "userinfo") for name, data in login.items()}
    before, colon, after = (userinfo or "").partition(":")
    user, password = encoded.get("user", before), encoded.get("password", after if colon else None)
    if user is None or (userinfo is None and password is None and "user" not in encoded):
        return None
    return user if password is None else f"{user}:{password}"


def _address_advice(host: str) -> str:
    """Return how to write an IPv6 address that was passed as text without brackets; "" for another host."""
    try:
        return f': write "{host_text(IPv6Address(host))}" or pass an IPv6Address'
    except ValueError:
        return ""


def host_text(value: str | bytes | IPv4Address | IPv6Address | None) -> str | None:
    """Return text unchanged, octets as data, an IPv6 address in brackets."""
    if isinstance(value, IPv6Address):
        address, percent, zone = str(value).partition("%")
        return f"[{address}{'%25' + encode(zone, 'unreserved') if percent else ''}]"
    if isinstance(value, IPv4Address):
        return str(value)
    return _text_or_data(value, "reg-name")


def written_path(
    segments: Iterable[str | bytes], *, keep: str = "", begins: bool = False, relative: bool = False
) -> str:
    """Return segments of data as text, with "/" between them.

    begins: whether the path begins with the first segment, without a "/"; relative: whether it is a reference (4.2).

    Raises: InvalidURI for "." and "..", and for an empty one that begins a path; TypeError for what is no list of them.
    """
    if isinstance(segments, str | bytes):
        raise TypeError("segments must be a list with one item per segment; pass the text of a path as path=")
    if not isinstance(segments, Iterable):
        raise TypeError(f"segments must be a list of text or bytes, not {type(segments).__name__}")
    items = [item if isinstance(item, bytes) else exact(item, "segments") for item in segments]
    for item in items:
        if item in (".", "..", b".", b".."):
            # Even escaped, normalisation would read it as a dot-segment (6.2.2.2, 6.2.2.3).
            raise _rejection("segment-dots", "/".join(map(str, items)), 0, 0)
    if begins and items and items[0] in ("", b""):
        raise _rejection("segment-empty", "/".join(map(str, items)), 0, 0)
    # The first segment of a relative path must not look like a scheme.
    first_keep = keep.replace(":", "") if relative else keep
    return "/".join(encode(item, "segment", keep=keep if i else first_keep) for i, item in enumerate(items))
