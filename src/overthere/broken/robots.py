"""robots.txt honoured (RFC 9309), read by Protego: what of a server a crawler may ask for."""

from __future__ import annotations

import re
import threading
import time
from typing import TYPE_CHECKING

from overthere.broken.asking import Asking
from overthere.broken.model import Outcome
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
        self._rules: dict[str, Protego | Outcome | None] = {}
        self._lock = threading.Lock()

    def refusal(self, uri: str) -> Outcome | None:
        """Why a URI may not be asked for: the rules say so, or the server could not tell them (RFC 9309 2.3.1.4).

        None: it may be.  A server without the file allows all (2.3.1.3).
        """
        origin = URI(uri).origin
        with self._lock:
            if origin not in self._rules:
                self._rules[origin] = self._read(URI(uri).join("/robots.txt"))
            rules = self._rules[origin]
        if isinstance(rules, Outcome):
            return rules._replace(uri=uri, why=f"robots.txt: {rules.why}", final=None, permanent=False)
        if rules is None or rules.can_fetch(uri, TOKEN):
            return None
        return Outcome(uri, "robots", None, URI(uri).path, None, False, (), time.time(), False)

    def delay(self, uri: str) -> float | None:
        """Seconds between two requests that the server wants, where it says so (Crawl-delay, which is no standard)."""
        rules = self._rules.get(URI(uri).origin)
        return None if rules is None or isinstance(rules, Outcome) else rules.crawl_delay(TOKEN)

    def _read(self, uri: URI) -> Protego | Outcome | None:
        """The rules; None for a server that has none; what happened where it could not be asked."""
        from protego import Protego

        answer = self._asking.ask(str(uri), content=True, kinds=_ANY)
        status = answer.outcome.status
        if status is None or status >= 500:
            return answer.outcome
        if status >= 400 or answer.content is None:
            return None
        return Protego.parse(answer.content[:_MOST].decode("utf-8", "replace"))
