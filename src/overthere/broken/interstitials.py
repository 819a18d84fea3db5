"""Pages that servers send in place of the one that was asked for, until a browser has run their script."""

from __future__ import annotations

import re

__all__ = ["interstitial"]

_SEARCHED = 1 << 16
"""Octets in which a mark is looked for: such pages are short, or have it in their head."""
_MARKS: dict[str, bytes] = {
    "Anubis": rb"/\.within\.website/x/cmd/anubis/|id=[\"']?anubis_challenge",
    "go-away": rb"/\.well-known/\.git\.gammaspectra\.live/git/go-away/",
    "Cloudflare": rb"\b_cf_chl_opt\b",
    "AWS WAF": rb"\bwindow\.gokuProps\b",
    "DDoS-Guard": rb"/\.well-known/ddos-guard/js-challenge/",
    "Imperva": rb"<iframe[^>]{1,200}?/_Incapsula_Resource\?",
    "Sucuri": rb"\bsucuri_cloudproxy_js\b",
    "DataDome": rb"https://(?:geo\.)?captcha-delivery\.com/",
    "Vercel": rb"<title>Vercel Security Checkpoint</title>",
}
"""By the name of the program or service: what its page has, and none behind it."""
_ANY = re.compile(b"|".join(b"(%s)" % mark for mark in _MARKS.values()))


def interstitial(content: bytes) -> str | None:
    """Who has sent such a page; None if it is none.

    >>> interstitial(b'<script id="anubis_challenge" type="application/json">'), interstitial(b"<p>Anubis")
    ('Anubis', None)
    """
    found = _ANY.search(content, 0, _SEARCHED)
    return None if found is None else list(_MARKS)[(found.lastindex or 1) - 1]
