"""Texts that two documents have in common, copied for the tests of their statements."""

from __future__ import annotations

import re

EXPRESSION = re.compile(r"^(([^:/?#]+):)?(//([^/?#]*))?([^?#]*)(\?([^#]*))?(#(.*))?", re.DOTALL)
"""The expression of Appendix B; a dot that takes line ends as well, since any text is to be cut."""


def components(text: str) -> list[str | None]:
    """Scheme, authority (site), path, query and fragment: $2, $4, $5, $7 and $9."""
    match = EXPRESSION.match(text)
    assert match is not None
    return [*match.group(2, 4, 5, 7, 9)]


def replaced(text: str) -> str:
    """The series of replacements: 1997 5.2, steps 6 d to 6 g; 2003 5.2, steps 3 to 6 of merge.

    The empty text before an initial slash is no segment (decision 97-10).
    """
    text = re.sub(r"(?:^|(?<=/))(?:\./)+", "", text)
    if text == "." or text.endswith("/."):
        text = text[:-1]
    while match := re.search(r"(?:^(?!/)|(?<=/))(?!\.\./)[^/]*/\.\./", text):
        text = text[: match.start()] + text[match.end() :]
    if match := re.search(r"(?:^(?!/)|(?<=/))(?!\.\./)[^/]*/\.\.$", text):
        text = text[: match.start()]
    return text


def recombined(scheme: str | None, authority: str | None, path: str, query: str | None, fragment: str | None) -> str:
    """1997 5.2 step 7, 2003 5.2, RFC 3986 5.3."""
    text = "" if scheme is None else scheme + ":"
    text += "" if authority is None else "//" + authority
    text += path + ("" if query is None else "?" + query)
    return text + ("" if fragment is None else "#" + fragment)
