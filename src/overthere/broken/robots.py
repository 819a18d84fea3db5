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

TOKEN = "overthere"
"""The product token of this crawler in rules (2.2.1)."""
ANY = re.compile("")
"""The allowed media types of robots.txt: any."""
_MAX_BYTES = 500 * 1024
"""Bytes of a file that are read (2.5)."""


_AGENT = re.compile(r"\s*+user(?:-|\s*+)agent(?:\s*+:|\s)([^#]*+)", re.IGNORECASE)
_NOT_TOKEN = re.compile(r"[^a-z_-].*", re.DOTALL)
"""The part of a name behind the product token, such as a version (2.2.1)."""


def _hide_other_agent(line: str) -> str:
    """A line; if it names another crawler, a line that names "-" instead, which still begins a group."""
    agent = _AGENT.match(line)
    if agent is None or agent[1].strip() == "*":
        return line
    token = _NOT_TOKEN.sub("", agent[1].strip().lower().replace("*", ""))
    return f"user-agent: {token if token and TOKEN.startswith(token) else '-'}"


class Robots:
    """The rules of each origin; without known rules, everything is allowed."""

    def __init__(self) -> None:
        need("broken", "protego")
        self._rules: dict[str, Protego | Reply] = {}
        self._files: dict[str, Protego] = {}

    def add_file(self, uri: str, content: bytes) -> None:
        """Parse the rules in a file."""
        from protego import Protego

        if len(content) > _MAX_BYTES:
            content = content[:_MAX_BYTES].rpartition(b"\n")[0]  # a piece of a rule is another rule
        lines = content.decode("utf-8-sig", "replace").splitlines()
        # Protego stores the rules of a group once per agent, so other agents are dropped.
        self._files[uri] = Protego.parse("\n".join(map(_hide_other_agent, lines)))

    def record_answer(self, origin: str, outcome: Outcome) -> None:
        """Record the outcome of requesting an origin's file: an unreachable origin allows nothing (2.3.1.4), a missing
        file allows everything (2.3.1.3), and a file after redirects counts (2.3.1.2)."""
        if outcome.status is None or outcome.status >= 500:
            self._rules[origin] = Reply(outcome.kind or "protocol", outcome.status, f"robots.txt: {outcome.why}")
        elif rules := self._files.get(outcome.page):
            self._rules[origin] = rules

    def refusal(self, uri: str) -> Reply | None:
        """Why a URI may not be requested: the rules forbid it, or they could not be fetched; None if it may."""
        rules = self._rules.get(URI(uri).origin)
        if isinstance(rules, Reply):
            return rules
        if rules is None or rules.can_fetch(uri, TOKEN):
            return None
        return Reply("robots", None, URI(uri).path)

    def delay(self, uri: str) -> float | None:
        """Seconds between two requests that the server demands (Crawl-delay, which is not standardized), or None."""
        rules = self._rules.get(URI(uri).origin)
        return None if rules is None or isinstance(rules, Reply) else rules.crawl_delay(TOKEN)
