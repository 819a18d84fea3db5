"""The table of steps: the effect and the risk of each, and the document that defines it."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from overthere.canonical import rewriting as work
from overthere.canonical.sessions import drop_sessions
from overthere.kernel.reference import Parts

_SB = "Safe Browsing, URLs and Hashing"
_IA = "the index format of web archives (CDX)"
_CRAWL = "crawler convention"


class Kind(NamedTuple):
    """The description of a step."""

    apply: Callable[..., Parts]
    does: str
    breaks: str
    """The resources whose canonical URI may lead to another resource, or to none."""
    source: str
    parameters: dict[str, type] = {}  # noqa: RUF012 - never changed
    required: tuple[str, ...] = ()


STEPS: dict[str, Kind] = {
    "ladder": Kind(
        work.normalize_at_rung,
        "the normal form at a rung",
        "nothing that the rung's section allows",
        "RFC 3986 6.2",
        {"rung": str},
        ("rung",),
    ),
    "remove-dots": Kind(work.remove_dots, "resolve dot-segments", "nothing", "RFC 3986 6.2.2.3"),
    "lower-host": Kind(work.lower_host, "the host in lower case", "nothing", "RFC 3986 6.2.2.1"),
    "drop-fragment": Kind(work.drop_fragment, "no fragment", "pages that a script shows by fragment", "RFC 3986 3.5"),
    "drop-userinfo": Kind(
        work.drop_userinfo,
        'no userinfo; empty: only if it is "" or ":"',
        "resources that need a user name",
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
        'no "www.", "www2." and similar before a host of two labels or more',
        "hosts that are another server without it",
        _IA,
    ),
    "https": Kind(work.upgrade_to_https, "https for http", "servers without TLS, or with other pages there", _CRAWL),
    "host-dots": Kind(
        work.clean_host_dots, "no dots around the host, one between labels", "resolver search lists", _SB
    ),
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
        "unescape repeatedly, then escape once every character that is not allowed",
        "escaped delimiters and percent signs that are data",
        _SB,
    ),
    "nfc": Kind(
        work.nfc, "UTF-8 escapes decoded and composed (NFC)", "files whose names differ only in it", "RFC 3987 5.3.2.2"
    ),
    "collapse-slashes": Kind(work.collapse_slashes, "one slash for several in the path", "empty segments", _SB),
    "root-slash": Kind(
        work.add_root_slash, '"/" for an empty path after an authority', "nothing in http", "RFC 3986 6.2.3"
    ),
    "drop-trailing-slash": Kind(
        work.drop_trailing_slash, "no slash at the end of a path", "folders, and references relative to them", _IA
    ),
    "drop-index": Kind(
        work.drop_index_names,
        "no default name at the end of the path",
        "servers with another default name",
        _CRAWL,
        {"names": tuple},
        ("names",),
    ),
    "lower-path": Kind(work.lower_path, "the path in lower case", "case-sensitive servers", _IA),
    "lower-query": Kind(work.lower_query, "the query in lower case", "case-sensitive values", _IA),
    "rewrite-path": Kind(
        work.rewrite_path,
        "escapes in the path only where needed, and for `keep`",
        "escaped sub-delimiters that are data",
        "RFC 3986 2.2",
        {"keep": str},
    ),
    "rewrite-query": Kind(
        work.rewrite_query,
        'escapes in parameters only where needed, for "+", and for "=" in values; no empty parameters',
        "escaped sub-delimiters that are data, queries that are not forms",
        _CRAWL,
    ),
    "rewrite-fragment": Kind(
        work.rewrite_fragment,
        'everything in the fragment escaped except unreserved characters and "="; no empty fragment',
        "fragments that a script reads unchanged",
        _CRAWL,
    ),
    "sort-parameters": Kind(
        work.sort_parameters,
        'parameters by their names; by = "pair": by names as they are written, then by values',
        "programs that depend on the order",
        _CRAWL,
        {"by": str},
    ),
    "rewrite-parameters": Kind(
        work.rewrite_parameters,
        "parameters decoded, sorted by name and value, and rewritten as a form",
        "queries that are not forms, the order, names without =",
        "URL Standard 5.2",
    ),
    "drop-parameters": Kind(
        work.drop_parameters,
        "no parameters of these names; * matches any characters",
        "pages that depend on one of them",
        _CRAWL,
        {"names": tuple},
        ("names",),
    ),
    "keep-parameters": Kind(
        work.keep_parameters,
        "only parameters of these names",
        "pages that depend on another one",
        _CRAWL,
        {"names": tuple},
        ("names",),
    ),
    "drop-empty-parameters": Kind(
        work.drop_empty_parameters,
        "no empty pairs; valueless: also none without a value",
        "flags, where valueless",
        _CRAWL,
        {"valueless": bool},
    ),
    "drop-empty-values": Kind(
        work.drop_empty_values, 'no "=" after a name without a value', "programs that distinguish the two", _CRAWL
    ),
    "drop-empty-query": Kind(work.drop_empty_query, "no empty query", "servers that distinguish them", _IA),
    "drop-sessions": Kind(
        drop_sessions, "no session identifiers of well-known servers", "pages that only one session shows", _IA
    ),
}
"""Name of a step -> its description."""
