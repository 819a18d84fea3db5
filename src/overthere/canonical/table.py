"""The table of steps: what each does, what it may break, and the document that defines it."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from overthere.canonical import rewriting as work
from overthere.canonical.sessions import drop_sessions
from overthere.kernel.reference import Parts

__all__ = ["STEPS", "Kind"]

_SB = "Safe Browsing, URLs and Hashing"
_IA = "what web archives index by (CDX)"
_CRAWL = "custom of crawlers"


class Kind(NamedTuple):
    """What is known of a step of one name."""

    apply: Callable[..., Parts]
    does: str
    breaks: str
    """What may be another resource, or none, afterwards."""
    source: str
    parameters: dict[str, type] = {}  # noqa: RUF012 - never changed
    required: tuple[str, ...] = ()


STEPS: dict[str, Kind] = {
    "ladder": Kind(
        work.ladder,
        "the normal form at a rung",
        "nothing that the rung's paragraph allows",
        "RFC 3986 6.2",
        {"rung": str},
        ("rung",),
    ),
    "remove-dots": Kind(work.remove_dots, "dot-segments resolved", "nothing", "RFC 3986 6.2.2.3"),
    "lower-host": Kind(work.lower_host, "the host in small letters", "nothing", "RFC 3986 6.2.2.1"),
    "drop-fragment": Kind(
        work.drop_fragment, "no fragment", "pages that a script shows by their fragment", "RFC 3986 3.5"
    ),
    "drop-userinfo": Kind(
        work.drop_userinfo,
        'no userinfo; empty: none that is "" or ":"',
        "what needs a user's name",
        "RFC 3986 7.5",
        {"empty": bool},
    ),
    "drop-port": Kind(
        work.drop_port,
        'no port; only = "default", "empty", "any" or "web" (80 of http, 443 of https)',
        "another server, where any port is dropped",
        "RFC 3986 6.2.3",
        {"only": str},
    ),
    "drop-www": Kind(
        work.drop_www,
        'no "www.", "www2." and the like in front of a host of two labels or more',
        "hosts that are another server without it",
        _IA,
    ),
    "https": Kind(work.https, "https for http", "servers without TLS, or with other pages there", _CRAWL),
    "host-dots": Kind(work.host_dots, "no dots around the host, one between labels", "search lists of a resolver", _SB),
    "ipv4": Kind(work.ipv4, "addresses in hexadecimal, octal or one number, dotted", "a host of that name", _SB),
    "ipv6": Kind(
        work.ipv6,
        "IPv6 addresses as RFC 5952 writes them; dotted: mapped and NAT64 ones as the IPv4 address they lead to",
        "nothing",
        "RFC 5952 4, 5",
        {"dotted": bool},
    ),
    "host-idna": Kind(
        work.host_idna,
        "a host name in letters or escapes as its A-labels",
        "names that a resolver without IDNA knows",
        "RFC 5891 4; UTS 46",
    ),
    "unescape": Kind(
        work.unescape,
        "escapes taken away until none is left, and what may not stand there escaped once",
        "escaped delimiters and percent signs that are data",
        _SB,
    ),
    "nfc": Kind(
        work.nfc,
        "what escapes of UTF-8 mean, composed (NFC)",
        "files whose names are told apart by it",
        "RFC 3987 5.3.2.2",
    ),
    "collapse-slashes": Kind(work.collapse_slashes, "one slash for several in the path", "empty segments", _SB),
    "root-slash": Kind(
        work.root_slash, '"/" for an empty path behind an authority', "nothing in http", "RFC 3986 6.2.3"
    ),
    "drop-trailing-slash": Kind(
        work.trailing_slash, "no slash at the end of a path", "folders, and references relative to them", _IA
    ),
    "drop-index": Kind(
        work.index_names,
        "no default name at the end of the path",
        "servers with another default name",
        _CRAWL,
        {"names": tuple},
        ("names",),
    ),
    "lower-path": Kind(work.lower_path, "the path in small letters", "servers that tell case apart", _IA),
    "lower-query": Kind(work.lower_query, "the query in small letters", "values that tell case apart", _IA),
    "rewrite-path": Kind(
        work.rewrite_path,
        "escapes in the path only where they must be, and for `keep`",
        "escaped sub-delimiters that are data",
        "RFC 3986 2.2",
        {"keep": str},
    ),
    "rewrite-query": Kind(
        work.rewrite_query,
        'escapes in parameters only where they must be, for "+", and for "=" in values; no empty ones',
        "escaped sub-delimiters that are data, queries that are no forms",
        _CRAWL,
    ),
    "rewrite-fragment": Kind(
        work.rewrite_fragment,
        'all escaped in the fragment but unreserved characters and "="; no empty one',
        "fragments that a script reads as they are written",
        _CRAWL,
    ),
    "sort-parameters": Kind(
        work.sort_parameters,
        'parameters by their names; by = "pair": by names as they are written, then by values',
        "programs to which the order speaks",
        _CRAWL,
        {"by": str},
    ),
    "rewrite-parameters": Kind(
        work.rewrite_parameters,
        "parameters decoded, sorted by name and value, and written anew as a form",
        "queries that are no forms, the order, names without =",
        "URL Standard 5.2",
    ),
    "drop-parameters": Kind(
        work.drop_parameters,
        "no parameters of these names, in which * stands for any characters",
        "pages that one of them chooses",
        _CRAWL,
        {"names": tuple},
        ("names",),
    ),
    "keep-parameters": Kind(
        work.keep_parameters,
        "parameters of these names alone",
        "pages that another one chooses",
        _CRAWL,
        {"names": tuple},
        ("names",),
    ),
    "drop-empty-parameters": Kind(
        work.empty_parameters,
        "no empty pairs; valueless: nor those without a value",
        "flags, where valueless",
        _CRAWL,
        {"valueless": bool},
    ),
    "drop-empty-values": Kind(
        work.empty_values, 'no "=" behind a name without a value', "programs that tell the two apart", _CRAWL
    ),
    "drop-empty-query": Kind(work.empty_query, "no query for an empty one", "servers that tell them apart", _IA),
    "drop-sessions": Kind(
        drop_sessions, "no session identifiers of well-known servers", "what one session alone is shown", _IA
    ),
}
"""Name -> what a step of that name is."""
