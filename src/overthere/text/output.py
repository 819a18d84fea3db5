"""Marks the matches in a text: for HTML, Markdown or a terminal.

Only the schemes of `linkable()` become links: `javascript:` and `data:` are displayed as plain text.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from functools import lru_cache
from html import escape
from typing import TYPE_CHECKING

from overthere.ground.display import printable
from overthere.schemes.registry import Registry
from overthere.text import Found

if TYPE_CHECKING:
    from rich.text import Text

OTHERS = frozenset(("sms", "xmpp", "doi", "magnet"))
"""Undescribed schemes that only name or locate something."""


@lru_cache(8)
def _linkable(registry: Registry) -> frozenset[str]:
    return OTHERS | {name for name, scheme in registry.in_text().items() if scheme.linkable}


def linkable(registry: Registry | None = None) -> frozenset[str]:
    """Return the schemes that only name or locate something: nothing is executed on the displaying page.

    >>> sorted({"http", "javascript", "data", "urn"} & linkable())
    ['http', 'urn']
    """
    return _linkable(Registry.default() if registry is None else registry)


def _is_linkable(match: Found, schemes: Collection[str] | None) -> bool:
    schemes = linkable() if schemes is None else schemes
    return match.uri.partition(":")[0].lower() in schemes


def _parts(text: str, references: Iterable[Found], *, outer: bool = False) -> Iterator[tuple[str, Found | None]]:
    """Yield the text between matches with None, and each match with its text, including its delimiters if `outer`."""
    position = 0
    for match in references:
        start, end = match.outer if outer else (match.start, match.end)
        yield text[position:start], None
        yield text[start:end], match
        position = end
    yield text[position:], None


# Controls, which HTML does not have (13.1) and a terminal obeys, and surrogates.
_CONTROLS = re.compile("[\x00-\x08\x0b\x0e-\x1f\x7f-\x9f\ud800-\udfff]")


def _html(text: str) -> str:
    return escape(_CONTROLS.sub("\ufffd", text))


def as_html(text: str, matches: Iterable[Found], *, schemes: Collection[str] | None = None) -> str:
    """Return the text as HTML phrasing content: escaped, each URI an `a` element; line ends are kept, for `pre`.

    >>> from overthere.text import find
    >>> text = "<http://h/?a&b> & www.w3.org/x"
    >>> print(as_html(text, find(text)))
    &lt;<a href="http://h/?a&amp;b">http://h/?a&amp;b</a>&gt; &amp; <a href="http://www.w3.org/x">www.w3.org/x</a>
    """
    pieces: list[str] = []
    for part, match in _parts(text, matches):
        if match is not None and _is_linkable(match, schemes):
            pieces.append(f'<a href="{_html(match.uri)}">{_html(part)}</a>')
        else:
            pieces.append(_html(part))
    return "".join(pieces)


# CommonMark 6.5: the text between "<" and ">".
_AUTOLINK = re.compile(r"[A-Za-z][A-Za-z0-9+.-]{1,31}:[^\x00-\x20\x7f<>]*")
_SPECIAL = re.compile(r"([\\`*_{}\[\]<>~|])")


def as_markdown(text: str, matches: Iterable[Found], *, schemes: Collection[str] | None = None) -> str:
    """Return the text with each URI as an autolink, `<http://h/>`, or, if its text differs, as `[text](<uri>)`.

    Delimiters and the prefix "URL:" are replaced, line breaks in a URI are removed; the text between stays, without
    controls.

    >>> from overthere.text import find
    >>> text = 'under "http://h/_a_" or www.w3.org/Addr_/'
    >>> as_markdown(text, find(text))
    'under <http://h/_a_> or [www.w3.org/Addr\\\\_/](<http://www.w3.org/Addr_/>)'
    """
    pieces: list[str] = []
    for part, match in _parts(text, matches, outer=True):
        if match is None or not _is_linkable(match, schemes):
            clean = _CONTROLS.sub("\ufffd", part)
            # `<javascript:...>` would be an autolink of Markdown; a backslash may precede it.
            pieces.append(clean if match is None else clean.replace("<", "&lt;"))
        elif match.reference == match.uri and _AUTOLINK.fullmatch(match.uri):
            pieces.append(f"<{match.uri}>")
        else:
            label = _SPECIAL.sub(r"\\\1", _CONTROLS.sub("\ufffd", " ".join(match.text.split())))
            pieces.append(f"[{label}](<{match.uri}>)")
    return "".join(pieces)


_LINE = re.compile(r"[^\n\t]+")
_STYLES = {"URI": "cyan underline", "IRI": "cyan underline", "abbreviated": "magenta underline", "mail": "blue"}


def _escape_controls(text: str) -> str:
    """Escape controls and changes of text direction, except line ends and tabs."""
    text = text.replace("\r\n", "\n")
    return text if text.isprintable() else _LINE.sub(lambda match: printable(match[0]), text)


def as_terminal(text: str, matches: Iterable[Found], *, schemes: Collection[str] | None = None) -> Text:
    """Return the text for rich: each URI coloured by its kind, and a hyperlink in terminals that have them (OSC 8)."""
    from rich.style import Style
    from rich.text import Text

    output = Text(no_wrap=True)
    for part, match in _parts(text, matches):
        if match is None:
            output.append(_escape_controls(part))
        else:
            link = printable(match.uri) if _is_linkable(match, schemes) else None
            output.append(_escape_controls(part), Style.parse(_STYLES[match.kind]) + Style(link=link))
    return output
