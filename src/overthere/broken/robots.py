"""robots.txt honoured (RFC 9309), read by Protego: what of a server a crawler may ask for."""

from __future__ import annotations

import re
import threading
from typing import TYPE_CHECKING

from overthere.broken.asking import Asking
from overthere.extras import need
from overthere.uri import URI

if TYPE_CHECKING:
    from protego import Protego

__all__ = ["TOKEN", "Robots"]

TOKEN = "overthere"
"""The product token by which rules name this crawler (2.2.1)."""
_ANY = re.compile("")
_MOST = 500 * 1024
"""Octets that are read (2.5)."""


class Robots:
    """The rules of each origin, which is asked for them once."""

    def __init__(self, asking: Asking) -> None:
        need("broken", "protego")
        self._asking = asking
        self._rules: dict[str, Protego | bool] = {}
        self._lock = threading.Lock()

    def allow(self, uri: str) -> bool:
        """Whether it may be asked for.  A server without the file allows all, one that fails nothing (2.3.1)."""
        origin = URI(uri).origin
        with self._lock:
            rules = self._rules.get(origin)
            if rules is None:
                rules = self._rules[origin] = self._read(URI(uri).join("/robots.txt"))
        return rules if isinstance(rules, bool) else rules.can_fetch(uri, TOKEN)

    def delay(self, uri: str) -> float | None:
        """Seconds between two requests that the server wants, where it says so (Crawl-delay, which is no standard)."""
        rules = self._rules.get(URI(uri).origin)
        return None if rules is None or isinstance(rules, bool) else rules.crawl_delay(TOKEN)

    def _read(self, uri: URI) -> Protego | bool:
        from protego import Protego

        answer = self._asking.ask(str(uri), content=True, kinds=_ANY)
        status = answer.outcome.status
        if answer.content is None or status is None or status >= 500:
            # 2.3.1.3: "unavailable" is what the server denies, "unreachable" what it cannot answer now.
            return status is not None and 400 <= status < 500
        if status >= 400:
            return True
        return Protego.parse(answer.content[:_MOST].decode("utf-8", "replace"))
