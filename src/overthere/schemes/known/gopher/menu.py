"""A menu of Gopher: its lines as items, items as URIs, and back (RFC 1436 2, 3.8, Appendix; Gopher+ 2.2)."""

from __future__ import annotations

import re
from collections.abc import Iterable
from contextlib import suppress
from ipaddress import AddressValueError, IPv6Address
from typing import NamedTuple

from overthere.ground.errors import CodingError, Unwritable
from overthere.kernel import percent_encode
from overthere.kernel.classes import CHARSETS
from overthere.kernel.percent import percent_decode  # a broken escape of an older edition stays
from overthere.schemes.known.gopher import PORT, GopherLocator
from overthere.schemes.known.gopher.plus import Form, View
from overthere.schemes.locator import Locator
from overthere.values.uri import URI

_CHARSET = "iso-8859-1"
"""Of display strings: "the characters should conform with the ISO Latin1 Character Set" (RFC 1436 Appendix)."""
_PORT = re.compile(rb"[0-9]{1,18}")


class MenuItem(NamedTuple):
    """A line of a menu.

    >>> item = MenuItem.read(b"0Some file or other\\tmoo selector\\thost2\\t7070\\t+")
    >>> item.display, item.selector, item.tag, str(item.uri())
    ('Some file or other', b'moo selector', '+', 'gopher://host2:7070/0moo%20selector%09%09+')
    >>> MenuItem.from_uri(item.uri(), "Some file or other") == item
    True
    """

    type: str
    """One character, an octet as ISO Latin 1."""
    display: str
    """The text that a person sees."""
    selector: bytes = b""
    host: str = ""
    """As in the line: no escapes, no brackets."""
    port: int = 70
    extra: tuple[str, ...] = ()
    """The fields behind the port; in Gopher+ the first is "+", or "?" for an item with a form."""

    @classmethod
    def read(cls, line: bytes, charset: str = _CHARSET) -> MenuItem:
        """The item of a line, with or without its line end.

        Raises: CodingError for a line without type, display string, selector, host or port.
        """
        line = line.removesuffix(b"\n").removesuffix(b"\r")
        first, *fields = line.split(b"\t")
        if not first or len(fields) < 3 or not _PORT.fullmatch(fields[2]):
            raise CodingError(
                f"{line[:80]!r} must be type and display string, selector, host and port (RFC 1436 Appendix)"
            )
        try:
            display = first[1:].decode(charset, "surrogateescape")
        except UnicodeDecodeError:  # a charset of several octets that begins with US-ASCII, such as ISO-2022-JP
            display = first[1:].decode("ascii", "surrogateescape")
        extra = tuple(map(_text, fields[3:]))
        return cls(first[:1].decode("latin-1"), display, fields[0], _text(fields[1]), int(fields[2]), extra)

    def line(self, charset: str = _CHARSET) -> bytes:
        """The line, with its line end.

        Raises: Unwritable if a field contains a tab, a line end, NUL, or a character that the charset does not have.
        """
        try:
            kind = self.type.encode("latin-1")
            display = self.display.encode(charset, "surrogateescape")
            fields = [kind + display, self.selector, _octets(self.host), b"%d" % self.port, *map(_octets, self.extra)]
        except UnicodeEncodeError as error:
            raise Unwritable(f"a menu cannot contain this: {error}") from None
        line = b"\t".join(fields)
        with suppress(CodingError):
            # If no field contains a delimiter, the line is read back as the same item.
            if b"\n" not in line and b"\r" not in line and b"\0" not in line and MenuItem.read(line, charset) == self:
                return line + b"\r\n"
        raise Unwritable(f"a menu cannot contain this: {self!r} (RFC 1436 Appendix)")

    @property
    def tag(self) -> str | None:
        """ "+" for a Gopher+ item, "?" for one that has a form as well, None for neither (Gopher+ 2.2, 2.8)."""
        return self.extra[0] if self.extra and self.extra[0] in ("+", "?") else None

    @property
    def inert(self) -> bool:
        """Whether it is only shown: an error ("3"), or an information line ("i", a convention of servers)."""
        return self.type in ("3", "i")

    @property
    def link(self) -> str | None:
        """The URI of a link out of Gopher: type "h" and a selector "URL:..." (a server convention, not in any RFC)."""
        if self.type != "h" or not self.selector.startswith(b"URL:"):
            return None
        return _text(self.selector[4:])

    @classmethod
    def link_to(cls, uri: URI | str, display: str, host: str, port: int = 70) -> MenuItem:
        """The item by which a server, at host and port, links to a URI out of Gopher."""
        return cls("h", display, b"URL:" + _octets(str(uri)), host, port)

    def locator(self) -> GopherLocator:
        """The locator of the item; for a Gopher+ item, of its default view, or with its form (RFC 4266 2.4).

        The display string and other fields behind the port are not part of it.
        """
        plus = View() if self.tag == "+" else Form() if self.tag == "?" else None
        port = None if self.port == 70 else self.port
        return GopherLocator(_to_uri(self.host), port, self.type, self.selector, plus=plus)

    def uri(self) -> URI:
        """The URI of the item.  Raises: Unwritable if the type is not one octet."""
        return self.locator().uri()

    @classmethod
    def from_uri(cls, what: URI | str | Locator, display: str = "") -> MenuItem:
        """Return the item of a gopher URI, displayed as `display`.

        Raises: Unwritable for a URI that a menu line cannot express: a search, a Gopher+ string other than "+" and "?".
        """
        locator = (URI(what) if isinstance(what, str) else what).locator if not isinstance(what, Locator) else what
        if not isinstance(locator, GopherLocator):
            raise Unwritable(f"a menu can contain Gopher items only, not {locator.scheme!r} (RFC 1436 2)")
        if locator.search or (locator.search is not None and locator.plus is None) or locator.query is not None:
            raise Unwritable("a menu line has no search string (RFC 1436 Appendix)")
        if locator.plus not in (None, View(), Form()):
            raise Unwritable(f"a menu line cannot contain {locator.plus!r} (Gopher+ 2.2)")
        extra = () if locator.plus is None else (_text(locator.plus.string),)
        port = PORT if locator.port is None else locator.port
        return cls(locator.gophertype, display, locator.selector, _from_uri(locator.host), port, extra)


class Menu(NamedTuple):
    """The lines of a menu."""

    items: tuple[MenuItem, ...]
    complete: bool
    """Whether a line with a period alone ended it; servers may close without it."""
    others: tuple[tuple[int, bytes], ...] = ()
    """Lines that are not items, each with its number, counted from 1."""

    def servers(self) -> tuple[tuple[MenuItem, ...], ...]:
        """Each item with its duplicates: the items of type "+" that follow it (RFC 1436 Appendix)."""
        groups: list[list[MenuItem]] = []
        for item in self.items:
            if item.type == "+" and groups:
                groups[-1].append(item)
            else:
                groups.append([item])
        return tuple(map(tuple, groups))


def read_menu(octets: bytes, charset: str = _CHARSET) -> Menu:
    """The items of a menu, up to a line with only a period; lines may end with a bare LF.

    charset: the charset of the display strings; octets that are not in it become lone surrogates.
    Raises: LookupError for a charset that Python does not know.

    >>> read_menu(b"0About\\tStuff:About us\\trawBits.micro.umn.edu\\t70\\r\\n.\\r\\n").items[0].uri()
    URI('gopher://rawBits.micro.umn.edu/0Stuff:About%20us')
    """
    items: list[MenuItem] = []
    other_lines: list[tuple[int, bytes]] = []
    lines = octets.split(b"\n")
    if lines[-1] == b"":
        lines.pop()
    for number, line in enumerate(lines, 1):
        bare = line.removesuffix(b"\r")
        if bare == b".":
            return Menu(tuple(items), True, tuple(other_lines))
        try:
            items.append(MenuItem.read(bare, charset))
        except CodingError:
            other_lines.append((number, bare))
    return Menu(tuple(items), False, tuple(other_lines))


def write_menu(items: Iterable[MenuItem], charset: str = _CHARSET) -> bytes:
    """The octets of a menu, ended by a line with a period alone (RFC 1436 Appendix).

    Raises: Unwritable for an item that a line cannot express.
    """
    return b"".join(item.line(charset) for item in items) + b".\r\n"


def _text(octets: bytes) -> str:
    return octets.decode("utf-8", "surrogateescape")


def _octets(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


def _to_uri(host: str) -> str:
    """A host as a URI has it: IPv6 in brackets, else a reg-name (RFC 3986 3.2.2)."""
    if ":" in host and "%" not in host:
        with suppress(AddressValueError):
            IPv6Address(host)
            return f"[{host}]"
    return percent_encode(_octets(host), CHARSETS["unreserved"] + CHARSETS["sub-delims"])


def _from_uri(host: str) -> str:
    return host[1:-1] if host.startswith("[") else _text(percent_decode(host.encode("utf-8", "surrogateescape")))
