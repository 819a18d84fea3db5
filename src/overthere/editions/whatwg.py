"""The WHATWG URL Standard, which browsers follow: results of ada, if it is installed.

This is not an edition: the standard has an algorithm and no grammar, and repairs invalid input.
"""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

from overthere.ground.extras import missing_message
from overthere.ground.redact import hides_secrets

SPECIAL = frozenset(("http", "https", "ws", "wss", "ftp", "file"))
"""The special schemes, whose URLs browsers repair (URL Standard 4.2)."""


@hides_secrets
class Href(NamedTuple):
    """The attributes of a URL object (URL Standard 6.1), under its names."""

    href: str
    origin: str
    protocol: str
    username: str
    password: str
    host: str
    hostname: str
    port: str
    pathname: str
    search: str
    hash: str


@cache
def _ada() -> Any:
    try:
        import ada_url
    except ImportError:
        return None
    return ada_url


def available() -> bool:
    """Whether ada is installed (the extra `whatwg`)."""
    return _ada() is not None


def read(text: str, base: str | None = None) -> Href | None:
    """Parse a text against a base like a browser; return None if browsers reject it.

    Raises: ImportError if ada is not installed.
    """
    ada = _ada()
    if ada is None:
        raise ImportError(f"texts cannot be read as browsers do: {missing_message('ada_url', 'whatwg')}")
    try:
        url = ada.URL(_scalar(text)) if base is None else ada.URL(_scalar(text), _scalar(base))
    except ValueError:
        return None
    return Href(*(getattr(url, name) for name in Href._fields))


def _scalar(text: str) -> str:
    """Convert to a USVString: U+FFFD for each lone surrogate (Infra 4.6, "convert to scalar values")."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
