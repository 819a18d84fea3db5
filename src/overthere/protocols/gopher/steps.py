"""Gopher and Gopher+: the request of a URI (RFC 4266; RFC 1436; Gopher+; 1994 GOPHER).

The documents differ in the text after the selector: RFC 4266 2.3 puts the search, even an empty one, before the
Gopher+ string, but its own 2.9, the draft of 1994 and Gopher+ (2.4, Appendix II) print `selector TAB +...`, and a
search only for an index server (type 7), where it may be empty.  This module sends the latter.
"""

from __future__ import annotations

from collections.abc import Iterator

from overthere.access.steps import CRLF, Credentials, Interact, Receive, Send, Step, connect, guarded
from overthere.ground.errors import Cited, PlanRefused
from overthere.schemes.known.gopher import PORT, GopherLocator
from overthere.schemes.known.gopher.plus import Answers, Attributes, Block, Form, GopherPlus, Unknown, View

# RFC 1436 3.8, Gopher+ 2.9; other types are "the item".
_DESCRIPTIONS = {
    "0": "the text",
    "1": "the menu",
    "4": "the BinHexed Macintosh file",
    "5": "the DOS archive",
    "6": "the uuencoded file",
    "7": "the menu of what was found",
    "9": "the binary file",
    "g": "the GIF image",
    "I": "the image",
    ":": "the bitmap image",
    ";": "the movie",
    "<": "the sound",
}
# RFC 1436 3.8: types that point to a server of another protocol.
_SESSIONS = {"2": "cso", "8": "telnet", "T": "tn3270"}
_BLOCK_NOTE = Cited("the data block contains lines chosen by the URI: beware of ports of other protocols", "RFC 1738 6")


def steps(locator: GopherLocator, credentials: Credentials) -> Iterator[Step]:
    """Return the steps: connect, one request, one answer (RFC 1436 2); for types 2, 8 and T a session."""
    if locator.query is not None:
        raise PlanRefused(
            'a gopher URI cannot have a query: write "?" as "%3F", and a search after "%09"', "RFC 4266 2.2"
        )
    connection = connect(locator.host, PORT if locator.port is None else locator.port, "RFC 4266 2.1")
    kind = locator.gophertype
    if kind == "3":
        raise PlanRefused("an item of type 3 signals an error: there is nothing to retrieve", "RFC 1436 3.8")
    if kind in _SESSIONS and locator.plus is None:
        yield _session(locator, credentials, connection.host, connection.port)
        return
    yield connection
    request_data = request(locator)
    if locator.plus is None:
        note = ""
        if kind == "7" and locator.search is None:
            note = Cited("the search words are missing: ask the user for them", "RFC 1436 3.7")
        yield Send(source="RFC 1436 2" if locator.search is None else "RFC 4266 2.2", data=request_data, note=note)
        yield _answer(kind)
    else:
        yield from _request_steps(locator.plus, request_data)


def request(locator: GopherLocator) -> bytes:
    """Return the request, with the data block of a filled-out form after it.

    Raises: PlanRefused for a tab, a line end or NUL in selector or search, and for an answer that is not a line.

    >>> from overthere import URI
    >>> request(URI("gopher://h/7s%09a%20b").locator), request(URI("gopher://h/0s%09%09!+ABSTRACT").locator)
    (b's\\ta b\\r\\n', b's\\t!+ABSTRACT\\r\\n')
    """
    # RFC 4266 2.1 would allow NUL; RFC 1436, which defines the request, has selectors of UNASCII, without NUL.
    fields = [guarded(locator.selector, "selector", "RFC 1436 Appendix")]
    search, plus = locator.search, locator.plus
    if search is not None and (plus is None or search or locator.gophertype == "7"):
        fields.append(guarded(search, "search", "RFC 1436 Appendix"))
    block = b""
    if plus is not None:
        command, block = _command(plus)
        fields.append(command)
    return b"\t".join(fields) + CRLF + block


def _command(plus: GopherPlus) -> tuple[bytes, bytes]:
    """Return the text after the last tab of the request, and the data block; `plus` has both with their framing."""
    if isinstance(plus, Form):
        return b"!+ASK", b""  # the form is fetched first, for the person to fill it out (RFC 4266 2.5)
    if isinstance(plus, View):
        command = guarded(plus.command, "plus", "Gopher+ 2.4")
        if plus.data is None:
            return command + (b"\t0" if plus.flag else b""), b""
        return command + b"\t1", _block(plus.data)
    if isinstance(plus, Attributes | Unknown):
        return guarded(plus.string, "plus", "RFC 4266 2.3"), b""
    raise PlanRefused(f"{plus!r} is not a Gopher+ string", "RFC 4266 2.3")


def _block(data: Answers | Block) -> bytes:
    if isinstance(data, Answers):
        for line in data.lines:
            # A tab does not separate fields within the block.
            guarded(line.replace(b"\t", b" "), "an answer", "RFC 4266 2.9")
            if line == b".":
                raise PlanRefused("an answer is a single period, which would end the data block", "Gopher+ 2.3")
    return data.octets


def _answer(kind: str) -> Receive:
    """Return the step of the answer, which ends with a period (menus), the connection (files), or either (texts)."""
    description = _DESCRIPTIONS.get(kind, "the item")
    if kind in ("1", "7"):
        return Receive(source="RFC 1436 Appendix", what=description, until="dot")
    if kind in ("5", "9"):
        return Receive(source="RFC 1436 3.8", what=description, until="close")
    note = (
        Cited("the server of the preceding item knows the type of this duplicate", "RFC 1436 Appendix")
        if kind == "+"
        else ""
    )
    return Receive(source="RFC 1436 2", what=description, until="close", note=note)


def _request_steps(plus: GopherPlus, request_data: bytes) -> Iterator[Step]:
    """Return the steps of a Gopher+ request (RFC 4266 2.4 to 2.9); its answer begins with its length (Gopher+ 2.3)."""
    note, description = "", "the answer to the Gopher+ string"
    source = "RFC 4266 2.3"
    if isinstance(plus, View):
        source, description = (
            ("RFC 4266 2.8", f"the view {plus.name}") if plus.name else ("RFC 4266 2.4", "the default view")
        )
        if plus.data is not None:
            source, note = "RFC 4266 2.9", _BLOCK_NOTE
    elif isinstance(plus, Attributes):
        source = "RFC 4266 2.7" if plus.names else "RFC 4266 2.6"
        description = "the attributes of " + ("all items in the directory" if plus.directory else "the item")
    elif isinstance(plus, Form):
        source, description = "RFC 4266 2.5", "the form"
        note = Cited("the user fills in the form, and another request sends the answers", "RFC 4266 2.9")
    yield Send(source=source, data=request_data, note=note)
    yield Receive(source="Gopher+ 2.3", what=description, until="length")


def _session(locator: GopherLocator, credentials: Credentials, host: str, port: int) -> Interact:
    """Return the session: "The name to login as at this host is in the selector string." """
    kind = locator.gophertype
    if locator.search is not None:
        raise PlanRefused(f"an item of type {kind} is a session, which takes no search string", "RFC 1436 3.8")
    name = guarded(locator.selector, "selector", "RFC 1436 Appendix").decode("utf-8", "surrogateescape")
    if kind == "2":
        note = Cited("a CSO phone book needs the CSO protocol", "RFC 1436 3.7")
        return Interact(source="RFC 1436 3.7", program=_SESSIONS[kind], host=host, port=port, note=note)
    user = name or credentials.user
    for part, text in (("user", user), ("password", credentials.password)):
        if text is not None:
            guarded(text, part, "RFC 1436 Appendix")
    return Interact(
        source="RFC 1436 Appendix",
        program=_SESSIONS[kind],
        host=host,
        port=port,
        user=user,
        password=credentials.password,
    )
