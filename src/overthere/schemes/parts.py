"""The parts of a URI between an edition and a scheme, for parsing and for writing."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, overload

from overthere.ground.caches import bounded_cache
from overthere.ground.errors import CodingError, Finding, InvalidURI
from overthere.kernel import percent_encode
from overthere.kernel.percent import percent_decode  # the native one refuses a broken escape, here it stays
from overthere.kernel.reference import split_authority
from overthere.values.uri import URI

if TYPE_CHECKING:
    from collections.abc import Mapping

    from overthere.editions.model import Edition

_DIGITS = re.compile("[0-9]+")


def reading(edition: str) -> str:
    """Return the edition whose definition of a scheme applies: its own, or "rfc3986" for the scheme's current document.

    The drafts of 1997 and 2003 define no scheme, like RFC 3986.
    """
    return edition if edition in ("url-1994", "rfc1738") else "rfc3986"


def charset_of(edition: str) -> str:
    """Return the charset of escapes in an edition: ISO Latin 1 in 1994 (Encoding prohibited characters); elsewhere
    octets that may be UTF-8 (RFC 1738 2.2 names no charset beyond US-ASCII; RFC 3986 2.5)."""
    return "latin-1" if edition == "url-1994" else "utf-8"


class Given:
    """The raw parts of a text as an edition splits it, for its scheme to read; None where undefined."""

    __slots__ = (
        *("account", "charset", "edition", "fragment", "host", "named", "password"),
        *("path", "port", "query", "scheme", "text", "user"),
    )

    def __init__(self, text: str, edition: Edition, checked: bool = False) -> None:
        """Split `text`.  Raises: InvalidURI if it has no scheme; for RFC 3986 if it is not a valid URI, unless
        `checked`."""
        self.text = text
        self.edition: str = reading(edition.name)
        """The account that applies: "url-1994", "rfc1738", or "rfc3986" for the scheme's current document."""
        self.charset: str = charset_of(self.edition)
        self.account: tuple[str, str] | None = None
        """For 1994 and RFC 1738: the rule and the paragraph that a refusal cites."""
        self.named: Mapping[str, str | None] = {}
        """For 1994 and RFC 1738: the parts by the names of the document's rules, as `Edition.parts` gives them."""
        self.user: str | None = None
        self.password: str | None = None
        self.host: str | None = None
        self.path: str | None = None
        """The part after the slash behind the authority, None without a slash; without an authority the whole path."""
        self.query: str | None = None
        """The part after the "?"; in 1994 and RFC 1738, only if `named` has a search."""
        port = None
        if self.edition == "rfc3986":
            if edition.name == "rfc3986" and not checked:
                URI(text)
            parts = edition.split(text)
            if parts.scheme is None:
                raise InvalidURI(text, edition.check(text, limit=1)[0])
            self.path, self.query, self.fragment = parts.path, parts.query, parts.fragment
            if parts.authority is not None:
                userinfo, self.host, port = split_authority(parts.authority)
                if userinfo is not None:
                    self.user, colon, password = userinfo.partition(":")
                    self.password = password if colon else None
                self.path = parts.path[1:] if parts.path else None
            self.scheme: str = parts.scheme.lower()
        else:
            self.named = named = edition.parts(text)
            self.scheme = (named["scheme"] or "").lower()
            self.user, self.password = named.get("user"), named.get("password")
            self.host, port = named.get("host"), named.get("port")
            self.query = named.get("search")
            self.path = named.get("path", named.get("fpath", named.get("hpath", named.get("urlpath"))))
            self.fragment = named.get("fragmentid" if self.edition == "url-1994" else "fragment")
        # An invalid number must not become the default port; Python does not read 4,300 digits.
        if port and (len(port) > 4000 or not _DIGITS.fullmatch(port)):
            raise self.refuse(port, "a port of digits", "port", "RFC 3986 3.2.3")
        self.port: int | None = int(port) if port else None

    @overload
    def decode(self, raw: str) -> str: ...
    @overload
    def decode(self, raw: str | None) -> str | None: ...
    def decode(self, raw: str | None) -> str | None:
        """The data that a raw part stands for, by the edition's charset; a "%" that does not begin an escape stays.

        Raises: InvalidURI for a character that the charset does not have.
        """
        if raw is None or ("%" not in raw and raw.isascii()):
            return raw
        octets = self.octets(raw)
        return octets.decode("latin-1") if self.charset == "latin-1" else octets.decode("utf-8", "surrogateescape")

    def octets(self, raw: str) -> bytes:
        """The octets that a raw part stands for.  Raises: InvalidURI for a character that the charset does not have."""
        if self.charset != "latin-1":
            return percent_decode(raw.encode("utf-8", "surrogatepass"))
        try:
            return percent_decode(raw.encode("latin-1"))
        except UnicodeEncodeError as error:
            source = "draft-ietf-uri-url-03, Encoding prohibited characters"
            self.account = None  # the error is not of a rule of the scheme
            raise self.refuse(raw[error.start], "characters of ISO Latin 1", "xalphas", source) from None

    def login(self) -> dict[str, Any]:
        """`user`, `password`, `host` and `port` for the constructor of a locator."""
        return {
            "user": self.decode(self.user),
            "password": self.decode(self.password),
            "host": self.host or "",
            "port": self.port,
        }

    def rest(self, *, query: bool = True) -> dict[str, Any]:
        """The parts of every locator: `scheme`, `charset`, `fragment`, and `query` unless the scheme reads it."""
        parts: dict[str, Any] = {"scheme": self.scheme, "charset": self.charset, "fragment": self.fragment}
        if query and self.edition == "rfc3986":
            parts["query"] = self.query
        return parts

    def refuse(self, part: str | None, expected: str, rule: str, source: str) -> InvalidURI:
        """The exception for a part (as written) that the scheme cannot read.

        part: the invalid raw text, None if something is missing; expected: the expected text, in words;
        rule: the rule of the grammar; source: the document and its paragraph: those of today, an older edition cites
        its own.
        """
        rule, source = self.account or (rule, source)
        # Search after the scheme, whose letters a part may repeat.
        place = self.text.find(part, self.text.find(":") + 1) if part else len(self.text)
        start = max(place, 0)
        end = start + len(part or "")
        message = f"not a valid {self.scheme} URI: expected {expected}"
        return InvalidURI(self.text, Finding("scheme-syntax", start, end, rule, rule, expected, source, message))


_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
# Characters that never need an escape, and characters that need none if a scheme gives them no other meaning.
_PLAIN = {
    "url-1994": (_LETTERS + "$-_.&'(),", "@+/!*"),
    "rfc1738": (_LETTERS + "$-_.+!*'(),", ";/?:@&="),
    "rfc3986": (_LETTERS + "-._~", "!$&'()*+,;=:@/?"),
}


@bounded_cache(256)
def _safe(plain: str, extra: str, keep: str, drop: str) -> str:
    return "".join(c for c in plain + keep if c not in drop and (c in plain or c in extra))


class Writer:
    """Writes the parts of a locator as an edition requires; characters represent octets by `charset`."""

    __slots__ = ("charset", "edition", "extra", "plain")

    def __init__(self, edition: str, charset: str = "utf-8") -> None:
        self.edition: str = reading(edition)
        self.charset: str = charset
        self.plain: str
        self.extra: str
        self.plain, self.extra = _PLAIN[self.edition]

    def text(self, data: str | bytes, keep: str = "", drop: str = "") -> str:
        """Return data with its octets escaped as the edition requires.

        keep: reserved characters that mean themselves in this part (those that the edition knows are kept);
        drop: characters that are escaped although the edition would allow them.

        Raises: CodingError for a character that the locator's charset does not have.
        """
        octets = data if isinstance(data, bytes) else octets_of(data, self.charset)
        return percent_encode(octets, _safe(self.plain, self.extra, keep, drop))

    def raw(self, written: str) -> str:
        """Return a raw part; in RFC 1738 "~" is always an escape (2.2, "unsafe")."""
        return written.replace("~", "%7E") if self.edition == "rfc1738" else written

    def authority(
        self, host: str, port: int | None = None, user: str | None = None, password: str | None = None
    ) -> str:
        """Return `//user:password@host:port`; user and password are data, the host is written unchanged."""
        keep = "!$&'()*+,;="
        login = "" if user is None and password is None else self.text(user or "", keep, "@")
        login += "" if password is None else ":" + self.text(password, keep, "@")
        at = "" if user is None and password is None else "@"
        return f"//{login}{at}{host}" + ("" if port is None else f":{port}")


def octets_of(data: str, charset: str) -> bytes:
    """The octets of a locator's text.  Raises: CodingError for a character that the charset does not have."""
    try:
        return data.encode(charset, "surrogateescape")
    except UnicodeEncodeError as error:
        code_point = f"U+{ord(data[error.start]):04X}"
        reason = "is not a character (RFC 3629 3)" if charset == "utf-8" else f"is not in the charset {charset}"
        raise CodingError(f"{code_point} {reason}") from None
    except LookupError:
        raise CodingError(f"{charset!r:.100} is not a charset that Python can encode") from None
