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

__all__ = ["authority", "decode_escapes", "quote_host", "scheme"]

# Names of RFC 1034 3.1 have 255 octets; UTS 46 drops characters, so that a few more may make one.
_LONGEST = 1000
_METADATA = frozenset(map(ipaddress.ip_address, ("169.254.169.254", "fd00:ec2::254", "168.63.129.16")))
_MAIL = frozenset(("smtp", "submission"))


def authority(cut: TextParts) -> Iterator[Place]:
    """Everything about an authority; nothing if there is none."""
    if cut.userinfo is not None:
        yield from _userinfo(cut)
    if cut.host is not None and cut.host[0] < cut.host[1]:
        yield from _host(cut, *cut.host)
    if cut.port is not None:
        yield from _port(cut, *cut.port)


def decode_escapes(text: str) -> str:
    """The characters of escapes by UTF-8, as far as they are some."""
    if "%" not in text:
        return text
    return percent_decode(text.encode("utf-8", "surrogatepass")).decode("utf-8", "replace")


# -- a scheme that is a host

_HOST_AS_SCHEME = re.compile(r"(?:[a-z0-9-]++\.)++([a-z]++)|localhost")
_PORT_AS_PATH = re.compile(r"[0-9]{1,5}(?![^/?#])")
_SHOWN = 80


def scheme(cut: TextParts) -> Iterator[Place]:
    """A host that is read as a scheme, because no scheme precedes it (4.5): "example.com:80/", "example.com:path"."""
    match = _HOST_AS_SCHEME.fullmatch(cut.scheme)
    if match is None or cut.facts is not None or cut.authority is not None:
        return
    from overthere.schemes.iana import registration
    from overthere.text.rules import COUNTRY_CODES, GENERIC_NAMES

    tops = GENERIC_NAMES | COUNTRY_CODES
    # Apps have schemes of their own, domain names from the other end: com.example.app:/done (RFC 7595 3.8).
    if match[1] not in (*tops, None) or cut.scheme.partition(".")[0] in tops or registration(cut.scheme):
        return
    start, end = cut.start, cut.start + len(cut.scheme)
    host, path = cut.text[start:end], cut.text[end + 1 :]
    meant = f"http://{host}:{path}" if _PORT_AS_PATH.match(path) else f"ssh://{host}/{path.lstrip('/')}"
    expected = f'"{meant}"' if len(meant) <= _SHOWN and meant.isprintable() and not cut.secrets else ""
    yield Place("scheme-host", start, end, quote_host(host), expected)


# -- userinfo

_NAME = re.compile(
    r"(?:[a-zA-Z]++://)?+((?:[a-zA-Z0-9_][a-zA-Z0-9_-]{0,62}+\.){1,20}[a-zA-Z][a-zA-Z0-9-]{0,62}+|localhost)"
)
_NUMBERS = re.compile(r"[0-9a-fA-FxX.]++|\[[0-9a-fA-F:.]++\]")
_FOLLOWS = re.compile(r"[&;=+$,!*'()/?#\\@ ]")
_PORT = re.compile(r":[0-9]{1,5}(?:(?:[/?#\\]|%2[fF3]|%3[fF]|%5[cC]).*)?", re.DOTALL)
_SLASHES = re.compile(r":(?:[/\\]|%2[fF]|%5[cC]){2}")


def _userinfo(cut: TextParts) -> Iterator[Place]:
    assert cut.userinfo is not None
    start, end = cut.userinfo
    colon = cut.text.find(":", start, end)
    user = cut.text[start : end if colon < 0 else colon]
    anonymous = cut.facts is not None and user.lower() in cut.facts.anonymous
    password = 0 <= colon < end - 1 and not anonymous
    shown = _host_in(cut, start, end if colon < 0 else colon, end)
    if shown is not None:
        yield Place("userinfo-host", start, end, shown)
    if password:
        yield Place("password", colon + 1, end)
    elif shown is None:
        yield Place("userinfo", start, end)


def _host_in(cut: TextParts, start: int, colon: int, end: int) -> str | None:
    """What a person would take for the host (7.6), in the part before the first colon; that may be all."""
    user, after = cut.text[start : min(colon, start + 400)], cut.text[colon : min(end, colon + 8)]
    if _SLASHES.match(after):  # a URI behind a scheme
        begun = cut.registry.get(user.lower())
        if begun is not None and begun.needs_host:
            return MASK
    text = normalize_unicode("NFKC", decode_escapes(user)).replace("\u3002", ".")
    numbers = _NUMBERS.match(text)
    if numbers is not None and "." in numbers[0] and literal(numbers[0]) is not None:
        return quote_host(numbers[0])
    match = _NAME.match(text)
    if match is None:
        return None
    name, rest = match[1], text[match.end() :] + after
    if rest and not _FOLLOWS.match(rest) and not rest.startswith(":"):
        return None
    # joe.doe and joe.doe:password are usual where there are users; what stands behind a name in a URI is not.
    behind = bool(rest) and (not rest.startswith(":") or bool(_PORT.fullmatch(rest)))
    usual = name.count(".") == 1 and not name.lower().startswith("www.") and not (cut.facts and cut.facts.no_userinfo)
    return None if usual and not behind else quote_host(name)


def quote_host(name: str) -> str:
    """A host in quotes, cut at the length of a line."""
    shown = "".join(c if c.isprintable() else "\ufffd" for c in name)
    return f'"{shown}"' if len(shown) <= 64 else f'"{shown[:64]}…"'


# -- host


def _host(cut: TextParts, start: int, end: int) -> Iterator[Place]:
    text = cut.text[start:end]
    hidden = cut.covers_password(start, end)
    if len(text) > _LONGEST:
        yield Place("host-long", start, end)
        return
    if "%" in text and not text.startswith("["):
        name = decode_escapes(text)
        advice = "" if name.isascii() or "\ufffd" in name else "; repair(text, idna=True) writes A-labels"
        yield Place("encoded-host", start, end, MASK if hidden else quote_host(name) + advice)
    if text[:2] in ("[v", "[V"):
        yield Place("host-future", start, end, MASK if hidden else quote_host(text))
        return
    bare, percent, _ = text[1:].partition("%")
    if percent and text.startswith("[") and not link_local(bare):
        yield Place("host-zone", start, end, MASK if hidden else quote_host(text))
    address = literal(text)
    if address is not None and not (text.isdigit() and cut.default_port is None):  # a drive, another number
        yield from _address(address, text, start, end, hidden)
        return
    name, files = decode_escapes(text), cut.facts is not None and cut.facts.host_of_files
    if client_name(text).removesuffix(".").rpartition(".")[2] == "localhost":
        if not files:
            yield Place("localhost", start, end, MASK if hidden else quote_host(name))
        return
    if files:
        yield Place("file-host", start, end, MASK if hidden else quote_host(name))
    if _run_together(cut, name):
        yield Place("host-scheme", start, end, MASK if hidden else quote_host(name))
    elif not text.startswith("["):
        yield from _name(cut, name, start, end, hidden)
    if not name.isascii() or "xn--" in name.lower():
        for kind, it in scripts.judge(name):
            yield Place(kind, start, end, MASK if hidden else it)


def _run_together(cut: TextParts, name: str) -> bool:
    """Whether a URI stands behind a scheme and "//", as in "http://https://h/"."""
    if not (cut.text_of(cut.port) == "" and cut.port is not None) and not cut.text.startswith("//", cut.path[0]):
        return False
    from overthere.schemes.iana import registration

    name = name.lower()
    return name in cut.registry or registration(name) is not None


# What a reg-name may hold and no name of a host (RFC 1123 2.1), and what only an escape brings there.
_NO_HOST = re.compile(r"[~!$&'()*+,;=]")
_NO_HOST_ESCAPED = re.compile(r"[~!$&'()*+,;= \"<>^`{|}]")


def _name(cut: TextParts, name: str, start: int, end: int, hidden: bool) -> Iterator[Place]:
    """Names that DNS does not hold: too long, or not of labels of letters, digits and hyphens."""
    asked = name
    problem = ""
    if not name.isascii():
        try:
            asked = resolvable(name)
        except UnicodeError:
            problem = "it is not a valid name in IDNA 2008 (RFC 5890 2.3.2)"
    asked = asked.removesuffix(".")
    labels = asked.split(".")
    if any(len(label) > 63 for label in labels) or len(asked) > 253:
        yield Place("host-long", start, end)
        return
    files = cut.facts is not None and cut.facts.host_of_files
    if cut.scheme and not files and cut.default_port is None:  # names of the scheme's own (3.2.2)
        return
    if not problem and asked.isascii():
        odd = (_NO_HOST if asked == cut.text[start:end] else _NO_HOST_ESCAPED).search(asked)
        problem = _unusual(labels) if odd is None else f"a host name cannot contain {quote_host(odd[0])}"
    if problem:
        yield Place("host-name", start, end, MASK if hidden else f"{quote_host(name)}: {problem}")


def _unusual(labels: list[str]) -> str:
    if "" in labels:
        return "a label is empty"
    if any(label.startswith("-") or label.endswith("-") for label in labels):
        return "a label begins or ends with a hyphen"
    if labels[-1].isdigit() and len(labels) > 1:
        return "its last label is a number, but it is not an address"
    wrong = next((label for label in labels if label[:4].lower() == "xn--" and not is_a_label(label)), "")
    return f"{quote_host(wrong)} is not a valid A-label" if wrong else ""


def _address(address: Address, text: str, start: int, end: int, hidden: bool) -> Iterator[Place]:
    if address.version == 4 and text != str(address):
        it, expected = (MASK, "") if hidden else (quote_host(text), f'"{address}"')
        yield Place("address-rare", start, end, it, expected)
    why = forbidden(address)
    if why is None:
        return
    inner = embedded_ipv4(address)
    shown = MASK if hidden else f"{str(inner or address)[:60]}, {why}"
    yield Place(_kind_of(inner or address, why), start, end, shown)


def _kind_of(address: Address, why: str) -> str:
    bare = ipaddress.IPv6Address(int(address)) if address.version == 6 else address  # without a zone
    if bare in _METADATA:
        return "address-metadata"
    for word, kind in _KINDS_OF_ADDRESS:
        if why.startswith(word):
            return kind
    return "address-special"


# "0.0.0.0" and "::" lead to the machine itself on most systems.
_KINDS_OF_ADDRESS = (
    ("loopback", "address-loopback"), ("unspecified", "address-loopback"), ("link-local", "address-link-local"),
    ("private", "address-private"), ("shared", "address-private"), ("unique-local", "address-private"),
    ("site-local", "address-private"),
)  # fmt: skip


# -- port


def _port(cut: TextParts, start: int, end: int) -> Iterator[Place]:
    text = cut.text[start:end]
    if not (text.isascii() and text.isdigit()):
        return
    digits = text.lstrip("0") or "0"
    if len(digits) > 5 or int(digits) > 65535:
        yield Place("port-range", start, end, MASK if cut.covers_password(start, end) else _shorten_digits(digits))
        return
    port, usual = int(digits), cut.default_port
    if port == 25 and cut.scheme not in _MAIL:
        yield Place("port-mail", start, end)
    elif usual is not None and port != usual:
        shown = MASK if cut.covers_password(start, end) else digits
        yield Place("port-reserved" if port < 1024 else "port-other", start, end, shown)


def _shorten_digits(digits: str) -> str:
    return digits if len(digits) <= 20 else f"{digits[:20]}…"
