"""robots.txt (RFC 9309), parsed by Protego: the URIs that a crawler may fetch from a server."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from overthere.broken.model import Outcome
from overthere.broken.replies import Reply
from overthere.ground.extras import need
from overthere.values.uri import URI

if TYPE_CHECKING:
    from protego import Protego

__all__ = ["ANY", "TOKEN", "Robots"]

TOKEN = "overthere"
"""The product token by which rules name this crawler (2.2.1)."""
ANY = re.compile("")
"""The media types that rules may come as."""
_MOST = 500 * 1024
"""Octets that are read (2.5)."""


_AGENT = re.compile(r"\s*+user(?:-|\s*+)agent(?:\s*+:|\s)([^#]*+)", re.IGNORECASE)


def _drop_others(line: str) -> str:
    """A line, or if it names the agent of another crawler, one that names "-": a group begins there all the same."""
    agent = _AGENT.match(line)
    if agent is None or agent[1].strip() == "*":
        return line
    named = agent[1].strip().lower().replace("*", "")
    return f"user-agent: {named if named and TOKEN.startswith(named) else '-'}"


class Robots:
    """The rules of each origin: what is not known is not refused."""

    def __init__(self) -> None:
        need("broken", "protego")
        self._rules: dict[str, Protego | Reply] = {}
        self._files: dict[str, Protego] = {}

    def add_file(self, uri: str, content: bytes) -> None:
        """What a file says."""
        from protego import Protego

        lines = content[:_MOST].decode("utf-8", "replace").splitlines()
        # Protego keeps the rules of a group once for each of its agents.
        self._files[uri] = Protego.parse("\n".join(map(_drop_others, lines)))

    def record_answer(self, origin: str, outcome: Outcome) -> None:
        """What came of asking an origin: one that could not be asked allows nothing (2.3.1.4), one without the file all
        (2.3.1.3); where redirects have led to a file, it counts (2.3.1.2)."""
        if outcome.status is None or outcome.status >= 500:
            self._rules[origin] = Reply(outcome.kind or "protocol", outcome.status, f"robots.txt: {outcome.why}")
        elif rules := self._files.get(outcome.final or outcome.uri):
            self._rules[origin] = rules

    def refusal(self, uri: str) -> Reply | None:
        """Why a URI may not be asked for: the rules say so, or the server could not tell them; None: it may be."""
        rules = self._rules.get(URI(uri).origin)
        if isinstance(rules, Reply):
            return rules
        if rules is None or rules.can_fetch(uri, TOKEN):
            return None
        return Reply("robots", None, URI(uri).path)

    def delay(self, uri: str) -> float | None:
        """Seconds between two requests that the server wants, where it says so (Crawl-delay, which is no standard)."""
        rules = self._rules.get(URI(uri).origin)
        return None if rules is None or isinstance(rules, Reply) else rules.crawl_delay(TOKEN)
