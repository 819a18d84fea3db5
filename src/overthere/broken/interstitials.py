"""Pages that servers send instead of the requested page, until a browser has run their script."""

from __future__ import annotations

import re

_SEARCHED_BYTES = 1 << 16
"""Bytes of a page that are searched for a mark: such pages are short, or have it in their head."""
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
"""A mark of the pages of each program or service, by its name; pages behind it do not have the mark."""
_ANY_MARK = re.compile(b"|".join(b"(%s)" % mark for mark in _MARKS.values()))


def interstitial(content: bytes) -> str | None:
    """The program or service that sent such a page; None if the content is not one.

    >>> interstitial(b'<script id="anubis_challenge" type="application/json">'), interstitial(b"<p>Anubis")
    ('Anubis', None)
    """
    match = _ANY_MARK.search(content, 0, _SEARCHED_BYTES)
    return None if match is None else list(_MARKS)[(match.lastindex or 1) - 1]
