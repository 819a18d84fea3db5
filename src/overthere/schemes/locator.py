"""What a URI of a scheme says, as typed data: read from a text as an edition cuts it, and written back.

A locator holds data: escapes are decoded by the edition's charset, which the locator keeps, so that the octets are
known that a server is sent.  Octets that are not UTF-8 are lone surrogates, as in Python's file names.  The host stays
as it is written, and so does what the scheme does not define (`query`, `fragment`).
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from dataclasses import KW_ONLY, dataclass, field, fields
from functools import lru_cache
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple, Self, overload

from overthere.echo import Secrets
from overthere.errors import CodingError, Finding, InvalidURI
from overthere.kernel import percent_encode
from overthere.kernel.percent import percent_decode  # the native one refuses a broken escape, here it stays
from overthere.kernel.reference import split, split_authority
from overthere.redact import mask

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from overthere.editions.model import Edition
    from overthere.schemes.registry import Registry
    from overthere.uri import URI

__all__ = ["GenericLocator", "Given", "Locator", "Written", "Writer"]

_DIGITS = re.compile("[0-9]+")


def reading(edition: str) -> str:
    """Whose account of a scheme an edition goes by: its own, or ("rfc3986") that of the scheme's document today.

    The drafts of 1997 and 2003 define no scheme, as RFC 3986 does not.
    """
    return edition if edition in ("url-1994", "rfc1738") else "rfc3986"


def charset_of(edition: str) -> str:
    """What escapes stand for in an edition: ISO Latin 1 in 1994 (Encoding prohibited characters); octets that may be
    UTF-8 elsewhere (RFC 1738 2.2 names no charset beyond US-ASCII; RFC 3986 2.5)."""
    return "latin-1" if edition == "url-1994" else "utf-8"


class Given:
    """A text as an edition cuts it, for a scheme to read on: raw parts, None where undefined."""

    __slots__ = (
        *("account", "charset", "edition", "fragment", "host", "named", "password"),
        *("path", "port", "query", "scheme", "text", "user"),
    )

    def __init__(self, text: str, edition: Edition, checked: bool = False) -> None:
        """Cut `text`.  Raises: InvalidURI if it has no scheme; for RFC 3986 if it is no URI, unless that is checked."""
        self.text = text
        self.edition = reading(edition.name)
        """The account to go by: "url-1994", "rfc1738", or "rfc3986" for the scheme's document of today."""
        self.charset = charset_of(self.edition)
        self.account: tuple[str, str] | None = None
        """For 1994 and RFC 1738: the rule and the paragraph that a refusal cites."""
        self.named: Mapping[str, str | None] = {}
        """For 1994 and RFC 1738: the parts by the names of the document's rules, as `Edition.parts` gives them."""
        self.user: str | None = None
        self.password: str | None = None
        self.host: str | None = None
        self.path: str | None = None
        """What follows the slash behind the authority, None if no slash does; without an authority the whole path."""
        self.query: str | None = None
        """What follows the "?"; in 1994 and RFC 1738, only where `named` has a search."""
        port = None
        if self.edition == "rfc3986":
            if edition.name == "rfc3986" and not checked:
                from overthere.uri import URI

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
            self.scheme = parts.scheme.lower()
        else:
            self.named = named = edition.parts(text)
            self.scheme = (named["scheme"] or "").lower()
            self.user, self.password = named.get("user"), named.get("password")
            self.host, port = named.get("host"), named.get("port")
            self.query = named.get("search")
            self.path = named.get("path", named.get("fpath", named.get("hpath", named.get("urlpath"))))
            self.fragment = named.get("fragmentid" if self.edition == "url-1994" else "fragment")
        # What is no number must not be taken for the default port; Python makes no number of 4,300 digits.
        if port and (len(port) > 4000 or not _DIGITS.fullmatch(port)):
            raise self.refuse(port, "a port of digits", "port", "RFC 3986 3.2.3")
        self.port = int(port) if port else None

    @overload
    def decode(self, raw: str) -> str: ...
    @overload
    def decode(self, raw: str | None) -> str | None: ...
    def decode(self, raw: str | None) -> str | None:
        """The data that a raw part stands for, by the edition's charset; a "%" that begins no escape stays.

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
            self.account = None  # it is no rule of the scheme
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
        """What every locator has: `scheme`, `charset`, `fragment`, and `query` unless the scheme reads it itself."""
        found: dict[str, Any] = {"scheme": self.scheme, "charset": self.charset, "fragment": self.fragment}
        if query and self.edition == "rfc3986":
            found["query"] = self.query
        return found

    def refuse(self, part: str | None, expected: str, rule: str, source: str) -> InvalidURI:
        """The exception for a part (as it stands in the text) that the scheme cannot read.

        part: the raw text that is wrong, None if something is missing; expected: what should stand there, in words;
        rule: the rule of the grammar; source: the document and its paragraph: those of today, an older edition is cited
        by its own.
        """
        rule, source = self.account or (rule, source)
        # Behind the scheme, whose letters a part may repeat.
        found = self.text.find(part, self.text.find(":") + 1) if part else len(self.text)
        start = max(found, 0)
        end = start + len(part or "")
        message = f"{self.scheme} wants {expected}"
        return InvalidURI(self.text, Finding("scheme-syntax", start, end, rule, rule, expected, source, message))


_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
# What needs no escape anywhere, and what may stand unescaped where a scheme gives it no other meaning.
_PLAIN = {
    "url-1994": (_LETTERS + "$-_.&'(),", "@+/!*"),
    "rfc1738": (_LETTERS + "$-_.+!*'(),", ";/?:@&="),
    "rfc3986": (_LETTERS + "-._~", "!$&'()*+,;=:@/?"),
}


@lru_cache(maxsize=256)
def _safe(plain: str, extra: str, keep: str, drop: str) -> str:
    return "".join(c for c in plain + keep if c not in drop and (c in plain or c in extra))


class Writer:
    """How an edition writes the parts of a locator, whose characters stand for octets by `charset`."""

    __slots__ = ("charset", "edition", "extra", "plain")

    def __init__(self, edition: str, charset: str = "utf-8") -> None:
        self.edition = reading(edition)
        self.charset = charset
        self.plain, self.extra = _PLAIN[self.edition]

    def text(self, data: str | bytes, keep: str = "", drop: str = "") -> str:
        """Data as the edition escapes its octets.

        keep: reserved characters that mean themselves in this part (those that the edition knows are kept);
        drop: characters that are escaped although the edition would allow them.

        Raises: CodingError for a character that the locator's charset does not have.
        """
        octets = data if isinstance(data, bytes) else octets_of(data, self.charset)
        return percent_encode(octets, _safe(self.plain, self.extra, keep, drop))

    def raw(self, written: str) -> str:
        """A part as it stands in a text; RFC 1738 has "~" as an escape alone (2.2, "unsafe")."""
        return written.replace("~", "%7E") if self.edition == "rfc1738" else written

    def authority(
        self, host: str, port: int | None = None, user: str | None = None, password: str | None = None
    ) -> str:
        """`//user:password@host:port`; user and password are data, the host is written as it is."""
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
        shown = f"U+{ord(data[error.start]):04X}"
        why = "is no character (RFC 3629 3)" if charset == "utf-8" else f"is not in the charset {charset}"
        raise CodingError(f"{shown} {why}") from None
    except LookupError:
        raise CodingError(f"{charset!r} is no charset that Python can write") from None


class Written(NamedTuple):
    """The text that a locator was read from, and by which edition."""

    text: str
    edition: str

    def __repr__(self) -> str:
        return f"Written(text={mask(self.text)!r}, edition={self.edition!r})"


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class Locator(ABC):
    """The base of the schemes' locators.  Immutable; `dataclasses.replace` makes another.

    Equal are two of one class that say the same octets, whatever charset has made characters of them.  A subclass is
    a dataclass with `eq=False`, so that this comparison serves it.

    >>> from overthere import URI, edition
    >>> old = edition("url-1994").locator("ftp://h/caf%E9")
    >>> old.name, old.charset, old == URI("ftp://h/caf%E9").locator, old == URI("ftp://h/caf%C3%A9").locator
    ('café', 'latin-1', True, False)
    """

    _: KW_ONLY
    scheme: str
    """In lower case."""
    query: str | None = None
    """As written, where the scheme does not define one."""
    fragment: str | None = None
    """As written; no scheme has a say in it (RFC 3986 3.5)."""
    written: Written | None = field(default=None, compare=False)
    charset: str = field(default="utf-8", compare=False)
    """Which octets the characters stand for: "latin-1" in what the edition of 1994 has read, else "utf-8"."""
    generic: ClassVar[bool] = False
    """Whether it has the parts of the generic syntax alone."""
    searched: ClassVar[bool] = False
    """Whether 1994 and RFC 1738 have the query too, as `search`."""
    as_written: ClassVar[frozenset[str]] = frozenset(("scheme", "host", "query", "fragment"))
    """The parts that are kept as they stand in the text, escapes and all."""

    def __post_init__(self) -> None:
        for one in fields(self):
            value = getattr(self, one.name)
            if isinstance(value, list):
                object.__setattr__(self, one.name, tuple(value))

    @classmethod
    @abstractmethod
    def split(cls, given: Given) -> Self:
        """Read the parts that an edition has cut.  Raises: InvalidURI where the scheme cannot be read."""

    @abstractmethod
    def join(self, to: Writer) -> str:
        """Everything between the scheme's colon and the undefined query and fragment, as `to` writes it."""

    @overload
    def uri(self, edition: Literal["rfc3986"] = ..., *, registry: Registry | None = None) -> URI: ...
    @overload
    def uri(self, edition: str | Edition, *, registry: Registry | None = None) -> URI | str: ...
    def uri(self, edition: str | Edition = "rfc3986", *, registry: Registry | None = None) -> URI | str:
        """The URI that says this: the text that was read if the parts are still those, else written anew.

        edition: by whose rules; for another than RFC 3986 the answer is text.
        registry: where the scheme is looked up, the default one unless given.

        Raises: Unwritable if that edition cannot say it; the message tells which part, or what came back.

        >>> from overthere import URI
        >>> from dataclasses import replace
        >>> there = URI("ftp://h/%2Fetc/m%6Ftd").locator
        >>> there.directories, str(there.uri()), str(replace(there, name="a b").uri())
        (('/etc',), 'ftp://h/%2Fetc/m%6Ftd', 'ftp://h/%2Fetc/a%20b')
        """
        from overthere.schemes.writing import write

        return write(self, edition, registry)

    def octets(self, data: str) -> bytes:
        """The octets that a text of this locator stands for, which a server is sent.

        Raises: CodingError for a character that the charset does not have.
        """
        return octets_of(data, self.charset)

    def native(self, data: str) -> str:
        """A text of this locator for a program or a file system of this machine: UTF-8, other octets as lone
        surrogates, as `os.fsdecode` gives them.  Raises: CodingError, as `octets`."""
        return data if data.isascii() else self.octets(data).decode("utf-8", "surrogateescape")

    def says(self, other: Locator) -> bool:
        """Whether another says the same: one of the same class, part by part the same octets."""
        return type(other) is type(self) and self._said() == other._said()

    def _said(self) -> tuple[Any, ...]:
        """What is compared: the octets of what was decoded, and the characters of what was not."""
        said = ((one.name, getattr(self, one.name)) for one in fields(self) if one.compare)
        return tuple(_same(v) if name in self.as_written else _in_octets(v, self.charset) for name, v in said)

    def __eq__(self, other: object) -> bool:
        return self.says(other) if isinstance(other, Locator) else NotImplemented

    def __hash__(self) -> int:
        return hash((type(self), self._said()))

    @property
    def edition(self) -> str:
        """The edition that read it; RFC 3986 for one that was made."""
        return "rfc3986" if self.written is None else self.written.edition

    def to_dict(self) -> dict[str, Any]:
        """The parts that say something, as JSON can hold them: octets as ISO Latin 1 text, a password as `***`.

        >>> from overthere import URI
        >>> URI("ftp://u:p@h/a/b").locator.to_dict()
        {'user': 'u', 'password': '***', 'host': 'h', 'directories': ['a'], 'name': 'b'}
        """
        found: dict[str, Any] = {}
        for name, value in self._shown():
            found[name] = _plain(value)
        hidden: dict[str, Any] = self._secrets().hide_in(found)
        return hidden

    def _shown(self) -> Iterator[tuple[str, Any]]:
        """The parts that say something, as they may be shown; the charset where it matters."""
        plain = True
        for one in sorted(fields(self), key=lambda one: (one.name == "charset", bool(one.kw_only))):
            value = getattr(self, one.name)
            if one.name in ("scheme", "written") or value is None or value == one.default:
                continue
            if one.name != "charset":
                plain = plain and _in_octets(value, "utf-8") == value
            if one.name != "charset" or not plain:
                yield one.name, _hidden(one.name, value)

    def _secrets(self) -> Secrets:
        """The passwords of the text that was read, which may stand in other parts than `password`."""
        return Secrets.of("" if self.written is None else self.written.text)

    def __repr__(self) -> str:
        shown = [f"{name}={value!r}" for name, value in self._shown()]
        return self._secrets().hide(f"{type(self).__name__}({', '.join(shown)})")


def _same(written: Any) -> Any:
    """A part as it is written; "~" is unreserved today and always escaped in RFC 1738 (2.2), and both are one octet."""
    return written.replace("%7E", "~").replace("%7e", "~") if isinstance(written, str) else written


def _in_octets(value: Any, charset: str) -> Any:
    if isinstance(value, tuple):
        return tuple(_in_octets(item, charset) for item in value)
    if not isinstance(value, str) or value.isascii():
        return value
    try:
        return octets_of(value, charset)
    except CodingError:  # made by hand, and stands for no octets
        return value


def _hidden(name: str, value: Any) -> Any:
    """What may be shown of a part (RFC 3986 7.5)."""
    if name == "authority" and isinstance(value, str):
        return mask(f"//{value}")[2:]
    return "***" if name == "password" else value


def _plain(value: Any) -> Any:
    if isinstance(value, bytes):
        return value.decode("latin-1")
    if isinstance(value, tuple):
        named = getattr(value, "_asdict", None)
        if named is not None:
            return {name: _plain(item) for name, item in named().items() if item is not None}
        return [_plain(item) for item in value]
    return value if isinstance(value, str | int | None) else str(value)


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class GenericLocator(Locator):
    """A URI of a scheme that is not known: the components of the generic syntax, as written (RFC 3986 3)."""

    authority: str | None = None
    path: str = ""

    as_written: ClassVar[frozenset[str]] = Locator.as_written | {"authority", "path"}
    generic: ClassVar[bool] = True
    searched: ClassVar[bool] = True

    @classmethod
    def split(cls, given: Given) -> GenericLocator:
        text = given.text
        if given.edition != "rfc3986":
            from overthere.editions.rfc1738 import bare

            text = bare(text)  # without "URL:"
        parts = split(text)
        return cls(parts.authority, parts.path, **{**given.rest(), "query": parts.query, "fragment": parts.fragment})

    def join(self, to: Writer) -> str:
        path = to.raw(self.path)
        return path if self.authority is None else f"//{self.authority}{path}"
