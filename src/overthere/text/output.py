"""Marks the matches in a text: for HTML, for Markdown, for a terminal.

A link is made only to a URI of `linkable()`: `javascript:` and `data:` are shown and lead nowhere.
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

__all__ = ["OTHERS", "as_html", "as_markdown", "as_terminal", "linkable"]

OTHERS = frozenset(("sms", "xmpp", "doi", "magnet"))
"""Schemes of which this package knows no more than that they only name or locate something."""


@lru_cache(8)
def _linkable(registry: Registry) -> frozenset[str]:
    return OTHERS | {name for name, one in registry.in_text().items() if one.linkable}


def linkable(registry: Registry | None = None) -> frozenset[str]:
    """Schemes that only name or locate something: nothing of them is executed where the page is shown.

    >>> sorted({"http", "javascript", "data", "urn"} & linkable())
    ['http', 'urn']
    """
    return _linkable(Registry.default() if registry is None else registry)


def _is_linkable(one: Found, schemes: Collection[str] | None) -> bool:
    schemes = linkable() if schemes is None else schemes
    return one.uri.partition(":")[0].lower() in schemes


def _parts(text: str, references: Iterable[Found], *, outer: bool = False) -> Iterator[tuple[str, Found | None]]:
    """The text in parts: what lies between, and what was found, with its delimiters if `outer`."""
    at = 0
    for one in references:
        start, end = one.outer if outer else (one.start, one.end)
        yield text[at:start], None
        yield text[start:end], one
        at = end
    yield text[at:], None


# Controls, which HTML does not have (13.1) and a terminal obeys, and surrogates.
_CONTROLS = re.compile("[\x00-\x08\x0b\x0e-\x1f\x7f-\x9f\ud800-\udfff]")


def _html(text: str) -> str:
    return escape(_CONTROLS.sub("\ufffd", text))


def as_html(text: str, found: Iterable[Found], *, schemes: Collection[str] | None = None) -> str:
    """The text as HTML phrasing content: escaped, each URI an `a` element; for inside of `pre`, its line ends kept.

    >>> from overthere.text import find
    >>> text = "<http://h/?a&b> & www.w3.org/x"
    >>> print(as_html(text, find(text)))
    &lt;<a href="http://h/?a&amp;b">http://h/?a&amp;b</a>&gt; &amp; <a href="http://www.w3.org/x">www.w3.org/x</a>
    """
    written: list[str] = []
    for part, one in _parts(text, found):
        if one is not None and _is_linkable(one, schemes):
            written.append(f'<a href="{_html(one.uri)}">{_html(part)}</a>')
        else:
            written.append(_html(part))
    return "".join(written)


# CommonMark 6.5: what can stand between "<" and ">".
_AUTOLINK = re.compile(r"[A-Za-z][A-Za-z0-9+.-]{1,31}:[^\x00-\x20\x7f<>]*")
_SPECIAL = re.compile(r"([\\`*_{}\[\]<>~|])")


def as_markdown(text: str, found: Iterable[Found], *, schemes: Collection[str] | None = None) -> str:
    """The text with each URI as an autolink, `<http://h/>`, or, if another text stands for it, as `[text](<uri>)`.

    Delimiters and the prefix "URL:" are replaced, line breaks in a URI go; what lies between stays as it is, except
    controls.

    >>> from overthere.text import find
    >>> text = 'under "http://h/_a_" or www.w3.org/Addr_/'
    >>> as_markdown(text, find(text))
    'under <http://h/_a_> or [www.w3.org/Addr\\\\_/](<http://www.w3.org/Addr_/>)'
    """
    written: list[str] = []
    for part, one in _parts(text, found, outer=True):
        if one is None or not _is_linkable(one, schemes):
            plain = _CONTROLS.sub("\ufffd", part)
            # `<javascript:...>` would be an autolink of Markdown.
            written.append(plain if one is None else plain.replace("<", "\\<"))
        elif one.reference == one.uri and _AUTOLINK.fullmatch(one.uri):
            written.append(f"<{one.uri}>")
        else:
            shown = _SPECIAL.sub(r"\\\1", _CONTROLS.sub("\ufffd", " ".join(one.text.split())))
            written.append(f"[{shown}](<{one.uri}>)")
    return "".join(written)


_LINE = re.compile(r"[^\n\t]+")
_STYLES = {"URI": "cyan underline", "IRI": "cyan underline", "abbreviated": "magenta underline", "mail": "blue"}


def _escape_controls(text: str) -> str:
    """No control gets to the terminal, nor what turns the direction of writing; line ends and tabs do."""
    text = text.replace("\r\n", "\n")
    return text if text.isprintable() else _LINE.sub(lambda match: printable(match[0]), text)


def as_terminal(text: str, found: Iterable[Found], *, schemes: Collection[str] | None = None) -> Text:
    """The text for rich: each URI in a colour, by its kind, and a hyperlink where the terminal has them (OSC 8)."""
    from rich.style import Style
    from rich.text import Text

    written = Text(no_wrap=True)
    for part, one in _parts(text, found):
        if one is None:
            written.append(_escape_controls(part))
        else:
            link = printable(one.uri) if _is_linkable(one, schemes) else None
            written.append(_escape_controls(part), Style.parse(_STYLES[one.kind]) + Style(link=link))
    return written
