"""What holds for every answer of the explainer: who may ask by which name, and what a browser may do with the page."""

from __future__ import annotations

import re

from overthere.extras import brought_by

with brought_by("web"):
    from starlette.datastructures import Headers, MutableHeaders
    from starlette.responses import PlainTextResponse
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

__all__ = ["HEADERS", "Guard"]

HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
    "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}
"""On every answer."""
_LOOPBACK = re.compile(r"(?:localhost|127\.0\.0\.1|\[::1\])(?::[0-9]{1,5})?", re.IGNORECASE)


class Guard:
    """An application within these headers; on loopback one that is asked for by this machine's own names only."""

    def __init__(self, inner: ASGIApp, *, loopback: bool) -> None:
        self.inner: ASGIApp = inner
        self.loopback: bool = loopback

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.inner(scope, receive, send)
            return

        async def guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                headers.update(HEADERS)
                headers.setdefault("Cache-Control", "no-store")
            await send(message)

        hosts = Headers(scope=scope).getlist("host")
        if self.loopback and not (len(hosts) == 1 and _LOOPBACK.fullmatch(hosts[0])):
            said = "This server answers for localhost, 127.0.0.1 and [::1] only; the Host of the request is another.\n"
            await PlainTextResponse(said, 421)(scope, receive, guarded)
            return
        await self.inner(scope, receive, guarded)
