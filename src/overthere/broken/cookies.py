"""Cookies within one chain of redirects, and those of a login (RFC 6265), by `http.cookiejar`."""

from __future__ import annotations

import re
from collections.abc import Iterable
from email.message import Message
from http.cookiejar import Cookie, CookieJar, DefaultCookiePolicy
from io import StringIO
from typing import TYPE_CHECKING, cast
from urllib.request import Request

from overthere.ground.option_files import read_text

if TYPE_CHECKING:
    from http.client import HTTPResponse

_MAX_FIELD_LENGTH = 4096
"""Maximum length of a Set-Cookie field, in characters (RFC 6265 6.1)."""
_HUGE_AGE = re.compile(r"(max-age\s*+=\s*+[+-]?)[0-9_]{10,}", re.IGNORECASE)
"""A Max-Age that overflows in `http.cookiejar` (RFC 6265 5.2.2), which then drops all cookies, with a traceback."""
_IGNORED = re.compile(r";\s*+(?:path\s*+=\s*+[^\s;/]|max-age\s*+=\s*+[-+]?+(?![0-9]))[^;]*+", re.IGNORECASE)
"""An invalid Path or Max-Age, which counts as missing (5.2.2, 5.2.4); `http.cookiejar` drops the cookie."""
_COOKIE = re.compile(
    r"\.?([^\t]+)\t([^\t]*)\t([^\t]*)\t([^\t]*)\t(?:-1|([0-9]{0,18})(?:\.[0-9]*)?)\t([^\t]*)(?:\t([^\t]*))?"
)
"""A line of a cookie file: 0, -1 and no time mean the session; some programs write fractions or omit an empty value."""
_MAX_COOKIES = 50
"""Maximum number of cookies that the servers of a chain set; RFC 6265 6.1 requires as many for each domain."""


class Cookies:
    """The cookies of a chain of redirects: those of a login, and those that its servers set.

    A cookie is sent only to the hosts of its domain (5.1.3), without a Domain only to the host that set it (5.3, 6),
    according to its path and Secure.
    """

    def __init__(self, login: Iterable[Cookie] = ()) -> None:
        # A public suffix such as co.uk is not the domain of a site; RFC 6265 does not consider ports.
        policy = DefaultCookiePolicy(
            netscape=True, rfc2965=False, strict_domain=True,
            strict_ns_domain=DefaultCookiePolicy.DomainStrictNonDomain,
        )  # fmt: skip
        self._jar: CookieJar = CookieJar(policy)
        for cookie in login:
            self._jar.set_cookie(cookie)
        self._most: int = len(self._jar) + _MAX_COOKIES
        self._sent: set[tuple[str, str]] = set()

    def field(self, uri: str) -> str:
        """The value of a request's Cookie field; "" if there is none."""
        request = Request(uri)
        self._jar.add_cookie_header(request)
        value = str(request.get_header("Cookie", ""))
        return value if value.isprintable() and len(value) <= _MAX_FIELD_LENGTH * 2 else ""

    def send(self, uri: str) -> str:
        """The value of the Cookie field for a request that is sent now; it is remembered for `is_repeated`."""
        self._sent.add((uri, value := self.field(uri)))
        return value

    def is_repeated(self, uri: str) -> bool:
        """Whether a request for a URI was already sent with the cookies that it would have now."""
        return (uri, self.field(uri)) in self._sent

    def take(self, uri: str, fields: Iterable[tuple[str, str]]) -> None:
        """Store the cookies of a response."""
        head = Message()
        for name, value in fields:
            if name.lower() == "set-cookie" and len(value) <= _MAX_FIELD_LENGTH:
                head["Set-Cookie"] = _HUGE_AGE.sub(r"\g<1>999999999", _IGNORED.sub("", value))
        response = cast("HTTPResponse", _Response(head))
        for cookie in self._jar.make_cookies(response, request := Request(uri)):
            if len(self._jar) < self._most:
                self._jar.set_cookie_if_ok(cookie, request)


class _Response:
    """The part of a response that a cookie jar uses."""

    def __init__(self, head: Message) -> None:
        self._head = head

    def info(self) -> Message:
        return self._head


def load_cookies(path: str) -> tuple[Cookie, ...]:
    """The cookies of a file in Netscape format, which browsers and curl write, without those that have expired.

    As in curl, the second field says whether subdomains get the cookie, and a dot before the domain does not matter.

    Raises: ValueError for a file in another format; OSError.
    """
    text = read_text(path)
    lines = (line.rstrip("\r\n").removeprefix("#HttpOnly_") for line in StringIO(text))
    matches = (_COOKIE.fullmatch(line) for line in lines if line.strip() and not line.lstrip().startswith(("#", "$")))
    cookies = [match and _cookie(match) for match in matches]
    if None in cookies or not (cookies or text.partition("\n")[0].rstrip("\r").endswith("HTTP Cookie File")):
        raise ValueError(f"{path}: not a cookie file in Netscape format: each line has seven fields, by tabs")
    return tuple(cookie for cookie in cookies if cookie is not None and not cookie.is_expired())


def _cookie(match: re.Match[str]) -> Cookie:
    domain, subdomains, path, secure, expires, name, value = match.groups("")
    if ":" in domain:
        domain = f"[{domain.strip('[]')}]"
    if "." not in domain:
        domain += ".local"  # as `http.cookiejar` names a host without a dot
    is_domain = subdomains.upper() == "TRUE"
    return Cookie(
        0, name or value, value if name else None, None, False, "." * is_domain + domain, is_domain, is_domain, path,
        True, secure.upper() == "TRUE", int(expires or 0) or None, False, None, None, {},
    )  # fmt: skip
