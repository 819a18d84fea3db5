"""Everyday methods of values: user and host, short forms for logs and people, names of other libraries."""

from __future__ import annotations

from overthere.kernel import front, front_property
from overthere.values.path_methods import PathMethods

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, TypeVar

    from overthere.ground.kinds import Finding

    F = TypeVar("F", bound=Callable[..., object])

ELSEWHERE = {
    "absolute": "scheme, None of a relative reference", "anchor": "fragment", "args": "parameters",
    "authority_info": "userinfo, host and port", "child": "append(...)", "copy_add_param": "add_parameters({...})",
    "copy_merge_params": "with_parameters({...})", "copy_remove_param": "without_parameters(...)",
    "copy_set_param": "with_parameters({...})", "copy_with": "replace(...)", "explicit_port": "port",
    "extend_query": "add_parameters({...})", "fqdn": "host", "geturl": "str()", "hash": "fragment", "hostname": "host",
    "href": "str()", "human_repr": "display()", "include_query_params": "with_parameters({...})",
    "is_absolute": "scheme, None of a relative reference", "is_absolute_url": "scheme, None of a relative reference",
    "is_default_port": "port and effective_port", "is_relative_url": "scheme, None of a relative reference",
    "is_valid": "can_parse(text)", "joinpath": "append(...)", "netloc": "authority", "normalized": "normalize()",
    "params": "parameters", "parts": "segments", "path_qs": "path and query", "pathname": "path", "protocol": "scheme",
    "query_params": "parameters", "query_string": "query", "raw_authority": "authority", "raw_fragment": "fragment",
    "raw_host": "host", "raw_name": "segments", "raw_parts": "segments", "raw_path": "path",
    "raw_path_qs": "path and query", "raw_query_string": "query", "raw_user": "userinfo",
    "registered_domain": "registrable_domain", "remove_query_params": "without_parameters(...)",
    "replace_query_params": "with_parameters({...})", "resolve_with": "resolve(base)",
    "scheme_specific_part": "authority, path and query", "search": "query", "searchParams": "parameters",
    "to_text": "str()", "unsplit": "str()", "update_query": "with_parameters({...})",
    "update_query_params": "with_parameters({...})", "uri": "str()", "url": "str()", "username": "user",
    "with_fragment": "replace(fragment=...)", "with_host": "replace(host=...)",
    "with_password": "replace(password=...)", "with_path": "replace(path=...)", "with_port": "replace(port=...)",
    "with_query": "replace(query={...})", "with_scheme": "replace(scheme=...)", "relative_to": "relate(...)",
    "with_user": "replace(user=...)", "without_query_params": "without_parameters(...)", "_replace": "replace(...)",
}  # fmt: skip
"""What other libraries call it -> what it is called here."""


class Conveniences(PathMethods):
    """The part of every value type that is built upon its components."""

    __slots__ = ()

    # -- who and where

    @front_property
    def user(self) -> str | None:
        """The userinfo before its first ":" (3.2.1), decoded; None if there is no userinfo.

        >>> from overthere import URI
        >>> u = URI("ftp://j%40e:p%3Aw@h/")
        >>> u.user, u.password
        ('j@e', 'p:w')
        """
        from overthere.values.encoding import decode

        return None if self.userinfo is None else decode(self.userinfo.partition(":")[0])

    @front_property
    def password(self) -> str | None:
        """The userinfo after its first ":" (3.2.1), decoded; None if there is none.  Its use is deprecated."""
        from overthere.values.encoding import decode

        _, colon, password = (self.userinfo or "").partition(":")
        return decode(password) if colon else None

    @front_property
    def effective_port(self) -> int | None:
        """The port, otherwise the default port of the scheme (3.2.3); None if neither is known or a number.

        >>> from overthere import URI
        >>> URI("https://h/").effective_port, URI("https://h:8443/").effective_port, URI("urn:a:b").effective_port
        (443, 8443, None)
        """
        from overthere.ground.late_imports import default_registry

        if self.port_text or self.scheme is None or self.authority is None:
            return self.port
        scheme_info = default_registry().get(self.scheme)
        return None if scheme_info is None else scheme_info.port

    def check_host_name(self) -> list[Finding]:
        """Problems of the host as a DNS name (RFC 1123 2.1, RFC 5890), with places in this text; see `hosts.dns`.

        The value is a valid URI all the same: RFC 3986 3.2.2 requires none of this.

        >>> from overthere import URI
        >>> [(one.kind, one.start) for one in URI("http://my_host/").check_host_name()]
        [('label-char', 9)]
        """
        from overthere.values.hosts.dns import check_host_name

        span = self.span("host")
        return (
            [one._replace(start=one.start + span[0], end=one.end + span[0]) for one in check_host_name(self.host)]
            if span
            else []
        )

    @front
    def redacted(self, *, userinfo: bool = False) -> str:
        """The text for logs: passwords are `***` (7.5), in URIs within the query too.

        userinfo: whether to hide the user's name as well, because it may be a token.

        >>> from overthere import URI
        >>> URI("ftp://joe:secret@h/").redacted(), URI("https://token@h/").redacted(userinfo=True)
        ('ftp://joe:***@h/', 'https://***@h/')
        """
        from overthere.ground.redact import mask

        return mask(str(self), userinfo=userinfo)

    def display(self, width: int = 40) -> str:
        """The text for people, in at most `width` columns if the host leaves room: an IRI whose host is whole and whose
        middle is cut, without userinfo, secrets and invisible characters.

        >>> from overthere import URI
        >>> URI("https://joe:pw@example.com/r%C3%A9sum%C3%A9s/2026/november/index.html?q=1").display()
        'https://***@example.com/résumés…html?q=1'
        """
        from overthere.values.display import display

        return display(self, width)

    # -- as a Python value

    def __format__(self, spec: str) -> str:
        return format(str(self), spec)

    if not TYPE_CHECKING:  # type checkers see neither

        def __fspath__(self) -> str:
            # Without it, libraries that look for an attribute `path` open the local file of that name.
            raise TypeError(f"a {type(self).__name__} is not a path of this machine; use str() for its text")


class _MovedAttribute:
    """An attribute that has another name here; its error says which.

    A method `__getattr__` would slow the access to every existing attribute: CPython then uses a slower path.
    """

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name

    def __get__(self, value: object, kind: type) -> object:
        name = self.name
        subject = f"{kind.__name__!r} object" if value is not None else f"type object {kind.__name__!r}"
        message = f"{subject} has no attribute {name!r}; use {ELSEWHERE[name]}"
        raise AttributeError(message, name=name, obj=kind if value is None else value)


_MovedAttributes = type("_MovedAttributes", (), {"__slots__": (), **{n: _MovedAttribute(n) for n in ELSEWHERE}})


class _WithMovedAttributes(type):
    """The metaclass of classes that look up attributes also in `_MovedAttributes`, which is not one of their bases."""

    def mro(cls) -> list[type]:
        return [*super().mro(), _MovedAttributes]


if not TYPE_CHECKING:
    # `dir()` reads the bases, attribute access reads the order that a class gets from its base. | Assigned later, the
    # base does not make its metaclass that of every value, which would slow their creation.
    Conveniences.__bases__ = (_WithMovedAttributes("_Base", (PathMethods,), {"__slots__": ()}),)


def hints_keywords(function: F) -> F:
    """Wrap a method with only keyword arguments, so that its error for an unknown one says which to use."""
    keyword_names = tuple(function.__kwdefaults__ or ())

    def call(value: Any, *args: object, **keywords: object) -> object:
        try:
            return function(value, *args, **keywords)
        except TypeError:
            unknown = [name for name in keywords if name not in keyword_names]
            if not unknown:
                raise
            method = f"{(value if isinstance(value, type) else type(value)).__name__}.{function.__name__}()"
            hint = _keyword_hint(unknown[0], keyword_names, function.__name__)
            raise TypeError(f"{method} got an unexpected keyword argument {unknown[0]!r}; {hint}") from None

    for attribute in ("__module__", "__name__", "__qualname__", "__doc__"):  # without `functools`, for a fast start
        setattr(call, attribute, getattr(function, attribute))
    call.__wrapped__ = function  # type: ignore[attr-defined]  # pyright: ignore[reportFunctionMemberAccess]
    return call  # type: ignore[return-value]  # pyright: ignore[reportReturnType]


def _keyword_hint(name: str, keyword_names: tuple[str, ...], method: str) -> str:
    our_name = ELSEWHERE.get(name, name).removeprefix("replace(").partition("=")[0]
    if our_name in keyword_names:
        return f"use {our_name}=..."
    if "parameters" in our_name:
        return "use query={...}"
    if method == "replace" and hasattr(Conveniences, f"with_{name}"):
        return f"use with_{name}(...)"
    return f"it takes {', '.join(f'{keyword}=' for keyword in keyword_names)}"
