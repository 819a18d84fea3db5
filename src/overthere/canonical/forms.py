"""Canonical forms defined by others, as steps of the table; tracking parameters by vendor."""

from __future__ import annotations

from overthere.canonical.model import Canonical, Step

SAFE_BROWSING = Canonical(
    Step("ladder", rung="CASE"),
    Step("drop-fragment"),
    Step("drop-userinfo"),
    Step("drop-port", only="any"),
    Step("unescape"),
    Step("host-dots"),
    Step("host-idna"),
    Step("ipv4"),
    Step("ipv6", dotted=True),
    Step("root-slash"),
    Step("remove-dots"),
    Step("collapse-slashes"),
    key="safe-browsing",
)
"""The canonicalization of Google's page "URLs and Hashing"; `key()` is the text that is hashed."""

SURT = Canonical(
    Step("ladder", rung="CASE"),
    Step("drop-fragment"),
    Step("drop-userinfo"),
    Step("drop-port", only="web"),
    Step("unescape"),
    Step("host-dots"),
    Step("host-idna"),
    Step("drop-www"),
    Step("ipv4"),
    Step("root-slash"),
    Step("remove-dots"),
    Step("collapse-slashes"),
    Step("lower-path"),
    Step("lower-query"),
    Step("drop-sessions"),
    Step("drop-trailing-slash"),
    Step("sort-parameters", by="pair"),
    Step("drop-empty-query"),
    key="surt",
)
"""The form by which web archives look up pages; `key()` is the sort-friendly text, `SURT(uri)` its URI."""

W3LIB = Canonical(
    Step("ladder", rung="CASE"),
    Step("drop-fragment"),
    Step("drop-port", only="empty"),
    Step("host-idna"),
    Step("ipv6"),
    Step("rewrite-path"),
    Step("remove-dots"),
    Step("root-slash"),
    Step("rewrite-parameters"),
)
"""The result of `w3lib.url.canonicalize_url` for a URI."""

URL_NORMALIZE = Canonical(
    Step("ladder", rung="PERCENT"),
    Step("nfc"),
    Step("drop-userinfo", empty=True),
    Step("host-dots"),
    Step("host-idna"),
    Step("collapse-slashes"),
    Step("remove-dots"),
    Step("ladder", rung="SCHEME"),
    Step("rewrite-query"),
    Step("rewrite-fragment"),
)
"""The result of `url_normalize.url_normalize` for a URI of http, https or ftp."""

CRAWLER_COMMONS = Canonical(
    Step("ladder", rung="PERCENT"),
    Step("drop-fragment"),
    Step("drop-userinfo"),
    Step("host-dots"),
    Step("host-idna"),
    Step("collapse-slashes"),
    Step("remove-dots"),
    Step("ladder", rung="SCHEME"),
    Step("drop-parameters", names=[""]),
    Step("drop-empty-values"),
    Step("sort-parameters"),
    Step("drop-empty-query"),
)
"""The result of `BasicURLNormalizer` of crawler-commons, with its defaults, for a URI of http, https or ftp."""

TRACKING_NAMES = {
    "utm_*": "Yandex Direct, URL parameters: UTM tags",
    "_gl": "Google Analytics, Set up cross-domain measurement",
    "ef_id": "Adobe Advertising, IDs used by Analytics",
    "gad_campaignid": "Google Ads, About gad_* URL parameters",
    "gad_source": "Google Ads, About gad_* URL parameters",
    "gclid": "Google Ads API, ClickConversionResult, July 2026",
    "gbraid": "Google Ads API, ClickConversionResult, July 2026",
    "gclsrc": "Google Search Ads 360, About click IDs",
    "wbraid": "Google Ads API, ClickConversionResult, July 2026",
    "dclid": "Google Analytics, Traffic-source dimensions",
    "fbclid": "Meta, Conversions API, ClickID and the fbp and fbc parameters, January 2026",
    "msclkid": "Microsoft Advertising, How do I see if auto-tagging works",
    "li_fat_id": "LinkedIn, Conversions API, enabling first-party cookies, March 2026",
    "mtm_*": "Matomo, How to manually build campaign tracking URLs",
    "oly_enc_id": "Omeda, Olytics Overview",
    "s_kwcid": "Adobe Advertising, IDs used by Analytics",
    "srsltid": "Google Merchant Center, About auto-tagging",
    "ttclid": "TikTok Ads, About TikTok Click ID",
    "yclid": "Yandex Metrica, getting yclid on the site",
}
"""Name or pattern -> the vendor's page that describes it, as of November 2026; names without a page are not listed."""

TRACKING = Canonical(Step("drop-parameters", names=TRACKING_NAMES))
"""Removes parameters that report where a visitor came from; optional, so not part of another form."""

FORMS = {
    "surt": SURT,
    "safe-browsing": SAFE_BROWSING,
    "w3lib": W3LIB,
    "url-normalize": URL_NORMALIZE,
    "crawler-commons": CRAWLER_COMMONS,
    "tracking": TRACKING,
}
"""Names for the command line -> forms."""
