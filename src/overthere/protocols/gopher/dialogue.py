"""The Gopher client: items, menus, attributes and errors, with and without Gopher+ (RFC 1436; Gopher+ 2.3)."""

from __future__ import annotations

import re
from collections.abc import Generator
from contextlib import suppress
from dataclasses import replace
from typing import Any

from overthere.access.errors import AccessFailed, ProtocolError, ResourceMissing, ResourceUnavailable
from overthere.access.media import guess_type as guess_media_type
from overthere.access.planning import Plan
from overthere.access.policy import Policy
from overthere.access.steps import Connect, Interact, Receive, Send
from overthere.access.wire import Dial, Dialogue, Effect, Hangup, Head, Item, Wire, Write
from overthere.ground.display import printable
from overthere.ground.errors import CodingError, Unwritable
from overthere.protocols.gopher.entries import ItemAttributes, entry, item_of, malformed
from overthere.protocols.gopher.frames import FramedAnswer
from overthere.protocols.session.dialogue import session_head
from overthere.schemes.known.gopher import GopherLocator
from overthere.schemes.known.gopher.menu import MenuItem
from overthere.schemes.known.gopher.plus import Attributes, Form, View

MENU = "application/gopher-menu"  # Gopher+ A3.0
_TYPES: dict[str, tuple[str, str]] = {
    "0": ("text/plain", "RFC 1436 3.8"),
    "1": (MENU, "RFC 1436 3.8, Gopher+ A3.0"),
    "4": ("application/mac-binhex40", "RFC 1436 3.8"),
    "5": ("application/octet-stream", "RFC 1436 3.8"),
    "6": ("text/plain", "RFC 1436 3.8"),
    "7": (MENU, "RFC 1436 3.7, Gopher+ A3.0"),
    "9": ("application/octet-stream", "RFC 1436 3.8"),
    "g": ("image/gif", "RFC 1436 3.8"),
    "h": ("text/html", "a server convention, not in any RFC"),
}
_TEXT_TYPES = frozenset("046h")
"""The types that servers send as text, ended by a period (RFC 1436 3.8: 5 and 9 are "binary")."""


def dialogue(plan: Plan, policy: Policy) -> Dialogue:
    """Send one request and read one answer (RFC 1436 2); describe a session (types 2, 8, T) without connecting."""
    locator = plan.locator
    assert isinstance(locator, GopherLocator)
    wire = Wire(policy.max_line)
    for step in plan.steps:
        match step:
            case Interact():
                yield session_head(step, plan, policy)
                return
            case Connect(host=host, port=port):
                yield Dial(host, port)
            case Send(data=data):
                yield Write(data)
            case Receive(what=context):
                if locator.plus is None:
                    yield from _content(FramedAnswer(wire, context), locator)
                else:
                    yield from _plus_answer(wire, context, locator)
            case _:
                raise AssertionError(step)
    yield Hangup()


def media_type(locator: GopherLocator) -> tuple[str | None, str, str]:
    """Return the media type of a locator's item, its source ("scheme", "name"), and the paragraph; servers send none.

    It is the name of the view (Gopher+ A3.0), or that of the type, or guessed from the selector.

    >>> from overthere import URI
    >>> media_type(URI("gopher://h/gpicture").locator), media_type(URI("gopher://h/Ia.png").locator)
    (('image/gif', 'scheme', 'RFC 1436 3.8'), ('image/png', 'name', ''))
    >>> media_type(URI("gopher://h/0s%09%09+Text/plain%20Es_ES").locator)
    ('text/plain', 'scheme', 'Gopher+ A3.0')
    """
    plus = locator.plus
    if isinstance(plus, View) and plus.name is not None:
        return (plus.name.lower(), "scheme", "Gopher+ A3.0") if "/" in plus.name else (None, "", "")
    if locator.gophertype in _TYPES:
        return _TYPES[locator.gophertype][0], "scheme", _TYPES[locator.gophertype][1]
    name = locator.selector.decode("latin-1").rpartition("/")[2]
    guessed_type, coding = guess_media_type(name)
    return (guessed_type, "name", "") if guessed_type and not coding else (None, "", "")


# -- answers


def _content(framed: FramedAnswer, locator: GopherLocator, length: int | None = None) -> Dialogue:
    """Yield the item: a listing for a menu, otherwise its content."""
    content_type, type_source, source = media_type(locator)
    details: dict[str, Any] = {"type": locator.gophertype}
    if source:
        details["source"] = source
    if isinstance(locator.plus, View):
        details["gopherplus"] = bool(framed.until)
        if locator.plus.language is not None:
            details["language"] = locator.plus.language
    if content_type in (MENU, "application/gopher+-menu"):
        head = Head(content_type, type_source, length, listing=True, details=details)
        has_attributes = content_type != MENU and (yield from framed.first_line()).startswith(b"+INFO:")
        yield from _attributes(framed, locator, head) if has_attributes else _menu(framed, head)
        return
    if not framed.until:
        yield from _error(framed)
    yield Head(content_type, type_source, length, details=details)
    yield from framed.data(locator.gophertype in _TEXT_TYPES)


def _error(framed: FramedAnswer) -> Generator[Effect, Any, None]:
    """Raises: ResourceMissing if the answer is only an item that signals an error."""
    line = yield from framed.first_line()
    with suppress(CodingError):
        item = item_of(line)
        if _is_error(item) and (yield from framed.ends_after(len(line))):
            raise _missing_error(item.display, framed.context)


def _is_error(item: MenuItem) -> bool:
    """Whether an item has type 3 (RFC 1436 3.8); servers of Minnesota send the requested type, and this host."""
    return item.type == "3" or (item.type != "i" and item.host == "error.host")


def _missing_error(text: str, context: str) -> ResourceMissing:
    return ResourceMissing(printable(text.strip()), "3", "RFC 1436 3.8", where=context)


def _menu(framed: FramedAnswer, head: Head) -> Dialogue:
    """Yield the lines of a menu.  A menu with only errors and info lines raises ResourceMissing."""
    pending: list[Item] | None = []
    errors: list[str] = []
    previous: MenuItem | None = None
    while (line := (yield from framed.line())) is not None:
        menu_entry, item = entry(line, previous)
        if item is not None and item.type not in "+i":
            previous = item
        if pending is None:
            yield Item(menu_entry)
            continue
        pending.append(Item(menu_entry))
        if item is not None and _is_error(item):
            errors.append(item.display.strip())
        if item is None or not (item.type == "i" or _is_error(item)) or len(pending) > 40:
            yield head
            yield from pending
            pending = None
    if pending is not None:
        if errors:
            raise _missing_error("; ".join(errors), framed.context)
        yield head
        yield from pending


def _attributes(framed: FramedAnswer, locator: GopherLocator, head: Head) -> Dialogue:
    """Read blocks of attributes; yield an entry for each "+INFO" (Gopher+ 2.5, 2.7)."""
    yield head
    item: ItemAttributes | None = None
    while (line := (yield from framed.line())) is not None:
        if line.startswith(b"+INFO"):
            if item is not None:
                yield Item(item.entry())
            item = ItemAttributes(line[5:].removeprefix(b":").lstrip(b" "), locator)
        elif item is None and not line.startswith(b"+"):
            yield Item(malformed(line, "it is before the first block (Gopher+ 2.5)"))
        else:
            item = item or ItemAttributes(None, locator)
            item.take(line, framed.context)
    if item is not None:
        yield Item(item.entry())


_PLUS_HEAD = re.compile(rb"([+-])(-1|-2|[0-9]{1,18})[ \t]*\r?\n")


def _plus_answer(wire: Wire, context: str, locator: GopherLocator) -> Dialogue:
    """Read the answer to a Gopher+ request, which begins with its length (Gopher+ 2.3); or that of an older server."""
    plus = locator.plus
    framed = FramedAnswer(wire, context)
    first_line = yield from framed.first_line()
    if wire.over and not first_line:
        raise AccessFailed("the server closed the connection without an answer", where=context)
    match = _PLUS_HEAD.fullmatch(first_line)
    if match is None:
        if wire.over and first_line[:1] in (b"+", b"-") and b"\n" not in first_line:
            raise AccessFailed("the server closed the connection in the middle of a line", where=context)
        yield from _error(framed)
        if isinstance(plus, Attributes) and plus.directory and b"\t" in first_line:
            # gophernicus sends a menu without attributes.
            details = {"type": locator.gophertype, "gopherplus": False}
            yield from _menu(framed, Head(MENU, "scheme", listing=True, details=details))
            return
        if isinstance(plus, Attributes | Form):
            raise ProtocolError("the server does not send attributes but the item itself", "Gopher+ 2.5", where=context)
        yield from _content(framed, locator)
        return
    del wire.buffer[: len(first_line)]
    count = int(match[2])
    framed = FramedAnswer(wire, context, {-1: "dot", -2: "close"}.get(count, "count"), max(count, 0))
    if match[1] == b"-":
        yield from _handle_error(framed, locator)
    elif isinstance(plus, Attributes | Form):
        details = {"type": locator.gophertype, "gopherplus": True}
        length = None if count < 0 else count
        yield from _attributes(framed, locator, Head(None, "", length, listing=True, details=details))
    else:
        yield from _content(framed, locator, None if count < 0 else count)


_ERROR_CODES = {"1": "the item is not available", "2": "try again later", "3": "the item has moved"}
_ERROR_LINES = 100


def _handle_error(framed: FramedAnswer, locator: GopherLocator) -> Dialogue:
    """Raise an error with its code, text and perhaps administrator; or redirect to the new place (Gopher+ 2.3)."""
    lines: list[bytes] = []
    with suppress(AccessFailed):  # the lines so far are enough
        while len(lines) < _ERROR_LINES and (line := (yield from framed.line())) is not None:
            lines.append(line)
    code, _, tail = (lines[0] if lines else b"").lstrip().partition(b" ")
    number = code.decode("ascii", "replace") if code.isdigit() and len(code) < 10 else ""
    if number == "3" and (location := _new_location((tail, *lines[1:]), locator)) is not None:
        yield Head(location=location, permanent=True, details={"code": "3"})
        return
    text_lines = [line.decode("utf-8", "replace") for line in (lines[1:] if number else lines)]
    message = " ".join(printable(line.strip()) for line in text_lines if line.strip())
    message = message or _ERROR_CODES.get(number, "the server signals an error")
    if admin := _ADDRESS.search(tail):
        message += f"; the administrator is {printable(admin[0].decode('utf-8', 'replace'))}"
    kind = ResourceUnavailable if number == "2" else ResourceMissing
    raise kind(message, number, "Gopher+ 2.3", where=framed.context)


_ADDRESS = re.compile(rb"<[^<>]{1,200}>")


def _new_location(lines: tuple[bytes, ...], request: GopherLocator) -> str | None:
    """Return the URI of the first item in the lines, with the old request's parts; None for answers to a form."""
    if isinstance(request.plus, View) and request.plus.data is not None:
        return None
    for line in lines:
        with suppress(CodingError, Unwritable):
            item = item_of(line.strip(b" "))
            target = item.locator()
            if item.tag is not None:
                target = replace(target, search=request.search, plus=request.plus, written=None)
            return str(target.uri())
    return None
