"""Security of every answer of the explainer: allowed host names, and headers that restrict the browser."""

from __future__ import annotations

import re
from contextlib import suppress
from urllib.parse import unquote

from overthere.ground.extras import brought_by

with brought_by("web"):
    from starlette.datastructures import Headers, MutableHeaders
    from starlette.requests import ClientDisconnect
    from starlette.responses import PlainTextResponse
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
    "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}
"""On every answer.  With `Referrer-Policy: no-referrer` the Origin of our own forms would be "null" (Fetch 3.2)."""
_LOOPBACK = re.compile(r"(?:localhost|127\.0\.0\.1|\[::1\])(?::[0-9]{1,5})?", re.IGNORECASE)
_ABSOLUTE = re.compile(rb"https?://([^/]*)(.*)", re.IGNORECASE | re.DOTALL)
_SAFE = frozenset(("GET", "HEAD", "OPTIONS"))
"""Methods that any page may use (RFC 9110 9.2.1): they change nothing, and a link may lead here."""


class Guard:
    """Adds the headers to every answer; on loopback, rejects host names that are not of this machine.

    From pages of another origin it accepts only followed links.
    """

    def __init__(self, inner: ASGIApp, *, loopback: bool) -> None:
        self.inner: ASGIApp = inner
        self.loopback: bool = loopback

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.inner(scope, receive, send)
            return

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                headers.update(HEADERS)
                headers.setdefault("Cache-Control", "no-store")
            await send(message)

        if absolute := _ABSOLUTE.fullmatch(scope.get("raw_path") or b""):
            # The host of the target replaces the field Host (RFC 9112 3.2.2).
            other_headers = [pair for pair in scope["headers"] if pair[0] != b"host"]
            raw = absolute[2] or b"/"
            path = unquote(raw.decode("latin-1"))
            scope = {**scope, "raw_path": raw, "path": path, "headers": [(b"host", absolute[1]), *other_headers]}
        headers = Headers(scope=scope)
        hosts = headers.getlist("host")
        if self.loopback and not (len(hosts) == 1 and _LOOPBACK.fullmatch(hosts[0])):
            refusal = "This server accepts only localhost, 127.0.0.1 and [::1] as Host; the request has another.\n"
            await PlainTextResponse(refusal, 421)(scope, receive, send_with_headers)
            return
        if "content-length" in headers and "transfer-encoding" in headers:
            # The end of the body is ambiguous (RFC 9112 6.1, 6.3): this connection is not read any further.
            refusal = "The request has both Content-Length and Transfer-Encoding.\n"
            answer = PlainTextResponse(refusal, 400, {"Connection": "close"})
            await answer(scope, receive, send_with_headers)
            return
        if not _is_same_origin(headers) and not (scope["method"] in _SAFE and _is_link(headers)):
            refusal = "From pages of another origin this server accepts only followed links.\n"
            await PlainTextResponse(refusal, 403)(scope, receive, send_with_headers)
            return
        with suppress(ClientDisconnect):
            await self.inner(scope, receive, send_with_headers)


def _is_same_origin(headers: Headers) -> bool:
    """Whether a request comes from this server's pages, or from no page.

    This is read from Sec-Fetch-Site (Fetch Metadata 2.3) and Origin (RFC 6454 7), which no page can set; behind a proxy
    that adds TLS the origin is https.
    """
    if any(site.strip().lower() not in ("same-origin", "none") for site in headers.getlist("sec-fetch-site")):
        return False
    own_origins = {f"{scheme}://{host}".lower() for scheme in ("http", "https") for host in headers.getlist("host")}
    return all(origin.strip().lower() in own_origins for origin in headers.getlist("origin"))


def _is_link(headers: Headers) -> bool:
    """Whether a browser navigates to the page; other origins cannot embed or fetch it."""
    return headers.get("sec-fetch-mode", "navigate").strip().lower() == "navigate"
