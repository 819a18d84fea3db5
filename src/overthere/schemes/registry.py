"""The registry of schemes, a value: built-in schemes, those of installed packages, and those of the caller."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple

from overthere.ground.caches import bounded_cache
from overthere.ground.errors import Finding, InvalidURI, RegistryError
from overthere.ground.exact import exact
from overthere.schemes.entry_points import is_named
from overthere.schemes.in_text import InText, built_in, facts_of
from overthere.schemes.locator import GenericLocator, Given, Locator, SourceText, reading
from overthere.schemes.model import Scheme

if TYPE_CHECKING:
    from overthere.values.uri import URI

GROUP = "overthere.schemes"
"""The group of entry points: the name of a scheme, and "module:SCHEME"."""

BUILT_IN = (
    "http", "https", "ftp", "gopher", "mailto", "news", "nntp", "telnet", "rlogin", "tn3270", "wais", "file",
    "prospero", "mid", "cid", "afs", "nfs", "mailserver", "z39.50", "ldap", "ldaps", "tel", "urn", "data", "ws",
    "wss", "tag", "about", "ssh", "sftp", "sip", "sips", "geo", "did", "ftps", "blob", "view-source", "jdbc", "irc",
    "ircs", "git", "smb", "rtsp", "rtsps", "rtspu", "coap", "coaps", "coap+tcp", "coaps+tcp", "coap+ws", "coaps+ws",
    "mqtt", "mqtts", "otpauth", "s3", "s3a", "gs", "az", "abfs", "abfss",
)  # fmt: skip


_NAME = re.compile("[a-z][a-z0-9+.-]*")
_NO_LETTER = re.compile("[+.-]")


class Claim(NamedTuple):
    """A claim to a name: a package, and the place of the scheme in it."""

    package: str
    place: str
    """"module:attribute"."""


class Registry:
    """The known schemes.  Immutable; `with_` makes another.

    >>> registry = Registry.default()
    >>> registry.scheme("ftp").port, registry.scheme("no-such-thing").known
    (21, False)
    """

    __slots__ = ("_claims", "_schemes")

    def __init__(self, schemes: Mapping[str, Scheme], claims: Mapping[str, tuple[Claim, ...]]) -> None:
        """Use `Registry.default()` or `Registry.empty()`, and `with_`."""
        self._schemes = dict(schemes)
        self._claims = dict(claims)

    @staticmethod
    def default() -> Registry:
        """The built-in schemes and those of the entry points "overthere.schemes"; each is loaded at its first use."""
        return _default()

    @staticmethod
    def empty() -> Registry:
        """A registry without schemes."""
        return Registry({}, {})

    def with_(self, *schemes: Scheme, replace: bool = False) -> Registry:
        """A copy with these schemes added.

        Raises: RegistryError if a name is taken, naming both claims, unless `replace`.
        """
        added = dict(self._schemes)
        for scheme in schemes:
            if not isinstance(scheme, Scheme):
                raise TypeError(f"a registry can hold schemes only, not {type(scheme).__name__}")
            if not scheme.known:
                raise RegistryError(f"the scheme {scheme.name!r} has only a name: nothing is known about it")
            if not replace and (owner := self._owner_of(scheme.name, added)):
                raise RegistryError(f"two claims to the scheme {scheme.name!r}: {owner} and {scheme.title!r}")
            added[scheme.name] = scheme
        return Registry(added, self._claims)

    def _owner_of(self, name: str, added: Mapping[str, Scheme]) -> str:
        if name in added:
            return repr(added[name].title)
        return " and ".join(f"{claim.place} of {claim.package}" for claim in self._claims.get(name, ()))

    def __contains__(self, name: object) -> bool:
        key = exact(name, "in").lower() if isinstance(name, str) and str.isascii(name) else ""
        return key in self._schemes or key in self._claims

    def __iter__(self) -> Iterator[str]:
        """The names of the known schemes, in alphabetical order."""
        return iter(sorted({*self._schemes, *self._claims}))

    def __len__(self) -> int:
        return len({*self._schemes, *self._claims})

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Registry):
            return NotImplemented
        return (self._schemes, self._claims) == (other._schemes, other._claims)

    def __hash__(self) -> int:
        return hash(tuple(self))

    def __repr__(self) -> str:
        return f"<Registry of {len(self)} schemes>"

    def scheme(self, name: str) -> Scheme:
        """The scheme of that name, in any case (RFC 3986 3.1); an unknown one has only the generic syntax.

        A "+" in a name has no meaning (RFC 3986 3.1): "git+ssh" is an unknown scheme without a default port,
        independent of "git" and "ssh"; "coap+tcp" is known by its own document.

        Raises: RegistryError for an invalid name, for two claims, or for an empty claim.
        """
        name = exact(name, "scheme()")
        # Letters beyond US-ASCII must not become others: the Kelvin sign is not a "k".
        key = name.lower() if name.isascii() else name
        if key in self._schemes:
            return self._schemes[key]
        claims = self._claims.get(key, ())
        if not claims:
            return _unknown_scheme(key)
        claim, *other_claims = claims
        if other_claims:
            raise RegistryError(f"two claims to the scheme {key!r}: {self._owner_of(key, {})}")
        return _load(key, claim)

    def get(self, name: str) -> Scheme | None:
        """The scheme of that name if it is known; None for others, for invalid names ("1a"), and for an empty
        claim."""
        try:
            return self.scheme(name) if name in self else None
        except RegistryError:
            return None

    def schemes(self) -> Iterator[Scheme]:
        """The known schemes, in alphabetical order; each is loaded, and those that a package cannot provide are left
        out."""
        return filter(None, map(self.get, self))

    def in_text(self) -> Mapping[str, InText]:
        """The facts for finding and showing URIs in text, by the name of each known scheme, in alphabetical order.
        Built-in schemes are not loaded for it, and those that a package cannot provide are left out.

        >>> Registry.default().in_text()["mailto"].linkable
        True
        """
        return {name: facts for name in self if (facts := self._in_text(name)) is not None}

    def _in_text(self, name: str) -> InText | None:
        if name not in self._schemes and self._claims[name] == (_built_in(name),) and name in built_in():
            return built_in()[name]
        scheme = self.get(name)  # a scheme of a package, or one that is not in the table yet: `make docs` writes it
        return None if scheme is None else facts_of(scheme)

    def locator(self, uri: URI | str, edition: str = "rfc3986") -> Locator:
        """A URI as typed data of its scheme, as an edition defines it.

        The definition of today's document serves the editions that define no scheme (1997, 2003, RFC 3986); a scheme
        that an edition does not define is read by the generic syntax.

        Raises: InvalidURI if the text is not valid there, or the scheme cannot be read in it.
        """
        from overthere.editions import edition as edition_named
        from overthere.values.uri import URI

        if not isinstance(uri, str | URI):
            raise TypeError(f"a URI must be a URI or text, not {type(uri).__name__}")
        text = exact(uri, "locator()") if isinstance(uri, str) else str(uri)
        parts = Given(text, edition_named(edition), isinstance(uri, URI))
        kind: type[Locator] = GenericLocator
        # Older editions allow names that are not schemes today: "1a".
        if _NAME.fullmatch(parts.scheme):
            scheme = self.scheme(parts.scheme)
            parts.account = scheme.account(edition)
            kind = scheme.locator if reading(edition) in scheme.documents else GenericLocator
        locator = kind.split(parts)
        object.__setattr__(locator, "written", SourceText(text, edition))  # not shared yet
        return locator

    def check(self, uri: str, edition: str = "rfc3986", limit: int | None = 1000) -> list[Finding]:
        """The findings on a URI by its scheme's rules in an edition, or without rules, by its
        locator; nothing of a relative reference and of a scheme that is not known there.

        uri: a text that is a URI of that edition by the generic syntax, which is not checked again.

        >>> [(one.kind, one.start, one.source) for one in Registry.default().check("http://")]
        [('scheme-syntax', 7, 'RFC 9110 4.2.1')]
        """
        text = exact(uri, "check()")
        # Wrappers around a URL of 1994 and of RFC 1738 do not belong to its scheme (1994 Wrappers; RFC 1738 Appendix).
        bare = text
        if reading(edition) != "rfc3986":
            from overthere.editions.rfc1738 import unwrap

            bare = unwrap(text)
        scheme = self.get(bare.partition(":")[0]) if ":" in bare else None
        if scheme is None:
            return []
        if reading(edition) in scheme.rules:
            findings = scheme.faults(bare, edition, limit)
        elif reading(edition) not in scheme.documents:
            return []
        else:
            try:
                self.locator(bare, edition)
            except InvalidURI as error:
                findings = [error.finding]
            else:
                return []
        offset = text.find(bare)
        return [finding._replace(start=finding.start + offset, end=finding.end + offset) for finding in findings]


@cache
def _default() -> Registry:
    claims: dict[str, tuple[Claim, ...]] = {name: (_built_in(name),) for name in BUILT_IN}
    points: Iterable[Any] = ()
    if is_named(GROUP):
        from importlib.metadata import entry_points

        points = entry_points(group=GROUP)
    for point in points:
        name, package = point.name.lower(), point.dist.name if point.dist else "an unknown package"
        claim = Claim(package, point.value)
        if claim not in claims.get(name, ()):
            claims[name] = (*claims.get(name, ()), claim)
    return Registry({}, claims)


def scheme(name: str) -> Scheme:
    """The scheme of that name, in any case, in the default registry; `known` says whether there is more than its name.

    Raises: RegistryError for an invalid name or one with two claims.

    >>> scheme("gopher").port, scheme("xmpp").title, scheme("xmpp").known
    (70, 'Extensible Messaging and Presence Protocol', False)
    """
    return Registry.default().scheme(name)


def port_of(name: str, registry: Registry | None = None) -> int | None:
    """Return the default port of a scheme that a registry, by default the default one, knows; None for others."""
    scheme_info = (Registry.default() if registry is None else registry).get(name)
    return None if scheme_info is None else scheme_info.port


_FAMILIES = {
    "coaps": "coap", "coap+tcp": "coap", "coaps+tcp": "coap", "coap+ws": "coap", "coaps+ws": "coap",
    "rtsps": "rtsp", "rtspu": "rtsp", "sips": "sip", "mqtts": "mqtt", "ircs": "irc", "wss": "ws", "ldaps": "ldap",
    "https": "http", "rlogin": "telnet", "tn3270": "telnet", "cid": "mid", "sftp": "ssh", "ftps": "ftp",
    "mailserver": "reserved", "nfs": "reserved", "z39.50": "reserved", "jdbc": "inner", "view-source": "inner",
    "s3": "objects", "s3a": "objects", "gs": "objects", "az": "objects", "abfs": "objects", "abfss": "objects",
}  # fmt: skip
"""Schemes whose module has several schemes or another name; each has its own name in capitals there."""


def _built_in(name: str) -> Claim:
    identifier = _NO_LETTER.sub("_", name)
    module, value = (_FAMILIES[name], identifier.upper()) if name in _FAMILIES else (identifier, "SCHEME")
    return Claim("overthere", f"overthere.schemes.known.{module}:{value}")


def _load_claim(name: str, claim: Claim) -> Any:
    if claim == _built_in(name):
        module, _, value = claim.place.partition(":")
        return getattr(import_module(module), value)
    from importlib.metadata import EntryPoint

    return EntryPoint(name, claim.place, GROUP).load()


@cache
def _load(name: str, claim: Claim) -> Scheme:
    try:
        scheme = _load_claim(name, claim)
    except (RecursionError, MemoryError):
        raise
    except Exception as error:  # the code of a package may raise any exception
        reason = f"{type(error).__name__}: {error}"
        raise RegistryError(f"{claim.package} claims the scheme {name!r}, but {claim.place}: {reason}") from error
    if not isinstance(scheme, Scheme) or scheme.name != name:
        raise RegistryError(f"{claim.package} claims the scheme {name!r}, but {claim.place} is {scheme!r}")
    return scheme


@bounded_cache(256)  # names come from texts: not all are cached
def _unknown_scheme(name: str) -> Scheme:
    from overthere.schemes.iana import registration

    registered = registration(name)
    title = registered.description if registered else "not known"
    return Scheme(name=name, title=title, documents={}, known=False)
