"""mailserver: a reserved name (RFC 1738 4): "Access to data available from mail servers"; historical (RFC 6196)."""

from __future__ import annotations

from overthere.schemes.model import Example, Scheme

__all__ = ["SCHEME"]

# The expired draft that would have given it a syntax.
_DRAFT = "draft-ietf-uri-url-mailserver-02"

EXAMPLES = (
    Example("mailserver:infobot@kwf.com/current-issue/", _DRAFT),
    Example("mailserver:infobot@kwf.com//send%20current-issue", _DRAFT),
    Example("mailserver:infobot@kwf.com//send%20current-issue/send%20index", _DRAFT),
    Example("mailserver:majordomo@kwf.com//subscribe%20bamboo-l", _DRAFT),
)

SCHEME = Scheme(
    name="mailserver",
    title="Access to data available from mail servers",
    documents={"rfc1738": "RFC 1738 4 (reserved)", "rfc3986": "RFC 6196 (historical)"},
    locates_nothing="RFC 1738 4 reserves the name and defines neither its syntax nor its use, and RFC 6196 has made "
    "it historical",
    examples=EXAMPLES,
    notes=(
        "It is read by the generic syntax alone.",
        f"{_DRAFT} would have had it mailserver:<addr-spec>/<subject>/<body>, a message to compose; it has expired.",
    ),
)
