"""tldextract: its function and its result, by the list that is installed; nothing is fetched or cached.

from overthere.integrations.tldextract import extract
"""

from __future__ import annotations

import re

from overthere.ground.exact import exact
from overthere.ground.extras import brought_by
from overthere.iri import IRIReference
from overthere.values.hosts.domains import suffix_list
from overthere.values.uri import URIReference

with brought_by("tldextract"):
    from tldextract.tldextract import ExtractResult

__all__ = ["ExtractResult", "extract"]

# Appendix B; a text without a scheme begins with the authority.
_AUTHORITY = re.compile(r"(?:(?:[A-Za-z][A-Za-z0-9+.-]*+:)?//)?([^/?#]*+)", re.DOTALL)
_HOST = re.compile(r"(\[[^\]]*+\])|[^:]*+", re.DOTALL)
_DOTS = re.compile("[\u3002\uff0e\uff61]")


def extract(url: str | URIReference | IRIReference, include_psl_private_domains: bool | None = False) -> ExtractResult:
    """The subdomain, domain and suffix of a URL's host, in the result of tldextract.

    url: a URI, an IRI, or a text that begins with its authority ("user@example.com:80/path"); any text is read.
    include_psl_private_domains: whether the private section of the list counts.

    It differs from tldextract in three points: escapes in a host are decoded (RFC 3986 3.2.2); an address in any
    spelling, and a name that ends in a number, is a domain as a whole (7.4), and so is a host with an empty label (RFC
    1034 3.1).

    >>> extract("http://forums.bbc.co.uk/")
    ExtractResult(subdomain='forums', domain='bbc', suffix='co.uk', is_private=False)
    >>> extract("joe.github.io", include_psl_private_domains=True).registry_suffix
    'io'
    """
    host = _host(exact(url, "extract()")) if isinstance(url, str) else url.host or ""
    rules = suffix_list()
    split = rules.split(host, private=bool(include_psl_private_domains))
    if split is None or split.rule == "*":
        name = _DOTS.sub(".", host).rstrip(".")
        subdomain, _, domain_label = ("", "", name) if split is None else name.rpartition(".")
        return ExtractResult(subdomain, domain_label, "", is_private=False, registry_suffix="")
    registry = rules.split(host, private=False) if split.private else split
    suffix = registry.public_suffix if registry is not None else ""
    domain = (split.registrable_domain or "").partition(".")[0]
    return ExtractResult(split.subdomain or "", domain, split.public_suffix, split.private, registry_suffix=suffix)


def _host(text: str) -> str:
    match = _AUTHORITY.match(text)
    authority = match[1] if match else ""
    host = _HOST.match(authority.rpartition("@")[2])
    return (host[0] if host else "").strip()
