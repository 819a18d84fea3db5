"""Splits any text by Appendix B, and the data that the checks of its parts share."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

from overthere.ground.display import name_of
from overthere.ground.errors import Finding
from overthere.ground.redact import MASK, Span, overlaps, secret_spans
from overthere.kernel.reference import APPENDIX_B
from overthere.schemes.model import Scheme
from overthere.schemes.registry import Registry
from overthere.security.table import KINDS
from overthere.values.known_secrets import Secrets

__all__ = ["TextParts", "Place", "Span", "split_text", "finding"]


class Place(NamedTuple):
    """A finding before it is put in words."""

    kind: str
    start: int
    end: int
    it: str = ""
    """What `{it}` stands for; "" for the text at the place."""
    expected: str = ""
    component: str = ""
    rule: str = ""


class TextParts(NamedTuple):
    """The components' places (RFC 3986 3, 3.2); None is undefined."""

    text: str
    scheme: str
    """In lower case; "" if there is none."""
    authority: Span | None
    userinfo: Span | None
    host: Span | None
    port: Span | None
    path: Span
    query: Span | None
    fragment: Span | None
    secrets: tuple[Span, ...]
    """Where passwords stand."""
    facts: Scheme | None
    """What is known of the scheme; None if nothing is, or there is none."""
    registry: Registry
    start: int = 0
    """Where it begins: behind "URL:" where that stands before a URI (Appendix C)."""

    @property
    def text_without_prefix(self) -> str:
        """The text without that prefix."""
        return self.text[self.start :]

    @property
    def default_port(self) -> int | None:
        """The port of the scheme, if it is known and has one."""
        return None if self.facts is None else self.facts.port

    @property
    def is_content(self) -> bool:
        """Whether what follows the scheme is content, not a name (RFC 2397 2)."""
        return self.facts is not None and self.facts.content

    def text_of(self, span: Span | None) -> str:
        """The text of a component; "" if it is undefined."""
        return "" if span is None else self.text[span[0] : span[1]]

    def covers_password(self, start: int, end: int) -> bool:
        """Whether some of a password stands there."""
        return overlaps(self.secrets, start, end)

    def component(self, at: int) -> str:
        """The component in which a character stands."""
        for name in ("fragment", "query", "path", "port", "host", "userinfo"):
            span: Span | None = getattr(self, name)
            if span is not None and at >= span[0]:
                return name
        return "scheme" if self.authority is None else "authority"


# Appendix C: the prefix of 1994 and RFC 1738, which is no scheme; a URI follows it.
_PREFIX = re.compile(r"(?i)URL:(?=[a-z][a-z0-9+.-]*+:)")


def split_text(text: str, registry: Registry | None = None) -> TextParts:
    """Appendix B and 3.2: the last "@" ends the userinfo (decision 3986-10).

    >>> parts = split_text("http://u@[::1]:8/p")
    >>> parts.text_of(parts.userinfo), parts.text_of(parts.host), parts.text_of(parts.port)
    ('u', '[::1]', '8')
    """
    prefix = _PREFIX.match(text)
    begin = 0 if prefix is None else prefix.end()
    match = APPENDIX_B.fullmatch(text, begin)
    assert match is not None  # the expression matches everything
    authority, query, fragment = (None if match[i] is None else match.span(i) for i in (2, 4, 5))
    userinfo = host = port = None
    if authority is not None:
        start, end = authority
        at = text.rfind("@", start, end)
        if at >= 0:
            userinfo, start = (start, at), at + 1
        colon = text.find(":", max(start, text.rfind("]", start, end)), end)
        host = (start, end if colon < 0 else colon)
        port = None if colon < 0 else (colon + 1, end)
    scheme = (match[1] or "").lower()
    known = Registry.default() if registry is None else registry
    facts, secrets = known.get(scheme), secret_spans(text)
    return TextParts(
        text, scheme, authority, userinfo, host, port, match.span(3), query, fragment, secrets, facts, known, begin
    )


def finding(parts: TextParts, place: Place, secrets: Callable[[], Secrets]) -> Finding:
    """A place in words; nothing of a password is in them.

    secrets: gives those of the text, which are looked for once whatever number of findings there is.
    """
    kind, start, end, it, expected, component, rule = place
    row = KINDS[kind]
    if not it:
        it = MASK if parts.covers_password(start, end) else name_of(parts.text[start:end])
    elif parts.secrets:  # what is decoded or canonical there
        it = secrets().mask(it)
    component = component or (parts.component(start) if row.component == "any" else row.component)
    return Finding(kind, start, end, component, rule or row.rule, expected, row.source, row.message.format(it=it))
