"""Findings on userinfo, host and port (RFC 3986 3.2, 7.2, 7.4 to 7.6; RFC 3987 8)."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterator

from overthere.ground.redact import MASK
from overthere.ground.unicode_forms import normalize_unicode
from overthere.kernel.percent import percent_decode
from overthere.security import scripts
from overthere.security.parts import Place, TextParts
from overthere.values.hosts.address import (
    Address,
    client_name,
    embedded_ipv4,
    forbidden,
    link_local,
    literal,
    resolvable,
)
from overthere.values.hosts.idn import is_a_label

# Names of RFC 1034 3.1 have 255 octets; UTS 46 drops characters, so that a few more may make one.
_MAX_READ_LENGTH = 1000
_METADATA = frozenset(map(ipaddress.ip_address, ("169.254.169.254", "fd00:ec2::254", "168.63.129.16")))
_MAIL = frozenset(("smtp", "submission"))


def authority(parts: TextParts) -> Iterator[Place]:
    """Yield the findings on an authority."""
    if parts.userinfo is not None:
        yield from _userinfo(parts)
    if parts.host is not None and parts.host[0] < parts.host[1]:
        yield from _host(parts, *parts.host)
    if parts.port is not None:
        yield from _port(parts, *parts.port)


def decode_escapes(text: str) -> str:
    """Decode the escapes of a text by UTF-8; other octets become U+FFFD."""
    if "%" not in text:
        return text
    return percent_decode(text.encode("utf-8", "surrogatepass")).decode("utf-8", "replace")


# -- a scheme that is a host

_HOST_AS_SCHEME = re.compile(r"(?:[a-z0-9-]++\.)++([a-z]++)|localhost")
_PORT_AS_PATH = re.compile(r"[0-9]{1,5}(?![^/?#])")
_MAX_EXPECTED = 80


def scheme(parts: TextParts) -> Iterator[Place]:
    """Yield a host that is read as a scheme because no scheme precedes it (4.5), as in "example.com:80/"."""
    match = _HOST_AS_SCHEME.fullmatch(parts.scheme)
    if match is None or parts.facts is not None or parts.authority is not None:
        return
    from overthere.schemes.iana import registration
    from overthere.text.rules import COUNTRY_CODES, GENERIC_NAMES

    tlds = GENERIC_NAMES | COUNTRY_CODES
    # Apps use their domain names in reverse as schemes: com.example.app:/done (RFC 7595 3.8).
    if match[1] not in (*tlds, None) or parts.scheme.partition(".")[0] in tlds or registration(parts.scheme):
        return
    start, end = parts.start, parts.start + len(parts.scheme)
    host, path = parts.text[start:end], parts.text[end + 1 :]
    guess = f"http://{host}:{path}" if _PORT_AS_PATH.match(path) else f"ssh://{host}/{path.lstrip('/')}"
    expected = f'"{guess}"' if len(guess) <= _MAX_EXPECTED and guess.isprintable() and not parts.secrets else ""
    yield Place("scheme-host", start, end, quote_host(host), expected)


# -- userinfo

_NAME = re.compile(
    r"(?:[a-zA-Z]++://)?+((?:[a-zA-Z0-9_][a-zA-Z0-9_-]{0,62}+\.){1,20}[a-zA-Z][a-zA-Z0-9-]{0,62}+|localhost)"
)
_NUMBERS = re.compile(r"[0-9a-fA-FxX.]++|\[[0-9a-fA-F:.]++\]")
_FOLLOWS = re.compile(r"[&;=+$,!*'()/?#\\@ ]")
_PORT = re.compile(r":[0-9]{1,5}(?:(?:[/?#\\]|%2[fF3]|%3[fF]|%5[cC]).*)?", re.DOTALL)
_SLASHES = re.compile(r":(?:[/\\]|%2[fF]|%5[cC]){2}")


def _userinfo(parts: TextParts) -> Iterator[Place]:
    assert parts.userinfo is not None
    start, end = parts.userinfo
    colon = parts.text.find(":", start, end)
    user = parts.text[start : end if colon < 0 else colon]
    anonymous = parts.facts is not None and user.lower() in parts.facts.anonymous
    password = 0 <= colon < end - 1 and not anonymous
    apparent_host = _apparent_host(parts, start, end if colon < 0 else colon, end)
    if apparent_host is not None:
        yield Place("userinfo-host", start, end, apparent_host)
    if password:
        yield Place("password", colon + 1, end)
    elif apparent_host is None:
        yield Place("userinfo", start, end)


def _apparent_host(parts: TextParts, start: int, colon: int, end: int) -> str | None:
    """Return what a person would take for the host (7.6) in the part before the first colon, perhaps all of it."""
    user, after = parts.text[start : min(colon, start + 400)], parts.text[colon : min(end, colon + 8)]
    if _SLASHES.match(after):  # a URI after a scheme
        inner_scheme = parts.registry.get(user.lower())
        if inner_scheme is not None and inner_scheme.needs_host:
            return MASK
    text = normalize_unicode("NFKC", decode_escapes(user)).replace("\u3002", ".")
    numbers = _NUMBERS.match(text)
    if numbers is not None and "." in numbers[0] and literal(numbers[0]) is not None:
        return quote_host(numbers[0])
    match = _NAME.match(text)
    if match is None:
        return None
    name, remainder = match[1], text[match.end() :] + after
    if remainder and not _FOLLOWS.match(remainder) and not remainder.startswith(":"):
        return None
    # joe.doe and joe.doe:password are usual for users; a name that is followed by more of a URI is not.
    has_more = bool(remainder) and (not remainder.startswith(":") or bool(_PORT.fullmatch(remainder)))
    is_user_name = (
        name.count(".") == 1 and not name.lower().startswith("www.") and not (parts.facts and parts.facts.no_userinfo)
    )
    return None if is_user_name and not has_more else quote_host(name)


def quote_host(name: str) -> str:
    """Return a host in quotes, shortened to 64 characters."""
    return scripts.quote(name, 64)


# -- host


def _host(parts: TextParts, start: int, end: int) -> Iterator[Place]:
    text = parts.text[start:end]
    hidden = parts.covers_password(start, end)
    if len(text) > _MAX_READ_LENGTH:
        yield Place("host-long", start, end)
        return
    if "%" in text and not text.startswith("["):
        name = decode_escapes(text)
        advice = "" if name.isascii() or "\ufffd" in name else "; repair(text, idna=True) writes A-labels"
        yield Place("encoded-host", start, end, MASK if hidden else quote_host(name) + advice)
    if text[:2] in ("[v", "[V"):
        yield Place("host-future", start, end, MASK if hidden else quote_host(text))
        return
    bare_address, percent, _ = text[1:].partition("%")
    if percent and text.startswith("[") and not link_local(bare_address):
        yield Place("host-zone", start, end, MASK if hidden else quote_host(text))
    address = literal(text)
    if address is not None and not (text.isdigit() and parts.default_port is None):  # a drive or another number
        yield from _address(address, text, start, end, hidden)
        return
    name, files = decode_escapes(text), parts.facts is not None and parts.facts.host_of_files
    if client_name(text).removesuffix(".").rpartition(".")[2] == "localhost":
        if not files:
            yield Place("localhost", start, end, MASK if hidden else quote_host(name))
        return
    if files:
        yield Place("file-host", start, end, MASK if hidden else quote_host(name))
    if _is_inner_scheme(parts, name):
        yield Place("host-scheme", start, end, MASK if hidden else quote_host(name))
    elif not text.startswith("["):
        yield from _name(parts, name, start, end, hidden)
    if not name.isascii() or "xn--" in name.lower():
        for kind, description in scripts.judge(name):
            yield Place(kind, start, end, MASK if hidden else description)


def _is_inner_scheme(parts: TextParts, name: str) -> bool:
    """Whether the host is a scheme before another "//", as in "http://https://h/"."""
    if not (parts.text_of(parts.port) == "" and parts.port is not None) and not parts.text.startswith(
        "//", parts.path[0]
    ):
        return False
    from overthere.schemes.iana import registration

    name = name.lower()
    return name in parts.registry or registration(name) is not None


# Characters that a reg-name may hold and a host name may not (RFC 1123 2.1); the second set has escaped ones too.
_NOT_IN_HOST = re.compile(r"[~!$&'()*+,;=]")
_NOT_IN_DECODED_HOST = re.compile(r"[~!$&'()*+,;= \"<>^`{|}]")


def _name(parts: TextParts, name: str, start: int, end: int, hidden: bool) -> Iterator[Place]:
    """Yield names that DNS cannot hold: too long, or with labels that are not letters, digits and hyphens."""
    ascii_name = name
    problem = ""
    if not name.isascii():
        try:
            ascii_name = resolvable(name)
        except UnicodeError:
            problem = "it is not a valid name in IDNA 2008 (RFC 5890 2.3.2)"
    ascii_name = ascii_name.removesuffix(".")
    labels = ascii_name.split(".")
    if any(len(label) > 63 for label in labels) or len(ascii_name) > 253:
        yield Place("host-long", start, end)
        return
    files = parts.facts is not None and parts.facts.host_of_files
    if parts.scheme and not files and parts.default_port is None:  # the scheme defines its own names (3.2.2)
        return
    if not problem and ascii_name.isascii():
        bad = (_NOT_IN_HOST if ascii_name == parts.text[start:end] else _NOT_IN_DECODED_HOST).search(ascii_name)
        problem = _label_problem(labels) if bad is None else f"a host name cannot contain {quote_host(bad[0])}"
    if problem:
        yield Place("host-name", start, end, MASK if hidden else f"{quote_host(name)}: {problem}")


def _label_problem(labels: list[str]) -> str:
    if "" in labels:
        return "a label is empty"
    if any(label.startswith("-") or label.endswith("-") for label in labels):
        return "a label begins or ends with a hyphen"
    if labels[-1].isdigit() and len(labels) > 1:
        return "its last label is a number, but it is not an address"
    bad_label = next((label for label in labels if label[:4].lower() == "xn--" and not is_a_label(label)), "")
    return f"{quote_host(bad_label)} is not a valid A-label" if bad_label else ""


def _address(address: Address, text: str, start: int, end: int, hidden: bool) -> Iterator[Place]:
    if address.version == 4 and text != str(address):
        quoted, expected = (MASK, "") if hidden else (quote_host(text), f'"{address}"')
        yield Place("address-rare", start, end, quoted, expected)
    reason = forbidden(address)
    if reason is None:
        return
    embedded = embedded_ipv4(address)
    description = MASK if hidden else f"{str(embedded or address)[:60]}, {reason}"
    yield Place(_kind_of_address(embedded or address, reason), start, end, description)


def _kind_of_address(address: Address, reason: str) -> str:
    bare_address = ipaddress.IPv6Address(int(address)) if address.version == 6 else address  # without a zone
    if bare_address in _METADATA:
        return "address-metadata"
    for prefix, kind in _KINDS_OF_ADDRESS:
        if reason.startswith(prefix):
            return kind
    return "address-special"


# "0.0.0.0" and "::" lead to this machine on most systems.
_KINDS_OF_ADDRESS = (
    ("loopback", "address-loopback"), ("unspecified", "address-loopback"), ("link-local", "address-link-local"),
    ("private", "address-private"), ("shared", "address-private"), ("unique-local", "address-private"),
    ("site-local", "address-private"),
)  # fmt: skip


# -- port


def _port(parts: TextParts, start: int, end: int) -> Iterator[Place]:
    text = parts.text[start:end]
    if not (text.isascii() and text.isdigit()):
        return
    digits = text.lstrip("0") or "0"
    if len(digits) > 5 or int(digits) > 65535:
        shortened = digits if len(digits) <= 20 else f"{digits[:20]}…"
        yield Place("port-range", start, end, MASK if parts.covers_password(start, end) else shortened)
        return
    port, default_port = int(digits), parts.default_port
    if port == 25 and parts.scheme not in _MAIL:
        yield Place("port-mail", start, end)
    elif default_port is not None and port != default_port:
        port_text = MASK if parts.covers_password(start, end) else digits
        yield Place("port-reserved" if port < 1024 else "port-other", start, end, port_text)
