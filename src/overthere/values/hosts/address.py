"""Hosts that are addresses in any spelling, and what an address reaches (RFC 3986 7.4)."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from ipaddress import IPv4Address, IPv6Address, IPv6Network

from overthere.ground.caches import bounded_cache
from overthere.ground.unicode_forms import normalize_unicode
from overthere.kernel.percent import percent_decode  # the native one refuses a broken escape, here it stays
from overthere.values.hosts.idn import to_ascii

Address = IPv4Address | IPv6Address

_NUMBER = re.compile(r"0[xX][0-9a-fA-F]*|[0-9]+")


def literal(host: str, *, decoded: bool = False) -> Address | None:
    """Return the address that a host is, also by the rules of `inet_aton`; None if it is a name.

    host: as a URI writes it, unless it is `decoded`.  It is read as a resolver may read it: dotted or whole, decimal,
    octal or hexadecimal, with a final dot, with digits and dots of other scripts (UTS 46), with a zone (RFC 6874).

    >>> [str(literal(host)) for host in ("127.1", "0x7f000001", "017700000001", "[::1%25lo]", "h.example")]
    ['127.0.0.1', '127.0.0.1', '127.0.0.1', '::1%lo', 'None']
    """
    text = host if decoded else _decode(host)
    if not text.isascii():
        text = client_name(text, decoded=True)
    if text.startswith("["):
        text = text[1:].removesuffix("]")
    if ":" in text or text[-1:].isdigit():  # no other text is an address for `ipaddress`, whose errors are slow
        with suppress(ValueError):
            return ipaddress.ip_address(text)
    return _aton(text.removesuffix("."))


def link_local(address: str) -> bool:
    """Whether an address in the form of RFC 3986 is in fe80::/10, the addresses that have a zone (RFC 6874 4).

    >>> link_local("fe80::1"), link_local("fe8::1")
    (True, False)
    """
    return _LINK_LOCAL.match(address) is not None


# The first ten bits of fe80::/10 (RFC 4291 2.5.6), which are all in the first group.
_LINK_LOCAL = re.compile("(?i)fe[89ab][0-9a-f]:")


def resolvable(host: str) -> str:
    """Return a host as a resolver takes it: a non-ASCII name in IDNA (RFC 3986 3.2.2; UTS 46).

    Raises: UnicodeError for an invalid name: a label is empty or longer than 63 (RFC 1034 3.1), or it has a
    delimiter of URIs or a control character.

    >>> resolvable("B\u00fccher.example")
    'xn--bcher-kva.example'
    """
    name = host if host.isascii() else to_ascii(host)
    labels = name.removesuffix(".").split(".")
    if len(name) > 254 or not all(0 < len(label) < 64 for label in labels):
        raise UnicodeError("a label is empty or too long")
    if (delimiter := has_delimiter(name)) and not (delimiter in ":%" and literal(name, decoded=True)):
        raise UnicodeError(f"a name cannot contain {delimiter!r}")
    return name


def client_name(host: str, *, decoded: bool = False) -> str:
    """Return the name that a client contacts, in lower case: mapped by UTS 46, or as nearly as possible.

    Lenient clients contact names that IDNA 2008 rejects: letters are folded, and ignored characters are removed.

    host: as a URI writes it, unless it is `decoded`.

    >>> client_name("metadata.google\u3002%EF%BD%89nternal"), client_name("LOC%C2%ADALHOST\u200d")
    ('metadata.google.internal', 'localhost')
    """
    text = host if decoded else _decode(host)
    if text.isascii():
        return text.lower()
    with suppress(UnicodeError):
        return to_ascii(text).lower()
    mapped = normalize_unicode("NFKC", normalize_unicode("NFKC", _IGNORED.sub("", text)).casefold())
    return _IGNORED.sub("", mapped).replace("\u3002", ".")


def older_name(host: str) -> str:
    """Return the name that a client of IDNA 2003 contacts (RFC 3490), which ignores fewer characters than UTS 46.

    host: as a URI writes it.

    >>> older_name("fa%C3%9F.example"), older_name("b%C3%BCcher.ex%E2%81%A4ample")
    ('fass.example', 'xn--bcher-kva.xn--example-el7c')
    """
    text = _decode(host)
    with suppress(UnicodeError):
        return text.encode("idna").decode().lower() if len(text) < 1000 else client_name(host)
    return client_name(host)


def has_delimiter(name: str) -> str:
    """Return the first character of a decoded name that ends or splits a host for some reader; "" if it has none.

    >>> has_delimiter("evil.example/.good.example"), has_delimiter("good.example")
    ('/', '')
    """
    match = _DELIMITER.search(name)
    return "" if match is None else match[0]


# UTS 46 4 removes most of them, nameprep (RFC 3454 B.1) the others: soft hyphens, joiners, variation selectors.
_IGNORED = re.compile(
    "[\u00ad\u034f\u1806\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff"
    "\U0001bca0-\U0001bca3\U000e0000-\U000e0fff]"
)
# Control characters, and the delimiters of RFC 3986 2.2 and of the URL Standard 3.5 ("forbidden domain code point").
_DELIMITER = re.compile(r"[\x00-\x20\x7f-\xa0\u2028\u2029/?#@:\\\[\]%<>^|\ufffd\ud800-\udfff]")


def _decode(host: str) -> str:
    return percent_decode(host.encode("utf-8", "surrogatepass")).decode("utf-8", "replace")


def certificate_name(host: str) -> str:
    """Return the name that a certificate must have: without a final dot (RFC 6066 3), and an address without its zone,
    which only has a meaning on this machine (RFC 6874 4).  Raises: as `resolvable`.

    >>> certificate_name("h.example."), certificate_name("fe80::1%eth0")
    ('h.example', 'fe80::1')
    """
    return host.partition("%")[0] if ":" in host else resolvable(host).removesuffix(".")


def _aton(text: str) -> IPv4Address | None:
    """Parse "a.b.c.d", "a.b.c", "a.b" or "a", each number decimal, octal (0...) or hexadecimal (0x...) (7.4)."""
    parts = text.split(".")
    if len(parts) > 4 or not all(len(part) < 40 and _NUMBER.fullmatch(part) for part in parts):
        return None
    try:
        numbers = [_number(part) for part in parts]
    except ValueError:  # an "8" in an octal number
        return None
    *first, last = numbers
    if any(number > 255 for number in first) or last >= 256 ** (5 - len(parts)):
        return None
    value = last
    for index, number in enumerate(first):
        value += number << (24 - 8 * index)
    return IPv4Address(value)


def _number(part: str) -> int:
    if part[:2].lower() == "0x":
        return int(part[2:] or "0", 16)
    return int(part, 8) if part.startswith("0") else int(part)


def embedded_ipv4(address: Address) -> IPv4Address | None:
    """Return the IPv4 address that an IPv6 address leads to, or seems to; otherwise None.

    Mapped and compatible (RFC 4291 2.5.5), translated (RFC 6052 2.1, RFC 2765 2.1), 6to4 (RFC 3056 2), Teredo (RFC 4380
    4), ISATAP (RFC 5214 6.1).
    """
    return next(_embedded_addresses(address, ()), None)


def _embedded_addresses(address: Address, nat64: Iterable[IPv6Network]) -> Iterator[IPv4Address]:
    """Yield all addresses that it may lead to: its network and its interface may each embed one."""
    if isinstance(address, IPv4Address):
        return
    packed = address.packed
    # "::" and "::1" are addresses of their own (RFC 4291 2.5.2, 2.5.3); "::ffff:0.0.0.0" leads where 0.0.0.0 does.
    if packed[:12] in _PREFIXES and packed not in (bytes(16), bytes(15) + b"\1"):
        yield IPv4Address(packed[12:])
    for prefix in nat64:
        yield _translate_nat64(packed, prefix)
    if address.sixtofour is not None:
        yield address.sixtofour
    if address.teredo is not None:
        yield address.teredo[1]
    if packed[8:12] in _ISATAP:
        yield IPv4Address(packed[12:])


@bounded_cache(64)
def nat64_prefix(prefix: IPv6Network | str) -> IPv6Network:
    """Return a prefix by which a network translates IPv4 addresses.

    Raises: ValueError if it has not 32, 40, 48, 56, 64 or 96 bits, or if bits 64 to 71 are not zero (RFC 6052 2.2).

    >>> nat64_prefix("64:ff9b:1:fffe::/96")
    IPv6Network('64:ff9b:1:fffe::/96')
    """
    try:
        network = IPv6Network(prefix)
    except ValueError as error:
        raise ValueError(f"{str(prefix)!r} is not a valid NAT64 prefix: {error} (RFC 6052 2.2)") from None
    if network.prefixlen not in (32, 40, 48, 56, 64, 96):
        raise ValueError(f"a NAT64 prefix must have 32, 40, 48, 56, 64 or 96 bits: {network} (RFC 6052 2.2)")
    if network.network_address.packed[8]:
        raise ValueError(f"bits 64 to 71 of a NAT64 prefix must be zero: {network} (RFC 6052 2.2)")
    return network


def _translate_nat64(packed: bytes, prefix: IPv6Network) -> IPv4Address:
    """Return the address after the prefix, without the octet of bits 64 to 71 (RFC 6052 2.2)."""
    return IPv4Address(bytes(packed[index] for index in range(prefix.prefixlen // 8, 16) if index != 8)[:4])


_PREFIXES = frozenset(
    bytes.fromhex(text)
    for text in (
        "000000000000000000000000",
        "00000000000000000000ffff",
        "0000000000000000ffff0000",
        "0064ff9b0000000000000000",
    )
)
# The universal bit says whether the IPv4 address is globally unique; the group bit has no meaning (RFC 5214 6.1).
_ISATAP = frozenset(bytes.fromhex(text) for text in ("00005efe", "01005efe", "02005efe", "03005efe"))

# IANA's registries of special-purpose addresses (RFC 6890), which versions of `ipaddress` know in part.
_SPECIAL = [
    (ipaddress.ip_network(text), purpose)
    for text, purpose in [
        ("0.0.0.0/8", "of this network (RFC 1122)"),
        ("100.64.0.0/10", "shared (RFC 6598)"),
        ("192.0.0.0/24", "for protocol assignments (RFC 6890)"),
        ("192.0.2.0/24", "for documentation (RFC 5737)"),
        ("198.51.100.0/24", "for documentation (RFC 5737)"),
        ("203.0.113.0/24", "for documentation (RFC 5737)"),
        ("192.88.99.0/24", "a 6to4 relay (RFC 7526)"),
        # Public by number; a request from within is answered by the platform (Microsoft, "What is IP address ...").
        ("168.63.129.16/32", "the platform's of Azure"),
        ("198.18.0.0/15", "for benchmarking (RFC 2544)"),
        ("240.0.0.0/4", "reserved (RFC 1112)"),
        ("64:ff9b:1::/48", "for local translation (RFC 8215)"),
        ("100::/64", "discard-only (RFC 6666)"),
        ("2001::/32", "of Teredo (RFC 4380)"),
        ("2001:2::/48", "for benchmarking (RFC 5180)"),
        ("2001::/23", "for protocol assignments (RFC 2928)"),
        ("2001:db8::/32", "for documentation (RFC 3849)"),
        ("3fff::/20", "for documentation (RFC 9637)"),
        ("fc00::/7", "unique-local (RFC 4193)"),
        ("fec0::/10", "site-local (RFC 3879)"),
    ]
]
_PUBLIC = ipaddress.ip_network("2000::/3")
_TRANSLATED = ipaddress.ip_network("64:ff9b::/96")


def forbidden(address: Address, nat64: Iterable[IPv6Network | str] = ()) -> str | None:
    """Return why an untrusted URI must not reach an address; None if the address is public.

    nat64: prefixes by which this network translates IPv4 addresses (RFC 6052 2.2, RFC 8215): an address in one is
    judged by the IPv4 address that it leads to.

    >>> forbidden(literal("169.254.169.254")), forbidden(literal("64:ff9b::a00:1")), forbidden(literal("192.0.43.8"))
    ('link-local', 'private (in 64:ff9b::a00:1)', None)
    """
    prefixes = [prefix for prefix in map(nat64_prefix, nat64) if address in prefix]
    for embedded in _embedded_addresses(address, prefixes):
        if reason := forbidden(embedded):
            return f"{reason} (in {address})"
    for name in ("loopback", "unspecified", "link_local", "multicast"):
        if getattr(address, f"is_{name}"):
            return name.replace("_", "-")
    if prefixes:  # the embedded address is public
        return "not an address of its NAT64 prefix (RFC 6052 2.2)" if address.packed[8] else None
    for network, purpose in _SPECIAL:
        if address.version == network.version and address in network:
            return purpose
    if isinstance(address, IPv4Address):
        return "private" if address.is_private else None if address.is_global else "set aside for special purposes"
    if address.ipv4_mapped is not None or address in _TRANSLATED:  # the embedded address is public
        return None
    # RFC 4291 2.4 calls all other addresses global unicast; IANA has allocated only this eighth of them.
    return None if address in _PUBLIC else "reserved (RFC 4291 2.4)"
