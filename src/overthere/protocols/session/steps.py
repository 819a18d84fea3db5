"""telnet, rlogin, tn3270: the address of a session and the login to use (RFC 1738 3.8; RFC 4248 2)."""

from __future__ import annotations

from collections.abc import Iterator

from overthere.access.steps import Credentials, Interact, Step, connect, guarded
from overthere.ground.errors import Cited, CodingError, PlanRefused
from overthere.schemes.known.telnet import PORTS, TelnetLocator

_SOURCES = {"telnet": "RFC 4248 2", "rlogin": "1994 TELNET, RLOGIN, TN3270", "tn3270": "RFC 6270 2"}


def steps(locator: TelnetLocator, credentials: Credentials) -> Iterator[Step]:
    """Return one step; the name and password are advisory, for the person to enter (RFC 1738 3.8).

    Raises: PlanRefused for a host or user that a program would read as something else.
    """
    source = _SOURCES[locator.scheme]
    port = PORTS[locator.scheme] if locator.port is None else locator.port
    connection = connect(locator.host, port, source)
    # A local program receives the decoded user and password.
    user, password = (
        None if value is None else _native_text(locator, value) for value in (locator.user, locator.password)
    )
    if user is None:
        user = credentials.user
    if password is None and credentials.user in (None, user):  # not the password of another user
        password = credentials.password
    for part, text in (("host", connection.host), ("user", user), ("password", password)):
        if text is not None:
            guarded(text, part, source)
        if text is not None and part != "password" and text.startswith("-"):
            raise PlanRefused(
                f'{part} begins with "-": the program would read it as an option', f"{source}; RFC 3986 7.3"
            )
    note = ""
    if locator.path or locator.query is not None:
        note = Cited('the text after the host and its "/" has no meaning and is ignored', source)
    yield Interact(
        source=source, note=note, program=locator.scheme, host=connection.host, port=port, user=user, password=password
    )


def _native_text(locator: TelnetLocator, text: str) -> str:
    try:
        return locator.native(text)
    except CodingError as error:
        raise PlanRefused(f"{error}", _SOURCES[locator.scheme]) from None
