"""Splits any text by Appendix B, for the checks of its parts."""

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
    """A finding before its message is written."""

    kind: str
    start: int
    end: int
    it: str = ""
    """Replaces `{it}` in the message; "" for the text at the place."""
    expected: str = ""
    component: str = ""
    rule: str = ""


class TextParts(NamedTuple):
    """The places of the components (RFC 3986 3, 3.2); None if undefined."""

    text: str
    scheme: str
    """In lower case; "" if it is missing."""
    authority: Span | None
    userinfo: Span | None
    host: Span | None
    port: Span | None
    path: Span
    query: Span | None
    fragment: Span | None
    secrets: tuple[Span, ...]
    """The places of passwords."""
    facts: Scheme | None
    """The scheme, if it is known."""
    registry: Registry
    start: int = 0
    """Offset of the URI: behind the prefix "URL:", if the text has one (Appendix C)."""

    @property
    def text_without_prefix(self) -> str:
        """The text without the prefix "URL:"."""
        return self.text[self.start :]

    @property
    def default_port(self) -> int | None:
        """The default port of the scheme, if known."""
        return None if self.facts is None else self.facts.port

    @property
    def is_content(self) -> bool:
        """Whether what follows the scheme is content, not a name (RFC 2397 2)."""
        return self.facts is not None and self.facts.content

    def text_of(self, span: Span | None) -> str:
        """The text of a component; "" if it is undefined."""
        return "" if span is None else self.text[span[0] : span[1]]

    def covers_password(self, start: int, end: int) -> bool:
        """Whether part of a password is in this range."""
        return overlaps(self.secrets, start, end)

    def component(self, offset: int) -> str:
        """Return the component that holds a character."""
        for name in ("fragment", "query", "path", "port", "host", "userinfo"):
            span: Span | None = getattr(self, name)
            if span is not None and offset >= span[0]:
                return name
        return "scheme" if self.authority is None else "authority"


# Appendix C: the prefix of 1994 and RFC 1738, which is not a scheme; a URI follows it.
_PREFIX = re.compile(r"(?i)URL:(?=[a-z][a-z0-9+.-]*+:)")


def split_text(text: str, registry: Registry | None = None) -> TextParts:
    """Split a text by Appendix B and 3.2; the last "@" ends the userinfo (decision 3986-10).

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
        at_sign = text.rfind("@", start, end)
        if at_sign >= 0:
            userinfo, start = (start, at_sign), at_sign + 1
        colon = text.find(":", max(start, text.rfind("]", start, end)), end)
        host = (start, end if colon < 0 else colon)
        port = None if colon < 0 else (colon + 1, end)
    scheme = (match[1] or "").lower()
    schemes = Registry.default() if registry is None else registry
    facts, secrets = schemes.get(scheme), secret_spans(text)
    return TextParts(
        text, scheme, authority, userinfo, host, port, match.span(3), query, fragment, secrets, facts, schemes, begin
    )


def finding(parts: TextParts, place: Place, secrets: Callable[[], Secrets]) -> Finding:
    """Return a finding in words, which show nothing of a password.

    secrets: returns the secrets of the text, which are searched only once.
    """
    kind, start, end, subject, expected, component, rule = place
    row = KINDS[kind]
    if not subject:
        subject = MASK if parts.covers_password(start, end) else name_of(parts.text[start:end])
    elif parts.secrets:  # decoded or canonical text, which may hold a password
        subject = secrets().mask(subject)
    component = component or (parts.component(start) if row.component == "any" else row.component)
    return Finding(kind, start, end, component, rule or row.rule, expected, row.source, row.message.format(it=subject))
