"""Cookies within one chain of redirects, and those of a login (RFC 6265), by `http.cookiejar`."""

from __future__ import annotations

import re
from collections.abc import Iterable
from email.message import Message
from http.cookiejar import Cookie, CookieJar, DefaultCookiePolicy, LoadError, MozillaCookieJar
from typing import TYPE_CHECKING, Any, cast
from urllib.request import Request
from warnings import catch_warnings

from overthere.ground.option_files import read_text

if TYPE_CHECKING:
    from http.client import HTTPResponse

__all__ = ["Cookies", "load_cookies"]

_LONGEST = 4096
"""Characters of a field Set-Cookie (RFC 6265 6.1)."""
_AGE = re.compile(r"(max-age\s*+=\s*+[+-]?)[0-9_]{10,}", re.IGNORECASE)
"""More seconds than `http.cookiejar` can count (RFC 6265 5.2.2): it drops all cookies then, with a traceback."""
_COUNT = 50
"""The most cookies of a chain; RFC 6265 6.1 asks for as many for each domain."""


class Cookies:
    """The cookies of a chain of redirects: those of a login, and those that its servers set.

    A cookie is sent to the hosts of its own domain only, by its path and by Secure.
    """

    def __init__(self, login: Iterable[Cookie] = ()) -> None:
        # The suffixes of countries are no domains of one site (co.uk); where a port matters, RFC 6265 knows none.
        policy = DefaultCookiePolicy(netscape=True, rfc2965=False, strict_domain=True)
        self._jar: CookieJar = CookieJar(policy)
        for cookie in login:
            self._jar.set_cookie(cookie)
        self._sent: set[tuple[str, str]] = set()

    def field(self, uri: str) -> str:
        """The value of the field Cookie of a request; "" without one."""
        request = Request(uri)
        self._jar.add_cookie_header(request)
        value = str(request.get_header("Cookie", ""))
        return value if value.isprintable() and len(value) <= _LONGEST * 2 else ""

    def send(self, uri: str) -> str:
        """The same, for a request that is made now."""
        self._sent.add((uri, value := self.field(uri)))
        return value

    def is_repeated(self, uri: str) -> bool:
        """Whether a request for a URI was sent with the very cookies that it would have now."""
        return (uri, self.field(uri)) in self._sent

    def take(self, uri: str, fields: Iterable[tuple[str, str]]) -> None:
        """Keep the cookies of a response."""
        head = Message()
        for name, value in fields:
            if name.lower() == "set-cookie" and len(value) <= _LONGEST:
                head["Set-Cookie"] = _AGE.sub(r"\g<1>999999999", value)
        response = cast("HTTPResponse", _Response(head))
        for cookie in self._jar.make_cookies(response, request := Request(uri)):
            if len(self._jar) < _COUNT:
                self._jar.set_cookie_if_ok(cookie, request)


class _Response:
    """What a jar asks of a response."""

    def __init__(self, head: Message) -> None:
        self._head = head

    def info(self) -> Message:
        return self._head


def load_cookies(path: str) -> tuple[Cookie, ...]:
    """The cookies of a file in the format of Netscape, as browsers and curl write it.

    Raises: ValueError for another file; OSError.
    """
    read_text(path)  # by its limits
    jar: Any = MozillaCookieJar(path)
    try:
        with catch_warnings(action="ignore"):  # of a line that cannot be read
            jar.load(ignore_discard=True, ignore_expires=True)
    except LoadError:  # whose message shows the line
        raise ValueError(f"{path}: not a cookie file in Netscape format: each line has seven fields, by tabs") from None
    for cookie in jar:
        cookie.expires = cookie.expires or None  # 0 is the end of the session
    return tuple(cookie for cookie in jar if not cookie.is_expired())
