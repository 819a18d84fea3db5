"""Texts that editions and browsers assign to different hosts (RFC 3986 7.6; URL Standard 4.4)."""

from __future__ import annotations

import re
from collections.abc import Iterator

from overthere.editions import NAMES, edition, whatwg
from overthere.editions.whatwg import SPECIAL
from overthere.ground.errors import OverthereError
from overthere.security.hosts import decode_escapes, quote_host
from overthere.security.parts import Place, TextParts
from overthere.security.scripts import canonical
from overthere.values.hosts.address import literal

_BASE_HOST = "overthere.invalid"
_BASE = f"https://{_BASE_HOST}/"  # RFC 2606 2: this host does not exist
_MAX_LENGTH = 1 << 14
"""Characters read of a text; the host is at its beginning."""

# Texts in which every reader finds the same host: nothing next to it could belong to it.
_UNAMBIGUOUS = re.compile(
    r"(?:[a-zA-Z][a-zA-Z0-9+.-]*+:)?+//(?:[a-zA-Z0-9._~-]++@)?[a-zA-Z0-9.-]++(?::[0-9]*+)?+"
    r"(?:/[^\\\x00-\x20]*+|[?#][^\\@\x00-\x20]*+)?+\Z"
)
_REPAIRED = re.compile(r"[\\\x00-\x20]")


def differences(parts: TextParts) -> Iterator[Place]:
    """Yield the host as RFC 3986 reads it, with the different hosts that other readers find."""
    text = parts.text[parts.start : parts.start + _MAX_LENGTH]
    if _UNAMBIGUOUS.match(text):
        return
    if parts.authority is None and (parts.scheme not in SPECIAL if parts.scheme else not _REPAIRED.search(text)):
        return
    host_text = parts.text_of(parts.host)
    files = parts.facts is not None and parts.facts.host_of_files
    host_key = _comparison_key(host_text, files)
    differing: dict[str, tuple[str, list[str]]] = {}
    for name, host in _hosts(parts, text):
        key = _comparison_key(host, files)
        if key != host_key:
            differing.setdefault(key, (host, []))[1].append(name)
    if differing:
        start, end = parts.authority or (0, 0)
        if start == end:  # only the whole text can be marked
            start, end = parts.start, parts.path[1]
        readings = [f"{_show_host(parts, host_text)} (RFC 3986)"]
        readings += [f"{_show_host(parts, host)} ({', '.join(names)})" for host, names in differing.values()]
        yield Place("host-readings", start, end, "; ".join(readings), component="authority")


def _hosts(parts: TextParts, text: str) -> Iterator[tuple[str, str]]:
    """Yield each reader and the host that it contacts; readers that know none are left out."""
    if parts.scheme and not parts.text_of(parts.host).startswith("["):  # documents before 2003 lack brackets (RFC 2732)
        for name in NAMES:
            if name == "rfc3986":
                continue
            try:
                host = edition(name).host_of(text)
            except OverthereError:
                continue
            # The draft of 2003 leaves a reg-name to a registry: no host is contacted (3.2.1).
            if host is not None:
                yield edition(name).document, host
    if whatwg.available() and (parts.scheme in SPECIAL or not parts.scheme):
        href = whatwg.read(text) or (None if parts.scheme in SPECIAL else whatwg.read(text, _BASE))
        if href is not None and href.protocol[:-1] in SPECIAL:
            yield "browsers", "" if href.hostname == _BASE_HOST else href.hostname


def _comparison_key(host: str, files: bool) -> str:
    """Return the host that is contacted, in one spelling: two spellings of a host are not a disagreement."""
    address = literal(host[:1000])
    if address is not None:
        return str(address)
    name = canonical(decode_escapes(host)).removesuffix(".")
    return "" if files and name == "localhost" else name


def _show_host(parts: TextParts, host: str) -> str:
    """Return a host in quotes; if the text has a password, only a host that shows nothing of it."""
    if not host:
        return "none"
    return quote_host(host) if not parts.secrets else "another" if host != parts.text_of(parts.host) else _quote(parts)


def _quote(parts: TextParts) -> str:
    assert parts.host is not None
    return "one" if parts.covers_password(*parts.host) else quote_host(parts.text_of(parts.host))
