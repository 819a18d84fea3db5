"""Everyday methods of values: parameters, the path as data, user and host.

Whatever makes another value leaves octet for octet what it does not touch.
"""

from __future__ import annotations

from overthere.kernel import Components

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Self

    from overthere.forms import Pairs, Parameters
    from overthere.ground.kinds import Finding

__all__ = ["Conveniences"]

ELSEWHERE = {
    "absolute": "scheme, None of a relative reference", "anchor": "fragment", "args": "parameters",
    "authority_info": "userinfo, host and port", "child": "append(...)", "copy_add_param": "add_parameters({...})",
    "copy_merge_params": "with_parameters({...})", "copy_remove_param": "without_parameters(...)",
    "copy_set_param": "with_parameters({...})", "copy_with": "replace(...)", "explicit_port": "port",
    "extend_query": "add_parameters({...})", "geturl": "str()", "hash": "fragment", "hostname": "host", "href": "str()",
    "human_repr": "to_iri()", "include_query_params": "with_parameters({...})",
    "is_absolute": "scheme, None of a relative reference", "is_absolute_url": "scheme, None of a relative reference",
    "is_default_port": "port and effective_port", "is_relative_url": "scheme, None of a relative reference",
    "is_valid": "can_parse(text)", "joinpath": "append(...)", "netloc": "authority", "normalized": "normalize()",
    "params": "parameters", "parents": "parent", "parts": "segments", "path_qs": "path and query", "pathname": "path",
    "protocol": "scheme", "query_params": "parameters", "query_string": "query", "raw_authority": "authority",
    "raw_fragment": "fragment", "raw_host": "host", "raw_name": "segments", "raw_parts": "segments", "raw_path": "path",
    "raw_path_qs": "path and query", "raw_query_string": "query", "raw_user": "userinfo",
    "remove_query_params": "without_parameters(...)", "replace_query_params": "with_parameters({...})",
    "resolve_with": "resolve(base)", "scheme_specific_part": "authority, path and query", "search": "query",
    "searchParams": "parameters", "stem": "name and suffix", "suffixes": "suffix", "to_text": "str()",
    "unsplit": "str()", "update_query": "with_parameters({...})", "update_query_params": "with_parameters({...})",
    "uri": "str()", "url": "str()", "username": "user", "with_fragment": "replace(fragment=...)",
    "with_host": "replace(host=...)", "with_password": "replace(userinfo=...)", "with_path": "replace(path=...)",
    "with_port": "replace(port=...)", "with_query": "replace(query={...})", "with_scheme": "replace(scheme=...)",
    "with_user": "replace(userinfo=...)",
    "without_query_params": "without_parameters(...)", "_replace": "replace(...)",
}  # fmt: skip
"""What other libraries call it -> what it is called here."""


class Conveniences(Components):
    """The part of every value type that works on parameters and segments."""

    __slots__ = ()

    if TYPE_CHECKING:

        def replace(self, *, path: str = ..., query: str | None = ..., fragment: str | None = ...) -> Self: ...

    # -- the query

    @property
    def parameters(self) -> Parameters:
        """The pairs of the query (3.4), separated by `&`; `forms.Parameters` reads others.

        "+" is a space, as in forms, unless the scheme's document says otherwise, as for mailto.

        >>> from overthere import URI
        >>> u = URI("http://h/?q=a+b&utm_source=x")
        >>> u.parameters["q"], "page" in u.parameters, dict(u.parameters)
        ('a b', False, {'q': 'a b', 'utm_source': 'x'})
        """
        return self._parameters("&", None)

    def with_parameters(self, pairs: Pairs, *, separator: str = "&", plus: bool | None = None) -> Self:
        """A value with these parameters set: a name keeps its first place and loses its other pairs; new names follow.

        pairs: a mapping or pairs of data, as `forms.encode` takes them.
        separator, plus: as `forms.Parameters` takes them; None is the scheme's rule.  The lines of a mail text are
        separated by CR LF (RFC 6068 5).

        >>> from overthere import URI
        >>> str(URI("mailto:a@b").with_parameters({"subject": "a b", "body": "1+1\\n2"}))
        'mailto:a@b?subject=a%20b&body=1%2B1%0D%0A2'
        >>> str(URI("http://h/?X=attachment%3B%20a&page=1").with_parameters({"page": 2}))
        'http://h/?X=attachment%3B%20a&page=2'
        """
        from overthere.values.scheme_query import pairs_of

        return self._with_parameters(self._parameters(separator, plus).set(pairs_of(self.scheme, pairs)))

    def add_parameters(self, pairs: Pairs, *, separator: str = "&", plus: bool | None = None) -> Self:
        """A value with more parameters at the end.

        >>> from overthere import URI
        >>> str(URI("http://h/?a=1").add_parameters([("a", "2")]))
        'http://h/?a=1&a=2'
        """
        from overthere.values.scheme_query import pairs_of

        return self._with_parameters(self._parameters(separator, plus).add(pairs_of(self.scheme, pairs)))

    def without_parameters(self, *names: str | bytes, separator: str = "&", plus: bool | None = None) -> Self:
        """A value without the parameters of these names, in which "*" stands for any characters; octets are exact.

        >>> from overthere import URI
        >>> str(URI("http://h/?utm_source=x&q=%7e&utm_medium=y#f").without_parameters("utm_*"))
        'http://h/?q=%7e#f'
        """
        return self._with_parameters(self._parameters(separator, plus).without(*names))

    def sort_parameters(self, *, separator: str = "&", plus: bool | None = None) -> Self:
        """A value with its parameters sorted by the octets of their names; those of one name keep their order.

        >>> from overthere import URI
        >>> str(URI("http://h/?b=1&a=2&b=0").sort_parameters())
        'http://h/?a=2&b=1&b=0'
        """
        return self._with_parameters(self._parameters(separator, plus).sorted())

    def _parameters(self, separator: str, plus: bool | None) -> Parameters:
        from overthere.forms import Parameters
        from overthere.values.scheme_query import plus_of

        return Parameters(self.query, separator=separator, plus=plus_of(self.scheme) if plus is None else plus)

    def _with_parameters(self, parameters: Parameters) -> Self:
        return self if parameters.query == self.query else self.replace(query=parameters.query)

    # -- the path

    @property
    def name(self) -> str:
        """The last segment (3.3), decoded: "" where the path ends in "/".

        Raises: CodingError if its octets are not UTF-8.

        >>> from overthere import URI
        >>> URI("http://h/a/caf%C3%A9.tar.gz?q").name, URI("http://h/a/").name
        ('café.tar.gz', '')
        """
        from overthere.values.encoding import decode

        return decode(_split_path(self.path)[1])

    @property
    def suffix(self) -> str:
        """The end of `name` from its last ".", escaped or not; "" if there is none, or only at the beginning.

        >>> from overthere import URI
        >>> URI("http://h/a.tar.gz").suffix, URI("http://h/.profile").suffix
        ('.gz', '')
        """
        from overthere.values.encoding import decode

        name = _split_path(self.path)[1]
        return decode(name[_suffix(name) :])

    @property
    def parent(self) -> Self:
        """The value one segment up, without query and fragment; at the top it is itself.

        `join(".")` is the folder that relative references are resolved against, with its "/".

        >>> from overthere import URI
        >>> str(URI("http://h/a/b?q").parent), str(URI("http://h/a").parent), str(URI("http://h/").parent)
        ('http://h/a', 'http://h/', 'http://h/')
        """
        folder, _ = _split_path(self.path)
        return self._with_path(folder[:-1] if len(folder) > 1 else folder)

    def append(self, *segments: str | bytes, keep: str = "") -> Self:
        """A value with more segments, each of them data: reserved characters in it are encoded (2.2).

        A "/" at the end of the path is not a segment of its own: the first new segment follows it.  The query and the
        fragment belong to the old path and are dropped.

        keep: the reserved characters that the segments may contain as data.

        Raises: InvalidURI for "." and "..", which cannot be data (6.2.2.3).

        >>> from overthere import URI
        >>> str(URI("http://h/a?q").append("b/c", "d")), str(URI("http://h") / "a b" / "")
        ('http://h/a/b%2Fc/d', 'http://h/a%20b/')
        """
        from overthere.values.build import written_path

        if not segments:
            return self
        folder, name = _split_path(self.path)
        before = folder + name + "/" if name else folder
        if not before and self.authority is not None:
            before = "/"
        relative = not before and self.scheme is None
        return self._with_path(before + written_path(segments, keep=keep, begins=not before, relative=relative))

    def __truediv__(self, segment: str | bytes) -> Self:
        return self.append(segment) if isinstance(segment, str | bytes) else NotImplemented

    def with_name(self, name: str | bytes, *, keep: str = "") -> Self:
        """A value with another last segment, which is data; query and fragment are dropped.

        Raises: InvalidURI for "." and "..".

        >>> from overthere import URI
        >>> str(URI("http://h/a/b.txt?q").with_name("c d"))
        'http://h/a/c%20d'
        """
        from overthere.values.build import written_path

        folder, _ = _split_path(self.path)
        if not folder and self.authority is not None:
            folder = "/"
        return self._with_path(folder + written_path([name], keep=keep, relative=not folder and self.scheme is None))

    def with_suffix(self, suffix: str) -> Self:
        """A value whose last segment has another suffix, or none for ""; query and fragment are dropped.

        Raises: ValueError if there is no name, or if the suffix is neither "" nor "." and more; InvalidURI if "." or
        ".." would be left.

        >>> from overthere import URI
        >>> str(URI("http://h/r%E9sum.txt").with_suffix(".pdf")), str(URI("http://h/a%2Etxt").with_suffix(""))
        ('http://h/r%E9sum.pdf', 'http://h/a')
        """
        from overthere.values.build import written_path
        from overthere.values.encoding import decode_bytes, encode

        folder, name = _split_path(self.path)
        if not name:
            raise ValueError("the path ends in no name that could have a suffix")
        if suffix and (suffix[0] != "." or suffix == "."):
            raise ValueError(f'a suffix is "" or begins with "." and goes on, not {suffix!r}')
        other = name[: _suffix(name)] + encode(suffix)
        written_path([decode_bytes(other)])  # refuses what would be a dot-segment
        return self._with_path(folder + other)

    def with_segments(self, segments: Iterable[str | bytes], *, keep: str = "") -> Self:
        """A value with another path, of segments that are data; query and fragment are dropped.

        It begins with "/" if there is an authority, or if the path did.

        Raises: InvalidURI for "." and "..".

        >>> from overthere import URI
        >>> str(URI("http://h/a?q").with_segments(["b/c", "d"]))
        'http://h/b%2Fc/d'
        """
        from overthere.values.build import written_path

        rooted = self.authority is not None or self.path.startswith("/")
        listed = segments if isinstance(segments, str | bytes) else list(segments)
        relative = not rooted and self.scheme is None
        written = written_path(listed, keep=keep, begins=not rooted, relative=relative)
        return self._with_path("/" + written if rooted and listed else written)

    def _with_path(self, path: str) -> Self:
        return self.replace(path=path, query=None, fragment=None)

    # -- who and where

    @property
    def user(self) -> str | None:
        """The userinfo before its first ":" (3.2.1), decoded; None if there is no userinfo.

        >>> from overthere import URI
        >>> u = URI("ftp://j%40e:p%3Aw@h/")
        >>> u.user, u.password
        ('j@e', 'p:w')
        """
        from overthere.values.encoding import decode

        return None if self.userinfo is None else decode(self.userinfo.partition(":")[0])

    @property
    def password(self) -> str | None:
        """The userinfo after its first ":" (3.2.1), decoded; None if there is none.  Its use is deprecated."""
        from overthere.values.encoding import decode

        _, colon, password = (self.userinfo or "").partition(":")
        return decode(password) if colon else None

    @property
    def effective_port(self) -> int | None:
        """The port, otherwise the default port of the scheme (3.2.3); None if neither is known.

        >>> from overthere import URI
        >>> URI("https://h/").effective_port, URI("https://h:8443/").effective_port, URI("urn:a:b").effective_port
        (443, 8443, None)
        """
        from overthere.ground.late_imports import default_registry

        if self.port is not None or self.scheme is None or self.authority is None:
            return self.port
        known = default_registry().get(self.scheme)
        return None if known is None else known.port

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

    def redacted(self, *, userinfo: bool = False) -> str:
        """The text for logs: passwords are `***` (7.5), in URIs within the query too.

        userinfo: whether to hide the user's name as well, because it may be a token.

        >>> from overthere import URI
        >>> URI("ftp://joe:secret@h/").redacted(), URI("https://token@h/").redacted(userinfo=True)
        ('ftp://joe:***@h/', 'https://***@h/')
        """
        from overthere.ground.redact import mask

        return mask(str(self), userinfo=userinfo)

    # -- as a Python value

    def __format__(self, spec: str) -> str:
        return format(str(self), spec)

    if not TYPE_CHECKING:  # type checkers see neither

        def __fspath__(self) -> str:
            # Without it, libraries that look for an attribute `path` open the local file of that name.
            raise TypeError(f"a {type(self).__name__} is not a path of this machine; use str() for its text")

        def __dir__(self) -> list[str]:
            return [name for name in super().__dir__() if name not in ELSEWHERE]


class _MovedAttribute:
    """An attribute that is not there under this name, which it says.

    A method `__getattr__` would cost every attribute that is there: CPython then asks for it in a longer way.
    """

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name

    def __get__(self, value: object, kind: type) -> object:
        name = self.name
        if value is None:
            raise AttributeError(f"type object {kind.__name__!r} has no attribute {name!r}", name=name, obj=kind)
        said = f"{kind.__name__!r} object has no attribute {name!r}; use {ELSEWHERE[name]}"
        raise AttributeError(said, name=name, obj=value)


for _name in ELSEWHERE:
    setattr(Conveniences, _name, _MovedAttribute(_name))


def _split_path(path: str) -> tuple[str, str]:
    """The path up to its last "/", and the segment behind it."""
    at = path.rfind("/") + 1
    return path[:at], path[at:]


def _suffix(name: str) -> int:
    """Where the suffix of a segment begins, as it is written: at its last "."; its length where it has none."""
    at, dot = max((name.rfind(dot), dot) for dot in (".", "%2E", "%2e"))
    return at if 0 < at < len(name) - len(dot) else len(name)
