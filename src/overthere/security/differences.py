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

__all__ = ["differences"]

_AT_HOME = "overthere.invalid"
_BASE = f"https://{_AT_HOME}/"  # RFC 2606 2: there is no such host
_ENOUGH = 1 << 14
"""So much of a text is read; hosts stand at its beginning."""

# Where every reader finds the same host: nothing around it could be part of it for any reader.
_AGREED = re.compile(
    r"(?:[a-zA-Z][a-zA-Z0-9+.-]*+:)?+//(?:[a-zA-Z0-9._~-]++@)?[a-zA-Z0-9.-]++(?::[0-9]*+)?+"
    r"(?:/[^\\\x00-\x20]*+|[?#][^\\@\x00-\x20]*+)?+\Z"
)
_REPAIRED = re.compile(r"[\\\x00-\x20]")


def differences(cut: TextParts) -> Iterator[Place]:
    """The host as RFC 3986 finds it beside what others ask, if they ask another."""
    text = cut.text[cut.start : cut.start + _ENOUGH]
    if _AGREED.match(text):
        return
    if cut.authority is None and (cut.scheme not in SPECIAL if cut.scheme else not _REPAIRED.search(text)):
        return
    own = cut.text_of(cut.host)
    files = cut.facts is not None and cut.facts.host_of_files
    wanted = _key(own, files)
    others: dict[str, tuple[str, list[str]]] = {}
    for name, host in _hosts(cut, text):
        key = _key(host, files)
        if key != wanted:
            others.setdefault(key, (host, []))[1].append(name)
    if others:
        start, end = cut.authority or (0, 0)
        if start == end:  # there is nothing to point at but the whole
            start, end = cut.start, cut.path[1]
        said = [f"{_show_host(cut, own)} (RFC 3986)"]
        said += [f"{_show_host(cut, host)} ({', '.join(names)})" for host, names in others.values()]
        yield Place("host-readings", start, end, "; ".join(said), component="authority")


def _hosts(cut: TextParts, text: str) -> Iterator[tuple[str, str]]:
    """Which reader asks which host; readers that say nothing of it are left out."""
    if cut.scheme and not cut.text_of(cut.host).startswith("["):  # documents before 2003 know no brackets (RFC 2732)
        for name in NAMES:
            if name == "rfc3986":
                continue
            try:
                host = edition(name).host_of(text)
            except OverthereError:
                continue
            # The draft of 2003 leaves a reg-name to a registry: no host is asked (3.2.1).
            if host is not None:
                yield edition(name).document, host
    if whatwg.available() and (cut.scheme in SPECIAL or not cut.scheme):
        href = whatwg.read(text) or (None if cut.scheme in SPECIAL else whatwg.read(text, _BASE))
        if href is not None and href.protocol[:-1] in SPECIAL:
            yield "browsers", "" if href.hostname == _AT_HOME else href.hostname


def _key(host: str, files: bool) -> str:
    """What is asked, however it is written; two spellings of one host are no disagreement."""
    address = literal(host[:1000])
    if address is not None:
        return str(address)
    name = canonical(decode_escapes(host)).removesuffix(".")
    return "" if files and name == "localhost" else name


def _show_host(cut: TextParts, host: str) -> str:
    """A host in quotes; where a password stands in the text only such as have nothing of it."""
    if not host:
        return "none"
    return quote_host(host) if not cut.secrets else "another" if host != cut.text_of(cut.host) else _own_reading(cut)


def _own_reading(cut: TextParts) -> str:
    assert cut.host is not None
    return "one" if cut.covers_password(*cut.host) else quote_host(cut.text_of(cut.host))
