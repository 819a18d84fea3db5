"""The common part of all value types: decoding, comparison, copying and pickling.

Values are immutable, hashable, ordered and compared by their text (RFC 3986 6.2.1); their repr shows no password.
"""

from __future__ import annotations

from overthere.kernel import Components, front, front_classmethod, front_property
from overthere.values.conveniences import Conveniences, hints_keywords

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from ipaddress import IPv4Address, IPv6Address
    from typing import Self

    from overthere.forms import Pairs
    from overthere.kernel.components import Component
    from overthere.values.build import Userinfo


class _Keep:
    """The default of `replace`: leave the component as it is (None removes it)."""

    def __repr__(self) -> str:
        return "..."


_KEEP = _Keep()


class Value(Conveniences):
    """The base of URIReference and IRIReference."""

    __slots__ = ()
    __match_args__ = ("scheme", "authority", "path", "query", "fragment")

    @property
    def ip(self) -> IPv4Address | IPv6Address | None:
        """The address of an IPv4address or IPv6address (with its zone, if `ipaddress` can hold it), or None.

        >>> from overthere import URI
        >>> URI("http://[::1]:8080/").ip, URI("http://h.example/").ip
        (IPv6Address('::1'), None)
        """
        import ipaddress

        host = self.host or ""
        match self.host_kind:
            case "IPv4address":
                return ipaddress.IPv4Address(host)
            case "IPv6address":
                from overthere.values.encoding import decode

                address, percent, zone = host[1:-1].partition("%25")
                try:
                    return ipaddress.IPv6Address(f"{address}%{decode(zone)}" if percent else address)
                except ValueError:  # a zone that `ipaddress` does not hold, such as one with "/"
                    return ipaddress.IPv6Address(address)
            case _:
                return None

    @front_property
    def segments(self) -> tuple[str, ...]:
        """The raw segments of the path (3.3): `()` for an empty path, `("",)` for "/", `("a", "")` for "/a/".

        >>> from overthere import URI
        >>> URI("http://h/a%2Fb/c").segments
        ('a%2Fb', 'c')
        """
        path = self.path
        return tuple(path.removeprefix("/").split("/")) if path else ()

    @front_property
    def public_suffix(self) -> str | None:
        """The part of the host under which names are registered (publicsuffix.org); needs `overthere[domains]`."""
        from overthere.values.hosts.domains import of_host

        return (domain := of_host(self.host)) and domain.public_suffix

    @front_property
    def registrable_domain(self) -> str | None:
        """The public suffix with one more label; None for addresses.  Needs `overthere[domains]`."""
        from overthere.values.hosts.domains import of_host

        return (domain := of_host(self.host)) and domain.registrable_domain

    @front_property
    def subdomain(self) -> str | None:
        """The part of the host before the registrable domain.  Needs `overthere[domains]`."""
        from overthere.values.hosts.domains import of_host

        return (domain := of_host(self.host)) and domain.subdomain

    @front
    @hints_keywords
    def replace(
        self,
        *,
        scheme: str | None | _Keep = _KEEP,
        authority: str | None | _Keep = _KEEP,
        userinfo: Userinfo | None | _Keep = _KEEP,
        user: str | bytes | None | _Keep = _KEEP,
        password: str | bytes | None | _Keep = _KEEP,
        host: str | bytes | IPv4Address | IPv6Address | None | _Keep = _KEEP,
        port: int | str | None | _Keep = _KEEP,
        path: str | _Keep = _KEEP,
        query: str | bytes | Pairs | None | _Keep = _KEEP,
        fragment: str | None | _Keep = _KEEP,
    ) -> Self:
        """Return a new value with other components; None removes one (5.3).

        The text of a component is checked, never encoded: `URI.build` and `encode` take data.
        user, password: data, encoded; the other part of the userinfo stays.  `user=None` removes both.
        userinfo, host, query: text, or data as `URI.build` takes it: (user, password); octets, an address of
        `ipaddress`, pairs of a form, `Parameters`.

        Raises: InvalidURI if the result is not valid or would be read back as other components;
        CodingError for data that cannot be encoded; TypeError for `authority` together with one of its parts.

        >>> from overthere import URI
        >>> str(URI("http://h:80/p?q").replace(port=None, query=None))
        'http://h/p'
        >>> str(URI("http://h/p?q").replace(query={"k": "v w", "page": [1, 2]}, password="p:/w"))
        'http://:p%3A%2Fw@h/p?k=v+w&page=1&page=2'
        """
        from overthere.values.build import assemble, authority_of, edit_login, host_text, query_text, userinfo_text

        if not (isinstance(user, _Keep) and isinstance(password, _Keep)):
            login = {k: v for k, v in (("user", user), ("password", password)) if not isinstance(v, _Keep)}
            if not isinstance(userinfo, _Keep):
                raise TypeError(f"userinfo already contains {' and '.join(login)}")
            userinfo = edit_login(self.userinfo, login)
        elif not isinstance(userinfo, _Keep):
            userinfo = userinfo_text(userinfo)
        if not (isinstance(userinfo, _Keep) and isinstance(host, _Keep) and isinstance(port, _Keep)):
            if not isinstance(authority, _Keep):
                parts = {"userinfo": userinfo, "host": host, "port": port}
                names = " and ".join(name for name, part in parts.items() if not isinstance(part, _Keep))
                raise TypeError(f"authority already contains {names}")
            authority = authority_of(
                userinfo=self.userinfo if isinstance(userinfo, _Keep) else userinfo,
                host=self.host if isinstance(host, _Keep) else host_text(host),
                port=self.port_text if isinstance(port, _Keep) else port,
            )
        scheme = self.scheme if isinstance(scheme, _Keep) else scheme
        text = assemble(
            scheme,
            self.authority if isinstance(authority, _Keep) else authority,
            self.path if isinstance(path, _Keep) else path,
            self.query if isinstance(query, _Keep) else query_text(query, scheme),
            self.fragment if isinstance(fragment, _Keep) else fragment,
        )
        return type(self)(text, zone=self.zone is not None)

    @front_classmethod
    @hints_keywords
    def build(
        cls,
        *,
        scheme: str | None = None,
        authority: str | None = None,
        userinfo: Userinfo | None = None,
        user: str | bytes | None = None,
        password: str | bytes | None = None,
        host: str | bytes | IPv4Address | IPv6Address | None = None,
        port: int | str | None = None,
        path: str | bytes | None = None,
        segments: Iterable[str | bytes] | None = None,
        keep: str = "",
        rooted: bool | None = None,
        query: str | bytes | Pairs | None = None,
        fragment: str | bytes | None = None,
        zone: bool = False,
    ) -> Self:
        """Return a value from its parts: text is checked, data (lists, mappings, tuples, bytes) is percent-encoded.

        userinfo: text, octets, or (user, password) as data; user, password: the same one by one.
        host: text, octets of a reg-name, or an address of `ipaddress`.
        segments: the data of each path segment.  `rooted`: whether "/" precedes the first (default: if there is an
        authority); `keep`: the reserved characters that they may contain as data (2.2; default: none).
        query: text, octets, or the pairs of a form (`forms.encode`; no pairs are the empty query); `forms.Parameters`
        are kept as written.

        Raises: InvalidURI if the result is not valid or would be read back as other parts; CodingError for
        data that cannot be encoded; TypeError for `path` together with `segments` and the like.

        >>> from overthere import URI
        >>> str(URI.build(scheme="http", host="h", segments=["a/b", "ü"], query={"k": "v w"}))
        'http://h/a%2Fb/%C3%BC?k=v+w'
        >>> str(URI.build(scheme="ftp", user="a@b", password="p:/w", host="h"))
        'ftp://a%40b:p%3A%2Fw@h'
        """
        from overthere.values.build import build

        text = build(
            scheme=scheme,
            authority=authority,
            userinfo=userinfo,
            user=user,
            password=password,
            host=host,
            port=port,
            path=path,
            segments=segments,
            keep=keep,
            rooted=rooted,
            query=query,
            fragment=fragment,
        )
        return cls(text, zone=zone)

    @front
    def decoded_bytes(self, component: Component = "path") -> bytes | None:
        """Return the octets of a component (2.1); None if it is undefined."""
        from overthere.values.encoding import decode_bytes

        span = self.span(component)
        return None if span is None else decode_bytes(str(self)[slice(*span)])

    @front
    def decoded(self, component: Component = "path", charset: str = "utf-8", errors: str = "strict") -> str | None:
        """Return the characters of a component (2.5: by default UTF-8); None if it is undefined.

        Decoded data and delimiters cannot be distinguished afterwards: "%2F" and "/" look alike (2.2).

        Raises: CodingError if the octets are not in that charset.

        >>> from overthere import URI
        >>> URI("http://h/a%20b?q=%C3%A9").decoded("query")
        'q=é'
        """
        from overthere.values.encoding import decode

        span = self.span(component)
        return None if span is None else decode(str(self)[slice(*span)], charset=charset, errors=errors)

    @front
    def __repr__(self) -> str:
        from overthere.ground.redact import mask

        zone = ", zone=True" if self.zone is not None else ""
        return f"{type(self).__name__}({mask(str(self))!r}{zone})"

    def __setattr__(self, name: str, value: object) -> None:
        from overthere.kernel.reference import GROUPS

        advice = f"replace({name}=...) makes a new one" if name in GROUPS else "pass str() of it where text is needed"
        raise AttributeError(f"{type(self).__name__} is immutable; {advice}")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"{type(self).__name__} is immutable")

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: object) -> Self:
        return self

    def __reduce__(self) -> tuple[Callable[..., Components], tuple[type[Components], str, bool]]:
        return _restore, (type(self), str(self), self.zone is not None)

    @classmethod
    def argument(cls, text: str) -> Self:
        """Parse an argument for argparse: `type=URI.argument` reports the problem of an argument; `type=URI` does not.

        Raises: argparse.ArgumentTypeError, with the message of the InvalidURI.

        >>> from argparse import ArgumentParser
        >>> from overthere import URI
        >>> parser = ArgumentParser(exit_on_error=False)
        >>> _ = parser.add_argument("uri", type=URI.argument)
        >>> parser.parse_args(["//h/"])
        Traceback (most recent call last):
        argparse.ArgumentError: argument uri: there is no scheme (at 0, in the scheme; expected a scheme and a colon;
            RFC 3986 3)
        """
        from argparse import ArgumentTypeError

        from overthere.ground.errors import InvalidURI

        try:
            return cls(text)
        except InvalidURI as error:
            raise ArgumentTypeError(str(error)) from None

    def __conform__(self, protocol: object) -> str | None:
        """Return the text, with which sqlite3 binds a value (PEP 246)."""
        return str(self) if getattr(protocol, "__name__", "") == "PrepareProtocol" else None

    @property
    def __pydantic_serializer__(self) -> object:
        """The serializer that pydantic uses for fields of the type Any."""
        from overthere.values.pydantic_schema import serializer

        return serializer()

    @classmethod
    def __get_pydantic_core_schema__(cls, source: object, handler: object) -> object:
        from overthere.values.pydantic_schema import schema

        return schema(cls)


def _restore(cls: type[Components], text: str, zone: bool) -> Components:
    return cls(text, zone=zone)
