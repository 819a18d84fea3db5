"""What a finger client sends: one line (draft-ietf-uri-url-finger-03 1; RFC 1288 2.1 to 2.3)."""

from __future__ import annotations

from collections.abc import Iterator

from overthere import Credentials, PlanRefused
from overthere.access import Cited, Receive, Send, Step, connect, guarded
from overthere_finger import DRAFT, PORT, FingerLocator

__all__ = ["steps"]


def steps(locator: FingerLocator, credentials: Credentials) -> Iterator[Step]:
    """One request, and what comes until the server closes.  The protocol has no login: `credentials` stay unused."""
    if locator.query is not None:
        raise PlanRefused('finger has no query: "?" in a request is written "%3F"', f"{DRAFT} 2")
    yield connect(locator.host, PORT if locator.port is None else locator.port, f"{DRAFT} 1")
    odd = "" if locator.port in (None, PORT) else Cited(f"port {locator.port} may be another service", f"{DRAFT} 4")
    # 2 and 4: CR and LF are not decoded, for each URL is for a single request.
    yield Send(source=f"{DRAFT} 1", data=guarded(locator.request, "user", f"{DRAFT} 4") + b"\r\n", note=odd)
    yield Receive(
        source="RFC 1288 2.1",
        what="the answer",
        until="close",
        note=Cited("unsafe characters in it are not to be shown as they are", f"{DRAFT} 4"),
    )
